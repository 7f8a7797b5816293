# Sourced by the scripts of this folder: a directory of its own, and checks that say what failed.
# shellcheck shell=bash
set -euo pipefail
export LC_ALL=C
unset NO_COLOR
script=$(basename "$0")
source_dir=$SINTER_SOURCE_DIR
work=$(mktemp -d "${TMPDIR:-/tmp}/sinter-cli.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# Sanitizers make the program slower: the same with fewer rows and rounds.
scale=1
[ -z "${SINTER_SANITIZE:-}" ] || scale=5

die() {
    printf '%s:%s: %s\n' "$script" "${BASH_LINENO[1]}" "$*" >&2
    exit 1
}

# run CODE COMMAND...: run, expect the exit code; output in $out, messages in $err
run() {
    local wanted=$1 code=0
    shift
    "$@" >.out 2>.err </dev/null || code=$?
    out=$(cat .out)
    err=$(cat .err)
    [ "$code" -eq "$wanted" ] || die "exit code $code instead of $wanted: $*
$out
$err"
}

# sinter with an exit code
s() {
    local wanted=$1
    shift
    run "$wanted" "$SINTER" "$@"
}

# has TEXT WHAT: a text holds a part
has() {
    case $1 in
    *"$2"*) ;;
    *) die "'$2' is missing in: $1" ;;
    esac
}

hasnt() {
    case $1 in
    *"$2"*) die "'$2' is not expected in: $1" ;;
    esac
}

same() {
    [ "$1" = "$2" ] || die "'$1' instead of '$2'"
}

# one_line: the failure is told in one line on standard error
one_line() {
    [ "$(wc -l <.err)" -eq 1 ] || die "not one line: $err"
    has "$err" "sinter"
}

# json EXPRESSION <text: a Python expression over the documents `d` (the first) and `all`
json() {
    "$PYTHON" -c '
import json, sys
all = [json.loads(line) for line in sys.stdin.read().splitlines() if line]
d = all[0]
value = eval(sys.argv[1])
print(value if isinstance(value, str) else json.dumps(value))' "$1"
}

# Names and content of a directory, to see that nothing changed; temporaries count too.
state() {
    (
        cd "$1"
        find . -type f ! -name .sinter-lock -printf '%p %s %T@\n' | sort
        find . -type f ! -name .sinter-lock -exec sha256sum {} + | sort
    )
}

# view DIR: the merged view as text
view() {
    "$SINTER" scan --format json "$1"
}

# rows FIRST LAST TEXT: CSV of id and text
rows() {
    echo id,name
    seq "$1" "$2" | awk -v name="$3" '{ print $1 "," name " " $1 }'
}

# A directory of three level-0 files that overlap, with updates and deletes.
make_dir() {
    rows 1 1000 first >a.csv
    rows 500 1500 second >b.csv
    rows 1400 1450 gone >c.csv
    "$SINTER" ingest -q "$1" a.csv b.csv --per-file --key id:BIGINT
    "$SINTER" ingest -q "$1" c.csv --deletes
}
