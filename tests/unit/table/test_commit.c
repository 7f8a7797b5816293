#include "table/commit.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../../support/watch_io.h"
#include "commit_bed.h"
#include "manifest_bed.h"
#include "table/live_files.h"

TestSuite(table_commit, .timeout = 60);

static const char two_buckets[] = "\"bucket\":\"2\"";

/** A bed whose table is open. */
static void
begin(commit_bed *bed, const char *options)
{
    commit_bed_init(bed, NULL, options);
    commit_bed_open(bed);
}

static sinter_snapshot *
get_snapshot(commit_bed *bed, int64_t id)
{
    sinter_snapshot *snapshot = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_table_snapshot_get(bed->table, id, &snapshot, &err), SINTER_OK, "%s",
                 err.text);
    return snapshot;
}

/** Replace some files by others. */
static sinter_status
compact(commit_bed *bed, const bed_file *before, const bed_file *after, sinter_error *err)
{
    const sinter__manifest_entry *entries[] = {commit_bed_entry(bed, SINTER__ENTRY_DELETE, before),
                                               commit_bed_entry(bed, SINTER__ENTRY_ADD, after)};
    sinter__commit_outcome outcome;

    return commit_bed_commit(
        bed,
        (sinter__commit_request){.kind = SINTER_COMMIT_COMPACT, .entries = entries, .count = 2},
        &outcome, err);
}

/** A clock that goes on when somebody sleeps, and notes for how long. */
typedef struct slow_clock {
    int64_t now_ns;
    int64_t waits_ms[16];
    size_t count;
} slow_clock;

static int64_t
slow_now(void *ctx)
{
    return ((slow_clock *)ctx)->now_ns;
}

static int64_t
slow_wall(void *ctx)
{
    return ((slow_clock *)ctx)->now_ns / 1000000;
}

static void
slow_sleep(void *ctx, int64_t ns)
{
    slow_clock *clock = ctx;

    clock->waits_ms[clock->count++ % 16] = ns / 1000000;
    clock->now_ns += ns;
}

static void
set_clock(commit_bed *bed, slow_clock *clock)
{
    bed->env.clock.ctx = clock;
    bed->env.clock.monotonic_ns = slow_now;
    bed->env.clock.wall_ms = slow_wall;
    bed->env.clock.sleep_ns = slow_sleep;
    commit_bed_open(bed);
}

/* ---- what newer writers add ---- */

/* A field that this version doesn't know, and its value, 7. */
static const sinter__carried_field new_field = {
    .outer = "_FILE",
    .name = "_NEW",
    .json = "{\"name\":\"_NEW\",\"type\":[\"null\",\"long\"],\"default\":null}"};
static const sinter__carried new_fields = {&new_field, 1, 1};
static const sinter_bytes new_value = {(const uint8_t *)"\2\16", 2};

/* What the one live file of the newest snapshot carries, and the file in DELETE. */
static const sinter__carried *
carried_live(commit_bed *bed, bool is_lean, sinter__manifest_entry *out)
{
    const sinter__entry_filter lean = {.bucket = -1, .level_max = INT32_MAX, .drops_stats = true};
    sinter_snapshot *snapshot = get_snapshot(bed, 1);
    const sinter__manifest_entry *entry = NULL;
    sinter__scratch room = {0};
    sinter__live_files *files = NULL;
    sinter__bucket_files bucket;
    size_t count = 0;

    cr_assert_eq(sinter__live_files_read_some(bed->table, snapshot, is_lean ? &lean : NULL, &files,
                                              NULL, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter__live_files_unfold(files, sinter__live_files_buckets(files, &count), &room,
                                           &bucket, NULL),
                 SINTER_OK);
    cr_assert_eq(count, 1);
    *out = *bucket.entries[0];
    if (out->cargo.carried != &sinter__carried_nothing_kept) {
        cr_assert_eq(out->cargo.carried->count, 1);
        cr_expect_str_eq(out->cargo.carried->fields[0].name, "_NEW");
        cr_expect(bed_is_equal_bytes(out->cargo.values[0], new_value));
        out->cargo = (sinter__cargo){&new_fields, &new_value};
    }
    out->kind = SINTER__ENTRY_DELETE;
    cr_assert_eq(sinter__manifest_entry_copy(&bed->arena, out, &entry, NULL), SINTER_OK);
    *out = *entry;
    sinter__scratch_fini(bed->table->env, &room);
    sinter__live_files_destroy(files);
    sinter_snapshot_destroy(snapshot);
    return out->cargo.carried;
}

Test(table_commit, live_files_have_what_newer_writers_say_of_them_and_can_be_replaced)
{
    sinter__manifest_entry added;
    sinter__manifest_entry deleted;
    const sinter__manifest_entry *entries[2] = {&added, NULL};
    sinter__commit_request request = {.kind = SINTER_COMMIT_APPEND, .entries = entries, .count = 1};
    sinter__commit_outcome outcome;
    commit_bed bed;

    begin(&bed, two_buckets);
    added = *commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "a"});
    added.cargo = (sinter__cargo){&new_fields, &new_value};
    cr_assert_eq(commit_bed_commit(&bed, request, &outcome, NULL), SINTER_OK);
    cr_expect_eq(carried_live(&bed, true, &deleted), &sinter__carried_nothing_kept);
    cr_expect_eq(carried_live(&bed, false, &deleted), &new_fields);
    entries[0] = &deleted;
    entries[1] = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "b", .level = 5});
    request.kind = SINTER_COMMIT_COMPACT;
    request.count = 2;
    cr_expect_eq(commit_bed_commit(&bed, request, &outcome, NULL), SINTER_OK);
    cr_expect_str_eq(commit_bed_live(&bed, 0), "b@5");
    commit_bed_fini(&bed);
}

