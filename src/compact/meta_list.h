/*
 * Lists of file metadata that own what they hold.
 */
#ifndef SINTER_COMPACT_META_LIST_H
#define SINTER_COMPACT_META_LIST_H

#include "base/arena.h"
#include "sinter/compact.h"

/** Zeroed with arena.env set is empty; release with sinter__meta_list_fini(). */
typedef struct sinter__meta_list {
    sinter__arena arena; /* strings and keys of all files ever added */
    sinter_file_list list;
    size_t capacity;
} sinter__meta_list;

/** Copy metadata with everything it points to, but for `carried`, into an arena. */
sinter_status
sinter__file_meta_copy(sinter__arena *arena, const sinter_file_meta *file, sinter_file_meta *out,
                       sinter_error *err);

/** Room for `extra` more files. */
sinter_status
sinter__meta_list_reserve(sinter__meta_list *list, size_t extra, sinter_error *err);

/** Append a copy. */
sinter_status
sinter__meta_list_add(sinter__meta_list *list, const sinter_file_meta *file, sinter_error *err);

void
sinter__meta_list_fini(sinter__meta_list *list);

#endif
