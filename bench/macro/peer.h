/*
 * What the peers written in C++ share: a copy of their database for each repetition, reading it
 * back, and their main().
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "macro/program.h"

#include <cstring>
#include <filesystem>
#include <string>

/** Copy a database. Tables are linked, since compaction unlinks its inputs; the rest is copied. */
template <typename IsTable>
void
peer_clone(const std::string &source, const std::string &target, IsTable is_table)
{
    namespace fs = std::filesystem;

    fs::create_directories(target);
    for (const fs::directory_entry &entry : fs::directory_iterator(source)) {
        const fs::path to = fs::path(target) / entry.path().filename();

        if (is_table(entry.path())) {
            fs::create_hard_link(entry.path(), to);
        } else if (entry.is_regular_file()) {
            fs::copy_file(entry.path(), to);
        }
    }
}

/** Print the number and the hash of all that an iterator of the database gives. */
template <typename Iterator>
void
peer_print_digest(Iterator *it)
{
    bench_digest digest = BENCH_DIGEST_INIT;

    for (it->SeekToFirst(); it->Valid(); it->Next()) {
        bench_digest_add(&digest, reinterpret_cast<const uint8_t *>(it->key().data()),
                         it->key().size(), reinterpret_cast<const uint8_t *>(it->value().data()),
                         it->value().size());
    }
    bench_digest_print(&digest);
}

/** Parse the command line and do what it says. */
template <typename Build, typename Compact, typename Verify>
int
peer_main(int argc, char **argv, Build build, Compact compact, Verify verify)
{
    bench_clock idle;
    bench_options options;

    bench_clock_read(&idle);
    if (!bench_options_parse(argc, argv, "build|compact|verify", &options)) {
        return 2;
    }
    if (std::strcmp(options.command, "build") == 0) {
        return build(options);
    }
    if (std::strcmp(options.command, "compact") == 0) {
        return compact(options, idle);
    }
    return verify(options);
}

#endif
