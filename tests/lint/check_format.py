#!/usr/bin/env python3
"""clang-format changes nothing. usage: check_format.py CLANG_FORMAT"""
import subprocess
import sys

import tree


def main():
    paths = tree.files(".c", ".h", ".cc", ".hh")
    done = subprocess.run([sys.argv[1], "--dry-run", "--Werror", *map(str, paths)],
                          capture_output=True, text=True)
    findings = [line for line in done.stderr.splitlines() if "error:" in line]
    if done.returncode != 0 and not findings:
        findings = [done.stderr]
    tree.report(findings, len(paths), "files")


if __name__ == "__main__":
    main()
