. "$(dirname "$0")/lib.sh"
# The worked example of five files on four levels, at 1/1024 of its sizes: A and B overlap, C is
# small and next to them, D is large and alone, E is small and alone. The result has one new file,
# and D and E under a new level.

# file LEVEL FIRST LAST BYTES: incompressible values that fill a file
file() {
    "$PYTHON" - "$2" "$3" "$4" <<'END'
import random, sys
first, last, size = map(int, sys.argv[1:])
keys = last - first + 1
rng = random.Random(first)
print("id,value")
for key in range(first, last + 1):
    print(f"{key},{rng.randbytes(size // keys // 2).hex()}")
END
}
mib=1024
file A 1000 1100 $((5 * mib)) >A.csv
file B 1050 1200 $((50 * mib)) >B.csv
file C 1300 1400 $((2 * mib)) >C.csv
file D 1500 1900 $((120 * mib)) >D.csv
file E 1950 1990 $((1 * mib)) >E.csv
s 0 ingest dir C.csv D.csv B.csv A.csv E.csv --per-file --key id:INT --file.compression none
json '{"format": "sinter.files", "version": 1, "base_dir": "dir",
    "files": [{"file_name": f["file_name"], "level": level}
              for f, level in zip(sorted(d["files"], key=lambda f: f["min_sequence_number"]),
                                  [1, 2, 1, 0, 0])]}' <dir/CATALOG.json >files.json
before=$(view files.json)

s 0 plan files.json --output-level 3 --max-level 5 --target-file-size 128kb --explain
has "$out" "section 0: 2 runs"
has "$out" "section 3: 1 run"
has "$out" "overlap: "
has "$out" "to upgrade without reading"

s 0 compact files.json --output-level 3 --max-level 5 --target-file-size 128kb \
    --catalog-out after.json
"$PYTHON" - "$out" <<'END'
import json, sys
result = json.loads(sys.argv[1])
stated = json.load(open("files.json"))["files"]
name = {f["file_name"]: n for n, f in zip("CDBAE", stated)}
actions = {name[f["file_name"]]: (f["action"], f["reason"]["code"]) for f in result["files"]}
assert actions == {
    "A": ("rewritten", "overlap"), "B": ("rewritten", "overlap"),
    "C": ("rewritten", "small-neighbours"),
    "D": ("upgraded", "large-alone"), "E": ("upgraded", "small-alone")}, actions
assert sorted(name[f["file_name"]] for f in result["before"]) == list("ABCDE"), result["before"]
new = [f for f in result["after"] if f["file_name"] not in name]
old = {name[f["file_name"]]: (f["level"], f["upgraded_from"])
       for f in result["after"] if f["file_name"] in name}
assert len(new) == 1 and new[0]["level"] == 3, new
assert old == {"D": (3, 2), "E": (3, 0)}, old
END
same "$(view after.json)" "$before"
s 0 verify after.json
has "$out" "3 files checked, 0 with faults"
