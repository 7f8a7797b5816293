/*
 * Rows into a table: each goes to the writer of its bucket; a commit makes files of what is held
 * and names them in one snapshot.
 */
#include "sinter/table_write.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/env.h"
#include "base/fail.h"
#include "base/fan_out.h"
#include "base/hash.h"
#include "base/load.h"
#include "base/uuid.h"
#include "doc/text.h"
#include "table/bucket_writer.h"
#include "table/commit.h"
#include "table/row_place.h"

enum { OPEN_FILES_MAX = 64, BUCKETS_MIN = 16, BUFFER_BYTES_MIN = 64 << 10 };

/* A bucket that has rows. */
typedef struct target {
    sinter__bucket_writer *writer;
    uint64_t last_used;
    sinter_status status; /* of flushing it */
    sinter_error err;
} target;

struct sinter_table_writer {
    sinter_table *table;
    const sinter_env *env;
    sinter__arena arena;
    const sinter_schema *schema;
    sinter_table_write_options options;
    sinter__table_options table_options;
    sinter__scan_columns columns;
    sinter__write_plan plan;
    sinter__row_place place;
    sinter_compact_options compact;
    sinter__bucket_writer_config config;
    sinter_memory *memory;     /* of write buffers */
    uint64_t reserved;         /* of the environment's budget, for them */
    sinter__live_files *files; /* of the newest snapshot; NULL: nobody asks for them */
    size_t kind_column;        /* rowkind.field; SIZE_MAX: none */
    sinter_datum *defaults;    /* per column; null: none */
    sinter_datum *values;
    sinter_datum *keys;
    sinter_text key;
    sinter_text row;
    sinter_text texts; /* that defaults point into */
    target *targets;
    size_t count;
    size_t capacity;
    size_t *slots; /* by hash of their places: index + 1; 0: free */
    size_t slot_count;
    size_t last; /* target of the row before */
    uint64_t clock;
    uint64_t rows;
    size_t open_files;
    bool was_done;  /* by an earlier commit */
    bool is_failed; /* or committed: nothing but closing is left */
};

/* ---- what can be written ---- */

static sinter_status
check_engine(const sinter_table_writer *self, sinter_error *err)
{
    const sinter__table_options *options = &self->table_options;
    const char *producer = sinter_schema_option(self->schema, "changelog-producer");

    if (options->merge_engine != SINTER__ENGINE_DEDUPLICATE &&
        options->merge_engine != SINTER__ENGINE_FIRST_ROW) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "merge-engine %s can't be written",
                           sinter__merge_engine_name(options->merge_engine));
    }
    if (options->bucket == -1) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "dynamic buckets (bucket -1) can't be written");
    }
    if (options->bucket < 0) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "postponed buckets (bucket -2) can't be written");
    }
    if (producer != NULL && strcmp(producer, "none") != 0) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "changelog-producer %.40s: such tables can't be written", producer);
    }
    return SINTER_OK;
}

static sinter_status
check_table(const sinter_table_writer *self, sinter_error *err)
{
    if (self->table_options.data_evolution) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "data-evolution.enabled: such tables can't be written");
    }
    return self->schema->primary_key_count > 0 ? check_engine(self, err) : SINTER_OK;
}

/* ---- opening ---- */

static sinter_status
set_compact_options(sinter_table_writer *self, sinter_error *err)
{
    static const char *const keys[] = {"merge-engine",
                                       "target-file-size",
                                       "write-buffer-size",
                                       "spill-compression",
                                       "spill-compression.zstd-level",
                                       "sort-engine"};
    const bool has_key = self->schema->primary_key_count > 0;

    sinter_compact_options_init(&self->compact);
    if (!has_key) {
        SINTER__CHECK(
            sinter_compact_options_set(&self->compact, "target-file-size", "256 mb", err));
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = sinter_schema_option(self->schema, keys[i]);

        if (value != NULL) {
            SINTER__CHECK(sinter_compact_options_set(&self->compact, keys[i], value, err));
        }
    }
    return SINTER_OK;
}

