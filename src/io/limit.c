/*
 * A wrapper that lets no more than so many bytes a second through: of writes, of reads, of both.
 *
 * Every request is cut into slices. A rate knows when its next slice may go at the earliest:
 *
 *   begin of a slice = max(now - CREDIT, end of the slice before)     end = begin + bytes / rate
 *
 * A slice goes when the begin of each rate that counts it has come, and only then the rates move
 * on, so none is spent while a thread waits for the other. Threads wait in one line: each leaves
 * room for the slices of those before it that could go now as well, and asks for the next slice at
 * the end of the line, so they take turns, slice by slice. CREDIT is what a thread that came late
 * may catch up with: without it every late waking would lower the rate. In a second lie the begins
 * of rate * (1 + CREDIT) bytes and one slice more: 7.5 % above the rate, which leaves 2.5 % for
 * threads that wake late.
 */
#include "io/limit.h"

#include <assert.h>
#include <string.h>

#include "base/env.h"
#include "base/load.h"
#include "base/sync.h"

enum {
    SECOND_NS = 1000000000,
    CREDIT_NS = SECOND_NS / 20,
    NAP_NS = SECOND_NS / 20, /* a cancel or another rate is seen after that long at the latest */
    STILL_NS = 4 * NAP_NS,   /* who hasn't looked for so long stands still in is_cancelled() */
    SLICES_A_SECOND = 40
};

/* Bytes a second that the arithmetic holds; more than any machine moves. */
static const uint64_t RATE_MAX = UINT64_C(1) << 38;

enum { RATE_COUNT = SINTER_IO_LIMIT_ALL + 1 };

/* A thread that waits for a slice. */
typedef struct waiter {
    struct waiter *next;
    sinter_io_limit_mode side; /* SINTER_IO_LIMIT_WRITES or SINTER_IO_LIMIT_READS */
    size_t wanted;
    int64_t looked_ns; /* nobody leaves room for one who stands still */
} waiter;

/* What wrappers share. */
typedef struct sinter__rate {
    sinter__mutex mutex; /* guards what follows */
    _Atomic uint64_t
        bytes_per_second[RATE_COUNT]; /* by mode; 0: none. Read without the mutex too */
    int64_t free_ns[RATE_COUNT];      /* when the next slice may begin, on the monotonic clock */
    waiter *line;                     /* who came first is first */
} sinter__rate;

/* A wrapper with a rate of its own. */
typedef struct rated_io {
    sinter__limit_io limit;
    sinter__rate rate;
} rated_io;

typedef struct limit_file {
    sinter_io_file base;
    const sinter__limit_io *io;
    sinter_io_file *under;
} limit_file;

static const sinter__limit_io *
limit_of(const sinter_io *io)
{
    return (const sinter__limit_io *)io;
}

static sinter_io *
under_of(sinter_io *io)
{
    return ((sinter__io_wrapper *)io)->under;
}

static limit_file *
limit_file_of(sinter_io_file *file)
{
    return (limit_file *)file;
}

/* ---- the limit ---- */

/* How long `bytes` take, rounded up. Of rates below SLICES_A_SECOND they are one byte, of others
 * rate / SLICES_A_SECOND at most: the product fits. */
static int64_t
duration_ns(uint64_t bytes, uint64_t rate)
{
    assert(bytes > 0);
    return (int64_t)((bytes * SECOND_NS + rate - 1) / rate);
}

static uint64_t
rate_of(const sinter__rate *rate, sinter_io_limit_mode mode)
{
    return atomic_load(&rate->bytes_per_second[mode]);
}

/* Does any rate count bytes of a side? */
static bool
is_limited(const sinter__limit_io *limit, sinter_io_limit_mode side)
{
    return rate_of(limit->rate, side) > 0 || rate_of(limit->rate, SINTER_IO_LIMIT_ALL) > 0;
}

/* How much of what a thread wants goes at once. */
static size_t
slice_of(const sinter__rate *rate, const waiter *who)
{
    const sinter_io_limit_mode modes[] = {who->side, SINTER_IO_LIMIT_ALL};
    size_t bytes = who->wanted;

    for (size_t i = 0; i < 2; i++) {
        const uint64_t bytes_per_second = rate_of(rate, modes[i]);
        const uint64_t most = bytes_per_second / SLICES_A_SECOND;

        if (bytes_per_second > 0 && most < bytes) {
            bytes = most == 0 ? 1 : (size_t)most;
        }
    }
    return bytes;
}

