#include "sinter/table_stats.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/text.h"
#include "sinter/compact.h"
#include "sinter/table_files.h"
#include "table/table.h"

enum { SMALL_FILES_MIN = 2 }; /* fewer can't be joined */

/* A walk over the files. */
typedef struct stats_walk {
    sinter_table_stats stats;
    sinter_bucket_stats bucket; /* under way */
    sinter_text partition;      /* its */
    bool has_bucket;
    int32_t top_level; /* the highest that the bucket has, above 0; 0: none */
    uint64_t levels;   /* above 0 with files: bits of levels up to 63 */
    uint64_t small_files;
    uint64_t small_bytes;
    uint64_t level_bytes[64];
    double small_ratio;
    sinter_status (*each)(void *ctx, const sinter_bucket_stats *bucket);
    void *ctx;
    sinter_error *err;
} stats_walk;

uint64_t
sinter_file_size_class_limit(size_t index)
{
    static const uint64_t limits[SINTER_FILE_SIZE_CLASSES - 1] = {
        64u << 10, 1u << 20, 4u << 20, 16u << 20, 64u << 20, 128u << 20, 256u << 20, 1u << 30};

    return index < sizeof limits / sizeof limits[0] ? limits[index] : UINT64_MAX;
}

/* ---- buckets ---- */

static uint64_t
files_for(const stats_walk *walk, uint64_t bytes)
{
    const uint64_t target = walk->stats.target_file_bytes;

    return bytes / target + (bytes % target != 0 ? 1 : 0);
}

static void
find_gain(stats_walk *walk)
{
    sinter_bucket_stats *bucket = &walk->bucket;

    bucket->files_after = bucket->files;
    if (walk->stats.has_key) {
        if (bucket->sorted_runs > 1 || bucket->level0_files > 0) {
            bucket->gain_bytes = bucket->bytes;
            bucket->files_after = files_for(walk, bucket->bytes);
        }
    } else if (walk->small_files >= SMALL_FILES_MIN) {
        const uint64_t joined = files_for(walk, walk->small_bytes);

        if (joined < walk->small_files) {
            bucket->gain_bytes = walk->small_bytes;
            bucket->files_after = bucket->files - walk->small_files + joined;
        }
    }
}

static void
add_to_sum(stats_walk *walk)
{
    sinter_table_stats *stats = &walk->stats;
    sinter_bucket_stats *sum = &stats->sum;
    const sinter_bucket_stats *bucket = &walk->bucket;

    stats->buckets++;
    sum->files += bucket->files;
    sum->rows += bucket->rows;
    sum->bytes += bucket->bytes;
    sum->level0_files += bucket->level0_files;
    sum->sorted_runs += bucket->sorted_runs;
    sum->top_bytes += bucket->top_bytes;
    sum->gain_bytes += bucket->gain_bytes;
    sum->files_after += bucket->files_after;
    sum->deleted_rows += bucket->deleted_rows;
    if (bucket->sorted_runs > stats->max_sorted_runs) {
        stats->max_sorted_runs = bucket->sorted_runs;
    }
}

static sinter_status
end_bucket(stats_walk *walk)
{
    if (!walk->has_bucket) {
        return SINTER_OK;
    }
    walk->has_bucket = false;
    if (walk->stats.has_key) {
        walk->bucket.sorted_runs =
            walk->bucket.level0_files + (uint64_t)__builtin_popcountll(walk->levels);
    }
    walk->bucket.top_bytes = walk->top_level > 0 ? walk->level_bytes[walk->top_level] : 0;
    find_gain(walk);
    add_to_sum(walk);
    return walk->each == NULL ? SINTER_OK : walk->each(walk->ctx, &walk->bucket);
}

static sinter_status
begin_bucket(stats_walk *walk, const sinter_table_file *file)
{
    sinter_text_reset(&walk->partition);
    SINTER__CHECK(sinter__text_puts(&walk->partition, file->partition, walk->err));
    walk->bucket = (sinter_bucket_stats){
        .struct_size = (uint32_t)sizeof walk->bucket,
        .bucket = file->bucket,
        .partition = walk->partition.data == NULL ? "" : walk->partition.data};
    walk->has_bucket = true;
    walk->top_level = 0;
    walk->levels = walk->small_files = walk->small_bytes = 0;
    memset(walk->level_bytes, 0, sizeof walk->level_bytes);
    return SINTER_OK;
}