/* Memory for rows that wait to be sorted: no more than half of the budget. */
static sinter_status
make_memory(sinter_table_writer *self, sinter_error *err)
{
    const uint64_t limit = sinter_memory_limit(self->env->memory);
    uint64_t bytes = self->options.buffer_bytes != 0 ? self->options.buffer_bytes
                                                     : self->compact.write_buffer_bytes;

    bytes = bytes > limit / 2 ? limit / 2 : bytes;
    bytes = bytes < BUFFER_BYTES_MIN ? BUFFER_BYTES_MIN : bytes;
    if (self->schema->primary_key_count == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter_memory_create(self->env, bytes, &self->memory, err));
    SINTER__CHECK(sinter_memory_reserve(self->env->memory, bytes, err));
    self->reserved = bytes;
    return SINTER_OK;
}

static sinter_status
find_kind_column(sinter_table_writer *self, sinter_error *err)
{
    const char *name = sinter_schema_option(self->schema, "rowkind.field");
    const sinter_type *type = NULL;

    self->kind_column = SIZE_MAX;
    if (name == NULL) {
        return SINTER_OK;
    }
    self->kind_column = sinter_row_type_find(self->schema->row_type, name);
    if (self->kind_column == SIZE_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "rowkind.field: there is no column \"%.100s\"",
                           name);
    }
    type = sinter_row_type_column_type(self->schema->row_type, self->kind_column);
    return type->id == SINTER_TYPE_VARCHAR || type->id == SINTER_TYPE_CHAR
               ? SINTER_OK
               : SINTER__ERR(err, SINTER_E_INVALID, "rowkind.field: column \"%.100s\" is no text",
                             name);
}

static sinter_status
parse_default(sinter_table_writer *self, const sinter_field *field, sinter_datum *out,
              sinter_error *err)
{
    const sinter_column column = {.name = field->name, .type = field->type};
    const sinter_bytes text = {(const uint8_t *)field->default_value, strlen(field->default_value)};
    sinter_bytes copy;
    sinter_status st = SINTER_OK;

    sinter_text_reset(&self->texts);
    st = sinter_datum_parse(&column, text, 0, &self->texts, out, err);
    if (st != SINTER_OK) {
        sinter__fail_context(err, "default value");
        return st;
    }
    if (sinter_type_is_nested(&field->type) || field->type.id >= SINTER_TYPE_CHAR) {
        SINTER__CHECK(sinter__arena_copy(&self->arena, out->as.bytes, &copy, err));
        out->as.bytes = copy;
    }
    return SINTER_OK;
}

static sinter_status
find_defaults(sinter_table_writer *self, sinter_error *err)
{
    const sinter_field *fields = sinter_row_type_fields(self->schema->row_type);
    const size_t count = sinter_row_type_count(self->schema->row_type);

    SINTER__CHECK(SINTER__NEW(self->env, self->defaults, count, err));
    SINTER__CHECK(SINTER__NEW(self->env, self->values, count, err));
    SINTER__CHECK(SINTER__NEW(self->env, self->keys, count, err));
    for (size_t i = 0; i < count; i++) {
        self->defaults[i].is_null = true;
        if (fields[i].default_value != NULL) {
            SINTER__CHECK(parse_default(self, &fields[i], &self->defaults[i], err));
        }
    }
    return SINTER_OK;
}

/* Where sequence numbers go on, and how many buckets partitions have. */
static sinter_status
read_files(sinter_table_writer *self, sinter_error *err)
{
    sinter_snapshot *snapshot = NULL;
    int64_t id = 0;
    sinter_status st = SINTER_OK;

    if (self->place.bucket_type == NULL) {
        return SINTER_OK;
    }
    st = sinter_table_latest_id(self->table, &id, err);
    if (st != SINTER_OK) {
        return st == SINTER_END ? SINTER_OK : st;
    }
    SINTER__CHECK(sinter_table_snapshot_get(self->table, id, &snapshot, err));
    st = sinter__live_files_read(self->table, snapshot, &self->files, err);
    sinter_snapshot_destroy(snapshot);
    return st;
}

