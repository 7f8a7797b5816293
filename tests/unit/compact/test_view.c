#include <criterion/criterion.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "support/fault_alloc.h"
#include "world.h"

static const test_record rows_a[] = {
    {.key = {(const uint8_t *)"a", 1}, .value = {(const uint8_t *)"1", 1}, .sequence = 1},
    {.key = {(const uint8_t *)"c", 1}, .value = {(const uint8_t *)"1", 1}, .sequence = 2},
    {.key = {(const uint8_t *)"e", 1}, .value = {(const uint8_t *)"1", 1}, .sequence = 3}};
static const test_record rows_b[] = {
    {.key = {(const uint8_t *)"c", 1}, .sequence = 5, .kind = SINTER_KIND_DELETE},
    {.key = {(const uint8_t *)"d", 1}, .value = {(const uint8_t *)"2", 1}, .sequence = 6}};
static const test_record rows_c[] = {
    {.key = {(const uint8_t *)"x", 1}, .value = {(const uint8_t *)"3", 1}, .sequence = 7}};

static void
set_up(world *w)
{
    world_init(w, false, NULL);
    world_add(w, 1, rows_a, 3);
    world_add(w, 0, rows_b, 2);
    world_add(w, 0, rows_c, 1);
}

/* "a=1 " of a view with options; retracts as "-c". */
static const char *
text_of(world *w, const sinter_view_options *options)
{
    static char text[1024];
    world_rows rows;

    world_read(w, options, &rows);
    cr_assert_eq(rows.status, SINTER_OK, "%s", rows.err.text);
    text[0] = '\0';
    for (size_t i = 0; i < rows.count; i++) {
        const test_record *r = &rows.records[i];

        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s=%.*s ",
                       sinter_kind_is_retract(r->kind) ? "-" : "", (int)r->key.size,
                       (const char *)r->key.data, (int)r->value.size, (const char *)r->value.data);
    }
    world_rows_fini(&rows);
    return text;
}

Test(compact_view, a_view_shows_what_a_read_returns)
{
    const sinter_view_options deletes = {.struct_size = sizeof deletes, .keep_deletes = true};
    world w;

    set_up(&w);
    cr_expect_str_eq(text_of(&w, NULL), "a=1 d=2 e=1 x=3 ");
    cr_expect_str_eq(text_of(&w, &deletes), "a=1 -c= d=2 e=1 x=3 ");
    world_fini(&w);
}

Test(compact_view, a_range_begins_with_its_begin_and_ends_before_its_end)
{
    sinter_view_options options = {
        .struct_size = sizeof options, .has_begin_key = true, .has_end_key = true};
    static const struct {
        const char *begin;
        const char *end;
        const char *expected;
    } cases[] = {{"a", "d", "a=1 "},
                 {"d", "e", "d=2 "},
                 {"b", "x", "d=2 e=1 "},
                 {"e", "y", "e=1 x=3 "},
                 {"y", "z", ""},
                 {"d", "d", ""},
                 {"", "zz", "a=1 d=2 e=1 x=3 "}};
    world w;

    set_up(&w);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        options.begin_key = text_bytes(cases[i].begin);
        options.end_key = text_bytes(cases[i].end);
        cr_expect_str_eq(text_of(&w, &options), cases[i].expected, "%zu: %s", i,
                         text_of(&w, &options));
    }
    world_fini(&w);
}

Test(compact_view, files_outside_of_the_range_are_not_opened)
{
    sinter_view_options options = {
        .struct_size = sizeof options, .has_end_key = true, .end_key = {(const uint8_t *)"c", 1}};
    world w;

    set_up(&w);
    cr_assert_eq(w.io->ops->unlink(w.io, "bucket/in-001.sst", NULL), SINTER_OK);
    cr_assert_eq(w.io->ops->unlink(w.io, "bucket/in-002.sst", NULL), SINTER_OK);
    cr_expect_str_eq(text_of(&w, &options), "a=1 ");
    world_fini(&w);
}