/* Let the slice of a thread take its time of a rate. */
static void
spend(const sinter__rate *rate, sinter_io_limit_mode mode, const waiter *who, int64_t *free_ns)
{
    const uint64_t bytes_per_second = rate_of(rate, mode);

    if (bytes_per_second > 0) {
        free_ns[mode] += duration_ns(slice_of(rate, who), bytes_per_second);
    }
}

/* When the slice of a thread in the line may go. `free_ns`: when that of the first one could. The
 * mutex is held. */
static int64_t
moment_of(const sinter__rate *rate, const waiter *who, int64_t now_ns, const int64_t *free_ns)
{
    int64_t ahead_ns[RATE_COUNT];
    int64_t moment_ns = now_ns;

    memcpy(ahead_ns, free_ns, sizeof ahead_ns);
    for (const waiter *before = rate->line; before != who; before = before->next) {
        const bool is_ready = rate_of(rate, before->side) == 0 || ahead_ns[before->side] <= now_ns;

        if (now_ns - before->looked_ns > STILL_NS) {
            continue;
        }
        spend(rate, before->side, before, ahead_ns);
        if (is_ready) {
            spend(rate, SINTER_IO_LIMIT_ALL, before, ahead_ns);
        }
    }
    if (rate_of(rate, who->side) > 0 && ahead_ns[who->side] > moment_ns) {
        moment_ns = ahead_ns[who->side];
    }
    if (rate_of(rate, SINTER_IO_LIMIT_ALL) > 0 && ahead_ns[SINTER_IO_LIMIT_ALL] > moment_ns) {
        moment_ns = ahead_ns[SINTER_IO_LIMIT_ALL];
    }
    return moment_ns;
}

static void
join_line(sinter__rate *rate, waiter *who)
{
    waiter **end = &rate->line;

    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = who;
}

static void
leave_line(sinter__rate *rate, const waiter *who)
{
    waiter **place = &rate->line;

    while (*place != who) {
        place = &(*place)->next;
    }
    *place = who->next;
}

/* How long a thread in the line has to wait; 0: its slice of `*bytes_out` goes, it has left. The
 * mutex is held. */
static int64_t
try_to_go(sinter__rate *rate, waiter *who, int64_t now_ns, size_t *bytes_out)
{
    int64_t free_ns[RATE_COUNT];
    int64_t moment_ns = 0;

    who->looked_ns = now_ns;
    for (size_t i = 0; i < RATE_COUNT; i++) {
        const int64_t earliest_ns = now_ns - CREDIT_NS;

        free_ns[i] = rate->free_ns[i] < earliest_ns ? earliest_ns : rate->free_ns[i];
    }
    moment_ns = moment_of(rate, who, now_ns, free_ns);
    if (moment_ns <= now_ns) {
        *bytes_out = slice_of(rate, who);
        spend(rate, who->side, who, free_ns);
        spend(rate, SINTER_IO_LIMIT_ALL, who, free_ns);
        memcpy(rate->free_ns, free_ns, sizeof free_ns);
        leave_line(rate, who);
    }
    return moment_ns - now_ns;
}

/* Wait until some of `wanted` bytes may go; `*bytes_out` of them, at least one. */
static sinter_status
wait_for_slice(const sinter__limit_io *limit, sinter_io_limit_mode side, size_t wanted,
               size_t *bytes_out, sinter_error *err)
{
    const sinter_env *env = limit->env;
    sinter__rate *rate = limit->rate;
    waiter me = {.side = side, .wanted = wanted};
    bool is_in_line = false;

    assert(wanted > 0);
    for (;;) {
        const int64_t now_ns = sinter__now_ns(env);
        int64_t wait_ns = 0;

        sinter__mutex_lock(&rate->mutex);
        if (!is_in_line) {
            join_line(rate, &me);
            is_in_line = true;
        }
        wait_ns = try_to_go(rate, &me, now_ns, bytes_out);
        sinter__mutex_unlock(&rate->mutex);
        if (wait_ns == 0) {
            return SINTER_OK;
        }
        if (limit->is_cancelled != NULL && limit->is_cancelled(limit->cancel_ctx)) {
            sinter__mutex_lock(&rate->mutex);
            leave_line(rate, &me);
            sinter__mutex_unlock(&rate->mutex);
            return SINTER__ERR(err, SINTER_E_CANCELLED, "cancelled while it waited for the rate");
        }
        sinter__sleep_ns(env, wait_ns < NAP_NS ? wait_ns : NAP_NS);
    }
}

