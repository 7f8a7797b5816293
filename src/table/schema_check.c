#include "table/schema_check.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compact/parse.h"

enum { AVRO_TIMESTAMP_MAX = 6, AVRO_TIME_MAX = 3, POSTPONE = -2 };

bool
sinter__name_list_next(const char **at, sinter_bytes *out)
{
    const char *name = *at;
    size_t size = 0;

    if (name == NULL) {
        return false;
    }
    name += strspn(name, " \t");
    size = strcspn(name, ",");
    *at = name[size] == ',' ? name + size + 1 : NULL;
    while (size > 0 && (name[size - 1] == ' ' || name[size - 1] == '\t')) {
        size--;
    }
    *out = (sinter_bytes){(const uint8_t *)name, size};
    return true;
}

bool
sinter__name_is(sinter_bytes name, const char *text)
{
    return strlen(text) == name.size && memcmp(text, name.data, name.size) == 0;
}

static bool
has_name(const char *const *names, size_t count, sinter_bytes name)
{
    for (size_t i = 0; i < count; i++) {
        if (sinter__name_is(name, names[i])) {
            return true;
        }
    }
    return false;
}

static const sinter_field *
find_column(const sinter_schema *schema, sinter_bytes name)
{
    const sinter_field *fields = sinter_row_type_fields(schema->row_type);

    for (size_t i = 0; i < sinter_row_type_count(schema->row_type); i++) {
        if (sinter__name_is(name, fields[i].name)) {
            return &fields[i];
        }
    }
    return NULL;
}

/* A list of names, what sinter__name_list_next() left of it, has a name. */
static bool
is_in_list(const char *list, sinter_bytes name)
{
    sinter_bytes other;

    while (sinter__name_list_next(&list, &other)) {
        if (other.size == name.size && memcmp(other.data, name.data, name.size) == 0) {
            return true;
        }
    }
    return false;
}

/* Words of options are the same in any case. */
static bool
option_is(const sinter_schema *schema, const char *key, const char *value)
{
    const char *given = sinter_schema_option(schema, key);

    return given != NULL && strcasecmp(given, value) == 0;
}

/* ---- columns ---- */

static sinter_status
check_names(const sinter_schema *schema, sinter_error *err)
{
    static const char *const system[] = {"_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "_ROW_ID",
                                         "rowkind"};
    static const char prefix[] = "_KEY_";

    for (size_t i = 0; i < sinter_row_type_count(schema->row_type); i++) {
        const char *name = sinter_row_type_column_name(schema->row_type, i);
        const sinter_bytes bytes = {(const uint8_t *)name, strlen(name)};

        if (name[strspn(name, " \t\n\r\f\v")] == '\0') {
            return SINTER__ERR(err, SINTER_E_INVALID, "column %zu: its name is blank", i + 1);
        }
        if (strncmp(name, prefix, sizeof prefix - 1) == 0 ||
            has_name(system, sizeof system / sizeof system[0], bytes)) {
            return SINTER__ERR(err, SINTER_E_INVALID,
                               "column \"%.100s\": files have a column of their own of such a name",
                               name);
        }
    }
    return SINTER_OK;
}

/* Ids of all fields, nested ones as well. */
typedef struct id_list {
    int64_t *items;
    size_t count;
} id_list;

/* Counts where `items` is NULL. Types are at most SINTER_TYPE_DEPTH_MAX deep. */
static void
add_ids(id_list *ids, const sinter_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const sinter_type_parts *parts = fields[i].type.parts;

        if (fields[i].id >= 0) {
            if (ids->items != NULL) {
                ids->items[ids->count] = fields[i].id;
            }
            ids->count++;
        }
        if (parts != NULL) {
            add_ids(ids, parts->fields, parts->count);
        }
    }
}

