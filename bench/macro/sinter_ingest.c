/*
 * sinter taking records in any order: a merge tree with a scheduler and one thread for compactions,
 * the writer on the main thread. Public interface only.
 *
 *   sinter_ingest idle --dir DIR [--buckets 10000]      what trees that do nothing cost
 *
 * The catalog is a log: each commit appends the names that came and went, and syncs.
 */
#include "macro/ingest.h"
#include "macro/sinter_files.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_SECONDS = 1, QUEUE_MAX = 64, OPTION_ROOM = 64, LINE_ROOM = 512, VIEW_RANGES = 256 };

/* Everything that a merge tree stands on. */
typedef struct footing {
    sinter_env env;
    sinter_io *io;
    sinter_pool *pool;
    sinter_scheduler *scheduler;
    sinter_compact_options compaction;
    sinter_compact_task task;
} footing;

static void
set_option(footing *base, const char *key, uint64_t value)
{
    sinter_error err = SINTER_ERROR_INIT;
    char text[OPTION_ROOM];

    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    require(sinter_compact_options_set(&base->compaction, key, text, &err), key, &err);
}

static void
set_options(footing *base, const bench_options *options)
{
    sinter_error err = SINTER_ERROR_INIT;

    sinter_compact_options_init(&base->compaction);
    base->compaction.target_file_bytes = BENCH_TARGET_FILE_BYTES;
    base->compaction.codec = codec_of(options);
    base->compaction.codec_level = options->codec_level;
    base->compaction.block_bytes = options->block_bytes;
    base->compaction.filter_bits_per_key = 0; /* the peer writes none either */
    set_option(base, "num-sorted-run.compaction-trigger", options->trigger);
    set_option(base, "num-sorted-run.stop-trigger", options->stop);
    set_option(base, "write-buffer-size", (uint64_t)options->buffer_kib * 1024);
    require(sinter_compact_options_set(&base->compaction, "write-buffer-spillable", "false", &err),
            "write-buffer-spillable", &err);
}

static void
footing_open(footing *base, const bench_options *options)
{
    const sinter_scheduler_options shared = {.struct_size = sizeof shared,
                                             .tasks_max = options->threads};
    sinter_error err = SINTER_ERROR_INIT;

    memset(base, 0, sizeof *base);
    sinter_env_init(&base->env);
    require(sinter_io_create(&base->env, io_kind_of(options->io), NULL, &base->io, &err), "io",
            &err);
    base->env.io = base->io;
    require(sinter_pool_create(&base->env, options->threads, QUEUE_MAX, &base->pool, &err), "pool",
            &err);
    base->env.executor = sinter_pool_executor(base->pool);
    require(sinter_scheduler_create(&base->env, &shared, &base->scheduler, &err), "scheduler",
            &err);
    set_options(base, options);
    sinter_compact_task_init(&base->task);
    base->task.base_dir = options->dir;
    base->task.options = &base->compaction;
}

static void
footing_close(footing *base)
{
    sinter_scheduler_destroy(base->scheduler);
    sinter_pool_destroy(base->pool);
    sinter_io_destroy(base->io);
}

static sinter_merge_tree *
open_tree(const sinter_env *env, footing *base)
{
    const sinter_merge_tree_config config = {.struct_size = sizeof config,
                                             .task = &base->task,
                                             .scheduler = base->scheduler,
                                             .max_sequence = -1};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_merge_tree *tree = NULL;

    require(sinter_merge_tree_open(env, &config, &tree, &err), "open", &err);
    return tree;
}

static FILE *
open_catalog(const char *dir, const char *mode)
{
    char path[PATH_ROOM];
    FILE *catalog = NULL;

    if (snprintf(path, sizeof path, "%s/catalog", dir) < PATH_ROOM) {
        catalog = fopen(path, mode);
    }
    if (catalog == NULL) {
        perror(dir);
        exit(1);
    }
    return catalog;
}

static void
log_files(FILE *catalog, char sign, const sinter_file_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        fprintf(catalog, "%c %" PRId32 " %s\n", sign, list->files[i].level,
                list->files[i].file_name);
    }
}

