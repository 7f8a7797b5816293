#include "compact/run_reader.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "compact/age.h"
#include "support/count_io.h"
#include "support/fault_alloc.h"
#include "world.h"

TestSuite(compact_run_reader, .timeout = 60);

/** A run of three files of the bucket. */
typedef struct setting {
    world w;
    count_io io;
    sinter__read_counters counters;
    sinter__read_config config;
    const sinter_file_meta *files[3];
    const sinter_file_meta *by_age[3];
    sinter__run run;
} setting;

static void
set_up(setting *s, bool is_columnar)
{
    const test_record a[] = {world_record("a", 1, "1"), world_record("b", 2, "2")};
    const test_record b[] = {world_record("c", 3, "3")};
    const test_record c[] = {world_record("d", 4, "4"), world_record("e", 5, "5")};

    *s = (setting){.counters = {0}};
    world_init(&s->w, is_columnar, NULL);
    world_add(&s->w, 0, a, 2);
    world_add(&s->w, 3, b, 1);
    world_add(&s->w, 0, c, 2);
    count_io_init(&s->io, s->w.io);
    s->w.env.io = &s->io.base;
    s->config = (sinter__read_config){
        .format = &s->w.format, .base_dir = world_dir, .counters = &s->counters};
    for (size_t i = 0; i < 3; i++) {
        s->files[i] = &s->w.files[i];
        s->by_age[i] = &s->w.files[i];
    }
    sinter__age_sort(s->by_age, 3);
    s->run = (sinter__run){.config = &s->config,
                           .files = s->files,
                           .count = 3,
                           .by_age = s->by_age,
                           .by_age_count = 3};
}

static sinter_reader *
open_run(setting *s)
{
    sinter_reader *reader = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter__run_reader_open(&s->w.env, &s->run, &reader, &err), SINTER_OK, "%s",
                 err.text);
    return reader;
}

Test(compact_run_reader, files_follow_each_other_with_one_open_at_a_time)
{
    for (int columnar = 0; columnar < 2; columnar++) {
        const sinter_batch *batch = NULL;
        sinter_reader *reader = NULL;
        static const uint32_t origins[] = {1, 0, 2};
        static const uint32_t rows[] = {2, 1, 2};
        setting s;

        set_up(&s, columnar != 0);
        reader = open_run(&s);
        for (size_t i = 0; i < 3; i++) {
            cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_OK);
            cr_expect_eq(batch->origin, origins[i], "the file of level 3 is the oldest");
            cr_expect_eq(batch->row_count, rows[i]);
            cr_expect_eq(s.io.open_files, 1);
        }
        cr_expect_eq(reader->ops->next(reader, &batch, NULL), SINTER_END);
        cr_expect_eq(reader->ops->next(reader, &batch, NULL), SINTER_END, "and stays there");
        cr_expect_eq(s.io.open_files_max, 1);
        cr_expect_eq(s.counters.files_opened, 3);
        cr_expect_eq(s.counters.rows_read, 5);
        cr_expect_eq(s.counters.blocks_read, 3);
        cr_expect_eq(s.counters.bytes_done,
                     s.w.files[0].file_size + s.w.files[1].file_size + s.w.files[2].file_size);
        reader->ops->close(reader);
        cr_expect_eq(s.io.open_files, 0);
        world_fini(&s.w);
    }
}

Test(compact_run_reader, stored_blocks_can_be_peeked_at_and_taken_over_file_borders)
{
    const sinter_block_info *info = NULL;
    const sinter_batch *batch = NULL;
    sinter_reader *reader = NULL;
    setting s;

    set_up(&s, false);
    reader = open_run(&s);
    cr_assert(reader->ops->peek != NULL && reader->ops->take != NULL);
    cr_assert_eq(reader->ops->peek(reader, &info, NULL), SINTER_OK);
    cr_expect(test_bytes_equal(info->last_key, test_text("b")));
    cr_assert_eq(reader->ops->take(reader, &batch, NULL), SINTER_OK);
    cr_expect_eq(batch->row_count, 2);
    cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_OK);
    cr_expect_eq(batch->row_count, 1);
    cr_assert_eq(reader->ops->peek(reader, &info, NULL), SINTER_OK);
    cr_expect(test_bytes_equal(info->first_key, test_text("d")));
    cr_assert_eq(reader->ops->take(reader, &batch, NULL), SINTER_OK);
    cr_expect_eq(reader->ops->peek(reader, &info, NULL), SINTER_END);
    cr_expect_eq(reader->ops->peek(reader, &info, NULL), SINTER_END);
    cr_expect_eq(s.counters.blocks_read, 1, "taken ones are not decoded");
    cr_expect_eq(s.counters.rows_read, 5);
    reader->ops->close(reader);
    world_fini(&s.w);
}

