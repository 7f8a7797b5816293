#include "compact/filter_reader.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "files.h"
#include "support/fault_alloc.h"
#include "support/run_reader.h"

TestSuite(compact_filter_reader, .timeout = 20);

static bool
keep_even(void *ctx, const sinter_batch *batch, uint32_t row)
{
    (*(uint64_t *)ctx)++;
    return batch->sequences[row] % 2 == 0;
}

static void
make_run(test_runs *runs)
{
    test_record records[20];
    char keys[20][4];

    *runs = (test_runs){.key_width = UINT32_MAX};
    for (int i = 0; i < 20; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "%02d", i);
        records[i] = (test_record){.key = test_pool_copy(&runs->pool, test_text(keys[i])),
                                   .sequence = i,
                                   .dropped = i % 5 == 0 ? SINTER_DROP_VECTOR : SINTER_DROP_KEEP};
    }
    test_runs_add(runs, records, 20);
}

/* Read all; every mark is what it should be. */
static sinter_status
read_marks(sinter_reader *reader, uint64_t *rows_out)
{
    const sinter_batch *batch = NULL;
    sinter_status st = SINTER_OK;

    while ((st = reader->ops->next(reader, &batch, NULL)) == SINTER_OK) {
        for (uint32_t i = 0; i < batch->row_count; i++) {
            const int64_t n = batch->sequences[i];
            const uint8_t expected = n % 5 == 0   ? SINTER_DROP_VECTOR
                                     : n % 2 == 0 ? SINTER_DROP_KEEP
                                                  : SINTER_DROP_EXPIRED;

            cr_assert_eq(batch->dropped[i], expected, "row %" PRId64, n);
            (*rows_out)++;
        }
    }
    return st;
}

Test(compact_filter_reader, refused_rows_are_marked_and_marks_from_below_stay)
{
    for (uint32_t batch_rows = 0; batch_rows < 8; batch_rows++) {
        run_world source = {
            .batch_rows = batch_rows, .key_width = UINT32_MAX, .has_blocks = batch_rows == 3};
        sinter_reader *reader = NULL;
        test_runs runs;
        uint64_t asked = 0;
        uint64_t rows = 0;

        make_run(&runs);
        cr_assert_eq(run_reader_open(&source, &runs.items[0], 0, &reader, NULL), SINTER_OK);
        cr_assert_eq(sinter__filter_reader_open(sinter_env_default(), reader, keep_even, &asked,
                                                &reader, NULL),
                     SINTER_OK);
        cr_expect(reader->ops->peek == NULL && reader->ops->take == NULL,
                  "each record has to be seen");
        cr_expect_eq(read_marks(reader, &rows), SINTER_END);
        cr_expect_eq(rows, 20);
        cr_expect_eq(asked, 16, "not asked for what is gone already");
        reader->ops->close(reader);
        cr_expect_eq(source.live_readers, 0);
        test_runs_fini(&runs);
    }
}

Test(compact_filter_reader, every_allocation_may_fail_and_the_inner_reader_is_closed)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_END; n++) {
        run_world source = {.batch_rows = 1 + (uint32_t)n, .key_width = UINT32_MAX};
        sinter_reader *reader = NULL;
        fault_alloc fault;
        test_runs runs;
        uint64_t asked = 0;
        uint64_t rows = 0;

        make_run(&runs);
        fault_alloc_init(&fault, n);
        cr_assert_eq(run_reader_open(&source, &runs.items[0], 0, &reader, NULL), SINTER_OK);
        st = sinter__filter_reader_open(&fault.env, reader, keep_even, &asked, &reader, NULL);
        if (st == SINTER_OK) {
            st = read_marks(reader, &rows);
            reader->ops->close(reader);
        }
        cr_assert(st == SINTER_END || st == SINTER_E_NOMEM);
        cr_assert_eq(source.live_readers, 0);
        cr_assert_eq(fault.live, 0);
        test_runs_fini(&runs);
    }
}