/* ---- what a snapshot says ---- */

Test(table_commit, a_table_without_snapshots_gets_the_first)
{
    commit_bed bed;
    sinter_snapshot *snapshot = NULL;

    begin(&bed, two_buckets);
    cr_expect_eq(commit_bed_append(&bed, &(bed_file){.name = "a", .rows = 7}), 1);
    snapshot = get_snapshot(&bed, 1);
    cr_expect_eq(snapshot->commit_kind, SINTER_COMMIT_APPEND);
    cr_expect_eq(snapshot->total_record_count, 7);
    cr_expect_eq(snapshot->delta_record_count, 7);
    cr_expect_eq(snapshot->next_row_id, 0);
    cr_expect_gt(snapshot->base.size_bytes, 0);
    cr_expect_gt(snapshot->delta.size_bytes, 0);
    cr_expect_null(snapshot->index_manifest);
    cr_expect_str_eq(commit_bed_live(&bed, 0), "a@0");
    cr_expect_eq(commit_bed_orphans(&bed), 0);
    sinter_snapshot_destroy(snapshot);
    commit_bed_fini(&bed);
}

Test(table_commit, counts_are_of_rows_added_and_deleted)
{
    commit_bed bed;
    sinter_snapshot *snapshot = NULL;

    begin(&bed, two_buckets);
    (void)commit_bed_append(&bed, &(bed_file){.name = "a", .rows = 7});
    (void)commit_bed_append(&bed, &(bed_file){.name = "b", .rows = 5});
    cr_assert_eq(compact(&bed, &(bed_file){.name = "a", .rows = 7},
                         &(bed_file){.name = "c", .level = 5, .rows = 3}, NULL),
                 SINTER_OK);
    snapshot = get_snapshot(&bed, 3);
    cr_expect_eq(snapshot->delta_record_count, -4);
    cr_expect_eq(snapshot->total_record_count, 8);
    cr_expect_str_eq(commit_bed_live(&bed, 0), "b@0 c@5");
    cr_expect_str_eq(commit_bed_live(&bed, 2), "a@0 b@0", "older snapshots stay as they are");
    sinter_snapshot_destroy(snapshot);
    commit_bed_fini(&bed);
}

Test(table_commit, an_upgrade_keeps_the_file_and_changes_its_level)
{
    commit_bed bed;

    begin(&bed, two_buckets);
    (void)commit_bed_append(&bed, &(bed_file){.name = "a"});
    cr_assert_eq(
        compact(&bed, &(bed_file){.name = "a"}, &(bed_file){.name = "a", .level = 5}, NULL),
        SINTER_OK);
    cr_expect_str_eq(commit_bed_live(&bed, 0), "a@5");
    commit_bed_fini(&bed);
}

Test(table_commit, watermarks_never_decrease_and_properties_are_of_one_commit)
{
    const sinter_option property = {"a", "b"};
    commit_bed bed;
    sinter__commit_outcome outcome;
    sinter_snapshot *snapshot = NULL;

    begin(&bed, two_buckets);
    (void)commit_bed_append(&bed, &(bed_file){.name = "a"});
    cr_assert_eq(commit_bed_commit(&bed,
                                   (sinter__commit_request){.has_watermark = true,
                                                            .watermark = 50,
                                                            .properties = &property,
                                                            .property_count = 1},
                                   &outcome, NULL),
                 SINTER_OK);
    cr_assert_eq(commit_bed_commit(&bed,
                                   (sinter__commit_request){.has_watermark = true, .watermark = 40},
                                   &outcome, NULL),
                 SINTER_OK);
    snapshot = get_snapshot(&bed, 2);
    cr_expect_eq(snapshot->watermark, 50);
    cr_expect_eq(snapshot->property_count, 1);
    sinter_snapshot_destroy(snapshot);
    snapshot = get_snapshot(&bed, 3);
    cr_expect_eq(snapshot->watermark, 50);
    cr_expect_eq(snapshot->property_count, 0, "properties are of one commit");
    sinter_snapshot_destroy(snapshot);
    commit_bed_fini(&bed);
}

