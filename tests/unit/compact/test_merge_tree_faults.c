/*
 * Write paths whose storage or memory fails: each allocation and each call of the io in turn, and a
 * disk that fills up. What was written is there when it works again.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "support/fault_alloc.h"
#include "support/told_strategy.h"
#include "support/tree_bed.h"
#include "support/watch_io.h"

TestSuite(compact_merge_tree_faults, .timeout = 120);

static tree_bed bed;
static told_strategy strategy;
static sinter_error err;

/* A tree, not yet opened, that compacts what `strategy` says. */
static void
begin(void)
{
    bed_init(&bed, NULL, "bucket");
    told_init(&strategy);
    bed.config.strategy = &strategy.base;
    err = (sinter_error)SINTER_ERROR_INIT;
}

static void
open_tree(void)
{
    cr_assert_eq(bed_open(&bed, &err), SINTER_OK, "%s: %s", sinter_status_name(err.status),
                 err.text);
}

/* ---- a disk that fills up ---- */

static sinter_status
write_until_full(small_disk *disk, uint32_t *next)
{
    sinter_status st = SINTER_OK;

    while (st == SINTER_OK) {
        cr_assert_lt(disk->refused, 100);
        st = bed_write(&bed, *next % BED_KEYS, SINTER_KIND_INSERT, &err);
        *next += st == SINTER_OK ? 1 : 0;
    }
    return st;
}

Test(compact_merge_tree_faults, a_disk_that_fills_up_in_a_flush_loses_nothing_that_was_written)
{
    small_disk disk;
    uint32_t next = 0;

    begin();
    small_disk_init(&disk, bed.memory, 300000);
    bed.env.io = &disk.io.base;
    bed.value_bytes = 2000;
    bed_set(&bed, "write-buffer-size", "256 kb");
    bed_set(&bed, "file.compression", "none");
    bed_set(&bed, "target-file-size", "50 kb");
    bed_set(&bed, "num-sorted-run.compaction-trigger", "1000");
    bed_set(&bed, "num-levels", "6");
    open_tree();
    for (int round = 0; round < 4; round++) {
        size_t names = 0;

        cr_assert_eq(write_until_full(&disk, &next), SINTER_E_NO_SPACE);
        names = bed_name_count(&bed);
        bed_expect_view(&bed, "full");
        cr_expect_eq(bed_flush(&bed, &err), SINTER_E_NO_SPACE, "and again");
        cr_expect_gt(strlen(err.text), 0);
        cr_expect_eq(bed_commit(&bed, true, &err), SINTER_E_NO_SPACE);
        cr_expect_eq(bed_name_count(&bed), names, "files of a flush that failed are gone");
        bed_expect_view(&bed, "still full");
        bed_expect_catalog(&bed, "still full");
        disk.room += 600000;
        cr_assert_eq(bed_commit(&bed, true, &err), SINTER_OK, "%s", err.text);
        bed_expect_view(&bed, "after space was made");
        bed_expect_catalog(&bed, "after space was made");
        bed_expect_names(&bed, "after space was made");
    }
    cr_expect_gt(disk.refused, 8);
    bed_close(&bed);
    open_tree();
    bed_expect_view(&bed, "after a restart");
    bed_close(&bed);
    small_disk_fini(&disk);
    bed_fini(&bed, true);
}

/* ---- every allocation, every call ---- */

enum { LIFE_STEPS = 14 };

/* A step of a life; which one, `step` says. */
static sinter_status
live_step(unsigned step, sinter_error *e)
{
    if (bed.tree == NULL) {
        return bed_open(&bed, e);
    }
    told_nothing(&strategy);
    if (step == 9 || step == 11) {
        told_all(&strategy, 5);
    }
    switch (step) {
    case 3:
    case 6:
    case 9:
    case 10:
    case 11:
        return bed_flush(&bed, e);
    case 7:
        return bed_compact(&bed, true, e);
    case 4:
    case 12:
        return bed_commit(&bed, true, e);
    default:
        return bed_write(&bed, step % 3, step == 8 ? SINTER_KIND_DELETE : SINTER_KIND_INSERT, e);
    }
}

/** Refuses the n-th call. */
typedef struct refuser {
    watch_io io;
    uint64_t at;
    uint64_t calls;
    sinter_status status;
    bool was_met;
    watch_op met; /* by which call */
} refuser;

static sinter_status
refuse(void *ctx, const watch_call *call, sinter_error *e)
{
    refuser *r = ctx;

    if (call->op == WATCH_CLOSE || r->was_met || r->calls++ != r->at) {
        return SINTER_OK;
    }
    r->was_met = true;
    r->met = call->op;
    return SINTER__ERR_SYS(e, r->status, r->status == SINTER_E_IO ? EIO : ENOSPC, "", -1,
                           "a call that had to fail");
}

