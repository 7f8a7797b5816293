/*
 * Results of a unit that was cut by key range: whether they are all there (interchange.md 5).
 */
#ifndef SINTER_TABLE_RESULT_PARTS_H
#define SINTER_TABLE_RESULT_PARTS_H

#include "table/result_doc.h"

/** Results that are committed together. Borrowed. */
typedef struct sinter__result_set {
    const sinter__result_doc *docs;
    const bool *is_duplicate; /* one each; these don't count */
    size_t count;
} sinter__result_set;

/** Are both of one unit, whatever their parts of it are? */
bool
sinter__result_is_same_unit(const sinter__result_doc *a, const sinter__result_doc *b);

/** Are both of the same part of one unit? */
bool
sinter__result_is_same_part(const sinter__result_doc *a, const sinter__result_doc *b);

/**
 * Check that the parts of each unit hold all keys, once each, and agree on what is retired.
 * @return SINTER_OK; SINTER_E_INVALID with the task, and where a part is missing
 */
sinter_status
sinter__result_parts_check(const sinter__result_set *set, sinter_error *err);

#endif