Test(table_commit, statistics_stay_while_the_schema_does)
{
    static const char *const schema =
        "{\"version\":3,\"id\":1,\"fields\":[{\"id\":0,\"name\":\"p\",\"type\":"
        "\"INT NOT NULL\"},{\"id\":1,\"name\":\"k\",\"type\":\"INT NOT NULL\"}],"
        "\"highestFieldId\":2,\"partitionKeys\":[\"p\"],\"primaryKeys\":[\"p\",\"k\"],"
        "\"options\":{\"bucket\":\"2\"},\"timeMillis\":7}";
    commit_bed bed;
    sinter_io_file *file = NULL;
    sinter_snapshot *snapshot = NULL;
    char text[2048] = {0};
    sinter_io_range range = {.data = text};
    uint64_t size = 0;
    char *at = NULL;

    begin(&bed, two_buckets);
    (void)commit_bed_append(&bed, &(bed_file){.name = "a"});
    cr_assert_eq(bed.env.io->ops->open(bed.env.io, "t/snapshot/snapshot-1", 0, &file, NULL),
                 SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    range.size = (size_t)size;
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    at = strrchr(text, '}');
    (void)strcpy(at, ",\"statistics\":\"stat-1\",\"somethingNew\":1}");
    place_write(&bed.place, "t/snapshot/snapshot-1", text);
    (void)commit_bed_append(&bed, &(bed_file){.name = "b"});
    snapshot = get_snapshot(&bed, 2);
    cr_assert_not_null(snapshot->statistics);
    cr_expect_str_eq(snapshot->statistics, "stat-1");
    sinter_snapshot_destroy(snapshot);
    place_write(&bed.place, "t/schema/schema-1", schema);
    (void)commit_bed_append(&bed, &(bed_file){.name = "c"});
    snapshot = get_snapshot(&bed, 3);
    cr_expect_null(snapshot->statistics);
    sinter_snapshot_destroy(snapshot);
    commit_bed_fini(&bed);
}

Test(table_commit, names_that_others_took_are_left_alone)
{
    commit_bed bed;
    slow_clock clock = {.now_ns = 1};
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_outcome outcome;
    sinter_error err = SINTER_ERROR_INIT;

    commit_bed_init(&bed, NULL, two_buckets);
    bed.env.random_seed = 7; /* with a clock that stands still, all commits draw one name */
    set_clock(&bed, &clock);
    (void)commit_bed_append(&bed, &(bed_file){.name = "a"});
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "b"});
    cr_expect_eq(commit_bed_commit(&bed, (sinter__commit_request){.entries = &entry, .count = 1},
                                   &outcome, &err),
                 SINTER_E_EXISTS);
    cr_expect_eq(commit_bed_missing(&bed), 0);
    cr_expect_str_eq(commit_bed_live(&bed, 0), "a@0");
    commit_bed_fini(&bed);
}

Test(table_commit, rows_of_new_files_get_ids_where_they_are_tracked)
{
    commit_bed bed;
    sinter_snapshot *snapshot = NULL;
    bed_file files[] = {{.name = "a", .rows = 7}, {.name = "b", .rows = 5}};

    begin(&bed, "\"bucket\":\"2\",\"row-tracking.enabled\":\"true\"");
    (void)commit_bed_append(&bed, &files[0]);
    (void)commit_bed_append(&bed, &files[1]);
    snapshot = get_snapshot(&bed, 2);
    cr_expect_eq(snapshot->next_row_id, 12);
    sinter_snapshot_destroy(snapshot);
    cr_assert_eq(compact(&bed, &files[0], &(bed_file){.name = "a", .level = 5, .rows = 7}, NULL),
                 SINTER_OK);
    commit_bed_fini(&bed);
}

