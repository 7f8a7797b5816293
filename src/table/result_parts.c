#include "table/result_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"

bool
sinter__result_is_same_unit(const sinter__result_doc *a, const sinter__result_doc *b)
{
    return strcmp(a->place.task_id, b->place.task_id) == 0;
}

static bool
is_same_range(const sinter__key_range *a, const sinter__key_range *b)
{
    return a->has_begin == b->has_begin && a->has_end == b->has_end &&
           (!a->has_begin || sinter__key_equal(a->begin, b->begin)) &&
           (!a->has_end || sinter__key_equal(a->end, b->end));
}

bool
sinter__result_is_same_part(const sinter__result_doc *a, const sinter__result_doc *b)
{
    return sinter__result_is_same_unit(a, b) && is_same_range(&a->place.range, &b->place.range);
}

/* The result of a unit whose range begins where another one ends; `end` NULL: with the first key.
 * NULL: there is none. */
static const sinter__result_doc *
find_part(const sinter__result_set *set, const sinter__result_doc *unit, const sinter_bytes *end)
{
    for (size_t i = 0; i < set->count; i++) {
        const sinter__result_doc *doc = &set->docs[i];
        const sinter__key_range *range = &doc->place.range;

        if (!set->is_duplicate[i] && sinter__result_is_same_unit(doc, unit) &&
            range->has_begin == (end != NULL) &&
            (end == NULL || sinter__key_equal(range->begin, *end))) {
            return doc;
        }
    }
    return NULL;
}

static size_t
count_parts(const sinter__result_set *set, const sinter__result_doc *unit)
{
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++) {
        count += !set->is_duplicate[i] && sinter__result_is_same_unit(&set->docs[i], unit) ? 1 : 0;
    }
    return count;
}

static sinter_status
fail_part(const sinter__result_doc *unit, const sinter_bytes *begin, sinter_error *err)
{
    enum { SHOWN_BYTES = 32 };
    char hex[2 * SHOWN_BYTES + 1] = "";

    if (begin == NULL) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "task %.40s was cut, and its results lack the part with the first keys",
                           unit->place.task_id);
    }
    for (size_t i = 0; i < begin->size && i < SHOWN_BYTES; i++) {
        (void)snprintf(hex + 2 * i, sizeof hex - 2 * i, "%02x", begin->data[i]);
    }
    return SINTER__ERR(err, SINTER_E_INVALID,
                       "task %.40s was cut, and its results lack the part that begins with key %s",
                       unit->place.task_id, hex);
}

/* Walk from part to part: each begins where the one before ends. */
static sinter_status
check_unit(const sinter__result_set *set, const sinter__result_doc *unit, sinter_error *err)
{
    const size_t count = count_parts(set, unit);
    const sinter_bytes *end = NULL;
    size_t walked = 0;

    do {
        const sinter__result_doc *part = find_part(set, unit, end);

        if (part == NULL) {
            return fail_part(unit, end, err);
        }
        walked++;
        end = part->place.range.has_end ? &part->place.range.end : NULL;
    } while (end != NULL);
    return walked == count
               ? SINTER_OK
               : SINTER__ERR(err, SINTER_E_INVALID, "task %.40s: the ranges of its results overlap",
                             unit->place.task_id);
}

static bool
retires(const sinter__result_doc *doc, sinter_bytes name)
{
    size_t i = 0;

    while (i < doc->before_count && !sinter__key_equal(doc->before[i].file_name, name)) {
        i++;
    }
    return i < doc->before_count;
}

/* What a part keeps under another level, no other one retires; a file that reaches into several is
 * retired by each. */
static sinter_status
check_upgraded(const sinter__result_set *set, const sinter__result_doc *doc,
               const sinter__file_identity *file, sinter_error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        const sinter__result_doc *other = &set->docs[i];

        if (other != doc && !set->is_duplicate[i] && sinter__result_is_same_unit(other, doc) &&
            retires(other, file->file_name)) {
            return SINTER__ERR(err, SINTER_E_INVALID,
                               "task %.40s: a part keeps a file that another one rewrites",
                               doc->place.task_id);
        }
    }
    return SINTER_OK;
}

sinter_status
sinter__result_parts_check(const sinter__result_set *set, sinter_error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        const sinter__result_doc *doc = &set->docs[i];

        if (set->is_duplicate[i]) {
            continue;
        }
        SINTER__CHECK(check_unit(set, doc, err));
        for (size_t u = 0; u < doc->upgraded_count; u++) {
            SINTER__CHECK(check_upgraded(set, doc, &doc->upgraded[u], err));
        }
    }
    return SINTER_OK;
}
