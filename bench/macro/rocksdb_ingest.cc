/*
 * The peer taking records in any order: RocksDB, universal compaction, no write-ahead log, one
 * thread for flushes and one for compactions beside the writer.
 */
#include "macro/ingest.h"
#include "macro/rocksdb_options.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <rocksdb/listener.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/write_batch.h>

namespace
{

constexpr auto POLL = std::chrono::milliseconds(2);
constexpr double QUIET_S = 0.05; /* nothing runs for so long: it is idle */

/* Counts what the threads do. */
class counting_listener : public rocksdb::EventListener
{
  public:
    void OnFlushCompleted(rocksdb::DB *, const rocksdb::FlushJobInfo &) override
    {
        flushes++;
    }
    void OnCompactionCompleted(rocksdb::DB *, const rocksdb::CompactionJobInfo &) override
    {
        compactions++;
    }

    std::atomic<uint64_t> flushes{0};
    std::atomic<uint64_t> compactions{0};
};

rocksdb::Options
database_options(const bench_options &options)
{
    rocksdb::Options out = peer_common_options(options);

    out.create_if_missing = true;
    out.error_if_exists = std::string(options.command) == "write";
    out.num_levels = int(options.trigger) + 1; /* what sinter derives */
    out.write_buffer_size = size_t(options.buffer_kib) * 1024;
    out.level0_file_num_compaction_trigger = int(options.trigger);
    /* sinter's writer waits above `stop`, and is never slowed down before. */
    out.level0_slowdown_writes_trigger = int(options.stop) + 1;
    out.level0_stop_writes_trigger = int(options.stop) + 1;
    out.max_background_jobs = int(options.threads) + 1;
    if (std::string(options.memtable) == "vector") {
        out.memtable_factory.reset(new rocksdb::VectorRepFactory());
    }
    return out;
}

void
write_all(rocksdb::DB *db, const bench_options &options, ingest_stream *stream)
{
    rocksdb::WriteOptions write;
    rocksdb::WriteBatch batch;
    bench_record record;

    write.disableWAL = true;
    while (ingest_stream_next(stream, &record)) {
        const rocksdb::Slice key(reinterpret_cast<const char *>(record.key), record.key_bytes);
        const rocksdb::Slice value(reinterpret_cast<const char *>(record.value),
                                   record.value_bytes);

        if (options.batch == 1) {
            peer_require(record.is_delete ? db->Delete(write, key) : db->Put(write, key, value),
                         "write");
            continue;
        }
        peer_require(record.is_delete ? batch.Delete(key) : batch.Put(key, value), "batch");
        if (stream->records % options.batch == 0) {
            peer_require(db->Write(write, &batch), "write");
            batch.Clear();
        }
    }
    if (batch.Count() > 0) {
        peer_require(db->Write(write, &batch), "write");
    }
}

bool
is_busy(rocksdb::DB *db)
{
    uint64_t flushes = 0;
    uint64_t compactions = 0;

    db->GetIntProperty("rocksdb.num-running-flushes", &flushes);
    db->GetIntProperty("rocksdb.num-running-compactions", &compactions);
    return flushes + compactions > 0;
}

/* Flush, and wait until nothing has run for a while; `after` is the beginning of that while. There
 * is a property that says whether a compaction is due, but it stays set where the picker then finds
 * nothing. */
void
settle(rocksdb::DB *db, bench_clock *after)
{
    bench_clock now;
    bool quiet = false;

    peer_require(db->Flush(rocksdb::FlushOptions()), "flush");
    do {
        if (is_busy(db)) {
            quiet = false;
        } else {
            bench_clock_read(quiet ? &now : after);
            now = quiet ? now : *after;
            quiet = true;
        }
        std::this_thread::sleep_for(POLL);
    } while (!quiet || now.wall_s - after->wall_s < QUIET_S);
}

double
number_of(const std::map<std::string, std::string> &stats, const char *name)
{
    const auto found = stats.find(name);

    return found == stats.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
}

/* "Cumulative stall: 00:00:1.234 H:M:S, ..." */
double
stall_seconds(rocksdb::DB *db)
{
    static const char label[] = "Cumulative stall: ";
    std::string text;
    int hours = 0;
    int minutes = 0;
    double seconds = 0;

    db->GetProperty(rocksdb::DB::Properties::kDBStats, &text);
    const size_t at = text.find(label);
    if (at == std::string::npos || std::sscanf(text.c_str() + at + sizeof label - 1, "%d:%d:%lf",
                                               &hours, &minutes, &seconds) != 3) {
        return 0;
    }
    return hours * 3600 + minutes * 60 + seconds;
}

void
report_statistics(rocksdb::DB *db, ingest_report *report)
{
    std::map<std::string, std::string> stats;
    std::vector<rocksdb::LiveFileMetaData> files;

    db->GetMapProperty(rocksdb::DB::Properties::kCFStats, &stats);
    report->write_amplification = number_of(stats, "compaction.Sum.WriteAmp");
    report->stalls = uint64_t(number_of(stats, "io_stalls.total_stop") +
                              number_of(stats, "io_stalls.total_slowdown"));
    report->stall_s = stall_seconds(db);
    db->GetLiveFilesMetaData(&files);
    report->files = files.size();
    for (const rocksdb::LiveFileMetaData &file : files) {
        report->file_bytes += file.size;
    }
}

int
write_records(const bench_options &options, const bench_clock &idle)
{
    const std::shared_ptr<counting_listener> counted = std::make_shared<counting_listener>();
    rocksdb::Options database = database_options(options);
    ingest_report report = {};
    ingest_stream stream;
    bench_clock before;
    bench_clock written;
    bench_clock after;

    database.listeners.push_back(counted);
    const std::unique_ptr<rocksdb::DB> db = peer_open(database, options.dir);
    ingest_stream_open(&stream, options.input);
    bench_clock_read(&before);
    write_all(db.get(), options, &stream);
    bench_clock_read(&written);
    settle(db.get(), &after);

    const std::string name = peer_library_name();
    report.library = name.c_str();
    report.records = stream.records;
    report.flushes = counted->flushes;
    report.compactions = counted->compactions;
    report_statistics(db.get(), &report);
    ingest_report_times(&report, &idle, &before, &written, &after);
    ingest_report_print(&report);
    ingest_stream_close(&stream);
    peer_require(db->Close(), "close");
    return 0;
}

} // namespace

int
main(int argc, char **argv)
{
    bench_clock idle;
    bench_options options;

    bench_clock_read(&idle);
    if (!bench_options_parse(argc, argv, "write|verify", &options)) {
        return 2;
    }
    if (std::string(options.command) == "write") {
        return write_records(options, idle);
    }
    return peer_verify(database_options(options), options.dir);
}
