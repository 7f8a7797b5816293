/*
 * Checks of what a caller put together: units and file lists (spec/compaction.md 6, 8).
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "compact/age.h"
#include "compact/load.h"

static bool
ranges_meet(const sinter_file_meta *a, const sinter_file_meta *b)
{
    return a->row_count > 0 && b->row_count > 0 &&
           sinter__key_compare(a->min_key, b->max_key) <= 0 &&
           sinter__key_compare(b->min_key, a->max_key) <= 0;
}

/** The unit while it is checked. */
typedef struct unit_check {
    const sinter_file_meta *files;
    size_t count;
    const size_t *unit;
    size_t unit_count;
    int32_t output_level;
    bool drop_delete;
    bool *is_in_unit;
    sinter_file_meta hull; /* smallest and largest key of the unit; row_count 0 without keys */
} unit_check;

static sinter_status
note_members(unit_check *check, sinter_error *err)
{
    for (size_t i = 0; i < check->unit_count; i++) {
        const sinter_file_meta *file = NULL;

        if (check->unit[i] >= check->count) {
            return SINTER__ERR(err, SINTER_E_INVALID, "unit position %zu is outside of %zu files",
                               check->unit[i], check->count);
        }
        file = &check->files[check->unit[i]];
        if (check->is_in_unit[check->unit[i]]) {
            return SINTER__ERR_AT(err, SINTER_E_INVALID, file->file_name, -1,
                                  "the unit names the file %s twice", file->file_name);
        }
        check->is_in_unit[check->unit[i]] = true;
        if (file->level > check->output_level) {
            return SINTER__ERR_AT(err, SINTER_E_INVALID, file->file_name, -1,
                                  "the file %s lies in level %d, below the output level %d",
                                  file->file_name, file->level, check->output_level);
        }
        if (file->row_count == 0) {
            continue;
        }
        if (check->hull.row_count == 0 ||
            sinter__key_compare(file->min_key, check->hull.min_key) < 0) {
            check->hull.min_key = file->min_key;
        }
        if (check->hull.row_count == 0 ||
            sinter__key_compare(file->max_key, check->hull.max_key) > 0) {
            check->hull.max_key = file->max_key;
        }
        check->hull.row_count = 1;
    }
    return SINTER_OK;
}

/* Could both hold versions of one sequence, between which only the age of the files decides? */
static bool
sequences_meet(const sinter_file_meta *a, const sinter_file_meta *b)
{
    return a->min_sequence_number <= b->max_sequence_number &&
           b->min_sequence_number <= a->max_sequence_number;
}

/* Does `other`, which stands before `member`, lose a tie that it would win once `member` has sunk?
 * Files of level 0 stand in the order of their sequences, which isn't always that of their age. */
static bool
would_turn_round(const sinter_file_meta *other, const sinter_file_meta *member)
{
    return sequences_meet(other, member) && sinter__age_compare(other, member) < 0;
}

/* May `other`, which is left out, stay beside `member`, which it overlaps? */
static sinter_status
check_pair(const unit_check *check, const sinter_file_meta *other, const sinter_file_meta *member,
           sinter_error *err)
{
    const int order = sinter__run_order_compare(other, member);
    const bool is_younger = order < 0;

    if (order == 0 || (is_younger && other->level >= check->output_level) ||
        (!is_younger && other->level <= check->output_level) ||
        (is_younger && would_turn_round(other, member))) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, other->file_name, -1,
                              "the unit leaves out %s (level %d), which overlaps %s (level %d) and "
                              "stands in the way to level %d",
                              other->file_name, other->level, member->file_name, member->level,
                              check->output_level);
    }
    if (check->drop_delete && is_younger &&
        other->min_sequence_number <= member->max_sequence_number) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, other->file_name, -1,
                              "the unit drops deletes and leaves out %s, whose sequences begin at "
                              "%lld, not above those of %s (up to %lld)",
                              other->file_name, (long long)other->min_sequence_number,
                              member->file_name, (long long)member->max_sequence_number);
    }
    return SINTER_OK;
}

static sinter_status
check_outsider(const unit_check *check, const sinter_file_meta *other, sinter_error *err)
{
    if (other->level == check->output_level && ranges_meet(other, &check->hull)) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, other->file_name, -1,
                              "the unit leaves out %s, which lies in the output level %d between "
                              "the keys of the unit",
                              other->file_name, check->output_level);
    }
    for (size_t i = 0; i < check->unit_count; i++) {
        const sinter_file_meta *member = &check->files[check->unit[i]];

        if (!ranges_meet(other, member)) {
            continue;
        }
        /* A file can't be above and below the output level at once, so no file passes that is
         * younger than one member and older than another. */
        SINTER__CHECK(check_pair(check, other, member, err));
    }
    return SINTER_OK;
}

