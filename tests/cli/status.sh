. "$(dirname "$0")/lib.sh"

make_dir dir
state_before=$(state dir)
s 0 status dir
has "$out" "sorted runs"
has "$out" "none that left a file"
same "$(state dir)" "$state_before"
files=$(ls dir/*.sst | wc -l)
s 0 status dir --json
same "$(json 'len(all), d["format"], d["run_count"], d["level0_file_count"], d["file_count"]' <<<"$out")" \
    "[1, \"sinter.status\", $files, $files, $files]"
same "$(json 'd["compaction_trigger"], d["backlog_percent"]' <<<"$out")" "[5, $((files * 20))]"
same "$(json '"last_compaction_ms" in d, "space_amplification_percent" in d' <<<"$out")" '[false, false]'
same "$(json 'd["unlisted_count"], d["temporary_count"], d["retired_count"]' <<<"$out")" '[0, 0, 0]'
same "$(json 'd["levels"][0]["row_count"] == d["row_count"] > 0' <<<"$out")" true

# what is due, and by which rule; the same as plan --auto says
s 0 status dir --json --num-sorted-run.compaction-trigger 2
same "$(json 'd["next"]["rule"] != "none", len(d["next"]["files"]) > 1, d["compaction_trigger"]' <<<"$out")" \
    '[true, true, 2]'
rule=$(json 'd["next"]["rule"]' <<<"$out")
s 0 plan dir --auto --num-sorted-run.compaction-trigger 2
has "$out" "$(tr -d '"' <<<"$rule"):"
s 0 status dir --num-sorted-run.compaction-trigger 2
has "$out" "$(tr -d '"' <<<"$rule")"

# after a compaction: when, and nothing is due
s 0 compact -q dir
s 0 status dir --json
same "$(json 'd["run_count"], d["level0_file_count"], d["backlog_percent"], d["next"]["files"]' <<<"$out")" \
    '[1, 0, 0, []]'
same "$(json 'd["last_compaction_ms"] > 1500000000000, d["space_amplification_percent"]' <<<"$out")" \
    '[true, 100]'
same "$(json 'd["retired_count"] > 0' <<<"$out")" true

# what dead runs left is counted, and nothing else
orphan=$(basename "$(ls dir/*.sst | head -1)" | sed 's/[0-9a-f]\{8\}-/00000000-/')
printf 12345 >"dir/$orphan"
touch dir/.0000.sinter-tmp dir/notes.txt dir/mine.sst
s 0 status dir --json
same "$(json 'd["unlisted_count"], d["unlisted_size"], d["temporary_count"]' <<<"$out")" '[1, 5, 1]'
s 0 status dir
has "$out" "1 not in the catalog (5B), 1 temporary"

# documents, several at once, failures
s 0 status --json dir/CATALOG.json dir
same "$(json 'len(all), "unlisted_count" in all[0], all[0]["run_count"]' <<<"$out")" '[2, false, 1]'
s 4 status missing dir
has "$out" "sorted runs"
one_line
s 2 status
