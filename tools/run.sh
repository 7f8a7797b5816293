#!/bin/sh
# The first command of the README: install what is missing, build, and compact real input.
set -eu
cd "$(dirname "$0")/.."

sh tools/setup.sh run
cmake --preset release -B build/run -DSINTER_BUILD_TESTS=OFF
cmake --build build/run
sh tools/demo.sh build/run/src/cli/sinter
