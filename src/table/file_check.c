#include "table/file_check.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "doc/binary.h"
#include "doc/text.h"
#include "table/metadata_row.h"
#include "table/schema_check.h"

/* What statistics say of a column, and what was counted. */
typedef struct column_check {
    size_t column; /* of the schema */
    const char *what;
    sinter__column_bounds bounds;
    int64_t nulls;
} column_check;

/* One file under way. */
typedef struct file_check {
    const sinter__file_checker *checker;
    sinter__checked_schema *schema;
    const sinter__manifest_entry *entry;
    const char *path;
    bool is_changelog;
    sinter__arena arena;
    const size_t *written; /* positions of the columns that the file has; NULL: all */
    size_t written_count;
    column_check *columns;
    size_t count;
    sinter_datum *values;
    sinter_text last_key;
    sinter_text first_key;
    int64_t rows;
    int64_t retracts;
    int64_t min_sequence;
    int64_t max_sequence;
} file_check;

#define FAULT(self, err, ...) SINTER__ERR_AT((err), SINTER_E_CORRUPT, (self)->path, -1, __VA_ARGS__)

/* ---- schemas ---- */

static void
schema_destroy(const sinter_env *env, sinter__checked_schema *schema)
{
    sinter__row_place_fini(&schema->place);
    sinter__scan_columns_fini(&schema->columns);
    sinter__free(env, schema);
}

void
sinter__file_checker_fini(sinter__file_checker *self)
{
    while (self->schemas != NULL) {
        sinter__checked_schema *schema = self->schemas;

        self->schemas = schema->next;
        schema_destroy(self->table->env, schema);
    }
}

static sinter_status
fill_schema(sinter_table *table, sinter__checked_schema *out, sinter_error *err)
{
    const sinter_schema *schema = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter_table_schema_get(table, out->id, &schema, err));
    SINTER__CHECK(sinter__table_options_load(schema, &out->options, err));
    SINTER__CHECK(sinter__scan_columns_init(&out->columns, schema, &out->options, NULL, 0, err));
    if (out->options.bucket <= 0 && schema->primary_key_count > 0) {
        return SINTER_OK; /* which bucket a row is in stands in an index, or nowhere */
    }
    st = sinter__row_place_init(&out->place, schema, &out->options, err);
    out->has_place = st == SINTER_OK;
    return st == SINTER_E_UNSUPPORTED ? SINTER_OK : st;
}

static sinter_status
find_schema(sinter__file_checker *self, int64_t id, sinter__checked_schema **out, sinter_error *err)
{
    const sinter_env *env = self->table->env;
    sinter__checked_schema *made = NULL;
    sinter_status st = SINTER_OK;

    for (*out = self->schemas; *out != NULL; *out = (*out)->next) {
        if ((*out)->id == id) {
            return SINTER_OK;
        }
    }
    SINTER__CHECK(SINTER__NEW(env, made, 1, err));
    made->id = id;
    made->columns.arena.env = made->place.arena.env = env;
    sinter_text_init(env, &made->place.partition);
    sinter_text_init(env, &made->place.key);
    st = fill_schema(self->table, made, err);
    if (st != SINTER_OK) {
        schema_destroy(env, made);
        return st;
    }
    made->next = self->schemas;
    self->schemas = made;
    *out = made;
    return SINTER_OK;
}

/* ---- statistics ---- */

/* ORC keeps timestamps by the writer's time zone, their statistics by another. */
static bool
has_odd_bounds(const file_check *self, const sinter_type *type)
{
    const char *dot = strrchr(self->path, '.');

    return (type->id == SINTER_TYPE_TIMESTAMP || type->id == SINTER_TYPE_TIMESTAMP_LTZ) &&
           dot != NULL && strcmp(dot, ".orc") == 0;
}

static sinter_status
add_column(file_check *self, const sinter__simple_stats *stats, size_t column,
           const sinter__stats_column *place, const char *what)
{
    column_check *out = &self->columns[self->count++];

    *out = (column_check){.column = column, .what = what};
    sinter__stats_bounds(stats, place, &out->bounds);
    if (has_odd_bounds(self, place->type)) {
        out->bounds.has_min = out->bounds.has_max = false;
    }
    return SINTER_OK;
}

