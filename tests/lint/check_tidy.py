#!/usr/bin/env python3
"""clang-tidy (see .clang-tidy) finds nothing in src.

usage: check_tidy.py CLANG_TIDY BUILD_DIR [--deep]

Nearly all of the time goes into a few functions whose paths the analyzer follows to its limit of
nodes. It visits what it has not seen first, so a lower limit cuts repetition before reach. --deep
(make torture) leaves the analyzer its own limit. The C++ files go in the units they are built in.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

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


def main():
    command, build, *depth = sys.argv[1:]
    if depth not in ([], ["--deep"]):
        sys.exit(__doc__)
    limits = [] if depth else FEWER_NODES
    entries = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    files = {entry["file"] for entry in entries}
    paths = [path for path in map(pathlib.Path, files)
             if path.is_relative_to(tree.ROOT / "src")]
    paths.sort(key=lambda path: -path.stat().st_size)  # no long one alone at the end
    units = sorted(path for path in map(pathlib.Path, files) if path.parent.name == "Unity")
    settings = [*limits, f"--config-file={tree.ROOT / '.clang-tidy'}",
                "--checks=-readability-function-size,-bugprone-suspicious-include"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = [pool.submit(tidy, command, build, path, settings) for path in units]
        results += [pool.submit(tidy, command, build, path, limits) for path in paths]
        findings = sorted({line for result in results for line in result.result()})
    tree.report(findings, len(units) + len(paths), "files")


if __name__ == "__main__":
    main()
