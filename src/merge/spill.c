#include "merge/spill.h"

#include "base/env.h"
#include "base/listener.h"
#include "merge/engine.h"
#include "merge/spill_block.h"

enum { FIT_RANGES = 256 };

struct sinter__spill {
    const sinter_env *env;
    sinter__spill_options options;
    sinter_io_file *file;
    sinter__spill_writer writer;
    sinter__spill_extent *extents;
    size_t count;
    size_t capacity;
    uint64_t bytes_before;  /* written to files that were given up */
    uint64_t writer_memory; /* what a writer takes however few rows it holds */
    uint64_t passes;
    uint64_t records; /* of runs that were spilled */
};

sinter_status
sinter__spill_create(const sinter_env *env, const sinter__spill_options *options,
                     sinter__spill **out, sinter_error *err)
{
    sinter__spill *spill = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, spill, 1, err));
    spill->env = env;
    spill->options = *options;
    SINTER__TRY(sinter__codec_check(options->codec, err));
    SINTER__TRY(env->io->ops->create(env->io, options->dir, SINTER_IO_SCRATCH, &spill->file, err));
    spill->writer = (sinter__spill_writer){.env = env,
                                           .file = spill->file,
                                           .dir = options->dir,
                                           .space = options->space,
                                           .codec_id = options->codec,
                                           .codec_level = options->codec_level,
                                           .codec = {.env = env}};
    *out = spill;
    spill = NULL;
out:
    sinter__spill_destroy(spill);
    return st;
}

void
sinter__spill_destroy(sinter__spill *spill)
{
    if (spill == NULL) {
        return;
    }
    sinter__spill_writer_fini(&spill->writer);
    if (spill->file != NULL) {
        spill->file->ops->close(spill->file);
    }
    sinter_memory_release(spill->writer.space, spill->writer.space_bytes);
    sinter__free(spill->env, spill->extents);
    sinter__free(spill->env, spill);
}

static sinter_status
begin_extent(sinter__spill *spill, bool is_multi, sinter_error *err)
{
    if (spill->count == spill->capacity) {
        const size_t capacity = spill->capacity == 0 ? 16 : spill->capacity * 2;

        SINTER__CHECK(sinter__resize(spill->env, (void **)&spill->extents, capacity,
                                     sizeof *spill->extents, err));
        spill->capacity = capacity;
    }
    spill->writer.block_memory_max = 0;
    spill->extents[spill->count] =
        (sinter__spill_extent){.begin = spill->writer.offset, .is_multi = is_multi};
    return SINTER_OK;
}

static sinter_status
end_extent(sinter__spill *spill, sinter_error *err)
{
    sinter__spill_extent *extent = &spill->extents[spill->count];

    SINTER__CHECK(sinter__spill_writer_flush(&spill->writer, err));
    extent->end = spill->writer.offset;
    extent->block_memory = spill->writer.block_memory_max;
    spill->count++;
    return SINTER_OK;
}

static sinter_status
check_cancelled(const sinter__spill *spill, sinter_error *err)
{
    if (spill->options.is_cancelled != NULL &&
        spill->options.is_cancelled(spill->options.cancel_ctx)) {
        return SINTER__ERR(err, SINTER_E_CANCELLED, "cancelled while spilling");
    }
    return SINTER_OK;
}

static sinter_status
write_run(sinter__spill *spill, sinter_reader *reader, bool has_versions,
          sinter_merge_counters *counters, sinter_error *err)
{
    sinter__input input = {.reader = reader, .state = SINTER__INPUT_DRAINED};

    SINTER__CHECK(begin_extent(spill, has_versions, err));
    for (;;) {
        SINTER__CHECK(check_cancelled(spill, err));
        SINTER__CHECK(sinter__input_load(&input, counters, err));
        if (input.state == SINTER__INPUT_DONE) {
            break;
        }
        while (input.state == SINTER__INPUT_ACTIVE) {
            SINTER__CHECK(sinter__spill_writer_add(&spill->writer, input.batch, input.row, err));
            spill->records++;
            counters->records_in--; /* counted when it is read again; dropped rows stay counted */
            sinter__input_leave_row(&input, SINTER__INPUT_DRAINED);
        }
    }
    return end_extent(spill, err);
}

sinter_status
sinter__spill_run(sinter__spill *spill, sinter_reader *reader, bool has_versions,
                  sinter_merge_counters *counters, sinter_error *err)
{
    const int64_t begin_ns = sinter__now_ns(spill->env);
    const uint64_t begin_bytes = sinter__spill_bytes(spill);
    const uint64_t begin_records = spill->records;
    sinter_event event = {.struct_size = (uint32_t)sizeof event, .file = spill->options.dir};

    SINTER__TELL(spill->env->listener, spill_begin, &event);
    event.status = write_run(spill, reader, has_versions, counters, err);
    if (event.status == SINTER_OK) {
        counters->spill_runs++;
    } else {
        sinter__spill_writer_fini(&spill->writer); /* with the rows of the run */
    }
    event.bytes = sinter__spill_bytes(spill) - begin_bytes;
    event.records = spill->records - begin_records;
    event.duration_ns = sinter__now_ns(spill->env) - begin_ns;
    SINTER__TELL(spill->env->listener, spill_end, &event);
    return event.status;
}

