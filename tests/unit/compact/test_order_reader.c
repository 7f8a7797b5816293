#include "compact/order_reader.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "files.h"
#include "support/fault_alloc.h"
#include "support/run_reader.h"

TestSuite(compact_order_reader, .timeout = 20);

/** How often the callback gives a sequence; 1 is right. */
static unsigned puts_per_row = 1;

/* As many bytes as the row's sequence says, none for 0. */
static sinter_status
row_order(void *ctx, const sinter_batch *batch, uint32_t row,
          sinter_status (*put)(void *put_ctx, const void *data, size_t size), void *put_ctx,
          sinter_error *err)
{
    static const uint8_t bytes[64] = {7};
    sinter_status st = SINTER_OK;

    (void)ctx;
    (void)err;
    for (unsigned i = 0; i < puts_per_row && st == SINTER_OK; i++) {
        st = put(put_ctx, bytes, (size_t)batch->sequences[row]);
    }
    return st;
}

static const sinter_order order = {.struct_size = sizeof order, .row = row_order};

static void
make_run(test_runs *runs)
{
    test_record records[20];
    char keys[20][4];

    *runs = (test_runs){.key_width = UINT32_MAX};
    for (int i = 0; i < 20; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "%02d", i);
        records[i] =
            (test_record){.key = test_pool_copy(&runs->pool, test_text(keys[i])), .sequence = i};
    }
    test_runs_add(runs, records, 20);
}

static sinter_status
read_orders(sinter_reader *reader, uint64_t *rows_out)
{
    const sinter_batch *batch = NULL;
    sinter_status st = SINTER_OK;

    while ((st = reader->ops->next(reader, &batch, NULL)) == SINTER_OK) {
        cr_assert_not_null(batch->orders, "also where all are empty");
        for (uint32_t i = 0; i < batch->row_count; i++) {
            cr_assert_eq(batch->order_offsets[i + 1] - batch->order_offsets[i],
                         batch->sequences[i]);
            (*rows_out)++;
        }
    }
    return st;
}

Test(compact_order_reader, every_row_gets_the_bytes_of_the_callback)
{
    for (uint32_t batch_rows = 0; batch_rows < 8; batch_rows++) {
        run_world source = {.batch_rows = batch_rows, .key_width = UINT32_MAX};
        sinter_reader *reader = NULL;
        test_runs runs;
        uint64_t rows = 0;

        make_run(&runs);
        cr_assert_eq(run_reader_open(&source, &runs.items[0], 0, &reader, NULL), SINTER_OK);
        cr_assert_eq(sinter__order_reader_open(sinter_env_default(), reader, &order, &reader, NULL),
                     SINTER_OK);
        cr_expect(reader->ops->peek == NULL && reader->ops->take == NULL);
        cr_expect_eq(read_orders(reader, &rows), SINTER_END);
        cr_expect_eq(rows, 20);
        reader->ops->close(reader);
        test_runs_fini(&runs);
    }
}

Test(compact_order_reader, stored_blocks_pass_through)
{
    run_world source = {.batch_rows = 5, .key_width = UINT32_MAX, .has_blocks = true};
    const sinter_block_info *info = NULL;
    const sinter_batch *batch = NULL;
    sinter_reader *reader = NULL;
    test_runs runs;

    make_run(&runs);
    cr_assert_eq(run_reader_open(&source, &runs.items[0], 0, &reader, NULL), SINTER_OK);
    cr_assert_eq(sinter__order_reader_open(sinter_env_default(), reader, &order, &reader, NULL),
                 SINTER_OK);
    cr_assert_eq(reader->ops->peek(reader, &info, NULL), SINTER_OK);
    cr_assert_eq(reader->ops->take(reader, &batch, NULL), SINTER_OK);
    cr_expect_neq(batch->flags & SINTER_BATCH_STORED, 0);
    cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_OK);
    cr_expect_eq(batch->order_offsets[1], 5);
    reader->ops->close(reader);
    test_runs_fini(&runs);
}

Test(compact_order_reader, a_callback_that_gives_none_or_two_is_refused)
{
    for (puts_per_row = 0; puts_per_row < 3; puts_per_row += 2) {
        run_world source = {.key_width = UINT32_MAX};
        const sinter_batch *batch = NULL;
        sinter_reader *reader = NULL;
        test_runs runs;

        make_run(&runs);
        cr_assert_eq(run_reader_open(&source, &runs.items[0], 0, &reader, NULL), SINTER_OK);
        cr_assert_eq(sinter__order_reader_open(sinter_env_default(), reader, &order, &reader, NULL),
                     SINTER_OK);
        cr_expect_eq(reader->ops->next(reader, &batch, NULL), SINTER_E_INVALID);
        reader->ops->close(reader);
        test_runs_fini(&runs);
    }
}

Test(compact_order_reader, every_allocation_may_fail_and_the_inner_reader_is_closed)
{
    sinter_status st = SINTER_E_NOMEM;

    puts_per_row = 1;
    for (uint64_t n = 0; st != SINTER_END; n++) {
        run_world source = {.batch_rows = 1 + (uint32_t)n, .key_width = UINT32_MAX};
        sinter_reader *reader = NULL;
        fault_alloc fault;
        test_runs runs;
        uint64_t rows = 0;

        make_run(&runs);
        fault_alloc_init(&fault, n);
        cr_assert_eq(run_reader_open(&source, &runs.items[0], 0, &reader, NULL), SINTER_OK);
        st = sinter__order_reader_open(&fault.env, reader, &order, &reader, NULL);
        if (st == SINTER_OK) {
            st = read_orders(reader, &rows);
            reader->ops->close(reader);
        }
        cr_assert(st == SINTER_END || st == SINTER_E_NOMEM);
        cr_assert_eq(source.live_readers, 0);
        cr_assert_eq(fault.live, 0);
        test_runs_fini(&runs);
    }
}
