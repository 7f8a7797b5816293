#!/bin/sh
# demo.sh SINTER [DIR]: the main job on real input. A table that Paimon made is compacted, and its rows
# are those that Paimon read. Then the Debian package index found on this machine goes into a directory
# as several overlapping batches, with updates and deletes; compaction leaves one sorted run; the merged
# view is the same before and after.
set -eu
cd "$(dirname "$0")/.."
sinter=$1
dir=${2:-build/demo}
rows=$dir-rows

table=$dir-table

rm -rf "$dir" "$rows" "$table"
mkdir -p "$(dirname "$dir")" "$rows"

echo "== a table of Apache Paimon: two buckets, eight files of level 0 over two at the top"
made=tests/data/tables/oracle/pk_dedup_l0_avro.db
cp -R "$made/t" "$table"
chmod -R u+w "$table"
"$sinter" scan "$table" --limit 3
"$sinter" plan "$table" --full >"$rows/tasks"
echo "$(wc -l <"$rows/tasks") tasks planned; now compact"
"$sinter" compact "$table" --full
"$sinter" scan "$table" --format json | LC_ALL=C sort >"$rows/table-after"
if ! cmp -s "$rows/table-after" "$made/expected.jsonl"; then
    echo "demo: the rows of the table changed" >&2
    exit 1
fi
echo "All $(wc -l <"$rows/table-after") rows are those that Paimon read before. Look around: sinter files $table"
echo

# The input: apt's package lists, else the packages that dpkg knows, else a sample of this tree.
helper=/usr/lib/apt/apt-helper
for list in /var/lib/apt/lists/*_Packages*; do
    if [ -r "$list" ] && [ -x "$helper" ]; then
        "$helper" cat-file "$list"
        echo
    fi
done >"$rows/index"
input="the package lists of apt"
if [ ! -s "$rows/index" ] && [ -r /var/lib/dpkg/status ]; then
    cp /var/lib/dpkg/status "$rows/index"
    input="the packages that dpkg knows"
fi
if [ -s "$rows/index" ]; then
    awk -f tools/packages.awk "$rows/index" >"$rows/all.tsv"
else
    cp tools/demo-sample.tsv "$rows/all.tsv"
    input="the sample in tools/demo-sample.tsv"
fi

# Four batches that interleave, a batch of updates, a batch of deletes.
awk -v out="$rows" 'NR == 1 {
        for (i = 1; i <= 4; i++) print >(out "/batch-" i ".tsv")
        print >(out "/updates.tsv")
        print "package\tarchitecture" >(out "/deletes.tsv")
        next
    }
    { print >(out "/batch-" (NR % 4 + 1) ".tsv") }
    NR % 10 == 0 { $0 = $0 " (updated)"; gsub(/" \(updated\)$/, " (updated)\""); print >(out "/updates.tsv") }
    NR % 25 == 0 { split($0, f, "\t"); print f[1] "\t" f[2] >(out "/deletes.tsv") }' "$rows/all.tsv"
echo "Input: $input, $(($(wc -l <"$rows/all.tsv") - 1)) rows," \
    "$(($(wc -l <"$rows/updates.tsv") - 1)) updates, $(($(wc -l <"$rows/deletes.tsv") - 1)) deletes."

echo
echo "== ingest: every batch is written as files of level 0, which overlap"
for batch in batch-1 batch-2 batch-3 batch-4 updates; do
    "$sinter" ingest "$dir" "$rows/$batch.tsv" --key package,architecture \
        --types installed_kib:BIGINT --buffer 1MB
done
"$sinter" ingest "$dir" "$rows/deletes.tsv" --deletes

echo
echo "== levels before"
"$sinter" inspect "$dir"
before=$("$sinter" scan --format tsv "$dir" | sha256sum)
count=$("$sinter" scan --count "$dir")

echo
echo "== compact"
"$sinter" compact "$dir"

echo
echo "== levels after"
"$sinter" inspect "$dir"
after=$("$sinter" scan --format tsv "$dir" | sha256sum)

echo
echo "merged view before: $count rows, sha256 ${before%% *}"
echo "merged view after:  $("$sinter" scan --count "$dir") rows, sha256 ${after%% *}"
if [ "$before" != "$after" ]; then
    echo "demo: the merged view changed" >&2
    exit 1
fi
"$sinter" gc "$dir"
"$sinter" verify "$dir"
echo "The merged view is unchanged. Look around: $sinter get $dir zstd,amd64"
