/*
 * The peer LevelDB compacting the same records.
 *
 * LevelDB can't be told to make one level-0 file per run, nor to compact a list of files. So its
 * table builder writes the runs, its repair puts them into level 0, and opening the database then
 * starts the one compaction into level 1, since there are at least four files. What follows are
 * moves to deeper levels, which touch no data; asking for a range to be compacted as well would
 * rewrite everything once more. Keys of a table are those of LevelDB's files: the user's key, then
 * sequence and kind in 8 bytes.
 *
 * Snappy stands in for lz4, which LevelDB doesn't have; nothing does for zstd.
 */
#include "macro/peer.h"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include <leveldb/comparator.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/table_builder.h>

namespace fs = std::filesystem;

namespace
{

constexpr size_t TRAILER_BYTES = 8;
constexpr uint64_t KIND_DELETE = 0;
constexpr uint64_t KIND_PUT = 1;

void
require(const leveldb::Status &status, const char *what)
{
    if (!status.ok()) {
        std::fprintf(stderr, "leveldb_bench: %s: %s\n", what, status.ToString().c_str());
        std::exit(1);
    }
}

uint64_t
trailer_of(const leveldb::Slice &key)
{
    uint64_t trailer = 0;

    std::memcpy(&trailer, key.data() + key.size() - TRAILER_BYTES, TRAILER_BYTES);
    return trailer;
}

/* The order of LevelDB's files: by the user's key, the newest version first. */
class FileOrder : public leveldb::Comparator
{
  public:
    int Compare(const leveldb::Slice &a, const leveldb::Slice &b) const override
    {
        const leveldb::Slice user_a(a.data(), a.size() - TRAILER_BYTES);
        const leveldb::Slice user_b(b.data(), b.size() - TRAILER_BYTES);
        const int order = user_a.compare(user_b);

        if (order != 0) {
            return order;
        }
        return trailer_of(a) > trailer_of(b) ? -1 : trailer_of(a) < trailer_of(b) ? 1 : 0;
    }
    const char *Name() const override
    {
        return "leveldb.InternalKeyComparator";
    }
    void FindShortestSeparator(std::string *start, const leveldb::Slice &limit) const override
    {
        (void)start;
        (void)limit;
    }
    void FindShortSuccessor(std::string *key) const override
    {
        (void)key;
    }
};

leveldb::Options
database_options(const bench_options &options)
{
    leveldb::Options out;

    if (options.codec == BENCH_CODEC_ZSTD) {
        std::fprintf(stderr, "leveldb_bench: LevelDB has no zstd\n");
        std::exit(2);
    }
    out.block_size = options.block_bytes;
    out.compression =
        options.codec == BENCH_CODEC_NONE ? leveldb::kNoCompression : leveldb::kSnappyCompression;
    out.max_file_size = BENCH_TARGET_FILE_BYTES;
    return out;
}

void
build_run(const bench_options &options, const bench_workload &workload, uint32_t run,
          uint64_t *sequence)
{
    const FileOrder order;
    leveldb::Options table = database_options(options);
    char name[32];
    leveldb::WritableFile *opened = nullptr;
    bench_cursor cursor;
    bench_record record;
    std::string key;

    table.comparator = &order;
    std::snprintf(name, sizeof name, "/%06" PRIu32 ".ldb", run + 1);
    require(leveldb::Env::Default()->NewWritableFile(options.dir + std::string(name), &opened),
            "create");
    const std::unique_ptr<leveldb::WritableFile> file(opened);
    leveldb::TableBuilder builder(table, file.get());
    bench_cursor_init(&cursor, &workload, run);
    while (bench_cursor_next(&cursor, &record)) {
        const uint64_t trailer = (*sequence)++ << 8 | (record.is_delete ? KIND_DELETE : KIND_PUT);

        key.assign(reinterpret_cast<const char *>(record.key), record.key_bytes);
        key.append(reinterpret_cast<const char *>(&trailer), TRAILER_BYTES);
        builder.Add(
            key, leveldb::Slice(reinterpret_cast<const char *>(record.value), record.value_bytes));
    }
    require(builder.Finish(), "finish");
    require(file->Sync(), "sync");
    require(file->Close(), "close");
}

int
build(const bench_options &options)
{
    bench_workload workload;
    uint64_t sequence = 1;

    if (!bench_workload_init(&workload, options.workload, options.div)) {
        std::fprintf(stderr, "leveldb_bench: no workload %s\n", options.workload);
        return 2;
    }
    fs::create_directories(options.dir);
    for (uint32_t run = 0; run < workload.run_count; run++) {
        build_run(options, workload, run, &sequence);
    }
    require(leveldb::RepairDB(options.dir, database_options(options)), "repair");
    return 0;
}

bool
is_table(const fs::path &path)
{
    return path.extension() == ".ldb" || path.extension() == ".sst";
}

uint64_t
total_bytes(const std::string &dir)
{
    uint64_t bytes = 0;

    for (const fs::directory_entry &entry : fs::directory_iterator(dir)) {
        bytes += is_table(entry.path()) ? entry.file_size() : 0;
    }
    return bytes;
}

int
files_at_level_0(leveldb::DB *db)
{
    std::string number;

    if (!db->GetProperty("leveldb.num-files-at-level0", &number)) {
        require(leveldb::Status::NotFound("leveldb.num-files-at-level0"), "ask");
    }
    return std::atoi(number.c_str());
}

int
compact(const bench_options &options, const bench_clock &idle)
{
    leveldb::DB *opened = nullptr;
    bench_report report = {};
    bench_clock before;
    bench_clock after;

    peer_clone(options.dir, options.out, is_table);
    report.file_bytes_in = total_bytes(options.out);

    bench_clock_read(&before);
    require(leveldb::DB::Open(database_options(options), options.out, &opened), "open");
    while (files_at_level_0(opened) > 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    bench_clock_read(&after);

    delete opened; /* waits for what still runs */
    report.file_bytes_out = total_bytes(options.out);
    report.io = "posix";
    const std::string name = "LevelDB " + std::to_string(leveldb::kMajorVersion) + "." +
                             std::to_string(leveldb::kMinorVersion) +
                             (options.codec == BENCH_CODEC_LZ4 ? ", snappy" : "");
    bench_report_name(&report, name.c_str());
    bench_report_times(&report, &idle, &before, &after);
    bench_report_print(&report);
    return 0;
}

int
verify(const bench_options &options)
{
    leveldb::DB *opened = nullptr;

    require(leveldb::DB::Open(database_options(options), options.dir, &opened), "open");
    const std::unique_ptr<leveldb::DB> db(opened);
    const std::unique_ptr<leveldb::Iterator> it(db->NewIterator(leveldb::ReadOptions()));
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
