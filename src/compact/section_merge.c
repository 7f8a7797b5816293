#include "compact/section_merge.h"

#include <assert.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "compact/age.h"
#include "compact/filter_reader.h"
#include "compact/order_reader.h"

enum {
    READ_BYTES_MIN = 64 * 1024,
    READ_BYTES_MAX = 256 * 1024,
    DIRECT_READ_BYTES_MAX = 1024 * 1024, /* a request costs as much as 300 KiB of it (docs/io.md) */
    READ_SHARE = 8,    /* of the memory left, reads may take one part in so many */
    READS_PER_RUN = 2, /* one is used while the next is on its way */
    AHEAD_SHARE = 2,   /* of the memory left, all readers with those ahead may take as much */
    /* Of files that don't say what reading them takes: a decoded block of usual size, index pages
     * and a codec's context, beside two reads. */
    RUN_MEMORY_BYTES = 256 * 1024
};

/* Size of formats that know what writing takes. */
#define WRITER_BYTES_SIZE (offsetof(sinter_format, writer_bytes) + sizeof(void (*)(void)))

/** Context of one merge input. */
typedef struct section_run {
    const sinter__merge_config *config;
    sinter__run run;
} section_run;

struct sinter__section_merge {
    const sinter_env *env;
    sinter_merge *merge;
    section_run *runs;
    const sinter_file_meta **by_age;
    size_t file_count;
};

sinter_status
sinter__merge_function_create(const sinter_env *env, const sinter_merge_function_factory *factory,
                              const sinter_compact_options *options, sinter_merge_function **out,
                              sinter_error *err)
{
    *out = NULL;
    if (factory == NULL) {
        *out = options->merge_engine == SINTER_MERGE_ENGINE_FIRST_ROW
                   ? sinter_merge_first_row(options->ignore_delete)
                   : sinter_merge_deduplicate(options->ignore_delete);
        return SINTER_OK;
    }
    SINTER__REQUIRE(err, factory->create != NULL);
    SINTER__CHECK(factory->create(factory->ctx, env, out, err));
    SINTER__REQUIRE(err, *out != NULL && (*out)->ops != NULL && (*out)->ops->reduce != NULL);
    return SINTER_OK;
}

void
sinter__merge_function_destroy(sinter_merge_function *function)
{
    if (function != NULL && function->ops->destroy != NULL) {
        function->ops->destroy(function);
    }
}

void
sinter__merge_config_init(sinter__merge_config *config, const sinter_compact_options *options,
                          const char *spill_dir)
{
    *config = (sinter__merge_config){.read.direct = options->direct};
    sinter_merge_options_init(&config->merge);
    config->merge.sort_engine = options->sort_engine;
    config->merge.has_ages = true;
    config->merge.spill_threshold = options->sort_spill_threshold;
    config->merge.open_files_max = options->open_files_max;
    config->merge.spill_dir = spill_dir;
    config->merge.spill_codec = options->spill_codec;
    config->merge.spill_codec_level = options->spill_codec_level;
}

static sinter_status
open_run(void *ctx, const sinter_env *env, sinter_reader **out, sinter_error *err)
{
    const section_run *run = ctx;
    const sinter__merge_config *config = run->config;

    SINTER__CHECK(sinter__run_reader_open(env, &run->run, out, err));
    if (config->keep_record != NULL) {
        SINTER__CHECK(
            sinter__filter_reader_open(env, *out, config->keep_record, config->keep_ctx, out, err));
    }
    if (config->order != NULL) {
        SINTER__CHECK(sinter__order_reader_open(env, *out, config->order, out, err));
    }
    return SINTER_OK;
}

/* All keys of a section lie between its smallest and its largest one, so they begin with what
 * these two have in common. */
static uint32_t
common_prefix(const sinter_file_meta *const *files, size_t count)
{
    sinter_bytes low = files[0]->min_key;
    sinter_bytes high = files[0]->max_key;
    uint32_t size = 0;

    assert(count > 0);
    for (size_t i = 1; i < count; i++) {
        low = sinter__key_compare(files[i]->min_key, low) < 0 ? files[i]->min_key : low;
        high = sinter__key_compare(files[i]->max_key, high) > 0 ? files[i]->max_key : high;
    }
    while (size < low.size && size < high.size && size < UINT32_MAX &&
           low.data[size] == high.data[size]) {
        size++;
    }
    return size;
}

