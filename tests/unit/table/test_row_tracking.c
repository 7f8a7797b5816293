#include "table/row_tracking.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc/binary.h"
#include "place.h"
#include "sinter/table_compact.h"
#include "sinter/table_create.h"
#include "sinter/table_write.h"
#include "table/bucket_source.h"
#include "table/live_files.h"

/** A table in memory: k INT, which rows are written to, a few a commit. */
typedef struct bed {
    place place;
    sinter_table *table;
} bed;

static void
open_bed(bed *b)
{
    static const char schema[] = "{\"fields\":[{\"name\":\"k\",\"type\":\"INT\"}],\"options\":{"
                                 "\"file.format\":\"avro\",\"row-tracking.enabled\":\"true\","
                                 "\"compaction.min.file-num\":\"2\"}}";
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_schema *made = NULL;

    place_init(&b->place, NULL);
    cr_assert_eq(sinter_schema_parse(&b->place.env, NULL,
                                     (sinter_bytes){(const uint8_t *)schema, sizeof schema - 1},
                                     &made, &err),
                 SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_table_create(&b->place.env, &config, made, &err), SINTER_OK, "%s",
                 err.text);
    cr_assert_eq(sinter_table_open(&b->place.env, &config, &b->table, &err), SINTER_OK, "%s",
                 err.text);
    sinter_schema_destroy(made);
}

static void
close_bed(bed *b)
{
    sinter_table_close(b->table);
    place_fini(&b->place);
}

/* Rows first, first + 1, ... in one commit. */
static void
write_rows(bed *b, int first, int count)
{
    sinter_table_write_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_table_writer *writer = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_table_writer_open(b->table, NULL, &writer, &err), SINTER_OK, "%s",
                 err.text);
    for (int i = 0; i < count; i++) {
        const sinter_datum value = {.as.integer = first + i};

        cr_assert_eq(sinter_table_writer_add(writer, SINTER_KIND_INSERT, &value, &err), SINTER_OK);
    }
    cr_assert_eq(sinter_table_writer_commit(writer, &result, &err), SINTER_OK, "%s", err.text);
    sinter_table_writer_close(writer);
}

static void
compact(bed *b)
{
    const sinter_table_plan_options options = {
        .struct_size = (uint32_t)sizeof options, .full = true, .bucket = -1};
    sinter_table_commit_info info = {.struct_size = (uint32_t)sizeof info};
    sinter_table_task_info task = {.struct_size = (uint32_t)sizeof task};
    sinter_table_result result = {"r", {NULL, 0}};
    sinter_table_plan *plan = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text text;

    sinter_text_init(&b->place.env, &text);
    cr_assert_eq(sinter_table_plan_create(b->table, &options, &plan, &err), SINTER_OK, "%s",
                 err.text);
    cr_assert_eq(sinter_table_plan_count(plan), 1);
    sinter_table_plan_get(plan, 0, &task);
    cr_assert_eq(sinter_table_task_run(&b->place.env, task.document, NULL, &text, &err), SINTER_OK,
                 "%s", err.text);
    result.document = (sinter_bytes){(const uint8_t *)text.data, text.size};
    cr_assert_eq(sinter_table_commit_results(b->table, &result, 1, NULL, &info, &err), SINTER_OK,
                 "%s", err.text);
    sinter_text_fini(&text);
    sinter_table_plan_destroy(plan);
}

enum { ROWS_MAX = 8, TEXT_BYTES = 32 };

/** Rows as "k:id:sequence ". */
typedef struct rows {
    char texts[ROWS_MAX][TEXT_BYTES];
    size_t count;
} rows;

static void
read_file(const sinter_env *env, const sinter_format *format, const sinter_file_meta *meta,
          const sinter__scan_columns *columns, rows *out)
{
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st =
        format->open_reader(format->self, env, meta->external_path, NULL, &reader, &err);

    cr_assert_eq(st, SINTER_OK, "%s", err.text);
    while ((st = reader->ops->next(reader, &batch, &err)) == SINTER_OK) {
        for (uint32_t row = 0; row < batch->row_count; row++) {
            sinter_datum values[3];
            sinter__slots slots;

            cr_assert_eq(
                sinter__slots_of_row(3, batch->payload_ops->value(batch, row), &slots, &err),
                SINTER_OK);
            for (size_t i = 0; i < 3; i++) {
                cr_assert_eq(
                    sinter__slots_get(&slots, &columns->fields[i].type, i, &values[i], &err),
                    SINTER_OK);
            }
            cr_assert_lt(out->count, ROWS_MAX);
            (void)snprintf(out->texts[out->count++], TEXT_BYTES,
                           "%" PRId64 ":%" PRId64 ":%" PRId64 " ", values[0].as.integer,
                           values[1].is_null ? -1 : values[1].as.integer, values[2].as.integer);
        }
    }
    cr_assert_eq(st, SINTER_END, "%s", err.text);
    reader->ops->close(reader);
}

