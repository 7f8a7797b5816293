/*
 * Which of the built-in merge functions is at hand: the merge knows a short way for one of them.
 */
#ifndef SINTER_MERGE_MERGE_FUNCTION_H
#define SINTER_MERGE_MERGE_FUNCTION_H

#include "sinter/merge.h"

/** Is it deduplicate without ignore-delete, whose result is simply the newest version? */
bool
sinter__is_deduplicate(const sinter_merge_function *function);

#endif
