/*
 * Every allocation and every io call of one compaction fails once, on posix and on io_uring, until
 * a run ends untouched. See scenario.h for what that compaction holds, and what must be true after
 * each failure.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "scenario.h"
#include "support/fault_alloc.h"

TestSuite(fault_sweep, .timeout = 600);

static const struct {
    const char *name;
    sinter_io_kind kind;
} backends[] = {{"posix", SINTER_IO_POSIX}, {"io_uring", SINTER_IO_URING}};

enum { BACKENDS = 2, ALLOCATIONS_MIN = 200, CALLS_MIN = 40 };

static bool
is_there(size_t backend)
{
    if (backends[backend].kind == SINTER_IO_URING && sinter_io_probe_uring(NULL) != SINTER_OK) {
        fprintf(stderr, "no io_uring here: not swept\n");
        return false;
    }
    return true;
}

static sinter_io *
io_for(const sinter_env *env, size_t backend)
{
    sinter_io *io = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_status st = sinter_io_create(env, backends[backend].kind, NULL, &io, &err);

    cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && io == NULL), "%s", err.text);
    return io;
}

static uint64_t
sweep_allocations(scenario *s, size_t backend)
{
    uint64_t n = 0;

    for (sinter_status st = SINTER_E_NOMEM; st != SINTER_OK; n++) {
        fault_alloc fault;
        sinter_env env;
        sinter_io *io = NULL;
        sinter_error err;

        fault_alloc_init(&fault, n);
        env = fault.env;
        io = io_for(&fault.env, backend);
        if (io != NULL) {
            env.io = io;
            st = scenario_run(s, &env, &err, "allocation", n);
            cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "%s allocation %llu: %s (%s)",
                      backends[backend].name, (unsigned long long)n, sinter_status_name(st),
                      err.text);
        }
        sinter_io_destroy(io);
        cr_assert_eq(fault.live, 0, "%s: leak when allocation %llu fails", backends[backend].name,
                     (unsigned long long)n);
    }
    return n - 1;
}

Test(fault_sweep, every_allocation_of_a_compaction_may_fail)
{
    scenario s;

    scenario_begin(&s, false);
    for (size_t backend = 0; backend < BACKENDS; backend++) {
        if (is_there(backend)) {
            const uint64_t points = sweep_allocations(&s, backend);

            fprintf(stderr, "%s: %llu allocations failed\n", backends[backend].name,
                    (unsigned long long)points);
            cr_expect_geq(points, ALLOCATIONS_MIN);
        }
    }
    scenario_end(&s);
}

/* Fail io call after io call; how many there were. */
static uint64_t
sweep_calls(scenario *s, size_t backend, sinter_fault_kind kind, const char *label)
{
    sinter_io *io = io_for(sinter_env_default(), backend);
    sinter_env env = *sinter_env_default();
    bool was_hit = true;
    uint64_t n = 0;

    for (; was_hit; n++) {
        const sinter_fault_options options = {
            .struct_size = sizeof options, .kind = kind, .at_call = n};
        sinter_error err;
        sinter_status st = SINTER_OK;

        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), io, &options, &env.io, NULL),
                     SINTER_OK);
        st = kind == SINTER_FAULT_CRASH ? scenario_run_crash(s, &env, &err, n)
                                        : scenario_run(s, &env, &err, label, n);
        was_hit = sinter_io_fault_calls(env.io) > n;
        cr_assert_eq(st != SINTER_OK, was_hit, "%s %s at call %llu: %s", backends[backend].name,
                     label, (unsigned long long)n, sinter_status_name(st));
        cr_assert(st == SINTER_OK || kind != SINTER_FAULT_ENOSPC || st == SINTER_E_NO_SPACE,
                  "call %llu: %s", (unsigned long long)n, sinter_status_name(st));
        sinter_io_destroy(env.io);
    }
    sinter_io_destroy(io);
    return n - 1;
}

static void
sweep_kind(sinter_fault_kind kind, const char *label)
{
    scenario s;

    scenario_begin(&s, false);
    for (size_t backend = 0; backend < BACKENDS; backend++) {
        if (is_there(backend)) {
            const uint64_t points = sweep_calls(&s, backend, kind, label);

            fprintf(stderr, "%s: %llu io calls failed with %s\n", backends[backend].name,
                    (unsigned long long)points, label);
            cr_expect_geq(points, CALLS_MIN);
        }
    }
    scenario_end(&s);
}

