#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "compact/age.h"
#include "files.h"
#include "support/fault_alloc.h"
#include "support/records.h"

TestSuite(field_faults, .timeout = 60);

static sinter_partition *
partition_of(const sinter_file_meta *files, size_t count)
{
    sinter_partition *partition = NULL;

    cr_assert_eq(sinter_partition_create(sinter_env_default(), files, count, &partition, NULL),
                 SINTER_OK);
    return partition;
}

/* Names of a run, joined. */
static void
expect_run(const sinter_partition *partition, size_t section, size_t run, const char *names)
{
    char joined[256] = "";
    size_t count = 0;
    const sinter_file_meta *const *files = NULL;

    cr_assert_lt(section, sinter_partition_section_count(partition));
    cr_assert_lt(run, sinter_partition_run_count(partition, section));
    files = sinter_partition_run(partition, section, run, &count);
    for (size_t i = 0; i < count; i++) {
        strcat(joined, files[i]->file_name);
    }
    cr_expect_str_eq(joined, names, "section %zu run %zu is %s, not %s", section, run, joined,
                     names);
}

Test(compact_partition, example_i2_of_the_specification_comes_out_as_written)
{
    const sinter_file_meta files[] = {file_of("a", 0, "01", "10"), file_of("b", 0, "02", "03"),
                                      file_of("c", 0, "04", "06"), file_of("d", 0, "05", "20"),
                                      file_of("e", 0, "07", "09"), file_of("f", 0, "20", "21"),
                                      file_of("g", 0, "22", "30")};
    sinter_partition *partition = partition_of(files, 7);

    cr_expect_eq(sinter_partition_section_count(partition), 2);
    cr_expect_eq(sinter_partition_run_count(partition, 0), 3);
    expect_run(partition, 0, 0, "a");
    expect_run(partition, 0, 1, "d");
    expect_run(partition, 0, 2, "bcef");
    expect_run(partition, 1, 0, "g");
    sinter_partition_destroy(partition);
}

Test(compact_partition, example_a_to_e_has_four_sections)
{
    const sinter_file_meta files[] = {file_of("A", 0, "01", "10"), file_of("B", 1, "05", "20"),
                                      file_of("C", 1, "30", "40"), file_of("D", 2, "50", "90"),
                                      file_of("E", 0, "95", "99")};
    sinter_partition *partition = partition_of(files, 5);

    cr_expect_eq(sinter_partition_section_count(partition), 4);
    expect_run(partition, 0, 0, "A");
    expect_run(partition, 0, 1, "B");
    expect_run(partition, 1, 0, "C");
    expect_run(partition, 2, 0, "D");
    expect_run(partition, 3, 0, "E");
    sinter_partition_destroy(partition);
}

Test(compact_partition, no_files_give_an_empty_partition)
{
    sinter_partition *partition = partition_of(NULL, 0);

    cr_expect_eq(sinter_partition_section_count(partition), 0);
    sinter_partition_destroy(partition);
    sinter_partition_destroy(NULL);
}

Test(compact_partition, files_without_rows_belong_to_no_section)
{
    const sinter_file_meta files[] = {file_empty("x", 0), file_of("a", 0, "a", "b"),
                                      file_empty("y", 0)};
    sinter_partition *partition = partition_of(files, 3);

    cr_expect_eq(sinter_partition_section_count(partition), 1);
    expect_run(partition, 0, 0, "a");
    sinter_partition_destroy(partition);
}

Test(compact_partition, the_empty_key_is_a_key)
{
    const sinter_file_meta files[] = {file_of("a", 0, "", ""), file_of("b", 0, "", "x")};
    sinter_partition *partition = partition_of(files, 2);

    cr_expect_eq(sinter_partition_section_count(partition), 1);
    cr_expect_eq(sinter_partition_run_count(partition, 0), 2);
    sinter_partition_destroy(partition);
}

Test(compact_partition, a_file_with_keys_the_wrong_way_round_is_refused_by_name)
{
    const sinter_file_meta files[] = {file_of("good", 0, "a", "b"), file_of("bad", 0, "z", "b")};
    sinter_partition *partition = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_partition_create(sinter_env_default(), files, 2, &partition, &err),
                 SINTER_E_INVALID);
    cr_expect_null(partition);
    cr_expect_str_eq(err.file, "bad");
}

Test(field_faults, f06_files_touching_in_one_key)
{
    const sinter_file_meta touching[] = {file_of("a", 0, "1", "5"), file_of("b", 0, "5", "9")};
    const sinter_file_meta apart[] = {file_of("a", 0, "1", "5"), file_of("b", 0, "6", "9")};
    sinter_partition *partition = partition_of(touching, 2);

    cr_expect_eq(sinter_partition_section_count(partition), 1);
    cr_expect_eq(sinter_partition_run_count(partition, 0), 2, "bounds are inclusive: 5 meets 5");
    sinter_partition_destroy(partition);
    partition = partition_of(apart, 2);
    cr_expect_eq(sinter_partition_section_count(partition), 2);
    sinter_partition_destroy(partition);
}

