/*
 * What a batch read of a snapshot returns: bucket after bucket, each merged by its keys.
 */
#include "table/scan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/binary.h"
#include "doc/text.h"
#include "sinter/table_scan.h"
#include "table/bucket_source.h"
#include "table/file_pruner.h"
#include "table/index_manifest.h"

enum { RANGES = 64 };

struct sinter_table_scan {
    sinter_table *table;
    int64_t snapshot_id; /* that is read; 0: none */
    sinter_table_scan_options options;
    sinter__table_options table_options;
    sinter__scan_columns columns;
    const sinter__predicate *predicate; /* NULL: none */
    bool *marks;                        /* of the schema's columns, that it looks at */
    sinter_datum *tested;               /* values of the schema's columns, with marks */
    sinter__file_pruner *pruner;        /* with `predicate` */
    sinter_table_scan_counters counters;
    sinter_compact_options compact;
    sinter__live_files *files;
    sinter__index_manifest index;
    size_t next_bucket;
    /* scan.fallback-branch: partitions that the main branch doesn't have come from another one. */
    sinter_table *branch;
    sinter_table_scan *fallback;
    const sinter_bytes *covered; /* of a fallback: partitions that it leaves out, ascending */
    size_t covered_count;
    /* The current bucket. */
    sinter__scratch entries; /* what unfolded entries lie in */
    sinter__bucket_files unfolded;
    sinter__bucket_files pruned; /* with `pruner` */
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
    /* Without a snapshot there must be a schema still: the table may be dropped. */
    return st == SINTER_END ? sinter_table_refresh(scan->table, err) : st;
}

static bool
is_partition_column(const sinter_schema *schema, const char *name)
{
    size_t i = 0;

    while (i < schema->partition_key_count && strcmp(schema->partition_keys[i], name) != 0) {
        i++;
    }
    return i < schema->partition_key_count;
}

static sinter_status
check_partitions(const sinter_schema *schema, const bool *marks, sinter_error *err)
{
    for (size_t i = 0; i < sinter_row_type_count(schema->row_type); i++) {
        const char *name = sinter_row_type_column_name(schema->row_type, i);

        if (marks[i] && !is_partition_column(schema, name)) {
            return SINTER__ERR(err, SINTER_E_INVALID, "column \"%.100s\" is no partition column",
                               name);
        }
    }
    return SINTER_OK;
}

