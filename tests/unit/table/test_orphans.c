#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../support/fault_alloc.h"
#include "../../support/watch_io.h"
#include "commit_bed.h"
#include "manifest_bed.h"
#include "sinter/table_maintenance.h"

TestSuite(table_orphans, .timeout = 60);

static const char options[] = "\"bucket\":\"2\",\"manifest.compression\":\"null\"";

static const char *const junk[] = {
    "t/p=0/bucket-0/junk", "t/p=9/bucket-1/junk", "t/manifest/junk",  "t/index/junk",
    "t/statistics/junk",   "t/snapshot/junk",     "t/changelog/junk",
};

/** A table of two snapshots, with files that nobody knows, all of them old enough. */
static void
begin(commit_bed *bed)
{
    commit_bed_init(bed, NULL, options);
    commit_bed_open(bed);
    (void)commit_bed_append_file(bed, &(bed_file){.name = "a"});
    (void)commit_bed_append_file(bed, &(bed_file){.name = "b", .partition = 1});
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++) {
        place_write(&bed->place, junk[i], "junk");
    }
    (void)usleep(3000);
}

static int64_t
now_ms(const commit_bed *bed)
{
    return bed->env.clock.wall_ms(bed->env.clock.ctx);
}

static sinter_orphan_options
until_now(const commit_bed *bed)
{
    return (sinter_orphan_options){.struct_size = (uint32_t)sizeof(sinter_orphan_options),
                                   .older_than_ms = now_ms(bed)};
}

static size_t
count_junk(const commit_bed *bed)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++) {
        count += commit_bed_has(bed, junk[i]);
    }
    return count;
}

/** Paths that were told. */
typedef struct told {
    size_t count;
    uint64_t bytes;
} told;

static void
note(void *ctx, const sinter_removed_file *file)
{
    told *self = ctx;

    self->count++;
    self->bytes += file->bytes;
    cr_expect_not_null(strstr(file->path, "junk"), "%s", file->path);
}

Test(table_orphans, files_that_nobody_names_go_and_others_stay)
{
    commit_bed bed;
    sinter_orphan_options how;
    sinter_orphan_result result = {.struct_size = (uint32_t)sizeof result};
    told all = {0};

    begin(&bed);
    how = until_now(&bed);
    how.each = note;
    how.ctx = &all;
    how.flags = SINTER_REMOVE_DRY_RUN;
    cr_assert_eq(sinter_table_remove_orphans(bed.table, &how, &result, NULL), SINTER_OK);
    cr_expect_eq(result.files, 7);
    cr_expect_eq(all.count, 7);
    cr_expect_eq(all.bytes, 7 * 4);
    cr_expect_eq(count_junk(&bed), 7, "a dry run");
    how.flags = 0;
    cr_assert_eq(sinter_table_remove_orphans(bed.table, &how, &result, NULL), SINTER_OK);
    cr_expect_eq(result.files, 7);
    cr_expect_eq(result.bytes, 7 * 4);
    cr_expect_eq(count_junk(&bed), 0);
    cr_expect(commit_bed_is_whole(&bed));
    cr_expect_eq(commit_bed_missing(&bed), 0);
    cr_expect(commit_bed_has(&bed, "t/snapshot/LATEST"));
    cr_expect(commit_bed_has(&bed, "t/schema/schema-0"));
    commit_bed_fini(&bed);
}

Test(table_orphans, external_directories_are_looked_through)
{
    static const char *const outside[] = {"/x/p=1/bucket-0/junk", "/x/p=1/bucket-0/b", "/x/p=1/c"};
    commit_bed bed;
    sinter_orphan_options how;
    sinter_orphan_result result = {.struct_size = (uint32_t)sizeof result};

    commit_bed_init(&bed, NULL,
                    "\"bucket\":\"2\",\"data-file.external-paths\":\"s3://b/c,file:///x\"");
    commit_bed_open(&bed);
    (void)commit_bed_append_file(&bed, &(bed_file){.name = "b", .partition = 1});
    for (size_t i = 0; i < 3; i++) {
        place_write(&bed.place, outside[i], "junk");
    }
    (void)usleep(3000);
    how = until_now(&bed);
    cr_assert_eq(sinter_table_remove_orphans(bed.table, &how, &result, NULL), SINTER_OK);
    cr_expect_eq(result.files, 1);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(commit_bed_has(&bed, outside[i]), i > 0, "%s", outside[i]);
    }
    commit_bed_fini(&bed);
}

Test(table_orphans, f32_young_files_are_never_candidates)
{
    commit_bed bed;
    sinter_orphan_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_orphan_options how;
    sinter_error err = SINTER_ERROR_INIT;

    begin(&bed);
    cr_assert_eq(sinter_table_remove_orphans(bed.table, NULL, &result, NULL), SINTER_OK);
    cr_expect_eq(result.files, 0, "none is a day old");
    how = until_now(&bed);
    how.older_than_ms += 60000;
    cr_expect_eq(sinter_table_remove_orphans(bed.table, &how, &result, &err), SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "future"));
    cr_expect_eq(count_junk(&bed), 7);
    commit_bed_fini(&bed);
}

