. "$(dirname "$0")/lib.sh"

# a copy of a table that Paimon made: Avro, two buckets, five runs in each
copy() {
    rm -rf "$1"
    cp -r "$source_dir/tests/data/tables/oracle/pk_dedup_l0_avro.db" "$1"
    chmod -R u+w "$1"
}
rows() {
    "$SINTER" scan "$1/t" --json | sort
}
snapshots() {
    find "$1/t/snapshot" -name 'snapshot-*' | wc -l
}

copy a
all=$(rows a)
count=$(snapshots a)

# what would be done, for people and for machines; nothing is written
before=$(state a)
s 0 compact a/t --full --dry-run
has "$out" "all files of the bucket"
s 0 plan a/t --full
same "$(wc -l <<<"$out")" 2
same "$(json 'all[0]["format"]' <<<"$out")" sinter.task
s 0 plan a/t --full --bucket 1 --explain
hasnt "$out" "sinter.task"
s 0 plan a/t --full --max-tasks 1
same "$(wc -l <<<"$out")" 1
same "$(state a)" "$before"

# one command
s 0 compact a/t --full
has "$out" "10 files became 2"
same "$(rows a)" "$all"
same "$(snapshots a)" $((count + 1))
s 8 compact a/t --full
has "$out" "nothing to do"
s 8 plan a/t --full
same "$(snapshots a)" $((count + 1))

# what means nothing is refused, on both sides
copy e
before=$(state e)
for option in "--result r.json" "--catalog-out c.json" "--base-dir e" "--unit x" "--output-level 3" "--max-level 4" \
    "--drop-delete yes" "--spill-limit 1gb" --verify-output "--bucket 2147483648"; do
    # shellcheck disable=SC2086 # an option and its value
    s 2 compact e/t --full $option
    has "$err" "${option%% *}"
done
s 2 plan e/t --full --unit x
has "$err" "--unit is not for tables"
same "$(state e)" "$before"
mkdir f
printf 'k\n1\n' | "$SINTER" ingest f - --key k
for option in "--partition a=1" "--bucket 1" "--max-tasks 1" "--commit-user u" "--branch b"; do
    # shellcheck disable=SC2086
    s 2 compact f $option
    has "$err" "${option%% *} is for tables"
done
s 2 plan f --max-task-size 1mb
has "$err" "--max-task-size is for tables"

# three steps, anywhere: what was committed once is committed once
copy b
mv b elsewhere
ln -s elsewhere b
"$SINTER" plan b/t --full >tasks.jsonl
s 0 run tasks.jsonl --base-dir elsewhere/t
cp .out results.jsonl
same "$(json '[r["status"] for r in all]' <results.jsonl)" '["ok", "ok"]'
s 0 commit b/t results.jsonl
has "$out" "10 files became 2"
same "$(rows b)" "$all"
s 0 commit b/t results.jsonl --json
same "$(json 'd["was_done"]' <<<"$out")" true
same "$(snapshots b)" $((count + 1))
same "$(rows b)" "$all"

# a bucket in parts by key range, each run by itself; their results are one snapshot or none
copy d
"$SINTER" plan d/t --full --bucket 0 --max-task-size 1kb >parts.jsonl
same "$(json 'len(set(t["task_id"] for t in all)), len(all) > 2, all[0]["range"]["begin_key"]' \
    <parts.jsonl)" '[1, true, null]'
s 2 plan d/t --max-task-size 0
s 2 plan d/t -o target-file-size
has "$err" "KEY=VALUE"
split -l 1 parts.jsonl part.
for part in part.*; do
    "$SINTER" run "$part" >>parts-done.jsonl
done
before=$(state d)
head -n -1 parts-done.jsonl >parts-some.jsonl
s 2 commit d/t parts-some.jsonl
has "$err" "lack the part that begins with key"
one_line
same "$(state d)" "$before"
s 0 commit d/t parts-done.jsonl
same "$(rows d)" "$all"
s 0 verify d/t

# deletion vectors are compared with what every part read, not the first one alone
if [ -n "${COLUMNAR_LIBRARY:-}" ]; then
    cp -r "$source_dir/tests/data/tables/oracle/pk_dv_parquet.db" vectors
    chmod -R u+w vectors
    export SINTER_COLUMNAR_LIBRARY=$COLUMNAR_LIBRARY
    "$SINTER" plan vectors/t --full --bucket 0 --max-task-size 1kb >vector-parts.jsonl
    "$SINTER" run vector-parts.jsonl >vector-done.jsonl
    sed -E '$ s/"cardinality":[0-9]+/"cardinality":1/' vector-done.jsonl >vector-stale.jsonl
    s 5 commit vectors/t vector-stale.jsonl
    has "$err" "were deleted while"
    s 0 commit vectors/t vector-done.jsonl
    s 0 verify vectors/t
    unset SINTER_COLUMNAR_LIBRARY
