#include "soak/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "soak/told.h"

void
soak_world_init(soak_world *world, const soak_options *options)
{
    const sinter_env *plain = sinter_env_default();
    const sinter_fault_options none = {.struct_size = (uint32_t)sizeof none, .at_call = UINT64_MAX};
    sinter_error err = SINTER_ERROR_INIT;

    *world = (soak_world){.options = *options, .random = {options->seed}};
    soak_storm_begin(options->seed);
    if (options->memory_backend) {
        soak_require(sinter_io_create(plain, SINTER_IO_MEMORY, NULL, &world->disk, &err), "memory",
                     &err);
        soak_require(sinter_io_fault_create(plain, world->disk, &none, &world->power, &err),
                     "power", &err);
        soak_require(world->disk->ops->mkdir(world->disk, options->dir, &err), options->dir, &err);
        soak_require(world->disk->ops->sync_dir(world->disk, ".", &err), ".", &err);
    }
    world->buckets = soak_allocate(options->buckets * sizeof *world->buckets);
    for (uint32_t i = 0; i < options->buckets; i++) {
        soak_bucket_init(&world->buckets[i], i, options->dir, options->seed,
                         (uint32_t)options->keys);
    }
}

void
soak_world_fini(soak_world *world)
{
    for (uint32_t i = 0; i < world->options.buckets; i++) {
        soak_bucket_fini(&world->buckets[i]);
    }
    free(world->buckets);
    sinter_io_destroy(world->power);
    sinter_io_destroy(world->disk);
}

static void
open_io(soak_world *world)
{
    const sinter_env *plain = sinter_env_default();
    sinter_error err = SINTER_ERROR_INIT;

    if (!world->options.memory_backend) {
        const sinter_io_kind kind =
            soak_random_one_in(&world->random, 2) ? SINTER_IO_POSIX : SINTER_IO_AUTO;

        soak_require(sinter_io_create(plain, kind, NULL, &world->disk, &err), "io", &err);
    }
    world->storm = soak_storm_io_create(world->power != NULL ? world->power : world->disk);
    sinter_env_init(&world->env);
    world->env.allocator = soak_storm_allocator();
    world->env.io = world->storm;
    world->env.listener = soak_told_listener();
}

static void
open_scheduler(soak_world *world)
{
    static const uint64_t rates[] = {0, 0, 4u << 20, 64u << 20};
    const sinter_env *plain = sinter_env_default();
    const sinter_scheduler_options options = {
        .struct_size = (uint32_t)sizeof options,
        .when_full = (int32_t)soak_random_below(&world->random, 3),
        .tasks_max = 1 + soak_random_below(&world->random, 3),
        .queue_max = soak_random_one_in(&world->random, 2) ? 6 : 0,
        .memory_bytes = soak_random_one_in(&world->random, 2) ? 64u << 20 : 0,
        .open_files_max = soak_random_one_in(&world->random, 2) ? 300 : 0,
        .limit_mode = (int32_t)soak_random_below(&world->random, 3),
        .bytes_per_second = rates[soak_random_below(&world->random, 4)],
        .slow_io_ns = 20000000,
    };
    sinter_error err = SINTER_ERROR_INIT;

    soak_require(sinter_pool_create(plain, 3, 4096, &world->pool, &err), "pool", &err);
    world->env.executor = sinter_pool_executor(world->pool);
    soak_calm_begin();
    soak_require(sinter_scheduler_create(&world->env, &options, &world->scheduler, &err),
                 "scheduler", &err);
    soak_calm_end();
}

static void
open_memory(soak_world *world)
{
    const sinter_env *plain = sinter_env_default();
    sinter_error err = SINTER_ERROR_INIT;

    for (uint32_t i = 0; i < world->options.writers; i += 2) {
        soak_require(sinter_write_pool_create(plain, 1u << 20, &world->buffers[i], &err),
                     "write buffers", &err);
    }
    soak_require(sinter_memory_create(plain, 3u << 20, &world->read_memory, &err),
                 "memory of readers", &err);
    world->read_env = world->env;
    world->read_env.memory = world->read_memory;
    world->read_env.executor = (sinter_executor){0};
}

void
soak_world_open(soak_world *world)
{
    open_io(world);
    open_scheduler(world);
    open_memory(world);
    for (uint32_t i = 0; i < world->options.buckets; i++) {
        const soak_surroundings around = {.env = &world->env,
                                          .scheduler = world->scheduler,
                                          .pool = world->buffers[i % world->options.writers]};

        if (!soak_bucket_open(&world->buckets[i], &around)) {
            soak_wrong("%s could not be opened", world->buckets[i].name);
        }
    }
}

static void
close_buckets(soak_world *world)
{
    for (uint32_t i = 0; i < world->options.buckets; i++) {
        soak_bucket *bucket = &world->buckets[i];

        if (bucket->tree != NULL && !soak_storm_is_off()) {
            if (soak_random_one_in(&world->random, 2)) {
                (void)soak_bucket_commit(bucket);
            }
            soak_calm_begin();
            (void)soak_bucket_verify(bucket, "at the end");
            soak_calm_end();
        }
        soak_bucket_close(bucket);
    }
}

static void
power_on(soak_world *world)
{
    const sinter_fault_options none = {.struct_size = (uint32_t)sizeof none, .at_call = UINT64_MAX};
    sinter_error err = SINTER_ERROR_INIT;

    if (soak_storm_is_off() && world->power != NULL) {
        soak_require(sinter_io_fault_restart(world->power, &err), "power", &err);
        sinter_io_fault_set(world->power, &none);
    }
    soak_storm_power_on();
}

void
soak_world_close(soak_world *world)
{
    sinter_error err = SINTER_ERROR_INIT;

    close_buckets(world);
    soak_require(sinter_scheduler_drain(world->scheduler, &err), "drain", &err);
    sinter_scheduler_destroy(world->scheduler);
    soak_told_check();
    sinter_pool_destroy(world->pool);
    for (uint32_t i = 0; i < world->options.writers; i++) {
        sinter_write_pool_destroy(world->buffers[i]);
        world->buffers[i] = NULL;
    }
    if (sinter_memory_used(world->read_memory) > 0) {
        soak_wrong("readers never gave back %" PRIu64 " bytes",
                   sinter_memory_used(world->read_memory));
    }
    sinter_memory_destroy(world->read_memory);
    sinter_io_destroy(world->storm);
    power_on(world);
    if (!world->options.memory_backend) {
        sinter_io_destroy(world->disk);
        world->disk = NULL;
    }
}

void
soak_world_power_off(soak_world *world)
{
    sinter_fault_options crash = {.struct_size = (uint32_t)sizeof crash,
                                  .kind = SINTER_FAULT_CRASH,
                                  .at_call = soak_random_below(&world->random, 300)};

    soak_storm_power_off(world->power == NULL);
    if (world->power != NULL) {
        sinter_io_fault_set(world->power, &crash);
        soak_sleep_us(100000);
        crash.at_call = 0;
        sinter_io_fault_set(world->power, &crash);
    }
}
