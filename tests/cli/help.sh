. "$(dirname "$0")/lib.sh"

verbs="ingest compact plan scan get inspect verify gc options version"

# help names every verb, a verb's help every option that completion knows
s 0 --help
help=$out
for verb in $verbs; do
    has "$help" "  $verb "
    s 0 "$verb" --help
    has "$out" "Usage: sinter $verb"
    has "$out" "Examples:"
    has "$out" "--help"
    text=$out
    s 0 help "$verb"
    same "$out" "$text"
    s 0 "$verb" -h
    same "$out" "$text"
    [ -f "$source_dir/man/sinter-$verb.1" ] || die "no man page of $verb"
done
has "$help" "Exit codes:"
s 0 help
same "$out" "$help"
s 2
[ -z "$out" ] || die "help of wrong usage belongs on standard error"

# man pages and completions are those of the tables
mkdir -p made/man made/completions made/docs
"$SINTER_GEN_DOCS" made
for kind in man completions docs; do
    for file in made/$kind/*; do
        cmp -s "$file" "$source_dir/$kind/$(basename "$file")" ||
            die "$kind/$(basename "$file") is out of date: build the target cli_docs"
    done
done
if command -v groff >/dev/null; then
    warnings=$(groff -man -Tutf8 -ww -z "$source_dir"/man/sinter*.1 2>&1) || die "$warnings"
    [ -z "$warnings" ] || die "$warnings"
fi
complete_word() {
    bash -c '. "$1"; COMP_WORDS=(sinter "${@:2}"); COMP_CWORD=$(($# - 1)); _sinter; echo "${COMPREPLY[*]}"' \
        bash "$source_dir/completions/sinter.bash" "$@"
}
same "$(complete_word comp)" compact
same "$(complete_word scan --lim)" --limit
same "$(complete_word compact --io po)" posix
has "$(complete_word compact --sort-e)" --sort-engine

# wrong usage: one line, exit code 2, the nearest name
s 2 compct x
one_line
has "$err" "did you mean 'compact'?"
s 2 frobnicate
has "$err" "unknown verb 'frobnicate'"
s 2 scan --limt 3 x
one_line
has "$err" "did you mean '--limit'?"
s 2 scan x --limit=
has "$err" "--limit"
s 2 scan x --limit 1x
has "$err" "needs a number"
s 2 scan x --limit -1
has "$err" "needs a number"
s 2 scan x --limit 99999999999999999999
s 2 scan x --limit
has "$err" "needs a value"
s 2 scan x --json=yes
has "$err" "takes no value"
s 2 scan x -Z
has "$err" "unknown option '-Z'"
s 2 scan -Zj x
has "$err" "unknown option '-Z'"
s 2 scan x --format xml
has "$err" "auto|json|csv|tsv|table|hex"
s 2 scan
has "$err" "too few operands"
s 2 scan x y
has "$err" "one operand too many, 'y'"
s 2 compact x --d
has "$err" "'--dry-run'"
has "$err" "'--drop-delete'"

# an option by its key: the nearest known one is named
mkdir empty
rows 1 2 x >two.csv
s 0 ingest -q dir two.csv --key id:INT
s 2 compact dir --target-file-sise 1mb
has "$err" "did you mean '--target-file-size'?"
s 2 compact dir -o target-file-sise=1mb
one_line
has "$err" "target-file-size"
s 2 compact dir -o target-file-size
has "$err" "KEY=VALUE"
s 2 compact dir --target-file-size lots
one_line
has "$err" lots
s 2 compact dir -o sort-spill-threshold=1
one_line
s 2 compact dir --memory nothing
one_line

# the options are listed with their defaults
s 0 options
has "$out" "target-file-size"
has "$out" "loser-tree"
s 0 options --json
same "$(json '[o["default"] for o in all if o["key"] == "num-sorted-run.compaction-trigger"]' <<<"$out")" '["5"]'