fi

# a branch, which has its own snapshots and shares everything else
copy f
mkdir -p f/t/branch/branch-b
cp -r f/t/schema f/t/snapshot f/t/branch/branch-b
s 0 plan f/t --full --branch b
"$SINTER" run - <<<"$out" >branch.jsonl
s 2 commit f/t branch.jsonl
has "$err" "of branch b, not of main"
one_line
s 0 commit f/t branch.jsonl --branch b
same "$(rows f)" "$all"
same "$("$SINTER" scan f/t --branch b --json | sort)" "$all"
same "$(snapshots f)" "$count"
s 8 compact f/t --full --branch b
s 0 compact f/t --full
same "$("$SINTER" scan f/t --branch b --json | sort)" "$all"
same "$(snapshots f)" $((count + 1))
s 4 compact f/t --full --branch c
has "$err" "branch"

# options of tables without key, for one run
cp -r "$source_dir/tests/data/tables/oracle/append_small_avro.db" small
chmod -R u+w small
s 8 compact small/t -o compaction.min.file-num=20
s 2 compact small/t -o compaction.min.file-num=0
has "$err" "compaction.min.file-num"
s 0 compact small/t --compaction.min.file-num 3

# a task may run twice; the second result is not used, and its files go
copy c
"$SINTER" plan c/t --full --bucket 0 >task.jsonl
"$SINTER" run task.jsonl >first.jsonl
"$SINTER" run task.jsonl >second.jsonl
files=$(find c/t/bucket-0 -type f | wc -l)
s 0 commit c/t first.jsonl second.jsonl
has "$out" "given twice; 1 of their files"
same "$(find c/t/bucket-0 -type f | wc -l)" $((files - 1))
same "$(rows c)" "$all"

# files that are no more there are a conflict
copy e
"$SINTER" plan e/t --full | "$SINTER" run - >late.jsonl
s 0 compact e/t --full
before=$(state e)
s 5 commit e/t late.jsonl
has "$err" "any more"
one_line
same "$(state e)" "$before"

# several tables: one that fails doesn't end it
copy f
s 2 compact f/t . --full
copy g
rm g/t/bucket-0/*.avro
s 4 compact g/t f/t --full
has "$out" "f/t: snapshot"
same "$(rows f)" "$all"

# options of the command line go before the table's
copy h
s 0 compact h/t --full --target-file-size 1kb --compaction.force-rewrite-all-files true --threads 2
same "$(rows h)" "$all"

# documents are read strictly
sed 's/"version":1/"version":2/' task.jsonl >newer.json
s 3 run newer.json
one_line
sed 's/"must_understand":\[\]/"must_understand":["tomorrow"]/' task.jsonl >must.json
s 3 run must.json
has "$err" tomorrow
echo '{"format":"sinter.task","version":1}' >empty.json
s 3 run empty.json
s 2 commit a/t

# a run that fails says so in its result
sed 's/data-[0-9a-f-]*-0.avro/data-missing.avro/' task.jsonl >gone.json
s 4 run gone.json
same "$(json 'd["status"]' <<<"$out")" failed

# a budget that is larger never fails where a smaller one does
if [ -n "${COLUMNAR_LIBRARY:-}" ]; then
    export SINTER_COLUMNAR_LIBRARY=$COLUMNAR_LIBRARY
    for budget in 4mb 6mb 8mb; do
        rm -rf i
        cp -r "$source_dir/tests/data/tables/oracle/pk_types_parquet.db" i
        chmod -R u+w i
        s 0 compact i/t --full --memory "$budget"
    done
fi

# a table that needs a lookup: more is done than the strategy picked, and the reason says so
s 0 create l --columns "id BIGINT, name STRING" --primary-key id -o bucket=1 -o file.format=avro -o merge-engine=first-row
(
    echo id,name
    seq 5000 | sed 's/.*/&,a &/'
) >many.csv
printf 'id,name\n3,b\n6000,b\n' >few.csv
s 0 write l many.csv
s 0 compact l --full
s 0 write l few.csv
s 0 plan l --explain
has "$out" "1 of 2 runs to level 4"
has "$out" "the rest for what would be looked up in it"
s 0 compact l
has "$out" "2 files became 1"
same "$("$SINTER" scan l --count)" 5001

# and files of level 0 get the format of the level that they go to, where they would only be moved without a lookup
for engine in first-row deduplicate; do
    rm -rf m
    s 0 create m --columns "id BIGINT, name STRING" --primary-key id -o bucket=1 -o file.format=avro \
        -o merge-engine=$engine -o file.format.per.level=5:sst
    s 0 write m few.csv
    s 0 compact m --full
    same "$("$SINTER" files m --json | json 'd["level"], d["file_name"].rpartition(".")[2]')" \
        "$([ $engine = first-row ] && echo '[5, "sst"]' || echo '[5, "avro"]')"
done
