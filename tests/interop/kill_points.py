#!/usr/bin/env python3
"""Compactions of Paimon's tables are killed anywhere: the table is always as before or as after.

usage: kill_points.py SINTER WORK KILLED_COMPACT KILLS

Each of KILLS times a copy of a table is compacted by a process that kills itself before one of its
calls of the file system, every third time inside of the commit. Then Paimon reads the rows that it
read before and its verify finds nothing; sinter compacts what is left, and all that holds again.
"""
import pathlib
import random
import subprocess
import sys

import oracle as paimon

TABLES = ("pk_dedup_l0_avro", "pk_partitioned_avro", "append_small_avro", "append_dv_avro",
          "pk_dedup_l0_parquet")
NOTHING_TO_DO = 8


def killed(program, table, call):
    """Compact `table`, dead before this call; (calls, those before the commit) if it lived."""
    done = subprocess.run([program, str(table), str(call)], capture_output=True, text=True)
    if done.returncode == 0:
        return tuple(map(int, done.stdout.split()))
    assert done.returncode == -9, f"exit {done.returncode}: {done.stderr.strip()}"
    return None


def check(judge, table, rows, when):
    assert judge.rows(table) == rows, f"{when}: Paimon reads other rows"
    found = judge.call("verify", table)
    assert found["ok"] and not found["errors"], f"{when}: verify: {found.get('errors')}"


def choose(rng, calls, before_commit, kills):
    """Calls to die at: every third inside of the commit, all others anywhere."""
    chosen = []
    for number in range(kills):
        first = before_commit + 1 if number % 3 == 0 else 1
        chosen.append(rng.randint(first, calls))
    return chosen


def main():
    program, work, killer, kills = sys.argv[1:]
    work, kills = pathlib.Path(work), int(kills) * paimon.scale()
    rng = random.Random(kills)
    cases = [case for case in paimon.cases(paimon.tables_dir()) if case.name in TABLES]
    assert cases, "none of the tables is here"
    in_commit = total = 0
    with paimon.Oracle() as judge:
        for case in cases:
            table = case.copy(work)
            rows = judge.rows(table)
            calls, before_commit = killed(killer, table, 0)
            for call in choose(rng, calls, before_commit, kills // len(cases) + 1):
                where = f"{case.name}: killed before call {call} of {calls}"
                table = case.copy(work)
                assert killed(killer, table, call) is None, f"{where}: it lived"
                check(judge, table, rows, where)
                paimon.sinter(program, "compact", table, "--full", codes=(0, NOTHING_TO_DO))
                check(judge, table, rows, f"{where}, and compacted again")
                total += 1
                in_commit += call > before_commit
    print(f"{total} kills, {in_commit} of them in the commit, {len(cases)} tables")


if __name__ == "__main__":
    main()
