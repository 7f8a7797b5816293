#include "io/ring.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/fail.h"

enum {
    REFUSALS_MAX = 10000,        /* submissions refused in a row before the ring counts as broken */
    TRIES_MAX = 10000,           /* EINTR, EAGAIN in a row of one request */
    REQUEST_BYTES_MAX = 1 << 30, /* the kernel's count has 32 bits */
    PROBE_OPS_MAX = 256
};

/* ---- set up ---- */

/* Does this kernel know every operation that the backend needs? */
static int
probe_operations(struct io_uring *uring)
{
    static const uint8_t needed[] = {IORING_OP_READ, IORING_OP_WRITE, IORING_OP_READ_FIXED,
                                     IORING_OP_WRITE_FIXED};
    union {
        struct io_uring_probe probe;
        uint8_t
            room[sizeof(struct io_uring_probe) + PROBE_OPS_MAX * sizeof(struct io_uring_probe_op)];
    } answer;
    int rc = 0;

    memset(&answer, 0, sizeof answer);
    rc = io_uring_register_probe(uring, &answer.probe, PROBE_OPS_MAX);
    if (rc < 0) {
        return -rc;
    }
    for (size_t i = 0; i < sizeof needed; i++) {
        if (!io_uring_opcode_supported(&answer.probe, needed[i])) {
            return EOPNOTSUPP;
        }
    }
    return 0;
}

/* One request that does nothing, there and back: a filter may allow the set-up only. */
static int
probe_round_trip(struct io_uring *uring)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(uring);
    struct io_uring_cqe *cqe = NULL;
    int rc = 0;

    assert(sqe != NULL);
    io_uring_prep_nop(sqe);
    rc = io_uring_submit(uring);
    if (rc < 0) {
        return -rc;
    }
    do {
        rc = io_uring_wait_cqe(uring, &cqe);
    } while (rc == -EINTR);
    if (rc < 0) {
        return -rc;
    }
    rc = cqe->res;
    io_uring_cqe_seen(uring, cqe);
    return rc < 0 ? -rc : 0;
}

sinter_status
sinter__ring_init(sinter__ring *ring, unsigned entries, sinter_error *err)
{
    int rc = 0;

    memset(ring, 0, sizeof *ring);
    ring->entries = entries;
    rc = -io_uring_queue_init(entries, &ring->uring, 0);
    if (rc != 0) {
        return SINTER__ERR_SYS(err, SINTER_E_UNSUPPORTED, rc, NULL, -1,
                               "the kernel gives no io_uring (errno %d)", rc);
    }
    rc = probe_operations(&ring->uring);
    rc = rc == 0 ? probe_round_trip(&ring->uring) : rc;
    if (rc == 0 && sinter__monitor_init(&ring->monitor, NULL) != SINTER_OK) {
        rc = ENOMEM;
    }
    if (rc != 0) {
        io_uring_queue_exit(&ring->uring);
        return SINTER__ERR_SYS(err, SINTER_E_UNSUPPORTED, rc, NULL, -1,
                               "this kernel's io_uring can't be used (errno %d)", rc);
    }
    return SINTER_OK;
}

void
sinter__ring_fini(sinter__ring *ring)
{
    assert(ring->submitted == 0);
    assert(ring->pending.first == NULL);
    io_uring_queue_exit(&ring->uring);
    sinter__monitor_fini(&ring->monitor);
}

/* ---- requests; everything below is called with the mutex held ---- */

static void
list_push(sinter__ring_list *list, sinter__ring_request *request)
{
    request->next = NULL;
    if (list->last == NULL) {
        list->first = request;
    } else {
        list->last->next = request;
    }
    list->last = request;
}

static sinter__ring_request *
list_pop(sinter__ring_list *list)
{
    sinter__ring_request *request = list->first;

    assert(request != NULL);
    list->first = request->next;
    if (list->first == NULL) {
        list->last = NULL;
    }
    return request;
}

