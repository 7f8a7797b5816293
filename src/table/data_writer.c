#include "table/data_writer.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/binary.h"
#include "sinter/io.h"
#include "table/avro_records.h"
#include "table/columns_reader.h"

enum {
    SYSTEM_COLUMNS = 2,
    /* Appended before the size of the file is looked at again (spec/compaction.md 15.1). Files
     * end there only, so rows of a file count as those of all files of a writer do. */
    LOOK_ROWS = 1000,
    LOOK_ROWS_ORC = 1024,
    AHEAD = 4, /* ranges that are looked at before they are written */
    FAR_AHEAD = 8,
    CACHE_LINE = 64,
    GROUP_RANGES = 256, /* that stay columns, and go to the file together */
    GROUP_ROWS = 4096,  /* not many more than these */
    PAGE_BYTES = 1 << 20,
    SMALL_BYTES = 4 << 20 /* of files whose end pages decide that are not full yet */
};

typedef struct data_writer {
    sinter_writer base;
    const sinter_env *env;
    sinter__data_output output;
    const sinter__write_plan *plan;
    char *path;
    sinter__row_sink *sink;
    sinter__stats_collector *collector;
    sinter__file_index_writer *indexes; /* NULL: the table has none */
    sinter__file_index_made index;
    sinter_datum *values;            /* one per field of the file */
    sinter__record_decoder *decoder; /* of records that are appended as they are */
    size_t wanted_fields;            /* that it decodes: up to the last with statistics */
    sinter__buffer min_key;
    sinter__buffer max_key;
    uint64_t rows;
    uint64_t look_rows;
    uint64_t rows_to_look; /* until the size is looked at, from look_rows down to 1 */
    uint64_t *raw_bytes;   /* one per field, as Parquet's plain encoding has it, of small files */
    uint64_t page_bytes;
    uint64_t retracts;
    int64_t sequence_min;
    int64_t sequence_max;
} data_writer;

static void
data_close(sinter_writer *base)
{
    data_writer *self = (data_writer *)base;

    if (self->sink != NULL) {
        self->sink->close(self->sink);
    }
    sinter__stats_collector_destroy(self->collector);
    sinter__record_decoder_destroy(self->decoder);
    sinter__file_index_writer_close(self->indexes);
    sinter__buffer_fini(self->env, &self->min_key);
    sinter__buffer_fini(self->env, &self->max_key);
    sinter__free(self->env, self->raw_bytes);
    sinter__free(self->env, self->values);
    sinter__free(self->env, self->path);
    sinter__free(self->env, self);
}

/* ---- rows ---- */

/* The values of the file's own columns; the table's follow them. */
static void
set_system(data_writer *self, int64_t sequence, uint8_t kind)
{
    const sinter__write_plan *plan = self->plan;
    sinter_datum *at = self->values;

    for (size_t i = 0; plan->has_key_fields && i < plan->key_count; i++) {
        *at++ = self->values[plan->system_count + plan->keys[i]];
    }
    if (plan->key_count > 0) {
        at[0] = (sinter_datum){.as.integer = sequence};
        at[1] = (sinter_datum){.as.integer = kind};
        at += SYSTEM_COLUMNS;
    }
    assert(at == self->values + plan->system_count);
}

/* The BinaryRow of a row. */
static sinter_bytes
row_of(const sinter_batch *batch, uint32_t row)
{
    if (batch->payload_ops == &sinter__columns_payload_ops) {
        const sinter__columns_payload *payload = batch->payload;

        assert(payload->batch == NULL);
        return payload->rows[row];
    }
    return batch->payload_ops->value(batch, row);
}

static void
count_rows(data_writer *self, uint64_t count)
{
    self->rows += count;
    self->rows_to_look = count < self->rows_to_look
                             ? self->rows_to_look - count
                             : self->look_rows - (count - self->rows_to_look) % self->look_rows;
}

static void
count_row(data_writer *self, int64_t sequence, bool is_retract)
{
    self->retracts += is_retract ? 1 : 0;
    self->sequence_min =
        self->rows == 0 || sequence < self->sequence_min ? sequence : self->sequence_min;
    self->sequence_max =
        self->rows == 0 || sequence > self->sequence_max ? sequence : self->sequence_max;
    count_rows(self, 1);
}