/* Who commits, and as which number. */
static sinter_status
find_identity(sinter_table_writer *self, sinter_error *err)
{
    sinter_table_write_options *options = &self->options;
    char uuid[SINTER__UUID_CHARS + 1];
    int64_t last = -1;
    sinter_status st = SINTER_OK;

    if (options->user == NULL) {
        options->identifier = options->has_identifier ? options->identifier : INT64_MAX;
        SINTER__CHECK(sinter__uuid(self->env, (uint64_t)sinter__now_ms(self->env), uuid, err));
        return sinter__arena_strdup(&self->arena, uuid, &options->user, err);
    }
    SINTER__CHECK(sinter__arena_strdup(&self->arena, options->user, &options->user, err));
    if (options->has_identifier && options->identifier == INT64_MAX) {
        return SINTER_OK; /* single commits all have this one */
    }
    st = sinter__commit_last_identifier(self->table, options->user, &last, err);
    if (st != SINTER_OK && st != SINTER_END) {
        return st;
    }
    if (options->has_identifier) {
        self->was_done = st == SINTER_OK && options->identifier <= last;
    } else if (st == SINTER_OK && last == INT64_MAX) {
        options->identifier = INT64_MAX;
    } else {
        options->identifier = st == SINTER_OK ? last + 1 : 1;
    }
    return SINTER_OK;
}

static sinter_status
open_writer(sinter_table_writer *self, sinter_error *err)
{
    SINTER__CHECK(sinter_table_refresh(self->table, err));
    self->schema = sinter_table_schema(self->table);
    SINTER__CHECK(sinter__table_options_load(self->schema, &self->table_options, err));
    SINTER__CHECK(check_table(self, err));
    SINTER__CHECK(sinter__scan_columns_init(&self->columns, self->schema, &self->table_options,
                                            NULL, 0, err));
    SINTER__CHECK(sinter__write_plan_init(&self->plan, self->schema, &self->table_options, err));
    SINTER__CHECK(sinter__row_place_init(&self->place, self->schema, &self->table_options, err));
    SINTER__CHECK(set_compact_options(self, err));
    SINTER__CHECK(find_kind_column(self, err));
    SINTER__CHECK(find_defaults(self, err));
    SINTER__CHECK(find_identity(self, err));
    if (self->was_done) {
        return SINTER_OK;
    }
    SINTER__CHECK(read_files(self, err));
    SINTER__CHECK(make_memory(self, err));
    self->config = (sinter__bucket_writer_config){.table = self->table,
                                                  .options = &self->table_options,
                                                  .columns = &self->columns,
                                                  .plan = &self->plan,
                                                  .compact = &self->compact,
                                                  .memory = self->memory,
                                                  .buffer_bytes = self->reserved,
                                                  .spill_dir = self->options.spill_dir,
                                                  .is_cancelled = self->options.is_cancelled,
                                                  .cancel_ctx = self->options.cancel_ctx};
    return SINTER_OK;
}

sinter_status
sinter_table_writer_open(sinter_table *table, const sinter_table_write_options *options,
                         sinter_table_writer **out, sinter_error *err)
{
    sinter_table_writer *self = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && out != NULL);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(table->env, self, 1, err));
    self->table = table;
    self->env = table->env;
    self->arena.env = self->columns.arena.env = table->env;
    self->plan.arena.env = self->place.arena.env = table->env;
    sinter_text_init(self->env, &self->key);
    sinter_text_init(self->env, &self->row);
    sinter_text_init(self->env, &self->texts);
    self->options.struct_size = (uint32_t)sizeof self->options;
    if (options != NULL) {
        st = sinter__struct_load(&self->options, sizeof self->options, options,
                                 "sinter_table_write_options", err);
    }
    if (st == SINTER_OK && self->options.spill_dir != NULL) {
        st = sinter__arena_strdup(&self->arena, self->options.spill_dir, &self->options.spill_dir,
                                  err);
    }
    if (st == SINTER_OK) {
        st = open_writer(self, err);
    }
    if (st != SINTER_OK) {
        sinter_table_writer_close(self);
        return st;
    }
    *out = self;
    return SINTER_OK;
}

