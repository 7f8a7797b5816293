/*
 * F17: power may go at any moment of writing, compacting and committing to a catalog of the
 * program's own. Every file operation is recorded; for each prefix of the record disks are made
 * that a loss of power there could leave. What the stored catalog says has to be there, whole.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "support/history.h"
#include "support/tree_bed.h"

TestSuite(field_faults, .timeout = 280);

enum { DISKS_OF_A_MOMENT = 4 };

static const char *const catalog_path = "bucket/CATALOG";

static void
must(sinter_status st, const sinter_error *err)
{
    cr_assert_eq(st, SINTER_OK, "%s: %s (%s)", sinter_status_name(st), err->text, err->file);
}

/* Commits, minor and full compactions, an upgrade, a restart, uncommitted work at the end. */
static void
live(tree_bed *bed)
{
    sinter_error err = SINTER_ERROR_INIT;

    must(bed_open(bed, &err), &err);
    for (uint32_t round = 0; round < 7; round++) {
        for (uint32_t i = 0; i < 40; i++) {
            bed_put(bed, (i * 11 + round * 5) % 100);
        }
        bed_delete(bed, round);
        must(bed_flush(bed, &err), &err);
        if (round % 2 == 1) {
            must(bed_commit(bed, round == 3, &err), &err);
        }
    }
    must(bed_compact(bed, true, &err), &err);
    must(bed_commit(bed, true, &err), &err);
    bed_close(bed);
    must(bed_open(bed, &err), &err);
    for (uint32_t i = 0; i < 20; i++) {
        bed_put(bed, 200 + i); /* above everything: moved, not rewritten */
    }
    must(bed_compact(bed, true, &err), &err);
    must(bed_commit(bed, true, &err), &err);
    for (uint32_t i = 0; i < 30; i++) {
        bed_put(bed, i);
    }
    must(bed_compact(bed, true, &err), &err);
    bed_close(bed);
}

/* Start from what a crash left, and go on. */
static void
restart(tree_bed *bed, uint64_t commits)
{
    sinter_error err = SINTER_ERROR_INIT;

    bed->catalog_path = catalog_path;
    bed_load(bed);
    cr_assert_eq(bed->catalog.generation, commits,
                 "%s: the catalog has %" PRIu64 " commits instead of %" PRIu64, bed->label,
                 bed->catalog.generation, commits);
    bed_expect_catalog(bed, "after a loss of power");
    bed_clean(bed);
    bed_expect_names(bed, "cleaned after a loss of power");
    bed->writes = (uint64_t)1 << 32; /* versions of their own */
    must(bed_open(bed, &err), &err);
    bed_expect_view(bed, "opened after a loss of power");
    bed_put(bed, 7);
    must(bed_compact(bed, true, &err), &err);
    must(bed_commit(bed, true, &err), &err);
    bed_expect_view(bed, "after a commit of the new life");
    bed_close(bed);
}

Test(field_faults, f17_power_may_go_at_any_moment_of_a_compaction_and_its_commit)
{
    static history h;
    static tree_bed bed;
    static tree_bed next;
    sinter_io *memory = NULL;
    size_t disks = 0;

    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &memory, NULL),
                 SINTER_OK);
    history_init(&h, memory);
    bed_init(&bed, memory, "bucket");
    bed.env.io = &h.io.base;
    bed.catalog_path = catalog_path;
    bed_set(&bed, "num-sorted-run.compaction-trigger", "3");
    bed_set(&bed, "target-file-size", "2 kb");
    bed_set(&bed, "compaction.small-file-ratio", "0");
    bed_set(&bed, "file.compression", "none");
    live(&bed);
    cr_assert_geq(history_count(&h, h.count, WATCH_REPLACE), 5);
    cr_assert_geq(history_count(&h, h.count, WATCH_UNLINK), 10);
    for (size_t moment = 0; moment <= h.count; moment++) {
        const size_t commits = history_count(&h, moment, WATCH_REPLACE);

        for (uint64_t i = 0; i < DISKS_OF_A_MOMENT; i++) {
            test_rng rng = {moment * DISKS_OF_A_MOMENT + i};
            sinter_io *left = history_crash(&h, moment, "bucket", &rng);
            char label[64];

            (void)snprintf(label, sizeof label, "after %zu of %zu calls", moment, h.count);
            bed_init(&next, left, "bucket");
            next.label = label;
            next.seed = i;
            restart(&next, commits);
            bed_fini(&next, true);
            disks++;
        }
    }
    printf("%zu calls, %zu disks\n", h.count, disks);
    bed_fini(&bed, false);
    history_fini(&h);
    sinter_io_destroy(memory);
}