static int64_t
sequence_of(const data_writer *self, const sinter_batch *batch, uint32_t row)
{
    return self->plan->key_count > 0 ? batch->sequences[row]
                                     : self->output.first_sequence + (int64_t)self->rows;
}

/* ---- sizes ---- */

static uint64_t
plain_bytes(const sinter_type *type, const sinter_datum *value)
{
    if (value->is_null) {
        return 0;
    }
    if (sinter__type_is_bytes(type)) {
        return 4 + value->as.bytes.size;
    }
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        return 0; /* a bit */
    case SINTER_TYPE_TINYINT:
    case SINTER_TYPE_SMALLINT:
    case SINTER_TYPE_INT:
    case SINTER_TYPE_DATE:
    case SINTER_TYPE_TIME:
    case SINTER_TYPE_FLOAT:
        return 4;
    case SINTER_TYPE_DECIMAL:
        return type->precision <= 9 ? 4 : type->precision <= 18 ? 8 : 16;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return type->precision > 6 ? 12 : 8;
    default:
        return 8;
    }
}

/* Do pages that are not full yet decide where the file ends? */
static bool
is_small(const data_writer *self, uint64_t stop_bytes)
{
    return self->raw_bytes != NULL && stop_bytes <= SMALL_BYTES;
}

/* What Parquet's writers go by: pages that are done as they are stored, others as they are. */
static uint64_t
bytes_so_far(const data_writer *self, uint64_t stop_bytes)
{
    uint64_t bytes = self->sink->bytes(self->sink);

    for (size_t i = 0; is_small(self, stop_bytes) && i < self->plan->field_count; i++) {
        bytes += self->raw_bytes[i] % self->page_bytes;
    }
    return bytes;
}

static bool
is_large_enough(const data_writer *self, uint64_t stop_bytes)
{
    return self->rows_to_look == self->look_rows && self->rows > 0 &&
           bytes_so_far(self, stop_bytes) >= stop_bytes;
}

static sinter_status
append_row(data_writer *self, const sinter_batch *batch, uint32_t row, sinter_error *err)
{
    const sinter__write_plan *plan = self->plan;
    const size_t columns = plan->field_count - plan->system_count;
    const bool has_key = plan->key_count > 0;
    const int64_t sequence = sequence_of(self, batch, row);
    sinter__slots slots;

    SINTER__CHECK(sinter__slots_of_row(columns, row_of(batch, row), &slots, err));
    for (size_t i = 0; i < columns; i++) {
        SINTER__CHECK(sinter__slots_get(&slots, &plan->fields[plan->system_count + i].type, i,
                                        &self->values[plan->system_count + i], err));
    }
    set_system(self, sequence, has_key ? batch->kinds[row] : SINTER_KIND_INSERT);
    SINTER__CHECK(sinter__stats_collector_add(self->collector, self->values, err));
    if (self->indexes != NULL) {
        SINTER__CHECK(
            sinter__file_index_writer_add(self->indexes, self->values + plan->system_count, err));
    }
    SINTER__CHECK(self->sink->append(self->sink, self->values, err));
    for (size_t i = 0; self->raw_bytes != NULL && i < plan->field_count; i++) {
        self->raw_bytes[i] += plain_bytes(&plan->fields[i].type, &self->values[i]);
    }
    count_row(self, sequence, has_key && sinter_kind_is_retract(batch->kinds[row]));
    return SINTER_OK;
}

/* The same for rows that lie side by side. */
static void
count_range(data_writer *self, const sinter_range *range)
{
    const sinter_batch *batch = range->batch;
    const uint32_t end = range->first + range->count;
    int64_t least = sequence_of(self, batch, range->first);
    int64_t greatest = least;

    if (self->plan->key_count == 0) {
        greatest += (int64_t)range->count - 1;
    }
    for (uint32_t row = range->first; self->plan->key_count > 0 && row < end; row++) {
        least = batch->sequences[row] < least ? batch->sequences[row] : least;
        greatest = batch->sequences[row] > greatest ? batch->sequences[row] : greatest;
        self->retracts += sinter_kind_is_retract(batch->kinds[row]) ? 1 : 0;
    }
    self->sequence_min = self->rows == 0 || least < self->sequence_min ? least : self->sequence_min;
    self->sequence_max =
        self->rows == 0 || greatest > self->sequence_max ? greatest : self->sequence_max;
    count_rows(self, range->count);
}

