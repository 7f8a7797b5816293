/*
 * The default environment: malloc and the system's clocks. The posix io is filled in by src/io,
 * which lies above this room, through sinter__env_init().
 */
#include "base/env.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/listener.h"

static void *
system_allocate(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *
system_resize(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    return realloc(ptr, size);
}

static void
system_release(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

static int64_t
clock_ns(clockid_t id)
{
    struct timespec now = {0};

    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t
system_wall_ms(void *ctx)
{
    (void)ctx;
    return clock_ns(CLOCK_REALTIME) / 1000000;
}

static int64_t
system_monotonic_ns(void *ctx)
{
    (void)ctx;
    return clock_ns(CLOCK_MONOTONIC);
}

static int64_t
system_cpu_ns(void *ctx)
{
    (void)ctx;
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void
system_sleep_ns(void *ctx, int64_t ns)
{
    const struct timespec wait = {.tv_sec = (time_t)(ns / 1000000000),
                                  .tv_nsec = (long)(ns % 1000000000)};

    (void)ctx;
    (void)nanosleep(&wait, NULL); /* a signal may end it early */
}

static int32_t
system_local_hour(void *ctx)
{
    const time_t now = (time_t)(clock_ns(CLOCK_REALTIME) / 1000000000);
    struct tm local = {0};

    (void)ctx;
    return localtime_r(&now, &local) == NULL ? -1 : local.tm_hour;
}

int64_t
sinter__local_ms(const sinter_env *env)
{
    enum { MS_PER_SECOND = 1000 };
    const int64_t now_ms = sinter__now_ms(env);
    const time_t now = (time_t)(now_ms / MS_PER_SECOND);
    struct tm local = {0};

    return localtime_r(&now, &local) == NULL ? now_ms
                                             : now_ms + (int64_t)local.tm_gmtoff * MS_PER_SECOND;
}

void
sinter__env_init(sinter_env *env)
{
    memset(env, 0, sizeof *env);
    env->struct_size = (uint32_t)sizeof *env;
    env->allocator = (sinter_allocator){
        .struct_size = (uint32_t)sizeof env->allocator,
        .allocate = system_allocate,
        .resize = system_resize,
        .release = system_release,
    };
    env->clock = (sinter_clock){
        .struct_size = (uint32_t)sizeof env->clock,
        .wall_ms = system_wall_ms,
        .monotonic_ns = system_monotonic_ns,
        .cpu_ns = system_cpu_ns,
        .sleep_ns = system_sleep_ns,
        .local_hour = system_local_hour,
    };
    env->executor.struct_size = (uint32_t)sizeof env->executor;
}

int32_t
sinter__local_hour(const sinter_env *env)
{
    enum { HOUR_MS = 3600000, DAY_MS = 24 * HOUR_MS };
    const sinter_clock *clock = &env->clock;
    int32_t hour = -1;

    if (clock->struct_size >= sizeof *clock && clock->local_hour != NULL) {
        hour = clock->local_hour(clock->ctx);
    }
    if (hour < 0 || hour > 23) {
        const int64_t of_day = sinter__now_ms(env) % DAY_MS;

        hour = (int32_t)((of_day < 0 ? of_day + DAY_MS : of_day) / HOUR_MS);
    }
    return hour;
}

void
sinter__log(const sinter_env *env, sinter_status status, const char *file, const char *text)
{
    const sinter_event event = {
        .struct_size = (uint32_t)sizeof event, .file = file, .text = text, .status = status};

    SINTER__TELL(env->listener, log, &event);
}
