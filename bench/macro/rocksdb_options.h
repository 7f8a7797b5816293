/*
 * What the programs that measure RocksDB share: the options that stand in both, opening, reading it
 * all back.
 */
#ifndef BENCH_ROCKSDB_OPTIONS_H
#define BENCH_ROCKSDB_OPTIONS_H

#include "macro/peer.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

/** End the program with what happened, unless it went well. */
inline void
peer_require(const rocksdb::Status &status, const char *what)
{
    if (!status.ok()) {
        std::fprintf(stderr, "rocksdb: %s: %s\n", what, status.ToString().c_str());
        std::exit(1);
    }
}

/** The codec of the command line. */
inline rocksdb::CompressionType
peer_compression(const bench_options &options)
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

/** Universal style, blocks and codec of the command line, files of the size that all programs have,
 *  one writer, no subcompactions, no filter, no statistics on a timer. */
inline rocksdb::Options
peer_common_options(const bench_options &options)
{
    rocksdb::Options out;
    rocksdb::BlockBasedTableOptions table;

    table.block_size = options.block_bytes;
    out.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    out.compaction_style = rocksdb::kCompactionStyleUniversal;
    out.compression = peer_compression(options);
    if (options.codec == BENCH_CODEC_ZSTD) {
        out.compression_opts.level = options.codec_level;
    }
    out.target_file_size_base = BENCH_TARGET_FILE_BYTES;
    out.allow_concurrent_memtable_write = false;
    out.max_subcompactions = 1;
    out.stats_dump_period_sec = 0;
    out.stats_persist_period_sec = 0;
    out.info_log_level = rocksdb::ERROR_LEVEL;
    return out;
}

/** Open for writing. */
inline std::unique_ptr<rocksdb::DB>
peer_open(const rocksdb::Options &options, const std::string &dir)
{
    rocksdb::DB *db = nullptr;

    peer_require(rocksdb::DB::Open(options, dir, &db), "open");
    return std::unique_ptr<rocksdb::DB>(db);
}

/** What was measured, with its version. */
inline std::string
peer_library_name()
{
    return "RocksDB " + rocksdb::GetRocksVersionAsString() + ", " BENCH_ROCKSDB_BUILD;
}

/** Print the number and the hash of all that is in a database. */
inline int
peer_verify(const rocksdb::Options &options, const std::string &dir)
{
    rocksdb::DB *opened = nullptr;

    peer_require(rocksdb::DB::OpenForReadOnly(options, dir, &opened), "open");
    const std::unique_ptr<rocksdb::DB> db(opened);
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
    peer_print_digest(it.get());
    peer_require(it->status(), "read");
    return 0;
}

#endif
