/*
 * A wrapper that counts and times every call, and tells of slow ones.
 */
#include "io/watch.h"

#include <assert.h>
#include <string.h>

#include "base/env.h"
#include "base/listener.h"
#include "base/load.h"

/* What wrappers share. */
typedef struct sinter__watch_counts {
    _Atomic uint64_t reads;
    _Atomic uint64_t read_bytes;
    _Atomic uint64_t writes;
    _Atomic uint64_t written_bytes;
    _Atomic uint64_t syncs;
    _Atomic uint64_t call_ns;
    _Atomic uint64_t slow_calls;
} sinter__watch_counts;

/* A wrapper with counts of its own. */
typedef struct counting_io {
    sinter__watch_io watch;
    sinter__watch_counts counts;
} counting_io;

typedef struct watch_file {
    sinter_io_file base;
    const sinter__watch_io *io;
    sinter_io_file *under;
    char path[]; /* of a file without a name: of its directory */
} watch_file;

static const sinter__watch_io *
watch_of(const sinter_io *io)
{
    return (const sinter__watch_io *)io;
}

static sinter_io *
under_of(sinter_io *io)
{
    return ((sinter__io_wrapper *)io)->under;
}

static watch_file *
watch_file_of(sinter_io_file *file)
{
    return (watch_file *)file;
}

/* ---- the watch ---- */

/* A call under way. */
typedef struct call {
    const sinter__watch_io *io;
    const char *op;
    const char *path;
    uint64_t bytes;
    int64_t begin_ns;
} call;

static call
call_begin(const sinter__watch_io *io, const char *op, const char *path, uint64_t bytes)
{
    return (call){
        .io = io, .op = op, .path = path, .bytes = bytes, .begin_ns = sinter__now_ns(io->env)};
}

static sinter_status
call_end(const call *done, sinter_status st)
{
    const sinter__watch_io *io = done->io;
    const int64_t took_ns = sinter__now_ns(io->env) - done->begin_ns;

    assert(took_ns >= 0);
    sinter__io_count(&io->counts->call_ns, (uint64_t)took_ns);
    if (io->slow_ns > 0 && (uint64_t)took_ns >= io->slow_ns) {
        const sinter_event event = {.struct_size = (uint32_t)sizeof event,
                                    .file = done->path,
                                    .text = done->op,
                                    .bytes = done->bytes,
                                    .duration_ns = took_ns,
                                    .status = st};

        sinter__io_count(&io->counts->slow_calls, 1);
        SINTER__TELL(io->env->listener, slow_io, &event);
    }
    return st;
}

static void
count_moved(_Atomic uint64_t *calls, _Atomic uint64_t *bytes, uint64_t size, sinter_status st)
{
    if (st == SINTER_OK) {
        sinter__io_count(calls, 1);
        sinter__io_count(bytes, size);
    }
}

/* ---- files ---- */

static sinter_status
file_new(const sinter__watch_io *io, const char *path, watch_file **out, sinter_error *err)
{
    const size_t size = strlen(path) + 1;

    SINTER__CHECK(sinter__alloc(io->env, sizeof **out + size, 1, (void **)out, err));
    (*out)->base.ops = &sinter__watch_ops;
    (*out)->io = io;
    memcpy((*out)->path, path, size);
    return SINTER_OK;
}

static sinter_status
file_hand_out(watch_file *file, sinter_status st, sinter_io_file **out)
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
watch_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    sinter_io *under = under_of(io);
    const call now = call_begin(watch_of(io), "open", path, 0);
    watch_file *file = NULL;

    *out = NULL;
    SINTER__CHECK(file_new(watch_of(io), path, &file, err));
    return file_hand_out(
        file, call_end(&now, under->ops->open(under, path, flags, &file->under, err)), out);
}

static sinter_status
watch_create_file(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out,
                  sinter_error *err)
{
    sinter_io *under = under_of(io);
    const call now = call_begin(watch_of(io), "create", dir, 0);
    watch_file *file = NULL;

    *out = NULL;
    SINTER__CHECK(file_new(watch_of(io), dir, &file, err));
    return file_hand_out(
        file, call_end(&now, under->ops->create(under, dir, flags, &file->under, err)), out);
}

static sinter_status
watch_lock(sinter_io *io, const char *path, sinter_io_file **out, sinter_error *err)
{
    sinter_io *under = under_of(io);
    const call now = call_begin(watch_of(io), "lock", path, 0);
    watch_file *file = NULL;

    *out = NULL;
    if (under->ops->lock == NULL) {
        return SINTER__ERR_AT(err, SINTER_E_UNSUPPORTED, path, -1, "the io beneath has no locks");
    }
    SINTER__CHECK(file_new(watch_of(io), path, &file, err));
    return file_hand_out(file, call_end(&now, under->ops->lock(under, path, &file->under, err)),
                         out);
}