Test(compact_view, the_order_of_the_file_list_does_not_matter)
{
    sinter_file_meta first;
    world w;

    set_up(&w);
    first = w.files[0];
    w.files[0] = w.files[2];
    w.files[2] = first;
    cr_expect_str_eq(text_of(&w, NULL), "a=1 d=2 e=1 x=3 ");
    world_fini(&w);
}

Test(compact_view, keys_can_be_read_without_their_values)
{
    const sinter_view_options options = {.struct_size = sizeof options, .keys_only = true};
    sinter_view_source source = {.struct_size = sizeof source, .base_dir = world_dir};
    sinter_view *view = NULL;
    sinter_range ranges[4];
    size_t count = 0;
    size_t rows = 0;
    world w;

    set_up(&w);
    source.files = w.files;
    source.count = w.count;
    cr_assert_eq(sinter_view_open(&w.env, &source, &options, &view, NULL), SINTER_OK);
    while (sinter_view_next(view, ranges, 4, &count, NULL) == SINTER_OK) {
        for (size_t i = 0; i < count; i++) {
            rows += ranges[i].count;
        }
    }
    cr_expect_eq(rows, 4);
    sinter_view_close(view);
    world_fini(&w);
}

Test(compact_view, no_files_are_an_empty_view)
{
    const sinter_file_meta empty = file_empty("nothing.sst", 0);
    const sinter_view_source source = {
        .struct_size = sizeof source, .base_dir = world_dir, .files = &empty, .count = 1};
    sinter_view *view = NULL;
    sinter_range range;
    size_t count = 0;
    world w;

    world_init(&w, false, NULL);
    cr_expect_str_eq(text_of(&w, NULL), "");
    cr_assert_eq(sinter_view_open(&w.env, &source, NULL, &view, NULL), SINTER_OK,
                 "a file without rows is not opened");
    cr_expect_eq(sinter_view_next(view, &range, 1, &count, NULL), SINTER_END);
    sinter_view_close(view);
    sinter_view_close(NULL);
    world_fini(&w);
}

Test(compact_view, bad_arguments_are_refused)
{
    const sinter_view_options no_size = {.struct_size = 0};
    sinter_compact_options bad_options;
    const sinter_file_meta bad_file = file_of("a/b", 0, "a", "b");
    sinter_view_source good = {.struct_size = sizeof good, .base_dir = world_dir};
    sinter_view_source bad[5];
    sinter_view *view = NULL;
    world w;

    world_init(&w, false, NULL);
    sinter_compact_options_init(&bad_options);
    bad_options.block_bytes = 0;
    for (size_t i = 0; i < 5; i++) {
        bad[i] = good;
    }
    bad[0].struct_size = 0;
    bad[1].base_dir = NULL;
    bad[2].count = 1;
    bad[3].options = &bad_options;
    bad[4].files = &bad_file;
    bad[4].count = 1;
    for (size_t i = 0; i < 5; i++) {
        cr_expect_eq(sinter_view_open(&w.env, &bad[i], NULL, &view, NULL), SINTER_E_INVALID, "%zu",
                     i);
    }
    cr_expect_eq(sinter_view_open(&w.env, &good, &no_size, &view, NULL), SINTER_E_INVALID);
    cr_expect_null(view);
    cr_assert_eq(sinter_view_open(&w.env, &good, NULL, &view, NULL), SINTER_OK);
    sinter_view_close(view);
    world_fini(&w);
}

/* Read a range and compare it with the same stretch of the whole view. */
static void
check_range(world *w, const world_rows *all, sinter_bytes begin, sinter_bytes end, uint64_t seed)
{
    const sinter_view_options options = {.struct_size = sizeof options,
                                         .has_begin_key = true,
                                         .has_end_key = true,
                                         .begin_key = begin,
                                         .end_key = end};
    size_t first = 0;
    size_t expected = 0;
    world_rows part;

    for (size_t i = 0; i < all->count; i++) {
        const bool is_before = test_bytes_compare(all->records[i].key, begin) < 0;

        first += is_before;
        expected += !is_before && test_bytes_compare(all->records[i].key, end) < 0;
    }
    world_read(w, &options, &part);
    cr_assert_eq(part.status, SINTER_OK, "seed %" PRIu64 ": %s", seed, part.err.text);
    cr_assert_eq(part.count, expected, "seed %" PRIu64, seed);
    for (size_t i = 0; i < expected; i++) {
        const test_record *want = &all->records[first + i];

        cr_assert(test_bytes_equal(part.records[i].key, want->key) &&
                      test_bytes_equal(part.records[i].value, want->value),
                  "seed %" PRIu64, seed);
    }
    world_rows_fini(&part);
}

