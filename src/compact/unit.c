/*
 * Checks of what a caller put together: units and file lists (spec/compaction.md 6, 8).
 */
#include <assert.h>
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
    const sinter_unit *unit;
    bool *is_member;       /* per file of the bucket */
    sinter_file_meta hull; /* smallest and largest key of the unit; row_count 0 without keys */
} unit_check;

/* Widen the hull by a file's keys. */
static void
cover(sinter_file_meta *hull, const sinter_file_meta *file)
{
    if (file->row_count == 0) {
        return;
    }
    assert(sinter__key_compare(file->min_key, file->max_key) <= 0);
    if (hull->row_count == 0 || sinter__key_compare(file->min_key, hull->min_key) < 0) {
        hull->min_key = file->min_key;
    }
    if (hull->row_count == 0 || sinter__key_compare(file->max_key, hull->max_key) > 0) {
        hull->max_key = file->max_key;
    }
    hull->row_count = 1;
}

static sinter_status
note_member(unit_check *check, size_t position, sinter_error *err)
{
    const sinter_unit *unit = check->unit;
    const sinter_file_meta *file = NULL;

    if (position >= unit->count) {
        return SINTER__ERR(err, SINTER_E_INVALID, "unit position %zu is outside of %zu files",
                           position, unit->count);
    }
    file = &unit->files[position];
    if (check->is_member[position]) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, file->file_name, -1,
                              "the unit names the file %s twice", file->file_name);
    }
    check->is_member[position] = true;
    if (file->level > unit->output_level) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, file->file_name, -1,
                              "the file %s lies in level %d, below the output level %d",
                              file->file_name, file->level, unit->output_level);
    }
    cover(&check->hull, file);
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
check_pair(const sinter_unit *unit, const sinter_file_meta *other, const sinter_file_meta *member,
           sinter_error *err)
{
    const int order = sinter__run_order_compare(other, member);
    const bool is_younger = order < 0;

    assert(other != member);
    assert(member->level <= unit->output_level);
    if (order == 0 || (is_younger && other->level >= unit->output_level) ||
        (!is_younger && other->level <= unit->output_level) ||
        (is_younger && would_turn_round(other, member))) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, other->file_name, -1,
                              "the unit leaves out %s (level %d), which overlaps %s (level %d) and "
                              "stands in the way to level %d",
                              other->file_name, other->level, member->file_name, member->level,
                              unit->output_level);
    }
    if (unit->drop_delete && is_younger &&
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
    const sinter_unit *unit = check->unit;
    sinter_status st = SINTER_OK;

    if (other->level == unit->output_level && ranges_meet(other, &check->hull)) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, other->file_name, -1,
                              "the unit leaves out %s, which lies in the output level %d between "
                              "the keys of the unit",
                              other->file_name, unit->output_level);
    }
    /* A file can't be above and below the output level at once, so no file passes that is younger
     * than one member and older than another. */
    for (size_t i = 0; i < unit->member_count && st == SINTER_OK; i++) {
        const sinter_file_meta *member = &unit->files[unit->members[i]];

        st = ranges_meet(other, member) ? check_pair(unit, other, member, err) : SINTER_OK;
    }
    return st;
}

static sinter_status
check_unit(unit_check *check, sinter_error *err)
{
    const sinter_unit *unit = check->unit;
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < unit->count && st == SINTER_OK; i++) {
        st = sinter__file_meta_check(&unit->files[i], err);
    }
    for (size_t i = 0; i < unit->member_count && st == SINTER_OK; i++) {
        st = note_member(check, unit->members[i], err);
    }
    for (size_t i = 0; i < unit->count && st == SINTER_OK; i++) {
        st = check->is_member[i] ? SINTER_OK : check_outsider(check, &unit->files[i], err);
    }
    return st;
}

sinter_status
sinter_unit_check(const sinter_env *env, const sinter_unit *given, sinter_error *err)
{
    sinter_unit unit = {.struct_size = (uint32_t)sizeof unit};
    unit_check check = {.unit = &unit};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && given != NULL);
    SINTER__CHECK(sinter__struct_load(&unit, sizeof unit, given, "sinter_unit", err));
    SINTER__REQUIRE(err, unit.files != NULL || unit.count == 0);
    SINTER__REQUIRE(err, unit.members != NULL || unit.member_count == 0);
    if (unit.output_level < 1 || unit.output_level > unit.max_level) {
        return SINTER__ERR(err, SINTER_E_INVALID, "the output level %d is outside of 1..%d",
                           unit.output_level, unit.max_level);
    }
    SINTER__CHECK(SINTER__NEW(env, check.is_member, unit.count, err));
    st = check_unit(&check, err);
    sinter__free(env, check.is_member);
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

sinter_status
sinter__file_names_check(const sinter_env *env, const sinter_file_meta *files, size_t count,
                         sinter_error *err)
{
    const sinter_file_meta **sorted = NULL;
    sinter_status st = SINTER_OK;

    if (count < 2) {
        return SINTER_OK;
    }
    SINTER__CHECK(SINTER__NEW(env, sorted, count, err));
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &files[i];
    }
    st = check_names(sorted, count, err);
    sinter__free(env, sorted);
    return st;
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
