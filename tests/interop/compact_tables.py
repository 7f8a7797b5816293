#!/usr/bin/env python3
"""Tables that Paimon made are compacted by sinter and by Paimon: both read the same afterwards.

usage: compact_tables.py SINTER WORK [--pypaimon PYTHON] [PATTERN...]

For each table: a copy is compacted by sinter, another by Paimon, fully and as the strategy picks.
Paimon and sinter read the same rows from both, and Paimon's Python client does where it can read
such a table; levels, runs, counts and statistics per bucket are the same; Paimon's verify finds
nothing. Then, after a full compaction, Paimon writes more, the two compact in turn, and the
rows are the same still. Tables that ../tables/exceptions.txt names for "interop" must be refused,
and be left as they were.
"""
import argparse
import fnmatch
import json
import pathlib
import subprocess
import sys

import oracle as paimon
from oracle import sinter, sinter_rows

EXCEPTIONS = paimon.ROOT / "tests" / "tables" / "exceptions.txt"
NOTHING_TO_DO = 8
MORE_ROWS = 20


def exceptions():
    """(pattern, reason) of tables that can't be compacted."""
    found = []
    for line in EXCEPTIONS.read_text().splitlines():
        words = line.split(None, 2)
        if len(words) == 3 and not line.startswith("#") and words[1] == "interop":
            found.append((words[0], words[2]))
    return found


def columns_with_nan(rows):
    """Names of columns that hold a NaN."""
    return {name for row in map(json.loads, rows) for name, value in row.items() if value == "NaN"}


def forget_bounds(file, columns):
    """Paimon's bounds of a column in ORC leave NaN out, unless it comes first; sinter has none."""
    for stats in (file.get("keyStats"), file.get("valueStats")):
        for bounds in (stats or {}).get("min", {}), (stats or {}).get("max", {}):
            bounds.update({name: None for name in columns & bounds.keys()})


def shape(answer, with_nan):
    """What two compactions have in common: all of a file but its name, size and time."""
    buckets = {}
    for file in answer["files"]:
        if file["file"].endswith(".orc"):
            forget_bounds(file, with_nan)
        bucket = json.dumps([file["partition"], file["bucket"]], sort_keys=True)
        known = {key: file.get(key) for key in (
            "totalBuckets", "level", "rows", "deletes", "minKey", "maxKey", "minSeq", "maxSeq",
            "schemaId", "valueStatsCols", "keyStats", "valueStats")}
        buckets.setdefault(bucket, []).append(json.dumps(known, sort_keys=True))
    return {bucket: sorted(files) for bucket, files in buckets.items()}


def levels(files):
    """What must be equal where a level is cut into files at other rows, as sizes differ."""
    found = {}
    for file in map(json.loads, files):
        level = found.setdefault(file["level"], {"rows": 0, "deletes": 0, "least": [], "most": []})
        level["rows"] += file["rows"]
        level["deletes"] += file["deletes"]
        level["least"].append(file["minSeq"])
        level["most"].append(file["maxSeq"])
    return {level: (sums["rows"], sums["deletes"], min(sums["least"]), max(sums["most"]))
            for level, sums in found.items()}


def difference(ours, theirs):
    """The first bucket in which two shapes differ; "" if none does."""
    for bucket in sorted(set(ours) | set(theirs)):
        mine, other = ours.get(bucket, []), theirs.get(bucket, [])
        if mine == other or (len(mine) != len(other) and levels(mine) == levels(other)):
            continue
        only_mine = [file for file in mine if file not in other][:1]
        only_other = [file for file in other if file not in mine][:1]
        return f"bucket {bucket}: sinter {only_mine}, Paimon {only_other}"
    return ""


def needs_lookup(table):
    """Whether older versions of a key would be looked up in deeper levels."""
    newest = max((table / "schema").glob("schema-*"), key=lambda path: int(path.name[7:]))
    options = json.loads(newest.read_text())["options"]
    return (options.get("merge-engine") == "first-row" or
            options.get("deletion-vectors.enabled") == "true")


def whole(shape_of_table):
    """The buckets whose files all lie in one level."""
    return {bucket: files for bucket, files in shape_of_table.items()
            if len({json.loads(file)["level"] for file in files}) == 1}


