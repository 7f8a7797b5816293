/*
 * Rescue: one byte of damage costs one block at most, nothing that was not in the file comes out of
 * it, and the damaged file stays as it is.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sst/layout.h"
#include "sst_support.h"

TestSuite(sst_rescue, .timeout = 300);

enum { ROWS = 60 };

typedef struct bed {
    sst_world world;
    test_pool pool;
    test_run run;
    uint8_t *bytes; /* of the intact file, "good.sst" */
    size_t size;
    uint64_t largest; /* rows of the largest block */
    uint64_t losses;
    uint64_t bytes_lost;
} bed;

static sinter_status
see_block(void *ctx, const sinter_sst_block *block)
{
    bed *b = ctx;

    b->largest = block->row_count > b->largest ? block->row_count : b->largest;
    return SINTER_OK;
}

static void
bed_init(bed *b, int codec)
{
    const sst_shape shape = {.count = ROWS,
                             .key_min = 3,
                             .key_max = 9,
                             .value_max = 60,
                             .delete_percent = 20,
                             .sequence_space = 100000};
    const sst_plan plan = {.options = {.block_bytes = 150,
                                       .codec = codec,
                                       .filter_bits_per_key = 8,
                                       .schema_id = 7,
                                       .key_types = "BYTES"},
                           .page_bytes = 300};
    test_rng rng = {.state = 99};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_sst *sst = NULL;

    memset(b, 0, sizeof *b);
    sst_world_init(&b->world);
    b->run = sst_records(&rng, &shape, &b->pool);
    cr_assert_eq(sst_write(&b->world.env, "good.sst", &b->run, &plan, NULL, &err), SINTER_OK, "%s",
                 err.text);
    b->bytes = sst_file_bytes(&b->world.env, "good.sst", &b->size);
    cr_assert_eq(sinter_sst_open(&b->world.env, "good.sst", &sst, &err), SINTER_OK);
    cr_assert_eq(sinter_sst_each_block(sst, see_block, b, &err), SINTER_OK);
    sinter_sst_close(sst);
}

static void
bed_fini(bed *b)
{
    sst_unlink(&b->world.env, "good.sst");
    free(b->bytes);
    test_pool_fini(&b->pool);
    sst_world_fini(&b->world);
}

static void
on_loss(void *ctx, const sinter_sst_loss *loss)
{
    bed *b = ctx;

    cr_assert_gt(loss->size, 0);
    cr_assert_leq(loss->offset, b->size);
    cr_assert_leq(loss->size, b->size + 1 - loss->offset);
    cr_assert_not_null(loss->text);
    cr_assert_neq(loss->text[0], '\0');
    b->losses++;
    b->bytes_lost += loss->size;
}

static sinter_status
rescue(bed *b, const char *like, sinter_sst_rescue_result *out, sinter_error *err)
{
    const sinter_sst_rescue_options options = {.struct_size = sizeof options,
                                               .out_path = "out.sst",
                                               .like_path = like,
                                               .lost = on_loss,
                                               .lost_ctx = b};

    b->losses = 0;
    b->bytes_lost = 0;
    *out = (sinter_sst_rescue_result){.struct_size = sizeof *out};
    return sinter_sst_rescue(&b->world.env, "bad.sst", &options, out, err);
}

/* The new file is in order, and each of its rows is one of the old file. */
static void
check_out(bed *b, const sinter_sst_rescue_result *result, size_t where)
{
    const sinter_read_options options = {.struct_size = sizeof options};
    const sinter_format *format = sinter_format_sst();
    sinter_error err = SINTER_ERROR_INIT;
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    size_t at = 0;
    uint64_t rows = 0;

    cr_assert_eq(result->has_file, result->rows_copied > 0);
    if (!result->has_file) {
        return;
    }
    cr_assert_eq(sinter_sst_verify(&b->world.env, "out.sst", NULL, &err), SINTER_OK, "%zu: %s",
                 where, err.text);
    cr_assert_eq(
        format->open_reader(format->self, &b->world.env, "out.sst", &options, &reader, &err),
        SINTER_OK);
    while (reader->ops->next(reader, &batch, &err) == SINTER_OK) {
        for (uint32_t row = 0; row < batch->row_count; row++, rows++) {
            const sinter_bytes key = sinter_batch_key(batch, row);
            const sinter_bytes value = batch->payload_ops->value(batch, row);

            while (at < b->run.count && !test_bytes_equal(b->run.records[at].key, key)) {
                at++;
            }
            cr_assert_lt(at, b->run.count, "byte %zu: a row that was never there", where);
            cr_assert(test_bytes_equal(b->run.records[at].value, value) &&
                          b->run.records[at].sequence == batch->sequences[row] &&
                          b->run.records[at].kind == batch->kinds[row],
                      "byte %zu: a row is not what it was", where);
            at++;
        }
    }
    reader->ops->close(reader);
    cr_assert_eq(rows, result->rows_copied);
    sst_unlink(&b->world.env, "out.sst");
}

