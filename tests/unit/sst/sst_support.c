#include "sst_support.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sst/keys.h"
#include "sst/writer.h"

void
sst_world_init(sst_world *world)
{
    sinter_error err = SINTER_ERROR_INIT;

    fault_alloc_init(&world->fault, UINT64_MAX);
    sinter_env_init(&world->io_env);
    cr_assert_eq(sinter_io_create(&world->io_env, SINTER_IO_MEMORY, NULL, &world->io, &err),
                 SINTER_OK, "%s", err.text);
    world->env = world->fault.env;
    world->env.io = world->io;
}

void
sst_world_fini(sst_world *world)
{
    cr_assert_eq(world->fault.live, 0, "%lld blocks of memory were not released",
                 (long long)world->fault.live);
    sinter_io_destroy(world->io);
}

void
sst_world_fail_allocation(sst_world *world, uint64_t n)
{
    world->fault.calls = 0;
    world->fault.fail_at = n;
}

static void
random_bytes(test_rng *rng, uint8_t *out, size_t size, bool noise)
{
    for (size_t i = 0; i < size; i++) {
        const uint64_t draw = test_rng_next(rng);

        out[i] = noise ? (uint8_t)draw : (uint8_t)('a' + draw % 4);
    }
}

static void
random_record(test_rng *rng, const sst_shape *shape, test_pool *pool, test_record *out)
{
    const size_t key_size =
        shape->key_min + (size_t)test_rng_below(rng, shape->key_max - shape->key_min + 1);
    const size_t value_size =
        shape->value_min + (size_t)test_rng_below(rng, shape->value_max - shape->value_min + 1);
    uint8_t *key = test_pool_take(pool, key_size + 1);
    uint8_t *value = test_pool_take(pool, value_size + 1);
    const bool is_delete = test_rng_chance(rng, shape->delete_percent);

    random_bytes(rng, key, key_size, true);
    memset(key, 'p', shape->shared < key_size ? shape->shared : key_size);
    random_bytes(rng, value, value_size, shape->noise);
    *out = (test_record){
        .key = {key, key_size},
        .value = {value, is_delete ? 0 : value_size},
        .sequence =
            (int64_t)(shape->sequence_space == 0 ? test_rng_next(rng)
                                                 : test_rng_below(rng, shape->sequence_space)),
        .kind = (uint8_t)(is_delete ? (uint64_t)SINTER_KIND_DELETE : test_rng_below(rng, 3)),
    };
}

test_run
sst_records(test_rng *rng, const sst_shape *shape, test_pool *pool)
{
    test_run run = {.records = test_pool_take(pool, (shape->count + 1) * sizeof(test_record))};

    for (size_t i = 0; i < shape->count; i++) {
        random_record(rng, shape, pool, &run.records[i]);
    }
    run.count = test_records_sort_unique(run.records, shape->count);
    return run;
}

/** Hand a batch to the writer in ranges. */
static sinter_status
append_batch(sinter_writer *writer, const sinter_batch *batch, uint32_t range_rows,
             sinter_error *err)
{
    const uint32_t step = range_rows == 0 ? batch->row_count : range_rows;
    const size_t count = step == 0 ? 0 : (batch->row_count + step - 1) / step;
    sinter_range *ranges = calloc(count + 1, sizeof *ranges);
    size_t taken = 0;
    uint32_t taken_rows = 0;
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < count; i++) {
        const uint32_t first = (uint32_t)i * step;

        ranges[i] = (sinter_range){
            batch, first, batch->row_count - first < step ? batch->row_count - first : step};
    }
    st = writer->ops->append(writer, ranges, count, UINT64_MAX, &taken, &taken_rows, err);
    cr_assert(st != SINTER_OK || (taken == count && taken_rows == 0));
    free(ranges);
    return st;
}

static sinter_status
append_run(const sinter_env *env, sinter_writer *writer, const test_run *run, const sst_plan *plan,
           sinter_error *err)
{
    const size_t batch_rows = plan->batch_rows == 0 ? 1000 : plan->batch_rows;
    sinter_batch_builder *builder = NULL;
    sinter_status st = sinter_batch_builder_create(env, &builder, err);

    for (size_t i = 0; st == SINTER_OK && i < run->count; i++) {
        const test_record *record = &run->records[i];

        st = sinter_batch_builder_add(builder, record->key, record->sequence, record->kind,
                                      record->value, err);
        if (st == SINTER_OK && ((i + 1) % batch_rows == 0 || i + 1 == run->count)) {
            st = append_batch(writer, sinter_batch_builder_batch(builder), plan->range_rows, err);
            sinter_batch_builder_reset(builder);
        }
    }
    sinter_batch_builder_destroy(builder);
    return st;
}

int
sst_codec(int codec)
{
    return sinter_codec_is_built_in(codec) ? codec : SINTER_CODEC_NONE;
}

