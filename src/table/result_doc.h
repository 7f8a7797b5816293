/*
 * Documents `sinter.result` of tables (interchange.md 5). Beside what every result has, `index`
 * says which deletion vectors were read (`vectors_read`): a commit finds out by it whether rows
 * were deleted meanwhile.
 */
#ifndef SINTER_TABLE_RESULT_DOC_H
#define SINTER_TABLE_RESULT_DOC_H

#include "table/task.h"

/** What a run did. All borrowed. */
typedef struct sinter__run_outcome {
    const sinter_compact_result *result; /* NULL after a failure */
    const sinter__manifest_entry *made;  /* new files, in the order of the result's `after` */
    size_t made_count;
    const sinter_error *error; /* NULL: it went well */
} sinter__run_outcome;

/** Append the document of a task that was run, one line with its end. */
sinter_status
sinter__result_doc_print(const sinter__task_doc *doc, const sinter__run_outcome *outcome,
                         sinter_text *out, sinter_error *err);

/** A retired or upgraded file. */
typedef struct sinter__file_identity {
    sinter_bytes file_name;
    int32_t level;
    int32_t upgraded_from; /* of `before`: unused */
} sinter__file_identity;

/** A result that was read. */
typedef struct sinter__result_doc {
    sinter__arena arena;
    json_t *json;
    sinter__json_source source;
    sinter__task_place place;
    sinter__file_identity *before;
    size_t before_count;
    sinter__file_identity *upgraded;
    size_t upgraded_count;
    sinter__manifest_entry *made;
    size_t made_count;
    sinter__file_vector *vectors; /* that were read */
    size_t vector_count;
} sinter__result_doc;

/**
 * Read a result with status `ok`.
 * @param text  borrowed until fini
 * @param out   zeroed; release with sinter__result_doc_fini(), after a failure too
 * @return      SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (line, column, member),
 *              SINTER_E_UNSUPPORTED
 */
sinter_status
sinter__result_doc_load(const sinter__doc_table *table, const sinter__json_source *text,
                        sinter__result_doc *out, sinter_error *err);

void
sinter__result_doc_fini(sinter__result_doc *doc);

#endif