Test(compact_view, every_range_is_the_same_cut_out_of_the_whole)
{
    for (uint64_t seed = 1; seed <= scaled_cases(300); seed++) {
        test_rng rng = {seed * 104729};
        test_shape shape;
        test_runs runs;
        world_rows all;
        world w;

        world_init(&w, test_rng_chance(&rng, 30), NULL);
        w.write.block_bytes = 100;
        test_shape_random(&rng, &shape);
        shape.orders = false;
        shape.dropped_percent = 0;
        test_runs_random(&rng, &shape, &runs);
        for (size_t r = 0; r < runs.count; r++) {
            if (runs.items[r].count > 0) {
                world_add(&w, 0, runs.items[r].records, runs.items[r].count);
            }
        }
        world_read(&w, NULL, &all);
        cr_assert_eq(all.status, SINTER_OK, "seed %" PRIu64 ": %s", seed, all.err.text);
        for (int i = 0; i < 6 && all.count > 0; i++) {
            const sinter_bytes begin = all.records[test_rng_below(&rng, all.count)].key;
            const sinter_bytes end = all.records[test_rng_below(&rng, all.count)].key;

            check_range(&w, &all, begin, end, seed);
        }
        world_rows_fini(&all);
        test_runs_fini(&runs);
        world_fini(&w);
    }
}

/* Look a key up; the number of records found. */
static size_t
look_up(world *w, sinter_bytes key, sinter_view_counters *counters, sinter_status *st_out,
        sinter_error *err)
{
    uint8_t end[64] = {0};
    sinter_view_options options = {.struct_size = sizeof options,
                                   .has_begin_key = true,
                                   .has_end_key = true,
                                   .begin_key = key,
                                   .end_key = {end, key.size + 1}};
    const sinter_view_source source = {.struct_size = sizeof source,
                                       .format = &w->format,
                                       .base_dir = world_dir,
                                       .files = w->files,
                                       .count = w->count};
    sinter_view *view = NULL;
    sinter_range ranges[4];
    size_t count = 0;
    size_t found = 0;
    sinter_status st;

    cr_assert_lt(key.size, sizeof end);
    if (key.size > 0) {
        memcpy(end, key.data, key.size);
    }
    st = sinter_view_open(&w->env, &source, &options, &view, err);
    while (st == SINTER_OK) {
        st = sinter_view_next(view, ranges, 4, &count, err);
        for (size_t i = 0; st == SINTER_OK && i < count; i++) {
            cr_assert(test_bytes_equal(sinter_batch_key(ranges[i].batch, ranges[i].first), key));
            found += ranges[i].count;
        }
    }
    *st_out = st == SINTER_END ? SINTER_OK : st;
    if (view != NULL) {
        counters->struct_size = sizeof *counters;
        sinter_view_counters_get(view, counters);
    }
    sinter_view_close(view);
    return found;
}

/* Turn round every bit between header and first leaf page, and beyond: any block that is read is
 * found damaged. */
