#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../../support/fault_alloc.h"
#include "commit_bed.h"
#include "manifest_bed.h"
#include "sinter/table_maintenance.h"

TestSuite(table_expire, .timeout = 60);

static const char options[] = "\"bucket\":\"2\",\"manifest.compression\":\"null\"";

static const sinter_expire_options all_but_one = {
    .struct_size = sizeof all_but_one, .retain_min = 1, .retain_max = 1};

static void
replace(commit_bed *bed, const bed_file *before, const bed_file *after)
{
    const sinter__manifest_entry *entries[] = {commit_bed_entry(bed, SINTER__ENTRY_DELETE, before),
                                               commit_bed_entry(bed, SINTER__ENTRY_ADD, after)};
    sinter__commit_outcome outcome;
    sinter_error err = SINTER_ERROR_INIT;
    char path[96];

    (void)snprintf(path, sizeof path, "t/p=%d/bucket-%d/%s", after->partition, after->bucket,
                   after->name);
    place_write(&bed->place, path, "rows");
    cr_assert_eq(
        commit_bed_commit(
            bed,
            (sinter__commit_request){.kind = SINTER_COMMIT_COMPACT, .entries = entries, .count = 2},
            &outcome, &err),
        SINTER_OK, "%s", err.text);
}

/** Snapshot 1 adds a, 2 adds b, 3 makes both c, one after the other until 4. */
static void
begin(commit_bed *bed, const char *more)
{
    char text[256];

    (void)snprintf(text, sizeof text, "%s%s", options, more);
    commit_bed_init(bed, NULL, text);
    commit_bed_open(bed);
    (void)commit_bed_append_file(bed, &(bed_file){.name = "a"});
    (void)commit_bed_append_file(bed, &(bed_file){.name = "b", .partition = 1});
    replace(bed, &(bed_file){.name = "a"}, &(bed_file){.name = "c", .level = 5});
    replace(bed, &(bed_file){.name = "b", .partition = 1},
            &(bed_file){.name = "d", .partition = 1, .level = 5});
}

static sinter_expire_result
expire(commit_bed *bed, const sinter_expire_options *how)
{
    sinter_expire_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_table_expire(bed->table, how, &result, &err), SINTER_OK, "%s", err.text);
    return result;
}