/* Remove files, then directories from the inside out: each was made by one of those below it. */
static void
discard_all(sinter_table_writer *self)
{
    bool is_removed = true;

    for (size_t i = 0; i < self->count; i++) {
        sinter__bucket_writer_discard(self->targets[i].writer);
    }
    while (is_removed) {
        is_removed = false;
        for (size_t i = 0; i < self->count; i++) {
            is_removed |= sinter__bucket_writer_remove_dirs(self->targets[i].writer);
        }
    }
}

void
sinter_table_writer_close(sinter_table_writer *self)
{
    const sinter_env *env = self == NULL ? NULL : self->env;

    if (self == NULL) {
        return;
    }
    discard_all(self);
    for (size_t i = 0; i < self->count; i++) {
        sinter__bucket_writer_destroy(self->targets[i].writer);
    }
    sinter__free(env, self->targets);
    sinter__free(env, self->slots);
    sinter_memory_release(env->memory, self->reserved);
    sinter_memory_destroy(self->memory);
    sinter__live_files_destroy(self->files);
    sinter__free(env, self->defaults);
    sinter__free(env, self->values);
    sinter__free(env, self->keys);
    sinter_text_fini(&self->key);
    sinter_text_fini(&self->row);
    sinter_text_fini(&self->texts);
    sinter__row_place_fini(&self->place);
    sinter__write_plan_fini(&self->plan);
    sinter__scan_columns_fini(&self->columns);
    sinter__arena_fini(&self->arena);
    sinter__free(env, self);
}

const sinter_row_type *
sinter_table_writer_row_type(const sinter_table_writer *self)
{
    return self->schema->row_type;
}

/* ---- targets ---- */

static bool
is_place(const target *at, sinter_bytes partition, int32_t bucket)
{
    const sinter__bucket_place *place = sinter__bucket_writer_place(at->writer);

    return place->bucket == bucket && sinter__key_equal(place->partition, partition);
}

static size_t
slot_of(const sinter_table_writer *self, sinter_bytes partition, int32_t bucket)
{
    const uint64_t hash = sinter__hash_seeded(partition.data, partition.size, (uint64_t)bucket);
    size_t slot = (size_t)hash & (self->slot_count - 1);

    while (self->slots[slot] != 0 &&
           !is_place(&self->targets[self->slots[slot] - 1], partition, bucket)) {
        slot = (slot + 1) & (self->slot_count - 1);
    }
    return slot;
}

/* Room for one more target, and slots that stay half empty. */
static sinter_status
grow_targets(sinter_table_writer *self, sinter_error *err)
{
    const size_t capacity = self->capacity == 0 ? BUCKETS_MIN : self->capacity * 2;
    size_t *slots = NULL;

    if (self->count < self->capacity) {
        return SINTER_OK;
    }
    SINTER__CHECK(
        sinter__resize(self->env, (void **)&self->targets, capacity, sizeof *self->targets, err));
    SINTER__CHECK(SINTER__NEW(self->env, slots, capacity * 2, err));
    sinter__free(self->env, self->slots);
    self->slots = slots;
    self->slot_count = capacity * 2;
    self->capacity = capacity;
    for (size_t i = 0; i < self->count; i++) {
        const sinter__bucket_place *place = sinter__bucket_writer_place(self->targets[i].writer);

        self->slots[slot_of(self, place->partition, place->bucket)] = i + 1;
    }
    return SINTER_OK;
}

