/*
 * Commits whose io or memory fails at any place: the table is as it was, or the commit is there,
 * never anything between.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "../../support/fault_alloc.h"
#include "commit_bed.h"
#include "manifest_bed.h"

TestSuite(table_commit_faults, .timeout = 120);

/* Merges manifests, too: a minor merge with the third commit. */
static const char options[] = "\"bucket\":\"2\",\"commit.min-retry-wait\":\"0 ms\","
                              "\"manifest.compression\":\"null\",\"manifest.merge-min-count\":"
                              "\"2\",\"commit.max-retries\":\"2\"";

static const char before[] = "a@0 b@0";
static const char after[] = "b@0 z@5";

/** Two snapshots; a third is what the tests commit. */
static void
begin(commit_bed *bed)
{
    sinter_io *io = NULL;

    commit_bed_init(bed, NULL, options);
    io = bed->place.memory;
    cr_assert_eq(io->ops->sync_dir(io, "t/schema", NULL), SINTER_OK);
    cr_assert_eq(io->ops->sync_dir(io, "t", NULL), SINTER_OK);
    cr_assert_eq(io->ops->sync_dir(io, ".", NULL), SINTER_OK);
    commit_bed_open(bed);
    (void)commit_bed_append(bed, &(bed_file){.name = "a"});
    (void)commit_bed_append(bed, &(bed_file){.name = "b", .partition = 1});
}

static sinter_status
compact(commit_bed *bed, const sinter__manifest_entry *const entries[2],
        sinter__commit_outcome *outcome, sinter_error *err)
{
    const sinter__index_entry index = {.version = SINTER__INDEX_MANIFEST_VERSION,
                                       .partition = entries[0]->partition,
                                       .index_type = bed_text("HASH"),
                                       .file_name = bed_text("index-0"),
                                       .file_size = 4,
                                       .row_count = 1};
    const sinter__index_entry *added = &index;

    return commit_bed_commit(bed,
                             (sinter__commit_request){.kind = SINTER_COMMIT_COMPACT,
                                                      .entries = entries,
                                                      .count = 2,
                                                      .index_added = &added,
                                                      .index_added_count = 1},
                             outcome, err);
}

static void
make_entries(commit_bed *bed, const sinter__manifest_entry *entries[2])
{
    entries[0] = commit_bed_entry(bed, SINTER__ENTRY_DELETE, &(bed_file){.name = "a"});
    entries[1] = commit_bed_entry(bed, SINTER__ENTRY_ADD, &(bed_file){.name = "z", .level = 5});
}

/** One fault, somewhere. Returns whether it came to it. */
static bool
fail_at(sinter_fault_kind kind, uint64_t at_call)
{
    const sinter_fault_options fault = {.struct_size = (uint32_t)sizeof fault,
                                        .kind = kind,
                                        .at_call = at_call,
                                        .only_op =
                                            kind == SINTER_FAULT_TORN_WRITE ? "append" : NULL};
    const sinter__manifest_entry *entries[2];
    commit_bed bed;
    sinter_io *faulty = NULL;
    sinter__commit_outcome outcome;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    bool came_to_it = false;

    begin(&bed);
    make_entries(&bed, entries);
    cr_assert_eq(
        sinter_io_fault_create(sinter_env_default(), bed.place.memory, NULL, &faulty, NULL),
        SINTER_OK);
    bed.env.io = faulty;
    commit_bed_open(&bed);
    sinter_io_fault_set(faulty, &fault);
    st = compact(&bed, entries, &outcome, &err);
    came_to_it = sinter_io_fault_calls(faulty) > at_call;
    sinter_table_close(bed.table);
    bed.table = NULL;
    if (kind == SINTER_FAULT_CRASH) {
        cr_assert_eq(sinter_io_fault_restart(faulty, &err), SINTER_OK, "%s", err.text);
        cr_expect(st != SINTER_OK || strcmp(commit_bed_live(&bed, 0), after) == 0,
                  "call %lu: a commit that was told is lost", at_call);
    } else if (!outcome.is_unknown) {
        cr_expect_str_eq(commit_bed_live(&bed, 0), st == SINTER_OK ? after : before, "call %lu: %s",
                         at_call, err.text);
        cr_expect_eq(commit_bed_orphans(&bed), 0, "call %lu", at_call);
    }
    cr_expect(strcmp(commit_bed_live(&bed, 0), after) == 0 ||
                  strcmp(commit_bed_live(&bed, 0), before) == 0,
              "call %lu", at_call);
    cr_expect_eq(commit_bed_missing(&bed), 0, "call %lu", at_call);
    bed.env.io = bed.place.memory;
    sinter_io_destroy(faulty);
    commit_bed_fini(&bed);
    return came_to_it;
}

Test(table_commit_faults, every_call_may_fail)
{
    uint64_t n = 0;

    while (fail_at(SINTER_FAULT_EIO, n)) {
        n++;
    }
    cr_expect_gt(n, 20);
}

Test(table_commit_faults, every_write_may_be_torn)
{
    uint64_t n = 0;

    while (fail_at(SINTER_FAULT_TORN_WRITE, n)) {
        n++;
    }
    cr_expect_gt(n, 5);
}

Test(table_commit_faults, f17_power_may_be_lost_at_every_call)
{
    uint64_t n = 0;

    while (fail_at(SINTER_FAULT_CRASH, n)) {
        n++;
    }
    cr_expect_gt(n, 20);
}

/* After each failure the table is as it was, so one will do for all. */
Test(table_commit_faults, every_allocation_may_fail)
{
    const sinter__manifest_entry *entries[2];
    commit_bed bed;
    fault_alloc fault;
    sinter_status st = SINTER_E_NOMEM;

    begin(&bed);
    make_entries(&bed, entries);
    sinter_table_close(bed.table);
    bed.table = NULL;
    fault_alloc_init(&fault, UINT64_MAX);
    bed.env.allocator = fault.env.allocator;
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter__commit_outcome outcome;
        sinter_error err = SINTER_ERROR_INIT;

        commit_bed_open(&bed);
        fault.fail_at = fault.calls + n;
        st = compact(&bed, entries, &outcome, &err);
        fault.fail_at = UINT64_MAX;
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %lu: %s", n, err.text);
        cr_expect_not(outcome.is_unknown);
        if (n % 16 == 0 || st == SINTER_OK) { /* what went wrong before is still there */
            cr_expect_str_eq(commit_bed_live(&bed, 0), st == SINTER_OK ? after : before);
            cr_expect_eq(commit_bed_orphans(&bed), 0, "allocation %lu", n);
        }
        sinter_table_close(bed.table);
        bed.table = NULL;
        cr_assert_eq(fault.live, 0, "leak when allocation %lu fails", n);
    }
    cr_expect_eq(commit_bed_missing(&bed), 0);
    commit_bed_fini(&bed);
}
