. "$(dirname "$0")/lib.sh"
# A disk that fills up while compacting and ingesting: exit code 6, nothing changed, nothing left.

# Where no tmpfs can be mounted: a limit on the size of files, which is an input/output error.
with_limit() {
    local code=0 before state_before
    make_dir dir
    before=$(view dir)
    state_before=$(state dir)
    (
        trap '' XFSZ
        ulimit -f 4
        "$SINTER" compact dir --file.compression none 2>err.txt
    ) || code=$?
    same "$code" 4
    has "$(cat err.txt)" "File too large"
    same "$(state dir)" "$state_before"
    same "$(view dir)" "$before"
}

mkdir small
if [ "$(id -u)" -ne 0 ] || ! mount -t tmpfs -o size=1m tmpfs small 2>mount.txt; then
    with_limit
    exit 0
fi
trap 'umount "$work/small"; rm -rf "$work"' EXIT
"$PYTHON" -c '
import random
rng = random.Random(1)
print("id,value")
for key in range(150):
    print(f"{key},{rng.randbytes(500).hex()}")' >random.csv
sed 's/^\([0-9]*\),\(..\)/\1,00/' random.csv >later.csv
s 0 ingest -q small/dir random.csv --key id:INT --file.compression none
s 0 ingest -q small/dir random.csv
before=$(view small/dir | sha256sum)
state_before=$(state small/dir)
dd if=/dev/zero of=small/filler bs=1k count=4096 status=none 2>/dev/null || true
truncate -s -64k small/filler

s 6 compact small/dir
one_line
has "$err" "No space left on device"
same "$(state small/dir)" "$state_before"
same "$(view small/dir | sha256sum)" "$before"
s 6 ingest small/dir later.csv
has "$err" "No space left on device"
same "$(state small/dir)" "$state_before"
s 6 ingest small/new later.csv --key id:INT
[ ! -e small/new ] || die "a failed first ingest left something"

rm small/filler
s 0 compact -q small/dir
same "$(view small/dir | sha256sum)" "$before"
