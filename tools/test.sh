#!/bin/sh
# The second command of the README: install what is missing, build, and pass every check.
# With CI=true also the cross-build for 64-bit ARM.
set -eu
cd "$(dirname "$0")/.."

if [ "${CI:-}" = true ]; then
    sh tools/setup.sh aarch64
else
    sh tools/setup.sh test
fi
exec sh tools/ci.sh
