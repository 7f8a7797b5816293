/*
 * Which backend serves, and what can be asked of it.
 */
#include "sinter/io.h"

#include <string.h>

#include "base/env.h"
#include "base/load.h"
#include "io/io_base.h"
#include "io/posix.h"
#ifdef SINTER_HAVE_URING
#include "io/uring.h"
#endif

enum {
    QUEUE_DEPTH_DEFAULT = 64,
    QUEUE_DEPTH_MAX = 4096,
    BUFFER_COUNT_DEFAULT = 16,
    BUFFER_COUNT_MAX = 1024,
    BUFFER_BYTES_DEFAULT = 262144,
    BUFFER_BYTES_MAX = 16 << 20
};

static bool
is_zero(const void *data, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        if (((const uint8_t *)data)[i] != 0) {
            return false;
        }
    }
    return true;
}

/* A caller's struct may be older (shorter) or newer (longer): what we don't know must be zero. */
static sinter_status
options_read(const sinter_io_options *given, sinter_io_options *out, sinter_error *err)
{
    size_t size = 0;

    *out = (sinter_io_options){.struct_size = (uint32_t)sizeof *out};
    if (given != NULL) {
        size = given->struct_size == 0 ? sizeof *out : given->struct_size;
        SINTER__REQUIRE(err, is_zero(given, sizeof *out, size));
        memcpy(out, given, size < sizeof *out ? size : sizeof *out);
    }
    out->queue_depth = out->queue_depth == 0 ? QUEUE_DEPTH_DEFAULT : out->queue_depth;
    out->buffer_count = out->buffer_count == 0 ? BUFFER_COUNT_DEFAULT : out->buffer_count;
    out->buffer_bytes = out->buffer_bytes == 0 ? BUFFER_BYTES_DEFAULT : out->buffer_bytes;
    SINTER__REQUIRE(err, out->queue_depth <= QUEUE_DEPTH_MAX);
    SINTER__REQUIRE(err, out->buffer_count <= BUFFER_COUNT_MAX);
    SINTER__REQUIRE(err, out->buffer_bytes <= BUFFER_BYTES_MAX);
    SINTER__REQUIRE(err, out->buffer_bytes % SINTER__IO_ALIGN == 0);
    return SINTER_OK;
}

static sinter_status
create_uring(const sinter_env *env, const sinter_io_options *options, bool is_ring_only,
             sinter_io **out, sinter_error *err)
{
#ifdef SINTER_HAVE_URING
    const sinter__uring_setup setup = {.queue_depth = options->queue_depth,
                                       .buffer_count = options->buffer_count,
                                       .buffer_bytes = options->buffer_bytes,
                                       .is_ring_only = is_ring_only,
                                       .calls = &sinter__posix_calls_system};

    return sinter__uring_create(env, &setup, out, err);
#else
    (void)env;
    (void)options;
    (void)is_ring_only;
    (void)out;
    return SINTER__ERR_SYS(err, SINTER_E_UNSUPPORTED, ENOSYS, NULL, -1,
                           "this build has no io_uring");
#endif
}

/* io_uring, or posix with a word to the listener. */
static sinter_status
create_best(const sinter_env *env, const sinter_io_options *options, sinter_io **out,
            sinter_error *err)
{
    sinter_error refusal = SINTER_ERROR_INIT;
    const sinter_status st = create_uring(env, options, false, out, &refusal);

    if (st == SINTER_E_UNSUPPORTED) {
        SINTER__CHECK(sinter__posix_create(env, &sinter__posix_calls_system, out, err));
        sinter__fail_context(&refusal, "posix io serves instead");
        sinter__log(env, st, NULL, refusal.text);
        return SINTER_OK;
    }
    if (st != SINTER_OK && err != NULL) {
        *err = refusal;
    }
    return st;
}

sinter_status
sinter_io_create(const sinter_env *env, sinter_io_kind kind, const sinter_io_options *options,
                 sinter_io **out, sinter_error *err)
{
    sinter_io_options known;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__CHECK(options_read(options, &known, err));
    switch (kind) {
    case SINTER_IO_AUTO:
        return create_best(env, &known, out, err);
    case SINTER_IO_POSIX:
        return sinter__posix_create(env, &sinter__posix_calls_system, out, err);
    case SINTER_IO_URING:
        return create_uring(env, &known, true, out, err);
    case SINTER_IO_MEMORY:
        return sinter__memory_create(env, out, err);
    default:
        return SINTER__ERR(err, SINTER_E_INVALID, "no io backend has the number %d", (int)kind);
    }
}

void
sinter_io_destroy(sinter_io *io)
{
    if (io != NULL && io != sinter_io_posix() && io->ops->destroy != NULL) {
        io->ops->destroy(io);
    }
}

const char *
sinter_io_name(const sinter_io *io)
{
    return sinter__io_unwrap(io)->ops->name;
}

static const sinter__io_base *
built_in(const sinter_io *io)
{
    const bool is_ours = io->ops == &sinter__posix_ops || io->ops == &sinter__memory_ops
#ifdef SINTER_HAVE_URING
                         || io->ops == &sinter__uring_ops
#endif
        ;

    return is_ours ? (const sinter__io_base *)io : NULL;
}

void
sinter_io_counters_get(const sinter_io *io, sinter_io_counters *out)
{
    const sinter__io_base *base = built_in(sinter__io_unwrap(io));
    sinter_io_counters counters = {.struct_size = (uint32_t)sizeof counters};

    if (base != NULL) {
        counters.reads = atomic_load(&base->reads);
        counters.read_bytes = atomic_load(&base->read_bytes);
        counters.writes = atomic_load(&base->writes);
        counters.written_bytes = atomic_load(&base->written_bytes);
        counters.syncs = atomic_load(&base->syncs);
        counters.registered_buffers = atomic_load(&base->registered_buffers);
        counters.ring_calls = atomic_load(&base->ring_calls);
    }
    sinter__struct_store(out, &counters, sizeof counters);
}

sinter_status
sinter_io_probe_uring(sinter_error *err)
{
#ifdef SINTER_HAVE_URING
    sinter__ring ring;

    SINTER__CHECK(sinter__ring_init(&ring, 4, err));
    sinter__ring_fini(&ring);
    return SINTER_OK;
#else
    return SINTER__ERR_SYS(err, SINTER_E_UNSUPPORTED, ENOSYS, NULL, -1,
                           "this build has no io_uring");
#endif
}
