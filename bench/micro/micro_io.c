/* Reading and writing one file through each io backend, in the chunks that the library uses. */
#include "micro/micro.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 64 * 1024 * 1024, CHUNK_BYTES = 256 * 1024, AHEAD = 2, PATH_ROOM = 256 };

typedef struct io_state {
    sinter_env env;
    sinter_io *io;
    char dir[PATH_ROOM];
    char path[PATH_ROOM];
    uint8_t *chunks[AHEAD];
} io_state;

static void
write_chunks(io_state *state)
{
    const sinter_io_ops *ops = state->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *file = NULL;

    micro_require(ops->create(state->io, state->dir, 0, &file, &err), "create", &err);
    for (size_t done = 0; done < FILE_BYTES; done += CHUNK_BYTES) {
        micro_require(file->ops->append(file, state->chunks[0], CHUNK_BYTES, &err), "append", &err);
    }
    micro_require(file->ops->publish(file, state->path, &err), "publish", &err);
    file->ops->close(file);
}

static void *
setup(const micro_case *self)
{
    io_state *state = micro_allocate(sizeof *state);
    const char *base = getenv("TMPDIR");
    sinter_error err = SINTER_ERROR_INIT;

    memset(state, 0, sizeof *state);
    sinter_env_init(&state->env);
    if (sinter_io_create(&state->env, (sinter_io_kind)self->parameter, NULL, &state->io, &err) !=
        SINTER_OK) {
        free(state);
        return NULL;
    }
    (void)snprintf(state->dir, sizeof state->dir, "%s", base != NULL ? base : "/tmp");
    if (self->parameter == SINTER_IO_MEMORY) {
        (void)snprintf(state->dir, sizeof state->dir, "/");
    }
    (void)snprintf(state->path, sizeof state->path, "%.200s/sinter-micro-%ld", state->dir,
                   (long)getpid());
    for (int i = 0; i < AHEAD; i++) {
        state->chunks[i] = micro_allocate(CHUNK_BYTES);
        memset(state->chunks[i], 1, CHUNK_BYTES);
    }
    write_chunks(state);
    return state;
}

static void
teardown(void *pointer)
{
    io_state *state = pointer;

    (void)state->io->ops->unlink(state->io, state->path, NULL);
    for (int i = 0; i < AHEAD; i++) {
        free(state->chunks[i]);
    }
    sinter_io_destroy(state->io);
    free(state);
}

static void
begin_chunk(sinter_io_file *file, sinter_io_range range, sinter_io_ticket *ticket)
{
    sinter_error err = SINTER_ERROR_INIT;

    micro_require(file->ops->read_begin(file, &range, ticket, &err), "read", &err);
}

static uint64_t
read_file(const micro_case *self, void *pointer)
{
    io_state *state = pointer;
    const sinter_io_ops *ops = state->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_ticket tickets[AHEAD];
    sinter_io_file *file = NULL;
    size_t offset = 0;

    (void)self;
    micro_require(ops->open(state->io, state->path, SINTER_IO_SEQUENTIAL, &file, &err), "open",
                  &err);
    for (; offset < (size_t)AHEAD * CHUNK_BYTES; offset += CHUNK_BYTES) {
        const size_t slot = offset / CHUNK_BYTES;

        begin_chunk(file, (sinter_io_range){offset, state->chunks[slot], CHUNK_BYTES},
                    &tickets[slot]);
    }
    for (size_t done = 0; done < FILE_BYTES; done += CHUNK_BYTES) {
        const size_t slot = done / CHUNK_BYTES % AHEAD;

        micro_require(file->ops->read_end(file, &tickets[slot], &err), "read", &err);
        if (offset < FILE_BYTES) {
            begin_chunk(file, (sinter_io_range){offset, state->chunks[slot], CHUNK_BYTES},
                        &tickets[slot]);
            offset += CHUNK_BYTES;
        }
    }
    file->ops->close(file);
    return FILE_BYTES / 1024;
}

static uint64_t
write_file(const micro_case *self, void *pointer)
{
    io_state *state = pointer;

    (void)self;
    (void)state->io->ops->unlink(state->io, state->path, NULL);
    write_chunks(state);
    return FILE_BYTES / 1024;
}

const micro_case MICRO_IO_CASES[] = {
    {"io-read-posix", "KiB", setup, read_file, teardown, NULL, SINTER_IO_POSIX},
    {"io-read-uring", "KiB", setup, read_file, teardown, NULL, SINTER_IO_URING},
    {"io-read-memory", "KiB", setup, read_file, teardown, NULL, SINTER_IO_MEMORY},
    {"io-write-posix", "KiB", setup, write_file, teardown, NULL, SINTER_IO_POSIX},
    {"io-write-uring", "KiB", setup, write_file, teardown, NULL, SINTER_IO_URING},
    {"io-write-memory", "KiB", setup, write_file, teardown, NULL, SINTER_IO_MEMORY},
    {0},
};
