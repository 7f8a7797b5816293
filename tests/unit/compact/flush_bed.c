#include "flush_bed.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { ORDER_BYTES = 2 };

static sinter_status
order_row(void *ctx, const sinter_batch *batch, uint32_t row,
          sinter_status (*put)(void *put_ctx, const void *data, size_t size), void *put_ctx,
          sinter_error *err)
{
    const sinter_bytes value = batch->payload_ops->value(batch, row);

    (void)ctx;
    (void)err;
    return put(put_ctx, value.data, value.size < ORDER_BYTES ? value.size : ORDER_BYTES);
}

void
flush_bed_init(flush_bed *bed, uint64_t limit_bytes, const sinter_allocator *allocator)
{
    *bed = (flush_bed){.next_sequence = 1};
    world_init(&bed->w, false, allocator);
    cr_assert_eq(sinter_memory_create(sinter_env_default(), 0, &bed->memory, NULL), SINTER_OK);
    bed->config = (sinter__write_buffer_config){.memory = bed->memory,
                                                .limit_bytes = limit_bytes,
                                                .spill_bytes_max = UINT64_MAX,
                                                .spill_codec = SINTER_CODEC_NONE};
    bed->rolling = (sinter__rolling_config){
        .format = &bed->w.format,
        .write = {.struct_size = sizeof bed->rolling.write, .block_bytes = 4096},
        .dir = world_dir,
        .prefix = "data-",
        .target_bytes = 1 << 20,
        .schema_id = 3,
        .file_source = SINTER_FILE_SOURCE_APPEND};
    bed->flush = (sinter__flush_config){.rolling = &bed->rolling};
    bed->order = (sinter_order){.struct_size = sizeof bed->order, .row = order_row};
    flush_bed_reduces(bed, (model_rules){.engine = MODEL_DEDUPLICATE, .has_ages = true});
}

sinter_status
flush_bed_open(flush_bed *bed)
{
    SINTER__CHECK(sinter__result_create(&bed->w.env, NULL, 0, &bed->result, NULL));
    return sinter__write_buffer_create(&bed->w.env, &bed->config, &bed->buffer, NULL);
}

void
flush_bed_spills(flush_bed *bed)
{
    bed->config.spill_dir = world_dir;
}

void
flush_bed_reduces(flush_bed *bed, model_rules rules)
{
    bed->rules = rules;
    bed->flush.function = rules.engine == MODEL_FIRST_ROW
                              ? sinter_merge_first_row(rules.ignore_delete)
                              : sinter_merge_deduplicate(rules.ignore_delete);
}

static void
remember(flush_bed *bed, sinter_bytes key, uint8_t kind, sinter_bytes value)
{
    test_record *record = NULL;

    if (bed->count == bed->capacity) {
        bed->capacity = 2 * bed->capacity + 64;
        bed->records = realloc(bed->records, bed->capacity * sizeof *bed->records);
        cr_assert_not_null(bed->records);
    }
    record = &bed->records[bed->count++];
    *record = (test_record){.key = test_pool_copy(&bed->pool, key),
                            .value = test_pool_copy(&bed->pool, value),
                            .sequence = bed->next_sequence,
                            .kind = kind};
    if (bed->flush.order != NULL) {
        record->order = record->value;
        record->order.size =
            record->order.size < ORDER_BYTES ? record->order.size : (size_t)ORDER_BYTES;
    }
}

sinter_status
flush_bed_put(flush_bed *bed, sinter_bytes key, uint8_t kind, sinter_bytes value, sinter_error *err)
{
    const uint64_t rows = sinter__write_buffer_rows(bed->buffer);
    const sinter_status st =
        sinter__write_buffer_put(bed->buffer, key, bed->next_sequence, kind, value, err);

    cr_assert_eq(sinter__write_buffer_rows(bed->buffer), rows + (st == SINTER_OK ? 1 : 0));
    cr_assert_leq(sinter__write_buffer_bytes(bed->buffer), bed->config.limit_bytes);
    if (st == SINTER_OK) {
        remember(bed, key, kind, value);
        bed->next_sequence++;
    }
    return st;
}

void
flush_bed_text(flush_bed *bed, const char *key, uint8_t kind, const char *value)
{
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(flush_bed_put(bed, text_bytes(key), kind, text_bytes(value), &err), SINTER_OK,
                 "%s", err.text);
}

sinter_status
flush_bed_random(flush_bed *bed, test_rng *rng, size_t count, unsigned key_space, size_t value_max,
                 sinter_error *err)
{
    uint8_t *value = test_pool_take(&bed->pool, value_max + 1);

    for (size_t i = 0; i < count; i++) {
        const size_t size = (size_t)test_rng_below(rng, value_max + 1);
        char key[40];
        const int key_size = snprintf(key, sizeof key, rng->state % 2 == 0 ? "key-%u" : "%09u",
                                      (unsigned)test_rng_below(rng, key_space));

        for (size_t b = 0; b < size; b++) {
            value[b] = (uint8_t)test_rng_next(rng);
        }
        SINTER__CHECK(flush_bed_put(bed, (sinter_bytes){(const uint8_t *)key, (size_t)key_size},
                                    (uint8_t)test_rng_below(rng, 4), (sinter_bytes){value, size},
                                    err));
    }
    return SINTER_OK;
}

