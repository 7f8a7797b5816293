#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/levels.h"
#include "cli/opts.h"
#include "cli/report.h"
#include "cli/task.h"
#include "cli/text.h"

typedef struct status_arguments {
    cli_common common;
    const char *base_dir;
} status_arguments;

static const cli_option options[] = {
    {"base-dir", 0, CLI_TEXT, offsetof(status_arguments, base_dir), "DIR", "@dir",
     "Where the files of a document lie, instead of its base_dir."},
};

/** What a directory holds that its catalog doesn't name. */
typedef struct leftovers {
    const char **known; /* names of live and retired files, sorted */
    size_t known_count;
    const cli *session;
    const char *dir;
    uint64_t unlisted;       /* data files */
    uint64_t unlisted_bytes; /* of them */
    uint64_t temporary;
} leftovers;

/** One bucket. */
typedef struct bucket_status {
    const cli_source *source;
    cli_level all;
    cli_level top; /* the highest level that isn't empty */
    int32_t top_level;
    uint64_t runs;
    uint64_t level0_files;
    int64_t last_compaction_ms; /* -1: no file was made by one */
    bool has_leftovers;         /* it is a directory */
    leftovers left;
    cli_task next; /* what the strategy picks */
} bucket_status;

/* ---- gathering ---- */

static void
sum_up(const cli_source *source, bucket_status *out)
{
    const sinter_file_meta *files = source->files->files;
    const size_t count = source->files->file_count;

    out->source = source;
    out->top_level = -1;
    out->last_compaction_ms = -1;
    for (int32_t level = 0; level <= source->max_level; level++) {
        const cli_level sum = cli_level_of(files, count, level);

        if (sum.files == 0) {
            continue;
        }
        out->runs += level == 0 ? sum.files : 1;
        out->level0_files += level == 0 ? sum.files : 0;
        out->top = sum;
        out->top_level = level;
        out->all.files += sum.files;
        out->all.bytes += sum.bytes;
        out->all.rows += sum.rows;
        out->all.deletes =
            out->all.deletes < 0 || sum.deletes < 0 ? -1 : out->all.deletes + sum.deletes;
    }
    for (size_t i = 0; i < count; i++) {
        if (files[i].file_source == SINTER_FILE_SOURCE_COMPACT &&
            files[i].creation_time_ms > out->last_compaction_ms) {
            out->last_compaction_ms = files[i].creation_time_ms;
        }
    }
}

static int
compare_texts(const void *left, const void *right)
{
    const char *const *a = left;
    const char *const *b = right;

    return strcmp(*a, *b);
}

static bool
ends_with(const char *text, const char *end)
{
    const size_t size = strlen(text);

    return size >= strlen(end) && strcmp(text + size - strlen(end), end) == 0;
}

static sinter_status
look_at_name(void *ctx, const char *name)
{
    leftovers *left = ctx;
    sinter_io *io = left->session->boot.io;
    sinter_io_stat info = {0};
    char path[4096];

    if (ends_with(name, ".sinter-tmp")) {
        left->temporary++;
        return SINTER_OK;
    }
    if (strncmp(name, "data-", 5) != 0 || !ends_with(name, sinter_format_sst()->extension) ||
        (left->known_count > 0 && bsearch(&name, left->known, left->known_count,
                                          sizeof *left->known, compare_texts) != NULL)) {
        return SINTER_OK;
    }
    left->unlisted++;
    if (snprintf(path, sizeof path, "%s/%s", left->dir, name) < (int)sizeof path &&
        io->ops->stat(io, path, &info, NULL) == SINTER_OK) {
        left->unlisted_bytes += info.size_bytes;
    }
    return SINTER_OK;
}

