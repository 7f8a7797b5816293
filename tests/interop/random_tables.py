#!/usr/bin/env python3
"""Tables of random schemas, options and histories, made by Paimon, read and compacted by both.

usage: random_tables.py SINTER WORK [--seeds A-B]

Each seed is one table with a primary key. Paimon makes it: some commits, between them compactions,
schema changes, overwrites, tags and expiry. Then sinter reads the snapshots, lists their files and
verifies them as Paimon does, and both compact copies as in compact_tables.py. What differs stays in
WORK with the steps that made it; tables that agree are removed.

What Paimon itself gets wrong stays out: NaN in keys; bytes in partitions; in ORC NaN, CHAR,
fractions of the last second before 1970, and times of ancient days, which move with every write.
Nor are there times before 1677 or after 2262 with more than six decimals, which Arrow can't read;
manifest.delete-file-drop-stats, with which Paimon forgets the statistics of a file that only
changes its level; compaction.incremental-size-threshold, which Paimon 1.3.1 doesn't know.
"""
import argparse
import copy
import json
import pathlib
import random
import shutil
import sys

import compact_tables
import oracle as paimon
from oracle import sinter, sinter_rows

TEXTS = ["", " ", "a", "b", "zz", "é", "中文", "\U0001f600", "a/b=c", "%25", "{x}", "#", "\\",
         "\"q\"", "\t\n", "null", "__DEFAULT_PARTITION__", "a" * 15, "a" * 16, "a" * 17, "é" * 20,
         "\uffff" * 17]
REALS = [0, -0.0, 1, -1.5, 0.1, 1e-7, 3.4e38, -1.17549435e-38, 16777216]
CODECS = {"parquet": ["zstd", "snappy", "gzip", "lz4_raw", "uncompressed"],
          "orc": ["zstd", "snappy", "zlib", "lz4", "none"],
          "avro": ["zstd", "snappy", "deflate", "null"]}
FORMATS = list(CODECS)
DAYS = ["1970-01-01", "1969-12-31", "2024-02-29", "0001-01-01", "9999-12-31", "1582-10-15"]
OLD_DAYS = ["1969-12-31", "0001-01-01", "1582-10-15"]
FAR_DAYS = ["0001-01-01", "9999-12-31", "1582-10-15"]


def real(rng, others):
    value = rng.choice(REALS + [rng.uniform(-100, 100)])
    return rng.choice([value] * 3 + others)


def decimal(rng, precision, scale):
    digits = rng.choice([1, 2, precision])
    number = rng.randrange(10 ** min(digits, precision))
    text = str(rng.choice([number, number, 10 ** precision - 1, 0])).rjust(scale + 1, "0")
    text = f"{text[:len(text) - scale]}.{text[len(text) - scale:]}" if scale else text
    return rng.choice(["", "-"]) + text if int(text.replace(".", "")) else text


def moment(rng, precision, zone, formats):
    day = rng.choice(DAYS)
    fraction = rng.choice([0, 1, 999999999, 500000000, 123456789]) // 10 ** (9 - precision)
    clock = rng.choice(["00:00:00", "23:59:59", "12:34:56"])
    if "orc" in formats and day in OLD_DAYS:
        day, fraction = "1969-12-31", 0 if clock == "23:59:59" else fraction
    if precision > 6 and day in FAR_DAYS:
        day = "2024-02-29"
    fraction = f".{fraction:0{precision}d}" if precision else ""
    return f"{day} {clock}{fraction}{zone}"


