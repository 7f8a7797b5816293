/*
 * A wrapper that lets no more than so many bytes a second through.
 *
 * Every request is cut into slices, and each slice is given the moment at which the bytes before it
 * have had their time:
 *
 *   moment of a slice = max(now - CREDIT, end of the slice before)     end = moment + bytes / rate
 *
 * A thread sleeps until its moment and asks for the next slice then, so threads that share the
 * limit take turns, slice by slice, in the order in which they asked. CREDIT is what a thread that
 * came late may catch up with: without it every late waking would lower the rate. In a second lie
 * the moments of rate * (1 + CREDIT) bytes and one slice more: 7.5 % above the rate, which leaves
 * 2.5 % for threads that wake late.
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
    SLICES_A_SECOND = 40
};

/* Bytes a second that the arithmetic holds; more than any machine moves. */
static const uint64_t RATE_MAX = UINT64_C(1) << 38;

/* What wrappers share. */
typedef struct sinter__rate {
    sinter__mutex mutex; /* guards what follows */
    uint64_t bytes_per_second;
    uint64_t changes; /* how often it was set: moments given before count no more */
    int64_t free_ns;  /* when the next slice may go, on the monotonic clock */
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

/* A slice that was granted, and when it may go. */
typedef struct grant {
    size_t bytes;
    int64_t moment_ns;
    uint64_t changes;
} grant;

/* How long `bytes` take, rounded up. Of rates below SLICES_A_SECOND they are one byte, of others
 * rate / SLICES_A_SECOND at most: the product fits. */
static int64_t
duration_ns(uint64_t bytes, uint64_t rate)
{
    assert(bytes > 0);
    return (int64_t)((bytes * SECOND_NS + rate - 1) / rate);
}

/* The next slice of `wanted` bytes; called with the mutex held. */
static grant
take_slice(sinter__rate *rate, size_t wanted, int64_t now_ns)
{
    grant taken = {.bytes = wanted, .moment_ns = now_ns, .changes = rate->changes};

    if (rate->bytes_per_second > 0) {
        const uint64_t slice = rate->bytes_per_second / SLICES_A_SECOND;

        taken.bytes = slice == 0 ? 1 : slice < wanted ? (size_t)slice : wanted;
        if (rate->free_ns < now_ns - CREDIT_NS) {
            rate->free_ns = now_ns - CREDIT_NS;
        }
        taken.moment_ns = rate->free_ns;
        rate->free_ns += duration_ns(taken.bytes, rate->bytes_per_second);
    }
    return taken;
}

/* Wait until some of `wanted` bytes may go; `*bytes_out` of them, at least one. */
static sinter_status
wait_for_slice(const sinter__limit_io *limit, size_t wanted, size_t *bytes_out, sinter_error *err)
{
    const sinter_env *env = limit->env;
    sinter__rate *rate = limit->rate;
    grant taken = {0};

    assert(wanted > 0);
    for (;;) {
        const int64_t now_ns = sinter__now_ns(env);
        int64_t wait_ns = 0;

        sinter__mutex_lock(&rate->mutex);
        if (taken.bytes == 0 || taken.changes != rate->changes) {
            taken = take_slice(rate, wanted, now_ns);
        }
        sinter__mutex_unlock(&rate->mutex);
        wait_ns = taken.moment_ns - now_ns;
        if (wait_ns <= 0) {
            *bytes_out = taken.bytes;
            return SINTER_OK;
        }
        if (limit->is_cancelled != NULL && limit->is_cancelled(limit->cancel_ctx)) {
            return SINTER__ERR(err, SINTER_E_CANCELLED, "cancelled while it waited for the rate");
        }
        sinter__sleep_ns(env, wait_ns < NAP_NS ? wait_ns : NAP_NS);
    }
}

/* How many of `size` bytes may be moved in one go; waits where the limit counts them. */
static sinter_status
pass(const sinter__limit_io *limit, bool is_limited, size_t size, size_t *bytes_out,
     sinter_error *err)
{
    *bytes_out = size;
    return is_limited && size > 0 ? wait_for_slice(limit, size, bytes_out, err) : SINTER_OK;
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

        SINTER__CHECK(pass(file->io, file->io->limits_reads, rest->size, &bytes, err));
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

    if (!file->io->limits_reads) {
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

        SINTER__CHECK(pass(file->io, file->io->limits_writes, size, &bytes, err));
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
};

static void
set_rate(const sinter__limit_io *limit, uint64_t bytes_per_second)
{
    sinter__rate *rate = limit->rate;
    const int64_t now_ns = sinter__now_ns(limit->env);

    sinter__mutex_lock(&rate->mutex);
    rate->bytes_per_second = bytes_per_second < RATE_MAX ? bytes_per_second : RATE_MAX;
    rate->changes++;
    rate->free_ns = now_ns;
    sinter__mutex_unlock(&rate->mutex);
}

sinter_io *
sinter__limit_share(const sinter_io *limit, sinter__limit_io *out, bool (*is_cancelled)(void *ctx),
                    void *cancel_ctx)
{
    assert(limit->ops == &sinter__limit_ops);
    *out = *limit_of(limit);
    out->is_cancelled = is_cancelled;
    out->cancel_ctx = cancel_ctx;
    return &out->base.io;
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
    SINTER__REQUIRE(err, known.mode <= SINTER_IO_LIMIT_ALL);
    SINTER__CHECK(SINTER__NEW(env, rated, 1, err));
    rated->limit = (sinter__limit_io){
        .base = {.io.ops = &sinter__limit_ops, .under = base},
        .env = env,
        .rate = &rated->rate,
        .limits_reads = known.mode != SINTER_IO_LIMIT_WRITES,
        .limits_writes = known.mode != SINTER_IO_LIMIT_READS,
        .is_cancelled = known.is_cancelled,
        .cancel_ctx = known.cancel_ctx,
    };
    st = sinter__mutex_init(&rated->rate.mutex, err);
    if (st != SINTER_OK) {
        sinter__free(env, rated);
        return st;
    }
    set_rate(&rated->limit, known.bytes_per_second);
    *out = &rated->limit.base.io;
    return SINTER_OK;
}

sinter_status
sinter_io_limit_set(sinter_io *io, uint64_t bytes_per_second, sinter_error *err)
{
    SINTER__REQUIRE(err, io != NULL && io->ops == &sinter__limit_ops);
    set_rate(limit_of(io), bytes_per_second);
    return SINTER_OK;
}
