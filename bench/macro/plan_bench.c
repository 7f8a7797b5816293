/*
 * Plans scans of a table: reads its metadata as sinter_table_scan_open() does. For each line of
 * standard input one plan, answered by one line of JSON; CPU time is that of all threads.
 *
 *   plan_bench DIR THREADS [EXPRESSION]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "sinter/sinter.h"

static double
cpu_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double
wall_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double
peak_mib(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static sinter_status
plan(const sinter_env *env, const char *dir, const sinter_predicate *where, sinter_error *err)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = dir};
    const sinter_table_scan_options options = {
        .struct_size = (uint32_t)sizeof options, .bucket = -1, .where = where};
    sinter_table_scan_counters counters = {.struct_size = (uint32_t)sizeof counters};
    const double cpu = cpu_seconds();
    const double wall = wall_seconds();
    sinter_table *table = NULL;
    sinter_table_scan *scan = NULL;
    sinter_status st = sinter_table_open(env, &config, &table, err);

    if (st == SINTER_OK) {
        st = sinter_table_scan_open(table, &options, &scan, err);
    }
    if (st == SINTER_OK) {
        sinter_table_scan_counters_get(scan, &counters);
        printf("{\"files\":%" PRIu64 ",\"manifests\":%" PRIu64
               ",\"cpu_s\":%.6f,\"wall_s\":%.6f,\"rss_peak_mib\":%.2f}\n",
               counters.files, counters.manifests_read, cpu_seconds() - cpu, wall_seconds() - wall,
               peak_mib());
        (void)fflush(stdout);
    }
    sinter_table_scan_close(scan);
    sinter_table_close(table);
    return st;
}

static sinter_status
serve(sinter_env *env, char **argv, int argc, sinter_error *err)
{
    sinter_predicate *where = NULL;
    sinter_status st = SINTER_OK;
    char line[256];

    if (argc > 3) {
        st = sinter_predicate_parse(env, argv[3], &where, err);
    }
    while (st == SINTER_OK && fgets(line, sizeof line, stdin) != NULL) {
        st = plan(env, argv[1], where, err);
    }
    sinter_predicate_destroy(where);
    return st;
}

int
main(int argc, char **argv)
{
    const uint32_t threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_pool *pool = NULL;
    sinter_io *io = NULL;
    sinter_env env;
    sinter_status st = SINTER_OK;

    if (argc < 3) {
        fprintf(stderr, "plan_bench DIR THREADS [EXPRESSION]\n");
        return 2;
    }
    sinter_env_init(&env);
    st = sinter_io_create(&env, SINTER_IO_POSIX, NULL, &io, &err);
    env.io = io;
    if (st == SINTER_OK && threads > 1) {
        st = sinter_pool_create(&env, threads - 1, 64, &pool, &err);
        env.executor = pool != NULL ? sinter_pool_executor(pool) : env.executor;
    }
    if (st == SINTER_OK) {
        st = serve(&env, argv, argc, &err);
    }
    sinter_pool_destroy(pool);
    sinter_io_destroy(io);
    if (st != SINTER_OK) {
        fprintf(stderr, "plan_bench: %s: %s\n", err.file, err.text);
    }
    return st == SINTER_OK ? 0 : 1;
}
