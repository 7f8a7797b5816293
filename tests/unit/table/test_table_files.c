#include "sinter/table_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../../support/fault_alloc.h"
#include "commit_bed.h"
#include "manifest_bed.h"

TestSuite(table_table_files, .timeout = 30);

static const char options[] = "\"bucket\":\"2\",\"manifest.compression\":\"null\"";

/** What was told, a line a file. */
typedef struct told {
    char text[1024];
    sinter_status answer;
} told;

static sinter_status
note(void *ctx, const sinter_table_file *file)
{
    told *self = ctx;
    char line[256];

    (void)snprintf(line, sizeof line, "%.64s %.64s %d@%d %.16s..%.16s %u\n", file->path,
                   file->partition, file->bucket, file->level, file->min_key, file->max_key,
                   file->has_vector);
    if (strlen(self->text) + strlen(line) < sizeof self->text) {
        (void)strcat(self->text, line);
    }
    return self->answer;
}

static void
begin(commit_bed *bed)
{
    commit_bed_init(bed, NULL, options);
    commit_bed_open(bed);
    (void)commit_bed_append(bed, &(bed_file){.name = "b", .partition = 2, .min = -3, .max = 4});
    (void)commit_bed_append(bed, &(bed_file){.name = "a", .partition = 1, .bucket = 1});
}

Test(table_table_files, files_come_by_partition_with_their_places_and_keys)
{
    commit_bed bed;
    told all = {.answer = SINTER_OK};
    sinter_snapshot *first = NULL;

    begin(&bed);
    cr_assert_eq(sinter_table_each_file(bed.table, NULL, note, &all, NULL), SINTER_OK);
    cr_expect_str_eq(all.text, "t/p=1/bucket-1/a p=1 1@0 0..0 0\n"
                               "t/p=2/bucket-0/b p=2 0@0 -3..4 0\n");
    all.text[0] = '\0';
    cr_assert_eq(sinter_table_snapshot_get(bed.table, 1, &first, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_each_file(bed.table, first, note, &all, NULL), SINTER_OK);
    cr_expect_str_eq(all.text, "t/p=2/bucket-0/b p=2 0@0 -3..4 0\n");
    sinter_snapshot_destroy(first);
    commit_bed_fini(&bed);
}

Test(table_table_files, a_file_with_a_deletion_vector_says_so)
{
    const sinter__vector_range range = {
        .data_file = bed_text("b"), .length = 4, .has = SINTER__VECTOR_HAS_CARDINALITY};
    commit_bed bed;
    sinter__index_entry index = {.index_type = bed_text("DELETION_VECTORS"),
                                 .file_name = bed_text("index-0"),
                                 .has = SINTER__INDEX_HAS_VECTORS,
                                 .vectors = {&range, 1}};
    const sinter__index_entry *added = &index;
    sinter__commit_outcome outcome;
    told all = {.answer = SINTER_OK};

    begin(&bed);
    index.partition = commit_bed_partition(&bed, 2);
    cr_assert_eq(commit_bed_commit(&bed,
                                   (sinter__commit_request){.kind = SINTER_COMMIT_COMPACT,
                                                            .index_added = &added,
                                                            .index_added_count = 1},
                                   &outcome, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_table_each_file(bed.table, NULL, note, &all, NULL), SINTER_OK);
    cr_expect_not_null(strstr(all.text, "p=2 0@0 -3..4 1\n"), "%s", all.text);
    commit_bed_fini(&bed);
}

Test(table_table_files, a_table_without_snapshots_has_none_and_a_failure_ends_the_walk)
{
    commit_bed bed;
    told all = {.answer = SINTER_E_CANCELLED};

    commit_bed_init(&bed, NULL, options);
    commit_bed_open(&bed);
    cr_expect_eq(sinter_table_each_file(bed.table, NULL, note, &all, NULL), SINTER_OK);
    commit_bed_fini(&bed);
    begin(&bed);
    cr_expect_eq(sinter_table_each_file(bed.table, NULL, note, &all, NULL), SINTER_E_CANCELLED);
    cr_expect_eq(strchr(all.text, '\n') - all.text + 1, (long)strlen(all.text), "one line");
    commit_bed_fini(&bed);
}

Test(table_table_files, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    commit_bed bed;
    fault_alloc fault;

    begin(&bed);
    sinter_table_close(bed.table);
    bed.table = NULL;
    fault_alloc_init(&fault, UINT64_MAX);
    bed.env.allocator = fault.env.allocator;
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        told all = {.answer = SINTER_OK};

        commit_bed_open(&bed);
        fault.fail_at = fault.calls + n;
        st = sinter_table_each_file(bed.table, NULL, note, &all, NULL);
        fault.fail_at = UINT64_MAX;
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %lu", n);
        sinter_table_close(bed.table);
        bed.table = NULL;
        cr_assert_eq(fault.live, 0, "leak when allocation %lu fails", n);
    }
    commit_bed_fini(&bed);
}