static sinter_status
keep_key(data_writer *self, sinter__buffer *key, const sinter_batch *batch, uint32_t row,
         sinter_error *err)
{
    const sinter_bytes bytes = sinter_batch_key(batch, row);

    key->size = 0;
    return bytes.size == 0 ? SINTER_OK
                           : sinter__buffer_append(self->env, key, bytes.data, bytes.size, err);
}

static sinter_status
make_decoder(data_writer *self, sinter_error *err)
{
    const sinter__write_plan *plan = self->plan;

    for (size_t i = 0; i < plan->field_count; i++) {
        self->wanted_fields =
            sinter__stats_collector_wants(self->collector, i) ? i + 1 : self->wanted_fields;
    }
    return sinter__record_decoder_create(self->env, plan->fields, plan->field_count, &self->decoder,
                                         err);
}

/* Rows that are records go into the file as they are: those of a range behind the ones that were
 * taken, up to where the size of the file is looked at. */
static sinter_status
append_records(data_writer *self, const sinter_range *range, uint32_t *taken, sinter_error *err)
{
    const uint32_t left = range->count - *taken;
    const sinter_range piece = {.batch = range->batch,
                                .first = range->first + *taken,
                                .count = left < self->rows_to_look ? left
                                                                   : (uint32_t)self->rows_to_look};
    const sinter_bytes *records =
        ((const sinter__records_payload *)range->batch->payload)->rows + piece.first;

    for (uint32_t i = 0; i < piece.count && self->wanted_fields > 0; i++) {
        SINTER__CHECK(sinter__record_decode(self->decoder, records[i], self->wanted_fields,
                                            self->values, err));
        SINTER__CHECK(sinter__stats_collector_add(self->collector, self->values, err));
    }
    SINTER__CHECK(self->sink->append_records(self->sink, records, piece.count, err));
    count_range(self, &piece);
    *taken += piece.count;
    return SINTER_OK;
}

static bool
is_of_columns(const sinter_batch *batch)
{
    return batch->payload_ops == &sinter__columns_payload_ops &&
           ((const sinter__columns_payload *)batch->payload)->batch != NULL;
}

/** Ranges of one batch among some, in a chain. */
typedef struct batch_chain {
    const sinter_batch *batch;
    size_t first;
    size_t last;
} batch_chain;

/* Chain the ranges of each batch; how many batches there are. */
static size_t
chain_ranges(const sinter_range *ranges, size_t count, batch_chain *chains, size_t *next)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        size_t c = 0;

        while (c < found && chains[c].batch != ranges[i].batch) {
            c++;
        }
        if (c == found) {
            chains[found++] = (batch_chain){ranges[i].batch, i, i};
        } else {
            next[chains[c].last] = i;
            chains[c].last = i;
        }
    }
    return found;
}

/* Statistics of the ranges of one batch among some, once for all of them: batches take turns where
 * runs overlap. */
static sinter_status
add_stats(data_writer *self, const sinter_range *ranges, size_t count, sinter_error *err)
{
    batch_chain chains[GROUP_RANGES];
    size_t next[GROUP_RANGES];
    sinter__row_span spans[GROUP_RANGES];
    const size_t batches = chain_ranges(ranges, count, chains, next);

    for (size_t c = 0; c < batches; c++) {
        const sinter__columns_payload *payload = chains[c].batch->payload;
        sinter__stats_rows rows = {
            .cells = payload->cells, .arrays = payload->array->children, .spans = spans};

        for (size_t i = chains[c].first;; i = next[i]) {
            spans[rows.span_count++] =
                (sinter__row_span){(int64_t)(payload->first + ranges[i].first), ranges[i].count};
            if (i == chains[c].last) {
                break;
            }
        }
        SINTER__CHECK(sinter__stats_collector_add_rows(self->collector, &rows, err));
    }
    return SINTER_OK;
}

/* How many ranges from the first on stay columns, and go to the sink together. */
static size_t
group_of(const sinter_range *ranges, size_t count)
{
    uint64_t rows = 0;
    size_t n = 0;

    while (n < count && n < GROUP_RANGES && rows < GROUP_ROWS && is_of_columns(ranges[n].batch)) {
        rows += ranges[n++].count;
    }
    return n;
}