Test(compact_run_reader, a_format_without_stored_blocks_offers_none)
{
    sinter_reader *reader = NULL;
    setting s;

    set_up(&s, true);
    reader = open_run(&s);
    cr_expect(reader->ops->peek == NULL && reader->ops->take == NULL);
    reader->ops->close(reader);
    world_fini(&s.w);
}

static sinter_status
drain(sinter_reader *reader, bool takes, sinter_error *err)
{
    const sinter_block_info *info = NULL;
    const sinter_batch *batch = NULL;
    sinter_status st = SINTER_OK;

    while (st == SINTER_OK) {
        st = takes ? reader->ops->peek(reader, &info, err) : reader->ops->next(reader, &batch, err);
        if (takes && st == SINTER_OK) {
            st = reader->ops->take(reader, &batch, err);
        }
    }
    return st;
}

Test(compact_run_reader, metadata_that_a_file_contradicts_is_damage_however_it_is_read)
{
    for (int lie = 0; lie < 6; lie++) {
        sinter_reader *reader = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_file_meta *file = NULL;
        setting s;

        set_up(&s, false);
        file = &s.w.files[1];
        switch (lie / 2) {
        case 0:
            file->row_count = 2;
            break;
        case 1:
            file->max_key = text_bytes("bz");
            break;
        default:
            file->min_key = text_bytes("cc");
            break;
        }
        reader = open_run(&s);
        cr_expect_eq(drain(reader, lie % 2 != 0, &err), SINTER_E_CORRUPT, "lie %d", lie);
        cr_expect_str_eq(err.file, "bucket/in-001.sst");
        reader->ops->close(reader);
        cr_expect_eq(s.io.open_files, 0);
        world_fini(&s.w);
    }
}

Test(compact_run_reader, bounds_wider_than_the_truth_are_fine)
{
    sinter_reader *reader = NULL;
    setting s;

    set_up(&s, false);
    s.w.files[1].min_key = text_bytes("bb");
    s.w.files[1].max_key = text_bytes("cz");
    reader = open_run(&s);
    cr_expect_eq(drain(reader, false, NULL), SINTER_END);
    reader->ops->close(reader);
    world_fini(&s.w);
}

Test(compact_run_reader, a_file_that_is_gone_is_named)
{
    sinter_reader *reader = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    setting s;

    set_up(&s, false);
    cr_assert_eq(s.w.io->ops->unlink(s.w.io, "bucket/in-001.sst", NULL), SINTER_OK);
    reader = open_run(&s);
    cr_expect_eq(drain(reader, false, &err), SINTER_E_NOT_FOUND);
    cr_expect_str_eq(err.file, "bucket/in-001.sst");
    reader->ops->close(reader);
    world_fini(&s.w);
}

Test(compact_run_reader, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_END; n++) {
        sinter_reader *reader = NULL;
        fault_alloc fault;
        setting s;

        set_up(&s, false);
        fault_alloc_init(&fault, n);
        s.w.env.allocator = fault.env.allocator;
        st = sinter__run_reader_open(&s.w.env, &s.run, &reader, NULL);
        if (st == SINTER_OK) {
            st = drain(reader, n % 2 != 0, NULL);
            reader->ops->close(reader);
        }
        cr_assert(st == SINTER_END || st == SINTER_E_NOMEM);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        cr_assert_eq(s.io.open_files, 0);
        world_fini(&s.w);
    }
}