static int
compare_ids(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static sinter_status
check_ids(const sinter_env *env, const sinter_schema *schema, sinter_error *err)
{
    const sinter_field *fields = sinter_row_type_fields(schema->row_type);
    const size_t columns = sinter_row_type_count(schema->row_type);
    sinter_status st = SINTER_OK;
    id_list ids = {0};

    add_ids(&ids, fields, columns);
    SINTER__CHECK(SINTER__NEW(env, ids.items, ids.count, err));
    ids.count = 0;
    add_ids(&ids, fields, columns);
    qsort(ids.items, ids.count, sizeof *ids.items, compare_ids);
    for (size_t i = 1; i < ids.count && st == SINTER_OK; i++) {
        if (ids.items[i - 1] == ids.items[i]) {
            st = SINTER__ERR(err, SINTER_E_INVALID, "two fields have the id %lld",
                             (long long)ids.items[i]);
        }
    }
    sinter__free(env, ids.items);
    return st;
}

/* ---- formats ---- */

static sinter_status
find_format(const char *key, sinter_bytes name, sinter__data_format *out, sinter_error *err)
{
    static const char *const names[] = {"parquet", "avro", "orc", "sst"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t at = 0;

        while (at < name.size && names[i][at] != '\0' && (name.data[at] | 0x20) == names[i][at]) {
            at++;
        }
        if (at == name.size && names[i][at] == '\0') {
            *out = (sinter__data_format)i;
            return SINTER_OK;
        }
    }
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                       "option %s: no format \"%.*s\"; there are avro, parquet, orc and sst", key,
                       (int)(name.size < 40 ? name.size : 40), (const char *)name.data);
}

/* The first type that files of a format can't have; NULL: none. */
static const sinter_type *
refused_type(const sinter_type *type, sinter__data_format format)
{
    const bool is_avro = format == SINTER__FORMAT_AVRO;

    switch (type->id) {
    case SINTER_TYPE_BLOB:
        return type;
    case SINTER_TYPE_VARIANT:
        return format == SINTER__FORMAT_PARQUET ? NULL : type;
    case SINTER_TYPE_TIME:
        return is_avro && type->precision > AVRO_TIME_MAX ? type : NULL;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return is_avro && type->precision > AVRO_TIMESTAMP_MAX ? type : NULL;
    default:
        break;
    }
    for (size_t i = 0; type->parts != NULL && i < type->parts->count; i++) {
        const sinter_type *refused = refused_type(&type->parts->fields[i].type, format);

        if (refused != NULL) {
            return refused;
        }
    }
    return NULL;
}

static sinter_status
check_types(const sinter_schema *schema, sinter__data_format format, sinter_error *err)
{
    static const char *const names[] = {"Parquet", "Avro", "ORC", "sst"};
    char text[SINTER_TYPE_TEXT_MAX];

    for (size_t i = 0; i < sinter_row_type_count(schema->row_type); i++) {
        const sinter_type *type =
            refused_type(sinter_row_type_column_type(schema->row_type, i), format);

        if (type != NULL) {
            sinter_type_print(type, text);
            return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "column \"%.100s\": %s files have no %s",
                               sinter_row_type_column_name(schema->row_type, i), names[format],
                               text);
        }
    }
    return SINTER_OK;
}

/* "0:avro,5:parquet" */
static sinter_status
check_format_per_level(const sinter_schema *schema, sinter_error *err)
{
    static const char key[] = "file.format.per.level";
    const char *at = sinter_schema_option(schema, key);
    sinter__data_format format = SINTER__FORMAT_PARQUET;
    sinter_bytes item;

    while (at != NULL && at[0] != '\0' && sinter__name_list_next(&at, &item)) {
        const uint8_t *colon = memchr(item.data, ':', item.size);
        sinter_bytes name;

        if (colon == NULL) {
            return SINTER__ERR(err, SINTER_E_INVALID, "option %s: LEVEL:FORMAT expected", key);
        }
        name.data = colon + 1;
        name.size = item.size - (size_t)(name.data - item.data);
        SINTER__CHECK(find_format(key, name, &format, err));
        SINTER__CHECK(check_types(schema, format, err));
    }
    return SINTER_OK;
}

static sinter_status
check_formats(const sinter_schema *schema, sinter_error *err)
{
    const char *name = sinter_schema_option(schema, "file.format");
    sinter__data_format format = SINTER__FORMAT_PARQUET;

    if (name != NULL) {
        SINTER__CHECK(find_format(
            "file.format", (sinter_bytes){(const uint8_t *)name, strlen(name)}, &format, err));
    }
    SINTER__CHECK(check_types(schema, format, err));
    return check_format_per_level(schema, err);
}

/* ---- keys ---- */

static sinter_status
check_key_type(const sinter_schema *schema, const char *what, const char *name, sinter_error *err)
{
    const sinter_field *column =
        find_column(schema, (sinter_bytes){(const uint8_t *)name, strlen(name)});

    if (column == NULL) {
        return SINTER__ERR(err, SINTER_E_INVALID, "%s: there is no column \"%.100s\"", what, name);
    }
    if (column->type.id >= SINTER_TYPE_ARRAY) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "%s: column \"%.100s\" is a %s", what, name,
                           sinter_type_name(column->type.id));
    }
    return SINTER_OK;
}

