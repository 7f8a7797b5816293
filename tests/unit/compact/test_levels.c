#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "compact/file_set.h"
#include "files.h"
#include "support/fault_alloc.h"
#include "support/records.h"

enum { NAMES_CHARS = 256 };

static sinter_levels *
levels_of(const sinter_env *env, uint32_t num_levels, const sinter_file_meta *files, size_t count)
{
    const sinter_levels_options options = {.struct_size = sizeof options, .num_levels = num_levels};
    sinter_levels *levels = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_levels_create(env, &options, files, count, &levels, &err), SINTER_OK, "%s",
                 err.text);
    return levels;
}

/* Names and levels of a set, "y0 z0 p2". */
static const char *
names_of(const sinter_file_set *set)
{
    static char names[NAMES_CHARS];
    size_t count = 0;
    const sinter_file_meta *files = sinter_file_set_files(set, &count);
    size_t used = 0;

    names[0] = '\0';
    for (size_t i = 0; i < count && used < sizeof names; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s%d", i == 0 ? "" : " ",
                                 files[i].file_name, files[i].level);
    }
    return names;
}

static void
expect_names(const sinter_levels *levels, const char *expected)
{
    cr_expect_str_eq(names_of(sinter_levels_current(levels)), expected);
}

Test(compact_levels, example_l1_of_the_specification)
{
    const sinter_file_meta files[] = {file_with_sequences("x", 0, "a", "b", 1, 9),
                                      file_with_sequences("y", 0, "a", "b", 10, 20),
                                      file_with_sequences("z", 0, "a", "b", 12, 20),
                                      file_of("p", 2, "50", "60"), file_of("q", 2, "00", "20")};
    sinter_levels *levels = levels_of(sinter_env_default(), 4, files, 5);
    const sinter_file_set *set = sinter_levels_current(levels);
    size_t run_count = 0;
    const sinter_level_run *runs = sinter_file_set_runs(set, &run_count);

    expect_names(levels, "y0 z0 x0 q2 p2");
    cr_assert_eq(run_count, 4);
    cr_expect_eq(sinter_levels_run_count(levels), 4);
    cr_expect_eq(runs[3].level, 2);
    cr_expect_eq(runs[3].count, 2);
    cr_expect_eq(runs[3].bytes, 2000);
    cr_expect_eq(sinter_file_set_highest_level(set), 2);
    cr_expect_eq(sinter_file_set_num_levels(set), 4);
    cr_expect_eq(sinter_file_set_bytes(set), 5000);
    sinter_levels_destroy(levels);
}

Test(compact_levels, ties_of_level_0_are_decided_by_creation_time_and_name)
{
    sinter_file_meta files[] = {file_of("b", 0, "a", "b"), file_of("a", 0, "a", "b"),
                                file_of("c", 0, "a", "b")};
    sinter_levels *levels = NULL;

    files[2].creation_time_ms = -1;
    levels = levels_of(sinter_env_default(), 2, files, 3);
    expect_names(levels, "c0 a0 b0");
    sinter_levels_destroy(levels);
}

Test(compact_levels, an_empty_bucket_has_no_runs_and_costs_little)
{
    fault_alloc fault;
    sinter_levels *levels = NULL;

    fault_alloc_init(&fault, UINT64_MAX);
    levels = levels_of(&fault.env, 6, NULL, 0);
    cr_expect_eq(sinter_levels_run_count(levels), 0);
    cr_expect_eq(sinter_file_set_highest_level(sinter_levels_current(levels)), -1);
    cr_expect_eq(sinter_file_set_bytes(sinter_levels_current(levels)), 0);
    cr_expect_eq(fault.live, 3, "levels, what sets share, the empty set");
    sinter_levels_destroy(levels);
    cr_expect_eq(fault.live, 0);
    sinter_levels_destroy(NULL);
    sinter_file_set_release(NULL);
}

/* An allocator that counts bytes. */
static void *
count_bytes(void *ctx, size_t size)
{
    *(size_t *)ctx += size;
    return malloc(size);
}