/* Records of the new files, one file after the other. */
static void
read_files(flush_bed *bed, test_pool *pool, test_record **records_out, size_t *count_out)
{
    const sinter_file_list *after = sinter_compact_result_after(bed->result);
    const sinter_read_options options = {.struct_size = sizeof options};
    const sinter_env *env = sinter_env_default();
    sinter_env with_io = *env;
    size_t rows = 0;

    with_io.io = bed->w.io;
    for (size_t i = 0; i < after->count; i++) {
        rows += after->files[i].row_count;
    }
    *records_out = test_pool_take(pool, (rows + 1) * sizeof **records_out);
    *count_out = 0;
    for (size_t i = 0; i < after->count; i++) {
        sinter_reader *reader = NULL;
        const sinter_batch *batch = NULL;
        char path[128];

        (void)snprintf(path, sizeof path, "%s/%s", world_dir, after->files[i].file_name);
        cr_assert_eq(
            bed->w.format.open_reader(bed->w.format.self, &with_io, path, &options, &reader, NULL),
            SINTER_OK);
        while (reader->ops->next(reader, &batch, NULL) == SINTER_OK) {
            for (uint32_t row = 0; row < batch->row_count; row++) {
                cr_assert_lt(*count_out, rows);
                (*records_out)[(*count_out)++] = (test_record){
                    .key = test_pool_copy(pool, sinter_batch_key(batch, row)),
                    .value = test_pool_copy(pool, batch->payload_ops->value(batch, row)),
                    .sequence = batch->sequences[row],
                    .kind = batch->kinds[row]};
            }
        }
        reader->ops->close(reader);
    }
}

static void
expect_model(flush_bed *bed, const char *when)
{
    test_runs runs = {0};
    model_result model;
    test_pool pool = {0};
    test_record *got = NULL;
    size_t count = 0;

    test_runs_add(&runs, bed->records, bed->count);
    model_merge(&runs, &bed->rules, &model);
    cr_assert_eq(model.status, SINTER_OK, "%s", when);
    read_files(bed, &pool, &got, &count);
    cr_assert_eq(count, model.count, "%s: %zu rows instead of %zu", when, count, model.count);
    for (size_t i = 0; i < count; i++) {
        cr_assert(test_bytes_equal(got[i].key, model.records[i]->key) &&
                      test_bytes_equal(got[i].value, model.records[i]->value) &&
                      got[i].sequence == model.records[i]->sequence &&
                      got[i].kind == model.records[i]->kind,
                  "%s: row %zu differs", when, i);
    }
    test_pool_fini(&pool);
    model_result_fini(&model);
    test_runs_fini(&runs);
}

static void
remove_files(flush_bed *bed)
{
    const sinter_file_list *after = sinter_compact_result_after(bed->result);

    for (size_t i = 0; i < after->count; i++) {
        char path[128];

        cr_assert_eq(after->files[i].level, 0);
        cr_assert_eq(after->files[i].file_source, SINTER_FILE_SOURCE_APPEND);
        cr_assert_eq(after->files[i].schema_id, 3);
        (void)snprintf(path, sizeof path, "%s/%s", world_dir, after->files[i].file_name);
        cr_assert_eq(bed->w.io->ops->unlink(bed->w.io, path, NULL), SINTER_OK);
    }
    sinter__result_cut_after(bed->result, 0);
}

sinter_status
flush_bed_flush(flush_bed *bed, const char *when, sinter_error *err)
{
    const uint64_t rows = sinter__write_buffer_rows(bed->buffer);
    const uint64_t held = sinter__write_buffer_bytes(bed->buffer);
    const sinter_status st = sinter__write_buffer_flush(bed->buffer, &bed->flush, bed->result, err);

    cr_assert_eq(rows, bed->count, "%s", when);
    if (st != SINTER_OK) {
        cr_assert_eq(sinter__write_buffer_rows(bed->buffer), rows, "%s: rows are gone", when);
        cr_assert_eq(sinter_compact_result_after(bed->result)->count, 0, "%s", when);
        cr_assert_eq(world_name_count(&bed->w), 0, "%s: a file stayed", when);
        return st;
    }
    cr_assert_eq(sinter__write_buffer_rows(bed->buffer), 0, "%s", when);
    cr_assert_leq(sinter__write_buffer_bytes(bed->buffer), held, "%s", when);
    cr_assert_eq(world_name_count(&bed->w), sinter_compact_result_after(bed->result)->count, "%s",
                 when);
    expect_model(bed, when);
    remove_files(bed);
    bed->count = 0;
    return SINTER_OK;
}

const char *
flush_bed_text_of(flush_bed *bed)
{
    static char text[4096];
    test_pool pool = {0};
    test_record *records = NULL;
    size_t count = 0;

    read_files(bed, &pool, &records, &count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const test_record *r = &records[i];

        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s%c%.*s ",
                       (int)r->key.size, (const char *)r->key.data,
                       sinter_kind_is_retract(r->kind) ? '-' : '=', (int)r->value.size,
                       (const char *)r->value.data);
    }
    test_pool_fini(&pool);
    return text;
}

void
flush_bed_fini(flush_bed *bed)
{
    sinter__write_buffer_destroy(bed->buffer);
    sinter_compact_result_destroy(bed->result);
    cr_assert_eq(sinter_memory_used(bed->memory), 0);
    sinter_memory_destroy(bed->memory);
    world_fini(&bed->w);
    test_pool_fini(&bed->pool);
    free(bed->records);
}
