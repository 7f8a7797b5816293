#include "compact/write_buffer.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "flush_bed.h"
#include "support/count_io.h"
#include "support/fault_alloc.h"

TestSuite(compact_write_buffer, .timeout = 120);

Test(compact_write_buffer, an_empty_one_holds_nothing_and_flushes_to_nothing)
{
    flush_bed bed;

    flush_bed_init(&bed, 1 << 20, NULL);
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    cr_expect_eq(sinter__write_buffer_bytes(bed.buffer), 0);
    cr_expect_eq(flush_bed_flush(&bed, "empty", NULL), SINTER_OK);
    cr_expect_eq(sinter__write_buffer_spill(bed.buffer, NULL), SINTER_END);
    sinter__write_buffer_destroy(NULL);
    flush_bed_fini(&bed);
}

Test(compact_write_buffer, a_full_one_says_so_and_takes_the_row_after_a_flush)
{
    test_rng rng = {1};
    sinter_error err = SINTER_ERROR_INIT;
    flush_bed bed;

    flush_bed_init(&bed, 20000, NULL);
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    for (int round = 0; round < 3; round++) {
        cr_assert_eq(flush_bed_random(&bed, &rng, 100000, 1000, 100, &err), SINTER_END);
        cr_expect_gt(bed.count, 100);
        cr_expect_eq(err.status, SINTER_OK, "to be full is no failure");
        cr_assert_eq(flush_bed_flush(&bed, "full", &err), SINTER_OK, "%s", err.text);
        cr_expect_gt(sinter__write_buffer_bytes(bed.buffer), 0, "kept for the next rows");
    }
    cr_assert_eq(flush_bed_flush(&bed, "nothing", &err), SINTER_OK);
    cr_expect_eq(sinter__write_buffer_bytes(bed.buffer), 0, "until nothing was put");
    flush_bed_text(&bed, "k", 0, "v");
    cr_assert_eq(flush_bed_flush(&bed, "not full", &err), SINTER_OK);
    cr_expect_eq(sinter__write_buffer_bytes(bed.buffer), 0);
    cr_expect_eq(sinter__write_buffer_spills(bed.buffer), 0);
    flush_bed_fini(&bed);
}

Test(compact_write_buffer, a_row_larger_than_all_of_it_is_refused_with_what_would_be_enough)
{
    static uint8_t large[50000];
    const sinter_bytes value = {large, sizeof large};
    sinter_error err = SINTER_ERROR_INIT;
    unsigned long long enough = 0;
    flush_bed bed;

    flush_bed_init(&bed, 20000, NULL);
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    cr_expect_eq(flush_bed_put(&bed, text_bytes("k"), 0, value, &err), SINTER_E_TOO_LARGE);
    cr_assert_not_null(strstr(err.text, "at least "), "%s", err.text);
    enough = strtoull(strstr(err.text, "at least ") + strlen("at least "), NULL, 10);
    flush_bed_text(&bed, "k", 0, "small");
    cr_expect_eq(flush_bed_put(&bed, text_bytes("k"), 0, value, NULL), SINTER_END,
                 "first what is in it");
    flush_bed_fini(&bed);

    flush_bed_init(&bed, enough, NULL);
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    cr_expect_eq(flush_bed_put(&bed, text_bytes("k"), 0, value, &err), SINTER_OK);
    cr_expect_eq(flush_bed_flush(&bed, "large", &err), SINTER_OK, "%s", err.text);
    flush_bed_fini(&bed);
}

Test(compact_write_buffer, buffers_that_share_memory_wait_for_each_other)
{
    test_rng rng = {1};
    sinter_memory *memory = NULL;
    flush_bed a;
    flush_bed b;

    cr_assert_eq(sinter_memory_create(sinter_env_default(), 30000, &memory, NULL), SINTER_OK);
    flush_bed_init(&a, 1 << 20, NULL);
    flush_bed_init(&b, 1 << 20, NULL);
    a.config.memory = memory;
    b.config.memory = memory;
    cr_assert_eq(flush_bed_open(&a), SINTER_OK);
    cr_assert_eq(flush_bed_open(&b), SINTER_OK);
    cr_assert_eq(flush_bed_random(&a, &rng, 10000, 100, 50, NULL), SINTER_END);
    cr_expect_eq(
        flush_bed_put(&b, text_bytes("k"), 0, (sinter_bytes){(const uint8_t *)"", 0}, NULL),
        SINTER_END, "no refusal: it is the other that holds the memory");
    cr_assert_eq(flush_bed_flush(&a, "shared", NULL), SINTER_OK);
    cr_expect_gt(sinter__write_buffer_bytes(a.buffer), 0, "it was full");
    cr_assert_eq(sinter__write_buffer_spill(a.buffer, NULL), SINTER_OK);
    cr_expect_eq(sinter__write_buffer_bytes(a.buffer), 0, "until it is asked for it");
    flush_bed_text(&b, "k", 0, "");
    cr_assert_eq(flush_bed_flush(&b, "shared", NULL), SINTER_OK);
    flush_bed_fini(&a);
    flush_bed_fini(&b);
    cr_expect_eq(sinter_memory_used(memory), 0);
    sinter_memory_destroy(memory);
}