static sinter_status
bind_predicates(sinter_table_scan *scan, const sinter_schema *schema, sinter_error *err)
{
    const sinter_table_scan_options *options = &scan->options;
    const size_t count = sinter_row_type_count(schema->row_type);
    sinter__arena *arena = &scan->columns.arena;
    const sinter__predicate *partitions = NULL;
    const sinter__predicate *where = NULL;

    if (options->where == NULL && options->partitions == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(
        sinter__arena_take(arena, count * sizeof *scan->marks, (void **)&scan->marks, err));
    memset(scan->marks, 0, count * sizeof *scan->marks);
    SINTER__CHECK(
        sinter__arena_take(arena, count * sizeof *scan->tested, (void **)&scan->tested, err));
    if (options->partitions != NULL) {
        SINTER__CHECK(
            sinter__predicate_bind(arena, options->partitions, schema->row_type, &partitions, err));
        sinter__predicate_mark(partitions, scan->marks);
        SINTER__CHECK(check_partitions(schema, scan->marks, err));
    }
    if (options->where != NULL) {
        SINTER__CHECK(sinter__predicate_bind(arena, options->where, schema->row_type, &where, err));
        sinter__predicate_mark(where, scan->marks);
    }
    scan->columns.also = scan->marks;
    return sinter__predicate_both(arena, partitions, where, &scan->predicate, err);
}

static sinter_status
read_files(sinter_table_scan *scan, const sinter_snapshot *snapshot, sinter_error *err)
{
    const sinter_table_scan_options *options = &scan->options;
    sinter__live_files_counters counters = {0};
    sinter__entry_filter filter = {.schema = scan->columns.schema,
                                   .partition_keys = scan->columns.partition_keys,
                                   .predicate = scan->predicate,
                                   .bucket = options->bucket,
                                   .level_min = options->has_levels ? options->level_min : 0,
                                   .level_max =
                                       options->has_levels ? options->level_max : INT32_MAX,
                                   .drops_stats = scan->predicate == NULL};
    const sinter__bucket_files *buckets = NULL;
    size_t count = 0;

    if (skips_level_0(scan) && filter.level_min < 1) {
        filter.level_min = 1;
    }
    SINTER__CHECK(
        sinter__live_files_read_some(scan->table, snapshot, &filter, &scan->files, &counters, err));
    scan->counters.manifests_read = counters.manifests_read;
    scan->counters.manifests_skipped = counters.manifests_skipped;
    buckets = sinter__live_files_buckets(scan->files, &count);
    for (size_t i = 0; i < count; i++) {
        scan->counters.files += buckets[i].count;
    }
    return SINTER_OK;
}

static int
compare_partitions(const void *a, const void *b)
{
    return sinter__key_compare(*(const sinter_bytes *)a, *(const sinter_bytes *)b);
}

/* Tell the fallback which partitions the main branch has, whatever is wanted of them. */
static sinter_status
cover_partitions(sinter_table_scan *scan, const sinter_snapshot *snapshot, sinter_error *err)
{
    const sinter__entry_filter filter = {.schema = scan->columns.schema,
                                         .partition_keys = scan->columns.partition_keys,
                                         .bucket = -1,
                                         .level_min = skips_level_0(scan) ? 1 : 0,
                                         .level_max = INT32_MAX,
                                         .drops_stats = true};
    sinter__live_files_counters counters = {0};
    sinter__live_files *files = NULL;
    const sinter__bucket_files *buckets = NULL;
    sinter_bytes *covered = NULL;
    size_t count = 0;
    sinter_status st = SINTER_OK;

    SINTER__TRY(
        sinter__live_files_read_some(scan->table, snapshot, &filter, &files, &counters, err));
    buckets = sinter__live_files_buckets(files, &count);
    SINTER__TRY(sinter__arena_take(&scan->columns.arena, (count + 1) * sizeof *covered,
                                   (void **)&covered, err));
    for (size_t i = 0; i < count; i++) {
        SINTER__TRY(
            sinter__arena_copy(&scan->columns.arena, buckets[i].partition, &covered[i], err));
    }
    if (count > 1) {
        qsort(covered, count, sizeof *covered, compare_partitions);
    }
    scan->fallback->covered = covered;
    scan->fallback->covered_count = count;
out:
    sinter__live_files_destroy(files);
    return st;
}

/* Columns of the branch have the types of the main one's, but for NOT NULL. */
static sinter_status
check_fallback_columns(const sinter_table_scan *scan, sinter_error *err)
{
    for (size_t i = 0; i < sinter_row_type_count(scan->columns.shown); i++) {
        sinter_type ours = *sinter_row_type_column_type(scan->columns.shown, i);
        sinter_type theirs = *sinter_row_type_column_type(scan->fallback->columns.shown, i);
        char our_text[SINTER_TYPE_TEXT_MAX];
        char their_text[SINTER_TYPE_TEXT_MAX];

        ours.nullable = theirs.nullable = true;
        sinter_type_print(&ours, our_text);
        sinter_type_print(&theirs, their_text);
        if (strcmp(our_text, their_text) != 0) {
            return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                               "scan.fallback-branch: column %.100s is %s there, not %s",
                               sinter_row_type_column_name(scan->columns.shown, i), their_text,
                               our_text);
        }
    }
    return SINTER_OK;
}

/* The branch's snapshot at the time of one of the main branch, or its first; SINTER_END: it has
 * neither. */
static sinter_status
find_fallback_snapshot(sinter_table_scan *scan, const sinter_snapshot *main, sinter_snapshot **out,
                       sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_status st = sinter_table_snapshot_at(scan->branch, main->time_ms, out, &detail);

    if (st == SINTER_E_NOT_FOUND) {
        st = sinter_table_snapshot_get(scan->branch, 1, out, &detail);
    }
    if (st == SINTER_E_NOT_FOUND || st == SINTER_E_EXPIRED) {
        return SINTER_END;
    }
    if (st != SINTER_OK && err != NULL) {
        *err = detail;
    }
    return st;
}

static sinter_status
open_fallback_scan(sinter_table_scan *scan, const sinter_snapshot *snapshot, sinter_error *err)
{
    sinter_table_scan_options options = scan->options;
    const size_t count = sinter_row_type_count(scan->columns.shown);
    const char **names = NULL;

    options.snapshot = snapshot;
    options.has_limit = false;
    SINTER__CHECK(sinter__arena_take(&scan->columns.arena, (count + 1) * sizeof *names,
                                     (void **)&names, err));
    for (size_t i = 0; i < count; i++) {
        names[i] = sinter_row_type_column_name(scan->columns.shown, i);
    }
    options.columns = names;
    options.column_count = count;
    SINTER__CHECK(sinter_table_scan_open(scan->branch, &options, &scan->fallback, err));
    return check_fallback_columns(scan, err);
}