/* ---- merging runs beforehand ---- */

/* Keeps every version: "reduces" a group by writing it to the next file. */
typedef struct keep_all {
    sinter_merge_function function;
    sinter__spill_writer *writer;
    sinter__sink *sink;
} keep_all;

static sinter_status
write_ranges(sinter__spill_writer *writer, sinter__sink *sink, sinter_error *err)
{
    for (size_t i = 0; i < sink->count; i++) {
        const sinter_range *range = &sink->ranges[i];

        for (uint32_t row = range->first; row < range->first + range->count; row++) {
            SINTER__CHECK(sinter__spill_writer_add(writer, range->batch, row, err));
        }
    }
    sink->count = 0;
    return SINTER_OK;
}

static sinter_status
keep_all_reduce(sinter_merge_function *function, const sinter_row *rows, size_t count,
                sinter_row *out, sinter_error *err)
{
    keep_all *self = (keep_all *)function;

    (void)out;
    SINTER__CHECK(write_ranges(self->writer, self->sink, err));
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(sinter__spill_writer_add(self->writer, rows[i].batch, rows[i].index, err));
    }
    return SINTER_END;
}

static const sinter_merge_function_ops keep_all_ops = {
    .struct_size = (uint32_t)sizeof(sinter_merge_function_ops),
    .name = "keep-all",
    .reduce = keep_all_reduce,
};

static sinter_status
merge_inputs(sinter__spill *from, sinter__spill *to, sinter__input *inputs, size_t count,
             sinter_error *err)
{
    sinter_range ranges[FIT_RANGES];
    sinter__sink sink = {.ranges = ranges, .capacity = FIT_RANGES, .has_ages = true};
    keep_all function = {{&keep_all_ops}, &to->writer, &sink};
    sinter__engine *engine = NULL;
    sinter_status st = SINTER_OK;

    sink.function = &function.function;
    SINTER__TRY(sinter__loser_tree_create(from->env, inputs, count,
                                          (sinter__block_gate){NULL, NULL}, &engine, err));
    for (;;) {
        SINTER__TRY(check_cancelled(from, err));
        st = engine->ops->fill(engine, &sink, err);
        if (st == SINTER_END) {
            st = SINTER_OK;
            break;
        }
        SINTER__TRY(st);
        SINTER__TRY(write_ranges(&to->writer, &sink, err));
    }
out:
    sinter__free(from->env, sink.group);
    if (engine != NULL) {
        engine->ops->destroy(engine);
    }
    return st;
}

/* Merge runs [first, first + count) of `from` into the next run of `to`. */
static sinter_status
merge_runs(sinter__spill *from, sinter__spill *to, size_t first, size_t count, sinter_error *err)
{
    sinter__input *inputs = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(SINTER__NEW(from->env, inputs, count, err));
    for (size_t i = 0; i < count; i++) {
        inputs[i].is_multi = from->extents[first + i].is_multi;
        SINTER__TRY(sinter__spill_open(from, first + i, &inputs[i].reader, err));
    }
    SINTER__TRY(begin_extent(to, count > 1 || from->extents[first].is_multi, err));
    SINTER__TRY(merge_inputs(from, to, inputs, count, err));
    SINTER__TRY(end_extent(to, err));
out:
    for (size_t i = 0; inputs != NULL && i < count; i++) {
        if (inputs[i].reader != NULL) {
            inputs[i].reader->ops->close(inputs[i].reader);
        }
    }
    sinter__free(from->env, inputs);
    return st;
}

/* What readers of the file hold together, however many they are. */
static uint64_t
shared_memory(const sinter__spill *spill)
{
    return spill->writer.stored_memory_max + sinter__codec_decoder_bytes(spill->options.codec);
}

static uint64_t
total_memory(const sinter__spill *spill)
{
    uint64_t total = shared_memory(spill);

    for (size_t i = 0; i < spill->count; i++) {
        total += spill->extents[i].block_memory;
    }
    return total;
}

/* Until the next write: give the writer's memory back. */
static void
rest(sinter__spill *spill)
{
    const uint64_t bytes = spill->writer.fixed.capacity + spill->writer.codec.reserved_bytes;

    spill->writer_memory = bytes > spill->writer_memory ? bytes : spill->writer_memory;
    sinter__spill_writer_rest(&spill->writer);
}

/* What a writer of blocks of that size holds: it collects, gathers and encodes. */
static uint64_t
writing_memory(const sinter__spill *spill, uint64_t block_bytes)
{
    return 3 * block_bytes + spill->writer_memory;
}

/* How many runs from `first` on can be open at once, beside the writer of their merge. Versions of
 * a key are never parted, so a block may become as large as all of them; but two runs are tried
 * even if they must have few keys in common for it. */
