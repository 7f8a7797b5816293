. "$(dirname "$0")/lib.sh"

s 0 --version
has "$out" "sinter $(awk '/^project\(/ { match($0, /[0-9.]+/); print substr($0, RSTART, RLENGTH) }' \
    "$source_dir/CMakeLists.txt")"
has "$out" zstd
has "$out" "io: "
has "$out" "formats: sst (version "
has "$out" "codecs: none"
text=$out
s 0 version
same "$out" "$text"
s 0 -V
same "$out" "$text"

s 0 version --json
same "$(json 'd["formats"][0]["name"]' <<<"$out")" sst
same "$(json 'd["codecs"][0]' <<<"$out")" none
same "$(json '" ".join(d["libraries"]).count("zstd")' <<<"$out")" 1
s 0 version --json --io posix
same "$(json 'd["io"]' <<<"$out")" posix
s 2 version nothing
one_line
