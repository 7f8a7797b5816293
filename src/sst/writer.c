/*
 * The writer that sinter_format_sst() opens: takes ranges of rows and stored blocks and decides
 * where blocks end and where the file may. Rows are copied into the columns of an open block; the
 * rest is the file's (file_writer.c).
 */
#include "sst/writer.h"

#include <string.h>

#include "base/load.h"
#include "sst/codec.h"
#include "sst/file_writer.h"
#include "sst/filter.h"
#include "sst/properties.h"

typedef struct sst_writer {
    sinter_writer base;
    sinter__file_writer file;
    bool no_pass;
    bool has_refused; /* the last block asked about, because the open one was small */
    bool is_finished;
    sinter_status failed; /* a failed append: the file can't be finished any more */
} sst_writer;

static sst_writer *
self_of(sinter_writer *writer)
{
    return (sst_writer *)(void *)writer;
}

/** Where an append has got to. */
typedef struct progress {
    const sinter_range *ranges;
    size_t count;
    size_t taken;
    uint32_t rows; /* taken of the range `taken` */
    uint64_t stop_bytes;
    bool is_stopped; /* at a block border, with enough bytes */
} progress;

static sinter_status
note_border(sst_writer *self, progress *at, sinter_error *err)
{
    if (self->file.block.rows > 0) {
        return SINTER_OK;
    }
    return sinter__file_writer_has_reached(&self->file, at->stop_bytes, &at->is_stopped, err);
}

/** The next row by itself, whatever its payload. */
static sinter_status
get_row(const sst_writer *self, const sinter_range *range, uint32_t row, sinter__single_row *out,
        sinter_error *err)
{
    const sinter_batch *batch = range->batch;
    const sinter__sst_payload *payload = batch->payload;

    assert(row < batch->row_count);
    assert((batch->flags & SINTER_BATCH_STORED) == 0);
    if (batch->payload_ops == NULL || batch->payload_ops->value == NULL ||
        (batch->payload_ops == &sinter__sst_payload_ops && payload->value_offsets == NULL)) {
        return SINTER__ERR_AT(err, SINTER_E_UNSUPPORTED, self->file.path, -1,
                              "values of format %s can't be written as bytes",
                              batch->payload_ops == NULL ? "?" : batch->payload_ops->format);
    }
    out->key = sinter_batch_key(batch, row);
    out->value = batch->payload_ops->value(batch, row);
    out->sequence = batch->sequences[row];
    out->kind = batch->kinds[row];
    return SINTER_OK;
}

/** Append the next row by itself, or end the block before it. */
static sinter_status
append_row(sst_writer *self, progress *at, sinter_error *err)
{
    const sinter_range *range = &at->ranges[at->taken];
    sinter__single_row row = {.kind = 0};

    assert(at->taken < at->count);
    assert(at->rows < range->count);
    SINTER__CHECK(get_row(self, range, range->first + at->rows, &row, err));
    if (sinter__file_writer_must_end(&self->file, (uint64_t)row.key.size + row.value.size)) {
        SINTER__CHECK(sinter__file_writer_end_block(&self->file, err));
    } else {
        SINTER__CHECK(sinter__file_writer_add(&self->file, &row, err));
        at->rows++;
    }
    return note_border(self, at, err);
}

/** Append rows of one range until it is taken or the file may end. */
static sinter_status
append_range(sst_writer *self, progress *at, sinter_error *err)
{
    const sinter_range *range = &at->ranges[at->taken];
    const bool is_plain = sinter__has_plain_rows(range->batch);
    sinter_status st = SINTER_OK;

    assert(range->count <= range->batch->row_count);
    assert(range->first <= range->batch->row_count - range->count);
    while (st == SINTER_OK && at->rows < range->count && !at->is_stopped) {
        uint32_t fitting = 0;

        if (is_plain) {
            fitting = sinter__open_block_take_rows(
                &self->file.block, range->batch, range->first + at->rows, range->count - at->rows);
            at->rows += fitting;
        }
        if (fitting == 0) {
            st = append_row(self, at, err);
        }
    }
    assert(at->rows <= range->count);
    if (at->rows == range->count) {
        at->taken++;
        at->rows = 0;
    }
    return st;
}

