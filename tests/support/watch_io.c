#include "support/watch_io.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/fail.h"

typedef struct watch_file {
    sinter_io_file base;
    watch_io *io;
    sinter_io_file *inner;
    uint64_t number;
} watch_file;

static watch_io *
watch_of(sinter_io *io)
{
    return (watch_io *)io;
}

static sinter_io *
inner_io(sinter_io *io)
{
    return watch_of(io)->inner;
}

static watch_file *
file_of(sinter_io_file *file)
{
    return (watch_file *)file;
}

static sinter_status
before(watch_io *io, const watch_call *call, sinter_error *err)
{
    atomic_fetch_add(&io->calls[call->op], 1);
    return io->before == NULL ? SINTER_OK : io->before(io->ctx, call, err);
}

static sinter_status
after(watch_io *io, const watch_call *call, sinter_status st)
{
    if (st == SINTER_OK) {
        atomic_fetch_add(&io->read_bytes, call->op == WATCH_READ ? call->size : 0);
        atomic_fetch_add(&io->appended_bytes, call->op == WATCH_APPEND ? call->size : 0);
        if (io->after != NULL) {
            io->after(io->ctx, call);
        }
    }
    return st;
}

/* Make a call: ask, do, tell. */
#define WATCH(io, call, err, action)                 \
    do {                                             \
        sinter_status st_ = before(io, (call), err); \
        if (st_ != SINTER_OK) {                      \
            return st_;                              \
        }                                            \
        st_ = (action);                              \
        return after(io, (call), st_);               \
    } while (0)

static const sinter_io_ops watch_ops;

/* Wrap a file that was opened; takes it. */
static sinter_status
wrap(watch_io *io, watch_call *call, sinter_io_file *inner, sinter_io_file **out)
{
    watch_file *file = malloc(sizeof *file);
    const int64_t open_files = atomic_fetch_add(&io->open_files, 1) + 1;

    if (file == NULL) {
        abort();
    }
    if (open_files > atomic_load(&io->open_files_max)) {
        atomic_store(&io->open_files_max, open_files);
    }
    call->file = atomic_fetch_add(&io->files, 1) + 1;
    *file = (watch_file){.base.ops = &watch_ops, .io = io, .inner = inner, .number = call->file};
    *out = &file->base;
    return after(io, call, SINTER_OK);
}

static sinter_status
watch_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    watch_call call = {.op = WATCH_OPEN, .path = path};
    sinter_io_file *inner = NULL;
    sinter_status st = before(watch_of(io), &call, err);

    *out = NULL;
    if (st == SINTER_OK) {
        st = inner_io(io)->ops->open(inner_io(io), path, flags, &inner, err);
    }
    return st != SINTER_OK ? st : wrap(watch_of(io), &call, inner, out);
}

static sinter_status
watch_create(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out,
             sinter_error *err)
{
    watch_call call = {.op = WATCH_CREATE, .path = dir};
    sinter_io_file *inner = NULL;
    sinter_status st = before(watch_of(io), &call, err);

    *out = NULL;
    if (st == SINTER_OK) {
        st = inner_io(io)->ops->create(inner_io(io), dir, flags, &inner, err);
    }
    return st != SINTER_OK ? st : wrap(watch_of(io), &call, inner, out);
}

static sinter_status
watch_size(sinter_io_file *file, uint64_t *size_out, sinter_error *err)
{
    return file_of(file)->inner->ops->size(file_of(file)->inner, size_out, err);
}

static sinter_status
watch_read(sinter_io_file *base, const sinter_io_range *ranges, size_t count, sinter_error *err)
{
    watch_file *file = file_of(base);
    watch_call call = {.op = WATCH_READ, .file = file->number};

    for (size_t i = 0; i < count; i++) {
        call.size += ranges[i].size;
    }
    WATCH(file->io, &call, err, file->inner->ops->read(file->inner, ranges, count, err));
}

static sinter_status
watch_read_begin(sinter_io_file *base, const sinter_io_range *range, sinter_io_ticket *ticket,
                 sinter_error *err)
{
    watch_file *file = file_of(base);
    const watch_call call = {.op = WATCH_READ, .file = file->number, .size = range->size};

    WATCH(file->io, &call, err, file->inner->ops->read_begin(file->inner, range, ticket, err));
}

static sinter_status
watch_read_end(sinter_io_file *file, sinter_io_ticket *ticket, sinter_error *err)
{
    return file_of(file)->inner->ops->read_end(file_of(file)->inner, ticket, err);
}

static sinter_status
watch_append(sinter_io_file *base, const void *data, size_t size, sinter_error *err)
{
    watch_file *file = file_of(base);
    const watch_call call = {.op = WATCH_APPEND, .file = file->number, .data = data, .size = size};

    WATCH(file->io, &call, err, file->inner->ops->append(file->inner, data, size, err));
}

static sinter_status
watch_sync(sinter_io_file *base, sinter_error *err)
{
    watch_file *file = file_of(base);
    const watch_call call = {.op = WATCH_SYNC, .file = file->number};

    WATCH(file->io, &call, err, file->inner->ops->sync(file->inner, err));
}

