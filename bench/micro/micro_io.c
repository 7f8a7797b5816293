/* Reading and writing one file through each io backend, in the chunks that the library uses. */
#include "micro/micro.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 64 * 1024 * 1024, ALIGN = 4096, AHEAD_MAX = 16, PATH_ROOM = 256, KIB = 1024 };

/* How a case moves its bytes; its number is the case's parameter. */
typedef struct io_shape {
    sinter_io_kind kind;
    uint32_t flags;
    size_t chunk_bytes;
    size_t ahead;
} io_shape;

enum { POSIX, URING, MEMORY, POSIX_DIRECT, URING_DIRECT };

static const io_shape SHAPES[] = {
    [POSIX] = {SINTER_IO_POSIX, 0, 256 * KIB, 2},
    [URING] = {SINTER_IO_URING, 0, 256 * KIB, 2},
    [MEMORY] = {SINTER_IO_MEMORY, 0, 256 * KIB, 2},
    [POSIX_DIRECT] = {SINTER_IO_POSIX, SINTER_IO_DIRECT, 1024 * KIB, 2},
    [URING_DIRECT] = {SINTER_IO_URING, SINTER_IO_DIRECT, 1024 * KIB, 4},
};

/* Direct reads of so many KiB, so many on their way: a parameter that is no number of a shape. */
#define DEPTH_PARAMETER(kib, depth) ((kib)*KIB + (depth))

static io_shape
shape_of(const micro_case *self)
{
    const size_t parameter = (size_t)self->parameter;

    if (parameter < KIB) {
        return SHAPES[parameter];
    }
    return (io_shape){SINTER_IO_URING, SINTER_IO_DIRECT, parameter / KIB * KIB, parameter % KIB};
}

typedef struct io_state {
    io_shape shape;
    sinter_env env;
    sinter_io *io;
    char dir[PATH_ROOM];
    char path[PATH_ROOM];
    uint8_t *chunks[AHEAD_MAX];
} io_state;

static void
write_chunks(io_state *state)
{
    const sinter_io_ops *ops = state->io->ops;
    const size_t size = state->shape.chunk_bytes;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *file = NULL;

    micro_require(ops->create(state->io, state->dir, state->shape.flags, &file, &err), "create",
                  &err);
    for (size_t done = 0; done < FILE_BYTES; done += size) {
        micro_require(file->ops->append(file, state->chunks[0], size, &err), "append", &err);
    }
    micro_require(file->ops->publish(file, state->path, &err), "publish", &err);
    file->ops->close(file);
}

static uint8_t *
aligned_chunk(size_t size)
{
    uint8_t *chunk = aligned_alloc(ALIGN, size);

    if (chunk == NULL) {
        perror("micro_bench");
        exit(1);
    }
    memset(chunk, 1, size);
    return chunk;
}

static void *
setup(const micro_case *self)
{
    io_state *state = micro_allocate(sizeof *state);
    const char *base = getenv("TMPDIR");
    sinter_error err = SINTER_ERROR_INIT;

    memset(state, 0, sizeof *state);
    state->shape = shape_of(self);
    sinter_env_init(&state->env);
    if (sinter_io_create(&state->env, state->shape.kind, NULL, &state->io, &err) != SINTER_OK) {
        free(state);
        return NULL;
    }
    (void)snprintf(state->dir, sizeof state->dir, "%s", base != NULL ? base : "/tmp");
    if (state->shape.kind == SINTER_IO_MEMORY) {
        (void)snprintf(state->dir, sizeof state->dir, "/");
    }
    (void)snprintf(state->path, sizeof state->path, "%.200s/sinter-micro-%ld", state->dir,
                   (long)getpid());
    for (size_t i = 0; i < state->shape.ahead; i++) {
        state->chunks[i] = aligned_chunk(state->shape.chunk_bytes);
    }
    write_chunks(state);
    return state;
}

static void
teardown(void *pointer)
{
    io_state *state = pointer;

    (void)state->io->ops->unlink(state->io, state->path, NULL);
    for (size_t i = 0; i < AHEAD_MAX; i++) {
        free(state->chunks[i]);
    }
    sinter_io_destroy(state->io);
    free(state);
}

/* Memory for the reads of a file: what it lends, else the case's own. */
static void
borrow_chunks(const io_state *state, sinter_io_file *file, uint8_t **chunks)
{
    for (size_t i = 0; i < state->shape.ahead; i++) {
        void *lent =
            file->ops->borrow != NULL ? file->ops->borrow(file, state->shape.chunk_bytes) : NULL;

        chunks[i] = lent != NULL ? lent : state->chunks[i];
    }
}

