#!/usr/bin/env python3
"""Write src/sinter.map from the SINTER_API declarations of the public headers.

A name that a release has exported stays in the block of that release; names that the map does not
have yet go into the block of the version that CMakeLists.txt names.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DECLARATION = re.compile(r"^SINTER_API\b[^;{]*?\b(sinter_\w+)\s*\(", re.M | re.S)
BLOCK = re.compile(r"^SINTER_(\S+) \{\n    global:\n(.*?)\n(?:    local: \*;\n)?\}", re.M | re.S)


def declared():
    """Names of the functions that the public headers declare."""
    names = set()
    for pattern in ("*.h", "*.h.in"):
        for header in (ROOT / "include/sinter").glob(pattern):
            text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
            names.update(DECLARATION.findall(text))
    return names


def blocks(text):
    """The map as {version: set of names}, oldest first."""
    return {version: set(re.findall(r"sinter_\w+", body)) for version, body in BLOCK.findall(text)}


def render(versions):
    out, previous = [], ""
    for number, (version, names) in enumerate(versions.items()):
        lines = "\n".join(f"        {name};" for name in sorted(names))
        local = "    local: *;\n" if number == 0 else ""
        out.append(f"SINTER_{version} {{\n    global:\n{lines}\n{local}}}{previous};\n")
        previous = f" SINTER_{version}"
    return "\n".join(out)


def main():
    path = ROOT / "src/sinter.map"
    versions = blocks(path.read_text()) if path.exists() else {}
    current = re.search(r"project\(sinter VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    names = declared()
    old = set()
    for version, known in versions.items():
        if version != current.group(1):
            old |= known
    missing = old - names
    if missing:
        sys.exit(f"released symbols are no longer declared: {', '.join(sorted(missing))}")
    versions[current.group(1)] = names - old
    path.write_text(render(versions))


if __name__ == "__main__":
    main()