static void
try_bytes(bed *b, const uint8_t *bytes, size_t size, size_t where, sinter_sst_rescue_result *result)
{
    sinter_error err = SINTER_ERROR_INIT;
    size_t size_after = 0;
    uint8_t *after = NULL;

    sst_put_file(&b->world.env, "bad.sst", bytes, size);
    cr_assert_eq(rescue(b, NULL, result, &err), SINTER_OK, "byte %zu: %s", where, err.text);
    cr_assert_eq(result->losses, b->losses);
    cr_assert_eq(result->bytes_lost, b->bytes_lost);
    cr_assert(!result->is_complete || result->rows_copied == ROWS, "byte %zu", where);
    check_out(b, result, where);
    after = sst_file_bytes(&b->world.env, "bad.sst", &size_after);
    cr_assert(size_after == size && memcmp(after, bytes, size) == 0, "the damaged file changed");
    free(after);
    sst_unlink(&b->world.env, "bad.sst");
}

static void
flip_each(int codec)
{
    sinter_sst_rescue_result result;
    bed b;

    bed_init(&b, codec);
    cr_assert_leq(b.largest * 5, ROWS, "too few blocks");
    try_bytes(&b, b.bytes, b.size, SIZE_MAX, &result);
    cr_expect(result.is_complete && result.losses == 0);
    for (size_t at = 0; at < b.size; at++) {
        b.bytes[at] ^= (uint8_t)(1u << at % 8);
        try_bytes(&b, b.bytes, b.size, at, &result);
        cr_assert_geq(result.rows_copied, ROWS - b.largest, "byte %zu costs more than a block", at);
        cr_assert(result.is_complete || result.losses > 0, "byte %zu: nobody was told", at);
        b.bytes[at] ^= (uint8_t)(1u << at % 8);
    }
    bed_fini(&b);
}

Test(sst_rescue, a_flipped_bit_costs_one_block_at_most_without_codec)
{
    flip_each(SINTER_CODEC_NONE);
}

Test(sst_rescue, a_flipped_bit_costs_one_block_at_most_with_zstd)
{
    flip_each(SINTER_CODEC_ZSTD);
}

Test(sst_rescue, of_a_file_that_was_cut_the_whole_blocks_come_back)
{
    sinter_sst_rescue_result result;
    uint64_t before = 0;
    bed b;

    bed_init(&b, SINTER_CODEC_ZSTD);
    for (size_t cut = SINTER__SST_HEADER_BYTES + SINTER__SST_FOOTER_BYTES; cut < b.size; cut++) {
        try_bytes(&b, b.bytes, cut, cut, &result);
        cr_assert_geq(result.rows_copied, before, "more of the file and fewer rows, %zu", cut);
        cr_assert_not(result.is_complete);
        cr_assert_not(result.knows_rows);
        before = result.rows_copied;
    }
    cr_expect_eq(before, ROWS, "only the end of the footer was missing");
    bed_fini(&b);
}

