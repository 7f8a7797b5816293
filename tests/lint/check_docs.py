#!/usr/bin/env python3
"""Documents and code agree: names that documents use exist, public functions are documented."""
import re

import tree

SYMBOL = re.compile(r"\b(?:sinter__?|SINTER__?)[A-Za-z0-9_]*[A-Za-z0-9]\b(?!\.\w)")
PATH = re.compile(r"`((?:include|src|tests|bench|examples|tools|cmake|docs|man)/[\w./-]+)`")
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
TARGET = re.compile(r"`make ([a-z0-9]+)")
TELLS = re.compile(r"@return|SINTER_(?:OK|E_)|[Ff]ailure|\bas (?:of|sinter_)")
STATUS = re.compile(r"SINTER_API(?:\s+SINTER_NODISCARD)?\s+sinter_status\b")
TEST = re.compile(r"`(\w+)::(\w+)`")
SHOWN = re.compile(r"<!-- from ([\w./-]+) -->\n```\w*\n(.*?)```\n", re.S)
CODE = re.compile(r"^```c\n(.*?)^```", re.M | re.S)
API = re.compile(r"^SINTER_API\b[^;]*;", re.M | re.S)


def known_names():
    """Every identifier of C code and build files that begins with our prefix."""
    names = set()
    suffixes = (".c", ".h", ".in", ".cc", ".hh", ".def", ".txt", ".cmake", ".json", ".py", ".sh")
    for path in tree.files(*suffixes, top=True):
        names.update(re.findall(r"\b(?:sinter|SINTER)_\w+", path.read_text()))
    launcher = (tree.ROOT / "tests/interop/oracle/run").read_text()
    names.update(re.findall(r"\bSINTER_\w+", launcher))
    statuses = (tree.ROOT / "include/sinter/base.h").read_text()
    for word in re.findall(r"X\((?:-?\d+, )?(\w+),", statuses):
        names.add(f"SINTER_{word}")
    return names


def known_tests():
    """(suite, name) of each Test of the tree."""
    tests = set()
    for path in tree.files(".c", ".cc", folders=("tests",)):
        tests.update(re.findall(r"^Test\((\w+),\s*(\w+)", path.read_text(), re.M))
    return tests


def check_document(path, names, targets, tests):
    text = path.read_text()
    where = tree.name(path)
    for word in sorted(set(SYMBOL.findall(text))):
        if word not in names and not any(name.startswith(word + "_") for name in names):
            yield f"{where}: {word} does not exist"
    for target in sorted(set(PATH.findall(text))):
        if not (tree.ROOT / target).exists():
            yield f"{where}: {target} does not exist"
    for suite, test in sorted(set(TEST.findall(text)) - tests):
        yield f"{where}: there is no test {suite}::{test}"
    for source, block in SHOWN.findall(text):
        if block not in (tree.ROOT / source).read_text():
            yield f"{where}: the lines shown from {source} do not stand there"
    shown = {block for _, block in SHOWN.findall(text)}
    for block in CODE.findall(text):
        if block not in shown:
            yield f"{where}: C code that no program holds: {block.strip().splitlines()[0]}"
    for link in sorted(set(LINK.findall(text))):
        if not (path.parent / link).exists():
            yield f"{where}: the link to {link} leads nowhere"
    for target in sorted(set(TARGET.findall(text))):
        if target not in targets:
            yield f"{where}: the Makefile has no target {target}"


def check_header(path):
    """Each declaration has a docstring directly above, or stands under one that has it."""
    text = path.read_text()
    documented = ""
    end = -1
    for match in API.finditer(text):
        declaration = match.group(0)
        name = re.findall(r"\b(sinter_\w+)\s*\(", declaration)
        if not name:
            continue
        where = f"{tree.name(path)}:{text.count(chr(10), 0, match.start()) + 1}: {name[0]}"
        before = text[:match.start()].rstrip(" ")
        doc = re.search(r"/\*\*((?:(?!\*/).)*)\*/\n$", before, re.S)
        if doc is not None:
            documented = doc.group(1)
        elif match.start() != end + 1:
            yield f"{where} has no docstring"
            documented = "@return"
        end = match.end()
        returns_status = STATUS.match(declaration)
        if returns_status and not TELLS.search(documented):
            yield f"{where}: the docstring does not say what it returns"
        if returns_status and "SINTER_NODISCARD" not in declaration:
            yield f"{where} returns a status and lacks SINTER_NODISCARD"


def main():
    names, tests = known_names(), known_tests()
    makefile = (tree.ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z0-9]+):", makefile, re.M))
    documents = tree.files(".md", top=True)
    headers = tree.files(".h", ".in", folders=("include",))
    findings = []
    for path in documents:
        findings += check_document(path, names, targets, tests)
    for path in headers:
        findings += check_header(path)
    tree.report(findings, len(documents) + len(headers), "documents and headers")


if __name__ == "__main__":
    main()