/* ---- files ---- */

static void
add_level(stats_walk *walk, const sinter_table_file *file)
{
    const int32_t most = (int32_t)(sizeof walk->level_bytes / sizeof walk->level_bytes[0]) - 1;
    const int32_t level = file->level < most ? file->level : most;

    if (level <= 0) {
        walk->bucket.level0_files++;
        return;
    }
    walk->levels |= UINT64_C(1) << level;
    walk->level_bytes[level] += file->file_size;
    walk->top_level = level > walk->top_level ? level : walk->top_level;
}

static void
add_size(stats_walk *walk, const sinter_table_file *file)
{
    size_t at = 0;

    while (file->file_size >= sinter_file_size_class_limit(at) &&
           at + 1 < SINTER_FILE_SIZE_CLASSES) {
        at++;
    }
    walk->stats.class_files[at]++;
    walk->stats.class_bytes[at] += file->file_size;
    if ((double)file->file_size < walk->small_ratio * (double)walk->stats.target_file_bytes) {
        walk->small_files++;
        walk->small_bytes += file->file_size;
    }
}

static sinter_status
add_file(void *ctx, const sinter_table_file *file)
{
    stats_walk *walk = ctx;
    sinter_bucket_stats *bucket = &walk->bucket;

    if (!walk->has_bucket || bucket->bucket != file->bucket ||
        strcmp(bucket->partition, file->partition) != 0) {
        SINTER__CHECK(end_bucket(walk));
        SINTER__CHECK(begin_bucket(walk, file));
    }
    bucket->files++;
    bucket->rows += file->row_count;
    bucket->bytes += file->file_size;
    bucket->deleted_rows += file->delete_row_count > 0 ? (uint64_t)file->delete_row_count : 0;
    bucket->deleted_rows += file->vector_row_count > 0 ? (uint64_t)file->vector_row_count : 0;
    add_level(walk, file);
    add_size(walk, file);
    return SINTER_OK;
}

static sinter_status
read_options(stats_walk *walk, const sinter_schema *schema, sinter_error *err)
{
    static const char *const keys[] = {"target-file-size", "compaction.small-file-ratio"};
    sinter_compact_options options;

    sinter_compact_options_init(&options);
    if (!walk->stats.has_key) {
        SINTER__CHECK(sinter_compact_options_set(&options, keys[0], "256 mb", err));
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = sinter_schema_option(schema, keys[i]);

        if (value != NULL) {
            SINTER__CHECK(sinter_compact_options_set(&options, keys[i], value, err));
        }
    }
    walk->stats.target_file_bytes = options.target_file_bytes;
    walk->small_ratio = options.small_file_ratio;
    return SINTER_OK;
}

sinter_status
sinter_table_stats_get(sinter_table *table, const sinter_snapshot *snapshot,
                       sinter_status (*each)(void *ctx, const sinter_bucket_stats *bucket),
                       void *ctx, sinter_table_stats *out, sinter_error *err)
{
    stats_walk walk = {.each = each, .ctx = ctx, .err = err};
    const sinter_schema *schema = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && out != NULL);
    schema = sinter_table_schema(table);
    walk.stats.struct_size = (uint32_t)sizeof walk.stats;
    walk.stats.sum.struct_size = (uint32_t)sizeof walk.stats.sum;
    walk.stats.sum.partition = "";
    walk.stats.sum.bucket = -1;
    walk.stats.has_key = schema->primary_key_count > 0;
    SINTER__CHECK(read_options(&walk, schema, err));
    sinter_text_init(table->env, &walk.partition);
    st = sinter_table_each_file(table, snapshot, add_file, &walk, err);
    if (st == SINTER_OK) {
        st = end_bucket(&walk);
    }
    if (st == SINTER_OK) {
        sinter__struct_store(out, &walk.stats, sizeof walk.stats);
    }
    sinter_text_fini(&walk.partition);
    return st;
}