/* How many of `size` bytes may be moved in one go; waits where the limit counts them. */
static sinter_status
pass(const sinter__limit_io *limit, sinter_io_limit_mode side, size_t size, size_t *bytes_out,
     sinter_error *err)
{
    *bytes_out = size;
    return size > 0 && is_limited(limit, side) ? wait_for_slice(limit, side, size, bytes_out, err)
                                               : SINTER_OK;
}

/* ---- files ---- */

static sinter_status
file_new(const sinter__limit_io *limit, limit_file **out, sinter_error *err)
{
    SINTER__CHECK(SINTER__NEW(limit->env, *out, 1, err));
    (*out)->base.ops = &sinter__limit_ops;
    (*out)->io = limit;
    return SINTER_OK;
}

static sinter_status
file_hand_out(limit_file *file, sinter_status st, sinter_io_file **out)
{
    if (st == SINTER_OK) {
        assert(file->under != NULL);
        *out = &file->base;
    } else {
        sinter__free(file->io->env, file);
    }
    return st;
}

static sinter_status
limit_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    sinter_io *under = under_of(io);
    limit_file *file = NULL;

    *out = NULL;
    SINTER__CHECK(file_new(limit_of(io), &file, err));
    return file_hand_out(file, under->ops->open(under, path, flags, &file->under, err), out);
}

static sinter_status
limit_create_file(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out,
                  sinter_error *err)
{
    sinter_io *under = under_of(io);
    limit_file *file = NULL;

    *out = NULL;
    SINTER__CHECK(file_new(limit_of(io), &file, err));
    return file_hand_out(file, under->ops->create(under, dir, flags, &file->under, err), out);
}

static sinter_status
limit_lock(sinter_io *io, const char *path, sinter_io_file **out, sinter_error *err)
{
    sinter_io *under = under_of(io);
    limit_file *file = NULL;

    *out = NULL;
    if (under->ops->lock == NULL) {
        return SINTER__ERR_AT(err, SINTER_E_UNSUPPORTED, path, -1, "the io beneath has no locks");
    }
    SINTER__CHECK(file_new(limit_of(io), &file, err));
    return file_hand_out(file, under->ops->lock(under, path, &file->under, err), out);
}

static void
limit_close(sinter_io_file *base)
{
    limit_file *file = limit_file_of(base);

    file->under->ops->close(file->under);
    sinter__free(file->io->env, file);
}

static sinter_status
limit_size(sinter_io_file *base, uint64_t *size_out, sinter_error *err)
{
    sinter_io_file *under = limit_file_of(base)->under;

    return under->ops->size(under, size_out, err);
}

/* Read what goes before the last slice of a stretch; `*rest` is that slice, which may go now. */
static sinter_status
read_but_last(limit_file *file, sinter_io_range *rest, sinter_error *err)
{
    for (;;) {
        sinter_io_range slice = *rest;
        size_t bytes = 0;

        SINTER__CHECK(pass(file->io, SINTER_IO_LIMIT_READS, rest->size, &bytes, err));
        if (bytes == rest->size) {
            return SINTER_OK;
        }
        slice.size = bytes;
        SINTER__CHECK(file->under->ops->read(file->under, &slice, 1, err));
        rest->offset += bytes;
        rest->data = (uint8_t *)rest->data + bytes;
        rest->size -= bytes;
    }
}

static sinter_status
limit_read(sinter_io_file *base, const sinter_io_range *ranges, size_t count, sinter_error *err)
{
    limit_file *file = limit_file_of(base);
    const sinter_io_ops *ops = file->under->ops;

    if (!is_limited(file->io, SINTER_IO_LIMIT_READS)) {
        return ops->read(file->under, ranges, count, err);
    }
    for (size_t i = 0; i < count; i++) {
        sinter_io_range rest = ranges[i];

        SINTER__CHECK(read_but_last(file, &rest, err));
        SINTER__CHECK(ops->read(file->under, &rest, 1, err));
    }
    return SINTER_OK;
}

/* All slices but the last are read at once: a read of several slices is ahead of its time. */
static sinter_status
limit_read_begin(sinter_io_file *base, const sinter_io_range *range, sinter_io_ticket *ticket,
                 sinter_error *err)
{
    limit_file *file = limit_file_of(base);
    sinter_io_range rest = *range;

    memset(ticket, 0, sizeof *ticket);
    SINTER__CHECK(read_but_last(file, &rest, err));
    return file->under->ops->read_begin(file->under, &rest, ticket, err);
}

