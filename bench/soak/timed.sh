#!/bin/sh
# One soak as the tests run it: timed.sh files|memory|crash PROGRAM
#
# With CI=true a minute, else a third of that; SINTER_TEST_SCALE multiplies. The seed is new each
# time unless SINTER_SEED gives it; the program prints the command that repeats the run.
set -eu
name=$1
program=$2
scale=${SINTER_TEST_SCALE:-1}
seed=${SINTER_SEED:-$(date +%s)}
seconds=20
[ "${CI:-}" != true ] || seconds=60

case $name in
files)
    # The builds with sanitizers are those that a fault of threads or memory meets.
    [ -n "${SINTER_SANITIZE:-}" ] || seconds=20
    exec "$program" --seed "$seed" --seconds $((seconds * scale))
    ;;
memory)
    exec "$program" --seed "$seed" --seconds $((20 * scale)) --memory-backend yes
    ;;
crash)
    exec "$program" --seed "$seed" --kills $((50 * scale)) --least $((5 * scale))
    ;;
*)
    echo "timed.sh: what is $name?" >&2
    exit 2
    ;;
esac
