. "$(dirname "$0")/lib.sh"

make_dir dir
s 0 get dir 500
same "$out" '{"id":500,"name":"second 500"}'
s 0 get dir 1 --format csv
same "$out" '1,first 1'
s 0 get dir hex:8000000000000001
same "$out" '{"id":1,"name":"first 1"}'
s 7 get dir 1400
same "$out$err" ""
s 0 get dir 1400 --deletes
has "$out" '"_kind":"-D"'
s 7 get dir 0
s 7 get dir -- -1
s 2 get dir -1
has "$err" "put -- before"
s 2 get dir x
one_line
s 2 get dir 1 2
s 2 get dir
s 4 get missing 1

printf 'a,b,v\n-1,x,1\n2,"y,z",2\n' >m.csv
s 0 ingest -q multi m.csv --key a:INT,b
s 0 get multi -- -1 x
same "$out" '{"a":-1,"b":"x","v":"1"}'
s 0 get multi 2 y,z
same "$out" '{"a":2,"b":"y,z","v":"2"}'
s 0 get multi 2,y,z
same "$out" '{"a":2,"b":"y,z","v":"2"}'
s 7 get multi 2 x

# files whose keys don't span the key are not opened, filters save blocks
for n in 1 2 3; do
    rows $((n * 1000)) $((n * 1000 + 900)) "$n" | grep -v '0,' >g.csv
    s 0 ingest -q filtered g.csv --key id:BIGINT --sinter.filter.bits-per-key 30
done
s 0 get filtered 2001 -v
same "$out" '{"id":2001,"name":"2 2001"}'
has "$err" "files outside of the keys 2, opened 1, of these left by index or filter 0; blocks read 1,"
s 7 get filtered 2010 -v
has "$err" "files outside of the keys 2, opened 1, of these left by index or filter 1; blocks read 0, records 0"
s 7 get filtered 9999 -v
has "$err" "files outside of the keys 3, opened 0,"

# really not opened: the other files aren't even there
cp -r filtered gone
others='" ".join(f["file_name"] for f in d["files"] if not f["min_key"].endswith("7d1"))' # 2001
for name in $(json "$others" <gone/CATALOG.json); do
    rm "gone/$name"
done
same "$(ls gone/*.sst | wc -l)" 1
s 0 get gone 2001
same "$out" '{"id":2001,"name":"2 2001"}'
s 4 get gone 1001
has "$err" "No such file"

# one file alone
file=$(json '"filtered/" + d["files"][0]["file_name"]' <filtered/CATALOG.json)
s 0 get "$file" 1001
same "$out" '{"id":1001,"name":"1 1001"}'
s 7 get "$file" 1010 -v
has "$err" "blocks read 0"
s 4 get none.sst 1
one_line
cp m.csv odd.sst
s 3 get odd.sst 1
has "$err" "odd.sst"
