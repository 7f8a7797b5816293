/*
 * Rows of data files are read as Paimon stored them: key order, sequence, kind and every value.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sinter/rows.h"
#include "table/data_reader.h"
#include "tables.h"

enum { COLUMNS_MAX = 64 };

/** What a reader of whole rows of a table needs. */
typedef struct whole_rows {
    sinter__row_plan plan;
    sinter_field fields[COLUMNS_MAX];
    size_t positions[COLUMNS_MAX];
    size_t keys[COLUMNS_MAX];
    sinter_type key_types[COLUMNS_MAX];
    sinter_key_codec *codec;
    sinter_row_writer *writer;
} whole_rows;

/* The primary key without the partition columns. */
static void
find_keys(whole_rows *rows, const sinter_schema *schema)
{
    for (size_t i = 0; i < schema->primary_key_count; i++) {
        const char *name = schema->primary_keys[i];
        bool is_partition = false;

        for (size_t p = 0; p < schema->partition_key_count; p++) {
            is_partition = is_partition || strcmp(schema->partition_keys[p], name) == 0;
        }
        if (!is_partition) {
            const size_t at = sinter_row_type_find(schema->row_type, name);

            rows->key_types[rows->plan.key_count] = rows->fields[at].type;
            rows->keys[rows->plan.key_count++] = at;
        }
    }
}

static void
open_rows(whole_rows *rows, const sinter_schema *schema)
{
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options};
    const size_t count = sinter_row_type_count(schema->row_type);

    memset(rows, 0, sizeof *rows);
    cr_assert_leq(count, COLUMNS_MAX);
    for (size_t i = 0; i < count; i++) {
        rows->fields[i].name = sinter_row_type_column_name(schema->row_type, i);
        rows->fields[i].type = *sinter_row_type_column_type(schema->row_type, i);
        rows->positions[i] = i;
    }
    find_keys(rows, schema);
    rows->plan.row_type = schema->row_type;
    rows->plan.fields = rows->fields;
    rows->plan.positions = rows->positions;
    rows->plan.count = count;
    rows->plan.keys = rows->keys;
    cr_assert_eq(sinter_key_codec_create(sinter_env_default(), rows->key_types,
                                         rows->plan.key_count, &rows->codec, NULL),
                 SINTER_OK);
    rows->plan.key_codec = rows->codec;
    cr_assert_eq(sinter_row_writer_create(sinter_env_default(), schema->row_type, &options,
                                          &rows->writer, NULL),
                 SINTER_OK);
}

static void
close_rows(whole_rows *rows)
{
    sinter_row_writer_destroy(rows->writer);
    sinter_key_codec_destroy(rows->codec);
}

/* Compare a row with its line: {"_seq":7,"_kind":"+I","id":1,...}. */
static void
check_row(const table_case *test, whole_rows *rows, const sinter_batch *batch, uint32_t row,
          const char *expected)
{
    const sinter_bytes value = batch->payload_ops->value(batch, row);
    sinter_text text;
    char head[64];

    sinter_text_init(sinter_env_default(), &text);
    (void)snprintf(head, sizeof head, "{\"_seq\":%" PRId64 ",\"_kind\":\"%s\",",
                   batch->sequences[row], sinter_kind_name(batch->kinds[row]));
    cr_assert_eq(sinter_row_writer_append_stored(rows->writer, batch->kinds[row],
                                                 sinter_batch_key(batch, row), value, &text, NULL),
                 SINTER_OK, "%s", test->name);
    text.data[strcspn(text.data, "\n")] = '\0';
    cr_assert_eq(strncmp(expected, head, strlen(head)), 0, "%s: %s instead of %s", test->name, head,
                 expected);
    cr_assert_str_eq(text.data + 1, expected + strlen(head), "%s", test->name);
    sinter_text_fini(&text);
}

/* Compare a file with its lines; how many there were. */
static size_t
check_file(const table_case *test, whole_rows *rows, const json_t *meta, const tables_lines *lines,
           size_t first)
{
    const sinter_read_options options = {
        .struct_size = (uint32_t)sizeof options,
        .expected_file_bytes = (uint64_t)json_integer_value(json_object_get(meta, "size"))};
    sinter__data_input file = {.path = NULL};
    const sinter_schema *schema = NULL;
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    char path[4096];
    size_t at = first;

    (void)snprintf(path, sizeof path, "%s/%s", sinter_table_path(test->table),
                   json_string_value(json_object_get(meta, "path")));
    cr_assert_eq(sinter_table_schema_get(test->table,
                                         json_integer_value(json_object_get(meta, "schemaId")),
                                         &schema, NULL),
                 SINTER_OK);
    file.path = path;
    file.row_type = schema->row_type;
    st = sinter__data_reader_open(&test->env, &rows->plan, &file, &options, &reader, &err);
    cr_assert_eq(st, SINTER_OK, "%s: %s: %s", test->name, path, err.text);
    while ((st = reader->ops->next(reader, &batch, &err)) == SINTER_OK) {
        for (uint32_t i = 0; i < batch->row_count; i++) {
            cr_assert_lt(at, lines->count);
            check_row(test, rows, batch, i, lines->items[at++]);
        }
    }
    cr_assert_eq(st, SINTER_END, "%s: %s", test->name, err.text);
    reader->ops->close(reader);
    return at - first;
}

static const json_t *
find_file(const json_t *files, const char *name)
{
    const json_t *list = json_object_get(files, "files");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *meta = json_array_get(list, i);

        if (strcmp(json_string_value(json_object_get(meta, "file")), name) == 0) {
            return meta;
        }
    }
    cr_assert_fail("%s isn't in files.json", name);
    return NULL;
}

static bool
check_case(table_case *test)
{
    tables_lines lines;
    json_t *files = NULL;
    whole_rows rows;
    char reason[160];

    if (!tables_can_read(test) || tables_find_exception(test, "stored", reason, sizeof reason) ||
        !tables_read_lines(test, "stored.jsonl", &lines)) {
        return false;
    }
    files = tables_read_json(test, "files.json");
    open_rows(&rows, sinter_table_schema(test->table));
    for (size_t at = 0; at < lines.count;) {
        json_t *line = json_loads(lines.items[at], JSON_ALLOW_NUL, NULL);
        const char *name = json_string_value(json_object_get(line, "_file"));

        cr_assert_not_null(name);
        at++;
        at += check_file(test, &rows, find_file(files, name), &lines, at);
        json_decref(line);
    }
    close_rows(&rows);
    json_decref(files);
    tables_lines_free(&lines);
    return true;
}

Test(tables_stored, rows_are_read_as_they_were_stored)
{
    tables_run(check_case);
}
