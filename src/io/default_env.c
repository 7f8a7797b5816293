/*
 * The default environment: what base gives, and the posix io.
 */
#include <pthread.h>

#include "base/env.h"
#include "sinter/io.h"

static sinter_env default_env;
static pthread_once_t default_once = PTHREAD_ONCE_INIT;

void
sinter_env_init(sinter_env *env)
{
    sinter__env_init(env);
    env->io = sinter_io_posix();
}

static void
make_default(void)
{
    sinter_env_init(&default_env);
}

const sinter_env *
sinter_env_default(void)
{
    (void)pthread_once(&default_once, make_default);
    return &default_env;
}