/** Append a stored block as it is, behind the open one. */
static sinter_status
append_stored(sst_writer *self, progress *at, sinter_error *err)
{
    const sinter_range *range = &at->ranges[at->taken];
    const sinter__sst_payload *payload = range->batch->payload;

    assert(at->rows == 0);
    assert((range->batch->flags & SINTER_BATCH_STORED) != 0);
    if (range->batch->payload_ops != &sinter__sst_payload_ops || payload->stored == NULL ||
        range->first != 0 || range->count != range->batch->row_count) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, self->file.path, -1,
                              "a stored block must be an sst block and whole");
    }
    if (payload->format_tag != self->file.format_tag ||
        (payload->filter.size > 0) != (self->file.filter_bits > 0)) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, self->file.path, -1,
                              "a stored block has another format than the file");
    }
    if (self->file.block.rows > 0) {
        SINTER__CHECK(sinter__file_writer_end_block(&self->file, err));
        SINTER__CHECK(note_border(self, at, err));
        if (at->is_stopped) {
            return SINTER_OK;
        }
    }
    SINTER__CHECK(sinter__file_writer_add_stored(&self->file, payload, err));
    at->taken++;
    return note_border(self, at, err);
}

static sinter_status
append_all(sst_writer *self, progress *at, sinter_error *err)
{
    bool is_stored = false;

    /* The append before may have taken its last row at a place where the file may end. */
    if (self->file.blocks > 0) {
        SINTER__CHECK(note_border(self, at, err));
    }
    while (at->taken < at->count && !at->is_stopped) {
        at->taken += sinter__open_block_take(&self->file.block, at->ranges + at->taken,
                                             at->count - at->taken);
        if (at->taken == at->count) {
            break;
        }
        is_stored = (at->ranges[at->taken].batch->flags & SINTER_BATCH_STORED) != 0;
        SINTER__CHECK(is_stored ? append_stored(self, at, err) : append_range(self, at, err));
    }
    return SINTER_OK;
}

/* NOLINTBEGIN(readability-function-size): the vtable says which parameters it has */
static sinter_status
writer_append(sinter_writer *writer, const sinter_range *ranges, size_t count, uint64_t stop_bytes,
              size_t *taken_out, uint32_t *taken_rows_out, sinter_error *err)
{
    sst_writer *self = self_of(writer);
    progress at = {.ranges = ranges, .count = count, .stop_bytes = stop_bytes};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, ranges != NULL || count == 0);
    SINTER__REQUIRE(err, !self->is_finished);
    if (self->failed != SINTER_OK) {
        return SINTER__ERR_AT(err, self->failed, self->file.path, -1,
                              "an earlier append has failed");
    }
    st = append_all(self, &at, err);
    if (st != SINTER_OK) {
        self->failed = st;
        sinter__fail_file(err, self->file.path);
        return st;
    }
    assert(at.taken <= count);
    assert(at.taken == count || at.is_stopped);
    *taken_out = at.taken;
    *taken_rows_out = at.rows;
    return SINTER_OK;
}
/* NOLINTEND(readability-function-size) */

/* Is the open block empty, or large enough to be closed? A small one takes the rows of the block
 * that is asked about, but not twice in a row: blocks of one size leave it as small as it was, and
 * none of them would ever pass. */
static bool
may_close(sst_writer *self)
{
    const bool is_small =
        self->file.block.rows > 0 && self->file.block.raw < self->file.block_bytes / 4;

    self->has_refused = is_small && !self->has_refused;
    return !self->has_refused;
}

/* Worth keeping: a block of at least half the usual size, or the last one, behind an open block
 * that may be closed. Cutting small blocks around it would cost more than it saves. */
static bool
writer_accepts(sinter_writer *writer, const sinter_block_info *info)
{
    sst_writer *self = self_of(writer);

    assert(!self->is_finished);
    return !self->no_pass && info->is_whole && info->format_tag == self->file.format_tag &&
           (info->raw_bytes >= self->file.block_bytes / 2 || info->is_last) && may_close(self);
}

static uint64_t
writer_size(const sinter_writer *writer)
{
    const sst_writer *self = (const sst_writer *)(const void *)writer;

    return sinter__file_writer_size(&self->file);
}

static sinter_status
writer_finish(sinter_writer *writer, sinter_file_stats *out, sinter_error *err)
{
    sst_writer *self = self_of(writer);
    const sinter_sst_properties *sums = &self->file.sums;
    sinter__sst_footer footer = {0};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, !self->is_finished);
    if (self->failed != SINTER_OK) {
        return SINTER__ERR_AT(err, self->failed, self->file.path, -1,
                              "an earlier append has failed");
    }
    st = sinter__file_writer_finish(&self->file, &footer, err);
    if (st != SINTER_OK) {
        self->failed = st;
        sinter__fail_file(err, self->file.path);
        return st;
    }
    self->is_finished = true;
    if (out != NULL) {
        const sinter_file_stats stats = {
            .struct_size = (uint32_t)sizeof stats,
            .file_size = footer.file_size,
            .row_count = sums->row_count,
            .retract_count = sums->retract_count,
            .sequence_min = sums->sequence_min,
            .sequence_max = sums->sequence_max,
            .creation_time_ms = sums->creation_time_ms,
            .min_key = sums->min_key,
            .max_key = sums->max_key,
            .blocks_passed = self->file.blocks_passed,
        };

        sinter__struct_store(out, &stats, sizeof stats);
    }
    return SINTER_OK;
}