static void
give_chunks_back(const io_state *state, sinter_io_file *file, uint8_t **chunks)
{
    for (size_t i = 0; i < state->shape.ahead; i++) {
        if (chunks[i] != state->chunks[i]) {
            file->ops->give_back(file, chunks[i]);
        }
    }
}

/* Begin the read of the chunk at `offset` into its place. */
static void
begin_chunk(const io_state *state, sinter_io_file *file, uint8_t **chunks, size_t offset,
            sinter_io_ticket *tickets)
{
    const size_t size = state->shape.chunk_bytes;
    const size_t slot = offset / size % state->shape.ahead;
    const sinter_io_range range = {offset, chunks[slot], size};
    sinter_error err = SINTER_ERROR_INIT;

    micro_require(file->ops->read_begin(file, &range, &tickets[slot], &err), "read", &err);
}

static uint64_t
read_file(const micro_case *self, void *pointer)
{
    io_state *state = pointer;
    const sinter_io_ops *ops = state->io->ops;
    const size_t size = state->shape.chunk_bytes;
    const size_t ahead = state->shape.ahead * size;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_ticket tickets[AHEAD_MAX];
    uint8_t *chunks[AHEAD_MAX];
    sinter_io_file *file = NULL;

    (void)self;
    micro_require(
        ops->open(state->io, state->path, SINTER_IO_SEQUENTIAL | state->shape.flags, &file, &err),
        "open", &err);
    borrow_chunks(state, file, chunks);
    for (size_t offset = 0; offset < ahead; offset += size) {
        begin_chunk(state, file, chunks, offset, tickets);
    }
    for (size_t done = 0; done < FILE_BYTES; done += size) {
        sinter_io_ticket *ticket = &tickets[done / size % state->shape.ahead];

        micro_require(file->ops->read_end(file, ticket, &err), "read", &err);
        if (done + ahead < FILE_BYTES) {
            begin_chunk(state, file, chunks, done + ahead, tickets);
        }
    }
    give_chunks_back(state, file, chunks);
    file->ops->close(file);
    return FILE_BYTES / KIB;
}

static uint64_t
write_file(const micro_case *self, void *pointer)
{
    io_state *state = pointer;

    (void)self;
    (void)state->io->ops->unlink(state->io, state->path, NULL);
    write_chunks(state);
    return FILE_BYTES / KIB;
}

const micro_case MICRO_IO_CASES[] = {
    {"io-read-posix", "KiB", setup, read_file, teardown, NULL, POSIX},
    {"io-read-uring", "KiB", setup, read_file, teardown, NULL, URING},
    {"io-read-memory", "KiB", setup, read_file, teardown, NULL, MEMORY},
    {"io-read-posix-direct", "KiB", setup, read_file, teardown, NULL, POSIX_DIRECT},
    {"io-read-uring-direct", "KiB", setup, read_file, teardown, NULL, URING_DIRECT},
    {"io-write-posix", "KiB", setup, write_file, teardown, NULL, POSIX},
    {"io-write-uring", "KiB", setup, write_file, teardown, NULL, URING},
    {"io-write-memory", "KiB", setup, write_file, teardown, NULL, MEMORY},
    {"io-write-posix-direct", "KiB", setup, write_file, teardown, NULL, POSIX_DIRECT},
    {"io-write-uring-direct", "KiB", setup, write_file, teardown, NULL, URING_DIRECT},
    {0},
};

#define DEPTH_CASE(kib, depth)                                                                 \
    {                                                                                          \
        .name = "io-depth-" #kib "k-" #depth, .unit = "KiB", .setup = setup, .run = read_file, \
        .teardown = teardown, .parameter = DEPTH_PARAMETER(kib, depth)                         \
    }

const micro_case MICRO_IO_DEPTH_CASES[] = {
    DEPTH_CASE(64, 1),   DEPTH_CASE(64, 2),   DEPTH_CASE(64, 4),    DEPTH_CASE(64, 8),
    DEPTH_CASE(64, 16),  DEPTH_CASE(256, 1),  DEPTH_CASE(256, 2),   DEPTH_CASE(256, 4),
    DEPTH_CASE(256, 8),  DEPTH_CASE(256, 16), DEPTH_CASE(1024, 1),  DEPTH_CASE(1024, 2),
    DEPTH_CASE(1024, 4), DEPTH_CASE(1024, 8), DEPTH_CASE(1024, 16), {0},
};