/* Position of the first bucket of a partition, or of where it would stand. */
static size_t
first_of_partition(const sinter__bucket_files *buckets, size_t count, sinter_bytes partition)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (sinter__key_compare(buckets[middle].partition, partition) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The number behind the largest of a bucket's files; 0 where there are none. Rows of a partition
 * with another number of buckets would be found by nobody. */
static sinter_status
find_sequence(const sinter_table_writer *self, sinter__bucket_place *place, sinter_error *err)
{
    size_t count = 0;
    const sinter__bucket_files *buckets =
        self->files == NULL ? NULL : sinter__live_files_buckets(self->files, &count);
    int64_t last = -1;

    for (size_t b = first_of_partition(buckets, count, place->partition);
         b < count && sinter__key_equal(buckets[b].partition, place->partition); b++) {
        if (buckets[b].total_buckets > 0 && buckets[b].total_buckets != place->total_buckets) {
            return SINTER__ERR(err, SINTER_E_INVALID,
                               "the partition has %d buckets, the table %d now: it must be "
                               "overwritten first",
                               (int)buckets[b].total_buckets, (int)place->total_buckets);
        }
        for (size_t i = 0; buckets[b].bucket == place->bucket && i < buckets[b].count; i++) {
            const int64_t max = buckets[b].entries[i]->file.max_sequence;

            last = max > last ? max : last;
        }
    }
    place->next_sequence = last == INT64_MAX ? INT64_MAX : last + 1;
    return SINTER_OK;
}

static sinter_status
add_target(sinter_table_writer *self, sinter_bytes partition, int32_t bucket, sinter_error *err)
{
    sinter__bucket_place place = {.partition = partition,
                                  .bucket = bucket,
                                  .total_buckets =
                                      self->place.bucket_type == NULL ? -1 : self->place.buckets};
    target made = {.status = SINTER_OK};

    SINTER__CHECK(grow_targets(self, err));
    SINTER__CHECK(find_sequence(self, &place, err));
    SINTER__CHECK(sinter__bucket_writer_create(&self->config, &place, &made.writer, err));
    self->targets[self->count] = made;
    self->slots[slot_of(self, partition, bucket)] = ++self->count;
    return SINTER_OK;
}

static sinter_status
find_target(sinter_table_writer *self, sinter_bytes partition, int32_t bucket, sinter_error *err)
{
    size_t slot = 0;

    if (self->count > 0 && is_place(&self->targets[self->last], partition, bucket)) {
        return SINTER_OK;
    }
    if (self->count > 0) {
        slot = slot_of(self, partition, bucket);
    }
    if (self->count == 0 || self->slots[slot] == 0) {
        SINTER__CHECK(add_target(self, partition, bucket, err));
        self->last = self->count - 1;
        return SINTER_OK;
    }
    self->last = self->slots[slot] - 1;
    return SINTER_OK;
}

/* ---- rows ---- */

/* The bucket that holds the most. */
static target *
largest_target(sinter_table_writer *self)
{
    target *largest = &self->targets[0];

    for (size_t i = 1; i < self->count; i++) {
        if (sinter__bucket_writer_bytes(self->targets[i].writer) >
            sinter__bucket_writer_bytes(largest->writer)) {
            largest = &self->targets[i];
        }
    }
    return largest;
}

/* Close the file that nobody has written to for the longest time. */
static sinter_status
close_oldest_file(sinter_table_writer *self, sinter_error *err)
{
    target *oldest = NULL;

    for (size_t i = 0; i < self->count; i++) {
        target *at = &self->targets[i];

        if (sinter__bucket_writer_is_open(at->writer) &&
            (oldest == NULL || at->last_used < oldest->last_used)) {
            oldest = at;
        }
    }
    assert(oldest != NULL);
    self->open_files--;
    return sinter__bucket_writer_flush(oldest->writer, err);
}

static sinter_status
put_row(sinter_table_writer *self, uint8_t kind, sinter_error *err)
{
    target *to = &self->targets[self->last];
    const sinter_bytes key = sinter_text_bytes(&self->key);
    const sinter_bytes row = sinter_text_bytes(&self->row);
    const bool was_open = sinter__bucket_writer_is_open(to->writer);
    sinter_status st = SINTER_OK;

    if (self->columns.key_codec == NULL && !was_open && self->open_files == OPEN_FILES_MAX) {
        SINTER__CHECK(close_oldest_file(self, err));
    }
    to->last_used = ++self->clock;
    st = sinter__bucket_writer_put(to->writer, key, kind, row, err);
    while (st == SINTER_END) {
        SINTER__CHECK(sinter__bucket_writer_flush(largest_target(self)->writer, err));
        st = sinter__bucket_writer_put(to->writer, key, kind, row, err);
    }
    self->open_files += !was_open && sinter__bucket_writer_is_open(to->writer) ? 1 : 0;
    return st;
}

static sinter_status
kind_of_text(sinter_bytes text, uint8_t *out, sinter_error *err)
{
    for (int kind = SINTER_KIND_INSERT; kind <= SINTER_KIND_DELETE; kind++) {
        const char *name = sinter_kind_name((uint8_t)kind);

        if (text.size == strlen(name) && memcmp(text.data, name, text.size) == 0) {
            *out = (uint8_t)kind;
            return SINTER_OK;
        }
    }
    return SINTER__ERR(err, SINTER_E_INVALID, "rowkind.field: \"%.*s\" is no kind",
                       (int)(text.size < 40 ? text.size : 40), (const char *)text.data);
}

/* The kind of a row. SINTER_END: the table takes no notice of it. */
static sinter_status
find_kind(const sinter_table_writer *self, uint8_t *kind, sinter_error *err)
{
    const sinter_datum *datum =
        self->kind_column == SIZE_MAX ? NULL : &self->values[self->kind_column];
    bool retracts = false;

    if (datum != NULL && datum->is_null) {
        return SINTER__ERR(err, SINTER_E_INVALID, "rowkind.field: null is no kind");
    }
    if (datum != NULL) {
        SINTER__CHECK(kind_of_text(datum->as.bytes, kind, err));
    }
    retracts = *kind == SINTER_KIND_DELETE || *kind == SINTER_KIND_UPDATE_BEFORE;
    if (!retracts) {
        return SINTER_OK;
    }
    if (self->table_options.ignore_delete ||
        (self->table_options.ignore_update_before && *kind == SINTER_KIND_UPDATE_BEFORE)) {
        return SINTER_END;
    }
    if (self->columns.key_codec == NULL) {
        return SINTER__ERR(err, SINTER_E_INVALID, "%s: a table without a key takes inserts only",
                           sinter_kind_name(*kind));
    }
    return self->table_options.merge_engine == SINTER__ENGINE_FIRST_ROW
               ? SINTER__ERR(err, SINTER_E_RETRACT,
                             "%s: merge-engine first-row takes no deletes, unless ignore-delete is "
                             "set",
                             sinter_kind_name(*kind))
               : SINTER_OK;
}

static sinter_status
encode(sinter_table_writer *self, uint8_t kind, sinter_error *err)
{
    sinter_text_reset(&self->row);
    sinter_text_reset(&self->key);
    SINTER__CHECK(sinter_row_encode(self->schema->row_type, self->values, kind, &self->row, err));
    for (size_t i = 0; i < self->columns.key_count; i++) {
        self->keys[i] = self->values[self->columns.keys[i]];
    }
    return self->columns.key_codec == NULL
               ? SINTER_OK
               : sinter_key_encode(self->columns.key_codec, self->keys, &self->key, err);
}

static sinter_status
prepare(sinter_table_writer *self, uint8_t *kind, sinter_error *err)
{
    sinter_bytes partition;
    int32_t bucket = 0;

    SINTER__CHECK(find_kind(self, kind, err));
    SINTER__CHECK(encode(self, *kind, err));
    SINTER__CHECK(sinter__row_place_find(&self->place, self->values, &partition, &bucket, err));
    return find_target(self, partition, bucket, err);
}

sinter_status
sinter_table_writer_add(sinter_table_writer *self, uint8_t kind, const sinter_datum *values,
                        sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, self != NULL && values != NULL && kind <= SINTER_KIND_DELETE);
    SINTER__REQUIRE(err, !self->is_failed);
    for (size_t i = 0; i < sinter_row_type_count(self->schema->row_type); i++) {
        self->values[i] = values[i].is_null ? self->defaults[i] : values[i];
    }
    if (self->was_done) {
        return SINTER_OK;
    }
    st = prepare(self, &kind, err);
    if (st == SINTER_END) {
        return SINTER_OK;
    }
    if (st == SINTER_OK) {
        st = put_row(self, kind, err);
        self->rows += st == SINTER_OK ? 1 : 0;
        self->is_failed = st != SINTER_OK;
    }
    return st;
}

