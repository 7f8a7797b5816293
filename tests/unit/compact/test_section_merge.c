#include "compact/section_merge.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "support/count_io.h"
#include "support/fault_alloc.h"
#include "world.h"

TestSuite(compact_section_merge, .timeout = 20);

/** Two runs, one of two files, with long keys that begin alike. */
typedef struct setting {
    world w;
    count_io io;
    sinter__read_counters counters;
    sinter__merge_config config;
    const sinter_file_meta *files[3];
    sinter_rewrite_run runs[2];
    sinter_rewrite_section section;
} setting;

static void
set_up(setting *s)
{
    const test_record low[] = {world_record("customer/0001", 1, "a"),
                               world_record("customer/0003", 2, "b")};
    const test_record high[] = {world_record("customer/0007", 3, "c")};
    const test_record over[] = {world_record("customer/0003", 4, "d"),
                                world_record("customer/0007", 5, "e")};

    *s = (setting){.counters = {0}};
    world_init(&s->w, false, NULL);
    world_add(&s->w, 1, low, 2);
    world_add(&s->w, 1, high, 1);
    world_add(&s->w, 0, over, 2);
    count_io_init(&s->io, s->w.io);
    s->w.env.io = &s->io.base;
    sinter__merge_config_init(&s->config, &s->w.options, NULL);
    s->config.read.format = &s->w.format;
    s->config.read.base_dir = world_dir;
    s->config.read.counters = &s->counters;
    for (size_t i = 0; i < 3; i++) {
        s->files[i] = &s->w.files[i];
    }
    s->runs[0] = (sinter_rewrite_run){.files = s->files, .count = 2};
    s->runs[1] = (sinter_rewrite_run){.files = s->files + 2, .count = 1};
    s->section = (sinter_rewrite_section){.runs = s->runs, .count = 2};
}

static sinter_status
drain(sinter__section_merge *merge, uint64_t *rows_out)
{
    sinter_range ranges[4];
    size_t count = 0;
    sinter_status st = SINTER_OK;

    while ((st = sinter_merge_next(sinter__section_merge_get(merge), ranges, 4, &count, NULL)) ==
           SINTER_OK) {
        for (size_t i = 0; i < count; i++) {
            *rows_out += ranges[i].count;
        }
    }
    return st;
}

Test(compact_section_merge, runs_are_merged_with_one_open_file_each_and_the_next_of_one_ahead)
{
    sinter__section_merge *merge = NULL;
    uint64_t rows = 0;
    setting s;

    set_up(&s);
    cr_assert_eq(sinter__section_merge_open(&s.w.env, &s.config, &s.section, &merge, NULL),
                 SINTER_OK);
    cr_expect_eq(drain(merge, &rows), SINTER_END);
    cr_expect_eq(rows, 3);
    cr_expect_eq(s.counters.files_opened, 3);
    cr_expect_eq(s.io.open_files_max, 3);
    sinter__section_merge_close(merge);
    sinter__section_merge_close(NULL);
    cr_expect_eq(s.io.open_files, 0);
    world_fini(&s.w);
}

Test(compact_section_merge, the_options_say_how_runs_are_merged)
{
    sinter_compact_options options;
    sinter__merge_config config;
    sinter_merge_function *function = NULL;

    sinter_compact_options_init(&options);
    options.sort_engine = SINTER_SORT_MIN_HEAP;
    options.merge_engine = SINTER_MERGE_ENGINE_FIRST_ROW;
    options.ignore_delete = true;
    options.open_files_max = 17;
    options.spill_codec = SINTER_CODEC_LZ4;
    options.spill_codec_level = 3;
    sinter__merge_config_init(&config, &options, "spill");
    cr_expect_eq(config.merge.sort_engine, SINTER_SORT_MIN_HEAP);
    cr_assert_eq(
        sinter__merge_function_create(sinter_env_default(), NULL, &options, &function, NULL),
        SINTER_OK);
    cr_expect_eq(function, sinter_merge_first_row(true));
    sinter__merge_function_destroy(function);
    cr_expect_eq(config.merge.open_files_max, 17);
    cr_expect_eq(config.merge.spill_codec, SINTER_CODEC_LZ4);
    cr_expect_eq(config.merge.spill_codec_level, 3);
    cr_expect_eq(config.merge.spill_threshold, 0, "unset: not the derived value");
    cr_expect_str_eq(config.merge.spill_dir, "spill");
    cr_expect(config.merge.has_ages);
    options.sort_spill_threshold = 4;
    sinter__merge_config_init(&config, &options, NULL);
    cr_expect_eq(config.merge.spill_threshold, 4);
}