Test(table_commit, the_hint_names_the_newest_snapshot)
{
    commit_bed bed;
    sinter_io_file *file = NULL;
    char text[8] = {0};
    const sinter_io_range range = {.data = text, .size = 1};

    begin(&bed, two_buckets);
    (void)commit_bed_append(&bed, &(bed_file){.name = "a"});
    (void)commit_bed_append(&bed, &(bed_file){.name = "b"});
    cr_assert_eq(bed.env.io->ops->open(bed.env.io, "t/snapshot/LATEST", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    cr_expect_str_eq(text, "2");
    file->ops->close(file);
    commit_bed_fini(&bed);
}

Test(table_commit, the_newest_schema_is_the_snapshots)
{
    commit_bed bed;
    sinter_snapshot *snapshot = NULL;

    begin(&bed, two_buckets);
    (void)commit_bed_append(&bed, &(bed_file){.name = "a"});
    place_write(&bed.place, "t/schema/schema-1",
                "{\"version\":3,\"id\":1,\"fields\":[{\"id\":0,\"name\":\"p\",\"type\":"
                "\"INT NOT NULL\"},{\"id\":1,\"name\":\"k\",\"type\":\"INT NOT NULL\"}],"
                "\"highestFieldId\":2,\"partitionKeys\":[\"p\"],\"primaryKeys\":[\"p\",\"k\"],"
                "\"options\":{\"bucket\":\"2\"},\"timeMillis\":7}");
    (void)commit_bed_append(&bed, &(bed_file){.name = "b"});
    snapshot = get_snapshot(&bed, 2);
    cr_expect_eq(snapshot->schema_id, 1);
    sinter_snapshot_destroy(snapshot);
    commit_bed_fini(&bed);
}

Test(table_commit, formats_of_manifests_that_cannot_be_written_are_named)
{
    commit_bed bed;
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_outcome outcome;
    sinter_error err = SINTER_ERROR_INIT;

    begin(&bed, "\"bucket\":\"2\",\"manifest.format\":\"csv\"");
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "a"});
    cr_expect_eq(commit_bed_commit(&bed, (sinter__commit_request){.entries = &entry, .count = 1},
                                   &outcome, &err),
                 SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "csv"));
    cr_expect_str_eq(commit_bed_live(&bed, 0), "none");
    commit_bed_fini(&bed);
}

Test(table_commit, an_append_deletes_nothing)
{
    commit_bed bed;
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_outcome outcome;

    begin(&bed, two_buckets);
    entry = commit_bed_entry(&bed, SINTER__ENTRY_DELETE, &(bed_file){.name = "a"});
    cr_expect_eq(commit_bed_commit(&bed, (sinter__commit_request){.entries = &entry, .count = 1},
                                   &outcome, NULL),
                 SINTER_E_INVALID);
    commit_bed_fini(&bed);
}

/* ---- conflicts ---- */

Test(table_commit, f8_files_that_came_meanwhile_stay)
{
    const bed_file before[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};
    const sinter__manifest_entry *entries[5];
    commit_bed bed;
    sinter__commit_outcome outcome;

    begin(&bed, two_buckets);
    for (size_t i = 0; i < 4; i++) {
        (void)commit_bed_append(&bed, &before[i]);
        entries[i] = commit_bed_entry(&bed, SINTER__ENTRY_DELETE, &before[i]);
    }
    entries[4] = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "z", .level = 5});
    (void)commit_bed_append(&bed, &(bed_file){.name = "e"});
    cr_assert_eq(commit_bed_commit(&bed,
                                   (sinter__commit_request){.kind = SINTER_COMMIT_COMPACT,
                                                            .read_id = 4,
                                                            .entries = entries,
                                                            .count = 5},
                                   &outcome, NULL),
                 SINTER_OK);
    cr_expect_str_eq(commit_bed_live(&bed, 0), "e@0 z@5");
    commit_bed_fini(&bed);
}

Test(table_commit, f9_an_input_that_is_gone_is_a_conflict_that_names_it)
{
    const sinter__manifest_entry *entries[4];
    const sinter__manifest_entry *dropped = NULL;
    commit_bed bed;
    sinter__commit_outcome outcome;
    sinter_error err = SINTER_ERROR_INIT;

    begin(&bed, two_buckets);
    (void)commit_bed_append(&bed, &(bed_file){.name = "a", .partition = 1});
    (void)commit_bed_append(&bed, &(bed_file){.name = "b", .partition = 2});
    dropped =
        commit_bed_entry(&bed, SINTER__ENTRY_DELETE, &(bed_file){.name = "a", .partition = 1});
    cr_assert_eq(commit_bed_commit(&bed,
                                   (sinter__commit_request){.kind = SINTER_COMMIT_OVERWRITE,
                                                            .entries = &dropped,
                                                            .count = 1},
                                   &outcome, NULL),
                 SINTER_OK);
    entries[0] = dropped;
    entries[1] =
        commit_bed_entry(&bed, SINTER__ENTRY_DELETE, &(bed_file){.name = "b", .partition = 2});
    entries[2] = commit_bed_entry(&bed, SINTER__ENTRY_ADD,
                                  &(bed_file){.name = "x", .partition = 1, .level = 5});
    entries[3] = commit_bed_entry(&bed, SINTER__ENTRY_ADD,
                                  &(bed_file){.name = "y", .partition = 2, .level = 5});
    cr_expect_eq(
        commit_bed_commit(
            &bed,
            (sinter__commit_request){.kind = SINTER_COMMIT_COMPACT, .entries = entries, .count = 4},
            &outcome, &err),
        SINTER_E_CONFLICT);
    cr_expect_not_null(strstr(err.text, "partition p=1"), "%s", err.text);
    cr_expect_not_null(strstr(err.text, "file a "), "%s", err.text);
    cr_expect_not(outcome.is_unknown);
    cr_expect_str_eq(commit_bed_live(&bed, 0), "b@0");
    cr_expect_eq(commit_bed_orphans(&bed), 0);

    cr_expect_eq(
        commit_bed_commit(&bed,
                          (sinter__commit_request){
                              .kind = SINTER_COMMIT_COMPACT,
                              .entries = (const sinter__manifest_entry *[]){entries[1], entries[3]},
                              .count = 2},
                          &outcome, &err),
        SINTER_OK, "the part of the other partition alone");
    cr_expect_str_eq(commit_bed_live(&bed, 0), "y@5");
    commit_bed_fini(&bed);
}

