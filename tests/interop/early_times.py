#!/usr/bin/env python3
"""Times before 1970 with fractions of a second, in ORC: Paimon reads what sinter wrote.

usage: early_times.py SINTER WORK

Rows that fill several row groups are written by Paimon, and compacted by sinter and, in a copy, by
Paimon. Paimon reads the same rows from both; under predicates too, where it skips row groups by
their statistics and begins in the middle of streams. ORC can't hold times of the last second before
1970 that have milliseconds: Paimon takes them for later ones, sinter refuses to write them.
"""
import datetime
import pathlib
import random
import shutil
import sys

import oracle as paimon
from oracle import sinter, sinter_rows

ROWS = 24000
FILTERS = 10
TIMES = {"milli": 3, "micro": 6, "nano": 9, "sorted": 6}
SCHEMA = {
    "fields": [{"name": "id", "type": "BIGINT NOT NULL"},
               *({"name": name, "type": f"TIMESTAMP({digits})"} for name, digits in TIMES.items()),
               {"name": "utc", "type": "TIMESTAMP(6) WITH LOCAL TIME ZONE"},
               {"name": "list", "type": {"type": "ARRAY", "element": "TIMESTAMP(6)"}}],
    "primaryKeys": ["id"]}


def time_text(second, nanos, digits):
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=second)
    return f"{at:%Y-%m-%d %H:%M:%S}.{nanos:09d}"[:20 + digits]


def time_of(random_numbers, digits):
    """Far from 1970 or near; any nanoseconds, few of them, or none but milliseconds."""
    far = random_numbers.randrange(4 * 10 ** 9)
    second = random_numbers.choice((-2 - far // 2, far, -2 - far % 5))
    nanos = random_numbers.randrange(10 ** 9)
    few = nanos % 10 ** 6
    return time_text(second, random_numbers.choice((nanos, few, nanos - few)), digits)


def rows_of(random_numbers):
    for i in range(ROWS):
        row = {name: time_of(random_numbers, digits) for name, digits in TIMES.items()}
        row.update(id=i, sorted=time_text(-20 * ROWS + 20 * i, i * 997 % 10 ** 9, 6),
                   utc=time_of(random_numbers, 6) + "Z",
                   list=[time_of(random_numbers, 6) for _ in range(i % 3)])
        if i % 7 == 0:
            row["nano"] = None
        yield row


def filters_of(random_numbers, rows):
    for _ in range(FILTERS):
        column = random_numbers.choice((*TIMES, "sorted", "utc"))
        row = random_numbers.choice([row for row in rows if row[column] is not None])
        yield {"op": random_numbers.choice(("=", "<", ">=")), "col": column, "value": row[column]}
    for _ in range(FILTERS):
        first = random_numbers.randrange(ROWS)
        yield {"op": "between", "col": "id", "values": [first, first + 5]}


def try_codec(program, judge, work, codec, seed):
    random_numbers = random.Random(seed)
    ours, theirs = work / f"{codec}.db" / "ours", work / f"{codec}.db" / "theirs"
    shutil.rmtree(ours.parent, ignore_errors=True)
    options = {"bucket": "1", "file.format": "orc", "file.compression": codec}
    rows = list(rows_of(random_numbers))
    judge.call("create", ours, schema={**SCHEMA, "options": options})
    judge.call("write", ours, write_only=True, rows=[rows[::2], rows[1::2]])
    shutil.copytree(ours, theirs)
    before = judge.rows(ours)
    sinter(program, "compact", ours, "--full")
    judge.call("compact", theirs, full=True)
    assert judge.rows(ours) == before, f"{codec}: Paimon reads other rows"
    assert sinter_rows(program, ours) == before, f"{codec}: sinter reads other rows"
    found = judge.call("verify", ours)
    assert found["ok"], f"{codec}: verify: {found.get('errors')}"
    for question in filters_of(random_numbers, rows):
        expected, found = (judge.rows(table, filter=question) for table in (theirs, ours))
        assert found == expected, f"{codec}: {question}: {len(found)} rows, not {len(expected)}"


def try_last_second(program, judge, work):
    """Paimon takes such a time for one after 1970; sinter refuses it, and changes nothing."""
    table = work / "last.db" / "t"
    shutil.rmtree(table.parent, ignore_errors=True)
    fields = [{"name": "id", "type": "INT NOT NULL"}, {"name": "t", "type": "TIMESTAMP(3)"}]
    judge.call("create", table, schema={"fields": fields, "primaryKeys": ["id"],
                                        "options": {"bucket": "1", "file.format": "avro"}})
    rows = [{"id": 1, "t": "1969-12-31 23:59:59.001"}]
    judge.call("write", table, write_only=True, rows=[rows, rows])
    before = judge.rows(table)
    judge.call("alter", table, changes=[{"op": "set", "key": "file.format", "value": "orc"}])
    try:
        sinter(program, "compact", table, "--full")
    except AssertionError as refused:
        assert "column t" in str(refused), refused
    else:
        raise AssertionError("a time was written that ORC can't hold")
    assert judge.rows(table) == before
    judge.call("compact", table, full=True)
    assert judge.rows(table) != before, "Paimon writes what sinter refuses"


def main():
    program, work = sys.argv[1], pathlib.Path(sys.argv[2])
    with paimon.Oracle() as judge:
        for seed, codec in enumerate(("zstd", "none", "lz4")):
            try_codec(program, judge, work, codec, seed)
        try_last_second(program, judge, work)
    print(f"{3 * ROWS} rows, {6 * FILTERS} predicates")


if __name__ == "__main__":
    main()