/** Give the setting a budget and a place to spill to, so that files are asked what they take. */
static void
set_budget(setting *s, uint64_t bytes)
{
    cr_assert_eq(sinter_memory_create(sinter_env_default(), bytes, &s->w.env.memory, NULL),
                 SINTER_OK);
    s->config.merge.spill_dir = world_dir;
}

static void
tear_down(setting *s)
{
    cr_assert_eq(sinter_memory_used(s->w.env.memory), 0);
    sinter_memory_destroy(s->w.env.memory);
    s->w.env.memory = NULL;
    world_fini(&s->w);
}

/** Opened under a budget; rows out, or the failure. */
static sinter_status
merge_within(setting *s, uint64_t bytes, uint64_t *rows_out, sinter_error *err)
{
    sinter__section_merge *merge = NULL;
    sinter_status st = SINTER_OK;

    set_budget(s, bytes);
    *rows_out = 0;
    st = sinter__section_merge_open(&s->w.env, &s->config, &s->section, &merge, err);
    if (st == SINTER_OK) {
        st = drain(merge, rows_out);
    }
    sinter__section_merge_close(merge);
    return st;
}

Test(compact_section_merge, each_file_is_asked_once_what_it_takes_where_that_matters)
{
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t rows = 0;
    setting s;

    set_up(&s);
    cr_assert_eq(merge_within(&s, 64 << 20, &rows, &err), SINTER_END, "%s", err.text);
    cr_expect_eq(rows, 3);
    cr_expect_eq(s.io.opened, 6, "asked and read, %" PRIu64, s.io.opened);
    cr_expect_eq(s.counters.files_opened, 3, "to be read");
    tear_down(&s);
}

Test(compact_section_merge, a_format_that_says_nothing_is_merged_by_an_estimate)
{
    for (int is_old = 0; is_old < 2; is_old++) {
        sinter_error err = SINTER_ERROR_INIT;
        uint64_t rows = 0;
        setting s;

        set_up(&s);
        if (is_old != 0) {
            s.w.format.struct_size = offsetof(sinter_format, measure);
        } else {
            s.w.format.measure = NULL;
            s.w.format.writer_bytes = NULL;
        }
        cr_assert_eq(merge_within(&s, 64 << 20, &rows, &err), SINTER_END, "%s", err.text);
        cr_expect_eq(rows, 3);
        cr_expect_eq(s.io.opened, 3);
        tear_down(&s);
    }
}

Test(compact_section_merge, a_file_that_cannot_be_asked_is_named)
{
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t rows = 0;
    setting s;

    set_up(&s);
    s.w.files[1].file_size++;
    s.w.files[1].file_name = "not-there.sst";
    cr_expect_eq(merge_within(&s, 64 << 20, &rows, &err), SINTER_E_NOT_FOUND);
    cr_expect_not_null(strstr(err.file, "not-there.sst"), "%s", err.file);
    cr_expect_eq(s.io.open_files, 0);
    tear_down(&s);
}

/** The largest read that a reader was opened with. */
static uint32_t read_bytes_max;

static sinter_status
note_read_bytes(void *self, const sinter_env *env, const char *path,
                const sinter_read_options *options, sinter_reader **out, sinter_error *err)
{
    read_bytes_max = options->read_bytes > read_bytes_max ? options->read_bytes : read_bytes_max;
    return sinter_format_sst()->open_reader(self, env, path, options, out, err);
}

Test(compact_section_merge, reads_of_all_runs_take_an_eighth_of_the_memory)
{
    static const struct {
        uint64_t budget;
        uint32_t read_bytes;
    } cases[] = {
        {64 << 20, 256 << 10}, {8 << 20, 256 << 10}, {6 << 20, 192 << 10}, {3 << 20, 64 << 10}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_error err = SINTER_ERROR_INIT;
        uint64_t rows = 0;
        setting s;

        set_up(&s);
        s.w.format.open_reader = note_read_bytes;
        read_bytes_max = 0;
        cr_assert_eq(merge_within(&s, cases[i].budget, &rows, &err), SINTER_END, "%s", err.text);
        cr_expect_eq(read_bytes_max, cases[i].read_bytes, "budget %" PRIu64 ": %u", cases[i].budget,
                     read_bytes_max);
        tear_down(&s);
    }
}