Test(sst_rescue, types_that_are_lost_are_those_of_another_file)
{
    sinter_sst_properties found = {.struct_size = sizeof found};
    sinter_sst_rescue_result result;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_sst *sst = NULL;
    bed b;

    bed_init(&b, SINTER_CODEC_ZSTD);
    sst_put_file(&b.world.env, "bad.sst", b.bytes, b.size - 1);
    cr_assert_eq(rescue(&b, "good.sst", &result, &err), SINTER_OK, "%s", err.text);
    cr_expect(result.knows_types);
    cr_expect_eq(result.fault.status, SINTER_E_CORRUPT);
    cr_assert_eq(sinter_sst_open(&b.world.env, "out.sst", &sst, &err), SINTER_OK);
    sinter_sst_properties_get(sst, &found);
    cr_expect_str_eq(found.key_types, "BYTES");
    cr_expect_eq(found.schema_id, 7);
    cr_expect_eq(found.filter_bits_per_key, 8);
    sinter_sst_close(sst);
    cr_expect_eq(rescue(&b, "good.sst", &result, &err), SINTER_E_EXISTS, "out.sst is there");
    sst_unlink(&b.world.env, "out.sst");
    cr_assert_eq(rescue(&b, NULL, &result, &err), SINTER_OK);
    cr_expect_not(result.knows_types);
    sst_unlink(&b.world.env, "out.sst");
    sst_unlink(&b.world.env, "bad.sst");
    bed_fini(&b);
}

Test(sst_rescue, a_file_inside_of_a_value_is_not_taken_for_rows)
{
    const sst_plan plan = {.options = {.codec = SINTER_CODEC_NONE}};
    sinter_sst_rescue_result result;
    sinter_error err = SINTER_ERROR_INIT;
    test_record record;
    test_run one = {.records = &record, .count = 1};
    uint8_t *bytes = NULL;
    size_t size = 0;
    bed b;

    bed_init(&b, SINTER_CODEC_NONE);
    record = (test_record){.key = SST_BYTES("outer"), .value = {b.bytes, b.size}, .sequence = 1};
    cr_assert_eq(sst_write(&b.world.env, "outer.sst", &one, &plan, NULL, &err), SINTER_OK);
    bytes = sst_file_bytes(&b.world.env, "outer.sst", &size);
    sst_put_file(&b.world.env, "bad.sst", bytes, size - 1);
    b.run = one;
    b.size = size;
    cr_assert_eq(rescue(&b, NULL, &result, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(result.rows_copied, 1);
    check_out(&b, &result, 0);
    free(bytes);
    sst_unlink(&b.world.env, "outer.sst");
    sst_unlink(&b.world.env, "bad.sst");
    bed_fini(&b);
}

Test(sst_rescue, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    bed b;

    bed_init(&b, SINTER_CODEC_ZSTD);
    b.bytes[b.size / 2] ^= 1;
    sst_put_file(&b.world.env, "bad.sst", b.bytes, b.size);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_sst_rescue_result result;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_io_stat about;
        sinter_io *io = b.world.io;

        sst_world_fail_allocation(&b.world, n);
        st = rescue(&b, NULL, &result, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st), "%s", err.text);
        sst_world_fail_allocation(&b.world, UINT64_MAX);
        cr_assert_eq(io->ops->stat(io, "out.sst", &about, NULL),
                     st == SINTER_OK ? SINTER_OK : SINTER_E_NOT_FOUND);
    }
    sst_unlink(&b.world.env, "out.sst");
    sst_unlink(&b.world.env, "bad.sst");
    bed_fini(&b);
}

Test(sst_rescue, a_block_that_cannot_be_read_is_lost_and_a_write_that_fails_ends_it)
{
    sinter_io *faulty = NULL;
    bool was_hit = true;
    uint64_t losses = 0;
    bed b;

    bed_init(&b, SINTER_CODEC_ZSTD);
    sst_put_file(&b.world.env, "bad.sst", b.bytes, b.size);
    for (uint64_t n = 0; was_hit; n++) {
        const sinter_fault_options options = {
            .struct_size = sizeof options, .kind = SINTER_FAULT_EIO, .at_call = n};
        sinter_sst_rescue_result result;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_status st = SINTER_OK;

        cr_assert_eq(
            sinter_io_fault_create(sinter_env_default(), b.world.io, &options, &faulty, NULL),
            SINTER_OK);
        b.world.env.io = faulty;
        st = rescue(&b, NULL, &result, &err);
        was_hit = sinter_io_fault_calls(faulty) > n;
        b.world.env.io = b.world.io;
        sinter_io_destroy(faulty);
        cr_assert(st == SINTER_OK || st == SINTER_E_IO, "call %llu: %s", (unsigned long long)n,
                  err.text);
        losses += result.losses;
        if (st == SINTER_OK) {
            check_out(&b, &result, n);
        }
    }
    cr_expect_gt(losses, 5, "reads that failed were no losses");
    sst_unlink(&b.world.env, "bad.sst");
    bed_fini(&b);
}