static sinter_status
limit_read_end(sinter_io_file *base, sinter_io_ticket *ticket, sinter_error *err)
{
    sinter_io_file *under = limit_file_of(base)->under;

    return under->ops->read_end(under, ticket, err);
}

static sinter_status
limit_append(sinter_io_file *base, const void *data, size_t size, sinter_error *err)
{
    limit_file *file = limit_file_of(base);
    const uint8_t *rest = data;

    do {
        size_t bytes = 0;

        SINTER__CHECK(pass(file->io, SINTER_IO_LIMIT_WRITES, size, &bytes, err));
        SINTER__CHECK(file->under->ops->append(file->under, rest, bytes, err));
        rest = bytes > 0 ? rest + bytes : rest;
        size -= bytes;
    } while (size > 0);
    return SINTER_OK;
}

static sinter_status
limit_sync(sinter_io_file *base, sinter_error *err)
{
    sinter_io_file *under = limit_file_of(base)->under;

    return under->ops->sync(under, err);
}

static sinter_status
limit_publish(sinter_io_file *base, const char *path, sinter_error *err)
{
    sinter_io_file *under = limit_file_of(base)->under;

    return under->ops->publish(under, path, err);
}

static void *
limit_borrow(sinter_io_file *base, size_t size)
{
    return sinter__io_borrow(limit_file_of(base)->under, size);
}

static void
limit_give_back(sinter_io_file *base, void *data)
{
    sinter__io_give_back(limit_file_of(base)->under, data);
}

/* ---- names ---- */

static sinter_status
limit_stat(sinter_io *io, const char *path, sinter_io_stat *out, sinter_error *err)
{
    return under_of(io)->ops->stat(under_of(io), path, out, err);
}

static sinter_status
limit_sync_dir(sinter_io *io, const char *path, sinter_error *err)
{
    return under_of(io)->ops->sync_dir(under_of(io), path, err);
}

static sinter_status
limit_mkdir(sinter_io *io, const char *path, sinter_error *err)
{
    return under_of(io)->ops->mkdir(under_of(io), path, err);
}

static sinter_status
limit_unlink(sinter_io *io, const char *path, sinter_error *err)
{
    return under_of(io)->ops->unlink(under_of(io), path, err);
}

static sinter_status
limit_list(sinter_io *io, const char *path, sinter_status (*each)(void *ctx, const char *name),
           void *ctx, sinter_error *err)
{
    return under_of(io)->ops->list(under_of(io), path, each, ctx, err);
}

static sinter_status
limit_clean(sinter_io *io, const char *dir, uint64_t *removed_out, sinter_error *err)
{
    if (under_of(io)->ops->clean != NULL) {
        return under_of(io)->ops->clean(under_of(io), dir, removed_out, err);
    }
    if (removed_out != NULL) {
        *removed_out = 0;
    }
    return SINTER_OK;
}

static sinter_status
limit_replace(sinter_io *io, const char *path, const void *data, size_t size, sinter_error *err)
{
    return under_of(io)->ops->replace(under_of(io), path, data, size, err);
}

static sinter_status
limit_free_bytes(sinter_io *io, const char *dir, uint64_t *out, sinter_error *err)
{
    return sinter__io_free_bytes(under_of(io), dir, out, err);
}

/* ---- the whole ---- */

static void
limit_destroy(sinter_io *io)
{
    rated_io *rated = (rated_io *)io;
    const sinter_env *env = rated->limit.env;

    sinter__mutex_fini(&rated->rate.mutex);
    sinter__free(env, rated);
}

const sinter_io_ops sinter__limit_ops = {
    .struct_size = (uint32_t)sizeof(sinter_io_ops),
    .name = "limit",
    .open = limit_open,
    .create = limit_create_file,
    .size = limit_size,
    .read = limit_read,
    .read_begin = limit_read_begin,
    .read_end = limit_read_end,
    .append = limit_append,
    .sync = limit_sync,
    .publish = limit_publish,
    .close = limit_close,
    .stat = limit_stat,
    .sync_dir = limit_sync_dir,
    .mkdir = limit_mkdir,
    .unlink = limit_unlink,
    .list = limit_list,
    .clean = limit_clean,
    .replace = limit_replace,
    .lock = limit_lock,
    .destroy = limit_destroy,
    .borrow = limit_borrow,
    .give_back = limit_give_back,
    .free_bytes = limit_free_bytes,
};

