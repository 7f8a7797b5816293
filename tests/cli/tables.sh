. "$(dirname "$0")/lib.sh"
shared=$source_dir/tests/data/tables/oracle

# what a table is made of, for people and for machines
s 0 snapshots "$shared/pk_tags_avro.db/t"
has "$out" "TIME (UTC)"
has "$out" "APPEND"
s 0 snapshots "$shared/pk_tags_avro.db/t" --json
same "$(json '[sorted({d["commit_kind"] for d in all}), [d["id"] for d in all if "tag" not in d]]' <<<"$out")" \
    "$("$PYTHON" - "$shared/pk_tags_avro.db/t" <<'PY'
import json, pathlib, sys
found = sorted((json.loads(p.read_text()) for p in pathlib.Path(sys.argv[1]).glob("snapshot/snapshot-*")),
               key=lambda d: d["id"])
tags = [json.loads(p.read_text()) for p in pathlib.Path(sys.argv[1]).glob("tag/tag-*")]
print(json.dumps([sorted({d["commitKind"] for d in found + tags}), [d["id"] for d in found]]))
PY
    )"
s 0 schema "$shared/pk_partitioned_avro.db/t"
has "$out" "schema 0"
has "$out" "partition"
s 0 schema "$shared/pk_partitioned_avro.db/t" --json
same "$(json '[d["id"], len(d["columns"]) > 1, len(d["partition_keys"]) > 0]' <<<"$out")" '[0, true, true]'
s 4 schema "$shared/pk_partitioned_avro.db/t" --id 77

s 0 files "$shared/pk_partitioned_avro.db/t" --json
files=$(json '[len(all), sum(d["row_count"] for d in all), sum(d["file_size"] for d in all)]' <<<"$out")
s 0 partitions "$shared/pk_partitioned_avro.db/t" --json
same "$(json '[sum(d["file_count"] for d in all), sum(d["row_count"] for d in all), sum(d["file_size"] for d in all)]' <<<"$out")" \
    "$files"
s 0 files "$shared/append_dv_avro.db/t" --json
same "$(json 'any(d["has_vector"] for d in all)' <<<"$out")" true
s 2 files "$shared/pk_tags_avro.db/t" --snapshot 1 --tag x
s 4 files "$shared/pk_tags_avro.db/t" --snapshot 999
s 4 files "$shared/pk_tags_avro.db/t" --tag none

# a table with ten snapshots
s 0 create w/a.db/t --columns "id INT, v STRING" --primary-key id -o bucket=1 -o file.format=avro -q
for i in 1 2 3 4 5 6 7 8 9 10; do
    run 0 sh -c "echo '{\"id\":$i,\"v\":\"a\"}' | \"\$SINTER\" write w/a.db/t -q"
done
s 0 files w/a.db/t --snapshot 3 --json
same "$(json 'len(all)' <<<"$out")" 3

# expiry: the table's options keep ten, and a dry run says what would go
before=$(state w)
s 0 expire w/a.db/t
has "$out" "no snapshot to expire"
s 0 expire w/a.db/t --retain-max 3 --retain-min 1 --dry-run
has "$out" "would remove w/a.db/t/manifest/"
has "$out" "would expire: snapshots 1 to 7"
same "$(state w)" "$before"
s 2 expire w/a.db/t --retain-max 0
s 2 expire w/a.db/t --retain-max 1 --retain-min 2
s 2 expire w/a.db/t --older-than soon
s 0 expire w/a.db/t --retain-min 2 --older-than 0s --limit 2 --json
same "$(json '[d["first_id"], d["last_id"], d["data_file_count"]]' <<<"$out")" '[1, 2, 0]'
s 0 expire w/a.db/t --retain-max 3 --retain-min 1
has "$out" "expired: snapshots 3 to 7, 0 data files"
s 5 files w/a.db/t --snapshot 7
has "$err" "expired; the oldest is 8"
s 0 scan w/a.db/t --count
same "$out" 10

# orphans: young ones stay
touch w/a.db/t/bucket-0/data-lost-0.avro w/a.db/t/manifest/manifest-lost-0
s 0 remove-orphans w/a.db/t
has "$out" "removed: 0 orphan"
sleep 0.05
s 0 remove-orphans w/a.db/t --older-than 0s --dry-run
has "$out" "would remove w/a.db/t/bucket-0/data-lost-0.avro"
[ -e w/a.db/t/bucket-0/data-lost-0.avro ] || die "a dry run removed a file"
s 0 remove-orphans w/a.db/t --older-than 0s --json
same "$(json 'all[-1]["orphan_count"]' <<<"$out")" 2
[ ! -e w/a.db/t/bucket-0/data-lost-0.avro ] || die "an orphan is left"
s 0 scan w/a.db/t --count
same "$out" 10

# what is no table
for verb in snapshots schema files partitions expire remove-orphans; do
    s 4 "$verb" w
    one_line
    has "$err" "no table"
done