static sinter_status
check_keys(const sinter_schema *schema, sinter_error *err)
{
    for (size_t i = 0; i < schema->partition_key_count; i++) {
        const char *name = schema->partition_keys[i];

        SINTER__CHECK(check_key_type(schema, "partition", name, err));
        if (has_name(schema->partition_keys, i,
                     (sinter_bytes){(const uint8_t *)name, strlen(name)})) {
            return SINTER__ERR(err, SINTER_E_INVALID, "partition: \"%.100s\" is named twice", name);
        }
    }
    for (size_t i = 0; i < schema->primary_key_count; i++) {
        SINTER__CHECK(check_key_type(schema, "primary key", schema->primary_keys[i], err));
    }
    return SINTER_OK;
}

/* The first partition column that the primary key doesn't have; NULL: none. */
static const char *
partition_column_outside(const sinter_schema *schema)
{
    for (size_t i = 0; schema->primary_key_count > 0 && i < schema->partition_key_count; i++) {
        const char *name = schema->partition_keys[i];

        if (!has_name(schema->primary_keys, schema->primary_key_count,
                      (sinter_bytes){(const uint8_t *)name, strlen(name)})) {
            return name;
        }
    }
    return NULL;
}

static sinter_status
check_partition_in_key(const sinter_schema *schema, const sinter__table_options *options,
                       sinter_error *err)
{
    const char *outside = partition_column_outside(schema);

    if (outside == NULL) {
        if (schema->primary_key_count > 0 &&
            schema->primary_key_count == schema->partition_key_count) {
            return SINTER__ERR(err, SINTER_E_INVALID,
                               "the primary key is the partition: each would have one row");
        }
        return SINTER_OK;
    }
    if (options->bucket != -1) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "the primary key lacks the partition column \"%.100s\": rows of a key "
                           "then may change the partition, which needs dynamic buckets (bucket -1)",
                           outside);
    }
    return options->sequence_field == NULL
               ? SINTER_OK
               : SINTER__ERR(err, SINTER_E_INVALID,
                             "sequence.field: not with a primary key that lacks the partition "
                             "column \"%.100s\"",
                             outside);
}

/* ---- buckets ---- */

static sinter_status
check_bucket_key(const sinter_schema *schema, const char *keys, sinter_error *err)
{
    static const char option[] = "bucket-key";
    sinter_bytes name;

    while (sinter__name_list_next(&keys, &name)) {
        const sinter_field *column = find_column(schema, name);
        const char *why = NULL;

        if (column == NULL) {
            why = "there is no such column";
        } else if (is_in_list(keys, name)) {
            why = "it is named twice";
        } else if (has_name(schema->partition_keys, schema->partition_key_count, name)) {
            why = "it is a partition column";
        } else if (schema->primary_key_count > 0 &&
                   !has_name(schema->primary_keys, schema->primary_key_count, name)) {
            why = "it is not part of the primary key";
        } else if (sinter_type_is_nested(&column->type)) {
            why = "values of its type have no bucket";
        }
        if (why != NULL) {
            return SINTER__ERR(err, SINTER_E_INVALID, "%s: \"%.*s\": %s", option,
                               (int)(name.size < 100 ? name.size : 100), (const char *)name.data,
                               why);
        }
    }
    return SINTER_OK;
}

static sinter_status
check_buckets(const sinter_schema *schema, const sinter__table_options *options, sinter_error *err)
{
    const char *keys = sinter_schema_option(schema, "bucket-key");

    if (options->bucket == POSTPONE && schema->primary_key_count == 0) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "bucket -2 (postponed) needs a primary key; without one it is a number "
                           "of buckets or -1");
    }
    if (options->bucket == -1) {
        if (keys != NULL) {
            return SINTER__ERR(err, SINTER_E_INVALID,
                               "bucket-key needs a number of buckets (option bucket)");
        }
        return schema->primary_key_count == 0 &&
                       sinter_schema_option(schema, "full-compaction.delta-commits") != NULL
                   ? SINTER__ERR(err, SINTER_E_INVALID,
                                 "full-compaction.delta-commits: not without key and buckets")
                   : SINTER_OK;
    }
    if (keys == NULL) {
        return schema->primary_key_count > 0
                   ? SINTER_OK
                   : SINTER__ERR(err, SINTER_E_INVALID,
                                 "bucket %lld without a primary key needs a bucket-key",
                                 (long long)options->bucket);
    }
    return check_bucket_key(schema, keys, err);
}

