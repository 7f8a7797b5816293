. "$(dirname "$0")/lib.sh"
# Codecs that this build lacks, or that nobody knows yet: told by name, and nothing is touched.
# SINTER_PLAIN is the program without lz4.
plain=$SINTER_TOOLS/sinter_without_lz4

run 0 "$plain" version --json
same "$(json '"lz4" in d["codecs"]' <<<"$out")" false

# refused CODE TEXT PROGRAM ARGUMENTS...: fails in one line and changes nothing
refused() {
    local code=$1 text=$2 before
    shift 2
    before=$(state dir)
    run "$code" "$@"
    one_line
    has "$err" "$text"
    same "$(state dir)" "$before"
}

rows 1 500 first >a.csv
rows 400 900 second >b.csv
s 0 version --json
has_lz4=$(json '"lz4" in d["codecs"]' <<<"$out")
if [ "$has_lz4" = true ]; then
    s 0 ingest -q dir a.csv b.csv --per-file --key id:BIGINT --file.compression lz4
    file=$(json 'd["files"][0]["file_name"]' <dir/CATALOG.json)
    for verb in compact scan plan verify; do
        before=$(state dir)
        run 3 "$plain" "$verb" dir
        has "$err" "codec lz4 is not built in"
        has "$err" "$file"
        same "$(state dir)" "$before"
    done
    refused 3 "codec lz4 is not built in" "$plain" inspect "dir/$file"
    run 3 "$plain" scan dir --json
    same "$(json 'd["error"]["status"]' <<<"$out")" E_UNSUPPORTED
    rm -rf dir
fi

# asked for by an option
run 0 "$plain" ingest -q dir a.csv b.csv --per-file --key id:BIGINT
before=$(view dir)
refused 3 "codec lz4 is not built in" "$plain" compact dir --file.compression lz4
refused 3 "codec lz4 is not built in" "$plain" ingest dir a.csv --file.compression lz4
refused 2 "file.compression" "$SINTER" compact dir --file.compression snappy
same "$(view dir)" "$before"

# named by a file
file=$(json 'd["files"][0]["file_name"]' <dir/CATALOG.json)
"$SINTER_TOOLS/change_codec" "dir/$file" 9
for verb in compact scan verify; do
    refused_state=$(state dir)
    s 3 "$verb" dir
    has "$err" "codec number 9 is not known"
    has "$err" "$file"
    same "$(state dir)" "$refused_state"
done
refused 3 "codec number 9 is not known" "$SINTER" get "dir/$file" 1
