/*
 * Writes the files of fixture_cases.h into a directory: make_fixtures DIR. Used once per format
 * version, and for the corpus of the fuzz target.
 */
#include <stdio.h>

#include "fixture_cases.h"

static int64_t
fixed_time(void *ctx)
{
    (void)ctx;
    return 1700000000000;
}

int
main(int argc, char **argv)
{
    sinter_env env;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: make_fixtures DIR\n");
        return 2;
    }
    sinter_env_init(&env);
    env.clock.wall_ms = fixed_time;
    for (int i = 0; i < FIXTURE_COUNT; i++) {
        const fixture_case *fixture = &fixture_cases[i];
        test_rng rng = {.state = fixture->seed};
        test_pool pool = {0};
        const test_run run = sst_records(&rng, &fixture->shape, &pool);
        sinter_error err = SINTER_ERROR_INIT;
        char path[512];

        (void)snprintf(path, sizeof path, "%s/%s.sst", argv[1], fixture->name);
        if (sst_write(&env, path, &run, &fixture->plan, NULL, &err) != SINTER_OK) {
            (void)fprintf(stderr, "%s: %s\n", path, err.text);
            return 1;
        }
        test_pool_fini(&pool);
    }
    return 0;
}
