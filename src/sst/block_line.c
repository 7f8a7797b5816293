/*
 * A trial of the codec on keys says what the next blocks do, so none of these is begun before it is
 * over. How large the file becomes is not known while blocks are on their way; that they can't take
 * it to its target usually is, by bounds, and only when it isn't anybody waits.
 */
#include "sst/block_line.h"

#include <stdatomic.h>

#include "base/belt.h"
#include "sst/filter.h"

/* A block of the line may have so many times the target, and so many bytes more: room for a row
 * that passes the target, for buffers that doubled, and for the columns of many small rows. */
enum { MEMORY_TIMES = 5, OUT_TIMES = 2, MORE_BYTES = 64 << 10, ROW_BYTES_MIN = 25 };

typedef struct slot {
    sinter__open_block block;
    sinter__scratch out;
    sinter__scratch filter;
    sinter__encoding encoding;
    uint64_t growth_max; /* of the file, by this block */
} slot;

struct sinter__block_line {
    const sinter_env *env;
    sinter__block_line_config config;
    sinter__belt *belt;
    slot *slots;
    uint64_t put;                /* blocks so far */
    _Atomic uint64_t spoken_for; /* as the end says, after the last block that was written */
    atomic_bool is_trying;       /* a trial is not over */
    sinter__block_encoder helper;
};

static size_t
memory_max(uint32_t block_bytes)
{
    return (size_t)MEMORY_TIMES * block_bytes + MORE_BYTES;
}

static size_t
out_max(uint32_t block_bytes)
{
    return (size_t)OUT_TIMES * block_bytes + MORE_BYTES;
}

static size_t
memory_of(const sinter__open_block *block)
{
    return block->key_memory.capacity + block->value_memory.capacity + block->row_memory.capacity;
}

static size_t
filter_bytes(const sinter__block_encoder *encoder, const sinter__open_block *block)
{
    return encoder->filter_bits == 0 ? 0 : sinter__filter_bytes(block->rows, encoder->filter_bits);
}

static bool
may_begin(void *ctx, size_t place)
{
    sinter__block_line *line = ctx;
    sinter__encoding *encoding = &line->slots[place].encoding;

    if (atomic_load(&line->is_trying)) {
        return false;
    }
    encoding->packing = sinter__key_trials_next(line->config.trials);
    if (encoding->packing == SINTER__KEYS_TRIED) {
        atomic_store(&line->is_trying, true);
    }
    return true;
}

static sinter_status
encode(void *ctx, size_t place, int worker, sinter_error *err)
{
    sinter__block_line *line = ctx;
    slot *self = &line->slots[place];
    sinter__encoding *encoding = &self->encoding;
    sinter__block_encoder *encoder =
        worker == SINTER__BELT_HELPER ? &line->helper : line->config.encoder;
    const size_t bound = sinter__block_encoder_bound(encoder->choice.codec, &self->block);
    sinter_status st = sinter__scratch_fit(line->env, &self->out, bound, err);

    if (st == SINTER_OK) {
        encoding->out = self->out.data;
        st = sinter__block_encoder_run(encoder, encoding, err);
    }
    if (encoding->packing == SINTER__KEYS_TRIED) {
        line->config.trials->gains = encoding->keys_gain;
        atomic_store(&line->is_trying, false);
    }
    return st;
}

static sinter_status
write_encoded(void *ctx, size_t place, sinter_error *err)
{
    sinter__block_line *line = ctx;
    const sinter__block_line_config *config = &line->config;
    slot *self = &line->slots[place];

    SINTER__CHECK(config->end->write(config->ctx, &self->encoding, err));
    atomic_store(&line->spoken_for, config->end->spoken_for(config->ctx));
    sinter__open_block_reset(&self->block);
    return SINTER_OK;
}

static const sinter__belt_ops belt_ops = {
    .begin = may_begin, .work = encode, .leave = write_encoded};

sinter_status
sinter__block_line_create(const sinter_env *env, const sinter__block_line_config *config,
                          sinter__block_line **out, sinter_error *err)
{
    sinter__block_line *line = NULL;
    sinter_status st = SINTER_OK;

    assert(config->slots > 0 && config->encoder->choice.codec != SINTER_CODEC_NONE);
    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, line, 1, err));
    line->env = env;
    line->config = *config;
    line->helper.choice = config->encoder->choice;
    line->helper.filter_bits = config->encoder->filter_bits;
    line->helper.contexts.env = env;
    SINTER__TRY(SINTER__NEW(env, line->slots, config->slots, err));
    for (uint32_t i = 0; i < config->slots; i++) {
        line->slots[i].block.env = env;
    }
    SINTER__TRY(sinter__belt_create(env, &belt_ops, line, config->slots, &line->belt, err));
    *out = line;
    line = NULL;
out:
    sinter__block_line_destroy(line);
    return st;
}