static void
watch_close(sinter_io_file *base)
{
    watch_file *file = watch_file_of(base);
    const call now = call_begin(file->io, "close", file->path, 0);

    file->under->ops->close(file->under);
    (void)call_end(&now, SINTER_OK);
    sinter__free(file->io->env, file);
}

static sinter_status
watch_size(sinter_io_file *base, uint64_t *size_out, sinter_error *err)
{
    watch_file *file = watch_file_of(base);
    const call now = call_begin(file->io, "size", file->path, 0);

    return call_end(&now, file->under->ops->size(file->under, size_out, err));
}

static sinter_status
watch_read(sinter_io_file *base, const sinter_io_range *ranges, size_t count, sinter_error *err)
{
    watch_file *file = watch_file_of(base);
    call now = call_begin(file->io, "read", file->path, 0);
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < count; i++) {
        now.bytes += ranges[i].size;
    }
    st = file->under->ops->read(file->under, ranges, count, err);
    count_moved(&file->io->counts->reads, &file->io->counts->read_bytes, now.bytes, st);
    return call_end(&now, st);
}

static sinter_status
watch_read_begin(sinter_io_file *base, const sinter_io_range *range, sinter_io_ticket *ticket,
                 sinter_error *err)
{
    watch_file *file = watch_file_of(base);
    const call now = call_begin(file->io, "read_begin", file->path, range->size);
    const sinter_status st = file->under->ops->read_begin(file->under, range, ticket, err);

    count_moved(&file->io->counts->reads, &file->io->counts->read_bytes, now.bytes, st);
    return call_end(&now, st);
}

static sinter_status
watch_read_end(sinter_io_file *base, sinter_io_ticket *ticket, sinter_error *err)
{
    watch_file *file = watch_file_of(base);
    const call now = call_begin(file->io, "read_end", file->path, 0);

    return call_end(&now, file->under->ops->read_end(file->under, ticket, err));
}

static sinter_status
watch_append(sinter_io_file *base, const void *data, size_t size, sinter_error *err)
{
    watch_file *file = watch_file_of(base);
    const call now = call_begin(file->io, "append", file->path, size);
    const sinter_status st = file->under->ops->append(file->under, data, size, err);

    count_moved(&file->io->counts->writes, &file->io->counts->written_bytes, now.bytes, st);
    return call_end(&now, st);
}

static sinter_status
watch_sync(sinter_io_file *base, sinter_error *err)
{
    watch_file *file = watch_file_of(base);
    const call now = call_begin(file->io, "sync", file->path, 0);
    const sinter_status st = file->under->ops->sync(file->under, err);

    sinter__io_count(&file->io->counts->syncs, st == SINTER_OK ? 1 : 0);
    return call_end(&now, st);
}

static sinter_status
watch_publish(sinter_io_file *base, const char *path, sinter_error *err)
{
    watch_file *file = watch_file_of(base);
    const call now = call_begin(file->io, "publish", path, 0);

    return call_end(&now, file->under->ops->publish(file->under, path, err));
}

static void *
watch_borrow(sinter_io_file *base, size_t size)
{
    return sinter__io_borrow(watch_file_of(base)->under, size);
}

static void
watch_give_back(sinter_io_file *base, void *data)
{
    sinter__io_give_back(watch_file_of(base)->under, data);
}

/* ---- names ---- */

static sinter_status
watch_stat(sinter_io *io, const char *path, sinter_io_stat *out, sinter_error *err)
{
    const call now = call_begin(watch_of(io), "stat", path, 0);

    return call_end(&now, under_of(io)->ops->stat(under_of(io), path, out, err));
}

static sinter_status
watch_sync_dir(sinter_io *io, const char *path, sinter_error *err)
{
    const sinter__watch_io *watch = watch_of(io);
    const call now = call_begin(watch, "sync_dir", path, 0);
    const sinter_status st = under_of(io)->ops->sync_dir(under_of(io), path, err);

    sinter__io_count(&watch->counts->syncs, st == SINTER_OK ? 1 : 0);
    return call_end(&now, st);
}

static sinter_status
watch_mkdir(sinter_io *io, const char *path, sinter_error *err)
{
    const call now = call_begin(watch_of(io), "mkdir", path, 0);

    return call_end(&now, under_of(io)->ops->mkdir(under_of(io), path, err));
}

static sinter_status
watch_unlink(sinter_io *io, const char *path, sinter_error *err)
{
    const call now = call_begin(watch_of(io), "unlink", path, 0);

    return call_end(&now, under_of(io)->ops->unlink(under_of(io), path, err));
}