static size_t
fan_in(const sinter__spill *spill, size_t first, uint64_t memory_bytes, uint64_t *least_out)
{
    uint64_t largest = 0;
    uint64_t sum = 0;
    size_t count = 0;

    *least_out = 0;
    for (size_t i = first; i < spill->count; i++) {
        const uint64_t bytes = spill->extents[i].block_memory;
        const uint64_t other = bytes < largest ? bytes : largest;
        uint64_t needed = 0;

        largest = bytes > largest ? bytes : largest;
        sum += bytes;
        needed = sum + shared_memory(spill) + writing_memory(spill, sum);
        if (i == first + 1) {
            const uint64_t full =
                other < SINTER__SPILL_BLOCK_BYTES ? other : SINTER__SPILL_BLOCK_BYTES;

            needed = sum + shared_memory(spill) + writing_memory(spill, largest + full);
            *least_out = needed;
        }
        if (needed <= memory_bytes) {
            count++;
        } else if (i > first) {
            break;
        }
    }
    return count;
}

/* One pass: groups of neighbouring runs into a new file, which takes the place of this one. */
static sinter_status
fit_pass(sinter__spill *spill, uint64_t memory_bytes, sinter_error *err)
{
    sinter__spill *next = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__spill_create(spill->env, &spill->options, &next, err));
    for (size_t first = 0; first < spill->count;) {
        uint64_t least = 0;
        size_t count = fan_in(spill, first, memory_bytes, &least);

        if (count < 2 && first + 1 < spill->count) {
            SINTER__FAIL(err, SINTER_E_TOO_LARGE,
                         "the memory budget leaves %llu bytes to merge spilled runs: at least %llu "
                         "are needed in all",
                         (unsigned long long)memory_bytes,
                         (unsigned long long)(sinter_memory_limit(spill->env->memory) -
                                              memory_bytes + least));
        }
        count = count == 0 ? 1 : count; /* the last one, left over */
        SINTER__TRY(merge_runs(spill, next, first, count, err));
        first += count;
    }
    {
        const sinter__spill old = *spill;

        *spill = *next;
        *next = old;
    }
    spill->bytes_before = next->bytes_before + next->writer.offset;
    spill->passes = next->passes + 1;
    rest(spill);
out:
    sinter__spill_destroy(next);
    return st;
}

sinter_status
sinter__spill_settle(sinter__spill *spill, sinter_error *err)
{
    uint8_t byte = 0;
    sinter_io_range range = {0, &byte, 1};
    sinter_status st = SINTER_OK;

    assert(spill->count > 0);
    range.offset = spill->extents[spill->count - 1].begin;
    if (spill->writer.offset > range.offset) {
        /* A read makes the io write what it has gathered, and tells whether that worked. */
        st = spill->file->ops->read(spill->file, &range, 1, err);
    }
    rest(spill);
    spill->count -= st == SINTER_OK ? 0 : 1;
    return st;
}

sinter_status
sinter__spill_fit(sinter__spill *spill, uint64_t memory_bytes, uint64_t free_bytes,
                  sinter_error *err)
{
    rest(spill);
    while (spill->count > 1 && total_memory(spill) > memory_bytes) {
        SINTER__CHECK(fit_pass(spill, free_bytes, err));
    }
    return SINTER_OK;
}

void
sinter__spill_measure(int codec, int codec_level, uint64_t batch_bytes, uint32_t batch_rows,
                      sinter__spill_footprint *out)
{
    const uint64_t known =
        batch_bytes < SINTER_BLOCK_BYTES_MAX ? batch_bytes : SINTER_BLOCK_BYTES_MAX;
    const uint64_t rows =
        batch_bytes == 0 ? 1 : 1 + (uint64_t)SINTER__SPILL_BLOCK_BYTES * batch_rows / batch_bytes;
    sinter__spill_block_size size;

    /* A block is full when it passes its size, which the last row may do by all of a batch. */
    sinter__spill_block_measure(codec, SINTER__SPILL_BLOCK_BYTES + known, rows, &size);
    out->block_bytes = size.reader_bytes;
    out->shared_bytes = size.shared_bytes + sinter__codec_decoder_bytes(codec);
    out->writer_bytes =
        size.writer_bytes + sinter__codec_encoder_bytes(codec, codec_level, size.body_bytes);
}

size_t
sinter__spill_run_count(const sinter__spill *spill)
{
    return spill->count;
}

bool
sinter__spill_run_is_multi(const sinter__spill *spill, size_t index)
{
    assert(index < spill->count);
    return spill->extents[index].is_multi;
}

sinter_status
sinter__spill_open(sinter__spill *spill, size_t index, sinter_reader **out, sinter_error *err)
{
    assert(index < spill->count);
    return sinter__spill_reader_open(&spill->writer, &spill->extents[index], out, err);
}

uint64_t
sinter__spill_bytes(const sinter__spill *spill)
{
    return spill->bytes_before + spill->writer.offset;
}

uint64_t
sinter__spill_passes(const sinter__spill *spill)
{
    return spill->passes;
}
