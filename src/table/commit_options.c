#include "table/commit_options.h"

#include <string.h>

#include "base/fail.h"
#include "compact/parse.h"
#include "sinter/compact.h"

static sinter_status
refuse(const char *key, const char *value, const char *what, sinter_error *err)
{
    return SINTER__ERR(err, SINTER_E_INVALID, "option %s: \"%.60s\" is no %s", key, value, what);
}

sinter_status
sinter__option_count(const sinter_schema *schema, const char *key, int64_t min, int64_t *out,
                     sinter_error *err)
{
    const char *value = sinter_schema_option(schema, key);
    int64_t number = 0;

    if (value == NULL) {
        return SINTER_OK;
    }
    if (sinter__parse_int(value, &number, NULL) != SINTER_OK || number < min) {
        return refuse(key, value, "number that it may have", err);
    }
    *out = number;
    return SINTER_OK;
}

sinter_status
sinter__option_bytes(const sinter_schema *schema, const char *key, uint64_t *out, sinter_error *err)
{
    const char *value = sinter_schema_option(schema, key);

    return value == NULL || sinter_parse_bytes(value, out, NULL) == SINTER_OK
               ? SINTER_OK
               : refuse(key, value, "size", err);
}

sinter_status
sinter__option_duration(const sinter_schema *schema, const char *key, int64_t *ms_out,
                        sinter_error *err)
{
    const char *value = sinter_schema_option(schema, key);

    return value == NULL || sinter__parse_duration(value, ms_out, NULL) == SINTER_OK
               ? SINTER_OK
               : refuse(key, value, "duration", err);
}

sinter_status
sinter__option_bool(const sinter_schema *schema, const char *key, bool *out, sinter_error *err)
{
    const char *value = sinter_schema_option(schema, key);

    return value == NULL || sinter__parse_bool(value, out, NULL) == SINTER_OK
               ? SINTER_OK
               : refuse(key, value, "truth value", err);
}

static sinter_status
load_format(const sinter_schema *schema, sinter__commit_options *out, sinter_error *err)
{
    const char *format = sinter_schema_option(schema, "manifest.format");
    const char *codec = sinter_schema_option(schema, "manifest.compression");
    int64_t level = 1;

    if (format != NULL) {
        SINTER__CHECK(sinter__meta_format_find(format, &out->format, err));
    }
    SINTER__CHECK(sinter__option_count(schema, "file.compression.zstd-level", 1, &level, err));
    if (codec != NULL && strcmp(codec, "none") == 0) {
        codec = "null";
    }
    return sinter__meta_codec(codec == NULL ? "zstd" : codec, level > 22 ? 22 : (int)level,
                              &out->codec, err);
}

sinter_status
sinter__commit_options_load(const sinter_schema *schema, sinter__commit_options *out,
                            sinter_error *err)
{
    int64_t count_min = 30;

    *out = (sinter__commit_options){
        .manifests = {.target_bytes = UINT64_C(8) << 20, .full_bytes = UINT64_C(16) << 20},
        .max_retries = 10,
        .min_wait_ms = 10,
        .max_wait_ms = 10000,
        .timeout_ms = INT64_MAX,
        .last_safe_id = -1};
    SINTER__CHECK(load_format(schema, out, err));
    SINTER__CHECK(sinter__option_bytes(schema, "manifest.target-file-size",
                                       &out->manifests.target_bytes, err));
    SINTER__CHECK(sinter__option_bytes(schema, "manifest.full-compaction-threshold-size",
                                       &out->manifests.full_bytes, err));
    SINTER__CHECK(sinter__option_count(schema, "manifest.merge-min-count", 0, &count_min, err));
    out->manifests.count_min = (uint64_t)count_min;
    SINTER__CHECK(sinter__option_count(schema, "commit.max-retries", 0, &out->max_retries, err));
    SINTER__CHECK(sinter__option_duration(schema, "commit.min-retry-wait", &out->min_wait_ms, err));
    SINTER__CHECK(sinter__option_duration(schema, "commit.max-retry-wait", &out->max_wait_ms, err));
    SINTER__CHECK(sinter__option_duration(schema, "commit.timeout", &out->timeout_ms, err));
    SINTER__CHECK(sinter__option_count(schema, "commit.strict-mode.last-safe-snapshot", -1,
                                       &out->last_safe_id, err));
    return sinter__option_bool(schema, "row-tracking.enabled", &out->row_tracking, err);
}
