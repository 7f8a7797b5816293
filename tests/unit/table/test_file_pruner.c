#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "place.h"
#include "table/file_pruner.h"
#include "table/table.h"

TestSuite(table_file_pruner, .timeout = 60);

enum { FILES_MAX = 4 };

/* Schema 0 is what files were written with, schema 1 the table's: "n" was called "old", became
 * larger, and "new" was added. */
#define FIELDS_0                                           \
    "{\"id\":0,\"name\":\"k\",\"type\":\"INT NOT NULL\"}," \
    "{\"id\":1,\"name\":\"old\",\"type\":\"INT\"},"        \
    "{\"id\":2,\"name\":\"s\",\"type\":\"VARCHAR(9)\"},"   \
    "{\"id\":3,\"name\":\"c\",\"type\":\"CHAR(4)\"},"      \
    "{\"id\":4,\"name\":\"t\",\"type\":\"INT\"}"
#define FIELDS_1                                           \
    "{\"id\":0,\"name\":\"k\",\"type\":\"INT NOT NULL\"}," \
    "{\"id\":1,\"name\":\"n\",\"type\":\"BIGINT\"},"       \
    "{\"id\":2,\"name\":\"s\",\"type\":\"STRING\"},"       \
    "{\"id\":3,\"name\":\"c\",\"type\":\"CHAR(4)\"},"      \
    "{\"id\":4,\"name\":\"t\",\"type\":\"STRING\"},"       \
    "{\"id\":5,\"name\":\"new\",\"type\":\"INT\"}"

/* A table with a key "k" or without, and what goes by its name. */
typedef struct bed {
    place p;
    sinter_table *table;
    sinter__table_options options;
    sinter__scan_columns columns;
    sinter__arena arena;
    sinter_row_type *stats_type; /* of schema 0, all nullable */
    sinter_row_type *key_type;
    sinter__manifest_entry entries[FILES_MAX];
    const sinter__manifest_entry *order[FILES_MAX];
    size_t count;
} bed;

static void
write_schema(bed *b, int id, const char *fields, bool has_key)
{
    char path[64];
    char text[2048];

    (void)snprintf(path, sizeof path, "t/schema/schema-%d", id);
    (void)snprintf(text, sizeof text,
                   "{\"version\":3,\"id\":%d,\"fields\":[%s],\"highestFieldId\":5,"
                   "\"partitionKeys\":[],\"primaryKeys\":[%s],\"options\":{\"bucket\":\"1\"},"
                   "\"timeMillis\":7}",
                   id, fields, has_key ? "\"k\"" : "");
    place_write(&b->p, path, text);
}

