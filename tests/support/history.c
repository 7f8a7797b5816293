#include "support/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls that change what is on a disk. */
static void
record(void *ctx, const watch_call *call)
{
    history *h = ctx;
    watch_call *copy = &h->calls[h->count];

    if (call->op == WATCH_OPEN || call->op == WATCH_READ || call->op == WATCH_CLOSE) {
        return;
    }
    if (h->count == HISTORY_CALLS_MAX) {
        abort();
    }
    *copy = *call;
    if (call->path != NULL) {
        copy->path =
            (const char *)test_pool_copy(
                &h->pool, (sinter_bytes){(const uint8_t *)call->path, strlen(call->path) + 1})
                .data;
    }
    if (call->data != NULL) {
        copy->data = test_pool_copy(&h->pool, (sinter_bytes){call->data, call->size}).data;
    }
    h->count++;
}

void
history_init(history *h, sinter_io *inner)
{
    memset(h, 0, sizeof *h);
    watch_io_init(&h->io, inner);
    h->io.ctx = h;
    h->io.after = record;
}

void
history_fini(history *h)
{
    test_pool_fini(&h->pool);
}

size_t
history_count(const history *h, size_t count, watch_op op)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        found += h->calls[i].op == op;
    }
    return found;
}

/* ---- what a disk is after some calls ---- */

/** What a name may mean: a file, a replaced content, or nothing. */
typedef struct meaning {
    uint64_t file;             /* 0: none */
    const watch_call *content; /* of a replace */
} meaning;

enum { MEANINGS_MAX = 16 };

typedef struct name {
    const char *path;
    meaning items[MEANINGS_MAX]; /* first what lasts, then each that came since; the last is now */
    size_t count;
} name;

typedef struct disk {
    const history *h;
    size_t calls;
    name *names;
    size_t name_count;
} disk;

static name *
name_of(disk *d, const char *path)
{
    for (size_t i = 0; i < d->name_count; i++) {
        if (strcmp(d->names[i].path, path) == 0) {
            return &d->names[i];
        }
    }
    d->names[d->name_count] = (name){.path = path, .count = 1};
    return &d->names[d->name_count++];
}

static void
mean(disk *d, const char *path, meaning what)
{
    name *n = name_of(d, path);

    if (n->count == MEANINGS_MAX) {
        abort();
    }
    n->items[n->count++] = what;
}

static bool
lies_in(const char *path, const char *dir)
{
    const size_t size = strlen(dir);

    return strncmp(path, dir, size) == 0 && path[size] == '/' &&
           strchr(path + size + 1, '/') == NULL;
}

static void
replay(disk *d)
{
    for (size_t i = 0; i < d->calls; i++) {
        const watch_call *call = &d->h->calls[i];

        if (call->op == WATCH_PUBLISH) {
            mean(d, call->path, (meaning){.file = call->file});
        } else if (call->op == WATCH_UNLINK) {
            mean(d, call->path, (meaning){.file = 0});
        } else if (call->op == WATCH_REPLACE) { /* lasts when it returns */
            name *n = name_of(d, call->path);

            n->items[0] = (meaning){.content = call};
            n->count = 1;
        } else if (call->op == WATCH_SYNC_DIR) {
            for (size_t n = 0; n < d->name_count; n++) {
                if (lies_in(d->names[n].path, call->path)) {
                    d->names[n].items[0] = d->names[n].items[d->names[n].count - 1];
                    d->names[n].count = 1;
                }
            }
        }
    }
}

static void
must(sinter_status st, const char *what)
{
    if (st != SINTER_OK) {
        fprintf(stderr, "a disk after a crash: %s: %s\n", what, sinter_status_name(st));
        abort();
    }
}

static void
put(sinter_io *io, const char *dir, const char *path, const uint8_t *data, size_t size)
{
    sinter_io_file *file = NULL;

    must(io->ops->create(io, dir, 0, &file, NULL), "create");
    must(size == 0 ? SINTER_OK : file->ops->append(file, data, size, NULL), "append");
    must(file->ops->sync(file, NULL), "sync");
    must(file->ops->publish(file, path, NULL), path);
    file->ops->close(file);
}

/* The bytes of a file: what was synced, and of the rest a part. */
static void
put_file(const disk *d, sinter_io *io, const char *dir, const name *n, uint64_t file, test_rng *rng)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    size_t synced = 0;

    for (size_t i = 0; i < d->calls; i++) {
        const watch_call *call = &d->h->calls[i];

        if (call->file == file && call->op == WATCH_APPEND) {
            bytes = realloc(bytes, size + call->size);
            if (bytes == NULL) {
                abort();
            }
            memcpy(bytes + size, call->data, call->size);
            size += call->size;
        } else if (call->file == file && call->op == WATCH_SYNC) {
            synced = size;
        }
    }
    synced += test_rng_chance(rng, 50) ? (size_t)test_rng_below(rng, size - synced + 1) : 0;
    put(io, dir, n->path, bytes, synced);
    free(bytes);
}

sinter_io *
history_crash(const history *h, size_t count, const char *dir, test_rng *rng)
{
    disk d = {.h = h, .calls = count, .names = calloc(count + 1, sizeof *d.names)};
    const bool is_all_lost = test_rng_chance(rng, 25);
    sinter_io *io = NULL;

    if (d.names == NULL) {
        abort();
    }
    must(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &io, NULL), "io");
    must(io->ops->mkdir(io, dir, NULL), "mkdir");
    replay(&d);
    for (size_t i = 0; i < d.name_count; i++) {
        const name *n = &d.names[i];
        const meaning m = n->items[is_all_lost ? 0 : test_rng_below(rng, n->count)];

        if (m.content != NULL) {
            put(io, dir, n->path, m.content->data, m.content->size);
        } else if (m.file != 0) {
            put_file(&d, io, dir, n, m.file, rng);
        }
    }
    must(io->ops->sync_dir(io, dir, NULL), "sync of the directory");
    free(d.names);
    return io;
}