static void
commit(sinter_merge_tree *tree, bool wait, FILE *catalog, ingest_report *report)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_increment *increment = NULL;

    require(sinter_merge_tree_prepare_commit(tree, wait, &increment, &err), "commit", &err);
    log_files(catalog, '+', sinter_increment_new_files(increment));
    log_files(catalog, '-', sinter_increment_compact_before(increment));
    log_files(catalog, '+', sinter_increment_compact_after(increment));
    if (fflush(catalog) != 0 || fdatasync(fileno(catalog)) != 0) {
        perror("catalog");
        exit(1);
    }
    require(sinter_merge_tree_committed(tree, increment, &err), "after the commit", &err);
    sinter_increment_destroy(increment);
    report->commits++;
}

static void
write_all(sinter_merge_tree *tree, const bench_options *options, ingest_stream *stream,
          FILE *catalog, ingest_report *report)
{
    sinter_error err = SINTER_ERROR_INIT;
    bench_record record;
    uint64_t next_commit = options->commit_every > 0 ? options->commit_every : UINT64_MAX;

    while (ingest_stream_next(stream, &record)) {
        const sinter_bytes key = {record.key, record.key_bytes};
        const sinter_bytes value = {record.value, record.value_bytes};
        const uint8_t kind = record.is_delete ? SINTER_KIND_DELETE : SINTER_KIND_INSERT;

        require(sinter_merge_tree_write(tree, key, kind, value, &err), "write", &err);
        if (stream->records == next_commit) {
            commit(tree, false, catalog, report);
            next_commit += options->commit_every;
        }
    }
}

/* Flush, and compact as long as something is due. */
static void
settle(sinter_merge_tree *tree)
{
    sinter_error err = SINTER_ERROR_INIT;

    do {
        require(sinter_merge_tree_compact(tree, false, &err), "compact", &err);
    } while (sinter_manager_is_busy(sinter_merge_tree_manager(tree)));
}

static void
report_metrics(ingest_report *report, const sinter_merge_tree *tree)
{
    sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};

    sinter_merge_tree_metrics_get(tree, &metrics);
    report->flushes = metrics.flushes;
    report->compactions = metrics.compactions_completed;
    report->stalls = metrics.stalls + metrics.slowdowns;
    report->stall_s = (double)(metrics.stall_ns + metrics.slowdown_ns) * 1e-9;
    report->write_amplification = sinter_bucket_write_amplification(&metrics);
    report->files = metrics.files;
    report->file_bytes = metrics.bytes;
}

static int
write_records(const bench_options *options, const bench_clock *idle)
{
    ingest_report report = {.library = "sinter " SINTER_VERSION_TEXT};
    ingest_stream stream;
    sinter_merge_tree *tree = NULL;
    FILE *catalog = NULL;
    footing base;
    bench_clock before;
    bench_clock written;
    bench_clock after;

    make_dir(options->dir);
    catalog = open_catalog(options->dir, "w");
    ingest_stream_open(&stream, options->input);
    footing_open(&base, options);
    tree = open_tree(&base.env, &base);

    bench_clock_read(&before);
    write_all(tree, options, &stream, catalog, &report);
    bench_clock_read(&written);
    settle(tree);
    commit(tree, true, catalog, &report);
    bench_clock_read(&after);

    report.records = stream.records;
    report_metrics(&report, tree);
    ingest_report_times(&report, idle, &before, &written, &after);
    ingest_report_print(&report);
    sinter_merge_tree_close(tree);
    footing_close(&base);
    ingest_stream_close(&stream);
    (void)fclose(catalog);
    return 0;
}

/* One line of the catalog; the names of all files that are there. */
static size_t
apply_line(const char *line, char (*names)[LINE_ROOM], int32_t *levels, size_t count)
{
    char name[LINE_ROOM];
    char sign = 0;
    int32_t level = 0;
    size_t at = 0;

    if (sscanf(line, "%c %" SCNd32 " %511s", &sign, &level, name) != 3 || count == FILES_MAX) {
        fprintf(stderr, "sinter_ingest: bad line in the catalog: %s\n", line);
        exit(1);
    }
    if (sign == '+') {
        memcpy(names[count], name, sizeof name);
        levels[count] = level;
        return count + 1;
    }
    while (at < count && strcmp(names[at], name) != 0) {
        at++;
    }
    if (at == count) {
        fprintf(stderr, "sinter_ingest: the catalog doesn't hold %s\n", name);
        exit(1);
    }
    memcpy(names[at], names[count - 1], sizeof name);
    levels[at] = levels[count - 1];
    return count - 1;
}

