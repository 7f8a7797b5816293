#!/usr/bin/env python3
"""Make one test project of the tests of several builds, so that one run of ctest tells it all.

usage: ctest_merge.py OUT BUILD[=SELECTION]...

BUILD is a folder below build/. SELECTION: labels joined by "+", of which a test must have one; or
"-label", which it must not have. Tests are renamed BUILD/test. A test that is disabled, and a
selection that selects nothing, is an error; properties that let a test be skipped are left out, so
that skipping fails.
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPING = {"SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION"}
LISTED_ELSEWHERE = {"BACKTRACE"}
NAMES = {"FIXTURES_SETUP", "FIXTURES_CLEANUP", "FIXTURES_REQUIRED", "DEPENDS", "RESOURCE_LOCK"}


def quote(value):
    """A bracket argument of CMake: no character in it means anything."""
    text = str(value)
    fence = "="
    while f"]{fence}]" in text:
        fence += "="
    return f"[{fence}[{text}]{fence}]"


def text_of(value):
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, list):
        return ";".join(text_of(item) for item in value)
    if isinstance(value, dict):
        return ""
    return str(value)


def selected(labels, selection):
    if not selection:
        return True
    if selection.startswith("-"):
        return selection[1:] not in labels
    return bool(labels.intersection(selection.split("+")))


def convert(build, test):
    """Lines of CTestTestfile.cmake for one test."""
    name = f"{build}/{test['name']}"
    if "command" not in test:
        sys.exit(f"{name}: its program is not built")
    lines = [f"add_test({quote(name)} {' '.join(quote(word) for word in test['command'])})"]
    settings = []
    for entry in test.get("properties", []):
        key, value = entry["name"], entry["value"]
        if key == "DISABLED" and value:
            sys.exit(f"{name}: disabled")
        if key in SKIPPING or key in LISTED_ELSEWHERE:
            continue
        if key in NAMES:
            value = [f"{build}/{item}" for item in value]
        settings.append(f"{key} {quote(text_of(value))}")
    if settings:
        lines.append(f"set_tests_properties({quote(name)} PROPERTIES {' '.join(settings)})")
    return lines


def main():
    out, *builds = sys.argv[1:]
    lines = []
    for word in builds:
        build, _, selection = word.partition("=")
        shown = subprocess.run(["ctest", "--test-dir", str(ROOT / "build" / build),
                                "--show-only=json-v1"], check=True, capture_output=True, text=True)
        count = 0
        for test in json.loads(shown.stdout)["tests"]:
            labels = set()
            for entry in test.get("properties", []):
                if entry["name"] == "LABELS":
                    labels.update(entry["value"])
            if selected(labels, selection):
                lines += convert(build, test)
                count += 1
        if count == 0:
            sys.exit(f"{word} selects no test")
        print(f"{build}: {count} tests")
    folder = ROOT / out
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