static size_t
find_column(const sinter_row_type *row_type, sinter_bytes name)
{
    for (size_t i = 0; i < sinter_row_type_count(row_type); i++) {
        const char *column = sinter_row_type_column_name(row_type, i);

        if (sinter__name_is(name, column)) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* A column that row tracking adds to files. */
static bool
is_system_column(sinter_bytes name)
{
    return sinter__name_is(name, "_ROW_ID") || sinter__name_is(name, "_SEQUENCE_NUMBER");
}

/* Positions of the table's columns that a list names. */
static sinter_status
find_columns(file_check *self, const sinter__bytes_list *names, const size_t **out,
             size_t *count_out, sinter_error *err)
{
    const sinter_row_type *row_type = self->schema->columns.schema->row_type;
    size_t *positions = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__arena_take(&self->arena, (names->count + 1) * sizeof *positions,
                                     (void **)&positions, err));
    for (size_t i = 0; i < names->count; i++) {
        const size_t position = find_column(row_type, names->items[i]);

        if (position == SIZE_MAX && !is_system_column(names->items[i])) {
            return FAULT(self, err, "its schema has no column \"%.*s\"",
                         (int)(names->items[i].size < 100 ? names->items[i].size : 100),
                         (const char *)names->items[i].data);
        }
        if (position != SIZE_MAX) {
            positions[count++] = position;
        }
    }
    if (count > sinter_row_type_count(row_type)) {
        return FAULT(self, err, "more columns than its schema has");
    }
    *out = positions;
    *count_out = count;
    return SINTER_OK;
}

static sinter_status
add_value_stats(file_check *self, sinter_error *err)
{
    const sinter__data_file *file = &self->entry->file;
    const sinter_row_type *row_type = self->schema->columns.schema->row_type;
    const size_t count = sinter_row_type_count(row_type);
    const sinter__bytes_list *names = NULL;
    const size_t *known = NULL;
    size_t known_count = 0;

    if ((file->has & SINTER__FILE_HAS_WRITE_COLS) != 0) {
        SINTER__CHECK(
            find_columns(self, &file->write_cols, &self->written, &self->written_count, err));
        names = &file->write_cols;
    }
    if ((file->has & SINTER__FILE_HAS_VALUE_STATS_COLS) != 0) {
        SINTER__CHECK(find_columns(self, &file->value_stats_cols, &known, &known_count, err));
        names = &file->value_stats_cols;
    }
    for (size_t i = 0; i < (names == NULL ? count : names->count); i++) {
        const size_t column = names == NULL ? i : find_column(row_type, names->items[i]);
        sinter__stats_column place = {.arity = names == NULL ? count : names->count,
                                      .index = i,
                                      .row_count = file->row_count};

        if (column != SIZE_MAX) { /* else one of row tracking's */
            place.type = sinter_row_type_column_type(row_type, column);
            SINTER__CHECK(add_column(self, &file->value_stats, column, &place, "statistics"));
        }
    }
    return SINTER_OK;
}

static sinter_status
prepare_stats(file_check *self, sinter_error *err)
{
    const sinter__scan_columns *columns = &self->schema->columns;
    const sinter__data_file *file = &self->entry->file;

    SINTER__CHECK(sinter__arena_take(&self->arena,
                                     (columns->count + columns->key_count) * sizeof *self->columns,
                                     (void **)&self->columns, err));
    SINTER__CHECK(sinter__arena_take(&self->arena, columns->count * sizeof *self->values,
                                     (void **)&self->values, err));
    for (size_t i = 0; i < columns->key_count; i++) {
        const sinter__stats_column place = {.type = &columns->fields[columns->keys[i]].type,
                                            .arity = columns->key_count,
                                            .index = i,
                                            .row_count = file->row_count};

        SINTER__CHECK(
            add_column(self, &file->key_stats, columns->keys[i], &place, "statistics of the key"));
    }
    return add_value_stats(self, err);
}

static bool
is_nan(const sinter_type *type, const sinter_datum *value)
{
    float number = 0;
    double wide = 0;

    if (type->id == SINTER_TYPE_FLOAT) {
        memcpy(&number, &value->as.float_bits, sizeof number);
        return isnan(number) != 0;
    }
    memcpy(&wide, &value->as.double_bits, sizeof wide);
    return type->id == SINTER_TYPE_DOUBLE && isnan(wide) != 0;
}

/* Blanks at the end of a CHAR are padding. */
static sinter_datum
without_padding(const sinter_type *type, const sinter_datum *value)
{
    sinter_datum out = *value;

    while (type->id == SINTER_TYPE_CHAR && out.as.bytes.size > 0 &&
           out.as.bytes.data[out.as.bytes.size - 1] == ' ') {
        out.as.bytes.size--;
    }
    return out;
}

static sinter_status
check_value(file_check *self, column_check *column, sinter_error *err)
{
    const sinter_field *field = &self->schema->columns.fields[column->column];
    const sinter_datum *value = &self->values[column->column];
    const sinter__column_bounds *bounds = &column->bounds;
    sinter_datum plain;
    sinter_datum bound;
    const char *why = NULL;

    if (value->is_null) {
        column->nulls++;
        return SINTER_OK;
    }
    if ((!bounds->has_min && !bounds->has_max) || is_nan(&field->type, value)) {
        return SINTER_OK;
    }
    plain = without_padding(&field->type, value);
    if (bounds->has_min && !is_nan(&field->type, &bounds->min)) {
        bound = without_padding(&field->type, &bounds->min);
        why = sinter__datum_compare(&field->type, &plain, &bound) < 0 ? "below the smallest" : NULL;
    }
    if (why == NULL && bounds->has_max && !is_nan(&field->type, &bounds->max)) {
        bound = without_padding(&field->type, &bounds->max);
        why = sinter__datum_compare(&field->type, &plain, &bound) > 0 ? "above the largest" : NULL;
    }
    return why == NULL
               ? SINTER_OK
               : FAULT(self, err, "row %" PRId64 ", column \"%.100s\": a value %s of the %s",
                       self->rows, field->name, why, column->what);
}

/* ---- rows ---- */

static sinter_status
check_key(file_check *self, sinter_bytes key, sinter_error *err)
{
    if (self->rows == 0) {
        SINTER__CHECK(sinter_text_append(&self->first_key, key.data, key.size, err));
    } else if (!self->is_changelog &&
               sinter__key_compare(key, sinter_text_bytes(&self->last_key)) <= 0) {
        return FAULT(self, err, "row %" PRId64 ": its key isn't above the one before", self->rows);
    }
    sinter_text_reset(&self->last_key);
    return sinter_text_append(&self->last_key, key.data, key.size, err);
}

static sinter_status
check_place(file_check *self, sinter_error *err)
{
    sinter__row_place *place = &self->schema->place;
    const sinter__manifest_entry *entry = self->entry;
    sinter_bytes partition;
    int32_t bucket = 0;

    if (!self->schema->has_place) {
        return SINTER_OK;
    }
    place->buckets = entry->total_buckets > 0 ? entry->total_buckets : place->buckets;
    SINTER__CHECK(sinter__row_place_find(place, self->values, &partition, &bucket, err));
    if (!sinter__key_equal(partition, entry->partition)) {
        return FAULT(self, err, "row %" PRId64 " is of another partition", self->rows);
    }
    return place->bucket_type == NULL || bucket == entry->bucket
               ? SINTER_OK
               : FAULT(self, err, "row %" PRId64 " is of bucket %d, not %d", self->rows,
                       (int)bucket, (int)entry->bucket);
}

static sinter_status
check_row(file_check *self, const sinter_batch *batch, uint32_t row, sinter_error *err)
{
    const sinter__scan_columns *columns = &self->schema->columns;
    const int64_t sequence = batch->sequences[row];
    sinter__slots slots;

    SINTER__CHECK(
        sinter__slots_of_row(columns->count, batch->payload_ops->value(batch, row), &slots, err));
    for (size_t i = 0; i < columns->count; i++) {
        SINTER__CHECK(
            sinter__slots_get(&slots, &columns->fields[i].type, i, &self->values[i], err));
    }
    for (size_t i = 0; i < self->count; i++) {
        SINTER__CHECK(check_value(self, &self->columns[i], err));
    }
    if (columns->key_codec != NULL) {
        SINTER__CHECK(check_key(self, sinter_batch_key(batch, row), err));
    }
    SINTER__CHECK(check_place(self, err));
    self->min_sequence =
        self->rows == 0 || sequence < self->min_sequence ? sequence : self->min_sequence;
    self->max_sequence =
        self->rows == 0 || sequence > self->max_sequence ? sequence : self->max_sequence;
    self->retracts +=
        batch->kinds[row] == SINTER_KIND_DELETE || batch->kinds[row] == SINTER_KIND_UPDATE_BEFORE
            ? 1
            : 0;
    self->rows++;
    return SINTER_OK;
}

static sinter_status
read_rows(file_check *self, sinter_error *err)
{
    const sinter__file_checker *checker = self->checker;
    const sinter__data_input input = {.path = self->path,
                                      .row_type = self->schema->columns.schema->row_type,
                                      .columns = self->written,
                                      .column_count = self->written_count,
                                      .checks_texts = true};
    const sinter_read_options options = {.struct_size = (uint32_t)sizeof options,
                                         .expected_file_bytes =
                                             (uint64_t)self->entry->file.file_size};
    const sinter_batch *batch = NULL;
    sinter_reader *reader = NULL;
    sinter_status st = sinter__data_reader_open(checker->table->env, &self->schema->columns.plan,
                                                &input, &options, &reader, err);

    while (st == SINTER_OK) {
        st = reader->ops->next(reader, &batch, err);
        for (uint32_t i = 0; st == SINTER_OK && i < batch->row_count; i++) {
            st = check_row(self, batch, i, err);
        }
        if (st == SINTER_OK && checker->is_cancelled != NULL &&
            checker->is_cancelled(checker->cancel_ctx)) {
            st = SINTER__ERR(err, SINTER_E_CANCELLED, "cancelled");
        }
    }
    if (reader != NULL) {
        reader->ops->close(reader);
    }
    return st == SINTER_END ? SINTER_OK : st;
}

/* ---- what is left to compare ---- */

sinter_status
sinter__metadata_key_encode(const sinter__scan_columns *columns, sinter_bytes row, sinter_text *out,
                            sinter_error *err)
{
    const sinter_env *env = columns->arena.env;
    sinter_datum *values = NULL;
    sinter__slots slots;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__metadata_row_open(row, columns->key_count, &slots, err));
    SINTER__CHECK(SINTER__NEW(env, values, columns->key_count, err));
    for (size_t i = 0; i < columns->key_count; i++) {
        SINTER__TRY(
            sinter__slots_get(&slots, &columns->fields[columns->keys[i]].type, i, &values[i], err));
    }
    st = sinter_key_encode(columns->key_codec, values, out, err);
    if (st == SINTER_E_INVALID) {
        st = SINTER__ERR(err, SINTER_E_CORRUPT, "a key that is none");
    }
out:
    sinter__free(env, values);
    return st;
}