class Types:
    """Types as in a schema, and values of them."""

    def __init__(self, rng, formats):
        self.rng, self.formats = rng, formats

    def simple(self, is_key=False):
        """A type without parts."""
        rng = self.rng
        precision = rng.choice([1, 9, 10, 18, 19, 20, 38, rng.randint(1, 38)])
        digits = [0, 1, 3, 4, 6] + [7, 9] * ("avro" not in self.formats)
        names = ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING",
                 "STRING", "BYTES", "DATE", f"VARCHAR({rng.randint(1, 20)})",
                 f"BINARY({rng.randint(1, 9)})", f"VARBINARY({rng.randint(1, 9)})",
                 f"DECIMAL({precision}, {rng.randint(0, precision)})", "TIME(0)", "TIME(3)",
                 f"TIMESTAMP({rng.choice(digits)})",
                 f"TIMESTAMP({rng.choice(digits)}) WITH LOCAL TIME ZONE"]
        if "orc" not in self.formats:
            names.append(f"CHAR({rng.randint(1, 9)})")
        return rng.choice([name for name in names if not (is_key and name == "BOOLEAN")])

    def part(self):
        """A partition's type: Paimon has no directory for bytes."""
        while True:
            kind = self.simple(True)
            if "B" not in kind or "BIGINT" in kind or "DOUBLE" in kind:
                return kind

    def any(self, depth=0):
        """A type, nested ones among them."""
        rng = self.rng
        if depth > 2 or rng.random() < 0.8:
            return self.simple()
        kind = rng.choice(["ARRAY", "MAP", "ROW", "MULTISET"])
        if kind == "ARRAY":
            return {"type": kind, "element": self.any(depth + 1)}
        if kind == "MAP":
            return {"type": kind, "key": rng.choice(["STRING NOT NULL", "INT NOT NULL"]),
                    "value": self.any(depth + 1)}
        if kind == "MULTISET":
            return {"type": kind, "element": rng.choice(["STRING NOT NULL", "INT NOT NULL"])}
        return {"type": kind, "fields": [{"id": i, "name": f"f{i}", "type": self.any(depth + 1)}
                                         for i in range(rng.randint(1, 3))]}

    def value(self, kind, is_key=False):
        """A value of the type `kind`; null among them unless it is a key's."""
        if not is_key and self.rng.random() < 0.15 and "NOT NULL" not in kind:
            return None
        return self.nested(kind) if isinstance(kind, dict) else self.plain(kind, is_key)

    def nested(self, kind):
        count = self.rng.randint(0, 3)
        if kind["type"] == "ARRAY":
            return [self.value(kind["element"]) for _ in range(count)]
        if kind["type"] == "ROW":
            return {field["name"]: self.value(field["type"]) for field in kind["fields"]}
        key = kind.get("key", kind.get("element"))
        keys = {str(key): key for key in (self.value(key) for _ in range(count))}.values()
        if kind["type"] == "MULTISET":
            return [[key, self.rng.randint(1, 9)] for key in keys]
        return [[key, self.value(kind["value"])] for key in keys]

    def plain(self, kind, is_key):
        rng = self.rng
        name = kind.replace(" NOT NULL", "").split("(")[0].split()[0]
        sizes = [int(size) for size in "".join(c if c.isdigit() else " " for c in kind).split()]
        widths = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
        if name in widths:
            most = 2 ** (widths[name] - 1)
            return rng.choice([rng.randint(-9, 9), rng.randint(-most, most - 1), most - 1, -most])
        if name == "BOOLEAN":
            return rng.random() < 0.5
        if name in ("FLOAT", "DOUBLE"):
            others = ["Infinity", "-Infinity"] + ["NaN"] * ("orc" not in self.formats)
            return real(rng, [] if is_key else others)
        if name == "DECIMAL":
            return decimal(rng, *sizes)
        if name == "DATE":
            return rng.choice(DAYS)
        if name == "TIME":
            return rng.choice(["00:00:00", "23:59:59", "12:34:56"]) + (
                rng.choice([".000", ".001", ".999"]) if sizes[0] else ".000")
        if name == "TIMESTAMP":
            zone = "Z" if "ZONE" in kind else ""
            return moment(rng, sizes[0], zone, self.formats)
        return self.letters(name, sizes)

    def letters(self, name, sizes):
        rng = self.rng
        if name in ("BYTES", "BINARY", "VARBINARY"):
            most = sizes[0] if sizes else 40
            size = most if name == "BINARY" else rng.choice([0, 1, most, rng.randint(0, most)])
            return rng.choice([rng.randbytes(size).hex(), "ff" * size, "00" * size])
        value = rng.choice(TEXTS)
        if rng.random() < 0.02:
            value = value * 500
        if name == "CHAR":  # without blanks at the end, which a char is padded with
            return value.strip()[:sizes[0]].ljust(sizes[0], "x")
        return value[:sizes[0]] if sizes else value


