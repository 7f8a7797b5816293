#!/bin/sh
# memory_cap.sh PROGRAM DIR: peak memory of 64 buckets, and the directory is gone again.
set -eu
rm -rf "$2"
code=0
"$1" "$2" || code=$?
rm -rf "$2"
exit "$code"
