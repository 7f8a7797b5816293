/*
 * The peer: RocksDB compacting the same records, through the one call its C API lacks.
 *
 * Universal style, one level-0 file per run (made by one memtable flush), CompactFiles of all of
 * them to the last level. No write-ahead log, one thread, no subcompactions, no filter, the
 * default checksum, 128 MiB outputs.
 */
#include "macro/rocksdb_options.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace
{

rocksdb::Options
database_options(const bench_options &options)
{
    rocksdb::Options out = peer_common_options(options);

    out.compression_opts.parallel_threads = options.beside ? options.threads : 1;
    out.disable_auto_compactions = true;
    out.level0_file_num_compaction_trigger = 1 << 20;
    out.level0_slowdown_writes_trigger = 1 << 20;
    out.level0_stop_writes_trigger = 1 << 20;
    out.write_buffer_size = size_t(4) << 30;
    return out;
}

void
build_run(rocksdb::DB *db, const bench_workload &workload, uint32_t run)
{
    rocksdb::WriteOptions write;
    rocksdb::FlushOptions flush;
    bench_cursor cursor;
    bench_record record;

    write.disableWAL = true;
    bench_cursor_init(&cursor, &workload, run);
    while (bench_cursor_next(&cursor, &record)) {
        const rocksdb::Slice key(reinterpret_cast<const char *>(record.key), record.key_bytes);
        const rocksdb::Slice value(reinterpret_cast<const char *>(record.value),
                                   record.value_bytes);

        peer_require(record.is_delete ? db->Delete(write, key) : db->Put(write, key, value),
                     "write");
    }
    peer_require(db->Flush(flush), "flush");
}

int
build(const bench_options &options)
{
    rocksdb::Options database = database_options(options);
    bench_workload workload;
    std::vector<rocksdb::LiveFileMetaData> files;

    if (!bench_workload_init(&workload, options.workload, options.div)) {
        std::fprintf(stderr, "rocksdb_bench: no workload %s\n", options.workload);
        return 2;
    }
    database.create_if_missing = true;
    database.error_if_exists = true;
    std::unique_ptr<rocksdb::DB> db = peer_open(database, options.dir);
    for (uint32_t run = 0; run < workload.run_count; run++) {
        build_run(db.get(), workload, run);
    }
    db->GetLiveFilesMetaData(&files);
    for (const rocksdb::LiveFileMetaData &file : files) {
        if (file.level != 0 || files.size() != workload.run_count) {
            std::fprintf(stderr, "rocksdb_bench: the build made more than one file per run\n");
            return 1;
        }
    }
    peer_require(db->Close(), "close");
    return 0;
}

uint64_t
total_bytes(rocksdb::DB *db, std::vector<std::string> *names_out)
{
    std::vector<rocksdb::LiveFileMetaData> files;
    uint64_t bytes = 0;

    db->GetLiveFilesMetaData(&files);
    for (const rocksdb::LiveFileMetaData &file : files) {
        bytes += file.size;
        names_out->push_back(file.name);
    }
    return bytes;
}

int
compact(const bench_options &options, const bench_clock &idle)
{
    const rocksdb::Options database = database_options(options);
    rocksdb::CompactionOptions how;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    bench_report report = {};
    bench_clock before;
    bench_clock after;

    peer_clone(options.dir, options.out,
               [](const fs::path &path) { return path.extension() == ".sst"; });
    std::unique_ptr<rocksdb::DB> db = peer_open(database, options.out);
    report.file_bytes_in = total_bytes(db.get(), &inputs);
    how.compression = peer_compression(options);
    how.output_file_size_limit = BENCH_TARGET_FILE_BYTES;
    how.max_subcompactions = options.beside ? 1 : options.threads;

    bench_clock_read(&before);
    peer_require(db->CompactFiles(how, inputs, database.num_levels - 1), "compact");
    bench_clock_read(&after);

    report.file_bytes_out = total_bytes(db.get(), &outputs);
    report.io = "posix";
    const std::string name = peer_library_name();
    bench_report_name(&report, name.c_str());
    bench_report_times(&report, &idle, &before, &after);
    bench_report_print(&report);
    peer_require(db->Close(), "close");
    return 0;
}

int
verify(const bench_options &options)
{
    return peer_verify(database_options(options), options.dir);
}

} // namespace

int
main(int argc, char **argv)
{
    return peer_main(argc, argv, build, compact, verify);
}
