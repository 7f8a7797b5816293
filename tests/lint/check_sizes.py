#!/usr/bin/env python3
"""Sizes (CONTRIBUTING.md) and words: lines, functions and files that are too long, reminder words,
blanks at the end of lines, suppressed warnings without a reason."""
import re

import tree

LINE_MAX = 100
FUNCTION_MAX = 70
FILE_MAX = 900
REMINDERS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b|\bfor n" r"ow\b|place" r"holder")
NOLINT = re.compile(r"NOLINT(?!END)\w*(?!\w*\([\w.,*-]+\): \S)")
CODE = (".c", ".h", ".cc", ".hh", ".in", ".def")
SCRIPTS = (".py", ".cmake")


def functions(lines):
    """(first line, length) of each function: from the line before its name to the closing brace."""
    begin = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            begin = number
        elif line == "}" and begin is not None:
            yield begin, number - begin + 1
            begin = None


def check(path):
    text = path.read_text()
    lines = text.splitlines()
    where = tree.name(path)
    is_code = path.suffix in CODE
    if is_code and len(lines) > FILE_MAX:
        yield f"{where}: {len(lines)} lines, {FILE_MAX} are allowed"
    for number, line in enumerate(lines, 1):
        if (is_code or path.suffix in SCRIPTS) and len(line) > LINE_MAX:
            yield f"{where}:{number}: {len(line)} columns, {LINE_MAX} are allowed"
        if line != line.rstrip():
            yield f"{where}:{number}: blanks at the end of the line"
        if is_code and "\t" in line:
            yield f"{where}:{number}: a tab"
        if REMINDERS.search(line):
            yield f"{where}:{number}: a reminder: {line.strip()}"
        if is_code and "NOLINT" in line and NOLINT.search(line):
            yield f"{where}:{number}: NOLINT(check): and the reason"
    if is_code:
        for begin, length in functions(lines):
            if length > FUNCTION_MAX:
                yield f"{where}:{begin}: a function of {length} lines, {FUNCTION_MAX} are allowed"
    if text and not text.endswith("\n"):
        yield f"{where}: no newline at the end"


def main():
    paths = tree.files(*CODE, *SCRIPTS, ".sh", ".md", ".txt", ".json", ".map", top=True)
    findings = [finding for path in paths for finding in check(path)]
    tree.report(findings, len(paths), "files")


if __name__ == "__main__":
    main()
