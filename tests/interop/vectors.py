#!/usr/bin/env python3
"""F4: the mark that a row is deleted doesn't outlive the file it belongs to.

usage: vectors.py SINTER WORK

In each of ten rounds Paimon deletes a row, which gives a file a deletion vector, and sinter
compacts the table, first as its strategy decides and then fully. After each of the two, every
vector is one of a live file, Paimon and sinter read the rows that are left, and Paimon's verify
finds nothing.
"""
import pathlib
import shutil
import sys

import oracle as paimon

ROUNDS = 10
ROWS = 40
NOTHING_TO_DO = 8
FIELDS = [{"name": "id", "type": "INT NOT NULL"}, {"name": "v", "type": "STRING"}]
OPTIONS = {"file.format": "avro", "deletion-vectors.enabled": "true"}
TABLES = (
    ("append", {"options": {**OPTIONS, "bucket": "-1"}}),
    ("keyed", {"primaryKeys": ["id"], "options": {**OPTIONS, "bucket": "1"}}),
)


def delete(judge, table, name, key):
    if name == "append":
        judge.call("delete", table, filter={"op": "=", "col": "id", "value": key})
    else:
        judge.call("write", table, no_compact=True, rows=[[{"_kind": "-D", "id": key}]])


def vectors(judge, table):
    """How many vectors there are; each must be of a live file."""
    answer = judge.files(table)
    live = {file["file"] for file in answer["files"]}
    found = [vector["dataFile"] for index in answer["index"] for vector in index["vectors"]]
    gone = sorted(set(found) - live)
    assert not gone, f"vectors of files that are gone: {gone}"
    return len(found)


def check(judge, program, table, expected, when):
    assert judge.rows(table) == expected, f"{when}: Paimon reads other rows"
    assert paimon.sinter_rows(program, table) == expected, f"{when}: sinter reads other rows"
    return vectors(judge, table)


def try_table(judge, program, table, name):
    rows = {key: paimon.text({"id": key, "v": f"v{key}"}) for key in range(ROWS)}
    for first in range(0, ROWS, 10):
        judge.call("write", table, no_compact=True,
                   rows=[[{"id": key, "v": f"v{key}"} for key in range(first, first + 10)]])
    made = left = 0
    for number in range(ROUNDS):
        key = number * 3
        delete(judge, table, name, key)
        del rows[key]
        made += vectors(judge, table)
        paimon.sinter(program, "compact", table, codes=(0, NOTHING_TO_DO))
        vectors(judge, table)
        paimon.sinter(program, "compact", table, "--full", codes=(0, NOTHING_TO_DO))
        left = check(judge, program, table, sorted(rows.values()), f"{name}, round {number}")
    found = judge.call("verify", table)
    assert found["ok"] and not found["errors"], f"{name}: verify: {found.get('errors')}"
    assert made >= ROUNDS, f"{name}: Paimon made {made} vectors"
    print(f"{name}: {made} vectors came, {left} are left", flush=True)


def main():
    program, work = sys.argv[1:]
    warehouse = pathlib.Path(work) / "vectors.db"
    shutil.rmtree(warehouse, ignore_errors=True)
    with paimon.Oracle() as judge:
        for name, schema in TABLES:
            table = warehouse / name
            judge.call("create", table, schema={"fields": FIELDS, **schema})
            try_table(judge, program, table, name)


if __name__ == "__main__":
    main()
