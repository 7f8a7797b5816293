. "$(dirname "$0")/lib.sh"

# CSV with types; later rows win
printf 'id,name,price,day\n3,c,1.50,2024-02-29\n1,"a, ""quoted""",,\n2,b,0.01,1970-01-01\n1,again,7.00,2000-01-01\n' >a.csv
s 0 ingest dir a.csv --key id:INT --types 'price:DECIMAL(10, 2),day:DATE'
has "$out" "4 records in, 3 written to 1 level-0 file"
same "$(view dir)" '{"id":1,"name":"again","price":"7.00","day":"2000-01-01"}
{"id":2,"name":"b","price":"0.01","day":"1970-01-01"}
{"id":3,"name":"c","price":"1.50","day":"2024-02-29"}'

# TSV from standard input, the same columns stated again
printf 'id\tname\tprice\tday\n9\tz\t\t\n' >b.tsv
"$SINTER" ingest dir - --key id --types 'price:DECIMAL(10,2)' <b.tsv >.out || die "tsv from stdin"
has "$(cat .out)" "1 records in"
has "$(view dir)" '{"id":9,"name":"z","price":null,"day":null}'

# JSON lines, kinds by a column of the input
cat >c.jsonl <<'END'
{"id":1,"op":"delete"}
{"id":2,"name":"bb","price":2,"op":"U"}
{"id":4,"name":"d","op":""}
{"id":5,"name":"e"}
{"id":9,"op":"-D"}
END
s 0 ingest dir c.jsonl --kind-column op --json
same "$(json 'd["rows_in"], d["rows_retract"], d["file_count"]' <<<"$out")" '[5, 2, 1]'
same "$(view dir)" '{"id":2,"name":"bb","price":"2.00","day":null}
{"id":3,"name":"c","price":"1.50","day":"2024-02-29"}
{"id":4,"name":"d","price":null,"day":null}
{"id":5,"name":"e","price":null,"day":null}'

# _kind is taken when it is there; --deletes needs the key alone
printf '_kind,id,name\n-D,2,\n+I,6,f\n' >d.csv
s 0 ingest dir d.csv
printf 'id\n3\n4\n' | "$SINTER" ingest -q dir --deletes --format csv
same "$(view dir)" '{"id":5,"name":"e","price":null,"day":null}
{"id":6,"name":"f","price":null,"day":null}'

# a small buffer gives several files that overlap, one input file each with --per-file
rows 1 5000 x >e.csv
s 0 ingest over e.csv --key id:BIGINT --buffer-rows 1000 --json
same "$(json 'd["file_count"]' <<<"$out")" 5
s 0 ingest over e.csv --buffer 64kb --json
[ "$(json 'd["file_count"]' <<<"$out")" -gt 1 ] || die "--buffer 64kb gave one file"
before=$(state over)
s 0 ingest per e.csv e.csv --key id:INT --per-file --json
same "$(json 'd["file_count"]' <<<"$out")" 2

# options by key are kept in the catalog
s 0 ingest kept e.csv --key id:INT --num-levels 4 -o file.compression=none
same "$(json 'd["options"]["num-levels"], d["options"]["file.compression"]' <kept/CATALOG.json)" \
    '["4", "none"]'

# a dry run changes nothing, and makes nothing
s 0 ingest over e.csv --dry-run
has "$out" "5,000 records would be ingested"
same "$(state over)" "$before"
s 0 ingest new e.csv --key id:INT --dry-run
[ ! -e new ] || die "a dry run made a directory"

# what is wrong is told with line and column; nothing is left of a failed first ingest
s 2 ingest new e.csv
has "$err" "name the key columns with --key"
s 2 ingest new e.csv --key nothing
has "$err" "there is no column 'nothing'"
s 2 ingest new e.csv --key id:NUMBER
one_line
has "$err" "NUMBER"
s 2 ingest new e.csv --key id --types nme:INT
has "$err" "there is no column 'nme'"
s 2 ingest new e.csv --key id,id
has "$err" "given twice"
printf 'id,name\n1,a\n2,b\nx,c\n' >bad.csv
s 3 ingest new bad.csv --key id:INT
one_line
has "$err" "bad.csv"
has "$err" "4"
has "$err" "id"
[ ! -e new ] || die "a failed first ingest left a directory"
mkdir old
s 3 ingest old bad.csv --key id:INT
same "$(ls -A old)" ""
s 3 ingest over bad.csv
same "$(state over)" "$before"
printf 'id,name\n1\n' >short.csv
s 3 ingest over short.csv
has "$err" "short.csv"
printf '{"id":1,"nmae":"x"}\n' >unknown.jsonl
s 3 ingest over unknown.jsonl
has "$err" nmae
printf 'id,op\n1,what\n' >kind.csv
s 3 ingest over kind.csv --kind-column op
has "$err" "line 2"
has "$err" "'what' is no kind"
printf '' >nothing.csv
s 3 ingest new nothing.csv --key id:INT
has "$err" "nothing.csv"
s 4 ingest over missing.csv
one_line
has "$err" "No such file"
s 4 ingest over old
has "$err" "directory"
same "$(state over)" "$before"

# stating something else than the catalog has
s 2 ingest over e.csv --key name
has "$err" "--key"
s 2 ingest over e.csv --types id:INT
has "$err" "is BIGINT in the catalog of over, not INT"

# keys of several columns, null and negative
printf 'a,b,v\n-1,x,1\n2,"",2\n-1,w,3\n' >m.csv
s 0 ingest multi m.csv --key a:INT,b
same "$(view multi)" '{"a":-1,"b":"w","v":"3"}
{"a":-1,"b":"x","v":"1"}
{"a":2,"b":"","v":"2"}'
printf 'a,b,v\n,x,1\n' >null.csv
s 3 ingest multi null.csv
has "$err" "a"

# nested columns: JSON in lines and in cells; never a key
printf '{"id":1,"l":[1,null],"m":[["b",1],["a",2]],"r":{"x":1.50}}\n{"id":2}\n' >nested.jsonl
s 0 ingest nested nested.jsonl --key id:INT \
  --types 'l:ARRAY<INT>,m:MAP<STRING, INT>,r:ROW<x DECIMAL(5, 2), y BYTES>'
nested_rows='{"id":1,"l":[1,null],"m":[["a",2],["b",1]],"r":{"x":"1.50","y":null}}
{"id":2,"l":null,"m":null,"r":null}'
same "$(view nested)" "$nested_rows"
s 0 scan nested --format csv
printf '%s\n' "$out" >nested.csv
s 0 ingest cells nested.csv --key id:INT \
  --types 'l:ARRAY<INT>,m:MAP<STRING, INT>,r:ROW<x DECIMAL(5, 2), y BYTES>'
same "$(view cells)" "$nested_rows"
s 2 ingest nested nested.csv --types 'l:ARRAY<BIGINT>'
has "$err" "is ARRAY<INT> in the catalog of nested, not ARRAY<BIGINT>"
s 3 ingest keyed nested.csv --key 'l:ARRAY<INT>'
has "$err" "ARRAY can't be a key"
