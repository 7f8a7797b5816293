/*
 * Options of a table's schema that decide how it is committed to (table-layout.md 2.2, 12).
 */
#ifndef SINTER_TABLE_COMMIT_OPTIONS_H
#define SINTER_TABLE_COMMIT_OPTIONS_H

#include "table/manifest_rewrite.h"

/** Options with their values or defaults. */
typedef struct sinter__commit_options {
    sinter__meta_format format;      /* manifest.format */
    sinter__avro_codec_choice codec; /* manifest.compression */
    sinter__manifest_limits manifests;
    int64_t max_retries;
    int64_t min_wait_ms;
    int64_t max_wait_ms;
    int64_t timeout_ms;   /* INT64_MAX: none */
    int64_t last_safe_id; /* commit.strict-mode.last-safe-snapshot; -1: not asked for */
    bool row_tracking;
} sinter__commit_options;

/**
 * Read them.
 * @return SINTER_OK, SINTER_E_INVALID (key and value), SINTER_E_UNSUPPORTED (a format or codec of
 *         manifests)
 */
sinter_status
sinter__commit_options_load(const sinter_schema *schema, sinter__commit_options *out,
                            sinter_error *err);

/** A number, size, duration or truth of an option; `out` stays when it isn't set.
 *  @return SINTER_OK, SINTER_E_INVALID (key and value) */
sinter_status
sinter__option_count(const sinter_schema *schema, const char *key, int64_t min, int64_t *out,
                     sinter_error *err);
sinter_status
sinter__option_bytes(const sinter_schema *schema, const char *key, uint64_t *out,
                     sinter_error *err);
sinter_status
sinter__option_duration(const sinter_schema *schema, const char *key, int64_t *ms_out,
                        sinter_error *err);
sinter_status
sinter__option_bool(const sinter_schema *schema, const char *key, bool *out, sinter_error *err);

#endif
