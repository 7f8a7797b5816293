#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/opts.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/table_open.h"
#include "cli/text.h"

enum { BUCKETS_SHOWN = 10, PERCENT = 100 };

typedef struct stats_arguments {
    cli_common common;
    cli_number snapshot;
    const char *tag;
    const char *branch;
    bool all_buckets;
} stats_arguments;

#define FIELD(name) offsetof(stats_arguments, name)

static const cli_option options[] = {
    {"snapshot", 0, CLI_COUNT, FIELD(snapshot), "ID", NULL, "A snapshot instead of the newest."},
    {"tag", 0, CLI_TEXT, FIELD(tag), "NAME", NULL, "The snapshot that a tag holds."},
    {"branch", 0, CLI_TEXT, FIELD(branch), "NAME", NULL, "A branch instead of main."},
    {"buckets", 0, CLI_FLAG, FIELD(all_buckets), NULL, NULL,
     "Show all buckets, not only those where compaction would gain the most files."},
};

/* A bucket that was told of; its partition is allocated. */
typedef struct seen_bucket {
    sinter_bucket_stats stats;
    char *partition;
} seen_bucket;

typedef struct stats_job {
    const stats_arguments *args;
    seen_bucket *buckets;
    size_t count;
    sinter_table_stats stats;
    sinter_error err;
} stats_job;

static sinter_status
take_bucket(void *ctx, const sinter_bucket_stats *bucket)
{
    stats_job *job = ctx;
    seen_bucket *to;

    job->buckets = cli_grow(job->buckets, job->count, sizeof *job->buckets);
    to = &job->buckets[job->count++];
    to->stats = *bucket;
    to->partition = cli_alloc(strlen(bucket->partition) + 1, 1);
    memcpy(to->partition, bucket->partition, strlen(bucket->partition));
    to->stats.partition = to->partition;
    return SINTER_OK;
}

/* Files that compaction would spare. */
static uint64_t
spared(const sinter_bucket_stats *bucket)
{
    return bucket->files > bucket->files_after ? bucket->files - bucket->files_after : 0;
}

static int
compare_gain(const void *a, const void *b)
{
    const uint64_t x = spared(&((const seen_bucket *)a)->stats);
    const uint64_t y = spared(&((const seen_bucket *)b)->stats);

    return (x < y) - (x > y);
}

/* ---- JSON ---- */

static void
put_bucket_members(cli_json *json, const sinter_bucket_stats *bucket)
{
    cli_json_uint(json, "file_count", bucket->files);
    cli_json_uint(json, "row_count", bucket->rows);
    cli_json_uint(json, "deleted_row_count", bucket->deleted_rows);
    cli_json_uint(json, "bytes", bucket->bytes);
    cli_json_uint(json, "level0_file_count", bucket->level0_files);
    cli_json_uint(json, "sorted_run_count", bucket->sorted_runs);
    cli_json_uint(json, "top_level_bytes", bucket->top_bytes);
    cli_json_uint(json, "compact_bytes", bucket->gain_bytes);
    cli_json_uint(json, "file_count_after", bucket->files_after);
}

static void
put_json(const stats_job *job)
{
    const sinter_table_stats *stats = &job->stats;
    cli_json json = {0};

    cli_json_object_begin(&json, NULL);
    cli_json_text(&json, "table", job->args->common.operands[0]);
    cli_json_bool(&json, "has_primary_key", stats->has_key);
    cli_json_uint(&json, "target_file_bytes", stats->target_file_bytes);
    cli_json_uint(&json, "bucket_count", stats->buckets);
    cli_json_uint(&json, "max_sorted_run_count", stats->max_sorted_runs);
    put_bucket_members(&json, &stats->sum);
    cli_json_array_begin(&json, "file_sizes");
    for (size_t i = 0; i < SINTER_FILE_SIZE_CLASSES; i++) {
        cli_json_object_begin(&json, NULL);
        if (i + 1 < SINTER_FILE_SIZE_CLASSES) {
            cli_json_uint(&json, "below_bytes", sinter_file_size_class_limit(i));
        }
        cli_json_uint(&json, "file_count", stats->class_files[i]);
        cli_json_uint(&json, "bytes", stats->class_bytes[i]);
        cli_json_object_end(&json);
    }
    cli_json_array_end(&json);
    cli_json_array_begin(&json, "buckets");
    for (size_t i = 0; i < job->count; i++) {
        cli_json_object_begin(&json, NULL);
        cli_json_text(&json, "partition", job->buckets[i].partition);
        cli_json_int(&json, "bucket", job->buckets[i].stats.bucket);
        put_bucket_members(&json, &job->buckets[i].stats);
        cli_json_object_end(&json);
    }
    cli_json_array_end(&json);
    cli_json_object_end(&json);
}

/* ---- for people ---- */

static void
put_sizes(const sinter_table_stats *stats)
{
    static const char *const titles[] = {"file size", ">files", ">bytes"};
    char limit[CLI_NUMBER_CHARS];
    char files[CLI_NUMBER_CHARS];
    char bytes[CLI_NUMBER_CHARS];
    cli_table table;

    cli_table_init(&table, titles, sizeof titles / sizeof titles[0]);
    for (size_t i = 0; i < SINTER_FILE_SIZE_CLASSES; i++) {
        const bool is_last = i + 1 == SINTER_FILE_SIZE_CLASSES;

        if (stats->class_files[i] > 0) {
            cli_table_cell(
                &table, "%s %s", is_last ? "from" : "below",
                cli_bytes_text(sinter_file_size_class_limit(is_last ? i - 1 : i), limit));
            cli_table_cell(&table, "%s", cli_count_text(stats->class_files[i], files));
            cli_table_cell(&table, "%s", cli_bytes_text(stats->class_bytes[i], bytes));
        }
    }
    cli_table_print(&table);
}

