/*
 * Files, levels and rewrites as the golden cases write them.
 */
#ifndef SINTER_TESTS_GOLDEN_BUCKET_H
#define SINTER_TESTS_GOLDEN_BUCKET_H

#include "golden.h"
#include "sinter/levels.h"

enum { GOLDEN_FILES_MAX = 256 };

/** Files of a case; names are the case's. Zeroed is empty. */
typedef struct golden_files {
    sinter_file_meta files[GOLDEN_FILES_MAX];
    uint8_t keys[GOLDEN_FILES_MAX][2][4];
    bool is_expired[GOLDEN_FILES_MAX];
    size_t count;
} golden_files;

/** Append a file with name and size, of one row. */
sinter_file_meta *
golden_files_add(golden_files *files, const json_t *json);

/** Append a file with level, keys, sequences, creation time; with deletes where they are given. */
void
golden_files_add_whole(golden_files *files, const json_t *json);

/** Load a list of whole files. */
void
golden_files_load(golden_files *files, const json_t *list);

/** Names of files. */
json_t *
golden_names(const sinter_file_meta *files, size_t count);

/** [name, level] of files. */
json_t *
golden_names_and_levels(const sinter_file_list *files);

/** A set of files as a state of levels. */
json_t *
golden_state(const sinter_file_set *set);

/** Records what a task asks for, and answers each rewrite with one made-up file. */
typedef struct golden_recorder {
    const char *prefix; /* of the names of made-up files, "out" */
    json_t *actions;
    size_t seen_after; /* files of the result's `after` up to here stand in `actions` */
    unsigned outputs;
} golden_recorder;

/** A rewriter that is the recorder's. */
sinter_rewriter
golden_recorder_rewriter(golden_recorder *recorder);

/** Upgrades are calls of nobody: read them off the result, in its order. */
void
golden_recorder_upgrades(golden_recorder *recorder, const sinter_compact_result *result);

#endif