class PythonClient:
    """Paimon's Python client as a process on a pipe. Confined."""

    def __init__(self, python):
        self.process = subprocess.Popen([python, str(paimon.HERE / "pypaimon_read.py")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.compared = 0

    def answer(self, table):
        self.process.stdin.write(f"{table}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def check(self, ours, theirs, when):
        """What it reads of Paimon's files it reads of sinter's."""
        expected = self.answer(theirs)
        if "rows" in expected:
            self.compared += 1
            found = self.answer(ours)
            assert found == expected, f"{when}: the Python client reads other rows: {found}"[:500]


class Trial:
    """One table, compacted by both."""

    def __init__(self, program, judge, client, case, work):
        self.program, self.judge, self.client = program, judge, client
        self.ours = case.copy(work / "sinter")
        self.theirs = case.copy(work / "paimon")
        expected = case.expected.read_text().splitlines()
        self.more = [json.loads(line) for line in expected[:MORE_ROWS]]
        self.is_sound = self.judge.call("verify", self.theirs)["ok"]  # before anybody touched it

    def compact(self, *options):
        arguments = {"full": True} if "--full" in options else {}
        sinter(self.program, "compact", self.ours, *options, codes=(0, NOTHING_TO_DO))
        self.judge.call("compact", self.theirs, **arguments)

    def check(self, when):
        rows = self.judge.rows(self.theirs)
        for who, found in (("Paimon", self.judge.rows(self.ours)),
                           ("sinter", sinter_rows(self.program, self.ours))):
            others = [[row for row in found if row not in rows][:1],
                      [row for row in rows if row not in found][:1]]
            assert found == rows, f"{when}: {who} reads other rows: {others[0]} for {others[1]}"
        if self.client is not None:
            self.client.check(self.ours, self.theirs, when)
        found = self.judge.call("verify", self.ours)
        assert found["ok"] or not self.is_sound, f"{when}: verify: {found.get('errors')}"

    def check_shape(self, when, is_full):
        with_nan = columns_with_nan(self.judge.rows(self.theirs))
        ours, theirs = (shape(self.judge.files(table), with_nan)
                        for table in (self.ours, self.theirs))
        if needs_lookup(self.ours) and not is_full:
            # sinter has no lookup, and takes the whole bucket to the highest level at once; where
            # all of it is deleted nothing is left, where Paimon leaves rows that vectors mark.
            theirs = {bucket: levels(files) for bucket, files in whole(theirs).items()
                      if bucket in ours}
            ours = {bucket: levels(files) for bucket, files in ours.items() if bucket in theirs}
            assert ours == theirs, f"{when}: levels are {ours}, Paimon's {theirs}"
            return
        found = difference(ours, theirs)
        assert not found, f"{when}: {found}"

    def write(self):
        for table in (self.ours, self.theirs):
            self.judge.call("write", table, write_only=True, rows=[self.more])

    def turn(self, *options):
        """The other way round: Paimon compacts what sinter did and the reverse."""
        arguments = {"full": True} if "--full" in options else {}
        self.judge.call("compact", self.ours, **arguments)
        sinter(self.program, "compact", self.theirs, *options, codes=(0, NOTHING_TO_DO))


def try_table(trial, options):
    trial.compact(*options)
    trial.check("compacted")
    trial.check_shape("compacted", "--full" in options)
    if trial.more and "--full" in options:
        trial.write()
        trial.turn("--full")
        trial.check("compacted in turn")
        trial.write()
        trial.compact("--full")
        trial.check("compacted again")


def try_refused(program, case, work):
    table = case.copy(work / "refused")
    before = sorted(str(path) for path in table.rglob("*"))
    try:
        sinter(program, "compact", table, "--full")
    except AssertionError:
        assert sorted(str(path) for path in table.rglob("*")) == before, "a refusal left files"
        return
    raise AssertionError("exceptions.txt names it, and it works")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--pypaimon", metavar="PYTHON", help="that has Paimon's Python client")
    parser.add_argument("patterns", nargs="*")
    return parser.parse_intermixed_args()


def try_case(args, judge, client, case):
    """Whether the table is one that is refused."""
    if any(fnmatch.fnmatch(case.name, pattern) for pattern, _ in exceptions()):
        try_refused(args.program, case, args.work)
        return True
    for options in (("--full",), ()):
        try_table(Trial(args.program, judge, client, case, args.work), options)
    return False


def main():
    args = arguments()
    folder = paimon.tables_dir()
    found = [case for case in paimon.cases(folder)
             if not args.patterns or any(fnmatch.fnmatch(case.name, p) for p in args.patterns)]
    failed, refused = 0, 0
    client = PythonClient(args.pypaimon) if args.pypaimon else None
    with paimon.Oracle() as judge:
        for case in found:
            try:
                refused += try_case(args, judge, client, case)
            except (AssertionError, paimon.Refused) as failure:
                failed += 1
                print(f"{case.name}: {failure}", flush=True)
    print(f"{len(found)} tables in {folder.name}: {failed} failed, {refused} refused by name, "
          f"{client.compared if client else 0} readings by the Python client")
    sys.exit(1 if failed or not found or (client and not client.compared) else 0)


if __name__ == "__main__":
    main()
