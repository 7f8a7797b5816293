#!/usr/bin/env python3
"""Reads tables with Paimon's Python client; answers on a pipe.

Input: one path of a table (WAREHOUSE/DATABASE.db/TABLE) a line. Output: one line of JSON each:
{"rows":[...]} with one text per row, sorted, or {"error":"..."}.
"""
import json
import pathlib
import sys

import pypaimon


def plain(value):
    """The value with the entries of maps, which come as pairs, in one order."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, list):
        parts = list(map(plain, value))
        is_map = any(isinstance(part, tuple) for part in parts)
        return sorted(parts, key=repr) if is_map else parts
    return value


def rows(path):
    path = pathlib.Path(path).resolve()
    catalog = pypaimon.CatalogFactory.create({"warehouse": str(path.parent.parent)})
    table = catalog.get_table(f"{path.parent.name[:-len('.db')]}.{path.name}")
    builder = table.new_read_builder()
    read = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    return sorted(repr(plain(row)) for row in read.to_pylist())


for line in sys.stdin:
    try:
        answer = {"rows": rows(line.strip())}
    except Exception as failure:  # whatever the client can't read, it says so in its own way
        answer = {"error": f"{type(failure).__name__}: {failure}"[:300]}
    print(json.dumps(answer), flush=True)