static void
release_bytes(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

Test(compact_levels, levels_of_an_idle_bucket_take_less_than_512_bytes)
{
    sinter_env env = *sinter_env_default();
    size_t bytes = 0;
    sinter_levels *levels = NULL;

    env.allocator.ctx = &bytes;
    env.allocator.allocate = count_bytes;
    env.allocator.release = release_bytes;
    levels = levels_of(&env, 6, NULL, 0);
    cr_expect_lt(bytes, 512, "%zu bytes, those of the first update included", bytes);
    sinter_levels_destroy(levels);
}

Test(compact_levels, files_raise_the_number_of_levels)
{
    const sinter_file_meta high[] = {file_of("a", 7, "a", "b")};
    const sinter_levels_options one = {.struct_size = sizeof one, .num_levels = 1};
    sinter_levels *levels = levels_of(sinter_env_default(), 1, high, 1);
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(sinter_file_set_num_levels(sinter_levels_current(levels)), 8);
    sinter_levels_destroy(levels);
    cr_expect_eq(sinter_levels_create(sinter_env_default(), &one, NULL, 0, &levels, &err),
                 SINTER_E_INVALID);
    cr_expect_null(levels);
    cr_expect_not_null(strstr(err.text, "num-levels"), "%s", err.text);
}

Test(compact_levels, files_that_overlap_are_refused_and_both_named)
{
    const sinter_file_meta files[] = {file_of("left", 3, "a", "m"), file_of("right", 3, "m", "z"),
                                      file_of("other", 2, "a", "z"), file_empty("none", 3)};
    const sinter_levels_options options = {.struct_size = sizeof options, .num_levels = 6};
    sinter_levels *levels = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(sinter_levels_create(sinter_env_default(), &options, files, 4, &levels, &err),
                 SINTER_E_INVALID);
    cr_expect(strstr(err.text, "left") != NULL && strstr(err.text, "right") != NULL, "%s",
              err.text);
    cr_expect_str_eq(err.file, "right");
}

Test(compact_levels, a_file_that_is_listed_twice_is_refused)
{
    const sinter_file_meta same[] = {file_of("a", 0, "a", "m"), file_of("a", 0, "a", "m")};
    const sinter_file_meta levels_differ[] = {file_of("a", 0, "a", "m"), file_of("a", 5, "a", "m")};
    const sinter_levels_options options = {.struct_size = sizeof options, .num_levels = 6};
    sinter_levels *levels = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(sinter_levels_create(sinter_env_default(), &options, same, 2, &levels, &err),
                 SINTER_E_INVALID);
    cr_expect_str_eq(err.file, "a");
    cr_expect_eq(
        sinter_levels_create(sinter_env_default(), &options, levels_differ, 2, &levels, NULL),
        SINTER_E_INVALID);
}

Test(compact_levels, bad_files_and_arguments_are_refused)
{
    const sinter_levels_options options = {.struct_size = sizeof options, .num_levels = 6};
    const sinter_file_meta bad = file_of("a", 0, "z", "a");
    sinter_levels *levels = levels_of(sinter_env_default(), 6, NULL, 0);
    sinter_levels *other = NULL;
    sinter_env no_io = *sinter_env_default();
    const sinter_levels_options with_dir = {
        .struct_size = sizeof with_dir, .num_levels = 6, .base_dir = "bucket"};

    cr_expect_eq(sinter_levels_create(sinter_env_default(), &options, &bad, 1, &other, NULL),
                 SINTER_E_INVALID);
    cr_expect_eq(sinter_levels_update(levels, NULL, 0, &bad, 1, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_levels_update(levels, NULL, 1, NULL, 0, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_levels_update(NULL, NULL, 0, NULL, 0, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_levels_create(NULL, &options, NULL, 0, &other, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_levels_create(sinter_env_default(), NULL, NULL, 0, &other, NULL),
                 SINTER_E_INVALID);
    no_io.io = NULL;
    cr_expect_eq(sinter_levels_create(&no_io, &with_dir, NULL, 0, &other, NULL), SINTER_E_INVALID);
    sinter_levels_destroy(levels);
}

Test(compact_levels, an_update_is_seen_whole_and_a_held_set_stays)
{
    const sinter_file_meta first[] = {file_with_sequences("a", 0, "a", "m", 1, 2),
                                      file_with_sequences("b", 0, "n", "z", 3, 4)};
    const sinter_file_meta after[] = {file_with_sequences("c", 5, "a", "m", 1, 2),
                                      file_with_sequences("d", 5, "n", "z", 3, 4)};
    const sinter_file_meta in_the_way[] = {file_of("e", 5, "l", "o")};
    sinter_levels *levels = levels_of(sinter_env_default(), 6, first, 2);
    const sinter_file_set *held = sinter_levels_acquire(levels);
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_levels_update(levels, first, 2, after, 2, NULL), SINTER_OK);
    expect_names(levels, "c5 d5");
    cr_expect_eq(sinter_levels_update(levels, after, 1, in_the_way, 1, &err), SINTER_E_INVALID);
    cr_expect(strstr(err.text, "e") != NULL && strstr(err.text, "d") != NULL, "%s", err.text);
    expect_names(levels, "c5 d5");
    cr_expect_str_eq(names_of(held), "b0 a0");
    cr_expect_eq(sinter_file_set_acquire(held), held);
    sinter_levels_destroy(levels);
    sinter_file_set_release(held);
    cr_expect_str_eq(names_of(held), "b0 a0", "held once more");
    sinter_file_set_release(held);
}

Test(compact_levels, metadata_is_copied_and_comes_back_as_it_went_in)
{
    char text[] = "name key index";
    const char *extra[] = {text + 9};
    int carried = 0;
    sinter_file_meta file = file_of(text, 0, "", "");
    sinter_levels *levels = levels_of(sinter_env_default(), 3, NULL, 0);
    const sinter_file_meta *copy = NULL;
    size_t count = 0;

    text[4] = '\0';
    text[8] = '\0';
    file.min_key = text_bytes(text + 5);
    file.max_key = file.min_key;
    file.dir = "sub";
    file.external_path = "elsewhere/name";
    file.extra_files = extra;
    file.extra_file_count = 1;
    file.carried = &carried;
    file.upgraded_from = 4;
    cr_assert_eq(sinter_levels_update(levels, NULL, 0, &file, 1, NULL), SINTER_OK);
    memset(text, 'x', sizeof text - 1);
    copy = sinter_file_set_files(sinter_levels_current(levels), &count);
    cr_assert_eq(count, 1);
    cr_expect_str_eq(copy->file_name, "name");
    cr_expect_str_eq(copy->dir, "sub");
    cr_expect_str_eq(copy->external_path, "elsewhere/name");
    cr_expect_str_eq(copy->extra_files[0], "index");
    cr_expect_eq(copy->min_key.size, 3);
    cr_expect_eq(memcmp(copy->max_key.data, "key", 3), 0);
    cr_expect_eq(copy->carried, &carried);
    cr_expect_eq(copy->upgraded_from, -1, "a note of results");
    sinter_levels_destroy(levels);
}

Test(compact_levels, above_level_0_a_file_is_found_by_all_its_fields)
{
    const sinter_file_meta file = file_of("a", 3, "a", "m");
    sinter_file_meta other = file;
    sinter_levels *levels = levels_of(sinter_env_default(), 6, &file, 1);

    other.file_size++;
    cr_assert_eq(sinter_levels_update(levels, &other, 1, NULL, 0, NULL), SINTER_OK);
    expect_names(levels, "a3");
    other = file;
    other.upgraded_from = 0;
    cr_assert_eq(sinter_levels_update(levels, &other, 1, NULL, 0, NULL), SINTER_OK);
    expect_names(levels, "");
    sinter_levels_destroy(levels);
}

Test(compact_levels, in_level_0_a_file_is_found_by_its_place)
{
    const sinter_file_meta file = file_of("a", 0, "a", "m");
    sinter_file_meta other = file;
    sinter_levels *levels = levels_of(sinter_env_default(), 6, &file, 1);
    size_t count = 0;

    other.file_size++;
    cr_assert_eq(sinter_levels_update(levels, NULL, 0, &other, 1, NULL), SINTER_OK,
                 "the same element");
    expect_names(levels, "a0");
    cr_expect_eq(sinter_file_set_files(sinter_levels_current(levels), &count)->file_size, 1000);
    cr_assert_eq(sinter_levels_update(levels, &other, 1, NULL, 0, NULL), SINTER_OK);
    expect_names(levels, "");
    sinter_levels_destroy(levels);
}

static void
note_dropped(void *ctx, const char *file_name)
{
    char *names = ctx;

    (void)strncat(names, file_name, NAMES_CHARS - strlen(names) - 1);
}

Test(compact_levels, names_that_go_for_good_are_told_once)
{
    const sinter_file_meta before[] = {file_of("a", 0, "a", "b"), file_of("b", 0, "c", "d"),
                                       file_of("x", 1, "c", "d"), file_of("x", 2, "c", "d")};
    const sinter_file_meta after[] = {file_of("b", 5, "c", "d"), file_of("c", 5, "e", "f")};
    char names[NAMES_CHARS] = "";
    const sinter_levels_options options = {.struct_size = sizeof options,
                                           .num_levels = 6,
                                           .dropped = note_dropped,
                                           .dropped_ctx = names};
    sinter_levels *levels = NULL;
    size_t count = 0;

    cr_assert_eq(sinter_levels_create(sinter_env_default(), &options, before, 2, &levels, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_levels_update(levels, before, 4, after, 2, NULL), SINTER_OK);
    cr_expect_str_eq(names, "ax", "b is upgraded; x isn't there and gone all the same");
    names[0] = '\0';
    cr_assert_eq(sinter_levels_update(levels,
                                      sinter_file_set_files(sinter_levels_current(levels), &count),
                                      2, NULL, 0, NULL),
                 SINTER_OK, "files of the levels themselves");
    cr_expect_str_eq(names, "bc");
    sinter_levels_destroy(levels);
}

/* The same rules, done plainly. */

enum { MODEL_FILES_MAX = 64, MODEL_LEVELS = 4, MODEL_NAMES = 24 };

typedef struct model {
    sinter_file_meta files[MODEL_FILES_MAX];
    size_t count;
} model;

static const char model_names[MODEL_NAMES][2] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                                 "i", "j", "k", "l", "m", "n", "o", "p",
                                                 "q", "r", "s", "t", "u", "v", "w", "x"};
static const uint8_t model_keys[] = "abcdefghijklmnopqrstuvwxyz";

static sinter_file_meta
random_file(test_rng *rng)
{
    const uint64_t min = test_rng_below(rng, 26);
    const uint64_t max = min + test_rng_below(rng, 27 - min) / 4;
    sinter_file_meta file = {.struct_size = sizeof file,
                             .level = (int32_t)test_rng_below(rng, MODEL_LEVELS + 1),
                             .file_name = model_names[test_rng_below(rng, MODEL_NAMES)],
                             .file_size = 1 + test_rng_below(rng, 2),
                             .row_count = test_rng_chance(rng, 90) ? 1 : 0,
                             .min_sequence_number = (int64_t)test_rng_below(rng, 2),
                             .creation_time_ms = (int64_t)test_rng_below(rng, 2)};

    file.max_sequence_number = file.min_sequence_number + (int64_t)test_rng_below(rng, 2);
    if (file.row_count > 0) {
        file.min_key = (sinter_bytes){&model_keys[min], 1};
        file.max_key = (sinter_bytes){&model_keys[max > 25 ? 25 : max], 1};
    }
    return file;
}

static bool
same_place(const sinter_file_meta *a, const sinter_file_meta *b)
{
    return a->level == b->level && a->max_sequence_number == b->max_sequence_number &&
           a->min_sequence_number == b->min_sequence_number &&
           a->creation_time_ms == b->creation_time_ms && strcmp(a->file_name, b->file_name) == 0;
}

static bool
same_element(const sinter_file_meta *a, const sinter_file_meta *b)
{
    return same_place(a, b) &&
           (a->level == 0 || (a->file_size == b->file_size && a->row_count == b->row_count &&
                              (a->row_count == 0 || (a->min_key.data[0] == b->min_key.data[0] &&
                                                     a->max_key.data[0] == b->max_key.data[0]))));
}

static bool
stands_before(const sinter_file_meta *a, const sinter_file_meta *b)
{
    if (a->level != b->level) {
        return a->level < b->level;
    }
    if (a->level == 0) {
        if (a->max_sequence_number != b->max_sequence_number) {
            return a->max_sequence_number > b->max_sequence_number;
        }
        if (a->min_sequence_number != b->min_sequence_number) {
            return a->min_sequence_number < b->min_sequence_number;
        }
        if (a->creation_time_ms != b->creation_time_ms) {
            return a->creation_time_ms < b->creation_time_ms;
        }
    } else if (a->row_count != b->row_count) {
        return a->row_count == 0;
    } else if (a->row_count > 0 && a->min_key.data[0] != b->min_key.data[0]) {
        return a->min_key.data[0] < b->min_key.data[0];
    }
    return strcmp(a->file_name, b->file_name) < 0;
}

static bool
model_is_sound(const model *m)
{
    for (size_t i = 0; i < m->count; i++) {
        for (size_t j = i + 1; j < m->count; j++) {
            const sinter_file_meta *a = &m->files[i];
            const sinter_file_meta *b = &m->files[j];

            if (strcmp(a->file_name, b->file_name) == 0) {
                return false;
            }
            if (a->level > 0 && a->level == b->level && a->row_count > 0 && b->row_count > 0 &&
                a->min_key.data[0] <= b->max_key.data[0] &&
                b->min_key.data[0] <= a->max_key.data[0]) {
                return false;
            }
        }
    }
    return true;
}

static void
model_add(model *m, const sinter_file_meta *file)
{
    size_t place = 0;

    for (size_t i = 0; i < m->count; i++) {
        if (file->level == 0 && same_place(&m->files[i], file)) {
            return;
        }
    }
    while (place < m->count && stands_before(&m->files[place], file)) {
        place++;
    }
    memmove(&m->files[place + 1], &m->files[place], (m->count - place) * sizeof *m->files);
    m->files[place] = *file;
    m->count++;
}

/* False: refused. */
static bool
model_update(model *m, const model *before, const model *after)
{
    model next = {.count = 0};

    for (size_t i = 0; i < m->count; i++) {
        bool goes = false;

        for (size_t j = 0; j < before->count; j++) {
            goes = goes || same_element(&m->files[i], &before->files[j]);
        }
        if (!goes) {
            next.files[next.count++] = m->files[i];
        }
    }
    for (size_t i = 0; i < after->count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(after->files[i].file_name, after->files[j].file_name) == 0) {
                return false;
            }
        }
        if (after->files[i].level < MODEL_LEVELS) {
            model_add(&next, &after->files[i]);
        }
    }
    if (!model_is_sound(&next)) {
        return false;
    }
    *m = next;
    return true;
}

static void
expect_model(const sinter_file_set *set, const model *m, uint64_t seed)
{
    size_t count = 0;
    const sinter_file_meta *files = sinter_file_set_files(set, &count);
    size_t run_count = 0;
    const sinter_level_run *runs = sinter_file_set_runs(set, &run_count);
    size_t file = 0;

    cr_assert_eq(count, m->count, "seed %" PRIu64, seed);
    for (size_t i = 0; i < count; i++) {
        cr_assert(same_element(&files[i], &m->files[i]) &&
                      files[i].file_size == m->files[i].file_size,
                  "seed %" PRIu64 ", file %zu is %s", seed, i, files[i].file_name);
    }
    for (size_t r = 0; r < run_count; r++) {
        uint64_t bytes = 0;

        cr_assert(runs[r].level > 0 || runs[r].count == 1, "seed %" PRIu64, seed);
        cr_assert(r == 0 || runs[r].level == 0 || runs[r - 1].level < runs[r].level);
        for (size_t i = 0; i < runs[r].count; i++) {
            cr_assert_eq(&runs[r].files[i], &files[file]);
            cr_assert_eq(files[file].level, runs[r].level);
            bytes += files[file].file_size;
            file++;
        }
        cr_assert_eq(bytes, runs[r].bytes);
    }
    cr_assert_eq(file, count);
}

static void
random_update(test_rng *rng, const model *now, model *before, model *after)
{
    *before = (model){.count = 0};
    *after = (model){.count = 0};
    for (size_t i = 0; i < now->count; i++) {
        if (test_rng_chance(rng, 25)) {
            before->files[before->count++] = now->files[i];
        }
    }
    if (test_rng_chance(rng, 30)) {
        before->files[before->count++] = random_file(rng);
    }
    for (uint64_t n = test_rng_below(rng, 4); n > 0; n--) {
        sinter_file_meta file = random_file(rng);

        /* Now and then the upgrade of a file that goes. */
        if (before->count > 0 && test_rng_chance(rng, 40)) {
            file = before->files[test_rng_below(rng, before->count)];
            file.level = (int32_t)test_rng_below(rng, MODEL_LEVELS);
        }
        after->files[after->count++] = file;
    }
}

enum { HELD_MAX = 4 };

/* Updates of one seed, with sets held over some of them. */
static void
run_history(uint64_t seed, size_t *done, size_t *refused)
{
    test_rng rng = {seed};
    model now = {.count = 0};
    model held_as[HELD_MAX] = {{.count = 0}};
    const sinter_file_set *held[HELD_MAX] = {NULL};
    fault_alloc fault;
    sinter_levels *levels = NULL;

    fault_alloc_init(&fault, UINT64_MAX);
    levels = levels_of(&fault.env, MODEL_LEVELS, NULL, 0);
    for (size_t step = 0; step < 40; step++) {
        const size_t slot = test_rng_below(&rng, HELD_MAX);
        model before;
        model after;
        bool accepted = false;
        sinter_status st = SINTER_OK;

        random_update(&rng, &now, &before, &after);
        st = sinter_levels_update(levels, before.files, before.count, after.files, after.count,
                                  NULL);
        accepted = model_update(&now, &before, &after);
        cr_assert_eq(st, accepted ? SINTER_OK : SINTER_E_INVALID, "seed %" PRIu64 ", step %zu",
                     seed, step);
        *done += accepted ? 1 : 0;
        *refused += accepted ? 0 : 1;
        expect_model(sinter_levels_current(levels), &now, seed);
        if (held[slot] != NULL) {
            expect_model(held[slot], &held_as[slot], seed);
            sinter_file_set_release(held[slot]);
        }
        held[slot] = sinter_levels_acquire(levels);
        held_as[slot] = now;
    }
    sinter_levels_destroy(levels);
    for (size_t i = 0; i < HELD_MAX; i++) {
        if (held[i] != NULL) {
            expect_model(held[i], &held_as[i], seed);
            sinter_file_set_release(held[i]);
        }
    }
    cr_assert_eq(fault.live, 0, "seed %" PRIu64, seed);
}

Test(compact_levels, updates_do_what_a_plain_model_does)
{
    size_t done = 0;
    size_t refused = 0;

    for (uint64_t seed = 1; seed <= scaled_cases(300); seed++) {
        run_history(seed, &done, &refused);
    }
    cr_assert_gt(done, 1000);
    cr_assert_gt(refused, 500);
}

Test(compact_levels, every_allocation_may_fail)
{
    const sinter_file_meta first[] = {file_of("a", 0, "a", "m"), file_of("b", 5, "a", "m")};
    const sinter_file_meta after[] = {file_of("a", 5, "a", "m"), file_of("c", 0, "a", "b")};
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter_levels_options options = {
            .struct_size = sizeof options, .num_levels = 6, .base_dir = "bucket"};
        sinter_error err = SINTER_ERROR_INIT;
        sinter_levels *levels = NULL;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = sinter_levels_create(&fault.env, &options, first, 2, &levels, &err);
        cr_assert((st == SINTER_OK) == (levels != NULL));
        if (levels != NULL) {
            st = sinter_levels_update(levels, first, 2, after, 2, &err);
            expect_names(levels, st == SINTER_OK ? "c0 a5" : "a0 b5");
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        sinter_levels_destroy(levels);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
}
