/*
 * Deduplicate and first-row (spec/compaction.md 14.5). Both pick one of the versions, so neither
 * holds state; each exists twice, with and without ignore-delete.
 */
#include "merge/merge_function.h"

#include <assert.h>

#include "base/fail.h"

static bool
is_retract(const sinter_row *row)
{
    return sinter_kind_is_retract(row->batch->kinds[row->index]);
}

static sinter_status
deduplicate_reduce(sinter_merge_function *function, const sinter_row *rows, size_t count,
                   sinter_row *out, sinter_error *err)
{
    (void)function;
    (void)err;
    assert(count >= 1);
    *out = rows[count - 1];
    return SINTER_OK;
}

static sinter_status
deduplicate_adds_reduce(sinter_merge_function *function, const sinter_row *rows, size_t count,
                        sinter_row *out, sinter_error *err)
{
    (void)function;
    (void)err;
    for (size_t i = count; i > 0; i--) {
        if (!is_retract(&rows[i - 1])) {
            *out = rows[i - 1];
            return SINTER_OK;
        }
    }
    return SINTER_END;
}

static sinter_status
first_row_reduce(sinter_merge_function *function, const sinter_row *rows, size_t count,
                 sinter_row *out, sinter_error *err)
{
    (void)function;
    assert(count >= 1);
    for (size_t i = 0; i < count; i++) {
        if (is_retract(&rows[i])) {
            return SINTER__ERR(err, SINTER_E_RETRACT,
                               "first-row met a retract record; set ignore-delete to skip them");
        }
    }
    *out = rows[0];
    return SINTER_OK;
}

static sinter_status
first_add_reduce(sinter_merge_function *function, const sinter_row *rows, size_t count,
                 sinter_row *out, sinter_error *err)
{
    (void)function;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        if (!is_retract(&rows[i])) {
            *out = rows[i];
            return SINTER_OK;
        }
    }
    return SINTER_END;
}

static const sinter_merge_function_ops deduplicate_ops = {
    .struct_size = (uint32_t)sizeof(sinter_merge_function_ops),
    .name = "deduplicate",
    .reduce = deduplicate_reduce,
};
static const sinter_merge_function_ops deduplicate_adds_ops = {
    .struct_size = (uint32_t)sizeof(sinter_merge_function_ops),
    .name = "deduplicate",
    .reduce = deduplicate_adds_reduce,
};
static const sinter_merge_function_ops first_row_ops = {
    .struct_size = (uint32_t)sizeof(sinter_merge_function_ops),
    .name = "first-row",
    .reduce = first_row_reduce,
};
static const sinter_merge_function_ops first_add_ops = {
    .struct_size = (uint32_t)sizeof(sinter_merge_function_ops),
    .name = "first-row",
    .reduce = first_add_reduce,
};

static sinter_merge_function deduplicate = {&deduplicate_ops};
static sinter_merge_function deduplicate_adds = {&deduplicate_adds_ops};
static sinter_merge_function first_row = {&first_row_ops};
static sinter_merge_function first_add = {&first_add_ops};

sinter_merge_function *
sinter_merge_deduplicate(bool ignore_delete)
{
    return ignore_delete ? &deduplicate_adds : &deduplicate;
}

sinter_merge_function *
sinter_merge_first_row(bool ignore_delete)
{
    return ignore_delete ? &first_add : &first_row;
}

bool
sinter__is_deduplicate(const sinter_merge_function *function)
{
    return function == &deduplicate;
}