static sinter_status
count_raw(data_writer *self, const sinter_range *range, sinter_error *err)
{
    const sinter__columns_payload *payload = range->batch->payload;

    for (size_t i = 0; i < self->plan->field_count; i++) {
        for (uint32_t row = 0; row < range->count; row++) {
            sinter_datum value = {.is_null = true};

            SINTER__CHECK(sinter__cells_get(&payload->cells[i], payload->array->children[i],
                                            (int64_t)(payload->first + range->first + row), &value,
                                            err));
            self->raw_bytes[i] += plain_bytes(&self->plan->fields[i].type, &value);
        }
    }
    return SINTER_OK;
}

/* Rows that stay columns, all of them. */
static sinter_status
append_columns(data_writer *self, const sinter_range *ranges, size_t count, bool counts_raw,
               sinter_error *err)
{
    sinter__columnar_range columns[GROUP_RANGES];

    if (self->rows == 0) {
        SINTER__CHECK(keep_key(self, &self->min_key, ranges[0].batch, ranges[0].first, err));
    }
    for (size_t i = 0; i < count; i++) {
        const sinter__columns_payload *payload = ranges[i].batch->payload;

        columns[i] = (sinter__columnar_range){.batch = payload->batch,
                                              .first = payload->first + ranges[i].first,
                                              .count = ranges[i].count};
        count_range(self, &ranges[i]);
    }
    SINTER__CHECK(add_stats(self, ranges, count, err));
    for (size_t i = 0; i < count && counts_raw; i++) {
        SINTER__CHECK(count_raw(self, &ranges[i], err));
    }
    return self->sink->append_columns(self->sink, columns, count, err);
}

/* Rows of a range that stay columns, behind those that were taken, up to where the size of the file
 * is looked at. */
static sinter_status
append_piece(data_writer *self, const sinter_range *range, uint32_t *taken, sinter_error *err)
{
    const uint64_t room = self->rows_to_look;
    const uint32_t left = range->count - *taken;
    const sinter_range piece = {.batch = range->batch,
                                .first = range->first + *taken,
                                .count = left < room ? left : (uint32_t)room};

    SINTER__CHECK(append_columns(self, &piece, 1, true, err));
    *taken += piece.count;
    return SINTER_OK;
}

/* A file that is large enough goes on, piece by piece, to where its size is looked at. */
static bool
is_ending(const data_writer *self, uint64_t stop_bytes)
{
    return is_small(self, stop_bytes) || self->sink->bytes(self->sink) >= stop_bytes;
}

/* Append rows of a range until the file is large enough; how many there were. */
static sinter_status
append_range(data_writer *self, const sinter_range *range, uint64_t stop_bytes, uint32_t *taken_out,
             sinter_error *err)
{
    const bool is_of_records = range->batch->payload_ops == &sinter__records_payload_ops;

    *taken_out = 0;
    if (self->rows == 0) {
        SINTER__CHECK(keep_key(self, &self->min_key, range->batch, range->first, err));
    }
    if (is_of_records && self->decoder == NULL) {
        SINTER__CHECK(make_decoder(self, err));
    }
    while (*taken_out < range->count && !is_large_enough(self, stop_bytes)) {
        if (is_of_records) {
            SINTER__CHECK(append_records(self, range, taken_out, err));
            continue;
        }
        if (is_of_columns(range->batch)) {
            SINTER__CHECK(append_piece(self, range, taken_out, err));
            continue;
        }
        SINTER__CHECK(append_row(self, range->batch, range->first + *taken_out, err));
        (*taken_out)++;
    }
    return SINTER_OK;
}

/* The last row that was taken has the greatest key. */
static sinter_status
keep_max_key(data_writer *self, const sinter_range *ranges, size_t taken, uint32_t taken_rows,
             sinter_error *err)
{
    const sinter_range *last = &ranges[taken_rows > 0 ? taken : taken - 1];
    const uint32_t count = taken_rows > 0 ? taken_rows : last->count;

    assert(count > 0);
    return keep_key(self, &self->max_key, last->batch, last->first + count - 1, err);
}

