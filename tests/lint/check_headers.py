#!/usr/bin/env python3
"""Each header compiles alone: public ones as C11 and as C++17, those of the rooms as C11.

usage: check_headers.py BUILD_DIR CC CXX
"""
import subprocess
import sys

import tree

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]


def compile_alone(compiler, language, standard, header, folders):
    source = f'#include "{header}"\n#include "{header}"\n'
    flags = [f"-I{folder}" for folder in folders]
    return subprocess.run([compiler, "-x", language, f"-std={standard}", *WARNINGS, *flags, "-"],
                          input=source, capture_output=True, text=True)


def main():
    build, cc, cxx = sys.argv[1:]
    public = [tree.ROOT / "include", f"{build}/include"]
    checked, findings = 0, []
    headers = [f"sinter/{path.name.removesuffix('.in')}"
               for path in tree.files(".h", ".in", folders=("include",))]
    jobs = [(cc, "c", "c11", header, public) for header in headers]
    jobs += [(cxx, "c++", "c++17", header, public) for header in headers]
    jobs += [(cc, "c", "gnu11", str(path.relative_to(tree.ROOT / "src")),
              [*public, tree.ROOT / "src"])
             for path in tree.files(".h", folders=("src",)) if path.parent.name != "cli"]
    for compiler, language, standard, header, folders in jobs:
        checked += 1
        done = compile_alone(compiler, language, standard, header, folders)
        if done.returncode != 0:
            findings.append(f"{header} does not compile alone as {standard}:\n{done.stderr}")
    tree.report(findings, checked, "compilations")


if __name__ == "__main__":
    main()