enum { FILES_MAX = 40 };

/** Files with random keys of two hex digits. */
typedef struct random_files {
    sinter_file_meta files[FILES_MAX];
    char names[FILES_MAX][24];
    char keys[FILES_MAX][2][8];
    size_t count;
} random_files;

static void
draw_files(test_rng *rng, random_files *out)
{
    const uint64_t space = 1 + test_rng_below(rng, 255);
    const uint64_t width = 1 + test_rng_below(rng, space);

    out->count = (size_t)test_rng_below(rng, FILES_MAX + 1);
    for (size_t i = 0; i < out->count; i++) {
        const unsigned min = (unsigned)test_rng_below(rng, space);
        const unsigned max = min + (unsigned)test_rng_below(rng, width);

        (void)snprintf(out->names[i], sizeof out->names[i], "f%zu", i);
        (void)snprintf(out->keys[i][0], sizeof out->keys[i][0], "%04x", min);
        (void)snprintf(out->keys[i][1], sizeof out->keys[i][1], "%04x", max);
        out->files[i] = file_of(out->names[i], 0, out->keys[i][0], out->keys[i][1]);
        out->files[i].row_count = test_rng_chance(rng, 5) ? 0 : 2;
    }
}

static bool
covers(const sinter_file_meta *file, const char *key)
{
    return file->row_count > 0 && test_bytes_compare(file->min_key, test_text(key)) <= 0 &&
           test_bytes_compare(file->max_key, test_text(key)) >= 0;
}

/* The most files over one key, which is a largest or a smallest key of some file. */
static size_t
most_overlap(const random_files *files, const char *from, const char *to)
{
    size_t most = 0;

    for (size_t i = 0; i < files->count; i++) {
        const char *key = files->keys[i][0];
        size_t overlap = 0;

        if (strcmp(key, from) < 0 || strcmp(key, to) > 0) {
            continue;
        }
        for (size_t j = 0; j < files->count; j++) {
            overlap += covers(&files->files[j], key);
        }
        most = overlap > most ? overlap : most;
    }
    return most;
}

/* Check one section; gives its largest key and adds its files to `seen`. */
static const char *
check_section(const sinter_partition *partition, size_t section, const random_files *files,
              bool *seen, const char *last_max, uint64_t seed)
{
    const char *min = NULL;
    const char *max = NULL;

    for (size_t r = 0; r < sinter_partition_run_count(partition, section); r++) {
        size_t count = 0;
        const sinter_file_meta *const *run = sinter_partition_run(partition, section, r, &count);

        cr_assert_gt(count, 0, "seed %" PRIu64, seed);
        for (size_t i = 0; i < count; i++) {
            const size_t position = (size_t)(run[i] - files->files);
            const char *keys[2] = {files->keys[position][0], files->keys[position][1]};

            cr_assert_not(seen[position], "seed %" PRIu64 ": a file twice", seed);
            seen[position] = true;
            cr_assert(i == 0 || test_bytes_compare(run[i - 1]->max_key, run[i]->min_key) < 0,
                      "seed %" PRIu64 ": a run overlaps itself", seed);
            min = min == NULL || strcmp(keys[0], min) < 0 ? keys[0] : min;
            max = max == NULL || strcmp(keys[1], max) > 0 ? keys[1] : max;
        }
    }
    cr_assert(last_max == NULL || strcmp(last_max, min) < 0, "seed %" PRIu64 ": sections meet",
              seed);
    cr_assert_eq(sinter_partition_run_count(partition, section), most_overlap(files, min, max),
                 "seed %" PRIu64 ": the number of runs is not the least", seed);
    return max;
}

Test(compact_partition, every_partition_is_complete_disjoint_and_minimal)
{
    const uint64_t cases = scaled_cases(2000);

    for (uint64_t seed = 1; seed <= cases; seed++) {
        test_rng rng = {seed};
        static random_files files;
        bool seen[FILES_MAX] = {false};
        const char *last_max = NULL;
        sinter_partition *partition = NULL;

        draw_files(&rng, &files);
        partition = partition_of(files.files, files.count);
        for (size_t s = 0; s < sinter_partition_section_count(partition); s++) {
            last_max = check_section(partition, s, &files, seen, last_max, seed);
        }
        for (size_t i = 0; i < files.count; i++) {
            cr_assert_eq(seen[i], files.files[i].row_count > 0, "seed %" PRIu64, seed);
        }
        sinter_partition_destroy(partition);
    }
}

Test(compact_partition, every_allocation_may_fail)
{
    const sinter_file_meta files[] = {file_of("a", 0, "a", "c"), file_of("b", 0, "b", "d")};
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_partition *partition = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = sinter_partition_create(&fault.env, files, 2, &partition, &err);
        cr_assert(st == SINTER_OK ||
                  (st == SINTER_E_NOMEM && partition == NULL && err.status == st));
        sinter_partition_destroy(partition);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
}
