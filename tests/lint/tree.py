"""What the lint scripts share: where the tree is, which files count, how findings are told."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("include", "src", "tests", "bench", "examples", "tools", "cmake", "docs", "man",
           "completions", "python", ".ci")
SKIPPED = {"corpus", "__pycache__"}


def files(*suffixes, folders=FOLDERS, top=False):
    """Files of the tree with one of these suffixes, in a fixed order; `top`: also of its root."""
    found = []
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            if path.is_file() and path.suffix in suffixes and not SKIPPED.intersection(parts[:-1]):
                found.append(path)
    if top:
        found += [path for path in ROOT.iterdir() if path.is_file() and path.suffix in suffixes]
    return sorted(found)


def name(path):
    return str(path.relative_to(ROOT))


def without_comments(text):
    """C text whose comments and string contents are blanked, line numbers kept."""
    def blank(match):
        word = match.group(0)
        if word.startswith(("/*", "//")):
            return re.sub(r"[^\n]", " ", word)
        return word[0] + " " * (len(word) - 2) + word[-1]
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.S)


def report(findings, checked, what):
    """Print findings and leave with 1 if there are any, or if nothing was looked at."""
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings in {checked} {what}")
    sys.exit(1 if findings or checked == 0 else 0)
