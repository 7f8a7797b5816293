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
