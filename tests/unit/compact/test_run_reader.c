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
        uint64_t done = 0;
        setting s;

        set_up(&s, columnar != 0);
        reader = open_run(&s);
        for (size_t i = 0; i < 3; i++) {
            cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_OK);
            cr_expect_eq(batch->origin, origins[i], "the file of level 3 is the oldest");
            cr_expect_eq(batch->row_count, rows[i]);
            cr_expect_eq(s.io.open_files, 1);
            done += s.w.files[i].file_size;
            cr_expect_eq(s.counters.bytes_done, done, "bytes are done with the rows they hold");
        }
        cr_expect_eq(reader->ops->next(reader, &batch, NULL), SINTER_END);
        cr_expect_eq(reader->ops->next(reader, &batch, NULL), SINTER_END, "and stays there");
        cr_expect_eq(s.io.open_files_max, 1);
        cr_expect_eq(s.counters.files_opened, 3);
        cr_expect_eq(s.counters.rows_read, 5);
        cr_expect_eq(s.counters.blocks_read, 3);
        cr_expect_eq(s.counters.bytes_done, done);
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

Test(compact_run_reader, the_next_file_is_begun_when_all_of_the_open_one_was)
{
    for (int takes = 0; takes < 2; takes++) {
        sinter_reader *reader = NULL;
        const sinter_batch *batch = NULL;
        const sinter_block_info *info = NULL;
        static const int64_t open_files[] = {2, 2, 1};
        setting s;

        set_up(&s, false);
        s.run.reads_ahead = true;
        reader = open_run(&s);
        cr_expect_eq(s.io.open_files, 1, "nothing was read yet");
        for (size_t i = 0; i < 3; i++) {
            if (takes != 0) {
                cr_assert_eq(reader->ops->peek(reader, &info, NULL), SINTER_OK);
                cr_assert_eq(reader->ops->take(reader, &batch, NULL), SINTER_OK);
            } else {
                cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_OK);
            }
            cr_expect_eq(s.io.open_files, open_files[i], "%zu: %" PRId64, i, s.io.open_files);
            cr_expect_eq(s.io.reads, open_files[i] - 1, "%zu: %" PRId64, i, s.io.reads);
        }
        cr_expect_eq(reader->ops->next(reader, &batch, NULL), SINTER_END);
        cr_expect_eq(s.io.opened, 3);
        cr_expect_eq(s.counters.files_opened, 3);
        cr_expect_eq(s.counters.rows_read, 5);
        reader->ops->close(reader);
        cr_expect_eq(s.io.open_files, 0);
        world_fini(&s.w);
    }
}

Test(compact_run_reader, the_next_file_waits_until_no_read_of_the_open_one_is_left_to_begin)
{
    const sinter_file_meta *files[2];
    const sinter_batch *batch = NULL;
    sinter_reader *reader = NULL;
    uint64_t rows = 0;
    setting s;

    set_up(&s, false);
    s.w.env.io = s.w.io;
    s.w.write.block_bytes = 2000;
    (void)world_add_rows(&s.w, 0, 0, 1, 400, 1, 100);
    (void)world_add_rows(&s.w, 0, 1000, 1, 10, 1001, 100);
    s.w.env.io = &s.io.base;
    files[0] = &s.w.files[3];
    files[1] = &s.w.files[4];
    s.run = (sinter__run){.config = &s.config,
                          .files = files,
                          .count = 2,
                          .by_age = files,
                          .by_age_count = 2,
                          .read_bytes = 1,
                          .reads_ahead = true};
    reader = open_run(&s);
    while (rows < 400) {
        cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_OK);
        rows += batch->row_count;
        cr_expect_eq(s.io.open_files, rows < 400 ? 1 : 2, "after %" PRIu64 " rows", rows);
        cr_expect_eq(s.io.reads, 1, "after %" PRIu64 " rows", rows);
    }
    reader->ops->close(reader);
    cr_expect_eq(s.io.open_files, 0);
    cr_expect_eq(s.io.reads, 0, "a read that nobody wants any more is waited for");
    world_fini(&s.w);
}

Test(compact_run_reader, a_format_that_cannot_tell_is_not_read_ahead)
{
    sinter_reader *reader = NULL;
    setting s;

    set_up(&s, true);
    s.run.reads_ahead = true;
    reader = open_run(&s);
    cr_expect_eq(drain(reader, false, NULL), SINTER_END);
    cr_expect_eq(s.io.open_files_max, 1);
    reader->ops->close(reader);
    world_fini(&s.w);
}