/* ---- options ---- */

static sinter_status
check_sequence(const sinter_schema *schema, const sinter__table_options *options, sinter_error *err)
{
    const char *at = options->sequence_field;
    sinter_bytes name;

    while (sinter__name_list_next(&at, &name)) {
        const char *why = find_column(schema, name) == NULL ? "there is no such column"
                          : is_in_list(at, name)            ? "it is named twice"
                                                            : NULL;

        if (why == NULL && options->merge_engine == SINTER__ENGINE_FIRST_ROW) {
            why = "merge-engine first-row keeps the first row, whatever the sequence";
        }
        if (why != NULL) {
            return SINTER__ERR(err, SINTER_E_INVALID, "sequence.field: \"%.*s\": %s",
                               (int)(name.size < 100 ? name.size : 100), (const char *)name.data,
                               why);
        }
    }
    return SINTER_OK;
}

static sinter_status
check_changelog(const sinter_schema *schema, const sinter__table_options *options,
                sinter_error *err)
{
    static const char key[] = "changelog-producer";
    static const char *const known[] = {"none", "input", "full-compaction", "lookup"};
    const char *producer = sinter_schema_option(schema, key);
    const bool is_first_row = options->merge_engine == SINTER__ENGINE_FIRST_ROW;
    size_t word = 0;

    while (producer != NULL && word < sizeof known / sizeof known[0] &&
           strcasecmp(known[word], producer) != 0) {
        word++;
    }
    if (word == sizeof known / sizeof known[0]) {
        return SINTER__ERR(err, SINTER_E_INVALID, "option %s: \"%.60s\" is no known value", key,
                           producer);
    }
    if (producer != NULL && !option_is(schema, key, "none")) {
        if (schema->primary_key_count == 0) {
            return SINTER__ERR(err, SINTER_E_INVALID, "%s: not without a primary key", key);
        }
        if (is_first_row && !option_is(schema, key, "lookup")) {
            return SINTER__ERR(err, SINTER_E_INVALID,
                               "%s %.40s: merge-engine first-row has none and lookup only", key,
                               producer);
        }
    }
    if (options->deletion_vectors && is_first_row) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "deletion-vectors.enabled: merge-engine first-row deletes nothing");
    }
    if (options->deletion_vectors && option_is(schema, key, "full-compaction")) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "deletion-vectors.enabled: not with %s full-compaction", key);
    }
    return SINTER_OK;
}

static sinter_status
check_kind_field(const sinter_schema *schema, sinter_error *err)
{
    const char *name = sinter_schema_option(schema, "rowkind.field");

    if (name != NULL &&
        find_column(schema, (sinter_bytes){(const uint8_t *)name, strlen(name)}) == NULL) {
        return SINTER__ERR(err, SINTER_E_INVALID, "rowkind.field: there is no column \"%.100s\"",
                           name);
    }
    return SINTER_OK;
}

/* How many snapshots, and how many changelogs, which are as many unless told else. */
static sinter_status
check_retained(const sinter_schema *schema, sinter_error *err)
{
    static const char *const keys[] = {"snapshot.num-retained.min", "snapshot.num-retained.max",
                                       "changelog.num-retained.min", "changelog.num-retained.max"};
    int64_t values[] = {10, INT64_MAX, 10, INT64_MAX};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = sinter_schema_option(schema, keys[i]);

        values[i] = i < 2 ? values[i] : values[i - 2];
        if (value != NULL &&
            (sinter__parse_int(value, &values[i], NULL) != SINTER_OK || values[i] < 1)) {
            return SINTER__ERR(err, SINTER_E_INVALID, "option %s: \"%.60s\" is no number above 0",
                               keys[i], value);
        }
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i += 2) {
        if (values[i] > values[i + 1]) {
            return SINTER__ERR(err, SINTER_E_INVALID, "option %s is above %s", keys[i],
                               keys[i + 1]);
        }
    }
    return SINTER_OK;
}

