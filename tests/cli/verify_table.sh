. "$(dirname "$0")/lib.sh"

s 0 create t --columns "id BIGINT, v STRING" --primary-key id -o bucket=2 -o file.format=avro
rows 1 100 value | sed '1s/name/v/' >a.csv
rows 50 150 other | sed '1s/name/v/' >b.csv
s 0 write -q t a.csv
s 0 write -q t b.csv
cp -r t good

s 0 verify t
has "$out" "t: sound, 1 snapshot, 4 data files, 201 rows"
has "$out" "4 files checked, 0 with faults"
s 0 verify t --all --json
same "$(json '[d["is_sound"], d["snapshot_count"], d["data_file_count"], d["row_count"], d["fault_count"], d["faults"], d["orphan_count"]]' <<<"$out")" \
    '[true, 2, 4, 201, 0, [], 0]'
s 0 verify t --snapshot 1 --quiet
same "$out$err" ""
s 0 verify t --metadata
has "$out" "4 data files, 0 rows"

# files that nobody names are counted, and are no fault
touch t/bucket-0/data-nobody.avro
s 0 verify t
has "$out" "1 files that nobody names"

# each fault is told in one line that names the file, and the exit code says bad data
again() {
    rm -rf t
    cp -r good t
}
faulty() {
    local code=$1 word=$2
    s "$code" verify t
    has "$err" "$word"
    s "$code" verify t --json
    same "$(json 'd["is_sound"]' <<<"$out")" false
    has "$(json 'd["faults"][0]["message"] + (d["faults"][0]["file"] or "")' <<<"$out")" "$word"
}
edit() { # edit FILE EXPRESSION over the document d
    "$PYTHON" -c 'import json, sys
d = json.load(open(sys.argv[1])); exec(sys.argv[2]); json.dump(d, open(sys.argv[1], "w"))' "$1" "$2"
}
again
file=$(find t/bucket-0 -type f | sort | head -1)
rm "$file"
faulty 4 "$(basename "$file")"
again
"$PYTHON" - "$file" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[-1] ^= 1
open(sys.argv[1], "wb").write(data)
END
faulty 3 "$(basename "$file")"
again
printf x >>"$file"
faulty 3 "on record"
again
edit t/snapshot/snapshot-2 'd["totalRecordCount"] += 1'
faulty 3 "totalRecordCount is 202, its files have 201"
again
edit t/snapshot/snapshot-2 'd["deltaRecordCount"] = 5'
faulty 3 "deltaRecordCount is 5"
again
edit t/snapshot/snapshot-2 'd["baseManifestListSize"] += 1'
faulty 3 "manifest-list"
again
mv t/manifest/"$("$PYTHON" -c 'import json; print(json.load(open("t/snapshot/snapshot-2"))["deltaManifestList"])')" gone
faulty 4 "manifest-list"

# one snapshot's fault is not another's
s 0 verify t --snapshot 1
s 2 verify t --snapshot x
s 2 verify t --snapshot 1 --all
s 4 verify t --snapshot 9

# a branch is checked by itself: its snapshots, and files that lie beside main's
again
mkdir -p t/branch/branch-b
cp -r t/schema t/snapshot t/branch/branch-b
edit t/branch/branch-b/snapshot/snapshot-2 'd["totalRecordCount"] += 1'
s 0 verify t
s 3 verify t --branch b
has "$err" "totalRecordCount is 202"
s 0 verify t --branch b --snapshot 1
s 4 verify t --branch c
has "$err" "branch"
again
rm "$file"

# what no operand has a use for is refused, not passed over
mkdir no-table
for option in "--snapshot 1" "--tag x" "--branch b" --all --metadata; do
    # shellcheck disable=SC2086 # an option and its value
    s 2 verify no-table $option
    has "$err" "${option%% *} is for tables; there is no schema/ in no-table"
done
s 2 verify t --base-dir .
has "$err" "--base-dir is not for tables"
s 4 verify good no-table --snapshot 1
has "$out" "good: sound, 1 snapshot, 2 data files"

# one bad table doesn't hide the others
s 4 verify t good
has "$out" "good: sound"
