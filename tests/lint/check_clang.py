#!/usr/bin/env python3
"""clang warns of nothing in what only gcc compiles: tests, benchmarks, examples, the program and
libsinter_columnar. The library is built with clang. usage: check_clang.py CLANG BUILD_DIR
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

import tree

FOLDERS = ("tests", "bench", "examples", "src/cli")


def warnings(clang, entry):
    """What clang says of a file, with the flags of its build."""
    _, *words = shlex.split(entry["command"])
    at = words.index("-o")
    words = words[:at] + words[at + 2:]
    done = subprocess.run([clang, *words, "-Werror", "-fsyntax-only"], cwd=entry["directory"],
                          capture_output=True, text=True)
    if done.returncode == 0:
        return []
    found = [line for line in done.stderr.splitlines() if "error:" in line or "warning:" in line]
    return found or [f"{entry['file']}: {done.stderr.strip()}"]


def main():
    clang, build = sys.argv[1:]
    entries = {}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        ours = path.suffix == ".c" and any(path.is_relative_to(tree.ROOT / at) for at in FOLDERS)
        if ours or path.parent.name == "Unity":
            entries[path] = entry
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda entry: warnings(clang, entry), entries.values())
        findings = sorted({line for found in results for line in found})
    tree.report(findings, len(entries), "files")


if __name__ == "__main__":
    main()
