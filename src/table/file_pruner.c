#include "table/file_pruner.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "table/metadata_row.h"
#include "table/table.h"

/* A column that the predicate looks at. */
typedef struct pruned_column {
    size_t position; /* in the table's schema */
    size_t key;      /* number among the key columns; SIZE_MAX: none */
    bool is_partition;
    /* In the schema of the files at hand: */
    const sinter_type *file_type; /* NULL: they don't have it */
    const char *file_name;
    size_t file_position;
} pruned_column;

/* A file with its range of encoded keys. */
typedef struct keyed_file {
    const sinter__manifest_entry *entry;
    sinter_bytes min_key;
    sinter_bytes max_key;
    size_t place;
    bool is_alone; /* no other file has a key within its range */
    bool is_dropped;
} keyed_file;

struct sinter__file_pruner {
    sinter__prune_plan plan;
    sinter__arena arena;
    pruned_column *columns;
    size_t column_count;
    bool has_values; /* columns that are neither of the key nor of the partition */
    const sinter_schema *file_schema;
    sinter__column_bounds *bounds; /* one for each column of the table's schema */
    sinter_datum *key_values;
    /* Of a bucket: */
    sinter__arena keys;
    keyed_file *files;
    const sinter__manifest_entry **kept;
    size_t capacity;
};

static bool
has_key(const sinter__file_pruner *self)
{
    return self->plan.columns->key_codec != NULL;
}

/* ---- making ---- */

static size_t
find_key(const sinter__scan_columns *c, size_t position)
{
    for (size_t i = 0; i < c->key_count; i++) {
        if (c->positions[c->keys[i]] == position) {
            return i;
        }
    }
    return SIZE_MAX;
}

static bool
is_partition(const sinter__scan_columns *c, size_t position)
{
    for (size_t i = 0; i < c->schema->partition_key_count; i++) {
        if (c->partition_keys[i] == position) {
            return true;
        }
    }
    return false;
}

static sinter_status
find_columns(sinter__file_pruner *self, sinter_error *err)
{
    const sinter__scan_columns *c = self->plan.columns;
    const size_t count = sinter_row_type_count(c->schema->row_type);
    bool *marks = NULL;

    SINTER__CHECK(sinter__arena_take(&self->arena, count * sizeof *marks, (void **)&marks, err));
    memset(marks, 0, count * sizeof *marks);
    sinter__predicate_mark(self->plan.predicate, marks);
    SINTER__CHECK(sinter__arena_take(&self->arena, count * sizeof *self->columns,
                                     (void **)&self->columns, err));
    SINTER__CHECK(sinter__arena_take(&self->arena, (c->key_count + 1) * sizeof *self->key_values,
                                     (void **)&self->key_values, err));
    SINTER__CHECK(sinter__arena_take(&self->arena, count * sizeof *self->bounds,
                                     (void **)&self->bounds, err));
    memset(self->bounds, 0, count * sizeof *self->bounds);
    for (size_t i = 0; i < count; i++) {
        if (marks[i]) {
            pruned_column *column = &self->columns[self->column_count++];

            *column = (pruned_column){
                .position = i, .key = find_key(c, i), .is_partition = is_partition(c, i)};
            self->has_values |= column->key == SIZE_MAX && !column->is_partition;
        }
    }
    return SINTER_OK;
}

sinter_status
sinter__file_pruner_create(const sinter__prune_plan *plan, sinter__file_pruner **out,
                           sinter_error *err)
{
    const sinter_env *env = plan->table->env;
    sinter__file_pruner *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->plan = *plan;
    self->arena.env = env;
    self->keys.env = env;
    st = find_columns(self, err);
    if (st != SINTER_OK) {
        sinter__file_pruner_destroy(self);
        return st;
    }
    *out = self;
    return SINTER_OK;
}

void
sinter__file_pruner_destroy(sinter__file_pruner *self)
{
    if (self != NULL) {
        const sinter_env *env = self->arena.env;

        sinter__arena_fini(&self->arena);
        sinter__arena_fini(&self->keys);
        sinter__free(env, self->files);
        sinter__free(env, self->kept);
        sinter__free(env, self);
    }
}

/* ---- bounds ---- */

