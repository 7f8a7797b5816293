/*
 * What a batch read of a snapshot returns: bucket after bucket, each merged by its keys.
 */
#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/binary.h"
#include "doc/text.h"
#include "sinter/table_scan.h"
#include "table/bucket_source.h"
#include "table/index_manifest.h"

enum { BUCKET_POSTPONE = -2, RANGES = 64 };

struct sinter_table_scan {
    sinter_table *table;
    sinter_table_scan_options options;
    sinter__table_options table_options;
    sinter__scan_columns columns;
    sinter_compact_options compact;
    sinter__live_files *files;
    sinter__index_manifest index;
    size_t next_bucket;
    /* The current bucket. */
    sinter__bucket_source *source;
    sinter_view *view;
    sinter_reader *reader; /* tables without key: of one file */
    size_t next_file;
    /* The current rows. */
    sinter_range ranges[RANGES];
    size_t range_count;
    size_t range;
    uint32_t row; /* in the range */
    sinter_datum *values;
};

/* ---- what can be read ---- */

static bool
has_key(const sinter_table_scan *scan)
{
    return scan->columns.key_codec != NULL;
}

/* Rows of level 0 are not seen before they are compacted. */
static bool
skips_level_0(const sinter_table_scan *scan)
{
    return has_key(scan) && (scan->table_options.deletion_vectors ||
                             scan->table_options.merge_engine == SINTER__ENGINE_FIRST_ROW);
}

static sinter_status
check_table(const sinter_table_scan *scan, sinter_error *err)
{
    const sinter__table_options *options = &scan->table_options;

    if (options->data_evolution) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "data-evolution.enabled: such tables can't be read");
    }
    if (has_key(scan) && options->merge_engine != SINTER__ENGINE_DEDUPLICATE &&
        options->merge_engine != SINTER__ENGINE_FIRST_ROW) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "merge-engine %s can't be read",
                           sinter__merge_engine_name(options->merge_engine));
    }
    return SINTER_OK;
}

/* ---- opening ---- */

static sinter_status
read_index(sinter_table_scan *scan, const sinter_snapshot *snapshot, sinter_error *err)
{
    const sinter_table *table = scan->table;
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(table->env, &path);
    SINTER__TRY(sinter__text_puts(&path, table->root, err));
    SINTER__TRY(sinter__text_puts(&path, "/manifest/", err));
    SINTER__TRY(sinter__text_puts(&path, snapshot->index_manifest, err));
    SINTER__TRY(sinter__index_manifest_read(table->env, path.data, &scan->index, err));
out:
    sinter_text_fini(&path);
    return st;
}

static sinter_status
set_merge_options(sinter_table_scan *scan, sinter_error *err)
{
    sinter_compact_options *compact = &scan->compact;

    sinter_compact_options_init(compact);
    SINTER__CHECK(sinter_compact_options_set(
        compact, "merge-engine", sinter__merge_engine_name(scan->table_options.merge_engine), err));
    return sinter_compact_options_set(compact, "ignore-delete",
                                      scan->table_options.ignore_delete ? "true" : "false", err);
}

/* The newest snapshot goes with the newest schema, an older one with its own. */
static sinter_status
open_snapshot(sinter_table_scan *scan, const sinter_snapshot **snapshot_out,
              sinter_snapshot **own_out, const sinter_schema **schema_out, sinter_error *err)
{
    int64_t id = 0;
    sinter_status st = SINTER_OK;

    *schema_out = sinter_table_schema(scan->table);
    *snapshot_out = scan->options.snapshot;
    if (*snapshot_out != NULL) {
        return sinter_table_schema_get(scan->table, (*snapshot_out)->schema_id, schema_out, err);
    }
    st = sinter_table_latest_id(scan->table, &id, err);
    if (st == SINTER_OK) {
        st = sinter_table_snapshot_get(scan->table, id, own_out, err);
        *snapshot_out = *own_out;
    }
    return st == SINTER_END ? SINTER_OK : st;
}