Test(fault_sweep, every_io_call_of_a_compaction_may_fail)
{
    sweep_kind(SINTER_FAULT_EIO, "EIO");
}

Test(fault_sweep, every_io_call_of_a_compaction_may_find_a_full_disk)
{
    sweep_kind(SINTER_FAULT_ENOSPC, "ENOSPC");
}

Test(fault_sweep, every_write_of_a_compaction_may_be_torn)
{
    sweep_kind(SINTER_FAULT_TORN_WRITE, "torn write");
}

Test(fault_sweep, power_may_go_at_every_io_call_of_a_compaction)
{
    sweep_kind(SINTER_FAULT_CRASH, "crash");
}

/* ---- a limit of spill files ---- */

Test(fault_sweep, a_limit_of_spill_files_that_is_reached_leaves_nothing_behind)
{
    sinter_status st = SINTER_E_NO_SPACE;
    uint64_t limit = 100;
    scenario s;

    scenario_begin(&s, false);
    for (; st != SINTER_OK; limit += limit / 2) {
        sinter_error err;

        s.options.spill_limit_bytes = limit;
        st = scenario_run(&s, sinter_env_default(), &err, "limit", limit);
        cr_assert(st == SINTER_OK || st == SINTER_E_NO_SPACE, "limit %llu: %s",
                  (unsigned long long)limit, sinter_status_name(st));
        cr_assert(st == SINTER_OK || strstr(err.text, "sinter.spill-limit") != NULL, "%s",
                  err.text);
    }
    cr_expect_gt(limit, 500, "no limit was too small");
    scenario_end(&s);
}

Test(fault_sweep, runs_are_spilled_where_the_task_says)
{
    sinter_memory *space = NULL;
    sinter_error err;
    scenario s;

    scenario_begin(&s, false);
    s.task.spill_dir = "/not-there";
    cr_expect_eq(scenario_run(&s, sinter_env_default(), &err, "directory", 0), SINTER_E_NOT_FOUND);
    cr_expect_str_eq(err.file, "/not-there");

    s.task.spill_dir = NULL;
    cr_assert_eq(sinter_memory_create(sinter_env_default(), 0, &space, NULL), SINTER_OK);
    s.task.spill_space = space;
    s.options.spill_limit_bytes = 1; /* what is given to the task counts */
    cr_expect_eq(scenario_run(&s, sinter_env_default(), &err, "shared", 0), SINTER_OK);
    cr_expect_gt(sinter_memory_peak(space), 0);
    sinter_memory_destroy(space);
    scenario_end(&s);
}

/* ---- cancelling ---- */

typedef struct canceller {
    uint64_t at;
    uint64_t asks;
} canceller;

static bool
cancel_at(void *ctx)
{
    canceller *c = ctx;

    return c->asks++ == c->at;
}

Test(fault_sweep, a_compaction_may_be_cancelled_at_every_ask)
{
    scenario s;

    scenario_begin(&s, false);
    for (size_t backend = 0; backend < BACKENDS; backend++) {
        sinter_env env = *sinter_env_default();
        sinter_status st = SINTER_E_CANCELLED;
        canceller c = {0};

        if (!is_there(backend)) {
            continue;
        }
        env.io = io_for(sinter_env_default(), backend);
        s.task.is_cancelled = cancel_at;
        s.task.cancel_ctx = &c;
        for (uint64_t n = 0; st != SINTER_OK; n++) {
            sinter_error err;

            c = (canceller){.at = n};
            st = scenario_run(&s, &env, &err, "cancel", n);
            cr_assert_eq(st == SINTER_E_CANCELLED, c.asks > n, "ask %llu", (unsigned long long)n);
        }
        fprintf(stderr, "%s: cancelled at %llu asks\n", backends[backend].name,
                (unsigned long long)c.at);
        cr_expect_gt(c.at, 5);
        sinter_io_destroy(env.io);
    }
    scenario_end(&s);
}