static void
writer_close(sinter_writer *writer)
{
    sst_writer *self = self_of(writer);
    const sinter_env *env = self->file.env;

    sinter__file_writer_fini(&self->file);
    sinter__free(env, self);
}

static const sinter_writer_ops writer_ops = {
    .struct_size = (uint32_t)sizeof(sinter_writer_ops),
    .append = writer_append,
    .accepts = writer_accepts,
    .size = writer_size,
    .finish = writer_finish,
    .close = writer_close,
};

static sinter_status
check_options(const sinter_write_options *options, sinter_error *err)
{
    if (options->block_bytes > SINTER_BLOCK_OPTION_BYTES_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "a block size of %u bytes is above 1 GiB",
                           options->block_bytes);
    }
    if (options->filter_bits_per_key > SINTER__FILTER_BITS_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "%u filter bits per key are more than %d",
                           options->filter_bits_per_key, SINTER__FILTER_BITS_MAX);
    }
    if (options->blocks_beside > SINTER__BLOCK_LINE_SLOTS_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "%u blocks on their way are more than %d",
                           options->blocks_beside, SINTER__BLOCK_LINE_SLOTS_MAX);
    }
    SINTER__CHECK(sinter__codec_check(options->codec, err));
    return sinter__codec_check_level(options->codec, options->codec_level, err);
}

sinter_status
sinter__sst_writer_open(void *format, const sinter_env *env, const char *path,
                        const sinter_write_options *given, sinter_writer **out, sinter_error *err)
{
    sinter_write_options options = {.struct_size = (uint32_t)sizeof options};
    sst_writer *self = NULL;
    sinter_status st = SINTER_OK;

    (void)format;
    SINTER__REQUIRE(err, env != NULL && path != NULL && out != NULL);
    *out = NULL;
    if (given != NULL) {
        SINTER__CHECK(
            sinter__struct_load(&options, sizeof options, given, "sinter_write_options", err));
    }
    SINTER__CHECK(check_options(&options, err));
    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->base.ops = &writer_ops;
    self->file.env = env;
    self->no_pass = options.no_pass;
    SINTER__TRY(sinter__file_writer_open(env, path, &options, &self->file, err));
    *out = &self->base;
    self = NULL;
out:
    if (self != NULL) {
        writer_close(&self->base);
        sinter__fail_file(err, path);
    }
    return st;
}

void
sinter__sst_writer_set_page_bytes(sinter_writer *writer, uint32_t page_bytes)
{
    assert(writer->ops == &writer_ops);
    self_of(writer)->file.index.page_bytes = page_bytes;
}

sinter_status
sinter_sst_writer_set_property(sinter_writer *writer, const char *name, const char *value,
                               sinter_error *err)
{
    sst_writer *self = NULL;
    sinter_bytes user = {NULL, 0};

    SINTER__REQUIRE(err, writer != NULL && writer->ops == &writer_ops);
    SINTER__REQUIRE(err, name != NULL && name[0] != '\0' && value != NULL);
    self = self_of(writer);
    SINTER__REQUIRE(err, self->file.blocks == 0 && self->file.block.rows == 0);
    SINTER__REQUIRE(err, !self->is_finished);
    if (strncmp(name, SINTER__SST_OWN_PREFIX, sizeof SINTER__SST_OWN_PREFIX - 1) == 0) {
        return SINTER__ERR(err, SINTER_E_INVALID, "property names with %s are reserved: %s",
                           SINTER__SST_OWN_PREFIX, name);
    }
    user = (sinter_bytes){self->file.user_properties.data, self->file.user_properties.size};
    if (sinter__sst_find_property(user, name) != NULL) {
        return SINTER__ERR(err, SINTER_E_EXISTS, "property %s is set already", name);
    }
    return sinter__sst_put_property(self->file.env, name,
                                    (sinter_bytes){(const uint8_t *)value, strlen(value) + 1},
                                    &self->file.user_properties, err);
}