static void
spoil_first_bytes(world *w, const char *name, size_t size)
{
    const sinter_bytes whole = world_content(w, name);
    uint8_t *copy = test_pool_take(&w->pool, whole.size);
    sinter_io_file *file = NULL;
    char path[64];

    memcpy(copy, whole.data, whole.size);
    for (size_t i = 16; i < size; i++) {
        copy[i] = (uint8_t)~copy[i];
    }
    (void)snprintf(path, sizeof path, "%s/%s", world_dir, name);
    cr_assert_eq(w->io->ops->unlink(w->io, path, NULL), SINTER_OK);
    cr_assert_eq(w->io->ops->create(w->io, world_dir, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->append(file, copy, whole.size, NULL), SINTER_OK);
    cr_assert_eq(file->ops->publish(file, path, NULL), SINTER_OK);
    file->ops->close(file);
}

/* Even keys 00000000..00000398 in two files of level 0, others in a third; all with filters. */
static void
set_up_filtered(world *w)
{
    world_init(w, false, NULL);
    w->write.filter_bits_per_key = 30;
    w->write.block_bytes = 1000;
    (void)world_add_rows(w, 0, 0, 2, 200, 1, 40);
    (void)world_add_rows(w, 0, 0, 2, 200, 1000, 40);
    (void)world_add_rows(w, 3, 5000, 2, 200, 1, 40);
}

Test(compact_view, looking_up_an_absent_key_reads_no_block_when_filters_deny_it)
{
    sinter_view_counters counters;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    world w;

    set_up_filtered(&w);
    spoil_first_bytes(&w, "in-000.sst", 300);
    cr_expect_eq(look_up(&w, test_text("00000007"), &counters, &st, &err), 0);
    cr_expect_eq(st, SINTER_OK, "a block was read: %s", err.text);
    cr_expect_eq(counters.files_opened, 2);
    cr_expect_eq(counters.files_filtered, 2);
    cr_expect_eq(counters.blocks_read, 0);
    cr_expect_eq(counters.rows_read, 0);
    cr_expect_eq(counters.files_outside, 1, "the third file's keys are larger");
    (void)look_up(&w, test_text("00000006"), &counters, &st, &err);
    cr_expect_eq(st, SINTER_E_CORRUPT, "a key that is there needs its blocks");
    world_fini(&w);
}

Test(compact_view, looking_up_a_key_reads_one_block_of_each_file_that_has_it)
{
    sinter_view_counters counters;
    sinter_view_counters older = {.struct_size = offsetof(sinter_view_counters, files_filtered),
                                  .files_filtered = 77};
    const sinter_view_source none = {.struct_size = sizeof none, .base_dir = world_dir};
    sinter_view *view = NULL;
    sinter_status st = SINTER_OK;
    world w;

    set_up_filtered(&w);
    cr_expect_eq(look_up(&w, test_text("00000006"), &counters, &st, NULL), 1);
    cr_expect_eq(counters.files_filtered, 0);
    cr_expect_eq(counters.blocks_read, 2);
    cr_expect_eq(look_up(&w, test_text("00005000"), &counters, &st, NULL), 1);
    cr_expect_eq(counters.files_outside, 2);
    cr_expect_eq(counters.blocks_read, 1);
    cr_expect_eq(look_up(&w, test_text("zzz"), &counters, &st, NULL), 0);
    cr_expect_eq(counters.files_outside, 3);
    cr_expect_eq(counters.files_opened, 0);
    cr_assert_eq(sinter_view_open(&w.env, &none, NULL, &view, NULL), SINTER_OK);
    sinter_view_counters_get(view, &older);
    cr_expect_eq(older.files_filtered, 77, "an older caller's struct ends before");
    sinter_view_close(view);
    world_fini(&w);
}

Test(compact_view, looking_up_finds_what_the_whole_view_has_with_and_without_filters)
{
    for (uint64_t seed = 1; seed <= scaled_cases(200); seed++) {
        test_rng rng = {seed * 15485863};
        test_shape shape;
        test_runs runs;
        world_rows all;
        world w;

        world_init(&w, test_rng_chance(&rng, 20), NULL);
        w.write.block_bytes = 100;
        w.write.filter_bits_per_key = test_rng_chance(&rng, 30) ? 0 : 4;
        test_shape_random(&rng, &shape);
        shape.orders = false;
        shape.dropped_percent = 0;
        test_runs_random(&rng, &shape, &runs);
        for (size_t r = 0; r < runs.count; r++) {
            if (runs.items[r].count > 0) {
                world_add(&w, 0, runs.items[r].records, runs.items[r].count);
            }
        }
        world_read(&w, NULL, &all);
        cr_assert_eq(all.status, SINTER_OK, "seed %" PRIu64, seed);
        for (int i = 0; i < 12 && w.count > 0; i++) {
            const test_run *run = &runs.items[test_rng_below(&rng, runs.count)];
            sinter_view_counters counters;
            sinter_status st = SINTER_OK;
            uint8_t other[40];
            sinter_bytes key;
            size_t expected = 0;

            if (run->count == 0) {
                continue;
            }
            key = run->records[test_rng_below(&rng, run->count)].key;
            if (key.size > sizeof other) {
                continue;
            }
            if (key.size > 0 && test_rng_chance(&rng, 40)) { /* most likely absent */
                memcpy(other, key.data, key.size);
                other[key.size - 1] ^= (uint8_t)(1 + test_rng_below(&rng, 255));
                key.data = other;
            }
            for (size_t k = 0; k < all.count; k++) {
                expected += test_bytes_equal(all.records[k].key, key);
            }
            cr_assert_eq(look_up(&w, key, &counters, &st, NULL), expected, "seed %" PRIu64, seed);
            cr_assert_eq(st, SINTER_OK, "seed %" PRIu64, seed);
        }
        world_rows_fini(&all);
        test_runs_fini(&runs);
        world_fini(&w);
    }
}

Test(compact_view, every_allocation_and_io_call_of_a_look_up_may_fail)
{
    for (int with_io = 0; with_io < 2; with_io++) {
        sinter_status st = SINTER_E_IO;

        for (uint64_t n = 0; st != SINTER_OK; n++) {
            const sinter_fault_options rule = {.struct_size = sizeof rule,
                                               .kind = SINTER_FAULT_EIO,
                                               .at_call = with_io != 0 ? n : UINT64_MAX};
            const sinter_status expected = with_io != 0 ? SINTER_E_IO : SINTER_E_NOMEM;
            sinter_error err = SINTER_ERROR_INIT;
            sinter_view_counters counters;
            fault_alloc fault;
            size_t found;
            world w;

            set_up_filtered(&w);
            fault_alloc_init(&fault, with_io != 0 ? UINT64_MAX : n);
            cr_assert_eq(sinter_io_fault_create(sinter_env_default(), w.io, &rule, &w.env.io, NULL),
                         SINTER_OK);
            w.env.allocator = fault.env.allocator;
            found = look_up(&w, test_text("00000006"), &counters, &st, &err);
            cr_assert_eq(err.status, st);
            cr_assert(st == SINTER_OK ? found == 1 : st == expected, "failure %" PRIu64, n);
            cr_assert_eq(fault.live, 0, "leak at failure %" PRIu64, n);
            sinter_io_destroy(w.env.io);
            world_fini(&w);
        }
    }
}

Test(compact_view, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        fault_alloc fault;
        world_rows rows;
        world w;

        fault_alloc_init(&fault, UINT64_MAX);
        set_up(&w);
        w.env.allocator = fault.env.allocator;
        fault.fail_at = n;
        world_read(&w, NULL, &rows);
        st = rows.status;
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && rows.err.status == st));
        world_rows_fini(&rows);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        world_fini(&w);
    }
}

Test(compact_view, every_io_call_may_fail)
{
    sinter_status st = SINTER_E_IO;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter_fault_options rule = {
            .struct_size = sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = n};
        world_rows rows;
        world w;

        set_up(&w);
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), w.io, &rule, &w.env.io, NULL),
                     SINTER_OK);
        world_read(&w, NULL, &rows);
        st = rows.status;
        cr_assert(st == SINTER_OK || (st == SINTER_E_IO && strlen(rows.err.file) > 0),
                  "call %" PRIu64, n);
        world_rows_fini(&rows);
        sinter_io_destroy(w.env.io);
        world_fini(&w);
    }
}