/* Records are scattered over the blocks of all runs: ask for the next ones in time. */
static inline void
look_ahead(const sinter_range *ranges, size_t count, size_t at)
{
    const sinter_range *next = &ranges[at];

    if (next->batch->payload_ops == &sinter__records_payload_ops && at + FAR_AHEAD < count) {
        const sinter__records_payload *near = next[AHEAD].batch->payload;
        const sinter__records_payload *far = next[FAR_AHEAD].batch->payload;

        if (next[AHEAD].batch->payload_ops == &sinter__records_payload_ops) {
            __builtin_prefetch(near->rows[next[AHEAD].first].data);
            __builtin_prefetch(near->rows[next[AHEAD].first].data + CACHE_LINE);
        }
        if (next[FAR_AHEAD].batch->payload_ops == &sinter__records_payload_ops) {
            __builtin_prefetch(&far->rows[next[FAR_AHEAD].first]);
        }
    }
}

/* NOLINTBEGIN(readability-function-size): the vtable says which parameters it has */
static sinter_status
data_append(sinter_writer *base, const sinter_range *ranges, size_t count, uint64_t stop_bytes,
            size_t *taken_out, uint32_t *taken_rows_out, sinter_error *err)
{
    data_writer *self = (data_writer *)base;

    *taken_out = 0;
    *taken_rows_out = 0;
    while (*taken_out < count) {
        const sinter_range *next = &ranges[*taken_out];

        const size_t group = is_of_columns(next->batch) && !is_ending(self, stop_bytes)
                                 ? group_of(next, count - *taken_out)
                                 : 0;
        uint32_t taken = 0;

        assert((next->batch->flags & SINTER_BATCH_STORED) == 0);
        look_ahead(ranges, count, *taken_out);
        if (group > 0) {
            SINTER__CHECK(append_columns(self, next, group, false, err));
            *taken_out += group;
            continue;
        }
        SINTER__CHECK(append_range(self, next, stop_bytes, &taken, err));
        if (taken < next->count) {
            *taken_rows_out = taken;
            break;
        }
        (*taken_out)++;
    }
    return *taken_out == 0 && *taken_rows_out == 0
               ? SINTER_OK
               : keep_max_key(self, ranges, *taken_out, *taken_rows_out, err);
}
/* NOLINTEND(readability-function-size) */

static uint64_t
data_size(const sinter_writer *base)
{
    const data_writer *self = (const data_writer *)base;

    return self->sink->bytes(self->sink);
}

/* ---- the end ---- */

static sinter_status
tell_made(data_writer *self, sinter__arena *arena, sinter_error *err)
{
    const sinter__write_plan *plan = self->plan;
    const size_t columns = plan->field_count - plan->system_count;
    sinter__data_made made = {
        .path = self->path, .row_count = self->rows, .embedded_index = self->index.embedded};
    sinter__stats_result keys;
    sinter__stats_choice choice = {.count = plan->key_count};
    size_t *positions = NULL;

    SINTER__CHECK(sinter__arena_take(arena, (columns + plan->key_count + 1) * sizeof *positions,
                                     (void **)&positions, err));
    choice.positions = positions;
    for (size_t i = 0; i < plan->key_count; i++) {
        positions[i] = plan->has_key_fields ? i : plan->system_count + plan->keys[i];
    }
    SINTER__CHECK(sinter__stats_collector_finish(self->collector, &choice, arena, &keys, err));
    made.key_stats = keys.stats;
    for (size_t i = 0; i < columns; i++) {
        positions[i] = plan->system_count + i;
    }
    choice.count = columns;
    choice.is_dense = plan->stats_dense;
    SINTER__CHECK(
        sinter__stats_collector_finish(self->collector, &choice, arena, &made.value_stats, err));
    return self->output.made(self->output.made_ctx, &made, err);
}

static sinter_status
data_finish(sinter_writer *base, sinter_file_stats *out, sinter_error *err)
{
    data_writer *self = (data_writer *)base;
    sinter__arena arena = {.env = self->env};
    sinter_file_stats stats = {
        .struct_size = (uint32_t)sizeof stats,
        .row_count = self->rows,
        .retract_count = self->retracts,
        .sequence_min = self->sequence_min,
        .sequence_max = self->sequence_max,
        .creation_time_ms = sinter__local_ms(self->env),
        .min_key = {self->min_key.data, self->min_key.size},
        .max_key = {self->max_key.data, self->max_key.size},
    };
    sinter_status st = SINTER_OK;

    if (self->indexes != NULL) {
        SINTER__CHECK(
            sinter__file_index_writer_finish(self->indexes, self->path, &self->index, err));
    }
    st = tell_made(self, &arena, err);
    sinter__arena_fini(&arena);
    SINTER__CHECK(st);
    SINTER__CHECK(self->sink->finish(self->sink, &stats.file_size, err));
    if (self->index.file_name != NULL) {
        sinter__file_index_writer_keep(self->indexes);
        stats.extra_files = &self->index.file_name;
        stats.extra_file_count = 1;
    }
    sinter__struct_store(out, &stats, sizeof stats);
    return SINTER_OK;
}