/** Commits what was a stranger's file when it was listed, before anything is read. */
typedef struct late {
    commit_bed *bed;
    bool is_done;
} late;

static sinter_status
commit_late(void *ctx, const watch_call *call, sinter_error *err)
{
    late *self = ctx;
    commit_bed other = *self->bed;

    (void)err;
    if (self->is_done || call->op != WATCH_OPEN || strstr(call->path, "snapshot-") == NULL) {
        return SINTER_OK;
    }
    self->is_done = true;
    other.env.io = self->bed->place.memory;
    other.table = NULL;
    commit_bed_open(&other);
    (void)commit_bed_append(&other, &(bed_file){.name = "junk"});
    (void)commit_bed_append_file(&other, &(bed_file){.name = "new"});
    sinter_table_close(other.table);
    self->bed->arena = other.arena;
    return SINTER_OK;
}

Test(table_orphans, f32_what_is_committed_meanwhile_stays)
{
    commit_bed bed;
    watch_io io;
    late other = {.bed = &bed};
    sinter_orphan_options how;

    begin(&bed);
    watch_io_init(&io, bed.place.memory);
    io.before = commit_late;
    io.ctx = &other;
    bed.env.io = &io.base;
    commit_bed_open(&bed);
    place_write(&bed.place, "t/p=9/bucket-1/trash", "junk");
    (void)usleep(3000);
    how = until_now(&bed);
    cr_assert_eq(sinter_table_remove_orphans(bed.table, &how, NULL, NULL), SINTER_OK);
    cr_expect(other.is_done);
    cr_expect(commit_bed_has(&bed, "t/p=0/bucket-0/junk"), "a candidate that came into use");
    cr_expect(commit_bed_has(&bed, "t/p=0/bucket-0/new"));
    cr_expect_not(commit_bed_has(&bed, "t/p=9/bucket-1/trash"));
    cr_expect(commit_bed_is_whole(&bed));
    commit_bed_fini(&bed);
}