static sinter_status
open_fallback(sinter_table_scan *scan, const sinter_snapshot *snapshot, sinter_error *err)
{
    const sinter_table_config config = {
        .struct_size = (uint32_t)sizeof config,
        .path = scan->table->root,
        .branch = sinter_schema_option(sinter_table_schema(scan->table), "scan.fallback-branch")};
    sinter_snapshot *at = NULL;
    sinter_status st = SINTER_OK;

    if (config.branch == NULL || scan->table->branch != NULL) {
        return SINTER_OK;
    }
    SINTER__TRY(sinter_table_open(scan->table->env, &config, &scan->branch, err));
    if (scan->options.snapshot != NULL) {
        SINTER__TRY(find_fallback_snapshot(scan, scan->options.snapshot, &at, err));
    }
    SINTER__TRY(open_fallback_scan(scan, at, err));
    if (snapshot != NULL) {
        SINTER__TRY(cover_partitions(scan, snapshot, err));
    }
out:
    sinter_snapshot_destroy(at);
    return st == SINTER_END ? SINTER_OK : st;
}

static sinter_status
make_pruner(sinter_table_scan *scan, sinter_error *err)
{
    const sinter__prune_plan plan = {.table = scan->table,
                                     .columns = &scan->columns,
                                     .predicate = scan->predicate,
                                     .has_unique_keys = scan->table_options.deletion_vectors};

    return scan->predicate == NULL ? SINTER_OK
                                   : sinter__file_pruner_create(&plan, &scan->pruner, err);
}

static sinter_status
open_scan(sinter_table_scan *scan, sinter_error *err)
{
    const sinter_snapshot *snapshot = NULL;
    sinter_snapshot *own = NULL;
    const sinter_schema *schema = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(open_snapshot(scan, &snapshot, &own, &schema, err));
    if (scan->options.spill_dir != NULL) {
        SINTER__TRY(sinter__arena_strdup(&scan->columns.arena, scan->options.spill_dir,
                                         &scan->options.spill_dir, err));
    }
    SINTER__TRY(sinter__table_options_load(schema, &scan->table_options, err));
    SINTER__TRY(bind_predicates(scan, schema, err));
    SINTER__TRY(sinter__scan_columns_init(&scan->columns, schema, &scan->table_options,
                                          scan->options.columns, scan->options.column_count, err));
    SINTER__TRY(check_table(scan, err));
    SINTER__TRY(make_pruner(scan, err));
    SINTER__TRY(set_merge_options(scan, err));
    SINTER__TRY(SINTER__NEW(scan->table->env, scan->values, scan->columns.count + 1, err));
    if (snapshot != NULL && snapshot->index_manifest != NULL) {
        SINTER__TRY(read_index(scan, snapshot, err));
    }
    if (snapshot != NULL) {
        scan->snapshot_id = snapshot->id;
        SINTER__TRY(read_files(scan, snapshot, err));
    }
    SINTER__TRY(open_fallback(scan, snapshot, err));
out:
    sinter_snapshot_destroy(own);
    return st;
}

/** A walk over tags: does one hold the snapshot that is read? */
typedef struct tag_search {
    sinter_table_scan *scan;
    bool is_found;
} tag_search;

static sinter_status
look_at_tag(void *ctx, const char *name)
{
    tag_search *search = ctx;
    sinter_snapshot *snapshot = NULL;
    sinter_status st = sinter_table_snapshot_of_tag(search->scan->table, name, &snapshot, NULL);

    search->is_found =
        search->is_found || (st == SINTER_OK && snapshot->id == search->scan->snapshot_id);
    sinter_snapshot_destroy(snapshot);
    return SINTER_OK;
}

/* A file that isn't there: its snapshot may have been expired while it was read. What a tag holds
 * doesn't expire. */
static sinter_status
expired_or(sinter_table_scan *scan, sinter_status st, sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_error gone = SINTER_ERROR_INIT;
    sinter_snapshot *snapshot = NULL;
    tag_search search = {scan, false};

    if (st != SINTER_E_NOT_FOUND || scan->snapshot_id == 0) {
        return st;
    }
    if (sinter_table_snapshot_get(scan->table, scan->snapshot_id, &snapshot, &detail) !=
        SINTER_E_EXPIRED) {
        sinter_snapshot_destroy(snapshot);
        return st;
    }
    if (sinter_table_each_tag(scan->table, look_at_tag, &search, NULL) != SINTER_OK ||
        search.is_found) {
        return st;
    }
    if (err != NULL) {
        gone = *err;
    }
    return SINTER__ERR_AT(err, SINTER_E_EXPIRED, gone.file, -1,
                          "snapshot %" PRId64 " was expired while it was read: this file is gone",
                          scan->snapshot_id);
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
        st = expired_or(scan, open_scan(scan, err), err);
    }
    /* Borrowed for this call only. */
    scan->options.columns = NULL;
    scan->options.snapshot = NULL;
    scan->options.where = NULL;
    scan->options.partitions = NULL;
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
        sinter_table_scan_close(scan->fallback);
        sinter_table_close(scan->branch);
        sinter__file_pruner_destroy(scan->pruner);
        sinter__live_files_destroy(scan->files);
        sinter__scratch_fini(env, &scan->entries);
        sinter__index_manifest_fini(&scan->index);
        sinter__scan_columns_fini(&scan->columns);
        sinter__free(env, scan->values);
        sinter__free(env, scan);
    }
}