/* ---- commit ---- */

static void
flush_target(void *ctx, size_t index)
{
    sinter_table_writer *self = ctx;
    target *at = &self->targets[index];

    at->err = (sinter_error)SINTER_ERROR_INIT;
    at->status = sinter__bucket_writer_flush(at->writer, &at->err);
}

/* Make files of everything, side by side where rows are compared by their keys alone: the order by
 * the user's columns has room for one thread. */
static sinter_status
flush_all(sinter_table_writer *self, sinter_error *err)
{
    if (self->columns.order == NULL) {
        sinter__fan_out(self->env, self->count, flush_target, self);
    }
    for (size_t i = 0; i < self->count; i++) {
        if (self->columns.order != NULL) {
            flush_target(self, i);
        }
        if (self->targets[i].status != SINTER_OK) {
            if (err != NULL) {
                *err = self->targets[i].err;
            }
            return self->targets[i].status;
        }
    }
    return SINTER_OK;
}

/* The new files as entries; `*out` and what it points to are the arena's. */
static sinter_status
gather_entries(sinter_table_writer *self, sinter_table_write_result *result,
               const sinter__manifest_entry *const **out, sinter_error *err)
{
    const sinter__manifest_entry **pointers = NULL;
    sinter__manifest_entry *entries = NULL;
    sinter__bucket_source *source = NULL;
    size_t total = 0;
    size_t at = 0;

    for (size_t i = 0; i < self->count; i++) {
        total += sinter__bucket_writer_files(self->targets[i].writer, &source)->count;
    }
    SINTER__CHECK(
        sinter__arena_take(&self->arena, (total + 1) * sizeof *entries, (void **)&entries, err));
    SINTER__CHECK(
        sinter__arena_take(&self->arena, (total + 1) * sizeof(void *), (void **)&pointers, err));
    for (size_t i = 0; i < self->count; i++) {
        const sinter_file_list *files =
            sinter__bucket_writer_files(self->targets[i].writer, &source);

        for (size_t f = 0; f < files->count; f++) {
            SINTER__CHECK(
                sinter__bucket_source_new_file(source, &files->files[f], &entries[at], err));
            pointers[at] = &entries[at];
            at++;
            result->rows += files->files[f].row_count;
            result->bytes += files->files[f].file_size;
        }
        result->buckets += files->count > 0 ? 1 : 0;
    }
    assert(at == total);
    result->files = total;
    *out = pointers;
    return SINTER_OK;
}

