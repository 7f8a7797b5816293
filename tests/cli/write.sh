. "$(dirname "$0")/lib.sh"

snapshot() { "$PYTHON" -c 'import json,sys; d=json.load(open(sys.argv[1])); print(d["commitKind"], d["commitUser"], d["commitIdentifier"], d["totalRecordCount"])' "t/snapshot/snapshot-$1"; }
data_files() { find t -path 't/*bucket-*' -type f | wc -l; }

s 0 create t --columns "id BIGINT, p STRING, v DECIMAL(10, 2)" --primary-key p,id --partition-by p -o bucket=2 \
    -o file.format=avro
cat >rows.jsonl <<'END'
{"id":1,"p":"a","v":"1.50"}
{"id":2,"p":"b","v":2}
{"id":1,"p":"a","v":"3.00"}
END
s 0 write t rows.jsonl --user job --identifier 4
has "$out" "snapshot 1: 3 rows in, 2 written to 2 files"
same "$(snapshot 1)" "APPEND job 4 2"
same "$(s 0 scan t --format json; sort <<<"$out")" '{"id":1,"p":"a","v":"3.00"}
{"id":2,"p":"b","v":"2.00"}'

# the same commit again changes nothing
before=$(state t)
s 0 write t rows.jsonl --user job --identifier 4 --json
same "$(json '[d["was_done"], d["rows_written"], d["snapshot"]]' <<<"$out")" '[true, 0, null]'
same "$(state t)" "$before"

# CSV with kinds, from standard input, by threads
printf '_kind,id,p,v\n-D,2,b,\n+I,3,c,7\n' >more.csv
run 0 sh -c '"$SINTER" write t - --format csv --user job --threads 2 --memory 64mb <more.csv'
has "$out" "snapshot 2"
same "$(snapshot 2)" "APPEND job 5 4"
s 0 scan t --format json
hasnt "$out" '"b"'
has "$out" '{"id":3,"p":"c","v":"7.00"}'

# nothing to write makes nothing
: >empty.jsonl
s 0 write t empty.jsonl
has "$out" "no rows"
[ ! -e t/snapshot/snapshot-3 ] || die "a snapshot of nothing"

# what fails leaves everything as it was
before=$(state t)
refused() {
    local code=$1 word=$2
    shift 2
    s "$code" write t "$@"
    one_line
    has "$err" "$word"
    same "$(state t)" "$before"
}
printf '{"id":9,"p":"z","v":"1"}\n{"id":"x","p":"z"}\n' >bad.jsonl
refused 3 "line 2" bad.jsonl
printf '{"id":9,"p":"z","v":"1"}\n{"p":"z"}\n' >bad.jsonl
refused 3 'bad.jsonl: line 2: column "id"' bad.jsonl
printf '{"id":9,"p":"z","w":1}\n' >bad.jsonl
refused 3 '"w"' bad.jsonl
refused 4 "none.jsonl" rows.jsonl none.jsonl
[ ! -e t/p=z ] || die "a directory is left"
s 4 write nowhere rows.jsonl
one_line

# tables that can't be written are refused by name
s 0 create d --columns "id BIGINT" --primary-key id -o file.format=avro
s 3 write d rows.jsonl
has "$err" "dynamic buckets"

# a full buffer makes several files; the rows are the same
s 0 create big --columns "id BIGINT, v STRING" --primary-key id -o bucket=1 -o file.format=avro
rows 1 5000 value | sed '1s/name/v/' >big.csv
s 0 write big big.csv --buffer 64kb --json
[ "$(json 'd["file_count"]' <<<"$out")" -gt 1 ] || die "one file"
s 0 scan big --format json
same "$(wc -l <<<"$out")" 5000
