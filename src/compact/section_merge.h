/*
 * The merge of one section: readers over its runs' files, and the k-way merge over these
 * (spec/compaction.md 14, layers 1 and 2). Used by the rewriter and by the merged view.
 */
#ifndef SINTER_COMPACT_SECTION_MERGE_H
#define SINTER_COMPACT_SECTION_MERGE_H

#include "compact/run_reader.h"

/* Blocks of a new file that may be encoded beside the merge, where the budget is large enough. */
enum { SINTER__BLOCKS_BESIDE = 4 };

/** What all section merges of a task or view share. Borrowed while a merge is open. */
typedef struct sinter__merge_config {
    sinter__read_config read;
    sinter_merge_options merge;        /* complete but for what depends on the section */
    const sinter_write_options *write; /* how the rows are written; NULL: nobody does */
    const sinter_order *order;         /* NULL: none */
    bool (*keep_record)(void *ctx, const sinter_batch *batch, uint32_t row); /* NULL: all */
    void *keep_ctx;
} sinter__merge_config;

/**
 * The merge function of a task or view: of the factory, if there is one, else what the options ask
 * for. Release with sinter__merge_function_destroy().
 * @return SINTER_OK, failures of the factory, SINTER_E_INVALID (it gave a function without reduce)
 */
sinter_status
sinter__merge_function_create(const sinter_env *env, const sinter_merge_function_factory *factory,
                              const sinter_compact_options *options, sinter_merge_function **out,
                              sinter_error *err);

/** Release; takes NULL and static functions. */
void
sinter__merge_function_destroy(sinter_merge_function *function);

/** Merge options as a task's options ask for, but for the function. `spill_dir` is borrowed. */
void
sinter__merge_config_init(sinter__merge_config *config, const sinter_compact_options *options,
                          const char *spill_dir);

/** What a writer takes of the memory budget for these blocks; 0: the format can't tell. */
uint64_t
sinter__format_writer_bytes(const sinter_format *format, const sinter_write_options *write,
                            const sinter_footprint *blocks);

/**
 * What encoding beside the merge takes of the memory budget, beside what else writing takes; 0: the
 * format doesn't know of it.
 * @param blocks  write->blocks_beside, were it so many
 */
uint64_t
sinter__merge_config_beside_bytes(const sinter__merge_config *config, uint32_t blocks);

/** One open section. Confined. */
typedef struct sinter__section_merge sinter__section_merge;

/**
 * Open the merge of a section.
 *
 * Where runs may be spilled and there is a memory budget, each file is asked first how much memory
 * it takes to read, and writing the rows is counted too.
 *
 * @param section  at least one run, each with a file; its files are borrowed until close, its runs
 *                 for the call
 * @return         failures of sinter_merge_open()
 */
sinter_status
sinter__section_merge_open(const sinter_env *env, const sinter__merge_config *config,
                           const sinter_rewrite_section *section, sinter__section_merge **out,
                           sinter_error *err);

/** The merge, for next and counters. */
sinter_merge *
sinter__section_merge_get(const sinter__section_merge *section);

/** Close all files, release; takes NULL. */
void
sinter__section_merge_close(sinter__section_merge *section);

#endif
