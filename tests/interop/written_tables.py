#!/usr/bin/env python3
"""The same rows are written by sinter and by Paimon: both tables are the same.

usage: written_tables.py SINTER WORK [--seeds A-B]

Each seed is one table of random_tables.py, with or without a primary key, which sinter and Paimon
make and write each in a copy of its own: rows of all kinds, as JSON lines, CSV and TSV. Rows, files
and statistics are compared after each write, and after compactions by the one and the other.

Apart from what random_tables.py leaves out, these are: a descending sequence.field, which Paimon's
write buffer takes for an ascending one; changelog-producer input, which sinter doesn't write;
tables that need a lookup, which sinter compacts as a whole; -0.0, which Paimon takes for 0.0 in
keys and in bounds.
"""
import argparse
import json
import pathlib
import shutil
import subprocess

import compact_tables
import oracle as paimon
import random_tables
from oracle import sinter

WITHOUT_KEY = ("bucket", "file", "metadata", "parquet", "partition", "data-file.prefix",
               "data-file.path", "manifest", "ignore-update")


class Table(random_tables.Table):
    """A table that both can write."""

    def first_options(self, keys):
        options = super().first_options(keys)
        for name in ("sequence.field.sort-order", "changelog-producer"):
            options.pop(name, None)
        if options["merge-engine"] == "first-row" or "deletion-vectors.enabled" in options:
            options["merge-engine"] = "deduplicate"
            options.pop("deletion-vectors.enabled", None)
        options["ignore-update-before"] = self.rng.choice(["true", "false"])
        options["write-max-writers-to-spill"] = "1000"  # Paimon numbers rows anew when it spills
        self.has_key = options["bucket"] != "-1" and self.rng.random() < 0.6
        if self.has_key:
            return options
        options = {name: value for name, value in options.items()
                   if name.startswith(WITHOUT_KEY) or name == "write-max-writers-to-spill"}
        if options["bucket"] != "-1":
            options["bucket-key"] = options.get("bucket-key", keys[0])
        return options

    def schema(self):
        found = super().schema()
        return found if self.has_key else {**found, "primaryKeys": []}

    def rows(self, count):
        found = super().rows(count)
        for row in found:
            row.update({name: 0 for name, value in row.items()
                        if isinstance(value, float) and value == 0})
            if not self.has_key and row["_kind"] != "+U":
                row["_kind"] = "+I"
        return found


def without_ids(part):
    """A schema whose ids sinter is to give."""
    if isinstance(part, dict):
        return {name: without_ids(value) for name, value in part.items() if name != "id"}
    return [without_ids(value) for value in part] if isinstance(part, list) else part


def cell(value):
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return '"' + text.replace('"', '""') + '"'


def lines(rows, form):
    """The rows as an input of `sinter write`."""
    if form == "json":
        return "".join(paimon.text(row) + "\n" for row in rows)
    parted = {"csv": ",", "tsv": "\t"}[form]
    found = [parted.join(map(cell, rows[0]))]
    found += [parted.join(cell(row[name]) for name in rows[0]) for row in rows]
    return "\n".join(found) + "\n"


def feed(program, text, *arguments):
    done = subprocess.run([program, *map(str, arguments)], input=text, capture_output=True,
                          text=True)
    assert done.returncode == 0, f"sinter {arguments[0]}: {done.stderr.strip()}"


class Unable(Exception):
    """Paimon can't do by itself what is asked for."""


def by_itself(judge, command, table, **arguments):
    """What nothing of sinter's has a part in, so that a refusal is no fault."""
    try:
        return judge.call(command, table, **arguments)
    except paimon.Refused as refusal:
        raise Unable(str(refusal)[:300]) from refusal


def write(args, judge, table, ours, theirs):
    rows = table.rows(table.rng.choice([1, 3, 10, 40]))
    form = table.rng.choice(["json", "csv", "tsv"])
    by_itself(judge, "write", theirs, rows=[rows], write_only=True)
    feed(args.program, lines(rows, form), "write", ours, "-", "--format", form)


def try_seed(args, judge, seed):
    folder = args.work / f"seed{seed}.db"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    table = Table(seed)
    schema = table.schema()
    ours, theirs = folder / "ours", folder / "theirs"
    by_itself(judge, "create", theirs, schema=schema)
    feed(args.program, json.dumps(without_ids(schema)), "create", ours, "--schema", "-")
    case = paimon.Case(folder, "theirs", folder / "none")
    case.expected.write_text("")
    trial = compact_tables.Trial(args.program, judge, None, case, args.work / "copies")
    trial.ours, trial.theirs = ours, theirs
    for when in ("written", "written again", "written once more"):
        for _ in range(table.rng.randint(1, 2)):
            write(args, judge, table, ours, theirs)
        if not judge.call("snapshots", theirs)["lines"]:
            return  # all of its rows are ignored
        trial.check(when)
        trial.check_shape(when, True)
        if when == "written":
            trial.compact("--full")
        else:
            trial.turn("--full")
        trial.check(f"{when}, compacted")
    sinter(args.program, "verify", ours)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--seeds", metavar="A-B", default=f"1-{20 * paimon.scale()}")
    args = parser.parse_args()

    def attempt(judge, seed):
        try:
            return try_seed(args, judge, seed)
        except Unable as reason:
            return str(reason)

    random_tables.run_seeds(args.work, args.seeds, attempt)


if __name__ == "__main__":
    main()
