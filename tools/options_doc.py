#!/usr/bin/env python3
"""Write docs/options.md from the option table, as `sinter options --json` prints it.

usage: options_doc.py SINTER [--check]    --check: only say whether the page is up to date
"""
import json
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/options.md"
HEAD = """# Options of a compaction

Made by `make docs` from `src/compact/options.def`, the table that also makes parsing,
`sinter options`, man pages and completions.

An option is given on the command line (`-o KEY=VALUE` or `--KEY VALUE`), in a `sinter.files`
document or a catalog, or by `sinter_compact_options_set`. Keys are those of Apache Paimon; those
that begin with `sinter.` are our own. An unknown key is refused, and the nearest known one named.
Sizes are written `128 mb`, `64 kb`, `1g` or as a number of bytes; `mb` is 1024 kb.
Durations are written `1 h`, `30 min`, `10 s` or as a number of milliseconds.

| key | type | default | range | meaning |
| --- | --- | --- | --- | --- |
"""


def cell(text):
    return (text or "–").replace("|", "\\|")


def page(options):
    rows = [f"| `{option['key']}` | {cell(option['type'])} | {cell(option['default'])} "
            f"| {cell(option['range'])} | {cell(option['text'])} |\n" for option in options]
    return HEAD + "".join(rows)


def main():
    out = subprocess.run([sys.argv[1], "options", "--json"], check=True, capture_output=True,
                         text=True).stdout
    text = page([json.loads(line) for line in out.splitlines()])
    if "--check" not in sys.argv[2:]:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit("docs/options.md is out of date: make docs")


if __name__ == "__main__":
    main()
