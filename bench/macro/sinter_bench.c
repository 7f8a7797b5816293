/*
 * sinter compacting a workload: one file per run in level 0, all of them merged into the last
 * level through sinter_compact_task_run(). Public interface only.
 */
#include "macro/sinter_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_BYTES = 256 * 1024, LAST_LEVEL = 5 };

static void
append_batch(sinter_writer *writer, sinter_batch_builder *builder, sinter_error *err)
{
    const sinter_batch *batch = sinter_batch_builder_batch(builder);
    const sinter_range range = {batch, 0, batch->row_count};
    size_t taken = 0;
    uint32_t taken_rows = 0;

    require(writer->ops->append(writer, &range, 1, UINT64_MAX, &taken, &taken_rows, err), "append",
            err);
    if (taken != 1) {
        fprintf(stderr, "sinter_bench: the writer stopped before its size\n");
        exit(1);
    }
    sinter_batch_builder_reset(builder);
}

static void
build_run(const bench_options *options, const bench_workload *workload, uint32_t run,
          int64_t *sequence)
{
    const sinter_format *format = sinter_format_sst();
    const sinter_write_options write = {.struct_size = sizeof write,
                                        .block_bytes = options->block_bytes,
                                        .codec = codec_of(options),
                                        .codec_level = options->codec_level};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_file_stats stats = {.struct_size = sizeof stats};
    sinter_batch_builder *builder = NULL;
    sinter_writer *writer = NULL;
    bench_cursor cursor;
    bench_record record;
    char path[PATH_ROOM];

    (void)snprintf(path, sizeof path, "%s/run-%05u.sst", options->dir, run);
    require(sinter_batch_builder_create(sinter_env_default(), &builder, &err), "builder", &err);
    require(format->open_writer(format->self, sinter_env_default(), path, &write, &writer, &err),
            path, &err);
    bench_cursor_init(&cursor, workload, run);
    while (bench_cursor_next(&cursor, &record)) {
        const sinter_bytes key = {record.key, record.key_bytes};
        const sinter_bytes value = {record.value, record.value_bytes};
        const uint8_t kind = record.is_delete ? SINTER_KIND_DELETE : SINTER_KIND_INSERT;

        require(sinter_batch_builder_add(builder, key, (*sequence)++, kind, value, &err), "add",
                &err);
        if (sinter_batch_builder_bytes(builder) >= BATCH_BYTES) {
            append_batch(writer, builder, &err);
        }
    }
    if (sinter_batch_builder_bytes(builder) > 0) {
        append_batch(writer, builder, &err);
    }
    require(writer->ops->finish(writer, &stats, &err), path, &err);
    writer->ops->close(writer);
    sinter_batch_builder_destroy(builder);
}

static int
build(const bench_options *options)
{
    bench_workload workload;
    int64_t sequence = 0;

    if (!bench_workload_init(&workload, options->workload, options->div)) {
        fprintf(stderr, "sinter_bench: no workload %s\n", options->workload);
        return 2;
    }
    make_dir(options->dir);
    for (uint32_t run = 0; run < workload.run_count; run++) {
        build_run(options, &workload, run, &sequence);
    }
    return 0;
}

static file_set *
open_files(const char *dir)
{
    file_set *files = files_create();
    DIR *listing = opendir(dir);
    const struct dirent *entry = NULL;

    if (listing == NULL) {
        perror(dir);
        exit(1);
    }
    while ((entry = readdir(listing)) != NULL) {
        if (strstr(entry->d_name, ".sst") != NULL) {
            files_add(files, dir, entry->d_name);
        }
    }
    closedir(listing);
    if (files->count == 0) {
        fprintf(stderr, "sinter_bench: no files in %s\n", dir);
        exit(1);
    }
    return files;
}

/* An environment with the io asked for, a budget, and threads if there are to be more than one. */
typedef struct surroundings {
    sinter_env env;
    sinter_io *io;
    sinter_memory *memory;
    sinter_pool *pool;
} surroundings;

static void
surroundings_open(surroundings *out, const bench_options *options,
                  const sinter_compact_options *compaction)
{
    sinter_error err = SINTER_ERROR_INIT;

    memset(out, 0, sizeof *out);
    sinter_env_init(&out->env);
    require(sinter_io_create(&out->env, io_kind_of(options->io), NULL, &out->io, &err), "io", &err);
    require(sinter_memory_create(&out->env, compaction->memory_bytes, &out->memory, &err), "memory",
            &err);
    out->env.io = out->io;
    out->env.memory = out->memory;
    if (options->threads > 1) {
        require(sinter_pool_create(&out->env, options->threads - 1, 64, &out->pool, &err), "pool",
                &err);
        out->env.executor = sinter_pool_executor(out->pool);
    }
}

static void
surroundings_close(surroundings *opened)
{
    sinter_pool_destroy(opened->pool);
    sinter_memory_destroy(opened->memory);
    sinter_io_destroy(opened->io);
}

