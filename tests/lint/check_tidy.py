#!/usr/bin/env python3
"""clang-tidy (see .clang-tidy) finds nothing in src.

usage: check_tidy.py CLANG_TIDY BUILD_DIR [--deep]

Nearly all of the time goes into a few functions whose paths the analyzer follows to its limit of
nodes. It visits what it has not seen first, so a lower limit cuts repetition before reach. --deep
(make torture) leaves the analyzer its own limit. The C++ files go as one: each alone takes 12
seconds, of which Arrow's headers are ten.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import tree

FEWER_NODES = [f"--extra-arg={word}"
               for word in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=5000")]


def tidy(command, build, path, limits):
    # Assertions tell the analyzer what holds, so they stay on for it in builds without them.
    done = subprocess.run([command, "-p", build, "--quiet", "--extra-arg=-UNDEBUG", *limits,
                           str(path)], capture_output=True, text=True)
    if done.returncode == 0:
        return []
    found = [line for line in done.stdout.splitlines() if "error:" in line or "warning:" in line]
    return found or [f"{tree.name(path)}: {done.stderr.strip()}"]


def as_one(entries, folder):
    """A unit that includes these files, in a folder with its own compile_commands.json."""
    unit = pathlib.Path(folder) / "unit.cc"
    unit.write_text("".join(f'#include "{entry["file"]}" // NOLINT\n' for entry in entries))
    command = entries[0]["command"].replace(entries[0]["file"], str(unit))
    (unit.parent / "compile_commands.json").write_text(json.dumps(
        [{"directory": entries[0]["directory"], "command": command, "file": str(unit)}]))
    return unit


def main():
    command, build, *depth = sys.argv[1:]
    if depth not in ([], ["--deep"]):
        sys.exit(__doc__)
    limits = [] if depth else FEWER_NODES
    entries = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    entries = {entry["file"]: entry for entry in entries
               if pathlib.Path(entry["file"]).is_relative_to(tree.ROOT / "src")}
    paths = [pathlib.Path(file) for file in entries if file.endswith(".c")]
    paths.sort(key=lambda path: -path.stat().st_size)  # no long one alone at the end
    columnar = [entry for file, entry in sorted(entries.items()) if not file.endswith(".c")]
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = []
        if columnar:
            results.append(pool.submit(tidy, command, folder, as_one(columnar, folder),
                                       [*limits, f"--config-file={tree.ROOT / '.clang-tidy'}",
                                        "--checks=-readability-function-size"]))
        results += [pool.submit(tidy, command, build, path, limits) for path in paths]
        findings = sorted({line for result in results for line in result.result()})
    tree.report(findings, len(entries), "files")


if __name__ == "__main__":
    main()