static void
set_rate(const sinter__limit_io *limit, sinter_io_limit_mode mode, uint64_t bytes_per_second)
{
    sinter__rate *rate = limit->rate;
    const int64_t now_ns = sinter__now_ns(limit->env);

    sinter__mutex_lock(&rate->mutex);
    atomic_store(&rate->bytes_per_second[mode],
                 bytes_per_second < RATE_MAX ? bytes_per_second : RATE_MAX);
    rate->free_ns[mode] = now_ns;
    sinter__mutex_unlock(&rate->mutex);
}

sinter_io *
sinter__limit_share(const sinter_io *limit, sinter_io *under, sinter__limit_io *out,
                    bool (*is_cancelled)(void *ctx), void *cancel_ctx)
{
    assert(limit->ops == &sinter__limit_ops);
    *out = *limit_of(limit);
    out->base.under = under;
    out->is_cancelled = is_cancelled;
    out->cancel_ctx = cancel_ctx;
    return &out->base.io;
}

/* Is one rate given by two options? */
static sinter_status
check_options(const sinter_io_limit_options *options, sinter_error *err)
{
    SINTER__REQUIRE(err, options->mode <= SINTER_IO_LIMIT_ALL);
    if (options->bytes_per_second > 0 && options->mode == SINTER_IO_LIMIT_READS &&
        options->read_bytes_per_second > 0) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "bytes_per_second of SINTER_IO_LIMIT_READS and read_bytes_per_second "
                           "are the same rate: set one of them");
    }
    if (options->bytes_per_second > 0 && options->mode == SINTER_IO_LIMIT_WRITES &&
        options->write_bytes_per_second > 0) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "bytes_per_second of SINTER_IO_LIMIT_WRITES and write_bytes_per_second "
                           "are the same rate: set one of them");
    }
    return SINTER_OK;
}

sinter_status
sinter_io_limit_create(const sinter_env *env, sinter_io *base,
                       const sinter_io_limit_options *options, sinter_io **out, sinter_error *err)
{
    sinter_io_limit_options known = {.struct_size = (uint32_t)sizeof known};
    rated_io *rated = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && base != NULL && out != NULL);
    SINTER__REQUIRE(err, env->clock.sleep_ns != NULL && env->clock.monotonic_ns != NULL);
    *out = NULL;
    if (options != NULL) {
        SINTER__CHECK(
            sinter__struct_load(&known, sizeof known, options, "sinter_io_limit_options", err));
    }
    SINTER__CHECK(check_options(&known, err));
    SINTER__CHECK(SINTER__NEW(env, rated, 1, err));
    rated->limit = (sinter__limit_io){
        .base = {.io.ops = &sinter__limit_ops, .under = base},
        .env = env,
        .rate = &rated->rate,
        .mode = known.mode,
        .is_cancelled = known.is_cancelled,
        .cancel_ctx = known.cancel_ctx,
    };
    st = sinter__mutex_init(&rated->rate.mutex, err);
    if (st != SINTER_OK) {
        sinter__free(env, rated);
        return st;
    }
    set_rate(&rated->limit, SINTER_IO_LIMIT_READS, known.read_bytes_per_second);
    set_rate(&rated->limit, SINTER_IO_LIMIT_WRITES, known.write_bytes_per_second);
    if (known.bytes_per_second > 0) {
        set_rate(&rated->limit, known.mode, known.bytes_per_second);
    }
    *out = &rated->limit.base.io;
    return SINTER_OK;
}

sinter_status
sinter_io_limit_set(sinter_io *io, uint64_t bytes_per_second, sinter_error *err)
{
    SINTER__REQUIRE(err, io != NULL && io->ops == &sinter__limit_ops);
    set_rate(limit_of(io), limit_of(io)->mode, bytes_per_second);
    return SINTER_OK;
}

sinter_status
sinter_io_limit_set_side(sinter_io *io, sinter_io_limit_mode side, uint64_t bytes_per_second,
                         sinter_error *err)
{
    SINTER__REQUIRE(err, io != NULL && io->ops == &sinter__limit_ops);
    SINTER__REQUIRE(err, side <= SINTER_IO_LIMIT_ALL);
    set_rate(limit_of(io), side, bytes_per_second);
    return SINTER_OK;
}
