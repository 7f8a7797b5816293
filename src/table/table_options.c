#include "table/table_options.h"

#include <string.h>

#include "base/fail.h"
#include "compact/parse.h"

static const char *const engine_names[] = {"deduplicate", "first-row", "partial-update",
                                           "aggregation", NULL};

const char *
sinter__merge_engine_name(sinter__merge_engine engine)
{
    return engine_names[engine];
}

static sinter_status
load_bool(const sinter_schema *schema, const char *key, bool *out, sinter_error *err)
{
    const char *value = sinter_schema_option(schema, key);

    if (value != NULL && sinter__parse_bool(value, out, NULL) != SINTER_OK) {
        return SINTER__ERR(err, SINTER_E_INVALID, "option %s: \"%.60s\" is neither true nor false",
                           key, value);
    }
    return SINTER_OK;
}

/* Position of a value among names; case doesn't matter. */
static sinter_status
load_choice(const sinter_schema *schema, const char *key, const char *const *names, int *out,
            sinter_error *err)
{
    const char *value = sinter_schema_option(schema, key);

    for (int i = 0; value != NULL && names[i] != NULL; i++) {
        size_t at = 0;

        while (names[i][at] != '\0' &&
               (value[at] >= 'A' && value[at] <= 'Z' ? value[at] | 0x20 : value[at]) ==
                   names[i][at]) {
            at++;
        }
        if (names[i][at] == '\0' && value[at] == '\0') {
            *out = i;
            return SINTER_OK;
        }
    }
    return value == NULL ? SINTER_OK
                         : SINTER__ERR(err, SINTER_E_INVALID,
                                       "option %s: \"%.60s\" is no known value", key, value);
}

static const char *
text_or(const sinter_schema *schema, const char *key, const char *otherwise)
{
    const char *value = sinter_schema_option(schema, key);

    return value == NULL || value[0] == '\0' ? otherwise : value;
}

static sinter_status
load_bucket(const sinter_schema *schema, int64_t *out, sinter_error *err)
{
    const char *value = sinter_schema_option(schema, "bucket");

    *out = schema->version < 2 ? 1 : -1;
    if (value != NULL && (sinter__parse_int(value, out, NULL) != SINTER_OK || *out < -2 ||
                          *out == 0 || *out > INT32_MAX)) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "option bucket: \"%.60s\" is no number of buckets", value);
    }
    return SINTER_OK;
}

sinter_status
sinter__table_options_load(const sinter_schema *schema, sinter__table_options *out,
                           sinter_error *err)
{
    static const char *const orders[] = {"ascending", "descending", NULL};
    static const char *const ignore_keys[] = {"ignore-delete", "first-row.ignore-delete",
                                              "deduplicate.ignore-delete",
                                              "partial-update.ignore-delete"};
    int engine = SINTER__ENGINE_DEDUPLICATE;
    int order = 0;

    *out = (sinter__table_options){.partition_names.legacy = true};
    SINTER__CHECK(load_bucket(schema, &out->bucket, err));
    SINTER__CHECK(load_choice(schema, "merge-engine", engine_names, &engine, err));
    SINTER__CHECK(load_choice(schema, "sequence.field.sort-order", orders, &order, err));
    for (size_t i = 0; i < sizeof ignore_keys / sizeof ignore_keys[0] && !out->ignore_delete; i++) {
        SINTER__CHECK(load_bool(schema, ignore_keys[i], &out->ignore_delete, err));
    }
    SINTER__CHECK(load_bool(schema, "ignore-update-before", &out->ignore_update_before, err));
    SINTER__CHECK(load_bool(schema, "deletion-vectors.enabled", &out->deletion_vectors, err));
    SINTER__CHECK(load_bool(schema, "data-evolution.enabled", &out->data_evolution, err));
    SINTER__CHECK(load_bool(schema, "row-tracking.enabled", &out->row_tracking, err));
    SINTER__CHECK(load_bool(schema, "partition.legacy-name", &out->partition_names.legacy, err));
    SINTER__CHECK(load_bool(schema, "index-file-in-data-file-dir", &out->index_in_data_dir, err));
    out->merge_engine = (sinter__merge_engine)engine;
    out->sequence_descending = order == 1;
    out->sequence_field = text_or(schema, "sequence.field", NULL);
    out->data_dir = text_or(schema, "data-file.path-directory", NULL);
    out->partition_names.default_name =
        text_or(schema, "partition.default-name", "__DEFAULT_PARTITION__");
    return SINTER_OK;
}