Test(table_commit, files_of_a_level_share_no_keys)
{
    commit_bed bed;
    sinter_error err = SINTER_ERROR_INIT;

    begin(&bed, two_buckets);
    (void)commit_bed_append(&bed, &(bed_file){.name = "a", .min = -5, .max = 5});
    (void)commit_bed_append(&bed, &(bed_file){.name = "b", .min = 5, .max = 9});
    (void)commit_bed_append(&bed, &(bed_file){.name = "c", .bucket = 1, .min = 0, .max = 9});
    cr_assert_eq(compact(&bed, &(bed_file){.name = "a", .min = -5, .max = 5},
                         &(bed_file){.name = "a", .level = 5, .min = -5, .max = 5}, NULL),
                 SINTER_OK);
    cr_expect_eq(compact(&bed, &(bed_file){.name = "b", .min = 5, .max = 9},
                         &(bed_file){.name = "b", .level = 5, .min = 5, .max = 9}, &err),
                 SINTER_E_CONFLICT);
    cr_expect_not_null(strstr(err.text, "shares keys"), "%s", err.text);
    cr_expect_eq(compact(&bed, &(bed_file){.name = "b", .min = 5, .max = 9},
                         &(bed_file){.name = "b", .level = 4, .min = 5, .max = 9}, &err),
                 SINTER_OK, "another level");
    cr_expect_eq(compact(&bed, &(bed_file){.name = "c", .bucket = 1, .max = 9},
                         &(bed_file){.name = "c", .bucket = 1, .level = 5, .max = 9}, &err),
                 SINTER_OK, "another bucket");
    commit_bed_fini(&bed);
}

Test(table_commit, buckets_of_a_partition_are_of_one_number)
{
    commit_bed bed;
    sinter__manifest_entry other;
    const sinter__manifest_entry *entry = &other;
    sinter__commit_outcome outcome;
    sinter_error err = SINTER_ERROR_INIT;

    begin(&bed, two_buckets);
    (void)commit_bed_append(&bed, &(bed_file){.name = "a", .partition = 1});
    other = *commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "b", .partition = 1});
    other.total_buckets = 4;
    cr_expect_eq(
        commit_bed_commit(
            &bed,
            (sinter__commit_request){.kind = SINTER_COMMIT_COMPACT, .entries = &entry, .count = 1},
            &outcome, &err),
        SINTER_E_CONFLICT);
    cr_expect_not_null(strstr(err.text, "of 4 buckets"), "%s", err.text);
    cr_expect_eq(commit_bed_commit(&bed,
                                   (sinter__commit_request){.kind = SINTER_COMMIT_OVERWRITE,
                                                            .entries = &entry,
                                                            .count = 1},
                                   &outcome, &err),
                 SINTER_OK, "an OVERWRITE may change it");
    commit_bed_fini(&bed);
}

Test(table_commit, a_file_is_added_once)
{
    commit_bed bed;
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_outcome outcome;

    begin(&bed, two_buckets);
    (void)commit_bed_append(&bed, &(bed_file){.name = "a"});
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "a"});
    cr_expect_eq(
        commit_bed_commit(
            &bed,
            (sinter__commit_request){.kind = SINTER_COMMIT_COMPACT, .entries = &entry, .count = 1},
            &outcome, NULL),
        SINTER_E_CONFLICT);
    commit_bed_fini(&bed);
}