sinter_status
sinter_unit_check(const sinter_env *env, const sinter_file_meta *files, size_t count,
                  const size_t *unit, size_t unit_count, int32_t output_level, int32_t max_level,
                  bool drop_delete, sinter_error *err)
{
    unit_check check = {.files = files,
                        .count = count,
                        .unit = unit,
                        .unit_count = unit_count,
                        .output_level = output_level,
                        .drop_delete = drop_delete};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL);
    SINTER__REQUIRE(err, files != NULL || count == 0);
    SINTER__REQUIRE(err, unit != NULL || unit_count == 0);
    if (output_level < 1 || output_level > max_level) {
        return SINTER__ERR(err, SINTER_E_INVALID, "the output level %d is outside of 1..%d",
                           output_level, max_level);
    }
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(sinter__file_meta_check(&files[i], err));
    }
    SINTER__TRY(SINTER__NEW(env, check.is_in_unit, count, err));
    SINTER__TRY(note_members(&check, err));
    for (size_t i = 0; i < count; i++) {
        if (!check.is_in_unit[i]) {
            SINTER__TRY(check_outsider(&check, &files[i], err));
        }
    }
out:
    sinter__free(env, check.is_in_unit);
    return st;
}

bool
sinter_unit_drops_deletes(const sinter_file_meta *files, size_t count, int32_t output_level,
                          bool uses_vectors, bool keep_deletes)
{
    int32_t highest = -1;

    for (size_t i = 0; i < count; i++) {
        highest = files[i].level > highest ? files[i].level : highest;
    }
    return !keep_deletes && output_level != 0 && (output_level >= highest || uses_vectors);
}

static int
compare_names(const void *left, const void *right)
{
    const sinter_file_meta *a = *(const sinter_file_meta *const *)left;
    const sinter_file_meta *b = *(const sinter_file_meta *const *)right;

    return strcmp(a->file_name, b->file_name);
}

/* Levels, and within a level the smallest keys, ascending. */
static int
compare_places(const void *left, const void *right)
{
    const sinter_file_meta *a = *(const sinter_file_meta *const *)left;
    const sinter_file_meta *b = *(const sinter_file_meta *const *)right;

    if (a->level != b->level) {
        return a->level < b->level ? -1 : 1;
    }
    return sinter__key_compare(a->min_key, b->min_key);
}

static sinter_status
check_names(const sinter_file_meta **sorted, size_t count, sinter_error *err)
{
    qsort(sorted, count, sizeof *sorted, compare_names);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(sorted[i - 1]->file_name, sorted[i]->file_name) == 0) {
            return SINTER__ERR_AT(err, SINTER_E_INVALID, sorted[i]->file_name, -1,
                                  "two files have the name %s (levels %d and %d)",
                                  sorted[i]->file_name, sorted[i - 1]->level, sorted[i]->level);
        }
    }
    return SINTER_OK;
}

static sinter_status
check_levels(const sinter_file_meta **sorted, size_t count, sinter_error *err)
{
    const sinter_file_meta *last = NULL;

    qsort(sorted, count, sizeof *sorted, compare_places);
    for (size_t i = 0; i < count; i++) {
        const sinter_file_meta *file = sorted[i];

        if (file->level == 0 || file->row_count == 0) {
            continue;
        }
        if (last != NULL && last->level == file->level &&
            sinter__key_compare(file->min_key, last->max_key) <= 0) {
            return SINTER__ERR_AT(err, SINTER_E_INVALID, file->file_name, -1,
                                  "the files %s and %s overlap in level %d", last->file_name,
                                  file->file_name, file->level);
        }
        last = file;
    }
    return SINTER_OK;
}

sinter_status
sinter_files_check(const sinter_env *env, const sinter_file_meta *files, size_t count,
                   sinter_error *err)
{
    const sinter_file_meta **sorted = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL);
    SINTER__REQUIRE(err, files != NULL || count == 0);
    if (count == 0) {
        return SINTER_OK;
    }
    SINTER__TRY(SINTER__NEW(env, sorted, count, err));
    for (size_t i = 0; i < count; i++) {
        SINTER__TRY(sinter__file_meta_check(&files[i], err));
        sorted[i] = &files[i];
    }
    SINTER__TRY(check_names(sorted, count, err));
    SINTER__TRY(check_levels(sorted, count, err));
out:
    sinter__free(env, sorted);
    return st;
}