Test(compact_write_buffer, sequence_numbers_that_go_back_and_unknown_kinds_are_refused)
{
    const sinter_bytes value = {(const uint8_t *)"v", 1};
    sinter_error err = SINTER_ERROR_INIT;
    flush_bed bed;

    flush_bed_init(&bed, 20000, NULL);
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    bed.next_sequence = 7;
    flush_bed_text(&bed, "k", 0, "v");
    cr_expect_eq(sinter__write_buffer_put(bed.buffer, value, 7, 0, value, &err), SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "7 comes after 7"), "%s", err.text);
    cr_expect_eq(sinter__write_buffer_put(bed.buffer, value, 8, 4, value, &err), SINTER_E_INVALID);
    cr_expect_eq(sinter__write_buffer_put(bed.buffer,
                                          (sinter_bytes){value.data, SINTER_KEY_BYTES_MAX + 1}, 8,
                                          0, value, &err),
                 SINTER_E_TOO_LARGE);
    cr_expect_eq(sinter__write_buffer_rows(bed.buffer), 1);
    flush_bed_fini(&bed);
}

Test(compact_write_buffer, one_that_spills_goes_on_until_its_file_is_large_enough)
{
    test_rng rng = {3};
    uint64_t rows = 0;
    flush_bed bed;

    flush_bed_init(&bed, 20000, NULL);
    flush_bed_spills(&bed);
    bed.config.spill_bytes_max = 100000;
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    cr_assert_eq(flush_bed_random(&bed, &rng, 100000, 1000, 100, NULL), SINTER_END);
    rows = bed.count;
    cr_expect_geq(sinter__write_buffer_spills(bed.buffer), 5);
    cr_expect_lt(sinter__write_buffer_spills(bed.buffer), 12);
    cr_expect_gt(rows, 1000);
    cr_assert_eq(flush_bed_flush(&bed, "spilled", NULL), SINTER_OK);
    cr_expect_eq(world_name_count(&bed.w), 0, "the file of spilled rows has no name");
    flush_bed_text(&bed, "k", 0, "again");
    cr_assert_eq(flush_bed_flush(&bed, "after", NULL), SINTER_OK);
    flush_bed_fini(&bed);
}

Test(compact_write_buffer, memory_is_given_up_by_spilling_when_asked)
{
    flush_bed bed;

    flush_bed_init(&bed, 20000, NULL);
    flush_bed_spills(&bed);
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    flush_bed_text(&bed, "b", 0, "1");
    flush_bed_text(&bed, "a", 0, "2");
    cr_expect_eq(sinter__write_buffer_spill(bed.buffer, NULL), SINTER_OK);
    cr_expect_eq(sinter__write_buffer_bytes(bed.buffer), 0);
    cr_expect_eq(sinter_memory_used(bed.memory), 0);
    cr_expect_eq(sinter__write_buffer_rows(bed.buffer), 2);
    cr_expect_eq(sinter__write_buffer_spill(bed.buffer, NULL), SINTER_END, "nothing is left");
    flush_bed_text(&bed, "a", 0, "3");
    cr_assert_eq(flush_bed_flush(&bed, "given up", NULL), SINTER_OK);
    flush_bed_fini(&bed);
}

/* Spilling fails at every call in turn: the row is refused, all others stay, and when the fault is
 * over it goes on, spills again and loses nothing. */
Test(compact_write_buffer, after_a_failure_of_spilling_it_goes_on_and_nothing_is_lost)
{
    static const sinter_fault_kind kinds[] = {SINTER_FAULT_EIO, SINTER_FAULT_ENOSPC,
                                              SINTER_FAULT_TORN_WRITE};

    for (size_t k = 0; k < 3; k++) {
        bool went_through = false;

        for (uint64_t n = 0; !went_through; n++) {
            const sinter_fault_options rule = {
                .struct_size = sizeof rule, .kind = kinds[k], .at_call = n};
            const sinter_fault_options none = {.struct_size = sizeof none, .at_call = UINT64_MAX};
            test_rng rng = {5};
            sinter_io *fault = NULL;
            sinter_error err = SINTER_ERROR_INIT;
            sinter_status st = SINTER_OK;
            count_io count;
            flush_bed bed;

            flush_bed_init(&bed, 20000, NULL);
            flush_bed_spills(&bed);
            count_io_init(&count, bed.w.io);
            cr_assert_eq(
                sinter_io_fault_create(sinter_env_default(), &count.base, &rule, &fault, NULL),
                SINTER_OK);
            bed.w.env.io = fault;
            cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
            st = flush_bed_random(&bed, &rng, 2000, 500, 100, &err);
            went_through = st == SINTER_OK;
            cr_assert(went_through || st == SINTER_E_IO || st == SINTER_E_NO_SPACE);
            sinter_io_fault_set(fault, &none);
            cr_assert_eq(flush_bed_random(&bed, &rng, 1000, 500, 100, &err), SINTER_OK, "%s",
                         err.text);
            cr_expect_gt(sinter__write_buffer_spills(bed.buffer), 1);
            cr_assert_eq(flush_bed_flush(&bed, "after the fault", &err), SINTER_OK,
                         "call %" PRIu64 ": %s", n, err.text);
            cr_assert_eq(count.open_files, 0);
            flush_bed_fini(&bed);
            sinter_io_destroy(fault);
        }
    }
}

Test(compact_write_buffer, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        test_rng rng = {5};
        fault_alloc fault;
        flush_bed bed;

        fault_alloc_init(&fault, n);
        flush_bed_init(&bed, 20000, &fault.env.allocator);
        flush_bed_spills(&bed);
        st = flush_bed_open(&bed);
        if (st == SINTER_OK) {
            st = flush_bed_random(&bed, &rng, 1000, 500, 100, NULL);
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        flush_bed_fini(&bed);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
}