Test(table_commit, a_compaction_of_another_user_behind_the_safe_snapshot_is_a_conflict)
{
    commit_bed bed;
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_outcome outcome;
    sinter_error err = SINTER_ERROR_INIT;

    begin(&bed, "\"bucket\":\"2\",\"commit.strict-mode.last-safe-snapshot\":\"1\"");
    (void)commit_bed_append(&bed, &(bed_file){.name = "a"});
    (void)commit_bed_append(&bed, &(bed_file){.name = "b"});
    bed.user = "compactor";
    cr_assert_eq(
        compact(&bed, &(bed_file){.name = "a"}, &(bed_file){.name = "a", .level = 5}, &err),
        SINTER_OK, "%s", err.text);
    bed.user = NULL;
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "c"});
    cr_expect_eq(commit_bed_commit(&bed, (sinter__commit_request){.entries = &entry, .count = 1},
                                   &outcome, &err),
                 SINTER_E_CONFLICT);
    cr_expect_not_null(strstr(err.text, "snapshot 3"), "%s", err.text);
    cr_expect_eq(commit_bed_commit(
                     &bed,
                     (sinter__commit_request){.user = "compactor", .entries = &entry, .count = 1},
                     &outcome, &err),
                 SINTER_OK, "its own don't count");
    commit_bed_fini(&bed);
}

/* ---- races ---- */

/** Somebody who commits when another is about to: `times` times. */
typedef struct rival {
    commit_bed *bed;
    uint32_t times;
    uint32_t done;
    const bed_file *upgrades; /* makes this file one of level 5, once, instead of appending */
} rival;

static bool
is_snapshot(const watch_call *call)
{
    return call->path != NULL && strstr(call->path, "snapshot-") != NULL;
}

static sinter_status
rival_commits(void *ctx, const watch_call *call, sinter_error *err)
{
    rival *self = ctx;
    static const char *const names[] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"};
    commit_bed other = *self->bed;

    (void)err;
    if (call->op != WATCH_PUBLISH || !is_snapshot(call) || self->done == self->times) {
        return SINTER_OK;
    }
    other.env.io = self->bed->place.memory;
    other.table = NULL;
    commit_bed_open(&other);
    other.user = "rival";
    self->done++;
    if (self->upgrades != NULL) {
        bed_file after = *self->upgrades;

        after.level = 5;
        cr_assert_eq(compact(&other, self->upgrades, &after, NULL), SINTER_OK);
    } else {
        (void)commit_bed_append(&other, &(bed_file){.name = names[(self->done - 1) % 8]});
    }
    sinter_table_close(other.table);
    self->bed->arena = other.arena;
    return SINTER_OK;
}

static void
begin_watched(commit_bed *bed, const char *options, watch_io *io, rival *other)
{
    commit_bed_init(bed, NULL, options);
    watch_io_init(io, bed->place.memory);
    io->before = rival_commits;
    io->ctx = other;
    bed->env.io = &io->base;
    commit_bed_open(bed);
}

Test(table_commit, a_race_that_is_lost_is_tried_again_and_leaves_nothing)
{
    commit_bed bed;
    watch_io io;
    rival other = {.bed = &bed, .times = 3};
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_outcome outcome;
    sinter_error err = SINTER_ERROR_INIT;

    begin_watched(&bed, "\"bucket\":\"2\",\"commit.min-retry-wait\":\"0 ms\"", &io, &other);
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "a"});
    cr_assert_eq(commit_bed_commit(&bed,
                                   (sinter__commit_request){.identifier = 9,
                                                            .kind = SINTER_COMMIT_COMPACT,
                                                            .entries = &entry,
                                                            .count = 1},
                                   &outcome, &err),
                 SINTER_OK, "%s", err.text);
    cr_expect_eq(outcome.attempts, 4);
    cr_expect_eq(outcome.snapshot_id, 4);
    cr_expect_str_eq(commit_bed_live(&bed, 0), "a@0 r0@0 r1@0 r2@0");
    cr_expect_eq(commit_bed_orphans(&bed), 0);
    commit_bed_fini(&bed);
}

Test(table_commit, retries_come_to_an_end)
{
    commit_bed bed;
    watch_io io;
    rival other = {.bed = &bed, .times = UINT32_MAX};
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_outcome outcome;
    sinter_error err = SINTER_ERROR_INIT;

    begin_watched(&bed,
                  "\"bucket\":\"2\",\"commit.min-retry-wait\":\"0 ms\",\"commit.max-retries\":"
                  "\"4\"",
                  &io, &other);
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "a"});
    cr_expect_eq(commit_bed_commit(&bed, (sinter__commit_request){.entries = &entry, .count = 1},
                                   &outcome, &err),
                 SINTER_E_CONFLICT);
    cr_expect_eq(outcome.attempts, 5);
    cr_expect_not(outcome.is_unknown);
    cr_expect_not_null(strstr(err.text, "5 attempts"), "%s", err.text);
    cr_expect_eq(commit_bed_orphans(&bed), 0);
    commit_bed_fini(&bed);
}