static void
make(bed *b, bool has_key)
{
    static const char stats[] = "[{\"name\":\"k\",\"type\":\"INT\"},"
                                "{\"name\":\"old\",\"type\":\"INT\"},"
                                "{\"name\":\"s\",\"type\":\"STRING\"},"
                                "{\"name\":\"c\",\"type\":\"STRING\"},"
                                "{\"name\":\"t\",\"type\":\"INT\"}]";
    static const char key[] = "[{\"name\":\"k\",\"type\":\"INT\"}]";
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_error err = SINTER_ERROR_INIT;

    memset(b, 0, sizeof *b);
    place_init(&b->p, NULL);
    write_schema(b, 0, FIELDS_0, has_key);
    write_schema(b, 1, FIELDS_1, has_key);
    cr_assert_eq(sinter_table_open(&b->p.env, &config, &b->table, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter__table_options_load(sinter_table_schema(b->table), &b->options, NULL),
                 SINTER_OK);
    b->columns.arena.env = &b->p.env;
    b->arena.env = &b->p.env;
    cr_assert_eq(sinter__scan_columns_init(&b->columns, sinter_table_schema(b->table), &b->options,
                                           NULL, 0, &err),
                 SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_row_type_parse(&b->p.env, stats, sizeof stats - 1, &b->stats_type, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_row_type_parse(&b->p.env, key, sizeof key - 1, &b->key_type, NULL),
                 SINTER_OK);
}

static void
unmake(bed *b)
{
    sinter_row_type_destroy(b->key_type);
    sinter_row_type_destroy(b->stats_type);
    sinter__scan_columns_fini(&b->columns);
    sinter__arena_fini(&b->arena);
    sinter_table_close(b->table);
    place_fini(&b->p);
}

/* A row of metadata, in the arena. */
static sinter_bytes
row_of(bed *b, const sinter_row_type *type, const sinter_datum *values)
{
    sinter_text text;
    sinter_bytes out = {0};
    uint8_t arity[4];

    sinter__put_be32(arity, (uint32_t)sinter_row_type_count(type));
    sinter_text_init(&b->p.env, &text);
    cr_assert_eq(sinter_text_append(&text, arity, sizeof arity, NULL), SINTER_OK);
    cr_assert_eq(sinter_row_encode(type, values, 0, &text, NULL), SINTER_OK);
    cr_assert_eq(sinter__arena_copy(&b->arena, sinter_text_bytes(&text), &out, NULL), SINTER_OK);
    sinter_text_fini(&text);
    return out;
}

static sinter_datum
number(int64_t value)
{
    return (sinter_datum){.as.integer = value};
}

static sinter_datum
text(const char *value)
{
    return (sinter_datum){.as.bytes = {(const uint8_t *)value, strlen(value)}};
}

/* Bounds of a file of schema 0: keys and "old" from min to max; "s", "c" and "t" are fixed. */
typedef struct bounds {
    int64_t min_key;
    int64_t max_key;
    int64_t min_old;
    int64_t max_old;
} bounds;

static sinter__manifest_entry *
add(bed *b, const char *name, const bounds *of)
{
    static const uint8_t no_columns[12];
    static int64_t no_nulls[5];
    sinter__manifest_entry *entry = &b->entries[b->count];
    const sinter_datum low[] = {number(of->min_key), number(of->min_old), text("f"), text("ab  "),
                                number(5)};
    const sinter_datum high[] = {number(of->max_key), number(of->max_old), text("m"), text("ab  "),
                                 number(9)};

    *entry = (sinter__manifest_entry){.kind = SINTER__ENTRY_ADD, .total_buckets = 1};
    entry->partition = (sinter_bytes){no_columns, sizeof no_columns};
    entry->file.file_name = (sinter_bytes){(const uint8_t *)name, strlen(name)};
    entry->file.row_count = 10;
    entry->file.min_key = row_of(b, b->key_type, low);
    entry->file.max_key = row_of(b, b->key_type, high);
    entry->file.value_stats.min_values = row_of(b, b->stats_type, low);
    entry->file.value_stats.max_values = row_of(b, b->stats_type, high);
    entry->file.value_stats.null_counts = (sinter__int64_list){no_nulls, 5};
    entry->file.value_stats.has = SINTER__STATS_HAS_NULL_COUNTS;
    b->order[b->count++] = entry;
    return entry;
}

/* How many files are left? */
static size_t
left(bed *b, const char *where, bool has_unique_keys)
{
    const sinter__bucket_files files = {
        .partition = b->entries[0].partition, .entries = b->order, .count = b->count};
    sinter__prune_plan plan = {
        .table = b->table, .columns = &b->columns, .has_unique_keys = has_unique_keys};
    sinter__bucket_files out;
    sinter__file_pruner *pruner = NULL;
    sinter_predicate *parsed = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    size_t count = 0;

    cr_assert_eq(sinter_predicate_parse(&b->p.env, where, &parsed, &err), SINTER_OK, "%s",
                 err.text);
    cr_assert_eq(sinter__predicate_bind(&b->arena, parsed, sinter_table_schema(b->table)->row_type,
                                        &plan.predicate, &err),
                 SINTER_OK, "%s: %s", where, err.text);
    cr_assert_eq(sinter__file_pruner_create(&plan, &pruner, &err), SINTER_OK);
    cr_assert_eq(sinter__file_pruner_apply(pruner, &files, &out, &err), SINTER_OK, "%s", err.text);
    count = out.count;
    sinter__file_pruner_destroy(pruner);
    sinter_predicate_destroy(parsed);
    return count;
}

Test(table_file_pruner, statistics_are_found_by_the_ids_of_columns_and_believed_where_order_stays)
{
    bed b;

    make(&b, false);
    add(&b, "a.avro", &(bounds){0, 9, 100, 200});
    cr_expect_eq(left(&b, "n = 150", false), 1);
    cr_expect_eq(left(&b, "n = 99", false), 0, "renamed and larger");
    cr_expect_eq(left(&b, "n is null", false), 0);
    cr_expect_eq(left(&b, "s = 'g'", false), 1);
    cr_expect_eq(left(&b, "s > 'm'", false), 0);
    cr_expect_eq(left(&b, "new is null", false), 1, "the file doesn't have the column");
    cr_expect_eq(left(&b, "new = 5", false), 0);
    cr_expect_eq(left(&b, "t = '7'", false), 1);
    cr_expect_eq(left(&b, "t = '10'", false), 1, "texts of numbers have another order");
    cr_expect_eq(left(&b, "c = 'ab'", false), 1, "blanks may be behind bounds of CHAR");
    cr_expect_eq(left(&b, "n = 99 or s = 'g'", false), 1);
    cr_expect_eq(left(&b, "n = 99 and s = 'g'", false), 0);
    unmake(&b);
}

Test(table_file_pruner, dense_statistics_are_found_by_name_and_what_is_missing_is_not_known)
{
    static const sinter_bytes names[] = {{(const uint8_t *)"k", 1},
                                         {(const uint8_t *)"old", 3},
                                         {(const uint8_t *)"s", 1},
                                         {(const uint8_t *)"c", 1},
                                         {(const uint8_t *)"x", 1}};
    sinter__manifest_entry *entry = NULL;
    bed b;

    make(&b, false);
    entry = add(&b, "a.avro", &(bounds){0, 9, 100, 200});
    entry->file.has = SINTER__FILE_HAS_VALUE_STATS_COLS;
    entry->file.value_stats_cols = (sinter__bytes_list){names, 5};
    cr_expect_eq(left(&b, "n = 99", false), 0);
    cr_expect_eq(left(&b, "t is null", false), 1, "no statistics of it");
    entry->file.value_stats_cols = (sinter__bytes_list){names, 0};
    cr_expect_eq(left(&b, "n = 99", false), 1, "the rows have more columns than names");
    entry->file.has = 0;
    entry->file.value_stats = (sinter__simple_stats){.has = 0};
    cr_expect_eq(left(&b, "n = 99", false), 1, "none at all");
    unmake(&b);
}

Test(table_file_pruner, a_negative_number_of_nulls_is_not_known)
{
    static int64_t counts[] = {0, -1, 0, 0, 0};
    bed b;

    make(&b, false);
    add(&b, "a.parquet", &(bounds){0, 9, 100, 200})->file.value_stats.null_counts.items = counts;
    cr_expect_eq(left(&b, "n is null", false), 1);
    cr_expect_eq(left(&b, "s is null", false), 0);
    unmake(&b);
}

Test(table_file_pruner, a_file_that_hides_older_versions_of_its_keys_stays)
{
    bed b;

    make(&b, true);
    add(&b, "newer.avro", &(bounds){0, 9, 500, 600});
    add(&b, "older.avro", &(bounds){9, 20, 100, 200});
    cr_expect_eq(left(&b, "n = 150", false), 2, "key 9 may be newer in the first file");
    cr_expect_eq(left(&b, "n = 150", true), 1, "but not where vectors delete what is older");
    cr_expect_eq(left(&b, "k > 9 and n = 550", false), 0,
                 "the first has no such key, and then nothing is behind the second");
    cr_expect_eq(left(&b, "k < 9", false), 1);
    cr_expect_eq(left(&b, "k = 9", false), 2);
    add(&b, "alone.avro", &(bounds){21, 30, 900, 999});
    cr_expect_eq(left(&b, "n = 150", false), 2, "the third shares no key");
    cr_expect_eq(left(&b, "n = 950", false), 3);
    unmake(&b);
}

Test(table_file_pruner, a_key_that_can_not_be_read_leaves_nothing_out)
{
    sinter__manifest_entry *entry = NULL;
    bed b;

    make(&b, true);
    entry = add(&b, "a.avro", &(bounds){0, 9, 500, 600});
    entry->file.min_key.size = 3;
    cr_expect_eq(left(&b, "k = 50", false), 1);
    cr_expect_eq(left(&b, "n = 5", false), 1);
    unmake(&b);
}
