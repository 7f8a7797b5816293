/*
 * Compacts a table and kills itself before a call that changes something on disk.
 *
 * usage: killed_compact TABLE N    N: the call, from 1; 0: never. Prints how many calls there were
 * in all and before the commit began, if it lives.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "sinter/sinter.h"
#include "soak/hook_io.h"

typedef struct killer {
    uint64_t calls;
    uint64_t deadly; /* number of the call; 0: none */
} killer;

static bool
changes_something(soak_op op)
{
    switch (op) {
    case SOAK_OP_CREATE:
    case SOAK_OP_APPEND:
    case SOAK_OP_SYNC:
    case SOAK_OP_PUBLISH:
    case SOAK_OP_SYNC_DIR:
    case SOAK_OP_MKDIR:
    case SOAK_OP_UNLINK:
    case SOAK_OP_REPLACE:
        return true;
    default:
        return false;
    }
}

static soak_verdict
before(void *ctx, soak_op op)
{
    killer *self = ctx;

    if (changes_something(op) && ++self->calls == self->deadly) {
        (void)raise(SIGKILL);
    }
    return SOAK_PASS;
}

/* The result of each task, and its text. */
typedef struct run_results {
    sinter_table_result *items;
    sinter_text *texts;
    size_t count;
} run_results;

static void
run_tasks(const sinter_env *env, const sinter_table_plan *plan, run_results *out)
{
    sinter_error err = SINTER_ERROR_INIT;

    out->count = sinter_table_plan_count(plan);
    out->items = calloc(out->count + 1, sizeof *out->items);
    out->texts = calloc(out->count + 1, sizeof *out->texts);
    if (out->items == NULL || out->texts == NULL) {
        soak_wrong("no memory");
    }
    for (size_t i = 0; i < out->count; i++) {
        sinter_table_task_info info = {.struct_size = (uint32_t)sizeof info};

        sinter_table_plan_get(plan, i, &info);
        sinter_text_init(env, &out->texts[i]);
        soak_require(sinter_table_task_run(env, info.document, NULL, &out->texts[i], &err), "run",
                     &err);
        out->items[i].document = sinter_text_bytes(&out->texts[i]);
    }
}

static void
free_results(run_results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        sinter_text_fini(&results->texts[i]);
    }
    free(results->items);
    free(results->texts);
}

static void
compact(const sinter_env *env, const char *path, const killer *self)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = path};
    const sinter_table_plan_options options = {
        .struct_size = (uint32_t)sizeof options, .full = true, .bucket = -1};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    sinter_table_plan *plan = NULL;
    run_results results = {0};
    uint64_t before_commit = 0;

    soak_require(sinter_table_open(env, &config, &table, &err), "open", &err);
    soak_require(sinter_table_plan_create(table, &options, &plan, &err), "plan", &err);
    run_tasks(env, plan, &results);
    before_commit = self->calls;
    soak_require(sinter_table_commit_results(table, results.items, results.count, NULL, NULL, &err),
                 "commit", &err);
    printf("%" PRIu64 " %" PRIu64 "\n", self->calls, before_commit);
    free_results(&results);
    sinter_table_plan_destroy(plan);
    sinter_table_close(table);
}

int
main(int argc, char **argv)
{
    killer self = {0};
    const soak_hook hook = {.ctx = &self, .before = before};
    sinter_env env;
    sinter_io *io = NULL;

    if (argc != 3) {
        return 2;
    }
    self.deadly = strtoull(argv[2], NULL, 10);
    sinter_env_init(&env);
    io = soak_hook_io_create(sinter_io_posix(), &hook);
    env.io = io;
#ifdef SINTER_TABLES_COLUMNAR
    env.columnar_library = SINTER_TABLES_COLUMNAR;
#endif
    compact(&env, argv[1], &self);
    sinter_io_destroy(io);
    return 0;
}
