. "$(dirname "$0")/lib.sh"
# kill -9 at random points of compactions and ingests: the view is the old or the new one, the next
# start works, and gc leaves nothing that no catalog names.

seed=${SINTER_SEED:-$RANDOM}
echo "seed $seed"
RANDOM=$seed
for i in 1 2 3; do
    rows "$i" $((100000 / scale)) "run $i" >a.csv
    s 0 ingest -q dir a.csv --key id:BIGINT --buffer $((4 / scale + 1))mb
done
rows 1000 2000 gone >d.csv
s 0 ingest -q dir d.csv --deletes
before=$(view dir | sha256sum)
cp -r dir copy
began=$(date +%s%N)
"$SINTER" compact -q dir
took=$((($(date +%s%N) - began) / 1000))

# names_match DIR: exactly the files of the catalog lie in the directory
names_match() {
    local listed lying
    listed=$(json '"\n".join(sorted(f["file_name"] for f in d["files"]))' <"$1/CATALOG.json")
    lying=$(cd "$1" && ls -A | grep -vx -e CATALOG.json -e .sinter-lock | sort)
    same "$lying" "$listed"
}

killed=0
for i in $(seq 1 $((30 / scale))); do
    rm -rf dir
    cp -rp copy dir
    code=0
    "$SINTER" compact -q dir &
    pid=$!
    sleep "$(printf '0.%06d' $((RANDOM * took / 32768 % 1000000)))"
    kill -9 $pid 2>/dev/null || true
    { wait $pid || code=$?; } 2>/dev/null
    [ "$code" -ne 137 ] || killed=$((killed + 1))
    same "$(view dir | sha256sum)" "$before"
    s 0 verify -q dir
    s 0 gc -q dir
    names_match dir
    same "$(view dir | sha256sum)" "$before"
    if [ $((i % 3)) -eq 0 ]; then
        s 0 compact -q dir
        same "$(view dir | sha256sum)" "$before"
    fi
done
[ "$killed" -gt 0 ] || die "no compaction was killed in time ($took us)"

# ingests: all of its rows or none
rm -rf dir
cp -rp copy dir
rows $((50000 / scale)) $((150000 / scale)) late >e.csv
cp -r dir full
began=$(date +%s%N)
"$SINTER" ingest -q full e.csv --buffer 1mb
took=$((($(date +%s%N) - began) / 1000))
after=$(view full | sha256sum)
for i in $(seq 1 $((10 / scale))); do
    rm -rf dir
    cp -rp copy dir
    "$SINTER" ingest -q dir e.csv --buffer 1mb &
    pid=$!
    sleep "$(printf '0.%06d' $((RANDOM * took / 32768 % 1000000)))"
    kill -9 $pid 2>/dev/null || true
    { wait $pid || true; } 2>/dev/null
    now=$(view dir | sha256sum)
    [ "$now" = "$before" ] || [ "$now" = "$after" ] || die "half an ingest is visible"
    s 0 gc -q dir
    names_match dir
    same "$(view dir | sha256sum)" "$now"
done
echo "$killed compactions killed"
