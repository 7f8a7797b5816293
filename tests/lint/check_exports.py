#!/usr/bin/env python3
"""What the libraries export: the headers, src/sinter.map and the shared object agree to the name.

usage: check_exports.py SHARED_LIBRARY STATIC_LIBRARY
"""
import re
import subprocess
import sys

import tree

sys.path.insert(0, str(tree.ROOT / "tools"))
import export_map  # noqa: E402 (needs the path above)


def symbols(*command):
    """Names of defined global symbols; versions cut off, section and version names left out."""
    out = subprocess.run(["nm", "--defined-only", "--format=posix", *command], check=True,
                         capture_output=True, text=True).stdout
    found = set()
    for line in out.splitlines():
        words = line.split()
        if len(words) >= 2 and words[1] in "TDBRVWiu":
            found.add(words[0].split("@")[0])
    return found


def differences(left, right, left_name, right_name):
    for name in sorted(left - right):
        yield f"{name}: in {left_name}, not in {right_name}"
    for name in sorted(right - left):
        yield f"{name}: in {right_name}, not in {left_name}"


def main():
    shared, static = sys.argv[1:]
    versions = export_map.blocks((tree.ROOT / "src/sinter.map").read_text())
    mapped = set().union(*versions.values())
    exported = {name for name in symbols("-D", shared) if not re.match(r"SINTER_\d", name)}
    findings = [f"{name}: a public symbol without the prefix sinter_"
                for name in sorted(exported) if not re.match(r"sinter_[a-z0-9]", name)]
    findings += differences(exported, mapped, "the shared library", "src/sinter.map")
    findings += differences(export_map.declared(), mapped, "the headers", "src/sinter.map")
    inside = symbols("-g", static)
    findings += [f"{name}: crosses files and begins neither with sinter_ nor with sinter__"
                 for name in sorted(inside) if not name.startswith("sinter_")]
    findings += [f"{name}: has the public prefix but no SINTER_API declaration"
                 for name in sorted(inside - mapped)
                 if name.startswith("sinter_") and not name.startswith("sinter__")]
    tree.report(findings, len(exported) + len(inside), "symbols")


if __name__ == "__main__":
    main()