/** Copy a file of the place. */
static void
copy(commit_bed *bed, const char *from, const char *to)
{
    sinter_io_file *file = NULL;
    char text[4096] = {0};
    sinter_io_range range = {.data = text};
    uint64_t size = 0;
    sinter_io *io = bed->place.memory;

    cr_assert_eq(io->ops->open(io, from, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    range.size = (size_t)size;
    cr_assert_lt(size, sizeof text);
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    place_write(&bed->place, to, text);
}

Test(table_expire, what_only_expired_snapshots_need_goes)
{
    commit_bed bed;
    sinter_expire_result result;
    int64_t id = 0;

    begin(&bed, "");
    result = expire(&bed, &all_but_one);
    cr_expect_eq(result.first_id, 1);
    cr_expect_eq(result.last_id, 3);
    cr_expect_eq(result.snapshots, 3);
    cr_expect_eq(result.data_files, 2);
    cr_expect_eq(result.left_files, 0);
    cr_expect_not(commit_bed_has(&bed, "t/p=0/bucket-0/a"));
    cr_expect_not(commit_bed_has(&bed, "t/p=1/bucket-0/b"));
    cr_expect(commit_bed_is_whole(&bed));
    cr_expect_eq(commit_bed_missing(&bed), 0);
    cr_expect_eq(commit_bed_orphans(&bed), 0);
    cr_assert_eq(sinter_table_earliest_id(bed.table, &id, NULL), SINTER_OK);
    cr_expect_eq(id, 4);
    cr_expect(commit_bed_has(&bed, "t/snapshot/EARLIEST"));
    cr_expect_eq(expire(&bed, &all_but_one).snapshots, 0, "again there is nothing to do");
    commit_bed_fini(&bed);
}

Test(table_expire, f31_a_file_that_was_upgraded_stays)
{
    const bed_file a = {.name = "a"};
    const bed_file upgraded = {.name = "a", .level = 5};
    commit_bed bed;

    commit_bed_init(&bed, NULL, options);
    commit_bed_open(&bed);
    (void)commit_bed_append_file(&bed, &a);
    replace(&bed, &a, &upgraded);
    cr_expect_eq(expire(&bed, &all_but_one).data_files, 0);
    cr_expect(commit_bed_is_whole(&bed));
    replace(&bed, &upgraded, &(bed_file){.name = "b", .level = 5});
    cr_expect_eq(expire(&bed, &all_but_one).data_files, 1, "now it is retired");
    cr_expect(commit_bed_is_whole(&bed));
    commit_bed_fini(&bed);
}

Test(table_expire,
     f31_a_file_that_was_upgraded_stays_though_it_was_retired_in_between_and_came_back)
{
    const bed_file a = {.name = "a"};
    const bed_file upgraded = {.name = "a", .level = 5};
    const sinter__manifest_entry *entry = NULL;
    commit_bed bed;
    sinter__commit_outcome outcome;

    commit_bed_init(&bed, NULL, options);
    commit_bed_open(&bed);
    (void)commit_bed_append_file(&bed, &a);
    entry = commit_bed_entry(&bed, SINTER__ENTRY_DELETE, &a);
    cr_assert_eq(commit_bed_commit(&bed,
                                   (sinter__commit_request){.kind = SINTER_COMMIT_OVERWRITE,
                                                            .entries = &entry,
                                                            .count = 1},
                                   &outcome, NULL),
                 SINTER_OK);
    (void)commit_bed_append_file(&bed, &upgraded);
    cr_expect_eq(expire(&bed, &all_but_one).data_files, 0);
    cr_expect(commit_bed_is_whole(&bed));
    commit_bed_fini(&bed);
}

Test(table_expire, a_tag_keeps_what_it_needs)
{
    commit_bed bed;
    sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_snapshot *tagged = NULL;

    begin(&bed, "");
    copy(&bed, "t/snapshot/snapshot-2", "t/tag/tag-keep");
    cr_expect_eq(expire(&bed, &all_but_one).data_files, 0);
    cr_expect(commit_bed_has(&bed, "t/p=0/bucket-0/a"));
    cr_expect(commit_bed_has(&bed, "t/p=1/bucket-0/b"));
    cr_assert_eq(sinter_table_snapshot_of_tag(bed.table, "keep", &tagged, NULL), SINTER_OK);
    sinter_snapshot_destroy(tagged);
    copy(&bed, "t/tag/tag-keep", "t/snapshot/snapshot-2");
    cr_expect_str_eq(commit_bed_live(&bed, 2), "a@0 b@0", "its manifests are there");
    commit_bed_fini(&bed);
}

Test(table_expire, a_branch_keeps_what_it_needs)
{
    commit_bed bed;

    begin(&bed, "");
    copy(&bed, "t/schema/schema-0", "t/branch/branch-x/schema/schema-0");
    copy(&bed, "t/snapshot/snapshot-1", "t/branch/branch-x/snapshot/snapshot-1");
    cr_expect_eq(expire(&bed, &all_but_one).data_files, 1);
    cr_expect(commit_bed_has(&bed, "t/p=0/bucket-0/a"), "the branch's");
    cr_expect_not(commit_bed_has(&bed, "t/p=1/bucket-0/b"));
    copy(&bed, "t/branch/branch-x/snapshot/snapshot-1", "t/snapshot/snapshot-1");
    cr_expect_str_eq(commit_bed_live(&bed, 1), "a@0", "its manifests are there");
    commit_bed_fini(&bed);
}

Test(table_expire, a_consumer_keeps_all_from_its_next_snapshot_on)
{
    commit_bed bed;

    begin(&bed, "");
    place_write(&bed.place, "t/consumer/consumer-a", "{\"nextSnapshot\" : 3}");
    place_write(&bed.place, "t/consumer/consumer-b", "{\"nextSnapshot\" : 2}");
    cr_expect_eq(expire(&bed, &all_but_one).last_id, 1);
    place_write(&bed.place, "t/consumer/consumer-b", "{\"next\" : 2}");
    cr_expect_eq(sinter_table_expire(bed.table, &all_but_one, NULL, NULL), SINTER_E_CORRUPT,
                 "one that can't be read keeps everything");
    commit_bed_fini(&bed);
}

Test(table_expire, numbers_age_and_limit_decide_together)
{
    static const struct {
        sinter_expire_options how;
        int64_t last_id; /* 0: none */
    } cases[] = {
        {{.retain_min = 4}, 0},
        {{.retain_min = 10}, 0},
        {{.retain_min = 2, .retain_max = 2}, 2},
        {{.retain_min = 1, .retain_max = 3}, 1},
        {{.retain_min = 1, .retain_max = 9}, 0},                             /* all are young */
        {{.retain_min = 1, .retain_max = 9, .older_than_ms = INT64_MAX}, 3}, /* all are old */
        {{.retain_min = 3, .retain_max = 9, .older_than_ms = INT64_MAX}, 1},
        {{.retain_min = 1, .retain_max = 1, .limit = 2}, 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_expire_options how = cases[i].how;
        commit_bed bed;

        begin(&bed, "");
        how.struct_size = (uint32_t)sizeof how;
        how.flags = i % 2 == 0 ? 0 : SINTER_REMOVE_DRY_RUN;
        cr_expect_eq(expire(&bed, &how).last_id, cases[i].last_id, "case %zu", i);
        cr_expect_eq(commit_bed_has(&bed, "t/snapshot/snapshot-1"),
                     cases[i].last_id == 0 || how.flags != 0, "case %zu", i);
        commit_bed_fini(&bed);
    }
}

Test(table_expire, the_tables_options_count_where_none_are_given)
{
    commit_bed bed;

    begin(&bed, ",\"snapshot.num-retained.min\":\"1\",\"snapshot.num-retained.max\":\"2\"");
    cr_expect_eq(expire(&bed, NULL).last_id, 2);
    commit_bed_fini(&bed);
    begin(&bed, ",\"snapshot.num-retained.min\":\"3\",\"snapshot.num-retained.max\":\"2\"");
    cr_expect_eq(sinter_table_expire(bed.table, NULL, NULL, NULL), SINTER_E_INVALID);
    commit_bed_fini(&bed);
}

Test(table_expire, changelogs_that_live_longer_keep_what_was_appended)
{
    commit_bed bed;
    sinter_expire_result result;

    begin(&bed, ",\"changelog.num-retained.max\":\"2\"");
    result = expire(&bed, &all_but_one);
    cr_expect_eq(result.snapshots, 3);
    cr_expect_eq(result.changelogs, 2, "two of the three");
    cr_expect_eq(result.data_files, 0);
    cr_expect_not(commit_bed_has(&bed, "t/snapshot/snapshot-3"));
    cr_expect_not(commit_bed_has(&bed, "t/changelog/changelog-2"));
    cr_expect(commit_bed_has(&bed, "t/changelog/changelog-3"));
    cr_expect(commit_bed_has(&bed, "t/p=0/bucket-0/a"), "changelog 3 deletes it");
    replace(&bed, &(bed_file){.name = "c", .level = 5}, &(bed_file){.name = "e", .level = 5});
    result = expire(&bed, &all_but_one);
    cr_expect_eq(result.snapshots, 1);
    cr_expect_eq(result.changelogs, 1);
    cr_expect(commit_bed_has(&bed, "t/changelog/changelog-4"));
    cr_expect_not(commit_bed_has(&bed, "t/p=0/bucket-0/a"));
    cr_expect(commit_bed_has(&bed, "t/p=1/bucket-0/b"), "changelog 4 deletes it");
    cr_expect(commit_bed_is_whole(&bed));
    cr_expect_eq(commit_bed_missing(&bed), 0);
    commit_bed_fini(&bed);
    begin(&bed, ",\"changelog.num-retained.min\":\"9\",\"changelog.num-retained.max\":\"8\"");
    cr_expect_eq(sinter_table_expire(bed.table, &all_but_one, NULL, NULL), SINTER_E_INVALID);
    commit_bed_fini(&bed);
}

/* Changelogs 1 to 3, and the options of now keep those from 3 on; one of them is missing. */
static void
begin_with_a_gap(commit_bed *bed, const char *missing)
{
    sinter_io_file *file = NULL;
    sinter_io *io = NULL;
    char text[4096] = {0};
    sinter_io_range range = {.data = text};
    uint64_t size = 0;
    char *value = NULL;

    begin(bed, ",\"changelog.num-retained.max\":\"20\"");
    (void)expire(bed, &all_but_one);
    replace(bed, &(bed_file){.name = "c", .level = 5}, &(bed_file){.name = "e", .level = 5});
    io = bed->place.memory;
    cr_assert_eq(io->ops->unlink(io, missing, NULL), SINTER_OK);
    cr_assert_eq(io->ops->open(io, "t/schema/schema-0", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    cr_assert_lt(size, sizeof text);
    range.size = (size_t)size;
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    value = strstr(text, "\"20\"");
    cr_assert_not_null(value);
    memcpy(value, "\"3\" ", 4);
    cr_assert_eq(io->ops->replace(io, "t/schema/schema-0", text, strlen(text), NULL), SINTER_OK);
    commit_bed_open(bed);
}

Test(table_expire, changelogs_before_a_gap_go_by_themselves)
{
    commit_bed bed;
    sinter_expire_result result;

    begin_with_a_gap(&bed, "t/changelog/changelog-2");
    result = expire(&bed, &all_but_one);
    cr_expect_eq(result.changelogs, 1);
    cr_expect_not(commit_bed_has(&bed, "t/changelog/changelog-1"));
    cr_expect(commit_bed_has(&bed, "t/changelog/changelog-3"));
    cr_expect(commit_bed_has(&bed, "t/changelog/changelog-4"));
    cr_expect_eq(expire(&bed, &all_but_one).changelogs, 0, "again there is nothing to do");
    cr_expect_eq(commit_bed_missing(&bed), 0);
    commit_bed_fini(&bed);

    begin_with_a_gap(&bed, "t/changelog/changelog-3"); /* which would be the first that stays */
    result = expire(&bed, &all_but_one);
    cr_expect_eq(result.changelogs, 2);
    cr_expect_not(commit_bed_has(&bed, "t/changelog/changelog-2"));
    cr_expect(commit_bed_has(&bed, "t/changelog/changelog-4"));
    cr_expect(commit_bed_is_whole(&bed));
    cr_expect_eq(commit_bed_missing(&bed), 0);
    commit_bed_fini(&bed);
}

Test(table_expire, with_a_producer_changelogs_keep_changelog_files_only)
{
    const sinter__manifest_entry *entries[2] = {NULL};
    sinter__commit_outcome outcome;
    sinter_expire_result result;
    commit_bed bed;

    begin(&bed, ",\"changelog.num-retained.max\":\"20\",\"changelog-producer\":\"input\"");
    entries[0] = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "f"});
    entries[1] = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "changes"});
    place_write(&bed.place, "t/p=0/bucket-0/f", "rows");
    place_write(&bed.place, "t/p=0/bucket-0/changes", "rows");
    cr_assert_eq(commit_bed_commit(&bed,
                                   (sinter__commit_request){.entries = entries,
                                                            .count = 1,
                                                            .changelog = entries + 1,
                                                            .changelog_count = 1},
                                   &outcome, NULL),
                 SINTER_OK);
    replace(&bed, &(bed_file){.name = "f"}, &(bed_file){.name = "g", .level = 4});
    result = expire(&bed, &all_but_one);
    cr_expect_eq(result.snapshots, 5);
    cr_expect_eq(result.changelogs, 0);
    cr_expect_eq(result.data_files, 3, "a, b and f");
    cr_expect(commit_bed_has(&bed, "t/p=0/bucket-0/changes"));
    cr_expect(commit_bed_has(&bed, "t/changelog/changelog-1"));
    cr_expect_eq(commit_bed_missing(&bed), 0);
    commit_bed_fini(&bed);
}

Test(table_expire, a_table_without_snapshots_has_nothing_to_expire)
{
    commit_bed bed;

    commit_bed_init(&bed, NULL, options);
    commit_bed_open(&bed);
    cr_expect_eq(expire(&bed, &all_but_one).snapshots, 0);
    commit_bed_fini(&bed);
}

Test(table_expire, empty_directories_go_where_the_table_says_so)
{
    commit_bed bed;

    begin(&bed, ",\"snapshot.clean-empty-directories\":\"true\"");
    (void)commit_bed_append_file(&bed, &(bed_file){.name = "e", .partition = 7});
    {
        const sinter__manifest_entry *entry =
            commit_bed_entry(&bed, SINTER__ENTRY_DELETE, &(bed_file){.name = "e", .partition = 7});
        sinter__commit_outcome outcome;

        cr_assert_eq(commit_bed_commit(&bed,
                                       (sinter__commit_request){.kind = SINTER_COMMIT_OVERWRITE,
                                                                .entries = &entry,
                                                                .count = 1},
                                       &outcome, NULL),
                     SINTER_OK);
    }
    (void)expire(&bed, &all_but_one);
    cr_expect_not(commit_bed_has(&bed, "t/p=7"));
    cr_expect(commit_bed_has(&bed, "t/p=0/bucket-0"));
    commit_bed_fini(&bed);
}

Test(table_expire, metadata_that_cannot_be_read_keeps_everything)
{
    commit_bed bed;
    sinter_snapshot *snapshot = NULL;
    char path[160];

    begin(&bed, "");
    cr_assert_eq(sinter_table_snapshot_get(bed.table, 3, &snapshot, NULL), SINTER_OK);
    (void)snprintf(path, sizeof path, "t/manifest/%s", snapshot->delta.name);
    place_write(&bed.place, path, "no list");
    cr_expect_eq(sinter_table_expire(bed.table, &all_but_one, NULL, NULL), SINTER_E_CORRUPT);
    cr_expect(commit_bed_has(&bed, "t/snapshot/snapshot-1"));
    cr_expect(commit_bed_has(&bed, "t/p=0/bucket-0/a"));
    sinter_snapshot_destroy(snapshot);
    commit_bed_fini(&bed);
}

/* With `keeps_changes` a snapshot that goes becomes a changelog that stays. */
static void
sweep(const char *schema_options, bool keeps_changes)
{
    bool came_to_it = true;

    for (uint64_t n = 0; came_to_it; n++) {
        const sinter_fault_options fault = {.struct_size = (uint32_t)sizeof fault,
                                            .kind =
                                                n % 2 == 0 ? SINTER_FAULT_EIO : SINTER_FAULT_CRASH,
                                            .at_call = n};
        const bed_file a = {.name = "a"};
        commit_bed bed;
        sinter_io *faulty = NULL;

        commit_bed_init(&bed, NULL, schema_options);
        commit_bed_open(&bed);
        (void)commit_bed_append_file(&bed, &a);
        replace(&bed, &a, &(bed_file){.name = "b", .level = 5});
        cr_assert_eq(
            sinter_io_fault_create(sinter_env_default(), bed.place.memory, NULL, &faulty, NULL),
            SINTER_OK);
        bed.env.io = faulty;
        commit_bed_open(&bed);
        sinter_io_fault_set(faulty, &fault);
        (void)!sinter_table_expire(bed.table, &all_but_one, NULL, NULL);
        came_to_it = sinter_io_fault_calls(faulty) > n;
        sinter_table_close(bed.table);
        bed.table = NULL;
        cr_expect(commit_bed_is_whole(&bed), "call %lu", n);
        cr_expect_eq(commit_bed_missing(&bed), 0, "call %lu", n);
        bed.env.io = bed.place.memory;
        cr_expect(!keeps_changes || ((commit_bed_has(&bed, "t/snapshot/snapshot-1") ||
                                      commit_bed_has(&bed, "t/changelog/changelog-1")) &&
                                     commit_bed_has(&bed, "t/p=0/bucket-0/a")),
                  "call %lu", n);
        sinter_io_destroy(faulty);
        commit_bed_fini(&bed);
    }
}

Test(table_expire, whatever_call_fails_what_is_left_is_whole)
{
    sweep(options, false);
    sweep("\"bucket\":\"2\",\"changelog.num-retained.max\":\"20\"", true);
}

Test(table_expire, every_allocation_may_fail)
{
    sinter_expire_options dry = all_but_one;
    sinter_status st = SINTER_E_NOMEM;
    commit_bed bed;
    fault_alloc fault;

    begin(&bed, "");
    copy(&bed, "t/snapshot/snapshot-2", "t/tag/tag-keep");
    copy(&bed, "t/schema/schema-0", "t/branch/branch-x/schema/schema-0");
    place_write(&bed.place, "t/consumer/consumer-a", "{\"nextSnapshot\" : 4}");
    sinter_table_close(bed.table);
    bed.table = NULL;
    fault_alloc_init(&fault, UINT64_MAX);
    bed.env.allocator = fault.env.allocator;
    dry.flags = SINTER_REMOVE_DRY_RUN;
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        commit_bed_open(&bed);
        fault.fail_at = fault.calls + n;
        st = sinter_table_expire(bed.table, &dry, NULL, NULL);
        fault.fail_at = UINT64_MAX;
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %lu", n);
        sinter_table_close(bed.table);
        bed.table = NULL;
        cr_assert_eq(fault.live, 0, "leak when allocation %lu fails", n);
    }
    commit_bed_fini(&bed);
}
