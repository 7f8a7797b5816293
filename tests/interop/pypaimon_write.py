#!/usr/bin/env python3
"""Writes random tables with Paimon's Python client.

usage: pypaimon_write.py WORK FIRST LAST

Each seed from FIRST to LAST is one table, WORK/SEED/d.db/t: with or without a primary key, with or
without partitions, a few commits, overwrites among them. What the client refuses to write, such as
a map in Avro, is left out: the table then has fewer commits, or none.
"""
import datetime
import decimal
import pathlib
import random
import sys

import pyarrow as pa
import pypaimon

NOON = datetime.datetime(2024, 2, 29, 12, 0, 0, 125000)
TYPES = {
    "INT": (pa.int32(), [0, 1, -5, 2**31 - 1]),
    "BIGINT": (pa.int64(), [0, -2**63, 2**40]),
    "SMALLINT": (pa.int16(), [-9, 9]),
    "STRING": (pa.string(), ["", "a", "é", "x" * 20, "\U0001f600"]),
    "DATE": (pa.date32(), [datetime.date(1969, 12, 31), datetime.date(2024, 2, 29)]),
    "DECIMAL": (pa.decimal128(10, 2), [decimal.Decimal(text) for text in ("0.00", "-1.25")]),
    "DOUBLE": (pa.float64(), [0.5, -1e300]),
    "BOOLEAN": (pa.bool_(), [True, False]),
    "BYTES": (pa.binary(), [b"", b"\xff\x00"]),
    "TIME": (pa.time32("ms"), [datetime.time(23, 1, 2, 5000)]),
    "TIMESTAMP": (pa.timestamp("us"), [NOON, NOON.replace(microsecond=1)]),
    "ZONED": (pa.timestamp("us", tz="UTC"), [NOON.replace(tzinfo=datetime.timezone.utc)]),
    "MAP": (pa.map_(pa.string(), pa.int64()), [[], [("a", 1), ("b", None)]]),
    "ROW": (pa.struct([("a", pa.int32()), ("b", pa.string())]), [{"a": 1, "b": None}])}
KEYS = ["INT", "BIGINT", "SMALLINT", "STRING", "DATE", "DECIMAL"]


class Table:
    """Columns and options, all from one seed."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.columns = {"k": rng.choice(KEYS)}
        self.columns.update({f"v{i}": rng.choice(list(TYPES)) for i in range(rng.randint(1, 6))})
        self.partitions = ["p"] if rng.random() < 0.5 else []
        self.columns.update({name: rng.choice(["INT", "STRING"]) for name in self.partitions})
        self.keys = [*self.partitions, "k"] if rng.random() < 0.6 else []
        self.options = {"file.format": rng.choice(["parquet", "orc", "avro"])}
        if self.keys or rng.random() < 0.4:
            self.options.update({"bucket": str(rng.randint(1, 3)), "bucket-key": "k"})
        self.schema = pa.schema([
            pa.field(name, TYPES[kind][0], nullable=name not in self.keys)
            for name, kind in self.columns.items()])

    def value(self, name):
        is_fixed = name in self.keys or name in self.partitions
        return self.rng.choice(TYPES[self.columns[name]][1] + [None] * (not is_fixed))

    def rows(self):
        count = self.rng.choice([1, 5, 20])
        return pa.table([pa.array([self.value(name) for _ in range(count)], type=field.type)
                         for name, field in zip(self.columns, self.schema)], schema=self.schema)


def write(table, warehouse):
    catalog = pypaimon.CatalogFactory.create({"warehouse": str(warehouse)})
    catalog.create_database("d", True)
    catalog.create_table("d.t", pypaimon.Schema.from_pyarrow_schema(
        table.schema, partition_keys=table.partitions, primary_keys=table.keys,
        options=table.options), False)
    target = catalog.get_table("d.t")
    for number in range(table.rng.randint(1, 4)):
        builder = target.new_batch_write_builder()
        if number > 0 and table.rng.random() < 0.25:
            builder = builder.overwrite({})
        writer, commit = builder.new_write(), builder.new_commit()
        writer.write_arrow(table.rows())
        commit.commit(writer.prepare_commit())
        writer.close()
        commit.close()


def main():
    work, first, last = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for seed in range(first, last + 1):
        try:
            write(Table(seed), work / str(seed))
        except Exception as failure:  # whatever the client can't write, it says so in its own way
            print(f"seed {seed}: {type(failure).__name__}: {failure}"[:200])


main()