static sinter_status
watch_publish(sinter_io_file *base, const char *path, sinter_error *err)
{
    watch_file *file = file_of(base);
    const watch_call call = {.op = WATCH_PUBLISH, .file = file->number, .path = path};

    WATCH(file->io, &call, err, file->inner->ops->publish(file->inner, path, err));
}

static void
watch_close(sinter_io_file *base)
{
    watch_file *file = file_of(base);
    const watch_call call = {.op = WATCH_CLOSE, .file = file->number};

    (void)before(file->io, &call, NULL);
    file->inner->ops->close(file->inner);
    atomic_fetch_sub(&file->io->open_files, 1);
    (void)after(file->io, &call, SINTER_OK);
    free(file);
}

static sinter_status
watch_stat(sinter_io *io, const char *path, sinter_io_stat *out, sinter_error *err)
{
    return inner_io(io)->ops->stat(inner_io(io), path, out, err);
}

static sinter_status
watch_sync_dir(sinter_io *io, const char *path, sinter_error *err)
{
    const watch_call call = {.op = WATCH_SYNC_DIR, .path = path};

    WATCH(watch_of(io), &call, err, inner_io(io)->ops->sync_dir(inner_io(io), path, err));
}

static sinter_status
watch_mkdir(sinter_io *io, const char *path, sinter_error *err)
{
    return inner_io(io)->ops->mkdir(inner_io(io), path, err);
}

static sinter_status
watch_unlink(sinter_io *io, const char *path, sinter_error *err)
{
    const watch_call call = {.op = WATCH_UNLINK, .path = path};

    WATCH(watch_of(io), &call, err, inner_io(io)->ops->unlink(inner_io(io), path, err));
}

static sinter_status
watch_list(sinter_io *io, const char *path, sinter_status (*each)(void *ctx, const char *name),
           void *ctx, sinter_error *err)
{
    return inner_io(io)->ops->list(inner_io(io), path, each, ctx, err);
}

static sinter_status
watch_clean(sinter_io *io, const char *dir, uint64_t *removed_out, sinter_error *err)
{
    *removed_out = 0;
    return inner_io(io)->ops->clean == NULL
               ? SINTER_OK
               : inner_io(io)->ops->clean(inner_io(io), dir, removed_out, err);
}

static sinter_status
watch_replace(sinter_io *io, const char *path, const void *data, size_t size, sinter_error *err)
{
    const watch_call call = {.op = WATCH_REPLACE, .path = path, .data = data, .size = size};

    WATCH(watch_of(io), &call, err,
          inner_io(io)->ops->replace(inner_io(io), path, data, size, err));
}

static const sinter_io_ops watch_ops = {
    .struct_size = sizeof(sinter_io_ops),
    .name = "watch",
    .open = watch_open,
    .create = watch_create,
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
};

void
watch_io_init(watch_io *io, sinter_io *inner)
{
    *io = (watch_io){.base.ops = &watch_ops, .inner = inner};
}

uint64_t
watch_io_calls(const watch_io *io)
{
    uint64_t calls = 0;

    for (size_t op = 0; op < WATCH_OPS; op++) {
        calls += atomic_load(&io->calls[op]);
    }
    return calls;
}

/* ---- a disk that fills up ---- */

static uint64_t *
entry_of(small_disk *disk, uint64_t file)
{
    if (file >= SMALL_DISK_FILES_MAX) {
        abort();
    }
    return disk->sizes[file];
}

static sinter_status
disk_before(void *ctx, const watch_call *call, sinter_error *err)
{
    small_disk *disk = ctx;
    sinter_io_stat info = {.size_bytes = 0};

    if (call->op == WATCH_APPEND) {
        if (atomic_fetch_add(&disk->used, call->size) + call->size > atomic_load(&disk->room)) {
            atomic_fetch_sub(&disk->used, call->size);
            atomic_fetch_add(&disk->refused, 1);
            return SINTER__ERR_SYS(err, SINTER_E_NO_SPACE, ENOSPC, "", -1,
                                   "the small disk is full");
        }
        entry_of(disk, call->file)[0] += call->size;
    } else if (call->op == WATCH_UNLINK &&
               disk->io.inner->ops->stat(disk->io.inner, call->path, &info, NULL) == SINTER_OK) {
        atomic_fetch_sub(&disk->used, info.size_bytes);
    } else if (call->op == WATCH_CLOSE && entry_of(disk, call->file)[1] == 0) {
        atomic_fetch_sub(&disk->used, entry_of(disk, call->file)[0]);
    }
    return SINTER_OK;
}

static void
disk_after(void *ctx, const watch_call *call)
{
    if (call->op == WATCH_PUBLISH) {
        entry_of(ctx, call->file)[1] = 1;
    }
}

void
small_disk_init(small_disk *disk, sinter_io *inner, uint64_t room)
{
    *disk = (small_disk){.room = room};
    watch_io_init(&disk->io, inner);
    disk->io.ctx = disk;
    disk->io.before = disk_before;
    disk->io.after = disk_after;
    disk->sizes = calloc(SMALL_DISK_FILES_MAX, sizeof *disk->sizes);
    if (disk->sizes == NULL) {
        abort();
    }
}

void
small_disk_fini(small_disk *disk)
{
    free(disk->sizes);
}
