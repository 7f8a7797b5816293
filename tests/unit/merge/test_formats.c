/*
 * The same merges over files of both formats, sst and one whose values can't be copied as bytes:
 * readers in, blocks passed where the writer takes them, spilled or not, a writer out.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "merge_cases.h"
#include "model/bucket.h"

#define DIR "/b"

/* One file as an input. */
typedef struct file_source {
    bucket *bucket;
    size_t position;
    char path[64];
} file_source;

static sinter_status
file_open(void *ctx, const sinter_env *env, sinter_reader **out, sinter_error *err)
{
    const file_source *source = ctx;
    bucket *b = source->bucket;
    const sinter_read_options options = {.struct_size = sizeof options,
                                         .origin = bucket_age(b, source->position)};

    return b->format.open_reader(b->format.self, env, source->path, &options, out, err);
}

static bool
writer_accepts(void *ctx, const sinter_block_info *info)
{
    sinter_writer *writer = ctx;

    return writer->ops->accepts != NULL && writer->ops->accepts(writer, info);
}

/* Write all that a merge gives. */
static void
copy_all(sinter_merge *merge, sinter_writer *writer, sinter_error *err)
{
    for (;;) {
        sinter_range ranges[8];
        size_t count = 0;
        size_t taken = 0;
        uint32_t rows = 0;
        const sinter_status st = sinter_merge_next(merge, ranges, 8, &count, err);

        if (st == SINTER_END) {
            return;
        }
        cr_assert_eq(st, SINTER_OK, "%s", err->text);
        cr_assert_eq(writer->ops->append(writer, ranges, count, UINT64_MAX, &taken, &rows, err),
                     SINTER_OK, "%s", err->text);
        cr_assert_eq(taken, count);
        cr_assert_eq(rows, 0);
    }
}

/* Merge all files of the bucket into "out"; blocks that passed. */
static uint64_t
merge_files(bucket *b, const sinter_merge_options *options, sinter_file_stats *stats)
{
    sinter_merge_input inputs[32];
    file_source sources[32];
    sinter_merge_options with_gate = *options;
    sinter_merge_counters counters = {.struct_size = sizeof counters};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_merge *merge = NULL;
    sinter_writer *writer = NULL;

    for (size_t i = 0; i < b->count; i++) {
        sources[i] = (file_source){.bucket = b, .position = i};
        snprintf(sources[i].path, sizeof sources[i].path, DIR "/%s", b->files[i].meta.file_name);
        inputs[i] = (sinter_merge_input){.struct_size = sizeof inputs[i],
                                         .estimated_bytes = b->files[i].meta.file_size,
                                         .open = file_open,
                                         .ctx = &sources[i]};
    }
    cr_assert_eq(
        b->format.open_writer(b->format.self, &b->env, DIR "/out", &b->write, &writer, &err),
        SINTER_OK, "%s", err.text);
    with_gate.accepts_block = writer_accepts;
    with_gate.accepts_ctx = writer;
    cr_assert_eq(sinter_merge_open(&b->env, inputs, b->count, &with_gate, &merge, &err), SINTER_OK,
                 "%s", err.text);
    copy_all(merge, writer, &err);
    sinter_merge_counters_get(merge, &counters);
    sinter_merge_close(merge);
    *stats = (sinter_file_stats){.struct_size = sizeof *stats};
    cr_assert_eq(writer->ops->finish(writer, stats, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(stats->row_count, counters.records_out);
    cr_assert_eq(stats->blocks_passed, counters.blocks_passed);
    writer->ops->close(writer);
    return counters.blocks_passed;
}

static bool
is_what_the_model_says(const test_run *got, const model_result *model)
{
    for (size_t i = 0; i < got->count && i < model->count; i++) {
        const test_record *a = &got->records[i];
        const test_record *b = model->records[i];

        if (!test_bytes_equal(a->key, b->key) || a->sequence != b->sequence || a->kind != b->kind ||
            !test_bytes_equal(a->value, b->value) || !test_bytes_equal(a->order, b->order)) {
            return false;
        }
    }
    return got->count == model->count;
}

static uint64_t
try_format(uint64_t seed, bool is_columnar)
{
    test_rng rng = {seed * 67867979};
    model_rules rules = rules_random(&rng);
    sinter_merge_options options;
    sinter_file_stats stats;
    sinter_io *io = NULL;
    uint64_t passed = 0;
    sinter_error err = SINTER_ERROR_INIT;
    model_result model;
    test_shape shape;
    test_runs runs;
    test_run got;
    bucket b;

    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &io, NULL),
                 SINTER_OK);
    cr_assert_eq(io->ops->mkdir(io, DIR, NULL), SINTER_OK);
    bucket_init(&b, io, DIR, is_columnar);
    b.write.block_bytes = 50 + (uint32_t)test_rng_below(&rng, 400);
    b.write.codec = (int32_t)test_rng_below(&rng, 3);
    b.columnar.block_rows = 1 + (uint32_t)test_rng_below(&rng, 20);
    b.columnar.batch_rows = (uint32_t)test_rng_below(&rng, 8);
    test_shape_random(&rng, &shape);
    shape.run_count %= 20;
    shape.orders = is_columnar && test_rng_chance(&rng, 40);
    shape.dropped_percent = 0;
    test_runs_random(&rng, &shape, &runs);
    for (size_t r = 0; r < runs.count; r++) {
        bucket_add(&b, runs.items[r].records, runs.items[r].count, 0);
    }
    test_runs_fini(&runs);
    bucket_runs(&b, NULL, 0, &runs);
    rules.ignore_delete = rules.ignore_delete || rules.engine == MODEL_FIRST_ROW;
    model_merge(&runs, &rules, &model);
    sinter_merge_options_init(&options);
    merge_options_rules(&rules, &options);
    options.sort_engine = (int32_t)test_rng_below(&rng, 2);
    options.spill_dir = DIR;
    options.spill_threshold = test_rng_chance(&rng, 50) ? 0 : 2 + (uint32_t)(seed % 5);
    options.spill_codec = (int32_t)test_rng_below(&rng, 3);
    passed = merge_files(&b, &options, &stats);
    cr_assert_eq(bucket_read(&b, "out", &got, &err), SINTER_OK, "seed %llu: %s",
                 (unsigned long long)seed, err.text);
    cr_assert(is_what_the_model_says(&got, &model), "seed %llu: %s file differs from the model",
              (unsigned long long)seed, b.format.name);
    cr_assert_eq(b.io.open_files, 0, "seed %llu", (unsigned long long)seed);
    model_result_fini(&model);
    test_runs_fini(&runs);
    bucket_fini(&b);
    sinter_io_destroy(io);
    return passed;
}

Test(merge_formats, sst_files_are_merged_as_the_model_says)
{
    uint64_t passed = 0;

    for (uint64_t seed = 1; seed <= case_count(800); seed++) {
        passed += try_format(seed, false);
    }
    cr_expect_gt(passed, 0, "no block passed");
}

Test(merge_formats, files_whose_values_are_no_bytes_are_merged_by_the_same_tests)
{
    for (uint64_t seed = 1; seed <= case_count(800); seed++) {
        try_format(seed, true);
    }
}
