#!/usr/bin/env python3
"""Seed one-line faults into the core and see that the tests notice each.

usage: mutants.py [--list] [NAME...]

Works in its own copy of the tree (build/mutants). First the unchanged copy must pass; then each
fault is written over its exact source text, the tests are built and run until one fails, and the
text is put back. A fault whose text is gone from the source, or that no test notices, fails the
run.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build/mutants/tree"
BUILD = ROOT / "build/mutants/build"
JOBS = str(os.cpu_count() or 2)
# Slow kinds that add nothing to "some test notices".
LEFT_OUT = "lint|package|slow|fuzz"


def mutants():
    """The list of tools/mutants.json: name, file, old text, new text, and why it matters."""
    return json.loads((ROOT / "tools/mutants.json").read_text())


def run(command, log, timeout=900):
    """True if the command succeeds in time; its output goes to `log`."""
    with open(log, "ab") as out:
        try:
            return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, timeout=timeout,
                                  stdin=subprocess.DEVNULL).returncode == 0
        except subprocess.TimeoutExpired:
            return False


def copy_tree():
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], check=True, capture_output=True).stdout
    if COPY.exists():
        shutil.rmtree(COPY)
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            target = COPY / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)


def build(log):
    return run(["cmake", "--build", str(BUILD), "-j", JOBS], log)


def tests_pass(log):
    return run(["ctest", "--test-dir", str(BUILD), "-j", JOBS, "-LE", LEFT_OUT,
                "--stop-on-failure", "--no-tests=error", "--timeout", "240"], log)


def try_mutant(mutant, log):
    """None if the tests notice it, else what is wrong."""
    path = COPY / mutant["file"]
    source = path.read_text()
    if source.count(mutant["old"]) != 1:
        return f"its text is {source.count(mutant['old'])} times in {mutant['file']}, not once"
    if mutant["old"] == mutant["new"] or "\n" in mutant["old"].strip("\n"):
        return "it is not a change of one line"
    path.write_text(source.replace(mutant["old"], mutant["new"]))
    try:
        if not build(log):
            return f"it does not compile, see {log}"
        return "no test notices it" if tests_pass(log) else None
    finally:
        path.write_text(source)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", action="store_true", help="name the faults and stop")
    parser.add_argument("names", nargs="*", help="try these only")
    arguments = parser.parse_args()
    chosen = [m for m in mutants() if not arguments.names or m["name"] in arguments.names]
    if arguments.list:
        for mutant in chosen:
            print(f"{mutant['name']:28} {mutant['file']:28} {mutant['why']}")
        return
    if not chosen:
        sys.exit("no such fault")
    copy_tree()
    log = ROOT / "build/mutants/log"
    log.unlink(missing_ok=True)
    configure = ["cmake", "-G", "Ninja", "-S", str(COPY), "-B", str(BUILD),
                 "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-O1"]
    if not run(configure, log) or not build(log) or not tests_pass(log):
        sys.exit(f"the unchanged tree does not pass, see {log}")
    survivors = 0
    for mutant in chosen:
        fault = try_mutant(mutant, log)
        survivors += fault is not None
        print(f"{'SURVIVES' if fault else 'noticed':9} {mutant['name']}"
              f"{': ' + fault if fault else ''}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} seeded faults noticed")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
