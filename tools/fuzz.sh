#!/bin/sh
# fuzz.sh [TARGET...]: build the fuzz targets with libFuzzer under sanitizers and run each for
# FUZZ_SECONDS (60). What is found stays in build/fuzz-found/TARGET; new inputs that reach new code are
# kept in build/fuzz-corpus/TARGET and merged into tests/fuzz/corpus by FUZZ_MERGE=1.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}

cmake --preset fuzz
cmake --build build/fuzz -j "$(nproc)"
[ $# -gt 0 ] || set -- $(cd tests/fuzz/corpus && ls)

for target in "$@"; do
    found=$PWD/build/fuzz-found/$target
    grown=$PWD/build/fuzz-corpus/$target
    kept=$PWD/tests/fuzz/corpus/$target
    mkdir -p "$found" "$grown"
    echo "== fuzz: $target, $seconds s"
    ASAN_OPTIONS=abort_on_error=1:detect_leaks=1 "build/fuzz/tests/fuzz/fuzz_$target" \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$found/" "$grown" "$kept"
    if [ "${FUZZ_MERGE:-}" = 1 ]; then
        "build/fuzz/tests/fuzz/fuzz_$target" -merge=1 "$kept" "$grown"
    fi
done