static sinter_status
open_scan(sinter_table_scan *scan, sinter_error *err)
{
    const sinter_snapshot *snapshot = NULL;
    sinter_snapshot *own = NULL;
    const sinter_schema *schema = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(open_snapshot(scan, &snapshot, &own, &schema, err));
    SINTER__TRY(sinter__table_options_load(schema, &scan->table_options, err));
    SINTER__TRY(sinter__scan_columns_init(&scan->columns, schema, &scan->table_options,
                                          scan->options.columns, scan->options.column_count, err));
    SINTER__TRY(check_table(scan, err));
    SINTER__TRY(set_merge_options(scan, err));
    SINTER__TRY(SINTER__NEW(scan->table->env, scan->values, scan->columns.count + 1, err));
    if (snapshot != NULL && snapshot->index_manifest != NULL) {
        SINTER__TRY(read_index(scan, snapshot, err));
    }
    if (snapshot != NULL) {
        SINTER__TRY(sinter__live_files_read(scan->table, snapshot, &scan->files, err));
    }
out:
    sinter_snapshot_destroy(own);
    return st;
}

sinter_status
sinter_table_scan_open(sinter_table *table, const sinter_table_scan_options *options,
                       sinter_table_scan **out, sinter_error *err)
{
    sinter_table_scan *scan = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && out != NULL);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(table->env, scan, 1, err));
    scan->table = table;
    scan->columns.arena.env = table->env;
    scan->index.arena.env = table->env;
    scan->options =
        (sinter_table_scan_options){.struct_size = (uint32_t)sizeof scan->options, .bucket = -1};
    if (options != NULL) {
        st = sinter__struct_load(&scan->options, sizeof scan->options, options,
                                 "sinter_table_scan_options", err);
    }
    if (st == SINTER_OK) {
        st = open_scan(scan, err);
    }
    /* Borrowed for this call only. */
    scan->options.columns = NULL;
    scan->options.snapshot = NULL;
    if (st != SINTER_OK) {
        sinter_table_scan_close(scan);
        return st;
    }
    *out = scan;
    return SINTER_OK;
}

static void
close_bucket(sinter_table_scan *scan)
{
    sinter_view_close(scan->view);
    scan->view = NULL;
    if (scan->reader != NULL) {
        scan->reader->ops->close(scan->reader);
        scan->reader = NULL;
    }
    sinter__bucket_source_destroy(scan->source);
    scan->source = NULL;
    scan->range = scan->range_count = 0;
}

void
sinter_table_scan_close(sinter_table_scan *scan)
{
    if (scan != NULL) {
        const sinter_env *env = scan->table->env;

        close_bucket(scan);
        sinter__live_files_destroy(scan->files);
        sinter__index_manifest_fini(&scan->index);
        sinter__scan_columns_fini(&scan->columns);
        sinter__free(env, scan->values);
        sinter__free(env, scan);
    }
}

const sinter_row_type *
sinter_table_scan_row_type(const sinter_table_scan *scan)
{
    return scan->columns.shown;
}

/* ---- buckets ---- */

static sinter_status
open_view(sinter_table_scan *scan, sinter_error *err)
{
    sinter_view_source source = {.struct_size = (uint32_t)sizeof source,
                                 .format = sinter__bucket_source_format(scan->source),
                                 .base_dir = sinter__bucket_source_dir(scan->source),
                                 .options = &scan->compact};
    const sinter_view_options options = {.struct_size = (uint32_t)sizeof options,
                                         .spill_dir = scan->options.spill_dir};

    source.files = sinter__bucket_source_files(scan->source, &source.count);
    source.order =
        scan->columns.order == NULL ? NULL : sinter__sequence_order_get(scan->columns.order);
    return sinter_view_open(scan->table->env, &source, &options, &scan->view, err);
}

/* Open the next bucket; SINTER_END: there is none. */
static sinter_status
open_bucket(sinter_table_scan *scan, sinter_error *err)
{
    const sinter__bucket_files *buckets = NULL;
    size_t count = 0;

    if (scan->files != NULL) {
        buckets = sinter__live_files_buckets(scan->files, &count);
    }
    while (scan->next_bucket < count) {
        const sinter__bucket_files *files = &buckets[scan->next_bucket++];
        const sinter__bucket_request request = {.table = scan->table,
                                                .options = &scan->table_options,
                                                .columns = &scan->columns,
                                                .files = files,
                                                .index = &scan->index,
                                                .skips_level_0 = skips_level_0(scan)};

        if (files->bucket != BUCKET_POSTPONE &&
            (scan->options.bucket < 0 || files->bucket == scan->options.bucket)) {
            scan->next_file = 0;
            SINTER__CHECK(sinter__bucket_source_create(&request, &scan->source, err));
            return has_key(scan) ? open_view(scan, err) : SINTER_OK;
        }
    }
    return SINTER_END;
}