static uint64_t
run_bytes(const sinter_rewrite_run *run)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < run->count; i++) {
        if (__builtin_add_overflow(bytes, run->files[i]->file_size, &bytes)) {
            return UINT64_MAX;
        }
    }
    return bytes;
}

/* Few runs read in large pieces; many share the memory that is left. */
static uint32_t
choose_read_bytes(const sinter_env *env, bool is_direct, size_t run_count)
{
    const uint64_t left = sinter_memory_limit(env->memory) - sinter_memory_used(env->memory);
    const uint32_t most = is_direct ? DIRECT_READ_BYTES_MAX : READ_BYTES_MAX;
    const uint64_t share =
        left / READ_SHARE / READS_PER_RUN / run_count / READ_BYTES_MIN * READ_BYTES_MIN;

    if (share < READ_BYTES_MIN) {
        return READ_BYTES_MIN;
    }
    return share > most ? most : (uint32_t)share;
}

static sinter_status
note_files(sinter__section_merge *merge, const sinter_rewrite_section *section, sinter_error *err)
{
    size_t used = 0;

    for (size_t r = 0; r < section->count; r++) {
        merge->file_count += section->runs[r].count;
    }
    SINTER__CHECK(SINTER__NEW(merge->env, merge->by_age, merge->file_count, err));
    for (size_t r = 0; r < section->count; r++) {
        assert(section->runs[r].count > 0);
        for (size_t i = 0; i < section->runs[r].count; i++) {
            merge->by_age[used++] = section->runs[r].files[i];
        }
    }
    assert(used == merge->file_count);
    sinter__age_sort(merge->by_age, merge->file_count);
    return SINTER_OK;
}

static void
set_up_runs(sinter__section_merge *merge, const sinter__merge_config *config,
            const sinter_rewrite_section *section)
{
    const uint32_t skip = common_prefix(merge->by_age, merge->file_count);
    const uint32_t read_bytes = choose_read_bytes(merge->env, config->read.direct, section->count);

    for (size_t r = 0; r < section->count; r++) {
        merge->runs[r] = (section_run){.config = config,
                                       .run = {.config = &config->read,
                                               .files = section->runs[r].files,
                                               .count = section->runs[r].count,
                                               .by_age = merge->by_age,
                                               .by_age_count = merge->file_count,
                                               .key_prefix_skip = skip,
                                               .read_bytes = read_bytes}};
    }
}

/* What the input takes of the memory budget. SINTER_END: its files don't say, it is an estimate. */
static sinter_status
measure_input(const sinter__section_merge *merge, const section_run *run, sinter_merge_input *input,
              sinter_footprint *all, sinter_error *err)
{
    sinter_footprint footprint = {.struct_size = (uint32_t)sizeof footprint};
    sinter_status st = SINTER_END;

    /* Without a budget, or where nothing can be spilled, there is nothing to choose. */
    if (sinter_memory_limit(merge->env->memory) < UINT64_MAX &&
        run->config->merge.spill_dir != NULL) {
        st = sinter__run_measure(merge->env, &run->run, &footprint, err);
    }
    if (st != SINTER_OK) {
        input->memory_bytes = RUN_MEMORY_BYTES + (uint64_t)2 * run->run.read_bytes;
        return st;
    }
    input->memory_bytes = footprint.reader_bytes;
    input->block_bytes = footprint.key_part_bytes + footprint.value_part_bytes;
    input->block_rows = footprint.block_rows;
    sinter__footprint_add(all, &footprint);
    return SINTER_OK;
}

uint64_t
sinter__format_writer_bytes(const sinter_format *format, const sinter_write_options *write,
                            const sinter_footprint *blocks)
{
    if (format->struct_size < WRITER_BYTES_SIZE || format->writer_bytes == NULL) {
        return 0;
    }
    return format->writer_bytes(format->self, write, blocks);
}

uint64_t
sinter__merge_config_beside_bytes(const sinter__merge_config *config, uint32_t blocks)
{
    const sinter_footprint unknown = {.struct_size = (uint32_t)sizeof unknown};
    sinter_write_options write = *config->write;
    uint64_t with = 0;

    write.blocks_beside = blocks;
    with = sinter__format_writer_bytes(config->read.format, &write, &unknown);
    write.blocks_beside = 0;
    return with - sinter__format_writer_bytes(config->read.format, &write, &unknown);
}