static void
move(commit_bed *bed, const char *from, const char *to)
{
    sinter_io_file *file = NULL;
    char text[4096] = {0};
    sinter_io_range range = {.data = text};
    uint64_t size = 0;
    sinter_io *io = bed->place.memory;

    cr_assert_eq(io->ops->open(io, from, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    range.size = (size_t)size;
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    place_write(&bed->place, to, text);
    cr_assert_eq(io->ops->unlink(io, from, NULL), SINTER_OK);
}

Test(table_orphans, tags_branches_and_changelogs_keep_what_they_name)
{
    static const char *const homes[] = {"t/tag/tag-x", "t/branch/branch-x/snapshot/snapshot-2",
                                        "t/branch/branch-x/tag/tag-y", "t/changelog/changelog-2"};

    for (size_t i = 0; i < sizeof homes / sizeof homes[0]; i++) {
        commit_bed bed;
        sinter_orphan_options how;

        begin(&bed);
        place_write(&bed.place, "t/branch/branch-x/schema/schema-0", "");
        move(&bed, "t/schema/schema-0", "t/branch/branch-x/schema/schema-0");
        move(&bed, "t/snapshot/snapshot-2", homes[i]);
        commit_bed_fini(&bed); /* the main branch lost its schema: nothing may go */
        begin(&bed);
        move(&bed, "t/snapshot/snapshot-2", homes[i]);
        if (strstr(homes[i], "branch") != NULL) {
            place_write(&bed.place, "t/branch/branch-x/schema/schema-0",
                        "{\"version\":3,\"id\":0,\"fields\":[{\"id\":0,\"name\":\"p\",\"type\":"
                        "\"INT NOT NULL\"},{\"id\":1,\"name\":\"k\",\"type\":\"INT NOT NULL\"}],"
                        "\"highestFieldId\":2,\"partitionKeys\":[\"p\"],\"primaryKeys\":[\"p\","
                        "\"k\"],\"options\":{},\"timeMillis\":7}");
        }
        (void)usleep(3000);
        how = until_now(&bed);
        cr_assert_eq(sinter_table_remove_orphans(bed.table, &how, NULL, NULL), SINTER_OK, "%s",
                     homes[i]);
        cr_expect(commit_bed_has(&bed, "t/p=1/bucket-0/b"), "%s", homes[i]);
        cr_expect_eq(count_junk(&bed), 0, "%s", homes[i]);
        commit_bed_fini(&bed);
    }
}

Test(table_orphans, a_changelog_may_have_outlived_part_of_its_metadata)
{
    commit_bed bed;
    sinter_snapshot *snapshot = NULL;
    sinter_orphan_options how;
    char path[160];

    begin(&bed);
    cr_assert_eq(sinter_table_snapshot_get(bed.table, 2, &snapshot, NULL), SINTER_OK);
    (void)snprintf(path, sizeof path, "t/manifest/%s", snapshot->base.name);
    move(&bed, "t/snapshot/snapshot-2", "t/changelog/changelog-2");
    cr_assert_eq(bed.place.memory->ops->unlink(bed.place.memory, path, NULL), SINTER_OK);
    (void)usleep(3000);
    how = until_now(&bed);
    cr_assert_eq(sinter_table_remove_orphans(bed.table, &how, NULL, NULL), SINTER_OK);
    cr_expect(commit_bed_has(&bed, "t/p=1/bucket-0/b"), "what its delta names stays");
    cr_expect_eq(count_junk(&bed), 0);
    sinter_snapshot_destroy(snapshot);
    commit_bed_fini(&bed);
}

Test(table_orphans, a_branch_without_a_schema_keeps_everything)
{
    commit_bed bed;
    sinter_orphan_options how;

    begin(&bed);
    place_write(&bed.place, "t/branch/branch-x/tag/tag-t", "{}");
    (void)usleep(3000);
    how = until_now(&bed);
    cr_expect_eq(sinter_table_remove_orphans(bed.table, &how, NULL, NULL), SINTER_E_NOT_FOUND);
    cr_expect_eq(count_junk(&bed), 7);
    commit_bed_fini(&bed);
}

Test(table_orphans, f32_metadata_that_cannot_be_read_keeps_everything)
{
    static const char *const texts[] = {"no list", NULL}; /* NULL: it is not there */

    for (size_t i = 0; i < 2; i++) {
        commit_bed bed;
        sinter_snapshot *snapshot = NULL;
        sinter_orphan_options how;
        char path[160];

        begin(&bed);
        cr_assert_eq(sinter_table_snapshot_get(bed.table, 1, &snapshot, NULL), SINTER_OK);
        (void)snprintf(path, sizeof path, "t/manifest/%s", snapshot->delta.name);
        if (texts[i] != NULL) {
            place_write(&bed.place, path, texts[i]);
        } else {
            cr_assert_eq(bed.place.memory->ops->unlink(bed.place.memory, path, NULL), SINTER_OK);
        }
        how = until_now(&bed);
        cr_expect_eq(sinter_table_remove_orphans(bed.table, &how, NULL, NULL), SINTER_E_CORRUPT);
        cr_expect_eq(count_junk(&bed), 7);
        sinter_snapshot_destroy(snapshot);
        commit_bed_fini(&bed);
    }
}

Test(table_orphans, whatever_call_fails_the_table_stays_whole)
{
    bool came_to_it = true;
    commit_bed bed;
    sinter_io *faulty = NULL;

    begin(&bed);
    cr_assert_eq(
        sinter_io_fault_create(sinter_env_default(), bed.place.memory, NULL, &faulty, NULL),
        SINTER_OK);
    bed.env.io = faulty;
    commit_bed_open(&bed);
    for (uint64_t n = 0; came_to_it; n++) {
        const sinter_fault_options fault = {
            .struct_size = (uint32_t)sizeof fault, .kind = SINTER_FAULT_EIO, .at_call = n};
        sinter_orphan_options how;

        sinter_io_fault_set(faulty, &(sinter_fault_options){.struct_size = sizeof fault});
        place_write(&bed.place, junk[0], "junk");
        (void)usleep(2000);
        how = until_now(&bed);
        sinter_io_fault_set(faulty, &fault);
        (void)!sinter_table_remove_orphans(bed.table, &how, NULL, NULL);
        came_to_it = sinter_io_fault_calls(faulty) > n;
        cr_expect(commit_bed_is_whole(&bed), "call %lu", n);
        cr_expect_eq(commit_bed_missing(&bed), 0, "call %lu", n);
    }
    sinter_table_close(bed.table);
    bed.table = NULL;
    bed.env.io = bed.place.memory;
    sinter_io_destroy(faulty);
    commit_bed_fini(&bed);
}

Test(table_orphans, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    commit_bed bed;
    fault_alloc fault;
    sinter_orphan_options how;

    begin(&bed);
    how = until_now(&bed);
    sinter_table_close(bed.table);
    bed.table = NULL;
    fault_alloc_init(&fault, UINT64_MAX);
    bed.env.allocator = fault.env.allocator;
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        commit_bed_open(&bed);
        fault.fail_at = fault.calls + n;
        st = sinter_table_remove_orphans(bed.table, &how, NULL, NULL);
        fault.fail_at = UINT64_MAX;
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %lu", n);
        cr_expect_eq(count_junk(&bed), st == SINTER_OK ? 0 : 7, "allocation %lu", n);
        sinter_table_close(bed.table);
        bed.table = NULL;
        cr_assert_eq(fault.live, 0, "leak when allocation %lu fails", n);
    }
    cr_expect(commit_bed_is_whole(&bed));
    commit_bed_fini(&bed);
}