static sinter_status
check_bound(file_check *self, sinter_bytes said, const sinter_text *found, const char *what,
            sinter_error *err)
{
    sinter_text key;
    sinter_status st = SINTER_OK;

    sinter_text_init(self->arena.env, &key);
    st = sinter__metadata_key_encode(&self->schema->columns, said, &key, err);
    if (st == SINTER_OK && !sinter__key_equal(sinter_text_bytes(&key), sinter_text_bytes(found))) {
        st = FAULT(self, err, "its %s key isn't the one on record", what);
    }
    sinter_text_fini(&key);
    return st;
}

static sinter_status
check_counts(file_check *self, sinter_error *err)
{
    const sinter__data_file *file = &self->entry->file;

    if (self->rows != file->row_count) {
        return FAULT(self, err, "%" PRId64 " rows, %" PRId64 " on record", self->rows,
                     file->row_count);
    }
    if ((file->has & SINTER__FILE_HAS_DELETE_ROW_COUNT) != 0 &&
        self->retracts != file->delete_row_count) {
        return FAULT(self, err, "%" PRId64 " rows delete, %" PRId64 " on record", self->retracts,
                     file->delete_row_count);
    }
    for (size_t i = 0; i < self->count; i++) {
        const column_check *column = &self->columns[i];

        if (column->bounds.has_null_count && column->bounds.null_count != column->nulls) {
            return FAULT(self, err, "column \"%.100s\": %" PRId64 " nulls, %" PRId64 " in the %s",
                         self->schema->columns.fields[column->column].name, column->nulls,
                         column->bounds.null_count, column->what);
        }
    }
    return SINTER_OK;
}