bool
sinter__block_line_is_outgrown(const sinter__block_line *line, const sinter__open_block *block)
{
    return memory_of(block) > memory_max(line->config.block_bytes);
}

bool
sinter__block_line_takes(sinter__block_line *line, const sinter__open_block *block)
{
    const sinter__block_encoder *encoder = line->config.encoder;
    const uint32_t block_bytes = line->config.block_bytes;

    return !sinter__block_line_is_outgrown(line, block) &&
           sinter__block_encoder_bound(encoder->choice.codec, block) <= out_max(block_bytes) &&
           filter_bytes(encoder, block) <= block_bytes && sinter__belt_has_help(line->belt);
}

/** By how much the file grows with a block at most: the block, its entry, and in each level of the
 *  index the beginning and end of a page and an entry. */
static uint64_t
growth_max(const sinter__block_line *line, const sinter__open_block *block)
{
    const uint32_t last = block->key_offsets[block->rows] - block->key_offsets[block->rows - 1];
    const uint64_t page = SINTER__SST_PAGE_HEADER_BYTES + SINTER__SST_CHECKSUM_BYTES;
    const uint64_t child = SINTER__SST_CHILD_BYTES + (uint64_t)last;
    const uint64_t filter = filter_bytes(line->config.encoder, block);

    return (uint64_t)block->value_bytes +
           sinter__sst_key_part_bound(block->rows, block->key_bytes) + SINTER__SST_TRAILER_BYTES +
           SINTER__SST_ENTRY_BYTES + block->key_offsets[1] + last + filter +
           SINTER__SST_LEVEL_COUNT_MAX * (page + child);
}

sinter_status
sinter__block_line_put(sinter__block_line *line, sinter__open_block *block, uint64_t first_row,
                       sinter_error *err)
{
    size_t place = 0;
    slot *self = NULL;
    sinter__open_block empty;

    assert(block->rows > 0);
    SINTER__CHECK(sinter__belt_room(line->belt, &place, err));
    if (sinter__belt_count(line->belt) == 0) { /* the writer may have gone on by itself */
        atomic_store(&line->spoken_for, line->config.end->spoken_for(line->config.ctx));
    }
    self = &line->slots[place];
    empty = self->block;
    self->block = *block;
    *block = empty;
    self->growth_max = growth_max(line, &self->block);
    self->encoding =
        (sinter__encoding){.block = &self->block, .first_row = first_row, .filter = &self->filter};
    line->put++;
    sinter__belt_put(line->belt);
    return SINTER_OK;
}

/** How large the file becomes at most with the last `count` blocks. */
static uint64_t
size_max(const sinter__block_line *line, size_t count)
{
    uint64_t size = atomic_load(&line->spoken_for);

    for (size_t i = 1; i <= count; i++) {
        size += line->slots[(line->put - i) % line->config.slots].growth_max;
    }
    return size;
}

sinter_status
sinter__block_line_settle(sinter__block_line *line, uint64_t size, bool *is_below_out,
                          sinter_error *err)
{
    size_t count = sinter__belt_count(line->belt);

    /* Blocks that are written meanwhile count twice here, which errs on the safe side. */
    while (count > 0 && size_max(line, count) >= size) {
        SINTER__CHECK(sinter__belt_reduce(line->belt, count - 1, err));
        count = sinter__belt_count(line->belt);
    }
    *is_below_out = count > 0;
    return SINTER_OK;
}

sinter_status
sinter__block_line_drain(sinter__block_line *line, sinter_error *err)
{
    return sinter__belt_reduce(line->belt, 0, err);
}

void
sinter__block_line_destroy(sinter__block_line *line)
{
    if (line == NULL) {
        return;
    }
    sinter__belt_destroy(line->belt);
    for (uint32_t i = 0; line->slots != NULL && i < line->config.slots; i++) {
        sinter__open_block_fini(&line->slots[i].block);
        sinter__scratch_fini(line->env, &line->slots[i].out);
        sinter__scratch_fini(line->env, &line->slots[i].filter);
    }
    sinter__block_encoder_fini(&line->helper);
    sinter__free(line->env, line->slots);
    sinter__free(line->env, line);
}

uint64_t
sinter__block_line_bytes(uint32_t slots, uint32_t block_bytes, sinter__codec_choice choice,
                         uint32_t filter_bits)
{
    const size_t memory = memory_max(block_bytes);
    const size_t out = sinter__scratch_room(out_max(block_bytes));
    const size_t filter = filter_bits == 0 ? 0 : sinter__scratch_room(block_bytes);
    const size_t rows = memory / ROW_BYTES_MIN + 1;

    return slots * ((uint64_t)memory + out + filter) + out +
           sinter__scratch_room(rows * sizeof(uint64_t)) +
           sinter__scratch_room(rows * sizeof(uint32_t)) +
           sinter__codec_encoder_bytes(choice.codec, choice.level, out);
}