static void
finish(sinter__ring_request *request, int sys_errno)
{
    assert(!request->is_done);
    request->sys_errno = sys_errno;
    request->is_done = true;
}

static void
fill_entry(struct io_uring_sqe *sqe, sinter__ring_request *request)
{
    const unsigned size =
        request->size < REQUEST_BYTES_MAX ? (unsigned)request->size : REQUEST_BYTES_MAX;

    assert(size > 0);
    assert(request->fd >= 0);
    request->asked_bytes = size;
    if (request->buffer_index >= 0 && request->is_write) {
        io_uring_prep_write_fixed(sqe, request->fd, request->data, size, request->offset,
                                  request->buffer_index);
    } else if (request->buffer_index >= 0) {
        io_uring_prep_read_fixed(sqe, request->fd, request->data, size, request->offset,
                                 request->buffer_index);
    } else if (request->is_write) {
        io_uring_prep_write(sqe, request->fd, request->data, size, request->offset);
    } else {
        io_uring_prep_read(sqe, request->fd, request->data, size, request->offset);
    }
    io_uring_sqe_set_data(sqe, request);
}

/* The kernel takes nothing more: what it never took is the caller's again, what it took comes. */
static void
fail_untaken(sinter__ring *ring)
{
    assert(ring->broken_errno != 0);
    while (ring->queue.first != NULL) {
        finish(list_pop(&ring->queue), ring->broken_errno);
    }
    while (ring->pending.first != NULL) {
        finish(list_pop(&ring->pending), ring->broken_errno);
    }
    ring->queued = 0;
}

static int
submit_entries(sinter__ring *ring)
{
    const sinter__ring_hooks *hooks = ring->hooks;
    const int refused = hooks == NULL || hooks->submit == NULL ? 0 : hooks->submit(hooks->ctx);

    return refused == 0 ? io_uring_submit(&ring->uring) : -refused;
}

/* Move requests from `pending` into the submission queue while there is room. */
static void
fill_queue(sinter__ring *ring)
{
    while (ring->pending.first != NULL && ring->queued + ring->submitted < ring->entries) {
        struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);
        sinter__ring_request *request = NULL;

        if (sqe == NULL) {
            return;
        }
        request = list_pop(&ring->pending);
        fill_entry(sqe, request);
        list_push(&ring->queue, request);
        ring->queued++;
    }
}

/* Bring as much as can be into the kernel. */
static void
pump(sinter__ring *ring)
{
    if (ring->broken_errno != 0) {
        fail_untaken(ring);
        return;
    }
    fill_queue(ring);
    while (ring->queued > 0) {
        const int rc = submit_entries(ring);

        if (rc <= 0) { /* EBUSY, EAGAIN, EINTR and their like: completions first, then again */
            ring->refusals++;
            return;
        }
        assert((unsigned)rc <= ring->queued);
        for (int i = 0; i < rc; i++) {
            (void)list_pop(&ring->queue);
        }
        ring->refusals = 0;
        ring->queued -= (unsigned)rc;
        ring->submitted += (unsigned)rc;
    }
}

static void
complete(sinter__ring *ring, sinter__ring_request *request, int result)
{
    const sinter__ring_hooks *hooks = ring->hooks;
    bool is_short = false;

    if (hooks != NULL && hooks->complete != NULL) {
        result = hooks->complete(hooks->ctx, request, result);
    }
    if (result < 0) {
        /* A thread that ends takes its requests along: ECANCELED. They are still wanted. */
        const bool is_again = result == -EINTR || result == -EAGAIN || result == -ECANCELED;

        if (is_again && ++request->tries < TRIES_MAX) {
            list_push(&ring->pending, request);
        } else {
            finish(request, -result);
        }
        return;
    }
    assert((size_t)result <= request->asked_bytes);
    is_short = (size_t)result < request->asked_bytes;
    request->data += result;
    request->offset += (uint64_t)result;
    request->size -= (size_t)result;
    request->tries = 0;
    if (request->size == 0 || (is_short && request->is_whole_only)) {
        finish(request, 0);
    } else if (result > 0) {
        list_push(&ring->pending, request);
    } else if (request->is_write) { /* no progress: going on could be for ever */
        finish(request, EIO);
    } else {
        request->is_end = true;
        finish(request, 0);
    }
}