static int
compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* All rows with what they are tracked by, sorted: files of one size are joined in any order. */
static void
expect_rows(bed *b, const char *wanted)
{
    sinter__table_options options;
    sinter__tracked_schema tracked = {.row_type = NULL};
    sinter__scan_columns columns = {.arena.env = &b->place.env};
    sinter__live_files *files = NULL;
    sinter__bucket_source *source = NULL;
    sinter__bucket_request request = {
        .table = b->table, .options = &options, .columns = &columns, .tracks_rows = true};
    sinter_snapshot *snapshot = NULL;
    const sinter_file_meta *metas = NULL;
    rows all = {.count = 0};
    char found[ROWS_MAX * TEXT_BYTES] = "";
    size_t count = 0;
    int64_t id = 0;

    cr_assert_eq(sinter_table_latest_id(b->table, &id, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_snapshot_get(b->table, id, &snapshot, NULL), SINTER_OK);
    cr_assert_eq(sinter__live_files_read(b->table, snapshot, &files, NULL), SINTER_OK);
    cr_assert_eq(sinter__table_options_load(sinter_table_schema(b->table), &options, NULL),
                 SINTER_OK);
    cr_assert_eq(
        sinter__tracked_schema_init(&b->place.env, sinter_table_schema(b->table), &tracked, NULL),
        SINTER_OK);
    cr_assert_eq(sinter__scan_columns_init(&columns, &tracked.schema, &options, NULL, 0, NULL),
                 SINTER_OK);
    request.files = sinter__live_files_buckets(files, &count);
    cr_assert_eq(count, 1);
    cr_assert_eq(sinter__bucket_source_create(&request, &source, NULL), SINTER_OK);
    metas = sinter__bucket_source_files(source, &count);
    for (size_t i = 0; i < count; i++) {
        read_file(&b->place.env, sinter__bucket_source_format(source), &metas[i], &columns, &all);
    }
    qsort(all.texts, all.count, TEXT_BYTES, compare_texts);
    for (size_t i = 0; i < all.count; i++) {
        (void)strcat(found, all.texts[i]);
    }
    cr_expect_str_eq(found, wanted);
    sinter__bucket_source_destroy(source);
    sinter__live_files_destroy(files);
    sinter__scan_columns_fini(&columns);
    sinter__tracked_schema_fini(&tracked);
    sinter_snapshot_destroy(snapshot);
}

Test(table_row_tracking, rows_keep_their_ids_and_sequences_through_compactions)
{
    bed b;

    open_bed(&b);
    write_rows(&b, 10, 2);
    write_rows(&b, 20, 2);
    expect_rows(&b, "10:0:1 11:1:1 20:2:2 21:3:2 ");
    compact(&b);
    expect_rows(&b, "10:0:1 11:1:1 20:2:2 21:3:2 ");
    write_rows(&b, 30, 1);
    compact(&b);
    expect_rows(&b, "10:0:1 11:1:1 20:2:2 21:3:2 30:4:4 ");
    close_bed(&b);
}

Test(table_row_tracking, the_columns_stand_at_the_end_and_are_nobodys_else)
{
    static const char *const texts[] = {"[{\"id\":7,\"name\":\"k\",\"type\":\"INT\"}]",
                                        "[{\"id\":7,\"name\":\"_ROW_ID\",\"type\":\"INT\"}]"};

    for (size_t i = 0; i < 2; i++) {
        sinter_schema base = {.struct_size = (uint32_t)sizeof base, .id = 3};
        sinter__tracked_schema tracked = {.row_type = NULL};
        sinter_row_type *type = NULL;
        sinter_status st;

        cr_assert_eq(
            sinter_row_type_parse(sinter_env_default(), texts[i], strlen(texts[i]), &type, NULL),
            SINTER_OK);
        base.row_type = type;
        st = sinter__tracked_schema_init(sinter_env_default(), &base, &tracked, NULL);
        cr_expect_eq(st, i == 0 ? SINTER_OK : SINTER_E_INVALID);
        if (st == SINTER_OK) {
            cr_expect_eq(tracked.schema.id, 3);
            cr_assert_eq(sinter_row_type_count(tracked.row_type), 3);
            cr_expect_eq(sinter_row_type_column_id(tracked.row_type, 0), 7);
            cr_expect_eq(sinter_row_type_column_id(tracked.row_type, 1), 2147483642);
            cr_expect_eq(sinter_row_type_column_id(tracked.row_type, 2), 2147483646);
        }
        sinter__tracked_schema_fini(&tracked);
        sinter_row_type_destroy(type);
    }
}