Test(compact_run_reader, what_is_wrong_with_the_next_file_is_told_when_it_is_reached)
{
    for (int kind = 0; kind < 4; kind++) {
        const bool is_gone = kind / 2 == 0;
        const sinter_fault_options rule = {.struct_size = sizeof rule,
                                           .kind = is_gone ? SINTER_FAULT_NONE : SINTER_FAULT_EIO,
                                           .only_op = "read_begin",
                                           .at_call = 1};
        const sinter_batch *batch = NULL;
        sinter_reader *reader = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_io *fault = NULL;
        setting s;

        set_up(&s, false);
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), &s.io.base, &rule, &fault, NULL),
                     SINTER_OK);
        s.w.env.io = fault;
        s.run.reads_ahead = true;
        if (is_gone) {
            cr_assert_eq(s.w.io->ops->unlink(s.w.io, "bucket/in-001.sst", NULL), SINTER_OK);
        }
        reader = open_run(&s);
        cr_assert_eq(reader->ops->next(reader, &batch, &err), SINTER_OK, "%s", err.text);
        cr_expect_eq(batch->row_count, 2);
        cr_expect_eq(drain(reader, kind % 2 != 0, &err),
                     is_gone ? SINTER_E_NOT_FOUND : SINTER_E_IO);
        cr_expect_str_eq(err.file, "bucket/in-001.sst");
        reader->ops->close(reader);
        cr_expect_eq(s.io.open_files, 0);
        sinter_io_destroy(fault);
        world_fini(&s.w);
    }
}

/** Read the run within a budget. */
static sinter_status
drain_within(uint64_t budget, bool reads_ahead, int64_t *open_files_out)
{
    sinter_reader *reader = NULL;
    sinter_status st = SINTER_OK;
    setting s;

    set_up(&s, false);
    cr_assert_eq(sinter_memory_create(sinter_env_default(), budget, &s.w.env.memory, NULL),
                 SINTER_OK);
    s.run.reads_ahead = reads_ahead;
    st = sinter__run_reader_open(&s.w.env, &s.run, &reader, NULL);
    if (st == SINTER_OK) {
        st = drain(reader, false, NULL);
        reader->ops->close(reader);
    }
    *open_files_out = s.io.open_files_max;
    cr_expect_eq(s.io.open_files, 0);
    cr_expect_eq(sinter_memory_used(s.w.env.memory), 0);
    sinter_memory_destroy(s.w.env.memory);
    s.w.env.memory = NULL;
    world_fini(&s.w);
    return st;
}

Test(compact_run_reader, a_file_that_has_no_room_beside_the_open_one_is_opened_later)
{
    unsigned refused = 0;
    unsigned ahead = 0;

    for (uint64_t budget = 1000; budget < 40000; budget += 500) {
        int64_t open_files = 0;
        const sinter_status st = drain_within(budget, false, &open_files);

        cr_expect_eq(drain_within(budget, true, &open_files), st, "budget %" PRIu64, budget);
        cr_assert(st == SINTER_END || st == SINTER_E_TOO_LARGE);
        refused += st == SINTER_E_TOO_LARGE ? 1 : 0;
        ahead += open_files == 2 ? 1 : 0;
    }
    cr_expect_gt(refused, 0);
    cr_expect_gt(ahead, 0);
}

Test(compact_run_reader, every_io_call_may_fail_with_a_file_ahead)
{
    bool was_hit = true;

    for (uint64_t n = 0; was_hit; n++) {
        const sinter_fault_options rule = {
            .struct_size = sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = n};
        sinter_reader *reader = NULL;
        sinter_io *fault = NULL;
        sinter_status st = SINTER_OK;
        setting s;

        set_up(&s, false);
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), &s.io.base, &rule, &fault, NULL),
                     SINTER_OK);
        s.w.env.io = fault;
        s.run.reads_ahead = true;
        st = sinter__run_reader_open(&s.w.env, &s.run, &reader, NULL);
        if (st == SINTER_OK) {
            st = drain(reader, n % 2 != 0, NULL);
            reader->ops->close(reader);
        }
        was_hit = sinter_io_fault_calls(fault) > n;
        cr_expect_eq(st, was_hit ? SINTER_E_IO : SINTER_END, "call %" PRIu64, n);
        cr_expect_eq(s.io.open_files, 0);
        cr_expect_eq(s.io.reads, 0);
        sinter_io_destroy(fault);
        world_fini(&s.w);
    }
}

static void
fail_every_allocation(bool reads_ahead)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_END; n++) {
        sinter_reader *reader = NULL;
        fault_alloc fault;
        setting s;

        set_up(&s, false);
        s.run.reads_ahead = reads_ahead;
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

Test(compact_run_reader, every_allocation_may_fail)
{
    fail_every_allocation(false);
    fail_every_allocation(true);
}
