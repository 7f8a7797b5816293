. "$(dirname "$0")/lib.sh"

# columns on the command line
s 0 create w/a.db/t --columns "id BIGINT, dt STRING, v DECIMAL(10, 2) COMMENT 'x'" --primary-key dt,id \
    --partition-by dt -o bucket=2 -o file.format=avro --comment hi
has "$out" "made, 3 columns, with a primary key, avro files"
same "$(json '[d["version"], d["id"], d["highestFieldId"], d["partitionKeys"], d["primaryKeys"], d["options"], d["comment"]]' \
    < <("$PYTHON" -c 'import json; print(json.dumps(json.load(open("w/a.db/t/schema/schema-0"))))'))" \
    '[3, 0, 2, ["dt"], ["dt", "id"], {"bucket": "2", "file.format": "avro"}, "hi"]'
has "$(cat w/a.db/t/schema/schema-0)" '"BIGINT NOT NULL"'
before=$(state w)

# a table that is there is left alone
s 4 create w/a.db/t --columns "a INT"
has "$err" "there is a table already"
same "$(state w)" "$before"

# a schema file of a table makes another one; options of the command line go first
s 0 create file:w/a.db/copy --schema w/a.db/t/schema/schema-0 -o bucket=3 --json
same "$(json '[d["schema_id"], d["column_count"], d["file_format"]]' <<<"$out")" '[0, 3, "avro"]'
has "$(cat w/a.db/copy/schema/schema-0)" '"bucket": "3"'
run 0 sh -c '"$SINTER" create w/a.db/in -s - <w/a.db/t/schema/schema-0 -q'
same "$out$err" ""
before=$(state w)

# what can't be is refused in one line, and leaves nothing
refused() {
    local code=$1 word=$2
    shift 2
    s "$code" create w/a.db/new "$@"
    one_line
    has "$err" "$word"
    same "$(state w)" "$before"
    [ ! -e w/a.db/new ] || die "w/a.db/new is there"
}
refused 2 "one of --schema and --columns"
refused 2 "one of --schema and --columns" --columns "a INT" --schema x
refused 2 "no type has this name" --columns "a FOO"
refused 2 "are named" --columns "a INT, a INT" --primary-key a
refused 2 "KEY=VALUE" --columns "a INT" -o bucket
refused 2 '"z"' --columns "a INT" --primary-key z
refused 2 "rowkind" --columns "rowkind INT"
refused 2 "bucket-key" --columns "a INT" -o bucket=2
refused 3 "TIMESTAMP(9)" --columns "a TIMESTAMP(9)" -o file.format=avro
refused 4 "none.json" --schema none.json
echo '{"fields":[{"name":"a","type":"NO"}]}' >bad.json
refused 3 "fields[0].type" --schema bad.json
s 3 create s3://w/a --columns "a INT"
has "$err" s3