/* ---- rows ---- */

/* The next batch of a table without key: file after file. */
static sinter_status
next_plain(sinter_table_scan *scan, sinter_error *err)
{
    const sinter_env *env = scan->table->env;
    const sinter_format *format = sinter__bucket_source_format(scan->source);
    size_t count = 0;
    const sinter_file_meta *metas = sinter__bucket_source_files(scan->source, &count);
    sinter_status st = SINTER_END;

    for (;;) {
        if (scan->reader == NULL) {
            const sinter_read_options options = {
                .struct_size = (uint32_t)sizeof options,
                .expected_file_bytes =
                    scan->next_file < count ? metas[scan->next_file].file_size : 0};

            if (scan->next_file == count) {
                return SINTER_END;
            }
            SINTER__CHECK(format->open_reader(format->self, env,
                                              metas[scan->next_file++].external_path, &options,
                                              &scan->reader, err));
        }
        st = scan->reader->ops->next(scan->reader, &scan->ranges[0].batch, err);
        if (st != SINTER_END) {
            break;
        }
        scan->reader->ops->close(scan->reader);
        scan->reader = NULL;
    }
    scan->range_count = st == SINTER_OK ? 1 : 0;
    scan->ranges[0].first = 0;
    scan->ranges[0].count = st == SINTER_OK ? scan->ranges[0].batch->row_count : 0;
    return st;
}

/* Have rows at hand; SINTER_END: there are none left. */
static sinter_status
next_ranges(sinter_table_scan *scan, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    scan->range = scan->range_count = 0;
    scan->row = 0;
    while (scan->range_count == 0) {
        if (scan->source == NULL) {
            SINTER__CHECK(open_bucket(scan, err));
        }
        st = scan->view != NULL
                 ? sinter_view_next(scan->view, scan->ranges, RANGES, &scan->range_count, err)
                 : next_plain(scan, err);
        if (st == SINTER_END) {
            close_bucket(scan);
            continue;
        }
        SINTER__CHECK(st);
    }
    return SINTER_OK;
}

static sinter_status
decode_row(sinter_table_scan *scan, const sinter_batch *batch, uint32_t row, sinter_error *err)
{
    const sinter__scan_columns *columns = &scan->columns;
    sinter__slots slots;

    SINTER__CHECK(
        sinter__slots_of_row(columns->count, batch->payload_ops->value(batch, row), &slots, err));
    for (size_t i = 0; i < columns->shown_count; i++) {
        SINTER__CHECK(
            sinter__slots_get(&slots, &columns->fields[i].type, i, &scan->values[i], err));
    }
    return SINTER_OK;
}

/* Is the row at hand one that a vector deletes? Merges leave such rows out themselves. */
static bool
is_dropped(const sinter_table_scan *scan)
{
    const sinter_range *range = &scan->ranges[scan->range];

    return range->batch->dropped != NULL &&
           range->batch->dropped[range->first + scan->row] != SINTER_DROP_KEEP;
}

static void
step(sinter_table_scan *scan)
{
    scan->row++;
    if (scan->row == scan->ranges[scan->range].count) {
        scan->range++;
        scan->row = 0;
    }
}

sinter_status
sinter_table_scan_next(sinter_table_scan *scan, const sinter_datum **values_out, sinter_error *err)
{
    bool is_found = false;

    SINTER__REQUIRE(err, scan != NULL && values_out != NULL);
    while (!is_found) {
        if (scan->range == scan->range_count) {
            SINTER__CHECK(next_ranges(scan, err));
        }
        is_found = !is_dropped(scan);
        if (is_found) {
            SINTER__CHECK(decode_row(scan, scan->ranges[scan->range].batch,
                                     scan->ranges[scan->range].first + scan->row, err));
        }
        step(scan);
    }
    *values_out = scan->values;
    return SINTER_OK;
}