class Table:
    """A schema, its options and rows for it, all from one seed."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.formats = rng.choice([[kind] for kind in FORMATS] + [FORMATS, FORMATS])
        self.types = Types(rng, self.formats)
        keys = [(f"k{i}", self.types.simple(True)) for i in range(rng.choice([1, 1, 2, 3, 5]))]
        parts = [(f"p{i}", self.types.part()) for i in range(rng.choice([0, 0, 0, 1, 1, 2]))]
        values = [(f"v{i}", self.types.any()) for i in range(rng.randint(1, 8))]
        self.keys = [name for name, _ in keys + parts]
        self.parts = [name for name, _ in parts]
        self.fields = dict(keys + parts + values)
        self.pools = {name: [self.types.value(kind, True) for _ in range(rng.randint(2, 6))]
                      for name, kind in keys}
        self.pools.update({name: [self.types.value(kind, True) for _ in range(rng.randint(1, 3))]
                           for name, kind in parts})
        self.options = self.first_options([name for name, _ in keys])
        self.added = 0

    def schema(self):
        """The argument of `create`."""
        names = list(self.fields)
        if self.rng.random() < 0.5:
            self.rng.shuffle(names)
        keys = list(self.keys)
        self.rng.shuffle(keys)
        fields = []
        for name in names:
            kind = self.fields[name]
            fields.append({"name": name, "type": f"{kind} NOT NULL" if name in keys else kind})
        return {"fields": fields, "primaryKeys": keys, "partitionKeys": self.parts,
                "options": self.options}

    def first_options(self, keys):
        """Options that a table keeps."""
        rng = self.rng
        options = {"bucket": str(rng.randint(1, 5) if rng.random() < 0.95 else -1),
                   "file.format": rng.choice(self.formats)}
        if options["bucket"] != "-1" and len(keys) > 1 and rng.random() < 0.3:
            options["bucket-key"] = ",".join(rng.sample(keys, rng.randint(1, len(keys) - 1)))
        values = [name for name, kind in self.fields.items()
                  if name not in self.keys and isinstance(kind, str)]
        engine = rng.choice(["deduplicate"] * 4 + ["first-row"])
        options["merge-engine"] = engine
        if engine == "first-row":
            options["ignore-delete"] = "true"
        else:
            self.engine_options(options, values)
        self.file_options(options, values)
        options.update(self.later_options())
        return options

    def engine_options(self, options, values):
        rng = self.rng
        plain = [name for name in values if self.fields[name] not in ("FLOAT", "DOUBLE")]
        if plain and rng.random() < 0.3:
            names = rng.sample(plain, min(len(plain), rng.choice([1, 1, 2])))
            options["sequence.field"] = ",".join(names)
            options["sequence.field.sort-order"] = rng.choice(["ascending", "descending"])
        if rng.random() < 0.2:
            options["ignore-delete"] = "true"
        if rng.random() < 0.25:
            options["deletion-vectors.enabled"] = "true"
            options["deletion-vectors.bitmap64"] = rng.choice(["true", "false"])
            options["index-file-in-data-file-dir"] = rng.choice(["true", "false"])
        elif rng.random() < 0.2:
            options["changelog-producer"] = "input"

    def file_options(self, options, values):
        rng = self.rng
        if rng.random() < 0.2 and "orc" not in self.formats:
            options["data-file.thin-mode"] = "true"
        if rng.random() < 0.3:
            options["manifest.format"] = rng.choice(FORMATS)
        if rng.random() < 0.1:
            options["data-file.prefix"] = "d-é_"
        if rng.random() < 0.1:
            options["data-file.path-directory"] = "data/x"
        if rng.random() < 0.1:
            options["file.suffix.include.compression"] = "true"
        if rng.random() < 0.1:
            options["partition.default-name"] = "none at all"
        if rng.random() < 0.3:
            options["partition.legacy-name"] = "false"
        texts = [name for name in values if self.fields[name] in ("STRING", "INT", "DATE")]
        if texts and rng.random() < 0.15:
            kind = rng.choice(["bloom-filter", "bitmap"])
            options[f"file-index.{kind}.columns"] = texts[0]
            options["file-index.bloom-filter.items"] = "100"
            options["file-index.in-manifest-threshold"] = rng.choice(["1 b", "1 mb"])

    def later_options(self):
        """Options that may change at any time."""
        rng = self.rng
        options = {}
        if len(self.formats) > 1:
            options["file.format"] = rng.choice(self.formats)
            options["file.compression"] = rng.choice(["zstd", "snappy"])
        else:
            options["file.compression"] = rng.choice(CODECS[self.formats[0]])
        if len(self.formats) > 1 and rng.random() < 0.4:
            options["file.format.per.level"] = ",".join(
                f"{level}:{rng.choice(self.formats)}" for level in range(6))
        some = {
            "metadata.stats-mode": ["none", "counts", "full", "truncate(16)", "truncate(3)"],
            "metadata.stats-mode.per.level": ["0:none", "5:none", "0:full,5:counts"],
            "metadata.stats-dense-store": ["true", "false"],
            "metadata.stats-keep-first-n-columns": ["0", "1", "2"],
            "manifest.compression": ["zstd", "snappy"],
            "manifest.merge-min-count": ["1", "2"],
            "manifest.target-file-size": ["1 kb", "8 mb"],
            "manifest.full-compaction-threshold-size": ["1 kb", "16 mb"],
            "num-sorted-run.compaction-trigger": ["1", "2", "3", "5"],
            "num-levels": ["6", "7"],
            "compaction.size-ratio": ["0", "10", "100"],
            "compaction.max-size-amplification-percent": ["0", "50", "200", "1000"],
            "compaction.force-up-level-0": ["true"],
            "compaction.total-size-threshold": ["1 kb", "1 mb"],
            "full-compaction.delta-commits": ["1", "3"],
            "target-file-size": ["1 b", "3 kb", "10 kb"],
            "sort-engine": ["min-heap", "loser-tree"],
            "parquet.enable.dictionary": ["true", "false"],
            "parquet.page.size": ["100", "1000"],
            "read.batch-size": ["1", "7"],
            "file.block-size": ["1 kb", "64 kb"],
            "snapshot.num-retained.max": ["20"],
        }
        for name in rng.sample(sorted(some), rng.randint(0, 6)):
            options[name] = rng.choice(some[name])
        plain = [name for name, kind in self.fields.items() if isinstance(kind, str)]
        for name in rng.sample(plain, min(len(plain), rng.choice([0, 0, 1, 2]))):
            options[f"fields.{name}.stats-mode"] = rng.choice(["none", "counts", "full"])
        return options

    def rows(self, count):
        """Rows for a write."""
        rng = self.rng
        found = []
        for _ in range(count):
            row = {"_kind": rng.choice(["+I"] * 6 + ["-U", "+U", "-D", "-D"])}
            for name, kind in self.fields.items():
                row[name] = (rng.choice(self.pools[name]) if name in self.keys and
                             (name in self.parts or rng.random() < 0.9)
                             else self.types.value(kind, name in self.keys))
            found.append(row)
        return found

    def change(self):
        """A change of the schema, as an argument of `alter`."""
        rng = self.rng
        fixed = ",".join(value for key, value in self.options.items()
                         if key.startswith(("sequence", "file-index", "bucket-key")))
        free = [name for name in self.fields if name not in self.keys and name not in fixed]
        kind = rng.choice(["add", "drop", "rename", "type", "move", "options", "options", "inner"])
        name = rng.choice(free) if free else "none"
        if kind == "options" or name == "none":
            later = self.later_options()
            self.options.update(later)
            return [{"op": "set", "key": key, "value": value} for key, value in later.items()]
        if kind == "add":
            self.added += 1
            new = f"n{self.added}"
            self.fields[new] = self.types.any()
            return [{"op": "add", "column": new, "type": self.fields[new],
                     **rng.choice([{}, {"first": True}, {"after": name}])}]
        if kind == "drop":
            del self.fields[name]
            return [{"op": "drop", "column": name}]
        if kind == "rename":
            self.added += 1
            self.fields[f"r{self.added}"] = self.fields.pop(name)
            return [{"op": "rename", "column": name, "to": f"r{self.added}"}]
        if kind == "move":
            others = [other for other in self.fields if other != name]
            return [{"op": "move", "column": name,
                     **rng.choice([{"first": True}, {"after": rng.choice(others)}])}]
        return self.change_inside(name) if kind == "inner" else self.change_type(name)

    def change_inside(self, name):
        """A field that joins those of a row."""
        kind = self.fields[name]
        if not isinstance(kind, dict) or kind["type"] != "ROW":
            return self.change_type(name)
        self.added += 1
        field = {"name": f"g{self.added}", "type": self.types.simple()}
        kind["fields"].append(field)
        return [{"op": "add", "column": [name, field["name"]], "type": field["type"]}]

    def change_type(self, name):
        kind = self.fields[name]
        word = kind.split("(")[0] if isinstance(kind, str) else ""
        wider = {"TINYINT": ["SMALLINT", "INT", "BIGINT", "DOUBLE", "STRING"],
                 "SMALLINT": ["INT", "BIGINT", "FLOAT", "DECIMAL(10, 2)"],
                 "INT": ["BIGINT", "DOUBLE", "DECIMAL(20, 3)", "STRING"],
                 "BIGINT": ["DECIMAL(38, 5)", "STRING"], "FLOAT": ["DOUBLE"],
                 "DECIMAL": ["DECIMAL(38, 10)", "STRING"], "VARCHAR": ["STRING", "VARCHAR(30)"],
                 "VARBINARY": ["BYTES"],
                 "DATE": ["STRING"] + ["TIMESTAMP(3)"] * ("orc" not in self.formats),
                 "BOOLEAN": ["INT", "STRING"], "TIMESTAMP": ["TIMESTAMP(9)"],
                 "CHAR": ["STRING"], "BINARY": ["BYTES"], "TIME": ["STRING"]}.get(word)
        if not wider or "ZONE" in kind:
            return [{"op": "set", "key": "comment", "value": "x"}]
        self.fields[name] = self.rng.choice(wider)
        return [{"op": "type", "column": name, "type": self.fields[name]}]


def make(judge, table, path, seen):
    """Let Paimon make the table; the steps, for a report. What Paimon refuses is left out."""
    rng = table.rng
    steps = [("create", {"schema": table.schema()})]
    judge.call("create", path, **steps[0][1])
    for _ in range(rng.randint(3, 9)):
        before = copy.deepcopy(table.fields), dict(table.options)
        step = random_step(rng, table)
        try:
            judge.call(step[0], path, **step[1])
            steps.append(step)
        except paimon.Refused as refusal:
            table.fields, table.options = before
            seen.append(str(refusal)[:300])
    return steps


def random_step(rng, table):
    kind = rng.choice(["write"] * 6 + ["compact", "alter", "alter", "overwrite", "tag", "expire"])
    if kind == "write" or kind == "overwrite":
        count = rng.choice([1, 3, 10, 10, 40])
        arguments = {"rows": [table.rows(count) for _ in range(rng.choice([1, 1, 2, 4]))]}
        how = rng.choice(["write_only", "write_only", "no_compact", "one_writer", ""])
        if how:
            arguments[how] = True
        if kind == "overwrite":
            arguments["overwrite"] = True
        return "write", arguments
    if kind == "compact":
        return "compact", {"full": rng.random() < 0.5}
    if kind == "alter":
        return "alter", {"changes": table.change()}
    if kind == "tag":
        return "tag", {"create": f"t{rng.randint(1, 3)}"}
    return "expire", {"retain_max": rng.randint(1, 5), "retain_min": 1}


def ours(program, path, snapshot):
    """Files of a snapshot as sinter lists them."""
    found = []
    for line in sinter(program, "files", path, "--json", "--snapshot", snapshot).splitlines():
        file = json.loads(line)
        found.append([file[key] for key in (
            "file_name", "bucket", "total_buckets", "level", "file_size", "row_count",
            "delete_row_count", "min_sequence_number", "max_sequence_number", "schema_id")])
    return sorted(found)


def theirs(judge, path, snapshot):
    """Files of a snapshot as Paimon lists them."""
    return sorted([file[key] for key in (
        "file", "bucket", "totalBuckets", "level", "size", "rows", "deletes", "minSeq", "maxSeq",
        "schemaId")] for file in judge.call("files", path, all=True, snapshot=snapshot)["files"])


def check_reads(program, judge, path):
    """The first and the last snapshots read the same, and their files are the same."""
    snapshots = judge.call("snapshots", path)["lines"]
    for snapshot in snapshots[:1] + snapshots[1:][-2:]:
        number = snapshot["id"]
        rows = judge.rows(path, snapshot=number)
        found = sinter_rows(program, path, "--snapshot", number)
        assert found == rows, f"snapshot {number}: other rows: " + str(
            [[r for r in found if r not in rows][:2], [r for r in rows if r not in found][:2]])
        found, expected = ours(program, path, number), theirs(judge, path, number)
        assert found == expected, f"snapshot {number}: other files: {found} and {expected}"
    sinter(program, "verify", path)


def try_seed(args, judge, seed):
    folder = args.work / f"seed{seed}.db"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    seen = []
    table = Table(seed)
    try:
        steps = make(judge, table, folder / "t", seen)
    except paimon.Refused as refusal:
        return f"no table: {str(refusal)[:300]}"
    (folder / "steps.json").write_text("\n".join(json.dumps(step) for step in steps))
    (folder / "refused.txt").write_text("\n".join(seen))
    check_reads(args.program, judge, folder / "t")
    if not judge.call("snapshots", folder / "t")["lines"]:
        return ""
    case = paimon.Case(folder, "t", folder / "expected.jsonl")
    case.expected.write_text("".join(f"{row}\n" for row in judge.rows(folder / "t")))
    try:
        for full in (True, False):
            judge.call("compact", case.copy(args.work / "copies" / "first"), full=full)
    except paimon.Refused as refusal:
        return f"Paimon fails by itself: {str(refusal)[:300]}"
    for options in (("--full",), ()):
        compact_tables.try_table(compact_tables.Trial(args.program, judge, None, case,
                                                      args.work / "copies"), options)
    return ""


def run_seeds(work, seeds, attempt):
    """Try all; exits. `attempt(judge, seed)` tells why Paimon can't make the table, or nothing."""
    first, last = (int(number) for number in seeds.split("-"))
    failed = skipped = 0
    with paimon.Oracle() as judge:
        for seed in range(first, last + 1):
            try:
                reason = attempt(judge, seed)
                if reason:
                    skipped += 1
                    print(f"seed {seed}: {reason}", flush=True)
                else:
                    shutil.rmtree(work / f"seed{seed}.db")
            except (AssertionError, paimon.Refused) as failure:
                failed += 1
                print(f"seed {seed}: FAILED {failure}"[:9000], flush=True)
    print(f"{last - first + 1} seeds: {failed} failed, {skipped} that Paimon can't do")
    sys.exit(1 if failed else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--seeds", metavar="A-B", default=f"1-{40 * paimon.scale()}")
    args = parser.parse_args()
    run_seeds(args.work, args.seeds, lambda judge, seed: try_seed(args, judge, seed))


if __name__ == "__main__":
    main()