/* Collect the completions that are there. Only while nobody waits in the kernel. */
static unsigned
reap(sinter__ring *ring)
{
    struct io_uring_cqe *cqe = NULL;
    unsigned count = 0;

    assert(!ring->is_reaping);
    while (ring->submitted > 0 && io_uring_peek_cqe(&ring->uring, &cqe) == 0 && cqe != NULL) {
        sinter__ring_request *request = io_uring_cqe_get_data(cqe);
        const int result = cqe->res;

        io_uring_cqe_seen(&ring->uring, cqe);
        ring->submitted--;
        count++;
        complete(ring, request, result);
    }
    if (count > 0) {
        ring->refusals = 0;
        sinter__monitor_tell_all(&ring->monitor);
    }
    return count;
}

/* Nothing is in the kernel and it takes nothing: give it time, but not for ever. */
static void
wait_for_room(sinter__ring *ring)
{
    assert(ring->submitted == 0);
    if (ring->refusals >= REFUSALS_MAX) {
        ring->broken_errno = EBUSY;
        fail_untaken(ring);
        sinter__monitor_tell_all(&ring->monitor);
    } else {
        sinter__monitor_unlock(&ring->monitor);
        (void)sched_yield();
        sinter__monitor_lock(&ring->monitor);
    }
}

/* Sleep until a completion is there, letting others start requests meanwhile. */
static void
wait_in_kernel(sinter__ring *ring)
{
    struct io_uring_cqe *cqe = NULL;

    assert(!ring->is_reaping);
    assert(ring->submitted > 0);
    ring->is_reaping = true;
    sinter__monitor_unlock(&ring->monitor);
    (void)io_uring_wait_cqe(&ring->uring, &cqe); /* interrupted or not: the loop looks again */
    sinter__monitor_lock(&ring->monitor);
    ring->is_reaping = false;
    if (reap(ring) == 0) {
        sinter__monitor_tell_all(&ring->monitor);
    }
}

/* ---- the doors ---- */

void
sinter__ring_start(sinter__ring *ring, sinter__ring_request *const *requests, size_t count)
{
    sinter__monitor_lock(&ring->monitor);
    for (size_t i = 0; i < count; i++) {
        assert(!requests[i]->is_done);
        if (requests[i]->size == 0) {
            finish(requests[i], 0);
        } else {
            list_push(&ring->pending, requests[i]);
        }
    }
    pump(ring);
    sinter__monitor_unlock(&ring->monitor);
}

void
sinter__ring_wait(sinter__ring *ring, sinter__ring_request *request)
{
    sinter__monitor_lock(&ring->monitor);
    while (!request->is_done) {
        if (!ring->is_reaping && reap(ring) > 0) {
            continue;
        }
        pump(ring);
        if (request->is_done) {
            break;
        }
        if (ring->is_reaping) {
            sinter__monitor_wait(&ring->monitor);
        } else if (ring->submitted > 0) {
            wait_in_kernel(ring);
        } else {
            wait_for_room(ring);
        }
    }
    pump(ring); /* completions may have left rests to do, of whomever */
    sinter__monitor_unlock(&ring->monitor);
}

bool
sinter__ring_is_done(sinter__ring *ring, const sinter__ring_request *request)
{
    bool is_done = false;

    sinter__monitor_lock(&ring->monitor);
    if (!request->is_done && !ring->is_reaping) {
        (void)reap(ring);
        pump(ring);
    }
    is_done = request->is_done;
    sinter__monitor_unlock(&ring->monitor);
    return is_done;
}
