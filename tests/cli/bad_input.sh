. "$(dirname "$0")/lib.sh"
# Bad input gets a clear error, and existing files stay as they are.

make_dir dir
cp -r dir copy
before=$(view dir)
files=(dir/*.sst)
restore() {
    rm -rf dir
    cp -rp copy dir
}
# refused CODE TEXT ARGUMENTS...: fails in one line and changes nothing
refused() {
    local code=$1 text=$2 state_before
    shift 2
    state_before=$(state dir)
    s "$code" "$@"
    one_line
    has "$err" "$text"
    same "$(state dir)" "$state_before"
}

# a truncated file, a flipped bit; scan and compact both tell the file and the offset
truncate -s -7 "${files[0]}"
refused 3 "$(basename "${files[0]}")" compact dir
refused 3 "$(basename "${files[0]}")" scan dir
restore
printf 'X' | dd of="${files[1]}" bs=1 seek=100 conv=notrunc status=none
refused 3 "offset" compact dir
has "$err" "$(basename "${files[1]}")"
s 3 scan dir
has "$err" "offset"
s 3 compact dir --json
same "$(json 'd["status"], d["error"]["status"], d["after"]' <<<"$out")" '["failed", "E_CORRUPT", []]'
has "$(json 'd["error"]["file"]' <<<"$out")" ".sst"
restore

# a missing file
rm "${files[2]}"
refused 4 "$(basename "${files[2]}")" compact dir
has "$err" "No such file"
restore

# a newer format version, both numbers named
printf '\002' | dd of="${files[0]}" bs=1 seek=8 conv=notrunc status=none
refused 3 "version 2" compact dir
restore

# an empty file, and one that is something else
: >"${files[0]}"
refused 3 "$(basename "${files[0]}")" compact dir
restore
cp "$source_dir/CMakeLists.txt" "${files[0]}"
refused 3 "$(basename "${files[0]}")" compact dir
restore

# documents: not JSON, another format, a newer version, overlapping files said to be one level, the
# same name twice, a stated value that the footer contradicts, a path that leads out
document() {
    json "$1" <dir/CATALOG.json >doc.json
}
printf '{"format":' >doc.json
refused 3 "line 1" compact doc.json
document '{"format": "sinter.result", "version": 1, "files": []}'
refused 3 "sinter.result" compact doc.json
document '{"format": "sinter.files", "version": 99, "files": []}'
refused 3 "99" compact doc.json
document '{"format": "sinter.files", "version": 1, "must_understand": ["colour"], "colour": 1, "files": []}'
refused 3 "colour" compact doc.json
document '{"format": "sinter.files", "version": 1, "base_dir": "dir",
    "files": [{"file_name": f["file_name"], "level": 1} for f in d["files"]]}'
refused 3 "overlap" compact doc.json
document '{"format": "sinter.files", "version": 1, "base_dir": "dir",
    "files": [{"file_name": d["files"][0]["file_name"], "level": 0}] * 2}'
refused 3 "$(json 'd["files"][0]["file_name"]' <dir/CATALOG.json)" compact doc.json
document '{"format": "sinter.files", "version": 1, "base_dir": "dir",
    "files": [{"file_name": d["files"][0]["file_name"], "level": 0, "row_count": 5}]}'
refused 3 "row_count" compact doc.json
document '{"format": "sinter.files", "version": 1, "base_dir": "dir",
    "files": [{"file_name": "../" + d["files"][0]["file_name"], "level": 0}]}'
refused 3 "file_name" compact doc.json
document '{"format": "sinter.files", "version": 1, "base_dir": "dir", "key_types": ["STRING"],
    "files": [{"file_name": d["files"][0]["file_name"], "level": 0}]}'
s 3 compact doc.json
document '{"format": "sinter.files", "version": 1, "base_dir": "dir", "options": {"target-file-sise": "1"},
    "files": []}'
refused 3 "target-file-size" compact doc.json

# a path below a file is no directory; a directory without a catalog; a damaged catalog
refused 4 "Not a directory" compact "${files[0]}/x"
mkdir none
refused 4 "CATALOG.json" compact none
printf '{' >dir/CATALOG.json
refused 3 "CATALOG.json" compact dir
refused 3 "CATALOG.json" ingest dir a.csv
restore

# an unreadable directory: as another user when we are root, whom nothing is refused
cp "$SINTER" program
chmod 755 "$work" program
chmod 000 dir
as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
for verb in compact scan inspect verify plan; do
    run 4 "${as_user[@]}" "$work/program" "$verb" "$work/dir"
    has "$err" "Permission denied"
    has "$err" "$work/dir"
done
# one that can be read, but not written to
chmod 555 dir
run 4 "${as_user[@]}" "$work/program" compact "$work/dir"
has "$err" "Permission denied"
chmod 755 dir
same "$(view dir)" "$before"

# two processes on one directory: the second is told so. `flock` holds the lock as the first would.
(
    flock -x 9
    refused 5 "dir" compact dir
    refused 5 "dir" ingest dir a.csv
    refused 5 "dir" gc dir
    s 0 scan dir --count
) 9>dir/.sinter-lock
s 0 compact dir -q
same "$(view dir)" "$before"

# two real processes at once: each is through or told that the other one is at work
for i in 1 2 3 4 5; do
    restore
    codes=""
    for n in 1 2 3; do
        "$SINTER" compact -q dir --compaction.force-rewrite-all-files true 2>err.$n &
        pids[n]=$!
    done
    for n in 1 2 3; do
        code=0
        wait "${pids[n]}" || code=$?
        [ "$code" -eq 0 ] || [ "$code" -eq 5 ] || die "exit code $code: $(cat err.$n)"
        codes="$codes $code"
    done
    has "$codes" " 0"
    same "$(view dir)" "$before"
    s 0 verify -q dir
done

# a budget that nothing fits into: refused, and the least that works is named
restore
refused 1 "budget" compact dir --memory 1kb

# a name that is taken: a document can't replace a directory
restore
mkdir taken
s 4 compact dir --result taken --output-level 3
one_line
same "$(view dir)" "$before"

# a name that a new file would get is taken: nothing is written over
twin=$SINTER_TOOLS/sinter_with_same_names
run 0 "$twin" ingest -q other a.csv --key id:BIGINT
before_state=$(state other)
run 4 "$twin" ingest -q other b.csv
one_line
has "$err" "data-00000000-0000-4000-8000-"
has "$err" "exist"
same "$(state other)" "$before_state"
"$SINTER" ingest -q other b.csv
cp -r other fresh
run 4 "$twin" compact -q fresh --compaction.force-rewrite-all-files true
same "$(grep -o "File exists" <<<"$err" | wc -l)" 1
[ "$(cat fresh/data-00000000-*.sst | sha256sum)" = "$(cat other/data-00000000-*.sst | sha256sum)" ] ||
    die "an input was written over"
same "$(view fresh)" "$(view other)"
restore
json '{"format": "sinter.files", "version": 1, "base_dir": "dir", "files": [
    {"file_name": f["file_name"], "level": 0} for f in d["files"]]}' <dir/CATALOG.json >doc.json
echo mine >dir/data-00000000-0000-4000-8000-000000000000-0.sst
SINTER=$twin refused 4 "data-00000000-0000-4000-8000-" compact doc.json --result result.json
has "$err" "exist"
[ ! -e result.json ] || die "a result of nothing"
same "$(cat dir/data-00000000-*-0.sst)" mine
rm dir/data-00000000-*

# an io backend by a wrong name, a level that can't be
refused 2 "auto|posix|io_uring" compact dir --io carrier-pigeon
refused 2 "highest level" compact dir --output-level 77
