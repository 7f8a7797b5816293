/*
 * One io_uring shared by all files of a backend, under one mutex.
 *
 * Why one and not one per file: a merge has a dozen runs open, and what counts is the depth over
 * all of them; a ring costs a descriptor and locked memory each. Why a mutex: a submission or a
 * reap is short next to the read it stands for, and threads seldom share a backend at that pace.
 *
 *   start -> pending (FIFO) -> ring -> completion -> done, or pending again for the rest
 *
 * At most `entries` requests are in the ring, so that neither queue can overflow; the others wait
 * in `pending`, as many as callers start. A request is done once, when nothing of it is left or
 * can be. A thread that waits for its request collects the completions of all; when one thread
 * already sleeps in the kernel for that, others sleep on the condition variable.
 */
#ifndef SINTER_IO_RING_H
#define SINTER_IO_RING_H

#include <liburing.h>

#include "base/sync.h"

/** A read or write. Its owner keeps it and its bytes in place until wait() returned. */
typedef struct sinter__ring_request {
    struct sinter__ring_request *next; /* in the list that holds it */
    uint8_t *data;                     /* what is left to do, moved on by partial completions */
    uint64_t offset;
    size_t size;
    size_t asked_bytes; /* of the entry that is in the ring */
    int fd;
    int buffer_index; /* registered buffer that holds `data`; -1: none */
    bool is_write;
    bool is_whole_only; /* done at the first short count: the rest is not fit for direct io */
    bool is_done;
    bool is_end;   /* a read met the end of the file */
    int sys_errno; /* 0: nothing failed */
    unsigned tries;
} sinter__ring_request;

/** What tests put between a ring and the kernel. Called with the ring's mutex held. */
typedef struct sinter__ring_hooks {
    void *ctx;
    /** Before entries are submitted: 0 to go on, or the errno that the kernel shall answer. */
    int (*submit)(void *ctx);
    /** Result of a completion, as the kernel gave it; returns what shall be seen instead. */
    int (*complete)(void *ctx, const sinter__ring_request *request, int result);
} sinter__ring_hooks;

/** Requests in their order. */
typedef struct sinter__ring_list {
    sinter__ring_request *first;
    sinter__ring_request *last;
} sinter__ring_list;

/** Shared. */
typedef struct sinter__ring {
    struct io_uring uring;
    /* Guards all below and the submission side of `uring`. News: completions were collected. */
    sinter__monitor monitor;
    bool is_reaping; /* a thread waits in the kernel, and has the completion side to itself */
    unsigned entries;
    unsigned queued;                 /* how many are in `queue` */
    unsigned submitted;              /* taken and not yet completed */
    unsigned refusals;               /* submissions refused in a row */
    int broken_errno;                /* the kernel takes no entries any more: 0, or why */
    sinter__ring_list pending;       /* started, not yet in the submission queue */
    sinter__ring_list queue;         /* in the submission queue, not yet taken by the kernel */
    const sinter__ring_hooks *hooks; /* NULL: none */
} sinter__ring;

/**
 * Set a ring up and try it: a request goes in and comes back.
 * @return SINTER_OK; SINTER_E_UNSUPPORTED with the kernel's errno
 */
sinter_status
sinter__ring_init(sinter__ring *ring, unsigned entries, sinter_error *err);

/** Release. Nothing may be in flight. */
void
sinter__ring_fini(sinter__ring *ring);

/** Hand requests over, not waiting. `requests[i]` stay where they are until they were waited for.
 */
void
sinter__ring_start(sinter__ring *ring, sinter__ring_request *const *requests, size_t count);

/** Wait until a request is done: `sys_errno`, `is_end` and `size` (what is left) tell how. */
void
sinter__ring_wait(sinter__ring *ring, sinter__ring_request *request);

/** Is it done already? Never waits. */
bool
sinter__ring_is_done(sinter__ring *ring, const sinter__ring_request *request);

#endif