Test(table_commit, what_a_rival_took_is_a_conflict_at_the_next_attempt)
{
    const bed_file a = {.name = "a"};
    commit_bed bed;
    watch_io io;
    rival other = {.bed = &bed, .times = 0, .upgrades = &a};
    sinter_error err = SINTER_ERROR_INIT;

    begin_watched(&bed, "\"bucket\":\"2\",\"commit.min-retry-wait\":\"0 ms\"", &io, &other);
    (void)commit_bed_append(&bed, &a);
    other.times = 1;
    cr_expect_eq(compact(&bed, &a, &(bed_file){.name = "z", .level = 4}, &err), SINTER_E_CONFLICT,
                 "%s", err.text);
    cr_expect_not_null(strstr(err.text, "file a of level 0 is not there"), "%s", err.text);
    cr_expect_str_eq(commit_bed_live(&bed, 0), "a@5");
    cr_expect_eq(commit_bed_orphans(&bed), 0);
    commit_bed_fini(&bed);
}

Test(table_commit, waits_double_up_to_a_limit_with_a_fifth_at_random)
{
    static const int64_t least[] = {10, 20, 40, 50, 50};
    commit_bed bed;
    watch_io io;
    slow_clock clock = {.now_ns = 1};
    rival other = {.bed = &bed, .times = 5};
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_outcome outcome;

    begin_watched(&bed, "\"bucket\":\"2\",\"commit.max-retry-wait\":\"50 ms\"", &io, &other);
    set_clock(&bed, &clock);
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "a"});
    cr_assert_eq(commit_bed_commit(&bed, (sinter__commit_request){.entries = &entry, .count = 1},
                                   &outcome, NULL),
                 SINTER_OK);
    cr_assert_eq(clock.count, 5);
    for (size_t i = 0; i < 5; i++) {
        cr_expect_geq(clock.waits_ms[i], least[i]);
        cr_expect_leq(clock.waits_ms[i], least[i] + least[i] / 5);
    }
    commit_bed_fini(&bed);
}

Test(table_commit, a_timeout_ends_the_retries)
{
    commit_bed bed;
    watch_io io;
    slow_clock clock = {.now_ns = 1};
    rival other = {.bed = &bed, .times = UINT32_MAX};
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_outcome outcome;

    begin_watched(&bed, "\"bucket\":\"2\",\"commit.timeout\":\"15 ms\"", &io, &other);
    set_clock(&bed, &clock);
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "a"});
    cr_expect_eq(commit_bed_commit(&bed, (sinter__commit_request){.entries = &entry, .count = 1},
                                   &outcome, NULL),
                 SINTER_E_CONFLICT);
    cr_expect_leq(outcome.attempts, 3);
    commit_bed_fini(&bed);
}

/* ---- outcomes that aren't known ---- */

/** A publishing that works and says it didn't, or doesn't and says so. */
typedef struct liar {
    sinter_io *inner;
    uint8_t text[4096]; /* what was appended last: the snapshot */
    size_t size;
    uint32_t lies; /* so many are left */
    bool really;   /* the snapshot is there all the same */
} liar;

static sinter_status
lie(void *ctx, const watch_call *call, sinter_error *err)
{
    liar *self = ctx;

    if (call->op == WATCH_APPEND && call->size <= sizeof self->text) {
        memcpy(self->text, call->data, call->size);
        self->size = call->size;
    }
    if (call->op != WATCH_PUBLISH || !is_snapshot(call) || self->lies == 0) {
        return SINTER_OK;
    }
    self->lies--;
    if (self->really) {
        cr_assert_eq(
            self->inner->ops->replace(self->inner, call->path, self->text, self->size, NULL),
            SINTER_OK);
    }
    if (err != NULL) {
        (void)snprintf(err->text, sizeof err->text, "a cable fell out");
        err->status = SINTER_E_IO;
    }
    return SINTER_E_IO;
}

static void
begin_lying(commit_bed *bed, watch_io *io, liar *self)
{
    commit_bed_init(bed, NULL,
                    "\"bucket\":\"2\",\"commit.min-retry-wait\":\"0 ms\",\"commit.max-retries\":"
                    "\"3\"");
    watch_io_init(io, bed->place.memory);
    self->inner = bed->place.memory;
    io->before = lie;
    io->ctx = self;
    bed->env.io = &io->base;
    commit_bed_open(bed);
}