/* Are keys of this type in the order of their values? NaN has no fixed place, and CHAR may have
 * blanks behind it or not. */
static bool
has_sound_order(const sinter_type *type)
{
    return type->id != SINTER_TYPE_FLOAT && type->id != SINTER_TYPE_DOUBLE &&
           type->id != SINTER_TYPE_CHAR;
}

/* The first column of a key lies between those of the first and the last key, and each other one if
 * all before it are the same in both. */
static void
narrow_by_keys(sinter__file_pruner *self, const sinter__data_file *file)
{
    const sinter__scan_columns *c = self->plan.columns;
    sinter__slots min_slots;
    sinter__slots max_slots;

    if (sinter__metadata_row_open(file->min_key, c->key_count, &min_slots, NULL) != SINTER_OK ||
        sinter__metadata_row_open(file->max_key, c->key_count, &max_slots, NULL) != SINTER_OK) {
        return;
    }
    for (size_t i = 0; i < c->key_count; i++) {
        const sinter_field *field = &c->fields[c->keys[i]];
        sinter__column_bounds b = {.has_min = true, .has_max = true};

        if (!has_sound_order(&field->type) ||
            sinter__slots_get(&min_slots, &field->type, i, &b.min, NULL) != SINTER_OK ||
            sinter__slots_get(&max_slots, &field->type, i, &b.max, NULL) != SINTER_OK ||
            b.min.is_null || b.max.is_null) {
            return;
        }
        self->bounds[c->positions[c->keys[i]]] = b;
        if (sinter__datum_compare(&field->type, &b.min, &b.max) != 0) {
            return;
        }
    }
}

static void
set_key_bounds(sinter__file_pruner *self, const sinter__data_file *file)
{
    const sinter__scan_columns *c = self->plan.columns;

    for (size_t i = 0; i < self->column_count; i++) {
        const pruned_column *column = &self->columns[i];

        if (column->key != SIZE_MAX) {
            const sinter_type *type = &c->fields[c->keys[column->key]].type;
            const sinter__stats_column from = {.type = type,
                                               .arity = c->key_count,
                                               .index = column->key,
                                               .row_count = file->row_count};
            sinter__column_bounds *b = &self->bounds[column->position];

            sinter__stats_bounds(&file->key_stats, &from, b);
            if (!has_sound_order(type)) {
                b->has_min = b->has_max = false;
            }
        }
    }
    narrow_by_keys(self, file);
}

/* Find the predicate's columns in the schema that a file was written with. */
static sinter_status
use_schema(sinter__file_pruner *self, int64_t id, sinter_error *err)
{
    const sinter_row_type *table = self->plan.columns->schema->row_type;

    if (self->file_schema != NULL && self->file_schema->id == id) {
        return SINTER_OK;
    }
    self->file_schema = NULL;
    SINTER__CHECK(sinter_table_schema_get(self->plan.table, id, &self->file_schema, err));
    for (size_t i = 0; i < self->column_count; i++) {
        const sinter_field *fields = sinter_row_type_fields(self->file_schema->row_type);
        const size_t count = sinter_row_type_count(self->file_schema->row_type);
        pruned_column *column = &self->columns[i];
        size_t at = 0;

        while (at < count && fields[at].id != sinter_row_type_column_id(table, column->position)) {
            at++;
        }
        column->file_position = at;
        column->file_type = at < count ? &fields[at].type : NULL;
        column->file_name = at < count ? fields[at].name : NULL;
    }
    return SINTER_OK;
}

static bool
is_integer(const sinter_type *type)
{
    return type->id >= SINTER_TYPE_TINYINT && type->id <= SINTER_TYPE_BIGINT;
}

/* Do values keep their order, and nulls their number, when they become those of the table? */
static bool
keeps_order(const sinter_type *from, const sinter_type *to)
{
    if (is_integer(from) && is_integer(to)) {
        return to->id >= from->id;
    }
    if (from->id != to->id) {
        return false;
    }
    return from->id == SINTER_TYPE_VARCHAR
               ? to->precision >= from->precision
               : from->precision == to->precision && from->scale == to->scale;
}

/* Some bounds of ORC files aren't those of the values that are read: CHAR has blanks behind it,
 * zoned times depend on the writer's zone, and seconds before 1970 on its version. */
