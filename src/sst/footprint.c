/*
 * Sums of the buffers that reader.c, span.c, block.c and index_cursor.c hold at once, and of those
 * of writer.c, at their largest. Bounds rather than guesses: what is said here is enough.
 */
#include "sst/footprint.h"

#include "base/load.h"
#include "sst/block.h"
#include "sst/block_line.h"
#include "sst/codec.h"
#include "sst/filter.h"
#include "sst/sink.h"

enum {
    ROW_BYTES_READ = 8 + 8 + 4 + 4 + 4 + 1,    /* columns of a decoded block */
    ROW_BYTES_WRITTEN = 8 + 4 + 4 + 1 + 8 + 4, /* of an open one, and what encoding it takes */
    ROWS_OPEN_MIN = 1024,
    DOUBLED_BELOW_BYTES = 1 << 20 /* buffers that grow may be twice as large as needed below */
};

static uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Sizes come from properties that nobody vouches for: no sum of them passes 2^64. */
static uint64_t
room(uint64_t size)
{
    return sinter__scratch_room((size_t)smaller(size, (uint64_t)1 << 40));
}

uint32_t
sinter__sst_read_bytes(const sinter_read_options *options)
{
    uint32_t bytes = options->read_bytes;

    if (!options->direct) {
        return bytes == 0 ? SINTER__SST_READ_BYTES_DEFAULT : bytes;
    }
    bytes = bytes == 0 ? SINTER__SST_DIRECT_READ_BYTES_DEFAULT : bytes;
    return bytes > 2 * SINTER__SST_DIRECT_ROOM ? bytes - SINTER__SST_DIRECT_ROOM : bytes;
}

/** Two spans; both together hold no more than all blocks. */
static uint64_t
span_bytes(const sinter_sst_properties *properties, const sinter_read_options *options)
{
    const uint64_t more = SINTER__SST_SLACK_BYTES + (options->direct ? SINTER__SST_DIRECT_ROOM : 0);
    const uint64_t span = larger(properties->largest_block, sinter__sst_read_bytes(options));
    const uint64_t all = properties->stored_bytes;

    if (all <= span) {
        return room(all + more);
    }
    return smaller(2 * room(span + more), 2 * room(smaller(all, UINT64_MAX / 2) / 2 + more));
}

/** Leaf pages with their entries, and a page of each level above. */
static uint64_t
index_bytes(const sinter__sst_file *file)
{
    const uint64_t page = file->properties.largest_page;
    const uint64_t entries = page / SINTER__SST_ENTRY_BYTES + 1;
    const uint64_t upper = file->footer.level_count - 1;
    const uint64_t leaf =
        room(page + SINTER__SST_SLACK_BYTES) + room(entries * sizeof(sinter__sst_entry));

    return (upper == 0 ? 1 : 2) * leaf + (upper + 1) * room(page + SINTER__SST_SLACK_BYTES);
}

/** The filter section of a leaf page, which blocks that are passed on take along. */
static uint64_t
filter_bytes(const sinter_sst_properties *properties)
{
    const uint64_t blocks = properties->largest_page / SINTER__SST_ENTRY_BYTES + 1;
    uint64_t one = 0;

    if (properties->filter_bits_per_key == 0) {
        return 0;
    }
    one = sinter__filter_bytes(properties->largest_block_rows, properties->filter_bits_per_key);
    return room(smaller(blocks * one, SINTER__SST_FILTER_TARGET_BYTES + one));
}

/** Columns of the decoded block and, with a codec, its raw parts. */
static uint64_t
block_bytes(const sinter_sst_properties *properties)
{
    uint64_t bytes = room(((uint64_t)properties->largest_block_rows + 2) * ROW_BYTES_READ);

    if ((properties->features_incompatible & SINTER__SST_INCOMPATIBLE_FRONT_CODING) != 0) {
        bytes += room(properties->largest_key_part + SINTER__SST_SLACK_BYTES);
    }
    if (properties->codec != SINTER_CODEC_NONE) {
        bytes += room(properties->largest_key_part + SINTER__SST_SLACK_BYTES) +
                 room(properties->largest_value_part + SINTER__SST_SLACK_BYTES);
    }
    return bytes + sinter__codec_decoder_bytes(properties->codec);
}

uint64_t
sinter__sst_reader_bytes(const sinter__sst_file *file, const sinter_read_options *options)
{
    const uint64_t keys = room(options->has_begin_key ? options->begin_key.size + 1 : 0) * 2 +
                          room(options->has_end_key ? options->end_key.size + 1 : 0);

    assert(file->properties.largest_block > 0 && file->properties.largest_block_rows > 0);
    assert(file->footer.level_count > 0);
    assert(file->tail.capacity > 0 && file->section.capacity > 0);
    return span_bytes(&file->properties, options) + block_bytes(&file->properties) +
           index_bytes(file) + filter_bytes(&file->properties) + keys + file->tail.capacity +
           file->section.capacity;
}

