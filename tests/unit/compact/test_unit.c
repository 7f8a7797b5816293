#include <criterion/criterion.h>
#include <inttypes.h>

#include "files.h"
#include "support/fault_alloc.h"
#include "support/records.h"

TestSuite(field_faults, .timeout = 60);

enum { MAX_LEVEL = 5 };

static sinter_status
check(const sinter_file_meta *files, size_t count, const size_t *members, size_t member_count,
      int32_t output_level, bool drop_delete, sinter_error *err)
{
    const sinter_unit unit = {.struct_size = sizeof unit,
                              .output_level = output_level,
                              .max_level = MAX_LEVEL,
                              .drop_delete = drop_delete,
                              .files = files,
                              .count = count,
                              .members = members,
                              .member_count = member_count};

    return sinter_unit_check(sinter_env_default(), &unit, err);
}

Test(field_faults, f01_a_unit_that_steps_over_a_run)
{
    const sinter_file_meta files[] = {file_with_sequences("N", 0, "k", "k", 9, 9),
                                      file_with_sequences("M", 0, "k", "k", 7, 7),
                                      file_with_sequences("P", 5, "k", "k", 3, 3)};
    const size_t without_m[] = {0, 2};
    const size_t all[] = {0, 1, 2};
    const size_t younger_left_out[] = {1, 2};
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(check(files, 3, without_m, 2, 5, true, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.file, "M");
    cr_expect_eq(check(files, 3, all, 3, 5, true, NULL), SINTER_OK);
    cr_expect_eq(check(files, 3, younger_left_out, 2, 5, true, NULL), SINTER_OK,
                 "N is younger than both and lies above the output");
}

Test(field_faults, f02_deletes_go_only_where_nothing_older_can_be)
{
    const sinter_file_meta files[] = {file_of("A", 0, "k", "k"), file_of("B", 0, "a", "a"),
                                      file_of("C", 5, "k", "k")};

    cr_expect_not(sinter_unit_drops_deletes(files, 3, 3, false, false), "C may hold the key");
    cr_expect(sinter_unit_drops_deletes(files, 3, 5, false, false));
    cr_expect(sinter_unit_drops_deletes(files, 2, 3, false, false), "without C");
    cr_expect(sinter_unit_drops_deletes(files, 3, 3, true, false), "vectors mark the older row");
    cr_expect_not(sinter_unit_drops_deletes(files, 3, 5, false, true), "the caller keeps them");
    cr_expect_not(sinter_unit_drops_deletes(files, 2, 0, false, false), "never in level 0");
    cr_expect_not(sinter_unit_drops_deletes(files, 2, 0, true, false), "never in level 0");
}

Test(compact_unit, the_output_level_has_to_exist_and_not_lie_above_a_file)
{
    const sinter_file_meta files[] = {file_of("a", 3, "a", "b")};
    const size_t unit[] = {0};
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(check(files, 1, unit, 1, 0, false, NULL), SINTER_E_INVALID);
    cr_expect_eq(check(files, 1, unit, 1, 6, false, NULL), SINTER_E_INVALID);
    cr_expect_eq(check(files, 1, unit, 1, 2, false, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.file, "a");
    cr_expect_eq(check(files, 1, unit, 1, 3, false, NULL), SINTER_OK);
    cr_expect_eq(check(files, 1, unit, 1, 5, false, NULL), SINTER_OK);
}

Test(compact_unit, positions_have_to_be_there_once)
{
    const sinter_file_meta files[] = {file_of("a", 0, "a", "b")};
    const size_t twice[] = {0, 0};
    const size_t outside[] = {1};
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(check(files, 1, twice, 2, 5, false, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.file, "a");
    cr_expect_eq(check(files, 1, outside, 1, 5, false, NULL), SINTER_E_INVALID);
}

Test(compact_unit, a_file_in_the_output_level_between_the_units_keys_stands_in_the_way)
{
    const sinter_file_meta files[] = {file_of("a", 0, "a", "b"), file_of("c", 0, "y", "z"),
                                      file_of("g", 3, "m", "n"), file_of("h", 3, "zz", "zz")};
    const size_t unit[] = {0, 1};
    const size_t with_g[] = {0, 1, 2};
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(check(files, 4, unit, 2, 3, false, &err), SINTER_E_INVALID,
                 "an output may span a..z");
    cr_expect_str_eq(err.file, "g");
    cr_expect_eq(check(files, 4, with_g, 3, 3, false, NULL), SINTER_OK, "h lies behind");
    cr_expect_eq(check(files, 4, unit, 2, 2, false, NULL), SINTER_OK, "g lies below level 2");
}

Test(compact_unit, an_older_file_above_the_output_stands_in_the_way)
{
    const sinter_file_meta files[] = {file_with_sequences("new", 0, "k", "k", 9, 9),
                                      file_with_sequences("mid", 2, "k", "k", 5, 5),
                                      file_with_sequences("old", 5, "k", "k", 1, 1)};
    const size_t unit[] = {0};
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(check(files, 3, unit, 1, 4, false, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.file, "mid");
    cr_expect_eq(check(files, 3, unit, 1, 1, false, NULL), SINTER_OK);
}

Test(compact_unit, with_drop_delete_a_younger_file_has_to_begin_above_the_units_sequences)
{
    const sinter_file_meta files[] = {file_with_sequences("young", 0, "k", "k", 7, 20),
                                      file_with_sequences("old", 0, "k", "k", 1, 8)};
    const sinter_file_meta touching[] = {file_with_sequences("young", 0, "k", "k", 8, 20),
                                         file_with_sequences("old", 0, "k", "k", 1, 8)};
    const sinter_file_meta apart[] = {file_with_sequences("young", 0, "k", "k", 9, 20),
                                      file_with_sequences("old", 0, "k", "k", 1, 8)};
    const size_t unit[] = {1};
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(check(files, 2, unit, 1, 5, true, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.file, "young");
    cr_expect_eq(check(files, 2, unit, 1, 5, false, NULL), SINTER_OK);
    cr_expect_eq(check(touching, 2, unit, 1, 5, true, NULL), SINTER_E_INVALID, "8 is in both");
    cr_expect_eq(check(apart, 2, unit, 1, 5, true, NULL), SINTER_OK);
}

Test(field_faults, f05_a_unit_does_not_turn_a_tie_round)
{
    /* Both may hold sequence 5. The older file stands first in level 0, whose order is that of
     * sequences; if the younger one sank alone, its version would lose from then on. */
    sinter_file_meta files[] = {file_with_sequences("older", 0, "k", "k", 5, 9),
                                file_with_sequences("younger", 0, "k", "k", 1, 5)};
    const size_t unit[] = {1};
    sinter_error err = SINTER_ERROR_INIT;

    files[0].creation_time_ms = 1;
    files[1].creation_time_ms = 2;
    cr_expect_eq(check(files, 2, unit, 1, 5, false, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.file, "older");
    files[1].max_sequence_number = 4;
    cr_expect_eq(check(files, 2, unit, 1, 5, false, NULL), SINTER_OK, "no tie can be");
    files[1].max_sequence_number = 5;
    files[0].creation_time_ms = 3;
    cr_expect_eq(check(files, 2, unit, 1, 5, false, NULL), SINTER_OK, "its age agrees");
}

Test(compact_unit, nothing_is_a_unit_and_empty_files_overlap_nothing)
{
    const sinter_file_meta files[] = {file_empty("x", 0), file_of("a", 3, "a", "z")};
    const size_t unit[] = {0};

    cr_expect_eq(check(NULL, 0, NULL, 0, 5, true, NULL), SINTER_OK);
    cr_expect_eq(check(files, 2, NULL, 0, 5, true, NULL), SINTER_OK);
    cr_expect_eq(check(files, 2, unit, 1, 3, true, NULL), SINTER_OK);
}

enum { FILES_MAX = 8, KEYS = 6 };

/** A small bucket: every file holds all keys of its range, versions ordered by runs. */
typedef struct bucket {
    sinter_file_meta files[FILES_MAX];
    char names[FILES_MAX][4];
    char keys[FILES_MAX][2][2];
    size_t count;
} bucket;

/* Legal levels: level 0 as it comes, a higher level only where it overlaps nothing. Sequences fall
 * with the age, as writers make them. */
static void
draw_bucket(test_rng *rng, bucket *out)
{
    const size_t wanted = 1 + (size_t)test_rng_below(rng, FILES_MAX);
    int64_t sequence = 1000;

    out->count = 0;
    for (int32_t level = 0; level <= MAX_LEVEL && out->count < wanted; level++) {
        int32_t next_key = 0;

        for (size_t n = test_rng_below(rng, 3); n > 0 && out->count < wanted; n--) {
            const size_t i = out->count;
            const int32_t min = level == 0 ? (int32_t)test_rng_below(rng, KEYS) : next_key;
            const int32_t max = min + (int32_t)test_rng_below(rng, 3);

            if (max >= KEYS) {
                continue;
            }
            next_key = max + 1;
            out->names[i][0] = (char)('A' + (int)i);
            out->keys[i][0][0] = (char)('a' + min);
            out->keys[i][1][0] = (char)('a' + max);
            out->files[i] = file_with_sequences(out->names[i], level, out->keys[i][0],
                                                out->keys[i][1], sequence - 5, sequence);
            sequence -= 10;
            out->count++;
        }
    }
}

/* Which file a read takes a key from: the one that stands first in the list of runs. -1: none. The
 * unit's files count as one that lies in the output level. */
static int
winner_before(const bucket *b, int key)
{
    for (size_t i = 0; i < b->count; i++) {
        if (b->keys[i][0][0] <= 'a' + key && b->keys[i][1][0] >= 'a' + key) {
            return (int)i;
        }
    }
    return -1;
}

static int
winner_after(const bucket *b, const bool *in_unit, int32_t output_level, int key)
{
    int winner = -1;
    int32_t winner_level = MAX_LEVEL + 1;

    for (size_t i = 0; i < b->count; i++) {
        const int32_t level = in_unit[i] ? output_level : b->files[i].level;

        /* Files stand in the order of runs, so the first of a level wins, unit files included:
         * their merge keeps the newest. */
        if (b->keys[i][0][0] <= 'a' + key && b->keys[i][1][0] >= 'a' + key &&
            level < winner_level) {
            winner = (int)i;
            winner_level = level;
        }
    }
    return winner;
}

Test(compact_unit, a_unit_that_passes_never_changes_what_a_read_returns)
{
    uint64_t passed = 0;
    uint64_t refused = 0;

    for (uint64_t seed = 1; seed <= scaled_cases(5000); seed++) {
        test_rng rng = {seed};
        bucket b = {.count = 0};
        bool in_unit[FILES_MAX] = {false};
        size_t unit[FILES_MAX];
        size_t unit_count = 0;
        const int32_t output_level = 1 + (int32_t)test_rng_below(&rng, MAX_LEVEL);

        draw_bucket(&rng, &b);
        for (size_t i = 0; i < b.count; i++) {
            if (test_rng_chance(&rng, 50)) {
                in_unit[i] = true;
                unit[unit_count++] = i;
            }
        }
        if (check(b.files, b.count, unit, unit_count, output_level, false, NULL) != SINTER_OK) {
            refused++;
            continue;
        }
        passed++;
        for (int key = 0; key < KEYS; key++) {
            cr_assert_eq(winner_before(&b, key), winner_after(&b, in_unit, output_level, key),
                         "seed %" PRIu64 " key %d", seed, key);
        }
    }
    cr_expect(passed > 100 && refused > 100, "%" PRIu64 " passed, %" PRIu64 " refused", passed,
              refused);
}

Test(compact_unit, files_that_can_not_be_one_bucket_are_refused_with_both_names)
{
    const sinter_file_meta overlapping[] = {file_of("a", 1, "a", "f"), file_of("b", 0, "a", "z"),
                                            file_of("c", 1, "f", "z")};
    const sinter_file_meta twins[] = {file_of("a", 0, "a", "f"), file_of("a", 2, "x", "z")};
    const sinter_file_meta fine[] = {file_of("a", 1, "a", "f"), file_of("b", 1, "g", "z"),
                                     file_of("c", 0, "a", "z"), file_of("d", 0, "a", "z"),
                                     file_empty("e", 1),        file_of("f", 2, "a", "z")};
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(sinter_files_check(sinter_env_default(), overlapping, 3, &err), SINTER_E_INVALID);
    cr_expect(strstr(err.text, "a and c") != NULL, "%s", err.text);
    cr_expect_eq(sinter_files_check(sinter_env_default(), twins, 2, &err), SINTER_E_INVALID);
    cr_expect(strstr(err.text, "name a") != NULL, "%s", err.text);
    cr_expect_eq(sinter_files_check(sinter_env_default(), fine, 6, &err), SINTER_OK, "%s",
                 err.text);
    cr_expect_eq(sinter_files_check(sinter_env_default(), NULL, 0, NULL), SINTER_OK);
}

Test(compact_unit, metadata_that_makes_no_sense_is_refused_by_name)
{
    sinter_file_meta bad[5];
    sinter_error err = SINTER_ERROR_INIT;

    for (size_t i = 0; i < 5; i++) {
        bad[i] = file_of("bad", 1, "a", "b");
    }
    bad[0].file_name = "dir/bad";
    bad[1].file_name = "";
    bad[2].level = -1;
    bad[3].min_key = text_bytes("c");
    bad[4].struct_size = 8;
    for (size_t i = 0; i < 5; i++) {
        cr_expect_eq(sinter_files_check(sinter_env_default(), &bad[i], 1, &err), SINTER_E_INVALID,
                     "%zu", i);
    }
}

Test(compact_unit, every_allocation_may_fail)
{
    const sinter_file_meta files[] = {file_of("a", 0, "a", "c"), file_of("b", 1, "b", "d")};
    const size_t members[] = {0, 1};
    const sinter_unit unit = {.struct_size = sizeof unit,
                              .output_level = 2,
                              .max_level = MAX_LEVEL,
                              .files = files,
                              .count = 2,
                              .members = members,
                              .member_count = 2};
    sinter_status unit_st = SINTER_E_NOMEM;
    sinter_status files_st = SINTER_E_NOMEM;

    for (uint64_t n = 0; unit_st != SINTER_OK || files_st != SINTER_OK; n++) {
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        unit_st = sinter_unit_check(&fault.env, &unit, NULL);
        cr_assert(unit_st == SINTER_OK || unit_st == SINTER_E_NOMEM);
        fault_alloc_init(&fault, n);
        files_st = sinter_files_check(&fault.env, files, 2, NULL);
        cr_assert(files_st == SINTER_OK || files_st == SINTER_E_NOMEM);
        cr_assert_eq(fault.live, 0);
    }
}
