. "$(dirname "$0")/lib.sh"
# What comes out: failures of writing, pipes that close, colours, progress.

make_dir dir

# a full disk on standard output is a failure
code=0
"$SINTER" scan dir >/dev/full 2>.err || code=$?
err=$(cat .err)
same "$code" 6
one_line
has "$err" "No space left on device"
for command in "inspect dir" "options" "--help" "version" "verify dir" "plan dir"; do
    code=0
    # shellcheck disable=SC2086
    "$SINTER" $command >/dev/full 2>.err || code=$?
    same "$code" 6
done
# a document's result that can't be written is a failure, and its new files go
json '{"format": "sinter.files", "version": 1, "base_dir": "dir",
    "files": [{"file_name": f["file_name"], "level": 0} for f in d["files"]]}' \
    <dir/CATALOG.json >files.json
state_before=$(state dir)
code=0
"$SINTER" compact files.json >/dev/full 2>.err || code=$?
same "$code" 6
same "$(wc -l <.err)" 1
same "$(state dir)" "$state_before"

# a reader that goes away: quiet, code 141
rows 1 1000000 x >many.csv
s 0 ingest -q many many.csv --key id:BIGINT
code=$({ c=0; "$SINTER" scan many 2>.err || c=$?; echo "$c" >code.txt; } | head -n 1 >/dev/null; cat code.txt)
same "$code" 141
same "$(cat .err)" ""

# a pipe shows neither colours nor progress; --progress always does, line by line
s 0 inspect dir
hasnt "$out" $'\033'
s 0 compact many --output-level 3
same "$err" ""
s 0 compact many --compaction.force-rewrite-all-files true --progress always
has "$err" "compacting 100%"
has "$err" "ETA"
has "$err" "/s"
s 0 verify many --progress always -q
has "$err" "verifying 100%"
s 0 ingest many many.csv --progress always --quiet
has "$err" "ingesting 100%"

# on a terminal: bold titles unless NO_COLOR, a progress line that is cleared at the end
if command -v script >/dev/null; then
    terminal() {
        TERM=xterm script -qec "$*" /dev/null </dev/null
    }
    has "$(terminal "$SINTER" inspect dir)" $'\033[1m'
    hasnt "$(NO_COLOR=1 terminal "$SINTER" inspect dir)" $'\033[1m'
    text=$(terminal "$SINTER" compact many --progress always)
    has "$text" $'\r\033[K'
    has "$(terminal "$SINTER" scan dir --limit 1)" "first 1"
fi

# names with control characters can't move the cursor
s 4 scan $'a\nb\033[2J'
one_line
has "$err" 'a\x0ab\x1b[2J'