const sinter_env *
sinter__scan_env(const sinter_table_scan *scan)
{
    return scan->table->env;
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

/* Leave out files; `pruned` gets what is left, until the next bucket is begun. */
static sinter_status
prune(sinter_table_scan *scan, const sinter__bucket_files **files, sinter__bucket_files *pruned,
      sinter_error *err)
{
    if (scan->pruner != NULL) {
        SINTER__CHECK(sinter__file_pruner_apply(scan->pruner, *files, pruned, err));
        scan->counters.files_skipped += (*files)->count - pruned->count;
        *files = pruned;
    }
    return SINTER_OK;
}

static bool
is_covered(const sinter_table_scan *scan, const sinter__bucket_files *files)
{
    return scan->covered_count > 0 && bsearch(&files->partition, scan->covered, scan->covered_count,
                                              sizeof *scan->covered, compare_partitions) != NULL;
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
        sinter__bucket_request request = {.table = scan->table,
                                          .options = &scan->table_options,
                                          .columns = &scan->columns,
                                          .index = &scan->index,
                                          .skips_level_0 = skips_level_0(scan),
                                          .checks_texts = scan->options.checks_texts};

        if (is_covered(scan, files)) {
            continue;
        }
        SINTER__CHECK(
            sinter__live_files_unfold(scan->files, files, &scan->entries, &scan->unfolded, err));
        files = &scan->unfolded;
        SINTER__CHECK(prune(scan, &files, &scan->pruned, err));
        if (files->count > 0) {
            request.files = files;
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

/* Decode the row at hand if it is wanted. */
static sinter_status
decode_row(sinter_table_scan *scan, const sinter_batch *batch, uint32_t row, bool *is_wanted,
           sinter_error *err)
{
    const sinter__scan_columns *columns = &scan->columns;
    sinter__slots slots;

    SINTER__CHECK(
        sinter__slots_of_row(columns->count, batch->payload_ops->value(batch, row), &slots, err));
    for (size_t i = 0; scan->predicate != NULL && i < columns->count; i++) {
        const size_t at = columns->positions[i];

        if (scan->marks[at]) {
            SINTER__CHECK(
                sinter__slots_get(&slots, &columns->fields[i].type, i, &scan->tested[at], err));
        }
    }
    *is_wanted = scan->predicate == NULL || sinter__predicate_holds(scan->predicate, scan->tested);
    for (size_t i = 0; *is_wanted && i < columns->shown_count; i++) {
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

static sinter_status
next_fallback(sinter_table_scan *scan, const sinter_datum **values_out, sinter_error *err)
{
    SINTER__CHECK(sinter_table_scan_next(scan->fallback, values_out, err));
    scan->counters.rows++;
    return SINTER_OK;
}

static sinter_status
next_row(sinter_table_scan *scan, sinter_error *err)
{
    bool is_found = false;

    while (!is_found) {
        if (scan->range == scan->range_count) {
            SINTER__CHECK(next_ranges(scan, err));
        }
        if (!is_dropped(scan)) {
            scan->counters.rows_merged++;
            SINTER__CHECK(decode_row(scan, scan->ranges[scan->range].batch,
                                     scan->ranges[scan->range].first + scan->row, &is_found, err));
        }
        step(scan);
    }
    return SINTER_OK;
}

sinter_status
sinter_table_scan_next(sinter_table_scan *scan, const sinter_datum **values_out, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, scan != NULL && values_out != NULL);
    if (scan->options.has_limit && scan->counters.rows == scan->options.limit) {
        return SINTER_END;
    }
    st = next_row(scan, err);
    if (st == SINTER_END && scan->fallback != NULL) {
        return next_fallback(scan, values_out, err);
    }
    if (st != SINTER_OK) {
        return expired_or(scan, st, err);
    }
    scan->counters.rows++;
    *values_out = scan->values;
    return SINTER_OK;
}

void
sinter_table_scan_counters_get(const sinter_table_scan *scan, sinter_table_scan_counters *out)
{
    sinter_table_scan_counters counters = scan->counters;

    if (scan->fallback != NULL) {
        counters.manifests_read += scan->fallback->counters.manifests_read;
        counters.manifests_skipped += scan->fallback->counters.manifests_skipped;
        counters.files += scan->fallback->counters.files;
        counters.files_skipped += scan->fallback->counters.files_skipped;
        counters.rows_merged += scan->fallback->counters.rows_merged;
    }
    sinter__struct_store(out, &counters, sizeof counters);
}
