. "$(dirname "$0")/lib.sh"

# a directory: one sorted run, the same view, old files kept for readers
make_dir dir
before=$(view dir)
cp -r dir copy
inputs=$(cd dir && sha256sum ./*.sst)
s 0 compact dir
has "$out" "rewritten"
has "$out" "overlap"
has "$out" "level  files before"
has "$out" "records: 2,052 in, 1,449 out"
has "$out" "files: 3 rewritten: overlap"
has "$out" "new files:"
same "$(view dir)" "$before"
(cd dir && sha256sum --quiet -c <<<"$inputs") || die "inputs changed"
s 0 inspect dir --json
same "$(json '[(l["level"], l["file_count"], l["row_count"], l["delete_row_count"]) for l in d["levels"]]' \
    <<<"$out")" '[[5, 1, 1449, 0]]'
same "$(json 'd["retired_count"], d["generation"] > 0' <<<"$out")" '[3, true]'

# once more there is nothing to do, unless it is forced
s 0 compact dir
same "$out" "nothing to do"
s 0 compact dir --json
same "$(json 'd["status"], d["before"], d["after"]' <<<"$out")" '["ok", [], []]'
s 0 compact dir --compaction.force-rewrite-all-files true --json
same "$(json 'len(d["before"]), len(d["after"]), d["files"][0]["reason"]["code"]' <<<"$out")" '[1, 1, "forced"]'
same "$(view dir)" "$before"
s 0 compact dir --quiet --compaction.force-rewrite-all-files true
same "$out$err" ""

# the result document
rm -rf dir && cp -r copy dir
s 0 compact dir --json --output-level 3 --target-file-size 8kb --file.compression none \
    --file.block-size 4kb
same "$(json 'd["format"], d["version"], d["status"], len(d["before"])' <<<"$out")" \
    '["sinter.result", 1, "ok", 3]'
[ "$(json 'len(d["after"])' <<<"$out")" -gt 1 ] || die "the target size was not obeyed"
same "$(json 'set(f["level"] for f in d["after"]) == {3}' <<<"$out")" true
counters='[d["counters"][n] for n in ("records_in", "records_out", "records_dropped")]'
same "$(json "(lambda n, m, dropped: n == m + sum(dropped.values()))(*$counters)" <<<"$out")" true
same "$(json '[f["action"] for f in d["files"]]' <<<"$out")" '["rewritten", "rewritten", "rewritten"]'
same "$(view dir)" "$before"
s 0 verify dir

# a rate: the same bytes, in the time that the rate asks for at least
rm -rf dir && cp -r copy dir
begin=$(date +%s%N)
s 0 compact dir --json --rate 40kb --file.compression none
took=$((($(date +%s%N) - begin) / 1000000))
size=$(json 'sum(f["file_size"] for f in d["after"])' <<<"$out")
[ "$took" -ge $((size * 1000 / 40960 - 100)) ] || die "$size bytes at 40 kb a second took $took ms"
[ "$size" -gt 20000 ] || die "too little to say: $size bytes"
same "$(view dir)" "$before"
s 2 compact dir --rate fast
one_line
has "$err" "option '--rate': \"fast\" is no size"

# what spilled runs may take, and where they go
make_dir many
"$SINTER" ingest -q many a.csv b.csv a.csv b.csv --per-file
many=$(view many)
mkdir spill
state_before=$(state many)
s 6 compact many --sort-spill-threshold 2 --spill-dir spill --spill-limit 1kb
one_line
has "$err" "spill files may take 1024 bytes"
has "$err" "raise sinter.spill-limit"
same "$(state many)" "$state_before"
same "$(ls -A spill)" ""
s 4 compact many --sort-spill-threshold 2 --spill-dir not-there
has "$err" "not-there"
s 2 compact many --spill-limit 0
one_line
has "$err" "option '--spill-limit'"
s 0 compact many --json --sort-spill-threshold 2 --spill-dir spill --spill-limit 1mb
[ "$(json 'd["counters"]["bytes_spilled"]' <<<"$out")" -gt 1024 ] || die "nothing was spilled"
same "$(view many)" "$many"

# new files are read back before the catalog names them
rm -rf dir && cp -r copy dir
s 0 compact dir --json --verify-output
same "$(json 'd["counters"]["bytes_verified"] == sum(f["file_size"] for f in d["after"])' <<<"$out")" true
same "$(json 'd["counters"]["files_by_reason"]["overlap"]' <<<"$out")" 3
same "$(view dir)" "$before"
rm -rf dir && cp -r copy dir
s 0 compact dir --verify-output
has "$out" "read back "

# deletes are kept on request, and can't go while something lies below
rm -rf dir && cp -r copy dir
s 0 compact dir --json --output-level 3 --drop-delete no
same "$(json 'd["after"][0]["delete_row_count"]' <<<"$out")" 51
same "$(view dir)" "$before"
s 0 compact dir --json --output-level 5 --drop-delete yes
same "$(json 'd["after"][0]["delete_row_count"]' <<<"$out")" 0
"$SINTER" ingest -q dir c.csv --deletes
s 2 compact dir --output-level 3 --drop-delete yes
has "$err" "would come back"

# a unit: checked against the other files
rm -rf dir && cp -r copy dir
names=$(json '[f["file_name"] for f in d["files"]]' <dir/CATALOG.json | tr -d '[] "')
oldest=${names%%,*}
s 0 compact dir --unit "$oldest" --output-level 4 --json
same "$(json '[(f["action"], f["reason"]["code"]) for f in d["files"]]' <<<"$out")" '[["upgraded", "small-alone"]]'
same "$(view dir)" "$before"
newest=${names##*,}
s 3 compact dir --unit "$newest" --output-level 3
one_line
has "$err" .sst
s 2 compact dir --unit nothing.sst
has "$err" "holds no file 'nothing.sst'"
s 2 compact dir --unit "$oldest" --full
s 2 compact dir --auto --full
has "$err" "exclude each other"

# what is due by the options: three runs of level 0 are none, or all that there is
rm -rf dir && cp -r copy dir
s 0 compact dir --auto
has "$out" "nothing to do: "
has "$out" "3 runs"
state_before=$(state dir)
s 0 plan dir --auto --num-sorted-run.compaction-trigger 2 --json
same "$(json 'd["output_level"], len(d["files"])' <<<"$out")" '[2, 3]'
same "$(state dir)" "$state_before"
s 0 compact dir --auto --num-sorted-run.compaction-trigger 2
has "$out" "rewritten"
same "$(view dir)" "$before"
s 0 compact dir --auto --num-sorted-run.compaction-trigger 2
has "$out" "nothing to do: "
s 2 compact dir --output-level 9
has "$err" "highest level is 5"
same "$(view dir)" "$before"

# a document: result on standard output, the state afterwards as the next document
rm -rf dir && cp -r copy dir
json '{"format": "sinter.files", "version": 1, "base_dir": "dir", "num_levels": 6,
    "key_types": ["BIGINT NOT NULL"], "row_type": d["row_type"],
    "files": [{"file_name": f["file_name"], "level": 0} for f in d["files"]]}' \
    <dir/CATALOG.json >files.json
same "$(view files.json)" "$before"
s 0 compact files.json --catalog-out after.json
same "$(json 'd["format"], len(d["before"]), len(d["after"])' <<<"$out")" '["sinter.result", 3, 1]'
same "$(view after.json)" "$before"
same "$(view files.json)" "$before"
s 0 compact files.json --result result.json
has "$out" "rewritten"
same "$(json 'd["status"]' <result.json)" ok
mkdir elsewhere && mv files.json elsewhere
s 4 compact elsewhere/files.json
s 0 compact elsewhere/files.json --base-dir dir

# a dry run changes no byte and no time
state_before=$(state dir)
s 0 compact dir --dry-run
has "$out" "to rewrite"
same "$(state dir)" "$state_before"

# first-row, min-heap, spilling, every codec, posix: the same view
for options in "--sort-engine min-heap" "--sort-spill-threshold 2" "--file.compression lz4" \
    "--file.compression zstd --file.compression.zstd-level 3" "--io posix" \
    "--sinter.filter.bits-per-key 10" "--memory 16mb" \
    "--threads 2 --target-file-size 1kb --file.block-size 256" \
    "--sinter.sub-compactions 4 --target-file-size 1kb" \
    "--sinter.sub-compactions 4 --target-file-size 1kb --io posix"; do
    rm -rf dir && cp -r copy dir
    # shellcheck disable=SC2086
    s 0 compact dir $options --quiet
    same "$(view dir)" "$before"
    s 0 verify dir --quiet
done
rm -rf dir && cp -r copy dir
s 3 compact dir --merge-engine first-row
one_line
same "$(view dir)" "$before"

# every run has a task id of its own, also one that fails or finds nothing to do
rm -rf dir && cp -r copy dir
uuid='[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
for n in 1 2; do
    s 0 compact dir --json
    json 'd["task_id"]' <<<"$out"
done >.ids
rm -rf dir && cp -r copy dir
printf 'X' | dd of="$(ls dir/*.sst | head -1)" bs=1 seek=100 conv=notrunc status=none
s 3 compact dir --json
json 'd["task_id"]' <<<"$out" >>.ids
same "$(grep -E "^$uuid\$" .ids | sort -u | wc -l)" 3