static bool
is_doubtful(const sinter__data_file *file, const sinter_type *type, const sinter__column_bounds *b)
{
    const bool is_orc = file->file_name.size > 4 &&
                        memcmp(file->file_name.data + file->file_name.size - 4, ".orc", 4) == 0;

    return type->id == SINTER_TYPE_CHAR ||
           (is_orc && (type->id == SINTER_TYPE_TIMESTAMP_LTZ ||
                       (type->id == SINTER_TYPE_TIMESTAMP && b->has_min && b->min.as.integer < 0)));
}

/* Number of a column among names; SIZE_MAX: not there. */
static size_t
find_name(const sinter__bytes_list *names, const char *name)
{
    const sinter_bytes wanted = {(const uint8_t *)name, strlen(name)};

    for (size_t i = 0; i < names->count; i++) {
        if (sinter__key_equal(names->items[i], wanted)) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void
set_value_bounds(sinter__file_pruner *self, const pruned_column *column,
                 const sinter__data_file *file)
{
    const sinter_type *type =
        sinter_row_type_column_type(self->plan.columns->schema->row_type, column->position);
    sinter__column_bounds *b = &self->bounds[column->position];
    sinter__stats_column from = {.type = column->file_type,
                                 .arity = sinter_row_type_count(self->file_schema->row_type),
                                 .index = column->file_position,
                                 .row_count = file->row_count};
    const sinter__bytes_list *names = NULL;

    *b = (sinter__column_bounds){0};
    if (column->file_type == NULL) {
        b->has_null_count = true; /* all are null */
        b->null_count = b->row_count = file->row_count;
        return;
    }
    if ((file->has & SINTER__FILE_HAS_VALUE_STATS_COLS) != 0) {
        names = &file->value_stats_cols;
    } else if ((file->has & SINTER__FILE_HAS_WRITE_COLS) != 0) {
        names = &file->write_cols;
    }
    if (names != NULL) {
        from.arity = names->count;
        from.index = find_name(names, column->file_name);
    }
    if (!keeps_order(column->file_type, type)) {
        return;
    }
    sinter__stats_bounds(&file->value_stats, &from, b);
    if (is_doubtful(file, type, b)) {
        b->has_min = b->has_max = false;
    }
}

static sinter_status
set_all_value_bounds(sinter__file_pruner *self, const sinter__data_file *file, sinter_error *err)
{
    SINTER__CHECK(use_schema(self, file->schema_id, err));
    for (size_t i = 0; i < self->column_count; i++) {
        const pruned_column *column = &self->columns[i];

        if (!column->is_partition && (column->key == SIZE_MAX || !has_key(self))) {
            set_value_bounds(self, column, file);
        }
    }
    return SINTER_OK;
}

static void
forget_value_bounds(sinter__file_pruner *self)
{
    for (size_t i = 0; i < self->column_count; i++) {
        if (!self->columns[i].is_partition) {
            self->bounds[self->columns[i].position] = (sinter__column_bounds){0};
        }
    }
}

/* May a file have rows that are wanted? `by_value`: other columns than those of the key count. */
static sinter_status
may_hold(sinter__file_pruner *self, const sinter__data_file *file, bool by_value, bool *out,
         sinter_error *err)
{
    forget_value_bounds(self);
    if (has_key(self)) {
        set_key_bounds(self, file);
    }
    if (by_value) {
        SINTER__CHECK(set_all_value_bounds(self, file, err));
    }
    *out = sinter__predicate_may_hold(self->plan.predicate, self->bounds);
    return SINTER_OK;
}

/* ---- files that are alone ---- */

static sinter_status
encode_key(sinter__file_pruner *self, sinter_bytes row, sinter_text *text, sinter_bytes *out)
{
    const sinter__scan_columns *c = self->plan.columns;
    sinter__slots slots;

    SINTER__CHECK(sinter__metadata_row_open(row, c->key_count, &slots, NULL));
    for (size_t i = 0; i < c->key_count; i++) {
        SINTER__CHECK(
            sinter__slots_get(&slots, &c->fields[c->keys[i]].type, i, &self->key_values[i], NULL));
    }
    sinter_text_reset(text);
    SINTER__CHECK(sinter_key_encode(c->key_codec, self->key_values, text, NULL));
    return sinter__arena_copy(&self->keys, sinter_text_bytes(text), out, NULL);
}

static int
compare_min_keys(const void *a, const void *b)
{
    return sinter__key_compare(((const keyed_file *)a)->min_key, ((const keyed_file *)b)->min_key);
}

static int
compare_places(const void *a, const void *b)
{
    const size_t x = ((const keyed_file *)a)->place;
    const size_t y = ((const keyed_file *)b)->place;

    return (x > y) - (x < y);
}

/* Sort the files by their keys, and see which share a key with none. Where a key can't be read none
 * is alone: reading the file tells why. */
static sinter_status
find_alone(sinter__file_pruner *self, size_t count)
{
    sinter_bytes end = {0};
    sinter_text text;
    sinter_status st = SINTER_OK;

    sinter_text_init(self->arena.env, &text);
    for (size_t i = 0; i < count; i++) {
        const sinter__data_file *file = &self->files[i].entry->file;

        SINTER__TRY(encode_key(self, file->min_key, &text, &self->files[i].min_key));
        SINTER__TRY(encode_key(self, file->max_key, &text, &self->files[i].max_key));
    }
    if (count > 1) {
        qsort(self->files, count, sizeof *self->files, compare_min_keys);
    }
    for (size_t i = 0; i < count; i++) {
        keyed_file *file = &self->files[i];

        file->is_alone =
            (i == 0 || sinter__key_compare(end, file->min_key) < 0) &&
            (i + 1 == count || sinter__key_compare(file->max_key, file[1].min_key) < 0);
        if (i == 0 || sinter__key_compare(end, file->max_key) < 0) {
            end = file->max_key;
        }
    }
out:
    sinter_text_fini(&text);
    return st;
}

/* Leave out by other columns than those of the key. */
static sinter_status
drop_by_value(sinter__file_pruner *self, size_t count, sinter_error *err)
{
    if (find_alone(self, count) != SINTER_OK) {
        return SINTER_OK;
    }
    for (size_t i = 0; i < count; i++) {
        bool may = true;

        if (self->files[i].is_alone) {
            SINTER__CHECK(may_hold(self, &self->files[i].entry->file, true, &may, err));
            self->files[i].is_dropped = !may;
        }
    }
    if (count > 1) {
        qsort(self->files, count, sizeof *self->files, compare_places);
    }
    return SINTER_OK;
}

/* ---- a bucket ---- */

static sinter_status
make_room(sinter__file_pruner *self, size_t count, sinter_error *err)
{
    const sinter_env *env = self->arena.env;

    if (count > self->capacity) {
        SINTER__CHECK(sinter__resize(env, (void **)&self->files, count, sizeof *self->files, err));
        SINTER__CHECK(sinter__resize(env, (void **)&self->kept, count, sizeof *self->kept, err));
        self->capacity = count;
    }
    return SINTER_OK;
}

sinter_status
sinter__file_pruner_apply(sinter__file_pruner *self, const sinter__bucket_files *files,
                          sinter__bucket_files *out, sinter_error *err)
{
    const sinter__scan_columns *c = self->plan.columns;
    const bool by_value = !has_key(self) || self->plan.has_unique_keys;
    size_t count = 0;

    *out = *files;
    out->count = 0;
    SINTER__CHECK(make_room(self, files->count, err));
    sinter__partition_bounds(c->schema, c->partition_keys, files->partition, self->bounds);
    for (size_t i = 0; i < files->count; i++) {
        bool may = false;

        SINTER__CHECK(may_hold(self, &files->entries[i]->file, by_value, &may, err));
        if (may) {
            self->files[count] = (keyed_file){.entry = files->entries[i], .place = i};
            count++;
        }
    }
    if (self->has_values && !by_value) {
        SINTER__CHECK(drop_by_value(self, count, err));
    }
    for (size_t i = 0; i < count; i++) {
        if (!self->files[i].is_dropped) {
            self->kept[out->count++] = self->files[i].entry;
        }
    }
    sinter__arena_fini(&self->keys);
    out->entries = self->kept;
    return SINTER_OK;
}
