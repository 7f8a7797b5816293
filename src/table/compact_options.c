#include "table/compact_options.h"

#include <string.h>
#include <strings.h>

#include "base/fail.h"

/* ---- what is refused ---- */

/* A key that changes what must be read or written, and the values that are fine. */
typedef struct guarded_key {
    const char *key;
    const char *fine[2]; /* NULL, NULL: no value is */
} guarded_key;

static const guarded_key guarded_keys[] = {
    {"changelog-producer", {"none", "input"}},
    {"data-evolution.enabled", {"false", NULL}},
    {"clustering.incremental", {"false", NULL}},
    {"chain-table.enabled", {"false", NULL}},
    {"type", {"table", NULL}},
};

static sinter_status
check_key(const char *key, const char *value, sinter_error *err)
{
    for (size_t i = 0; i < sizeof guarded_keys / sizeof guarded_keys[0]; i++) {
        const guarded_key *guard = &guarded_keys[i];

        if (strcmp(guard->key, key) == 0 &&
            (guard->fine[0] == NULL || strcasecmp(guard->fine[0], value) != 0) &&
            (guard->fine[1] == NULL || strcasecmp(guard->fine[1], value) != 0)) {
            return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                               "option %s = \"%.60s\": such tables can't be compacted", key, value);
        }
    }
    return SINTER_OK;
}

/* ---- what is set ---- */

/* Keys of the core that belong to writers, or to how files of a table are made, which the plan of
 * writing decides. */
static const char *const keys_elsewhere[] = {"merge-engine",
                                             "ignore-delete",
                                             "file.compression",
                                             "file.compression.per.level",
                                             "file.compression.zstd-level",
                                             "file.block-size",
                                             "full-compaction.delta-commits",
                                             "commit.force-compact",
                                             "write-only",
                                             "write-buffer-size",
                                             "write-buffer-spillable",
                                             "write-buffer-spill.max-disk-size",
                                             "target-file-row-num",
                                             "lookup-wait"};

static bool
is_of_core(const char *key)
{
    sinter_option_info info = {.struct_size = (uint32_t)sizeof info};

    for (size_t i = 0; i < sizeof keys_elsewhere / sizeof keys_elsewhere[0]; i++) {
        if (strcmp(keys_elsewhere[i], key) == 0) {
            return false;
        }
    }
    for (size_t i = 0; sinter_compact_option_info(i, &info); i++) {
        if (strcmp(info.key, key) == 0) {
            return true;
        }
    }
    return false;
}

static sinter_status
set_key(sinter__compaction *out, const char *key, const char *value, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__CHECK(check_key(key, value, err));
    if (!is_of_core(key)) {
        return SINTER_OK;
    }
    st = sinter_compact_options_set(&out->core, key, value, err);
    /* Spill files are nobody else's: a codec that isn't there is no reason to refuse a table. */
    return st == SINTER_E_UNSUPPORTED && strcmp(key, "spill-compression") == 0 ? SINTER_OK : st;
}

static sinter_status
set_setting(sinter__compaction *out, const char *key, const char *value, sinter_error *err)
{
    if (!is_of_core(key) && strncmp(key, "sinter.", 7) != 0) {
        /* Names the nearest key, unless it is one that a table alone can have. */
        sinter_compact_options scratch = out->core;

        SINTER__CHECK(sinter_compact_options_set(&scratch, key, value, err));
        return SINTER__ERR(err, SINTER_E_INVALID, "option %s is the table's alone", key);
    }
    return sinter_compact_options_set(&out->core, key, value, err);
}

/* ---- all ---- */

static sinter_status
check_engine(const sinter__compaction *out, sinter_error *err)
{
    if (out->has_key && out->table.merge_engine != SINTER__ENGINE_DEDUPLICATE &&
        out->table.merge_engine != SINTER__ENGINE_FIRST_ROW) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "option merge-engine = \"%s\": such tables can't be compacted",
                           sinter__merge_engine_name(out->table.merge_engine));
    }
    if (out->table.bucket == -2) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "option bucket = \"-2\": postponed buckets can't be compacted");
    }
    return SINTER_OK;
}

sinter_status
sinter__compaction_load(const sinter_schema *schema, const sinter__settings *settings,
                        sinter__compaction *out, sinter_error *err)
{
    const char *prefix = sinter_schema_option(schema, "data-file.prefix");

    *out = (sinter__compaction){.has_key = false};
    out->has_key = schema->primary_key_count > 0;
    out->file_prefix = prefix == NULL ? "data-" : prefix;
    sinter_compact_options_init(&out->core);
    if (!out->has_key) {
        out->core.target_file_bytes = (uint64_t)256 << 20;
    }
    SINTER__CHECK(sinter__table_options_load(schema, &out->table, err));
    for (size_t i = 0; i < schema->option_count; i++) {
        SINTER__CHECK(set_key(out, schema->options[i].key, schema->options[i].value, err));
    }
    SINTER__CHECK(check_engine(out, err));
    for (size_t i = 0; i < settings->count; i++) {
        SINTER__CHECK(set_setting(out, settings->items[i].key, settings->items[i].value, err));
    }
    out->core.merge_engine = out->table.merge_engine == SINTER__ENGINE_FIRST_ROW
                                 ? SINTER_MERGE_ENGINE_FIRST_ROW
                                 : SINTER_MERGE_ENGINE_DEDUPLICATE;
    out->core.ignore_delete = out->table.ignore_delete;
    out->needs_lookup = out->table.deletion_vectors || sinter_compact_needs_lookup(&out->core);
    return sinter_compact_options_check(&out->core, err);
}