static void
put_buckets(const stats_job *job)
{
    static const char *const titles[] = {"partition", ">bucket",  ">files", ">rows",
                                         ">bytes",    ">level 0", ">runs",  ">files after"};
    const size_t most = job->args->all_buckets ? job->count : BUCKETS_SHOWN;
    char text[CLI_NUMBER_CHARS];
    cli_table table;

    cli_table_init(&table, titles, sizeof titles / sizeof titles[0]);
    for (size_t i = 0; i < job->count && i < most; i++) {
        const sinter_bucket_stats *bucket = &job->buckets[i].stats;

        cli_table_cell(&table, "%s", bucket->partition);
        cli_table_cell(&table, "%d", (int)bucket->bucket);
        cli_table_cell(&table, "%s", cli_count_text(bucket->files, text));
        cli_table_cell(&table, "%s", cli_count_text(bucket->rows, text));
        cli_table_cell(&table, "%s", cli_bytes_text(bucket->bytes, text));
        cli_table_cell(&table, "%s", cli_count_text(bucket->level0_files, text));
        cli_table_cell(&table, "%s", cli_count_text(bucket->sorted_runs, text));
        cli_table_cell(&table, "%s", cli_count_text(bucket->files_after, text));
    }
    cli_table_print(&table);
}

static void
put_amplification(const sinter_table_stats *stats)
{
    if (!stats->has_key || stats->buckets == 0) {
        return;
    }
    printf("read amplification: %.1f sorted runs a bucket, %" PRIu64 " at most\n",
           (double)stats->sum.sorted_runs / (double)stats->buckets, stats->max_sorted_runs);
    if (stats->sum.top_bytes > 0) {
        printf("space amplification: %.0f %% of the highest levels\n",
               PERCENT * (double)stats->sum.bytes / (double)stats->sum.top_bytes);
    } else {
        printf("space amplification: not known, nothing was compacted so far\n");
    }
}

static void
put_text(const stats_job *job)
{
    const sinter_table_stats *stats = &job->stats;
    char a[CLI_NUMBER_CHARS];
    char b[CLI_NUMBER_CHARS];
    char c[CLI_NUMBER_CHARS];
    char d[CLI_NUMBER_CHARS];

    printf("%s: %s files in %s buckets, %s rows, %s\n", job->args->common.operands[0],
           cli_count_text(stats->sum.files, a), cli_count_text(stats->buckets, b),
           cli_count_text(stats->sum.rows, c), cli_bytes_text(stats->sum.bytes, d));
    put_sizes(stats);
    put_amplification(stats);
    if (spared(&stats->sum) > 0 || stats->sum.gain_bytes > 0) {
        printf("compaction would read %s and leave %s files instead of %s\n",
               cli_bytes_text(stats->sum.gain_bytes, a), cli_count_text(stats->sum.files_after, b),
               cli_count_text(stats->sum.files, c));
    } else {
        printf("compaction would gain nothing\n");
    }
    put_buckets(job);
}

static int
run(cli *session, void *arguments)
{
    const stats_arguments *args = arguments;
    stats_job job = {
        .args = args, .stats.struct_size = (uint32_t)sizeof job.stats, .err = SINTER_ERROR_INIT};
    sinter_snapshot *snapshot = NULL;
    sinter_table *table = NULL;
    int code = cli_table_open(session, args->common.operands[0], args->branch, &table);

    if (code == CLI_EXIT_OK) {
        code = cli_table_snapshot(table, &args->snapshot, args->tag, &snapshot);
    }
    if (code == CLI_EXIT_OK) {
        const sinter_status st =
            sinter_table_stats_get(table, snapshot, take_bucket, &job, &job.stats, &job.err);

        code = st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &job.err);
    }
    if (code == CLI_EXIT_OK && args->common.json) {
        put_json(&job);
    } else if (code == CLI_EXIT_OK) {
        if (job.count > 1 && !args->all_buckets) {
            qsort(job.buckets, job.count, sizeof *job.buckets, compare_gain);
        }
        put_text(&job);
    }
    for (size_t i = 0; i < job.count; i++) {
        free(job.buckets[i].partition);
    }
    free(job.buckets);
    sinter_snapshot_destroy(snapshot);
    sinter_table_close(table);
    return code;
}

const cli_verb cli_verb_stats = {
    .name = "stats",
    .operands = "TABLE",
    .summary = "show how a table lies on disk and what compaction would gain",
    .description =
        "Show of a table in Paimon's layout how large its files are, how many sorted runs its "
        "buckets have (what a read of all keys merges), how much space it takes compared with "
        "the highest levels, and how many bytes a compaction would read to leave how many files. "
        "Only metadata is read.\n\n"
        "With a primary key compaction means all files of a bucket, to the highest level; files "
        "after it are counted as if no row were dropped. Without a key it means small files.",
    .examples = "sinter stats shop.db/orders\nsinter stats shop.db/orders --buckets --json\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON,
    .operand_min = 1,
    .operand_max = 1,
    .arguments_size = sizeof(stats_arguments),
    .run = run,
};