/** Has the file all of the properties that this rests on? A file without rows has none. */
static bool
says_what_it_takes(const sinter_sst_properties *properties)
{
    return properties->largest_block > 0 && properties->largest_block_rows > 0 &&
           properties->largest_key_part > 0 && properties->largest_page > 0;
}

sinter_status
sinter__sst_measure(void *format, const sinter_env *env, const char *path,
                    const sinter_read_options *given, sinter_footprint *out, sinter_error *err)
{
    sinter_read_options options = {.struct_size = (uint32_t)sizeof options};
    const sinter__sst_open_options open_options = {.flags = SINTER_IO_SEQUENTIAL};
    sinter_footprint found = {.struct_size = (uint32_t)sizeof found};
    sinter__sst_file file = {.env = NULL};
    sinter_status st = SINTER_OK;

    (void)format;
    SINTER__REQUIRE(err, env != NULL && path != NULL && out != NULL);
    if (given != NULL) {
        SINTER__CHECK(
            sinter__struct_load(&options, sizeof options, given, "sinter_read_options", err));
    }
    SINTER__TRY(sinter__sst_file_open(env, path, &open_options, &file, err));
    if (!says_what_it_takes(&file.properties)) {
        st = SINTER_END;
        goto out;
    }
    found.block_rows = file.properties.largest_block_rows;
    found.key_part_bytes = file.properties.largest_key_part;
    found.value_part_bytes = file.properties.largest_value_part;
    found.rows_bytes = file.properties.raw_key_bytes + file.properties.raw_value_bytes;
    found.reader_bytes = sinter__sst_reader_bytes(&file, &options);
    sinter__struct_store(out, &found, sizeof found);
out:
    sinter__sst_file_close(&file);
    return st;
}

/** A buffer that grows to `size`. */
static uint64_t
grown(uint64_t size)
{
    const uint64_t most = (uint64_t)2 * DOUBLED_BELOW_BYTES; /* that doubling leads to */

    return size < DOUBLED_BELOW_BYTES ? smaller(2 * room(size), most) : larger(room(size), most);
}

uint64_t
sinter__sst_writer_bytes(void *format, const sinter_write_options *options,
                         const sinter_footprint *blocks)
{
    const uint64_t wanted =
        options->block_bytes == 0 ? SINTER__SST_BLOCK_BYTES_DEFAULT : options->block_bytes;
    const uint64_t target = blocks->rows_bytes == 0 ? wanted : smaller(wanted, blocks->rows_bytes);
    const uint64_t key_part = smaller(blocks->key_part_bytes, SINTER_BLOCK_BYTES_MAX);
    const uint64_t value_part = smaller(blocks->value_part_bytes, SINTER_BLOCK_BYTES_MAX);
    const uint64_t source = larger(key_part + value_part, 1);
    /* A row that reaches the target is a block by itself; others end one that they pass it in. */
    const uint64_t usual = target + smaller(target, source);
    const uint64_t rows = smaller(larger(blocks->block_rows * (usual / source + 1), ROWS_OPEN_MIN),
                                  SINTER__SST_BLOCK_ROWS_MAX);
    /* An open block begins with so much, whether rows fill it or not. */
    const uint64_t first = smaller(wanted, DOUBLED_BELOW_BYTES);
    const uint64_t keys = larger(larger(usual, key_part), first);
    const uint64_t values =
        smaller(larger(larger(usual, value_part), first), SINTER_BLOCK_BYTES_MAX);
    const uint64_t key_bound =
        smaller(sinter__sst_key_part_bound((uint32_t)rows, (size_t)keys), SINTER_BLOCK_BYTES_MAX);
    const uint64_t encoded = sinter__codec_bound(options->codec, (size_t)values) +
                             sinter__codec_bound(options->codec, (size_t)key_bound);
    uint64_t bytes = 0;

    (void)format;
    bytes = grown(SINTER__SST_SINK_CHUNK_BYTES + encoded); /* what waits to be written */
    bytes += grown(keys + SINTER__SST_SLACK_BYTES) + 2 * rows * ROW_BYTES_WRITTEN;
    if (options->codec != SINTER_CODEC_NONE) {
        bytes += grown(values + SINTER__SST_SLACK_BYTES) + room(key_bound);
        bytes += sinter__codec_encoder_bytes(options->codec, options->codec_level,
                                             larger(values, key_bound));
        if (options->blocks_beside > 0) {
            bytes += sinter__block_line_bytes(
                options->blocks_beside, (uint32_t)wanted,
                (sinter__codec_choice){options->codec, options->codec_level},
                options->filter_bits_per_key);
        }
    }
    if (options->filter_bits_per_key > 0) {
        bytes += room(sinter__filter_bytes((uint32_t)rows, options->filter_bits_per_key)) +
                 grown((uint64_t)2 * SINTER__SST_FILTER_TARGET_BYTES);
    }
    return bytes + 4 * grown(SINTER__SST_PAGE_TARGET_BYTES);
}
