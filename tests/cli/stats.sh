. "$(dirname "$0")/lib.sh"

s 0 create t --columns "id BIGINT, p INT, v STRING" --primary-key p,id --partition-by p -o bucket=1 -o file.format=avro
s 0 stats t
has "$out" "0 files in 0 buckets"
has "$out" "gain nothing"
printf '{"id":1,"p":1}\n{"id":2,"p":2}\n' >a.jsonl
printf '{"_kind":"-D","id":1,"p":1}\n' >b.jsonl
s 0 write -q t a.jsonl
s 0 write -q t b.jsonl
s 0 stats t
has "$out" "t: 3 files in 2 buckets, 3 rows"
has "$out" "below 64KB"
has "$out" "read amplification: 1.5 sorted runs a bucket, 2 at most"
has "$out" "nothing was compacted so far"
has "$out" "leave 2 files instead of 3"
s 0 stats t --json
same "$(json '[d["bucket_count"], d["file_count"], d["sorted_run_count"], d["max_sorted_run_count"], d["deleted_row_count"], d["file_count_after"], d["file_sizes"][0]["file_count"]]' <<<"$out")" \
    '[2, 3, 3, 2, 1, 2, 3]'
same "$(json '[[b["partition"], b["bucket"], b["file_count"], b["level0_file_count"], b["sorted_run_count"]] for b in d["buckets"]]' <<<"$out")" \
    '[["p=1", 0, 2, 2, 2], ["p=2", 0, 1, 1, 1]]'
s 0 stats t --snapshot 1 --json
same "$(json 'd["file_count"]' <<<"$out")" 2

# without a key small files count
s 0 create a --columns "id BIGINT" -o file.format=avro
for i in 1 2 3; do
    echo "{\"id\":$i}" >a.jsonl
    s 0 write -q a a.jsonl
done
s 0 stats a --buckets
hasnt "$out" "amplification"
has "$out" "leave 1 files instead of 3"

s 4 stats nowhere
one_line
s 4 stats t --snapshot 9
one_line
