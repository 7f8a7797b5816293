. "$(dirname "$0")/lib.sh"

make_dir dir
s 0 scan dir --count
same "$out" 1449
s 0 scan dir --count --json
same "$(json 'd["count"]' <<<"$out")" 1449
same "$(view dir | wc -l)" 1449

# ranges: begin inclusive, end exclusive, as typed text or as encoded bytes
s 0 scan dir --begin 499 --end 501
same "$out" '{"id":499,"name":"first 499"}
{"id":500,"name":"second 500"}'
s 0 scan dir --begin hex:80000000000001f3 --end hex:80000000000001f5
same "$out" '{"id":499,"name":"first 499"}
{"id":500,"name":"second 500"}'
s 0 scan dir --begin 1399 --limit 2
same "$out" '{"id":1399,"name":"second 1399"}
{"id":1451,"name":"second 1451"}'
s 0 scan dir --begin -5 --end 2 --count
same "$out" 1
s 0 scan dir --begin 2000 --count
same "$out" 0
s 0 scan dir --limit 0
same "$out" ""
s 2 scan dir --begin x
one_line
s 2 scan dir --begin hex:0
s 2 scan dir --begin hex:zz

# formats
s 0 scan dir --limit 1 --format csv
same "$out" 'id,name
1,first 1'
s 0 scan dir --limit 1 --format tsv --no-header --columns name,id
same "$out" $'first 1\t1'
s 0 scan dir --limit 1 --format table
has "$out" id
has "$out" "first 1"
s 0 scan dir --limit 1 --format hex --no-header
has "$out" 8000000000000001
s 0 scan dir --begin 1399 --limit 2 --deletes --json
same "$(json '[r["_kind"] for r in all]' <<<"$out")" '["+I", "-D"]'
s 0 scan dir --limit 1 --kinds --format csv
has "$out" "+I"
s 2 scan dir --columns nothing
has "$err" "there is no column 'nothing'"

# the same rows with every io backend, engine and a budget that spills
all=$("$SINTER" scan dir | sha256sum)
same "$("$SINTER" scan dir --io posix | sha256sum)" "$all"
same "$("$SINTER" scan dir --sort-engine min-heap | sha256sum)" "$all"
same "$("$SINTER" scan dir --sort-spill-threshold 2 | sha256sum)" "$all"

# nothing is written
before=$(state dir)
s 0 scan dir --sort-spill-threshold 2
same "$(state dir)" "$before"

s 4 scan missing
one_line
has "$err" missing
s 4 scan dir/a/b

# one file alone: its records, deletes on request
rows 1 20 one >a.csv
s 0 ingest -q alone a.csv --key id:BIGINT
rows 5 8 gone >b.csv
s 0 ingest -q alone b.csv --deletes
for file in alone/*.sst; do
    "$SINTER" scan "$file" --deletes
done >.files
same "$(wc -l <.files)" 24
same "$(grep -c '"_kind":"-D"' .files)" 4
s 0 scan alone --count
same "$out" 16
s 0 scan "$(ls alone/*.sst | head -1)" --count --json
has "$out" '"count":'
s 0 scan "$(ls -S alone/*.sst | head -1)" --begin 3 --end 5 --format csv --no-header
same "$out" "3,one 3
4,one 4"
s 4 scan none.sst
one_line

# a document is known by what is in it, whatever its name
cp alone/CATALOG.json alone/listing
s 0 scan alone/listing --count
same "$out" 16
s 0 get alone/listing 3
s 0 inspect alone/listing
has "$out" "section 0"
s 0 verify alone/listing
