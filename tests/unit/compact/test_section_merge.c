#include "compact/section_merge.h"

#include <criterion/criterion.h>
#include <inttypes.h>

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

Test(compact_section_merge, runs_are_merged_with_one_open_file_each)
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
    cr_expect_eq(s.io.open_files_max, 2);
    sinter__section_merge_close(merge);
    sinter__section_merge_close(NULL);
    cr_expect_eq(s.io.open_files, 0);
    world_fini(&s.w);
}

Test(compact_section_merge, the_options_say_how_runs_are_merged)
{
    sinter_compact_options options;
    sinter__merge_config config;

    sinter_compact_options_init(&options);
    options.sort_engine = SINTER_SORT_MIN_HEAP;
    options.merge_engine = SINTER_MERGE_ENGINE_FIRST_ROW;
    options.ignore_delete = true;
    options.open_files_max = 17;
    options.spill_codec = SINTER_CODEC_LZ4;
    options.spill_codec_level = 3;
    sinter__merge_config_init(&config, &options, "spill");
    cr_expect_eq(config.merge.sort_engine, SINTER_SORT_MIN_HEAP);
    cr_expect_eq(config.merge.function, sinter_merge_first_row(true));
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

Test(compact_section_merge, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_END; n++) {
        sinter__section_merge *merge = NULL;
        uint64_t rows = 0;
        fault_alloc fault;
        setting s;

        set_up(&s);
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
        world_fini(&s.w);
    }
}
