#!/bin/sh
# aarch64.sh [--build-only]: cross-build for 64-bit ARM and run the golden tests under qemu-user.
# The libraries for ARM are fetched by apt into build/aarch64-libraries; the system is not changed.
set -eu
cd "$(dirname "$0")/.."
folder=$PWD/build/aarch64-libraries
packages="libzstd-dev liblz4-dev libxxhash-dev libjansson-dev liburing-dev zlib1g-dev"

fetch() {
    rm -rf "$folder"
    mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial" "$folder/root"
    : >"$folder/state/status"
    set -- -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
        -o Dir::State="$folder/state" -o Dir::State::status="$folder/state/status" \
        -o Dir::Cache="$folder/cache" -o APT::Sandbox::User=root
    apt-get "$@" update
    (
        cd "$folder"
        for package in $packages; do
            apt-get "$@" download "$package"
        done
        for package in *.deb; do
            dpkg-deb -x "$package" root
        done
    )
}

command -v aarch64-linux-gnu-gcc >/dev/null || {
    echo "aarch64: no cross compiler; sh tools/setup.sh aarch64 installs it" >&2
    exit 1
}
[ -e "$folder/complete" ] || fetch
touch "$folder/complete"

echo "== build: aarch64"
cmake --preset aarch64 -DSINTER_CI=ON
cmake --build build/aarch64 -j "$(nproc)" --target src/cli/all tests/golden/all
[ "${1:-}" = --build-only ] ||
    ctest --test-dir build/aarch64 -L golden --output-on-failure --no-tests=error -j "$(nproc)"