/* Tables that track rows, and tables whose files have some of the columns. */
static sinter_status
check_tracking(const sinter_schema *schema, const sinter__table_options *options, sinter_error *err)
{
    if (options->row_tracking && (options->bucket != -1 || schema->primary_key_count > 0)) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "row-tracking.enabled: not with a primary key or buckets");
    }
    if (options->data_evolution && (!options->row_tracking || options->deletion_vectors)) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "data-evolution.enabled: not without row-tracking.enabled, and not "
                           "with deletion-vectors.enabled");
    }
    if (option_is(schema, "clustering.incremental", "true") && options->bucket != -1) {
        return SINTER__ERR(err, SINTER_E_INVALID, "clustering.incremental: not with buckets");
    }
    if (option_is(schema, "streaming-read-overwrite", "true") && schema->primary_key_count == 0) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "streaming-read-overwrite: not without a primary key");
    }
    return SINTER_OK;
}

/* What tells how old rows and partitions are. */
static sinter_status
check_ages(const sinter_schema *schema, sinter_error *err)
{
    const char *name = sinter_schema_option(schema, "record-level.time-field");
    const sinter_field *column = NULL;

    if (schema->partition_key_count == 0 &&
        sinter_schema_option(schema, "partition.expiration-time") != NULL) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "partition.expiration-time: the table has no partitions");
    }
    if (name == NULL || sinter_schema_option(schema, "record-level.expire-time") == NULL) {
        return SINTER_OK;
    }
    column = find_column(schema, (sinter_bytes){(const uint8_t *)name, strlen(name)});
    if (column == NULL) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "record-level.time-field: there is no column \"%.100s\"", name);
    }
    switch (column->type.id) {
    case SINTER_TYPE_INT:
    case SINTER_TYPE_BIGINT:
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return SINTER_OK;
    default:
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "record-level.time-field: column \"%.100s\" is neither INT, BIGINT nor "
                           "TIMESTAMP",
                           name);
    }
}

static sinter_status
check_listed(const sinter_schema *schema, const char *key, const char *list, sinter_error *err)
{
    sinter_bytes name;

    while (sinter__name_list_next(&list, &name)) {
        if (find_column(schema, name) == NULL) {
            return SINTER__ERR(err, SINTER_E_INVALID, "option %.100s: there is no column \"%.*s\"",
                               key, (int)(name.size < 100 ? name.size : 100),
                               (const char *)name.data);
        }
    }
    return SINTER_OK;
}

/* "fields.a,b.sequence-group": options of columns. */
static sinter_status
check_field_options(const sinter_env *env, const sinter_schema *schema,
                    const sinter__table_options *options, sinter_error *err)
{
    static const char prefix[] = "fields.";
    static const char of_all[] = "default-aggregate-function";
    static const char group[] = ".sequence-group";

    for (size_t i = 0; i < schema->option_count; i++) {
        const char *key = schema->options[i].key;
        const char *name = key + sizeof prefix - 1;
        const size_t key_size = strlen(key);
        sinter_status st = SINTER_OK;
        char *names = NULL;
        size_t size = 0;

        if (strncmp(key, prefix, sizeof prefix - 1) != 0 || strcmp(name, of_all) == 0) {
            continue;
        }
        size = strcspn(name, ".");
        SINTER__CHECK(SINTER__NEW(env, names, size + 1, err));
        memcpy(names, name, size);
        names[size] = '\0';
        st = check_listed(schema, key, names, err);
        sinter__free(env, names);
        SINTER__CHECK(st);
        if (options->merge_engine == SINTER__ENGINE_PARTIAL_UPDATE && key_size > sizeof group &&
            strcmp(key + key_size - (sizeof group - 1), group) == 0) {
            SINTER__CHECK(check_listed(schema, key, schema->options[i].value, err));
        }
    }
    return SINTER_OK;
}

sinter_status
sinter__schema_check(const sinter_env *env, const sinter_schema *schema, sinter_error *err)
{
    sinter__table_options options;

    SINTER__CHECK(check_names(schema, err));
    SINTER__CHECK(check_ids(env, schema, err));
    SINTER__CHECK(sinter__table_options_load(schema, &options, err));
    SINTER__CHECK(check_formats(schema, err));
    SINTER__CHECK(check_keys(schema, err));
    SINTER__CHECK(check_partition_in_key(schema, &options, err));
    SINTER__CHECK(check_buckets(schema, &options, err));
    SINTER__CHECK(check_sequence(schema, &options, err));
    SINTER__CHECK(check_changelog(schema, &options, err));
    SINTER__CHECK(check_kind_field(schema, err));
    SINTER__CHECK(check_tracking(schema, &options, err));
    SINTER__CHECK(check_ages(schema, err));
    SINTER__CHECK(check_field_options(env, schema, &options, err));
    return check_retained(schema, err);
}
