#!/bin/sh
# Every check: builds with warnings as errors (gcc release, gcc with sanitizers, clang), then the
# tests of all builds as one run of ctest, whose closing line is the last output. A test that is
# skipped counts as failed. With CI=true the cross-build for 64-bit ARM is one of the builds.
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc 2>/dev/null || echo 2)
strict="-DSINTER_CI=ON"

build() {
    preset=$1
    targets=$2
    shift 2
    echo "== build: $preset"
    cmake --preset "$preset" $strict "$@" >"build/ci-$preset.log" 2>&1 ||
        { cat "build/ci-$preset.log" >&2; exit 1; }
    # shellcheck disable=SC2086 # the targets are words
    cmake --build "build/$preset" -j "$jobs" --target $targets >"build/ci-$preset.log" 2>&1 ||
        { cat "build/ci-$preset.log" >&2; exit 1; }
}

mkdir -p build
build release all -DSINTER_BUILD_BENCH=ON
build asan all
build tsan tests_with_threads
# Of what else is compiled clang only says what it warns of: the test lint_clang.
build clang tests/golden/all
if [ "${CI:-}" = true ]; then
    sh tools/aarch64.sh --build-only
    set -- aarch64=golden
else
    set --
fi

echo "== tests"
# What runs where: everything with gcc's release build and under AddressSanitizer; what has threads
# under ThreadSanitizer; a sample of rooms with clang; the golden answers on 64-bit ARM.
python3 tools/ctest_merge.py build/ci release asan=-lint tsan=threads clang=golden "$@"
exec ctest --test-dir build/ci --output-on-failure --no-tests=error -j "$jobs"