static sinter_status
watch_list(sinter_io *io, const char *path, sinter_status (*each)(void *ctx, const char *name),
           void *ctx, sinter_error *err)
{
    const call now = call_begin(watch_of(io), "list", path, 0);

    return call_end(&now, under_of(io)->ops->list(under_of(io), path, each, ctx, err));
}

static sinter_status
watch_clean(sinter_io *io, const char *dir, uint64_t *removed_out, sinter_error *err)
{
    const call now = call_begin(watch_of(io), "clean", dir, 0);

    if (under_of(io)->ops->clean != NULL) {
        return call_end(&now, under_of(io)->ops->clean(under_of(io), dir, removed_out, err));
    }
    if (removed_out != NULL) {
        *removed_out = 0;
    }
    return SINTER_OK;
}

static sinter_status
watch_replace(sinter_io *io, const char *path, const void *data, size_t size, sinter_error *err)
{
    const sinter__watch_io *watch = watch_of(io);
    const call now = call_begin(watch, "replace", path, size);
    const sinter_status st = under_of(io)->ops->replace(under_of(io), path, data, size, err);

    count_moved(&watch->counts->writes, &watch->counts->written_bytes, now.bytes, st);
    return call_end(&now, st);
}

static sinter_status
watch_free_bytes(sinter_io *io, const char *dir, uint64_t *out, sinter_error *err)
{
    const call now = call_begin(watch_of(io), "free_bytes", dir, 0);

    return call_end(&now, sinter__io_free_bytes(under_of(io), dir, out, err));
}

/* ---- the whole ---- */

static void
watch_destroy(sinter_io *io)
{
    sinter__free(watch_of(io)->env, io);
}

const sinter_io_ops sinter__watch_ops = {
    .struct_size = (uint32_t)sizeof(sinter_io_ops),
    .name = "watch",
    .open = watch_open,
    .create = watch_create_file,
    .size = watch_size,
    .read = watch_read,
    .read_begin = watch_read_begin,
    .read_end = watch_read_end,
    .append = watch_append,
    .sync = watch_sync,
    .publish = watch_publish,
    .close = watch_close,
    .stat = watch_stat,
    .sync_dir = watch_sync_dir,
    .mkdir = watch_mkdir,
    .unlink = watch_unlink,
    .list = watch_list,
    .clean = watch_clean,
    .replace = watch_replace,
    .lock = watch_lock,
    .destroy = watch_destroy,
    .borrow = watch_borrow,
    .give_back = watch_give_back,
    .free_bytes = watch_free_bytes,
};

sinter_io *
sinter__watch_share(const sinter_io *watch, const sinter_env *env, sinter__watch_io *out)
{
    assert(watch->ops == &sinter__watch_ops);
    *out = *watch_of(watch);
    out->env = env;
    return &out->base.io;
}

sinter_status
sinter_io_watch_create(const sinter_env *env, sinter_io *base,
                       const sinter_io_watch_options *options, sinter_io **out, sinter_error *err)
{
    sinter_io_watch_options known = {.struct_size = (uint32_t)sizeof known};
    counting_io *counting = NULL;

    SINTER__REQUIRE(err, env != NULL && base != NULL && out != NULL);
    *out = NULL;
    if (options != NULL) {
        SINTER__CHECK(
            sinter__struct_load(&known, sizeof known, options, "sinter_io_watch_options", err));
    }
    SINTER__CHECK(SINTER__NEW(env, counting, 1, err));
    counting->watch = (sinter__watch_io){
        .base = {.io.ops = &sinter__watch_ops, .under = base},
        .env = env,
        .slow_ns = known.slow_ns,
        .counts = &counting->counts,
    };
    *out = &counting->watch.base.io;
    return SINTER_OK;
}

void
sinter_io_watch_counters_get(const sinter_io *io, sinter_io_watch_counters *out)
{
    sinter_io_watch_counters counters = {.struct_size = (uint32_t)sizeof counters};

    if (io != NULL && io->ops == &sinter__watch_ops) {
        const sinter__watch_counts *counts = watch_of(io)->counts;

        counters.reads = atomic_load(&counts->reads);
        counters.read_bytes = atomic_load(&counts->read_bytes);
        counters.writes = atomic_load(&counts->writes);
        counters.written_bytes = atomic_load(&counts->written_bytes);
        counters.syncs = atomic_load(&counts->syncs);
        counters.call_ns = atomic_load(&counts->call_ns);
        counters.slow_calls = atomic_load(&counts->slow_calls);
    }
    sinter__struct_store(out, &counters, sizeof counters);
}
