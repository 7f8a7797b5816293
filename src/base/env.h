/*
 * Inside of the environment: its parts that need no io, and short ways to use it.
 */
#ifndef SINTER_BASE_ENV_H
#define SINTER_BASE_ENV_H

#include "sinter/env.h"

/** Fill everything but `io`. */
void
sinter__env_init(sinter_env *env);

/** Tell the listener one line; nobody listening is fine. */
void
sinter__log(const sinter_env *env, sinter_status status, const char *file, const char *text);

static inline int64_t
sinter__now_ms(const sinter_env *env)
{
    return env->clock.wall_ms(env->clock.ctx);
}

static inline int64_t
sinter__now_ns(const sinter_env *env)
{
    return env->clock.monotonic_ns(env->clock.ctx);
}

static inline int64_t
sinter__cpu_ns(const sinter_env *env)
{
    return env->clock.cpu_ns(env->clock.ctx);
}

/** Local hour of the day, 0..23; of UTC where the clock doesn't know it. */
int32_t
sinter__local_hour(const sinter_env *env);

/** The wall clock where the system stands, as if it showed UTC: what Paimon notes of a file. */
int64_t
sinter__local_ms(const sinter_env *env);

static inline void
sinter__sleep_ns(const sinter_env *env, int64_t ns)
{
    env->clock.sleep_ns(env->clock.ctx, ns);
}

#endif
