/*
 * What a bucket must answer: every version of every key that somebody may still see.
 *
 * Writes are numbered by moments, 1, 2, ... A set of files shows the state of one moment: all
 * writes up to the last one that was flushed. So a reader notes which moments its set may stand for
 * (one, unless a flush ran while it was acquired), and what it reads has to fit one of them, the
 * same for all it reads of the set. After a restart the writes behind the last commit are lost:
 * sets of moments behind the restart don't show them, while a set that is held from before does.
 *
 *        w1 w2 commit w3 w4 flush | restart, moment 5 | w6 flush
 *   visible at 4: 1 2 3 4                   at 5: 1 2          at 6: 1 2 6
 */
#ifndef SOAK_MODEL_H
#define SOAK_MODEL_H

#include <pthread.h>

#include "soak/records.h"

enum {
    SOAK_READERS_MAX = 8,
    SOAK_PINS_OF_READER = 4,
    SOAK_PINS_MAX = SOAK_READERS_MAX * SOAK_PINS_OF_READER,
    SOAK_CANDIDATES_MAX = 64
};

/** A write of a key. */
typedef struct soak_version {
    uint64_t moment;
    uint64_t lost_at; /* moment of the restart that lost it; UINT64_MAX: none did */
    bool is_delete;
} soak_version;

typedef struct soak_versions {
    soak_version *list; /* by moment */
    uint32_t count;
    uint32_t capacity;
} soak_versions;

/** Shared: a writer and any number of readers. */
typedef struct soak_model {
    uint32_t bucket;
    uint32_t key_count;
    pthread_mutex_t mutex; /* guards what follows */
    soak_versions *keys;
    uint64_t written;   /* moment of the last write */
    uint64_t committed; /* moment that the catalog is known to hold */
    uint64_t attempted; /* moment that the catalog may hold */
    bool is_pooled;     /* a flush up to `written` may come at any time: others need room */
    bool is_flushing;   /* a flush up to `written` may be under way */
    uint64_t *points;   /* moments that sets may stand for, ascending; the last is that of now */
    size_t point_count;
    size_t point_capacity;
    uint64_t pins[SOAK_PINS_MAX]; /* smallest moment that a held set stands for; UINT64_MAX */
} soak_model;

void
soak_model_init(soak_model *model, uint32_t bucket, uint32_t key_count);
void
soak_model_fini(soak_model *model);

/** ---- for the writer ---- */

/** A write is about to be tried; it gives its moment. Before it, all that is written so far may be
 *  flushed. */
uint64_t
soak_model_write_begin(soak_model *model, uint32_t key, bool is_delete);
/** It has succeeded or not; `flushed`: what was written before it was flushed by it. */
void
soak_model_write_end(soak_model *model, uint32_t key, bool is_written, bool flushed);

/** All that is written is about to be flushed, maybe. */
void
soak_model_flush_begin(soak_model *model);
void
soak_model_flush_end(soak_model *model, bool flushed);

/** The catalog is about to hold the moment; after the second call it is sure to. */
void
soak_model_commit_begin(soak_model *model, uint64_t moment);
void
soak_model_commit_end(soak_model *model, uint64_t moment);

/** The bucket was opened anew from a catalog of this moment: writes behind it are lost. A wrong
 *  answer: that is not what was committed. `is_pooled`: its buffer is one of a pool. */
void
soak_model_restart(soak_model *model, uint64_t moment, bool is_pooled);

uint64_t
soak_model_written(soak_model *model);

/** ---- for readers ---- */

/** What a set that was acquired may stand for. */
typedef struct soak_candidates {
    uint64_t moments[SOAK_CANDIDATES_MAX];
    size_t count;
} soak_candidates;

/** Before a set is acquired; it takes one of SOAK_PINS_MAX pins. */
void
soak_model_acquire_begin(soak_model *model, uint32_t pin, soak_candidates *out);
/** After it was. False: so many flushes meanwhile that there is no room for all. */
bool
soak_model_acquire_end(soak_model *model, soak_candidates *out);
/** The set was released. */
void
soak_model_release(soak_model *model, uint32_t pin);

/** Keep those candidates at which [begin, end) holds exactly these rows; a wrong answer if there is
 *  none. `what` is said of the reader. */
void
soak_model_check(soak_model *model, soak_candidates *candidates, const soak_question *question,
                 const soak_rows *rows, const char *what);

#endif
