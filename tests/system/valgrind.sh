#!/bin/sh
# valgrind.sh VALGRIND SINTER ROWS SCRATCH: a small run of each verb under valgrind; an error or a
# block that is lost ends it. Over posix io: valgrind doesn't see what the kernel writes into memory
# for io_uring and would call it uninitialised.
set -eu
valgrind=$1 sinter=$2 rows=$3 scratch=$4

watched() {
    verb=$1 io="--io posix"
    shift
    case $verb in inspect | gc) io= ;; esac # they have no such choice
    "$valgrind" --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
        "$sinter" "$verb" $io "$@" >>"$scratch/out"
}

rm -rf "$scratch"
mkdir -p "$scratch"
head -n 300 "$rows" >"$scratch/first.tsv"
{ head -n 1 "$rows"; sed -n '200,500p' "$rows"; } >"$scratch/second.tsv"
dir=$scratch/bucket

watched ingest "$dir" "$scratch/first.tsv" --key package,architecture --types installed_kib:BIGINT \
    --buffer-rows 120
watched ingest "$dir" "$scratch/second.tsv"
watched plan --explain "$dir"
"$sinter" scan "$dir" >"$scratch/before"
watched compact "$dir" --sort-spill-threshold 2 --target-file-size 16kb --file.compression lz4
"$sinter" scan "$dir" >"$scratch/after"
cmp "$scratch/before" "$scratch/after"
watched scan "$dir" --limit 10
watched inspect "$dir"
watched verify "$dir"
watched gc "$dir"
test -s "$scratch/after"
