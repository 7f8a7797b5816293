/*
 * Which backend serves, and what can be asked of it.
 */
#include "sinter/io.h"

#include <string.h>

#include "base/env.h"
#include "io/io_base.h"
#include "io/posix.h"

sinter_status
sinter_io_create(const sinter_env *env, sinter_io_kind kind, const sinter_io_options *options,
                 sinter_io **out, sinter_error *err)
{
    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    (void)options;
    switch (kind) {
    case SINTER_IO_AUTO:
    case SINTER_IO_POSIX:
        return sinter__posix_create(env, &sinter__posix_calls_system, out, err);
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
    return io->ops->name;
}
