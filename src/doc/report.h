/*
 * Parts of `sinter.result` documents (interchange.md 5).
 */
#ifndef SINTER_DOC_REPORT_H
#define SINTER_DOC_REPORT_H

#include "doc/doc_write.h"
#include "sinter/compact.h"

/** Put the identities of retired files as `before`. `result` NULL: none. */
void
sinter__report_put_before(sinter__doc_writer *writer, json_t *root,
                          const sinter_compact_result *result);

/** Put `counters`; NULL: all of them 0. */
void
sinter__report_put_counters(sinter__doc_writer *writer, json_t *root,
                            const sinter_compact_counters *given);

/** Append to `files` what was done with an input, and why. */
void
sinter__report_put_decision(sinter__doc_writer *writer, json_t *files,
                            const sinter_file_decision *decision, const char *code,
                            const char *text);

/** "ok", "failed" or "cancelled". */
const char *
sinter__report_status(const sinter_error *error);

#endif
