. "$(dirname "$0")/lib.sh"

make_dir dir
state_before=$(state dir)
s 0 plan dir
has "$out" "3 files to level 5 of 5 (full: "
has "$out" "deletes are left out"
hasnt "$out" "section 0"
s 0 plan dir --explain
has "$out" "section 0: 2 runs"
has "$out" "overlap: "
s 0 plan dir --json
same "$(json 'd["format"], d["output_level"], d["drop_delete"]' <<<"$out")" '["sinter.plan", 5, true]'
same "$(json 'sum(d["files_by_reason"].values()), d["files_by_reason"]["overlap"]' <<<"$out")" '[3, 3]'
s 0 plan dir
has "$out" "files: 3 rewritten: overlap"
s 0 plan dir --output-level 2 --drop-delete no --json
same "$(json 'd["output_level"], d["drop_delete"]' <<<"$out")" '[2, false]'
same "$(state dir)" "$state_before"
s 0 compact -q dir
s 0 plan dir
same "$out" "nothing to do"
s 0 plan dir --json
same "$(json 'd["format"]' <<<"$out")" sinter.plan