static sinter_status
check_keys(file_check *self, sinter_error *err)
{
    const sinter__data_file *file = &self->entry->file;

    if (self->schema->columns.key_codec == NULL || self->rows == 0 || self->is_changelog) {
        return SINTER_OK;
    }
    SINTER__CHECK(check_bound(self, file->min_key, &self->first_key, "first", err));
    SINTER__CHECK(check_bound(self, file->max_key, &self->last_key, "last", err));
    return self->min_sequence == file->min_sequence && self->max_sequence == file->max_sequence
               ? SINTER_OK
               : FAULT(self, err,
                       "sequence numbers %" PRId64 " to %" PRId64 ", %" PRId64 " to %" PRId64
                       " on record",
                       self->min_sequence, self->max_sequence, file->min_sequence,
                       file->max_sequence);
}

sinter_status
sinter__file_check(sinter__file_checker *checker, const sinter__manifest_entry *entry,
                   const char *path, bool is_changelog, sinter_error *err)
{
    const sinter_env *env = checker->table->env;
    file_check self = {.checker = checker,
                       .entry = entry,
                       .path = path,
                       .is_changelog = is_changelog,
                       .arena.env = env};
    sinter_status st = SINTER_OK;

    sinter_text_init(env, &self.first_key);
    sinter_text_init(env, &self.last_key);
    SINTER__TRY(find_schema(checker, entry->file.schema_id, &self.schema, err));
    SINTER__TRY(prepare_stats(&self, err));
    SINTER__TRY(read_rows(&self, err));
    SINTER__TRY(check_counts(&self, err));
    SINTER__TRY(check_keys(&self, err));
out:
    checker->rows += (uint64_t)self.rows;
    if (st != SINTER_OK) {
        sinter__fail_file(err, path);
    }
    sinter_text_fini(&self.first_key);
    sinter_text_fini(&self.last_key);
    sinter__arena_fini(&self.arena);
    return st;
}
