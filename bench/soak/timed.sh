#!/bin/sh
# One soak as the tests run it: timed.sh files|memory|crash PROGRAM
#
# Twenty seconds, and with CI=true a minute on files under AddressSanitizer; SINTER_TEST_SCALE
# multiplies. Builds without sanitizers, which find less, run ten and may miss something. The seed
# is new each time unless SINTER_SEED gives it; the program prints the command that repeats the run.
set -eu
name=$1
program=$2
scale=${SINTER_TEST_SCALE:-1}
seed=${SINTER_SEED:-$(date +%s)}
seconds=20
files_seconds=20
zero=no
case ${CI:-}/${SINTER_SANITIZE:-} in
true/*address*) files_seconds=60 ;;
esac
if [ -z "${SINTER_SANITIZE:-}" ]; then
    seconds=10
    files_seconds=10
    zero=yes
fi

case $name in
files)
    exec "$program" --seed "$seed" --seconds $((files_seconds * scale)) --allow-zero "$zero"
    ;;
memory)
    exec "$program" --seed "$seed" --seconds $((seconds * scale)) --allow-zero "$zero" \
        --memory-backend yes
    ;;
crash)
    exec "$program" --seed "$seed" --kills $((50 * scale)) --least $((5 * scale))
    ;;
*)
    echo "timed.sh: what is $name?" >&2
    exit 2
    ;;
esac