sinter_status
sst_write(const sinter_env *env, const char *path, const test_run *run, const sst_plan *plan,
          sinter_file_stats *stats_out, sinter_error *err)
{
    const sinter_format *format = sinter_format_sst();
    sinter_write_options options = plan->options;
    sinter_writer *writer = NULL;
    sinter_status st = SINTER_OK;

    options.struct_size = sizeof options;
    options.codec = sst_codec(options.codec);
    st = format->open_writer(format->self, env, path, &options, &writer, err);
    if (st != SINTER_OK) {
        cr_assert_null(writer);
        return st;
    }
    if (plan->page_bytes != 0) {
        sinter__sst_writer_set_page_bytes(writer, plan->page_bytes);
    }
    if (plan->property != NULL) {
        st = sinter_sst_writer_set_property(writer, "who", plan->property, err);
    }
    if (st == SINTER_OK) {
        st = append_run(env, writer, run, plan, err);
    }
    if (st == SINTER_OK) {
        st = writer->ops->finish(writer, stats_out, err);
    }
    if (stats_out != NULL) {
        stats_out->min_key = stats_out->max_key = (sinter_bytes){NULL, 0};
    }
    writer->ops->close(writer);
    return st;
}

static void
compare_row(const sinter_batch *batch, uint32_t row, const test_record *record,
            const sinter_read_options *options)
{
    const sinter_bytes key = sinter_batch_key(batch, row);
    const sinter_bytes value = batch->payload_ops->value(batch, row);
    const sinter__keys one = {.data = key.data, .width = (uint32_t)key.size, .rows = 1};
    uint64_t prefix = 0;

    cr_assert(test_bytes_equal(key, record->key), "key of %zu bytes differs", record->key.size);
    if (!options->keys_only) {
        cr_assert(test_bytes_equal(value, record->value), "value differs");
    }
    cr_assert_eq(batch->sequences[row], record->sequence);
    cr_assert_eq(batch->kinds[row], record->kind);
    sinter__keys_prefixes(&one, options->key_prefix_skip, &prefix);
    cr_assert_eq(batch->prefixes[row], prefix);
}

/** Compare a batch with the records from `at` on. */
static void
compare_batch(const sinter_batch *batch, const test_run *run, size_t at,
              const sinter_read_options *options)
{
    uint32_t retracts = 0;

    cr_assert_gt(batch->row_count, 0);
    cr_assert_leq(batch->row_count, run->count - at, "more rows than were written");
    cr_assert_eq(batch->origin, options->origin);
    for (uint32_t i = 0; i < batch->row_count; i++) {
        compare_row(batch, i, &run->records[at + i], options);
        retracts += sinter_kind_is_retract(batch->kinds[i]);
    }
    cr_assert_eq(batch->retract_count, retracts);
}

sinter_status
sst_read_compare(const sinter_env *env, const char *path, const sinter_read_options *options,
                 const test_run *run, sinter_error *err)
{
    static const sinter_read_options defaults = {.struct_size = sizeof(sinter_read_options)};
    const sinter_format *format = sinter_format_sst();
    sinter_reader *reader = NULL;
    size_t at = 0;
    sinter_status st = format->open_reader(format->self, env, path, options, &reader, err);

    if (st != SINTER_OK) {
        cr_assert_null(reader);
        return st;
    }
    for (;;) {
        const sinter_batch *batch = NULL;

        st = reader->ops->next(reader, &batch, err);
        if (st != SINTER_OK) {
            break;
        }
        compare_batch(batch, run, at, options == NULL ? &defaults : options);
        at += batch->row_count;
    }
    cr_assert(st != SINTER_END || at == run->count, "%zu of %zu rows were read", at, run->count);
    reader->ops->close(reader);
    return st == SINTER_END ? SINTER_OK : st;
}

sinter_status
sst_read_all(const sinter_env *env, const char *path, const sinter_read_options *options,
             uint64_t *rows_out, sinter_error *err)
{
    const sinter_format *format = sinter_format_sst();
    sinter_reader *reader = NULL;
    sinter_status st = format->open_reader(format->self, env, path, options, &reader, err);

    *rows_out = 0;
    if (st != SINTER_OK) {
        return st;
    }
    for (;;) {
        const sinter_batch *batch = NULL;

        st = reader->ops->next(reader, &batch, err);
        if (st != SINTER_OK) {
            break;
        }
        *rows_out += batch->row_count;
    }
    reader->ops->close(reader);
    return st == SINTER_END ? SINTER_OK : st;
}

uint8_t *
sst_file_bytes(const sinter_env *env, const char *path, size_t *size_out)
{
    sinter_io_file *file = NULL;
    sinter_io_range range = {.offset = 0};
    uint64_t size = 0;
    uint8_t *bytes = NULL;

    cr_assert_eq(env->io->ops->open(env->io, path, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    bytes = malloc((size_t)size + 1);
    range.data = bytes;
    range.size = (size_t)size;
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    *size_out = (size_t)size;
    return bytes;
}

void
sst_put_file(const sinter_env *env, const char *path, const uint8_t *bytes, size_t size)
{
    sinter_io_file *file = NULL;

    cr_assert_eq(env->io->ops->create(env->io, ".", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->append(file, bytes, size, NULL), SINTER_OK);
    cr_assert_eq(file->ops->publish(file, path, NULL), SINTER_OK);
    file->ops->close(file);
}

void
sst_unlink(const sinter_env *env, const char *path)
{
    cr_assert_eq(env->io->ops->unlink(env->io, path, NULL), SINTER_OK);
}
