/*
 * Removing data files that nobody is going to name.
 */
#ifndef SINTER_COMPACT_REMOVE_H
#define SINTER_COMPACT_REMOVE_H

#include "sinter/compact.h"

/**
 * Remove a data file and its extra files, which lie beside it; tell the listener of each. What is
 * gone already is fine. Needs no memory for paths below 4 KiB.
 *
 * @return SINTER_OK or the first failure; the others are removed all the same
 */
sinter_status
sinter__file_remove(const sinter_env *env, const char *base_dir, const sinter_file_meta *file,
                    sinter_error *err);

#endif