Test(compact_section_merge, a_budget_that_is_too_small_is_refused_with_one_that_is_enough)
{
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t rows = 0;
    uint64_t enough = 0;
    uint64_t budget = 40000;
    const char *number = NULL;
    setting s;

    set_up(&s);
    while (merge_within(&s, budget, &rows, &err) == SINTER_END) {
        budget -= budget / 8;
        tear_down(&s);
        set_up(&s);
    }
    cr_assert_eq(err.status, SINTER_E_TOO_LARGE, "%s", err.text);
    number = strstr(err.text, "runs: ");
    cr_assert_not_null(number, "%s", err.text);
    enough = strtoull(number + 6, NULL, 10);
    cr_expect_gt(enough, budget);
    cr_expect_lt(enough, 50000);
    tear_down(&s);
    set_up(&s);
    cr_expect_eq(merge_within(&s, enough, &rows, &err), SINTER_END, "%s", err.text);
    cr_expect_eq(rows, 3);
    tear_down(&s);
}

/** Most files open at once, under a budget; 0: it is refused. */
static int64_t
most_open(setting *s, uint64_t budget)
{
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t rows = 0;
    int64_t most = 0;
    const sinter_status st = merge_within(s, budget, &rows, &err);

    if (st == SINTER_E_TOO_LARGE) {
        tear_down(s);
        return 0;
    }
    cr_assert_eq(st, SINTER_END, "%s", err.text);
    most = s->io.open_files_max;
    tear_down(s);
    return most;
}

Test(compact_section_merge, files_are_read_ahead_where_memory_and_open_files_are_no_matter)
{
    setting s;

    set_up(&s);
    cr_expect_eq(most_open(&s, 64 << 20), 3);
    set_up(&s);
    s.config.merge.open_files_max = 3;
    cr_expect_eq(most_open(&s, 64 << 20), 3);
    set_up(&s);
    s.config.merge.open_files_max = 2;
    cr_expect_eq(most_open(&s, 64 << 20), 2);
    set_up(&s);
    s.config.read.keys_only = true;
    cr_expect_eq(most_open(&s, 64 << 20), 2);
    set_up(&s);
    s.config.read.is_single_key = true;
    s.config.read.has_begin_key = true;
    s.config.read.begin_key = text_bytes("customer/0003");
    cr_expect_eq(most_open(&s, 64 << 20), 2, "a look-up");
    set_up(&s);
    s.w.format.measure = NULL;
    cr_expect_eq(most_open(&s, 64 << 20), 2, "nobody says what readers take");
}

Test(compact_section_merge, reading_ahead_is_given_up_before_a_budget_is_refused)
{
    unsigned seen[4] = {0};

    for (uint64_t budget = 1000; budget <= 64000; budget += 500) {
        int64_t without = 0;
        int64_t with = 0;
        setting s;

        set_up(&s);
        s.config.merge.open_files_max = 2;
        without = most_open(&s, budget);
        set_up(&s);
        with = most_open(&s, budget);
        cr_assert(with >= 0 && with <= 3 && (with > 0) == (without > 0),
                  "budget %" PRIu64 ": %" PRId64 " and %" PRId64, budget, without, with);
        seen[with]++;
    }
    cr_expect(seen[0] > 0 && seen[2] > 0 && seen[3] > 0, "%u %u %u", seen[0], seen[2], seen[3]);
}

static void
fail_every_allocation(uint64_t budget)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_END; n++) {
        sinter__section_merge *merge = NULL;
        uint64_t rows = 0;
        fault_alloc fault;
        setting s;

        set_up(&s);
        if (budget != 0) {
            set_budget(&s, budget);
        }
        fault_alloc_init(&fault, n);
        s.w.env.allocator = fault.env.allocator;
        st = sinter__section_merge_open(&s.w.env, &s.config, &s.section, &merge, NULL);
        if (st == SINTER_OK) {
            st = drain(merge, &rows);
            sinter__section_merge_close(merge);
        }
        cr_assert(st == SINTER_END || st == SINTER_E_NOMEM);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        cr_assert_eq(s.io.open_files, 0);
        tear_down(&s);
    }
}

Test(compact_section_merge, every_allocation_may_fail)
{
    fail_every_allocation(0);
    fail_every_allocation(64 << 20);
}
