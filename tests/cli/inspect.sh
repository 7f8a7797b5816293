. "$(dirname "$0")/lib.sh"

make_dir dir
s 0 inspect dir
has "$out" "3 files"
has "$out" "generation"
has "$out" "section 0: "
has "$out" "run 0"
has "$out" "["
has "$out" "]"
s 0 inspect dir --json
same "$(json 'd["format"], [l["file_count"] for l in d["levels"]], sum(len(r) for s in d["sections"] for r in s)' \
    <<<"$out")" '["sinter.levels", [3], 3]'

file=$(ls dir/*.sst | head -1)
s 0 inspect "$file"
has "$out" "records"
has "$out" "key types     BIGINT NOT NULL"
has "$out" "sequences"
has "$out" "largest block"
s 0 inspect "$file" --json
same "$(json '0 < d["largest_block_bytes"] < d["file_size"], d["largest_block_rows"] <= d["row_count"]' <<<"$out")" \
    '[true, true]'
s 0 inspect "$file" --blocks
has "$out" "keys raw > stored"
s 0 inspect "$file" --blocks --json
same "$(json 'd["format"], len(d["blocks"]) > 0' <<<"$out")" '["sinter.inspect", true]'

# several operands; a failure doesn't hide the others
s 4 inspect dir missing.sst "$file"
has "$err" "missing.sst"
has "$out" "key types"
s 0 inspect dir --sections 0
has "$out" "more section"