static void
keep_files(sinter_table_writer *self)
{
    for (size_t i = 0; i < self->count; i++) {
        sinter__bucket_writer_keep(self->targets[i].writer);
    }
}

static sinter_status
commit(sinter_table_writer *self, sinter_table_write_result *result, sinter_error *err)
{
    sinter__commit_request request = {.user = self->options.user,
                                      .identifier = self->options.identifier,
                                      .kind = SINTER_COMMIT_APPEND,
                                      .is_replay = self->options.identifier != INT64_MAX};
    sinter__commit_outcome outcome = {0};
    sinter_status st = SINTER_OK;

    SINTER__CHECK(flush_all(self, err));
    SINTER__CHECK(gather_entries(self, result, &request.entries, err));
    request.count = result->files;
    if (request.count == 0 && !self->options.has_identifier) {
        result->is_empty = true;
        return SINTER_OK;
    }
    st = sinter__commit(self->table, &request, &outcome, err);
    if ((st == SINTER_OK && !outcome.was_done) || (st != SINTER_OK && outcome.is_unknown)) {
        keep_files(self);
    }
    result->was_done = outcome.was_done;
    result->snapshot_id = outcome.snapshot_id;
    return st;
}

sinter_status
sinter_table_writer_commit(sinter_table_writer *self, sinter_table_write_result *out,
                           sinter_error *err)
{
    sinter_table_write_result result = {.struct_size = (uint32_t)sizeof result, .snapshot_id = -1};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, self != NULL && out != NULL);
    SINTER__REQUIRE(err, !self->is_failed);
    result.identifier = self->options.identifier;
    result.was_done = self->was_done;
    if (!self->was_done) {
        self->is_failed = true;
        st = commit(self, &result, err);
    }
    if (result.was_done) {
        result.rows = result.files = result.bytes = result.buckets = 0;
    }
    if (st == SINTER_OK) {
        sinter__struct_store(out, &result, sizeof result);
    }
    return st;
}