/* What is to be left for the writer of the merged rows. */
static void
keep_back(const sinter__merge_config *config, const sinter_footprint *all,
          sinter_merge_options *options)
{
    if (config->write != NULL && all->block_rows > 0) {
        options->kept_back_bytes =
            sinter__format_writer_bytes(config->read.format, config->write, all);
    }
    if (config->write != NULL) {
        options->kept_back_later_bytes =
            sinter__merge_config_beside_bytes(config, SINTER__BLOCKS_BESIDE) -
            sinter__merge_config_beside_bytes(config, config->write->blocks_beside);
    }
}

/* Let runs of several files read ahead beyond the end of one, where that can't be what memory or
 * open files lack: nothing is spilled or refused for it. */
static void
allow_reading_ahead(sinter__section_merge *merge, const sinter__merge_config *config,
                    const sinter_merge_options *options, sinter_merge_input *inputs, size_t count)
{
    const sinter_memory *memory = merge->env->memory;
    uint64_t left = sinter_memory_limit(memory) - sinter_memory_used(memory);
    uint64_t taken = options->kept_back_later_bytes;
    size_t files = count;

    if (config->read.is_single_key || config->read.keys_only ||
        (options->spill_threshold > 0 && count > options->spill_threshold) ||
        __builtin_add_overflow(taken, options->kept_back_bytes, &taken) || taken > left) {
        return;
    }
    left = (left - taken) / AHEAD_SHARE;
    for (size_t r = 0; r < count; r++) {
        const uint64_t readers = merge->runs[r].run.count > 1 ? 2 : 1;

        files += readers - 1;
        if (inputs[r].memory_bytes > left / readers || files > options->open_files_max) {
            return;
        }
        left -= readers * inputs[r].memory_bytes;
    }
    for (size_t r = 0; r < count; r++) {
        merge->runs[r].run.reads_ahead = merge->runs[r].run.count > 1;
        inputs[r].memory_bytes *= merge->runs[r].run.count > 1 ? 2 : 1;
    }
}

sinter_status
sinter__section_merge_open(const sinter_env *env, const sinter__merge_config *config,
                           const sinter_rewrite_section *section, sinter__section_merge **out,
                           sinter_error *err)
{
    sinter_merge_options options = config->merge;
    sinter_footprint all = {.struct_size = (uint32_t)sizeof all};
    sinter__section_merge *merge = NULL;
    sinter_merge_input *inputs = NULL;
    bool is_known = true; /* what readers take, or there is no budget */
    sinter_status st = SINTER_OK;

    assert(section->count > 0);
    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, merge, 1, err));
    merge->env = env;
    SINTER__TRY(note_files(merge, section, err));
    SINTER__TRY(SINTER__NEW(env, merge->runs, section->count, err));
    SINTER__TRY(SINTER__NEW(env, inputs, section->count, err));
    set_up_runs(merge, config, section);
    for (size_t r = 0; r < section->count; r++) {
        inputs[r] = (sinter_merge_input){.struct_size = (uint32_t)sizeof inputs[r],
                                         .estimated_bytes = run_bytes(&section->runs[r]),
                                         .open = open_run,
                                         .ctx = &merge->runs[r]};
        st = measure_input(merge, &merge->runs[r], &inputs[r], &all, err);
        is_known = is_known && st == SINTER_OK;
        if (st != SINTER_END) {
            SINTER__TRY(st);
        }
    }
    keep_back(config, &all, &options);
    if (is_known || sinter_memory_limit(env->memory) == UINT64_MAX) {
        allow_reading_ahead(merge, config, &options, inputs, section->count);
    }
    SINTER__TRY(sinter_merge_open(env, inputs, section->count, &options, &merge->merge, err));
    *out = merge;
    merge = NULL;
out:
    sinter__free(env, inputs);
    sinter__section_merge_close(merge);
    return st;
}

sinter_merge *
sinter__section_merge_get(const sinter__section_merge *section)
{
    return section->merge;
}

void
sinter__section_merge_close(sinter__section_merge *section)
{
    if (section != NULL) {
        sinter_merge_close(section->merge);
        sinter__free(section->env, section->runs);
        sinter__free(section->env, section->by_age);
        sinter__free(section->env, section);
    }
}