static file_set *
open_files(const char *dir)
{
    static char names[FILES_MAX][LINE_ROOM];
    static int32_t levels[FILES_MAX];
    FILE *catalog = open_catalog(dir, "r");
    file_set *files = files_create();
    char line[LINE_ROOM];
    size_t count = 0;

    while (fgets(line, sizeof line, catalog) != NULL) {
        count = apply_line(line, names, levels, count);
    }
    (void)fclose(catalog);
    for (size_t i = 0; i < count; i++) {
        files_add(files, dir, names[i]);
        files->metas[i].level = levels[i];
    }
    return files;
}

static void
digest_range(const sinter_range *range, bench_digest *digest)
{
    const sinter_batch *batch = range->batch;

    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        const sinter_bytes key = sinter_batch_key(batch, i);
        const sinter_bytes value = batch->payload_ops->value(batch, i);

        bench_digest_add(digest, key.data, key.size, value.data, value.size);
    }
}

static int
verify(const bench_options *options)
{
    file_set *files = open_files(options->dir);
    const sinter_view_source source = {.struct_size = sizeof source,
                                       .base_dir = options->dir,
                                       .files = files->metas,
                                       .count = files->count};
    sinter_error err = SINTER_ERROR_INIT;
    bench_digest digest = BENCH_DIGEST_INIT;
    sinter_view *view = NULL;
    sinter_range ranges[VIEW_RANGES];
    size_t count = 0;
    sinter_status st = SINTER_OK;

    require(sinter_view_open(sinter_env_default(), &source, NULL, &view, &err), "view", &err);
    while ((st = sinter_view_next(view, ranges, VIEW_RANGES, &count, &err)) == SINTER_OK) {
        for (size_t i = 0; i < count; i++) {
            digest_range(&ranges[i], &digest);
        }
    }
    if (st != SINTER_END) {
        fail("view", &err);
    }
    bench_digest_print(&digest);
    sinter_view_close(view);
    files_close(files);
    return 0;
}

/* Bytes that an allocator handed out and has not got back. */
static void *
count_allocate(void *ctx, size_t size)
{
    void *block = malloc(size);

    *(uint64_t *)ctx += malloc_usable_size(block);
    return block;
}

static void *
count_resize(void *ctx, void *block, size_t size)
{
    const size_t before = malloc_usable_size(block);
    void *moved = realloc(block, size);

    *(uint64_t *)ctx += moved != NULL ? malloc_usable_size(moved) - before : 0;
    return moved;
}

static void
count_release(void *ctx, void *block)
{
    *(uint64_t *)ctx -= malloc_usable_size(block);
    free(block);
}

/* Open many trees over one scheduler, look on for a while: their memory, and the CPU time used. */
static int
stay_idle(const bench_options *options)
{
    sinter_merge_tree **trees = calloc(options->buckets, sizeof(sinter_merge_tree *));
    const struct timespec pause = {.tv_sec = IDLE_SECONDS};
    uint64_t live = 0;
    uint64_t bytes = 0;
    sinter_env env;
    footing base;
    bench_clock before;
    bench_clock after;

    if (trees == NULL) {
        perror("idle");
        return 1;
    }
    footing_open(&base, options);
    env = base.env;
    env.allocator = (sinter_allocator){.struct_size = sizeof env.allocator,
                                       .ctx = &live,
                                       .allocate = count_allocate,
                                       .resize = count_resize,
                                       .release = count_release};
    for (uint32_t i = 0; i < options->buckets; i++) {
        trees[i] = open_tree(&env, &base);
    }
    bytes = live;
    bench_clock_read(&before);
    (void)nanosleep(&pause, NULL);
    bench_clock_read(&after);
    for (uint32_t i = 0; i < options->buckets; i++) {
        sinter_merge_tree_close(trees[i]);
    }
    printf("{\"buckets\":%" PRIu32 ",\"bytes_a_bucket\":%.1f,\"cpu_ms_a_second\":%.3f}\n",
           options->buckets, (double)bytes / options->buckets,
           1e3 * (after.user_s - before.user_s + after.system_s - before.system_s) / IDLE_SECONDS);
    footing_close(&base);
    free(trees);
    return 0;
}

int
main(int argc, char **argv)
{
    bench_clock idle;
    bench_options options;

    bench_clock_read(&idle);
    if (!bench_options_parse(argc, argv, "write|verify|idle", &options)) {
        return 2;
    }
    if (strcmp(options.command, "write") == 0) {
        return write_records(&options, &idle);
    }
    if (strcmp(options.command, "verify") == 0) {
        return verify(&options);
    }
    return stay_idle(&options);
}