static int
find_leftovers(const cli *session, const cli_source *source, leftovers *out)
{
    const sinter_files *files = source->files;
    const size_t room = files->file_count + files->retired_count;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st;

    out->session = session;
    out->dir = source->base_dir;
    out->known = cli_alloc(room, sizeof *out->known);
    for (size_t i = 0; i < files->file_count; i++) {
        out->known[out->known_count++] = files->files[i].file_name;
    }
    for (size_t i = 0; i < files->retired_count; i++) {
        out->known[out->known_count++] = files->retired[i].file_name;
    }
    if (out->known_count > 1) {
        qsort(out->known, out->known_count, sizeof *out->known, compare_texts);
    }
    st = session->boot.io->ops->list(session->boot.io, out->dir, look_at_name, out, &err);
    free(out->known);
    out->known = NULL;
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

static int
gather(cli *session, const status_arguments *args, const cli_source *source, bucket_status *out)
{
    const cli_task_arguments task = {.common = args->common, .automatic = true};
    int code = CLI_EXIT_OK;

    sum_up(source, out);
    out->has_leftovers = cli_is_directory(session, source->path);
    if (out->has_leftovers) {
        code = find_leftovers(session, source, &out->left);
    }
    return code == CLI_EXIT_OK ? cli_task_init(session, &task, source, &out->next) : code;
}

/* ---- showing ---- */

/* Level-0 files over the trigger, in percent. */
static uint64_t
backlog_percent(const bucket_status *status)
{
    return status->level0_files * 100 / status->source->options.num_sorted_run_trigger;
}

/* Bytes of all levels for 100 of the highest; 0: there is nothing to compare with. */
static uint64_t
space_percent(const bucket_status *status)
{
    return status->top_level <= 0 || status->top.bytes == 0
               ? 0
               : (uint64_t)((double)status->all.bytes * 100 / (double)status->top.bytes);
}

static void
put_text(const bucket_status *status)
{
    const cli_task *next = &status->next;
    char a[CLI_NUMBER_CHARS];
    char b[CLI_NUMBER_CHARS];

    printf("%s%s%s\n", cli_style(CLI_STYLE_TITLE), status->source->path,
           cli_style(CLI_STYLE_PLAIN));
    cli_levels_print(status->source->files->files, status->source->files->file_count);
    printf("\n%-18s%" PRIu64 "\n", "sorted runs", status->runs);
    printf("%-18s%" PRIu64 " %s in level 0, a compaction is due with %" PRIu32 " runs (%" PRIu64
           "%%)\n",
           "backlog", status->level0_files, status->level0_files == 1 ? "file" : "files",
           status->source->options.num_sorted_run_trigger, backlog_percent(status));
    printf("%-18s%s\n", "last compaction",
           status->last_compaction_ms < 0 ? "none that left a file"
                                          : cli_time_text(status->last_compaction_ms, a));
    if (space_percent(status) > 0) {
        printf("%-18s%" PRIu64 "%% of the highest level\n", "space", space_percent(status));
    }
    if (next->is_empty) {
        printf("%-18snothing%s%s\n", "next", next->pick_text[0] != '\0' ? ": " : "",
               next->pick_text);
    } else {
        printf("%-18s%zu %s to level %" PRId32 " (%s: %s)\n", "next", next->task.count,
               next->task.count == 1 ? "file" : "files", next->task.output_level, next->reason_code,
               next->reason_text);
    }
    if (status->has_leftovers) {
        printf("%-18s%zu retired, %s not in the catalog (%s), %" PRIu64 " temporary\n",
               "other files", status->source->files->retired_count,
               cli_count_text(status->left.unlisted, a),
               cli_bytes_text(status->left.unlisted_bytes, b), status->left.temporary);
    }
}

static void
put_level_json(cli_json *json, int32_t level, cli_level sum)
{
    cli_json_object_begin(json, NULL);
    cli_json_int(json, "level", level);
    cli_json_uint(json, "file_count", sum.files);
    cli_json_uint(json, "file_size", sum.bytes);
    cli_json_uint(json, "row_count", sum.rows);
    if (sum.deletes >= 0) {
        cli_json_int(json, "delete_row_count", sum.deletes);
    }
    cli_json_object_end(json);
}

static void
put_next_json(cli_json *json, const cli_task *next)
{
    cli_json_object_begin(json, "next");
    cli_json_text(json, "rule", next->reason_code);
    cli_json_text(json, "text", next->pick_text);
    if (!next->is_empty) {
        cli_json_int(json, "output_level", next->task.output_level);
    }
    cli_json_array_begin(json, "files");
    for (size_t i = 0; i < next->task.count; i++) {
        cli_json_text(json, NULL, next->task.files[i].file_name);
    }
    cli_json_array_end(json);
    cli_json_object_end(json);
}

static void
put_json(const bucket_status *status)
{
    const cli_source *source = status->source;
    cli_json json = {0};

    cli_json_object_begin(&json, NULL);
    cli_json_text(&json, "format", "sinter.status");
    cli_json_int(&json, "version", 1);
    cli_json_text(&json, "path", source->path);
    cli_json_text(&json, "base_dir", source->base_dir);
    cli_json_uint(&json, "run_count", status->runs);
    cli_json_uint(&json, "level0_file_count", status->level0_files);
    cli_json_uint(&json, "compaction_trigger", source->options.num_sorted_run_trigger);
    cli_json_uint(&json, "backlog_percent", backlog_percent(status));
    cli_json_uint(&json, "file_count", status->all.files);
    cli_json_uint(&json, "file_size", status->all.bytes);
    cli_json_uint(&json, "row_count", status->all.rows);
    if (status->all.deletes >= 0) {
        cli_json_int(&json, "delete_row_count", status->all.deletes);
    }
    if (status->last_compaction_ms >= 0) {
        cli_json_int(&json, "last_compaction_ms", status->last_compaction_ms);
    }
    if (space_percent(status) > 0) {
        cli_json_uint(&json, "space_amplification_percent", space_percent(status));
    }
    cli_json_array_begin(&json, "levels");
    for (int32_t level = 0; level <= status->top_level; level++) {
        const cli_level sum = cli_level_of(source->files->files, source->files->file_count, level);

        if (sum.files > 0) {
            put_level_json(&json, level, sum);
        }
    }
    cli_json_array_end(&json);
    put_next_json(&json, &status->next);
    cli_json_uint(&json, "retired_count", source->files->retired_count);
    if (status->has_leftovers) {
        cli_json_uint(&json, "unlisted_count", status->left.unlisted);
        cli_json_uint(&json, "unlisted_size", status->left.unlisted_bytes);
        cli_json_uint(&json, "temporary_count", status->left.temporary);
    }
    cli_json_object_end(&json);
}

static int
show(cli *session, const status_arguments *args, const char *path)
{
    bucket_status status = {.top_level = -1};
    cli_source source;
    int code = cli_source_open(session, &args->common, path, args->base_dir, 0, &source);

    if (code == CLI_EXIT_OK) {
        code = gather(session, args, &source, &status);
    }
    if (code == CLI_EXIT_OK && args->common.json) {
        put_json(&status);
    } else if (code == CLI_EXIT_OK) {
        put_text(&status);
    }
    cli_task_fini(&status.next);
    cli_source_close(&source);
    return code;
}

static int
run(cli *session, void *arguments)
{
    const status_arguments *args = arguments;
    int first_failure = CLI_EXIT_OK;

    for (int i = 0; i < args->common.operand_count; i++) {
        int code;

        if (i > 0 && !args->common.json) {
            putchar('\n');
        }
        code = show(session, args, args->common.operands[i]);
        first_failure = first_failure == CLI_EXIT_OK ? code : first_failure;
    }
    return first_failure;
}

const cli_verb cli_verb_status = {
    .name = "status",
    .operands = "DIR|FILE...",
    .summary = "how a bucket is: levels, backlog, last compaction, and what is due",
    .description =
        "Show of each directory with a catalog, or sinter.files document, how many sorted runs and "
        "files it has, how far level 0 is towards the next compaction, when the newest file of a "
        "compaction was made, what space it takes compared with its highest level, and what the "
        "options num-sorted-run.* and compaction.* would pick now, with the reason. Of a directory "
        "also: retired files, data files that its catalog doesn't name and temporaries, which dead "
        "runs left unless one is at work; `sinter gc` removes them.\n\n"
        "Nothing is locked or changed, and no data file is opened. With --json each line is the "
        "object of one operand; what isn't known is left out.",
    .examples = "sinter status data/\nsinter status --json data/*/ | jq .backlog_percent\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_SETTINGS,
    .operand_min = 1,
    .operand_max = -1,
    .arguments_size = sizeof(status_arguments),
    .run = run,
};
