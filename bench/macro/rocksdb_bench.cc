/*
 * The peer: RocksDB compacting the same records, through the one call its C API lacks.
 *
 * Universal style, one level-0 file per run (made by one memtable flush), CompactFiles of all of
 * them to the last level. No write-ahead log, one thread, no subcompactions, no filter, the
 * default checksum, 128 MiB outputs.
 */
#include "macro/peer.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

namespace fs = std::filesystem;

namespace
{

void
require(const rocksdb::Status &status, const char *what)
{
    if (!status.ok()) {
        std::fprintf(stderr, "rocksdb_bench: %s: %s\n", what, status.ToString().c_str());
        std::exit(1);
    }
}

rocksdb::CompressionType
compression_of(const bench_options &options)
{
    switch (options.codec) {
    case BENCH_CODEC_LZ4:
        return rocksdb::kLZ4Compression;
    case BENCH_CODEC_ZSTD:
        return rocksdb::kZSTD;
    default:
        return rocksdb::kNoCompression;
    }
}

rocksdb::Options
database_options(const bench_options &options)
{
    rocksdb::Options out;
    rocksdb::BlockBasedTableOptions table;

    table.block_size = options.block_bytes;
    out.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    out.compaction_style = rocksdb::kCompactionStyleUniversal;
    out.compression = compression_of(options);
    if (options.codec == BENCH_CODEC_ZSTD) {
        out.compression_opts.level = options.codec_level;
    }
    out.compression_opts.parallel_threads = options.beside ? options.threads : 1;
    out.disable_auto_compactions = true;
    out.level0_file_num_compaction_trigger = 1 << 20;
    out.level0_slowdown_writes_trigger = 1 << 20;
    out.level0_stop_writes_trigger = 1 << 20;
    out.target_file_size_base = BENCH_TARGET_FILE_BYTES;
    out.write_buffer_size = size_t(4) << 30;
    out.allow_concurrent_memtable_write = false;
    out.max_subcompactions = 1;
    out.stats_dump_period_sec = 0;
    out.stats_persist_period_sec = 0;
    out.info_log_level = rocksdb::ERROR_LEVEL;
    return out;
}

std::unique_ptr<rocksdb::DB>
open_database(const rocksdb::Options &options, const std::string &dir)
{
    rocksdb::DB *db = nullptr;

    require(rocksdb::DB::Open(options, dir, &db), "open");
    return std::unique_ptr<rocksdb::DB>(db);
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

        require(record.is_delete ? db->Delete(write, key) : db->Put(write, key, value), "write");
    }
    require(db->Flush(flush), "flush");
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
    std::unique_ptr<rocksdb::DB> db = open_database(database, options.dir);
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
    require(db->Close(), "close");
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
    std::unique_ptr<rocksdb::DB> db = open_database(database, options.out);
    report.file_bytes_in = total_bytes(db.get(), &inputs);
    how.compression = compression_of(options);
    how.output_file_size_limit = BENCH_TARGET_FILE_BYTES;
    how.max_subcompactions = options.beside ? 1 : options.threads;

    bench_clock_read(&before);
    require(db->CompactFiles(how, inputs, database.num_levels - 1), "compact");
    bench_clock_read(&after);

    report.file_bytes_out = total_bytes(db.get(), &outputs);
    report.io = "posix";
    const std::string name =
        "RocksDB " + rocksdb::GetRocksVersionAsString() + ", " BENCH_ROCKSDB_BUILD;
    bench_report_name(&report, name.c_str());
    bench_report_times(&report, &idle, &before, &after);
    bench_report_print(&report);
    require(db->Close(), "close");
    return 0;
}

int
verify(const bench_options &options)
{
    rocksdb::DB *opened = nullptr;
    rocksdb::ReadOptions read;

    require(rocksdb::DB::OpenForReadOnly(database_options(options), options.dir, &opened), "open");
    const std::unique_ptr<rocksdb::DB> db(opened);
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
    peer_print_digest(it.get());
    require(it->status(), "read");
    return 0;
}

} // namespace

int
main(int argc, char **argv)
{
    return peer_main(argc, argv, build, compact, verify);
}