static void
report_counters(bench_report *report, const sinter_compact_result *result, const sinter_io *io)
{
    const sinter_compact_counters *counters = sinter_compact_result_counters(result);
    sinter_io_counters calls = {.struct_size = sizeof calls};

    sinter_io_counters_get(io, &calls);
    report->file_bytes_out = counters->bytes_written + counters->bytes_upgraded;
    report->blocks_passed = counters->merge.blocks_passed;
    report->io_reads = calls.reads;
    report->io_ring_calls = calls.ring_calls;
    report->io_read_bytes = calls.read_bytes;
    report->io_writes = calls.writes;
    report->io = sinter_io_name(io);
}

static int
compact(const bench_options *options, const bench_clock *idle)
{
    file_set *files = open_files(options->dir);
    sinter_error err = SINTER_ERROR_INIT;
    bench_report report = {.library = "sinter " SINTER_VERSION_TEXT};
    sinter_compact_result *result = NULL;
    sinter_compact_options compaction;
    sinter_compact_task task;
    surroundings around;
    bench_clock before;
    bench_clock after;

    make_dir(options->out);
    sinter_compact_options_init(&compaction);
    compaction.target_file_bytes = BENCH_TARGET_FILE_BYTES;
    compaction.codec = codec_of(options);
    compaction.codec_level = options->codec_level;
    compaction.block_bytes = options->block_bytes;
    compaction.direct = options->direct;
    compaction.filter_bits_per_key = 0; /* the peers write none either */
    compaction.sort_spill_threshold = FILES_MAX;
    compaction.sub_compactions = options->beside ? 1 : options->threads;
    if (options->memory_mib > 0) {
        compaction.memory_bytes = (uint64_t)options->memory_mib << 20;
        compaction.open_files_max = FILES_MAX + 64;
    }
    surroundings_open(&around, options, &compaction);
    sinter_compact_task_init(&task);
    task.output_level = LAST_LEVEL;
    task.max_level = LAST_LEVEL;
    task.drop_delete = true;
    task.files = files->metas;
    task.count = files->count;
    task.base_dir = options->out;
    task.options = &compaction;

    bench_clock_read(&before);
    require(sinter_compact_task_run(&around.env, &task, &result, &err), "compact", &err);
    bench_clock_read(&after);

    report.file_bytes_in = files->file_bytes;
    report.blocks_in = files->block_count;
    report_counters(&report, result, around.io);
    bench_report_times(&report, idle, &before, &after);
    bench_report_print(&report);
    sinter_compact_result_destroy(result);
    surroundings_close(&around);
    files_close(files);
    return 0;
}

static int
compare_first_keys(const void *a, const void *b)
{
    const sinter_bytes x = ((const sinter_file_meta *)a)->min_key;
    const sinter_bytes y = ((const sinter_file_meta *)b)->min_key;
    const size_t common = x.size < y.size ? x.size : y.size;
    const int order = memcmp(x.data, y.data, common);

    if (order != 0) {
        return order;
    }
    return x.size < y.size ? -1 : x.size > y.size;
}

static void
digest_file(const char *path, bench_digest *digest)
{
    const sinter_format *format = sinter_format_sst();
    const sinter_read_options read = {.struct_size = sizeof read};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    sinter_status st = SINTER_OK;

    require(format->open_reader(format->self, sinter_env_default(), path, &read, &reader, &err),
            path, &err);
    while ((st = reader->ops->next(reader, &batch, &err)) == SINTER_OK) {
        for (uint32_t i = 0; i < batch->row_count; i++) {
            const sinter_bytes key = sinter_batch_key(batch, i);
            const sinter_bytes value = batch->payload_ops->value(batch, i);

            if (sinter_kind_is_retract(batch->kinds[i])) {
                fprintf(stderr, "sinter_bench: a delete is left in %s\n", path);
                exit(1);
            }
            bench_digest_add(digest, key.data, key.size, value.data, value.size);
        }
    }
    if (st != SINTER_END) {
        fail(path, &err);
    }
    reader->ops->close(reader);
}

static int
verify(const bench_options *options)
{
    file_set *files = open_files(options->dir);
    bench_digest digest = BENCH_DIGEST_INIT;

    qsort(files->metas, files->count, sizeof files->metas[0], compare_first_keys);
    for (size_t i = 0; i < files->count; i++) {
        digest_file(files->metas[i].external_path, &digest);
    }
    bench_digest_print(&digest);
    files_close(files);
    return 0;
}

int
main(int argc, char **argv)
{
    bench_clock idle;
    bench_options options;

    bench_clock_read(&idle);
    if (!bench_options_parse(argc, argv, "build|compact|verify", &options)) {
        return 2;
    }
    if (strcmp(options.command, "build") == 0) {
        return build(&options);
    }
    if (strcmp(options.command, "compact") == 0) {
        return compact(&options, &idle);
    }
    return verify(&options);
}
