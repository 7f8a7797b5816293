. "$(dirname "$0")/lib.sh"

tables=$source_dir/tests/data/tables/oracle

# sorted FILE: lines in the order of their bytes
sorted() {
    sort "$@"
}

# what Paimon reads: the newest snapshot, an older one, a tag, and by time
s 0 scan "$tables/pk_tags_avro.db/t"
same "$(sorted <<<"$out")" "$(sorted "$tables/pk_tags_avro.db/expected.jsonl")"
p=$tables/pk_partitioned_avro.db
s 0 scan "file:$p/t" --snapshot 1
same "$(sorted <<<"$out")" "$(sorted "$p/expected-1.jsonl")"
for tag in "$tables"/pk_tags_avro.db/t/tag/tag-*; do
    name=${tag##*/tag-}
    s 0 scan "$tables/pk_tags_avro.db/t" --tag "$name"
    same "$(sorted <<<"$out")" "$(sorted "$tables/pk_tags_avro.db/expected-tag-$name.jsonl")"
done
time_ms=$("$PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1]))["timeMillis"])' \
    "$p/t/snapshot/snapshot-1")
s 0 scan "$p/t" --timestamp "$time_ms"
same "$(sorted <<<"$out")" "$(sorted "$p/expected-1.jsonl")"
text=$("$PYTHON" -c 'import datetime, sys
print(str(datetime.datetime.fromtimestamp(int(sys.argv[1]) / 1000, datetime.timezone.utc))[:23])' \
    "$time_ms")
s 0 scan "$p/t" --timestamp "$text"
same "$(sorted <<<"$out")" "$(sorted "$p/expected-1.jsonl")"

# runs that the budget can't hold open are spilled, beside their files or where one says
mkdir spill
s 0 scan "$tables/pk_dedup_l0_avro.db/t" --memory 1mb --spill-dir spill
same "$(sorted <<<"$out")" "$(sorted "$tables/pk_dedup_l0_avro.db/expected.jsonl")"
same "$(ls -A spill)" ""
s 4 scan "$tables/pk_dedup_l0_avro.db/t" --memory 1mb --spill-dir not-there
has "$err" "not-there"

# which rows and columns
t=$tables/pk_partitioned_avro.db/t
s 0 scan "$t" --count
same "$out" "$(wc -l <"$tables/pk_partitioned_avro.db/expected.jsonl")"
s 0 scan "$t" --count --json
has "$out" '"count":'
s 0 scan "$t" --where "id > 3 and v is not null" --count --verbose
same "$out" "$(grep -Ec '"id":[4-9].*"v":"' "$tables/pk_partitioned_avro.db/expected.jsonl")"
has "$err" "manifests read"
s 0 scan "$t" --partition dt=2024-02-29,region=eu
same "$(sorted <<<"$out")" "$(grep '"dt":"2024-02-29","region":"eu"' \
    "$tables/pk_partitioned_avro.db/expected.jsonl" | sort)"
s 0 scan "$t" --partition dt=2024-02-29,region=eu --partition region=c=d --columns id,region \
    --where "region in ('eu', 'x')" --limit 2 --format csv
same "$(head -1 <<<"$out")" "id,region"
same "$(wc -l <<<"$out")" 3
hasnt "$out" "c=d"
s 0 scan "$t" --partition dt=2024-02-29,region=eu --bucket 7 --count
same "$out" 0
s 0 scan "$t" --limit 0
same "$out" ""
s 0 scan "$t" --limit 1 --format table
has "$out" region
s 0 scan "$t" --limit 1 --format tsv --no-header --columns id
same "$(wc -l <<<"$out")" 1

# what isn't there
s 4 scan "$tables/pk_tags_avro.db/t" --tag arly
one_line
has "$err" "there is no tag 'arly'; did you mean 'early'?"
s 4 scan "$tables/pk_tags_avro.db/t" --branch main2
has "$err" "there is no branch 'main2'"
s 4 scan "$tables/pk_tags_avro.db/t" --snapshot 99
has "$err" "snapshot-99: there is no snapshot 99"
s 4 scan "$tables/pk_tags_avro.db/t" --timestamp 5
has "$err" "no snapshot is as old"
for wrong in "--where a" "--where nothing=1" "--columns nothing" "--partition id=1" \
    "--snapshot x" "--timestamp yesterday" "--begin 1" "--kinds" "--format hex" \
    "--snapshot 1 --tag early"; do
    # shellcheck disable=SC2086
    s 2 scan "$tables/pk_tags_avro.db/t" $wrong
    one_line
done
rows 1 5 a >a.csv
"$SINTER" ingest -q dir a.csv --key id:BIGINT
s 2 scan dir --where "id = 1"
has "$err" "--where is for tables; there is no schema/ in dir"

# an older snapshot that is no more
s 5 scan "$tables/pk_tags_avro.db/t" --snapshot 1
one_line
has "$err" "snapshot-1: snapshot 1 is expired; the oldest is 7"

# a stream of Arrow, read by Arrow's own reader
s 2 scan dir --format arrow
has "$err" "--format arrow is for tables"
SINTER_COLUMNAR_LIBRARY=$work/nothing.so s 3 scan "$t" --format arrow
one_line
has "$err" "nothing.so: can't be loaded"
: "${ARROW_PYTHON:=$PYTHON}"
if [ -n "${COLUMNAR_LIBRARY:-}" ] && "$ARROW_PYTHON" -c 'import pyarrow' 2>/dev/null; then
    export SINTER_COLUMNAR_LIBRARY=$COLUMNAR_LIBRARY
    "$SINTER" scan "$t" --format arrow --where "id < 6" >rows.arrows
    "$SINTER" scan "$t" --where "id < 6" >rows.jsonl
    "$ARROW_PYTHON" - rows.arrows rows.jsonl <<'PYTHON'
import json
import sys

import pyarrow

table = pyarrow.ipc.open_stream(sys.argv[1]).read_all()
table.validate(full=True)
rows = [{name: str(value) if name == "dt" else value for name, value in row.items()}
        for row in table.to_pylist()]
with open(sys.argv[2], encoding="utf-8") as lines:
    expected = [json.loads(line) for line in lines]
assert rows == expected and len(rows) > 10, (rows[:3], expected[:3])
PYTHON
    "$SINTER" scan "$tables/pk_types_avro.db/t" --format arrow --limit 0 >rows.arrows
    "$ARROW_PYTHON" -c 'import pyarrow, sys
assert pyarrow.ipc.open_stream(sys.argv[1]).read_all().num_rows == 0' rows.arrows
fi

# a text that is no UTF-8: file, row and column are told, whatever the format and the type (pages of
# Parquet have a checksum, which tells first)
bad_text() {
    local file
    rm -rf bad
    s 0 create bad --columns "id BIGINT, v $2" -o file.format="$1" -o file.compression=none
    s 0 write -q bad "$3"
    file=$(find bad -name "data-*.$1")
    "$PYTHON" - "$file" <<'PYTHON'
import sys
data = open(sys.argv[1], "rb").read()
assert b"spoilt" in data
open(sys.argv[1], "wb").write(data.replace(b"spoilt", b"spo\xfflt"))
PYTHON
    s 3 scan bad --json
    one_line
    has "$err" "$file: row 2, column \"v\": a text that is no UTF-8"
    s 3 verify bad
    has "$err" "$file: row 2, column \"v\": a text that is no UTF-8"
}
printf '{"id":1,"v":"a"}\n{"id":2,"v":"b"}\n{"id":3,"v":"spoilt"}\n' >texts.jsonl
printf '{"id":1,"v":["a"]}\n{"id":2,"v":null}\n{"id":3,"v":["b","spoilt"]}\n' >nests.jsonl
formats="avro"
[ -z "${COLUMNAR_LIBRARY:-}" ] || formats="avro orc"
export SINTER_COLUMNAR_LIBRARY=${COLUMNAR_LIBRARY:-}
for format in $formats; do
    bad_text "$format" STRING texts.jsonl
    s 0 scan bad --json --hex-strings
    bad_text "$format" "ARRAY<STRING>" nests.jsonl
done

# a column whose type isn't the file's to the last digit is no column of it
s 0 create own --columns "id BIGINT, t TIMESTAMP(3)" -o file.format=sst
printf '{"id":1,"t":null}\n' >own.jsonl
s 0 write -q own own.jsonl
sed -i 's/TIMESTAMP(3)/TIMESTAMP(6)/' own/schema/schema-0
s 3 scan own
one_line
has "$err" 'the file has no column "t" of type TIMESTAMP(6)'
