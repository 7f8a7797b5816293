#!/usr/bin/env python3
"""Tables that Paimon's Python client wrote are read and compacted by sinter as by Paimon.

usage: python_tables.py SINTER WORK --pypaimon PYTHON [--seeds A-B]

Its manifests have fields that the release of Paimon for Java, and sinter, don't know. Each table
(pypaimon_write.py) goes through what compact_tables.py does.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

import compact_tables
import oracle as paimon
from oracle import sinter


def try_table(args, judge, client, folder):
    """Whether there was a table with rows."""
    if not (folder / "t" / "snapshot").is_dir():
        return False
    case = paimon.Case(folder, "t", folder / "expected.jsonl")
    case.expected.write_text("".join(f"{row}\n" for row in judge.rows(folder / "t")))
    sinter(args.program, "verify", folder / "t")
    for options in (("--full",), ()):
        trial = compact_tables.Trial(args.program, judge, client, case, args.work / "copies")
        trial.check("read")
        compact_tables.try_table(trial, options)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--pypaimon", metavar="PYTHON", required=True)
    parser.add_argument("--seeds", metavar="A-B", default=f"1-{8 * paimon.scale()}")
    args = parser.parse_args()
    first, last = (int(number) for number in args.seeds.split("-"))
    shutil.rmtree(args.work, ignore_errors=True)
    subprocess.run([args.pypaimon, paimon.HERE / "pypaimon_write.py", args.work / "made",
                    str(first), str(last)], check=True)
    failed = tried = 0
    client = compact_tables.PythonClient(args.pypaimon)
    with paimon.Oracle() as judge:
        for seed in range(first, last + 1):
            try:
                tried += try_table(args, judge, client, args.work / "made" / str(seed) / "d.db")
            except (AssertionError, paimon.Refused) as failure:
                failed += 1
                print(f"seed {seed}: {failure}"[:2000], flush=True)
    print(f"{last - first + 1} seeds: {tried} tables, {failed} failed, "
          f"{client.compared} readings by the Python client")
    sys.exit(1 if failed or not tried or not client.compared else 0)


if __name__ == "__main__":
    main()
