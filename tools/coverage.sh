#!/bin/sh
# coverage.sh BUILD: line coverage of src as gcov counted it, one line a file, into BUILD/coverage.txt.
set -eu
build=$1

find "$build/src" -name '*.gcda' -print | sort | while read -r data; do
    gcov -n -s "$PWD" -r "$data" 2>/dev/null
done | awk '
    /^File / { name = $2; gsub(/\x27/, "", name) }
    /^Lines executed:/ && name ~ /^src\/.*\.c$/ {
        split($2, part, ":"); sub(/%/, "", part[2]); share[name] = part[2]; lines[name] = $4
        name = ""
    }
    END {
        for (name in share) {
            printf "%6.2f %% of %5d  %s\n", share[name], lines[name], name | "sort -k5"
            all += lines[name]; hit += lines[name] * share[name] / 100
        }
        close("sort -k5")
        if (all == 0) { print "coverage: no data" > "/dev/stderr"; exit 1 }
        printf "%6.2f %% of %5d  all\n", 100 * hit / all, all
    }' >"$build/coverage.txt"
cat "$build/coverage.txt"