/* Go through all steps; a step that fails is made again when nothing fails any more. */
static unsigned
live(fault_alloc *alloc, sinter_status expected, uint64_t n)
{
    unsigned failed = 0;

    for (unsigned step = 0; step < LIFE_STEPS; step++) {
        sinter_error e = SINTER_ERROR_INIT;
        sinter_status st = live_step(step, &e);

        if (st != SINTER_OK) {
            failed++;
            cr_assert_eq(st, expected, "point %" PRIu64 ", step %u: %s: %s", n, step,
                         sinter_status_name(st), e.text);
            cr_assert_eq(e.status, st, "point %" PRIu64 ", step %u", n, step);
            alloc->fail_at = UINT64_MAX;
            st = live_step(step, &e);
            cr_assert_eq(st, SINTER_OK, "point %" PRIu64 ", step %u again: %s: %s", n, step,
                         sinter_status_name(st), e.text);
        }
        bed_expect_view(&bed, "after a step");
    }
    return failed;
}

/* Only what couldn't be removed may lie there, for cleaning to remove. */
static void
expect_directory(const refuser *r, const char *when)
{
    if (r->was_met && r->met == WATCH_UNLINK) {
        bed_clean(&bed);
    }
    bed_expect_names(&bed, when);
}

/* True: the fault was met. */
static bool
live_with(uint64_t alloc_at, uint64_t call_at, sinter_status expected)
{
    const uint64_t n = alloc_at != UINT64_MAX ? alloc_at : call_at;
    refuser r = {.at = call_at, .status = expected};
    fault_alloc alloc;

    begin();
    fault_alloc_init(&alloc, UINT64_MAX);
    watch_io_init(&r.io, bed.memory);
    r.io.ctx = &r;
    r.io.before = refuse;
    bed.env.allocator = alloc.env.allocator;
    bed.env.io = &r.io.base;
    bed.seed = n;
    alloc.fail_at = alloc_at;
    alloc.calls = 0;
    r.was_met = live(&alloc, expected, n) > 0 || r.was_met || alloc.calls > alloc_at;
    expect_directory(&r, "at the end of a life");
    bed_close(&bed);
    expect_directory(&r, "after a life");
    bed_expect_catalog(&bed, "after a life");
    cr_assert_eq(r.io.open_files, 0);
    cr_assert_eq(alloc.live, 0, "a leak at point %" PRIu64, n);
    bed_fini(&bed, true);
    return r.was_met;
}

Test(compact_merge_tree_faults, a_key_written_very_often_between_two_commits_takes_little_memory)
{
    for (int spillable = 0; spillable < 2; spillable++) {
        sinter_memory *memory = NULL;

        bed_init(&bed, NULL, "bucket");
        cr_assert_eq(sinter_memory_create(sinter_env_default(), 4u << 20, &memory, NULL),
                     SINTER_OK);
        bed.env.memory = memory;
        bed.value_bytes = 8;
        bed_set(&bed, "write-buffer-size", spillable != 0 ? "8 mb" : "64 mb");
        bed_set(&bed, "write-buffer-spillable", spillable != 0 ? "true" : "false");
        cr_assert_eq(bed_open(&bed, NULL), SINTER_OK);
        bed_put(&bed, 2);
        for (int i = 0; i < 250000; i++) {
            bed_put(&bed, 7);
        }
        bed_put(&bed, 1);
        cr_assert_eq(bed_commit(&bed, true, &err), SINTER_OK, "%s", err.text);
        cr_expect_eq(bed.catalog.count, 1);
        cr_expect_eq(bed.catalog.files[0].rows, 3);
        bed_expect_catalog(&bed, "three keys");
        bed_close(&bed);
        sinter_memory_destroy(memory);
        bed_fini(&bed, true);
    }
}

Test(compact_merge_tree_faults, every_allocation_may_fail)
{
    uint64_t n = 0;

    while (live_with(n, UINT64_MAX, SINTER_E_NOMEM)) {
        n++;
    }
    cr_expect_gt(n, 200, "%" PRIu64 " points", n);
}

Test(compact_merge_tree_faults, every_io_call_may_fail)
{
    uint64_t n = 0;

    while (live_with(UINT64_MAX, n, SINTER_E_IO)) {
        n++;
    }
    cr_expect_gt(n, 40, "%" PRIu64 " points", n);
}

Test(compact_merge_tree_faults, every_io_call_may_find_a_full_disk)
{
    uint64_t n = 0;

    while (live_with(UINT64_MAX, n, SINTER_E_NO_SPACE)) {
        n++;
    }
    cr_expect_gt(n, 40, "%" PRIu64 " points", n);
}
