#!/usr/bin/env python3
"""A Paimon writer and sinter's compactor work on one table at the same time: nothing is lost.

usage: live_writer.py SINTER WORK SECONDS

Paimon writes, updates and deletes rows, commit after commit, while sinter compacts again and again.
A table with a primary key and an append table take turns by half of the time each. In the end both
read exactly what a model holds, and Paimon's verify finds nothing.
"""
import pathlib
import random
import shutil
import subprocess
import sys
import threading
import time

import oracle as paimon

# 5: busy or in conflict, which a scheduler tries again; 8: nothing to do.
HARMLESS = (0, 5, 8)
FIELDS = [{"name": "id", "type": "BIGINT NOT NULL"}, {"name": "v", "type": "STRING"}]


class Compactor(threading.Thread):
    """Compacts until told to stop; counts what came of it."""

    def __init__(self, program, table):
        super().__init__()
        self.command = [program, "compact", str(table)]
        self.stopped = threading.Event()
        self.codes = {}
        self.said = []

    def run(self):
        full = False
        while not self.stopped.is_set():
            command = self.command + (["--full"] if full else [])
            done = subprocess.run(command, capture_output=True, text=True)
            self.codes[done.returncode] = self.codes.get(done.returncode, 0) + 1
            if done.returncode not in HARMLESS:
                self.said.append(done.stderr.strip())
            full = not full

    def stop(self):
        self.stopped.set()
        self.join()


class KeyedModel:
    """Rows of a table with a primary key."""

    def __init__(self):
        self.rows = {}

    def commit(self, rng):
        """Rows of one commit, each key once."""
        rows = []
        for key in rng.sample(range(2000), rng.randint(1, 120)):
            if key in self.rows and rng.random() < 0.2:
                rows.append({"_kind": "-D", "id": key, "v": self.rows.pop(key)})
            else:
                self.rows[key] = f"{key}-{rng.randint(0, 10**9)}"
                rows.append({"id": key, "v": self.rows[key]})
        return rows

    def expected(self):
        return sorted(paimon.text({"id": key, "v": v}) for key, v in self.rows.items())


class AppendModel:
    """Rows of a table without one."""

    def __init__(self):
        self.rows = []

    def commit(self, rng):
        rows = [{"id": len(self.rows) + i, "v": str(rng.random())}
                for i in range(rng.randint(1, 60))]
        self.rows.extend(rows)
        return rows

    def expected(self):
        return sorted(paimon.text(row) for row in self.rows)


TABLES = (
    ("keyed", KeyedModel, {"primaryKeys": ["id"], "options": {
        "bucket": "2", "file.format": "avro", "num-sorted-run.compaction-trigger": "3"}}),
    ("append", AppendModel, {"options": {
        "bucket": "-1", "file.format": "avro", "compaction.min.file-num": "3"}}),
)


def live(judge, program, table, model, seconds):
    rng = random.Random(table.name)
    compactor = Compactor(program, table)
    end = time.monotonic() + seconds
    commits = 0
    judge.call("write", table, write_only=True, rows=[model.commit(rng)])
    compactor.start()
    try:
        while time.monotonic() < end:
            judge.call("write", table, write_only=True, rows=[model.commit(rng)])
            commits += 1
    finally:
        compactor.stop()
    assert not compactor.said, f"compact failed: {compactor.said[0]}"
    assert compactor.codes.get(0), f"sinter compacted nothing: {compactor.codes}"
    expected = model.expected()
    assert judge.rows(table) == expected, "Paimon reads other rows than were written"
    assert paimon.sinter_rows(program, table) == expected, "sinter reads other rows"
    found = judge.call("verify", table)
    assert found["ok"] and not found["errors"], f"verify: {found.get('errors')}"
    print(f"{table.name}: {commits} commits, compactions by exit code {compactor.codes}, "
          f"{len(expected)} rows", flush=True)


def main():
    program, work, seconds = sys.argv[1:]
    seconds = float(seconds) * paimon.scale()
    warehouse = pathlib.Path(work) / "live.db"
    shutil.rmtree(warehouse, ignore_errors=True)
    with paimon.Oracle() as judge:
        for name, model, schema in TABLES:
            table = warehouse / name
            judge.call("create", table, schema={"fields": FIELDS, **schema})
            live(judge, program, table, model(), seconds / len(TABLES))


if __name__ == "__main__":
    main()