static const sinter_writer_ops data_ops = {.struct_size = (uint32_t)sizeof(sinter_writer_ops),
                                           .append = data_append,
                                           .size = data_size,
                                           .finish = data_finish,
                                           .close = data_close};

/* ---- opening ---- */

static sinter_status
make_collector(data_writer *self, const sinter__file_form *form, sinter_error *err)
{
    static const sinter__stats_source sources[] = {[SINTER__FILE_AVRO] = SINTER__STATS_OF_AVRO,
                                                   [SINTER__FILE_PARQUET] =
                                                       SINTER__STATS_OF_PARQUET,
                                                   [SINTER__FILE_ORC] = SINTER__STATS_OF_ORC,
                                                   [SINTER__FILE_SST] = SINTER__STATS_OF_AVRO};
    const sinter__write_plan *plan = self->plan;
    sinter__stats_column *columns = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(SINTER__NEW(self->env, columns, plan->field_count, err));
    for (size_t i = 0; i < plan->field_count; i++) {
        const size_t sequence = plan->has_key_fields ? plan->key_count : 0;

        columns[i] = (sinter__stats_column){
            .name = plan->fields[i].name, .type = plan->fields[i].type, .mode = form->modes[i]};
        if (i < plan->system_count && i >= sequence) { /* nobody asks for sequence and kind */
            columns[i].mode = (sinter__stats_mode){.kind = SINTER__STATS_NONE};
        }
    }
    st = sinter__stats_collector_create(self->env, columns, plan->field_count, sources[form->kind],
                                        &self->collector, err);
    sinter__free(self->env, columns);
    return st;
}

static sinter_status
open_parts(data_writer *self, sinter_error *err)
{
    const sinter__write_plan *plan = self->plan;
    const sinter__row_output output = {.path = self->path,
                                       .fields = plan->fields,
                                       .count = plan->field_count,
                                       .form = sinter__write_plan_form(plan, self->output.level),
                                       .io_flags = self->output.direct ? SINTER_IO_DIRECT : 0,
                                       .level = self->output.level,
                                       .plan = plan};

    SINTER__CHECK(SINTER__NEW(self->env, self->values, plan->field_count, err));
    SINTER__CHECK(make_collector(self, output.form, err));
    self->look_rows = output.form->kind == SINTER__FILE_ORC ? LOOK_ROWS_ORC : LOOK_ROWS;
    self->rows_to_look = self->look_rows;
    self->page_bytes = output.form->page_bytes > 0 ? output.form->page_bytes : PAGE_BYTES;
    if (output.form->kind == SINTER__FILE_PARQUET || output.form->kind == SINTER__FILE_ORC) {
        SINTER__CHECK(SINTER__NEW(self->env, self->raw_bytes, plan->field_count, err));
    }
    if (plan->indexes.count > 0) {
        SINTER__CHECK(sinter__file_index_writer_open(
            self->env, &plan->indexes, plan->fields + plan->system_count, &self->indexes, err));
    }
    if (output.form->kind == SINTER__FILE_SST) {
        return sinter__sst_sink_open(self->env, &output, &self->sink, err);
    }
    return output.form->kind == SINTER__FILE_AVRO
               ? sinter__avro_sink_open(self->env, &output, &self->sink, err)
               : sinter__columnar_sink_open(self->env, &output, &self->sink, err);
}

sinter_status
sinter__data_writer_open(const sinter_env *env, const sinter__data_output *output, const char *path,
                         sinter_writer **out, sinter_error *err)
{
    data_writer *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->base.ops = &data_ops;
    self->env = env;
    self->output = *output;
    self->plan = output->plan;
    SINTER__TRY(sinter__strdup(env, path, &self->path, err));
    SINTER__TRY(open_parts(self, err));
    *out = &self->base;
    self = NULL;
out:
    if (self != NULL) {
        data_close(&self->base);
    }
    return st;
}
