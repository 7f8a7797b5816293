. "$(dirname "$0")/lib.sh"
# A damaged file: what is intact is copied, what is lost is listed, the file stays as it is.

rows 1 1000 first >a.csv
s 0 ingest -q dir a.csv --key id:BIGINT --file.block-size 1kb
cp dir/*.sst good.sst
cp good.sst bad.sst

s 0 rescue bad.sst --out whole
has "$out" "1,000 of 1,000 records copied to whole/bad.sst"
same "$("$SINTER" scan --format json whole/bad.sst)" "$("$SINTER" scan --format json good.sst)"
s 4 rescue bad.sst --out whole
one_line

# a byte in the middle of a block
"$PYTHON" -c '
data = bytearray(open("good.sst", "rb").read())
data[200] ^= 1
open("bad.sst", "wb").write(data)
open("cut.sst", "wb").write(data[:-1])'
before=$(sha256sum bad.sst cut.sst)
s 3 verify bad.sst
s 3 rescue bad.sst --out part
has "$out" "lost: "
has "$out" " of 1,000 records copied to part/bad.sst"
s 0 verify part/bad.sst
s 3 rescue bad.sst --out json --json
same "$(json 'd["format"], d["complete"], len(d["lost"]), d["rows_copied"] + d["rows_lost"]' <<<"$out")" \
    '["sinter.rescue", false, 1, 1000]'
same "$(json 'd["lost"][0]["row_count"] == d["rows_lost"] and d["lost"][0]["offset"] <= 200 < d["lost"][0]["offset"] + d["lost"][0]["bytes"]' <<<"$out")" true

# without a footer the blocks are looked for, and the types come from another file
s 3 rescue cut.sst --out cut --like good.sst
has "$out" "how many there were isn't known"
has "$out" "the index could not be used"
same "$("$SINTER" scan --format json cut/cut.sst)" "$("$SINTER" scan --format json part/bad.sst)"
s 3 rescue cut.sst --out untyped --json
same "$(json 'd["types_known"], d["rows_lost"], d["index_fault"] != None' <<<"$out")" '[false, null, true]'

same "$(sha256sum bad.sst cut.sst)" "$before"
s 2 rescue bad.sst
has "$err" "option '--out' is missing"
s 4 rescue not-there.sst --out none
one_line
has "$err" "not-there.sst"
