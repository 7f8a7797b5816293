#!/bin/sh
# setup.sh run|test|aarch64: make sure that what building (run), checking (test) or cross-building
# needs is installed. Debian packages, by apt when root; else the one line to run is printed. Apache
# Arrow, which Debian lacks and whose shim the checks want, comes from the wheel of pyarrow, into
# build/python, and with it Paimon's Python client, which the checks read tables with.
set -eu
what=${1:-run}

build="gcc libc6-dev make cmake ninja-build pkg-config liburing-dev libzstd-dev liblz4-dev
    libxxhash-dev libjansson-dev zlib1g-dev libsnappy-dev"
checks="libcriterion-dev libavro-dev libroaring-dev clang clang-format clang-tidy g++ python3 python3-venv tzdata valgrind
    git default-jdk-headless maven"
cross="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"

case $what in
run) wanted="$build" ;;
test) wanted="$build $checks" ;;
aarch64) wanted="$build $checks $cross" ;;
*)
    echo "usage: setup.sh run|test|aarch64" >&2
    exit 2
    ;;
esac

# Apache Arrow in an environment of its own, where cmake/SinterColumnar.cmake looks for it.
arrow() {
    [ "$what" != run ] || return 0
    build/python/bin/python3 -c 'import pyarrow, pypaimon' 2>/dev/null && return 0
    echo "setup: installing pyarrow and pypaimon into build/python"
    python3 -m venv build/python &&
        build/python/bin/python3 -m pip install -q --disable-pip-version-check pyarrow==19.0.1 \
            pypaimon==2.1.0 ||
        echo "setup: no Apache Arrow: Parquet and ORC will not be built (docs/columnar.md)" >&2
}

cd "$(dirname "$0")/.."
if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "setup: this is no Debian; what is needed: $(echo $wanted)" >&2
    arrow
    exit 0
fi
missing=
for package in $wanted; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
    arrow
    exit 0
fi

if [ "$(id -u)" -ne 0 ]; then
    echo "Packages are missing. Run this once, then the same command again:" >&2
    echo "    sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi
echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -q </dev/null
# shellcheck disable=SC2086 # the list is words
apt-get install -q -y --no-install-recommends $missing </dev/null
arrow
