. "$(dirname "$0")/lib.sh"

make_dir dir
s 0 verify dir
has "$out" "3 files checked, 0 with faults"
s 0 verify dir/*.sst
has "$out" "sound, "
s 0 verify dir --json
same "$(json 'len(all), d["format"]' <<<"$out")" '[3, "sinter.verify"]'
s 0 verify --quiet dir
same "$out$err" ""

# every byte of a small file flipped in turn, every length: each is found, none crashes
rows 1 8 value >few.csv
s 0 ingest -q small few.csv --key id:INT
cp small/*.sst good.sst
step=1
[ -z "$SINTER_SANITIZE" ] || step=7
"$PYTHON" - "$SINTER" "$step" <<'END'
import pathlib, subprocess, sys
sinter, step = sys.argv[1], int(sys.argv[2])
good = pathlib.Path("good.sst").read_bytes()
bad = pathlib.Path("bad.sst")

def refused(what):
    done = subprocess.run([sinter, "verify", "-q", "--io", "posix", "bad.sst"], capture_output=True, text=True)
    line = done.stderr
    assert done.returncode == 3, (what, done.returncode, line)
    assert line.count("\n") == 1 and "bad.sst" in line, (what, line)

for at in range(0, len(good), step):
    bad.write_bytes(good[:at] + bytes([good[at] ^ (1 << at % 8)]) + good[at + 1:])
    refused(f"byte {at}")
for size in range(0, len(good), step):
    bad.write_bytes(good[:size])
    refused(f"length {size}")
bad.write_bytes(good + b"\0")
refused("a byte more")
bad.write_bytes(good)
subprocess.run([sinter, "verify", "-q", "bad.sst"], check=True)
print(f"{len(good)} bytes, step {step}")
END

# one bad file doesn't hide the others
cp good.sst bad.sst
printf '\377' | dd of=bad.sst bs=1 seek=40 conv=notrunc status=none
s 3 verify bad.sst good.sst
has "$out" "good.sst: sound"
has "$out" "2 files checked, 1 with faults"
one_line
s 3 verify bad.sst --json
same "$(json 'd["format"]' <<<"$out")" sinter.verify