Test(table_commit, f10_a_commit_that_worked_and_said_it_did_not_is_found)
{
    commit_bed bed;
    watch_io io;
    liar self = {.lies = 1, .really = true};
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_outcome outcome;
    sinter_error err = SINTER_ERROR_INIT;

    begin_lying(&bed, &io, &self);
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "a"});
    cr_assert_eq(commit_bed_commit(&bed, (sinter__commit_request){.entries = &entry, .count = 1},
                                   &outcome, &err),
                 SINTER_OK, "%s", err.text);
    cr_expect_eq(outcome.snapshot_id, 1);
    cr_expect_eq(outcome.attempts, 2);
    cr_expect_not(outcome.was_done, "it was this very call");
    cr_expect_str_eq(commit_bed_live(&bed, 0), "a@0");
    cr_expect_eq(commit_bed_missing(&bed), 0);
    cr_expect_eq(commit_bed_orphans(&bed), 0);
    commit_bed_fini(&bed);
}

Test(table_commit, f10_one_that_did_not_work_is_made_again_and_its_files_go)
{
    commit_bed bed;
    watch_io io;
    liar self = {.lies = 2};
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_outcome outcome;

    begin_lying(&bed, &io, &self);
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "a"});
    cr_assert_eq(commit_bed_commit(&bed, (sinter__commit_request){.entries = &entry, .count = 1},
                                   &outcome, NULL),
                 SINTER_OK);
    cr_expect_eq(outcome.attempts, 3);
    cr_expect_str_eq(commit_bed_live(&bed, 0), "a@0");
    cr_expect_eq(commit_bed_orphans(&bed), 0);
    commit_bed_fini(&bed);
}

Test(table_commit, f10_what_stays_unknown_deletes_nothing)
{
    commit_bed bed;
    watch_io io;
    liar self = {.lies = UINT32_MAX};
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_outcome outcome;
    sinter_error err = SINTER_ERROR_INIT;

    begin_lying(&bed, &io, &self);
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "a"});
    cr_expect_eq(commit_bed_commit(&bed, (sinter__commit_request){.entries = &entry, .count = 1},
                                   &outcome, &err),
                 SINTER_E_IO);
    cr_expect(outcome.is_unknown);
    cr_expect_eq(outcome.attempts, 4);
    cr_expect_not_null(strstr(err.text, "not known"), "%s", err.text);
    cr_expect_eq(commit_bed_orphans(&bed), 4 * 3, "a manifest and two lists of each attempt");
    commit_bed_fini(&bed);
}

/* ---- what was done before ---- */

Test(table_commit, a_replay_finds_what_was_done)
{
    commit_bed bed;
    const sinter__manifest_entry *entry = NULL;
    sinter__commit_request request = {.identifier = 4, .count = 1};
    sinter__commit_outcome outcome;

    begin(&bed, two_buckets);
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "a"});
    request.entries = &entry;
    cr_assert_eq(commit_bed_commit(&bed, request, &outcome, NULL), SINTER_OK);
    (void)commit_bed_append(&bed, &(bed_file){.name = "b"});
    request.is_replay = true;
    cr_assert_eq(commit_bed_commit(&bed, request, &outcome, NULL), SINTER_OK);
    cr_expect(outcome.was_done);
    cr_expect_eq(outcome.snapshot_id, 1);
    cr_expect_str_eq(commit_bed_live(&bed, 0), "a@0 b@0");
    request.user = "v";
    entry = commit_bed_entry(&bed, SINTER__ENTRY_ADD, &(bed_file){.name = "c"});
    cr_assert_eq(commit_bed_commit(&bed, request, &outcome, NULL), SINTER_OK);
    cr_expect_not(outcome.was_done, "another user");
    cr_expect_str_eq(commit_bed_live(&bed, 0), "a@0 b@0 c@0");
    commit_bed_fini(&bed);
}

Test(table_commit, the_last_identifier_is_that_of_the_newest_snapshot_of_the_user)
{
    commit_bed bed;
    sinter__commit_outcome outcome;
    int64_t identifier = 0;

    begin(&bed, two_buckets);
    cr_expect_eq(sinter__commit_last_identifier(bed.table, "a", &identifier, NULL), SINTER_END);
    for (int64_t i = 5; i < 8; i++) {
        cr_assert_eq(commit_bed_commit(&bed, (sinter__commit_request){.user = "a", .identifier = i},
                                       &outcome, NULL),
                     SINTER_OK);
    }
    cr_assert_eq(commit_bed_commit(&bed, (sinter__commit_request){.user = "b", .identifier = 70},
                                   &outcome, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter__commit_last_identifier(bed.table, "a", &identifier, NULL), SINTER_OK);
    cr_expect_eq(identifier, 7);
    cr_expect_eq(sinter__commit_last_identifier(bed.table, "c", &identifier, NULL), SINTER_END);
    commit_bed_fini(&bed);
}
