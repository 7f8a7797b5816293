"""Real Paimon as a process on a pipe, and the tables that tests walk."""
import atexit
import json
import os
import pathlib
import shutil
import stat
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Refused(Exception):
    """Paimon answered with an error."""


class Oracle:
    """One JVM that answers commands (oracle/README.md, "Batch"). Confined."""

    def __init__(self):
        self.process = subprocess.Popen([str(HERE / "oracle" / "run"), "batch", "-"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def call(self, cmd, table, **arguments):
        """The answer to a command; Refused with Paimon's reason."""
        question = {"cmd": cmd, "table": str(table), "continue": True, **arguments}
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Refused(f"{cmd}: the process ended")
        answer = json.loads(line)
        if not answer.get("ok") and cmd != "verify":
            raise Refused(f"{cmd}: {answer.get('error')}")
        return answer

    def rows(self, table, **arguments):
        """Rows of a batch read, as sorted texts."""
        answer = self.call("scan", table, sort=True, **arguments)
        return sorted(text(row) for row in answer["lines"])

    def files(self, table):
        """Live files with statistics, and index files."""
        return self.call("files", table, all=True, stats=True)


def scale():
    """SINTER_TEST_SCALE: how many times the size of a test."""
    return int(os.environ.get("SINTER_TEST_SCALE", "1"))


def text(row):
    """One text per row, whoever printed it."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def sinter(program, *arguments, codes=(0,)):
    """Run the program; its output. Any other exit code is an AssertionError with what it said."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode in codes, (f"sinter {' '.join(map(str, arguments))}: exit "
                                      f"{done.returncode}: {done.stderr.strip()}")
    return done.stdout


def sinter_rows(program, table, *arguments):
    """What `sinter scan` reads, as sorted texts."""
    lines = sinter(program, "scan", table, "--format", "json", *arguments).splitlines()
    return sorted(text(json.loads(line)) for line in lines)


def tables_dir():
    """The folder that SINTER_TABLES_DIR names, else the one beside the tree, else the sample."""
    named = os.environ.get("SINTER_TABLES_DIR")
    if named:
        return pathlib.Path(named)
    shared = ROOT.parent / "shared" / "tables"
    return shared if shared.is_dir() else ROOT / "tests" / "data" / "tables"


def lay_outside(folder):
    """Put files where tables of paimon-cpp that lie in two places name them."""
    outside = pathlib.Path("/tmp/external")
    if not outside.exists():
        atexit.register(shutil.rmtree, outside, ignore_errors=True)
    shutil.copytree(folder, outside, dirs_exist_ok=True)


class Case:
    """A table with what Paimon reads from it: a folder NAME.db."""

    def __init__(self, folder, table, expected):
        self.name = folder.name[:-len(".db")]
        self.folder, self.table, self.expected = folder, table, expected

    def copy(self, to):
        """A writable copy of the table; its path."""
        to = to / self.folder.name
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(self.folder, to)
        for path in [to, *to.rglob("*")]:
            path.chmod(path.stat().st_mode | stat.S_IWUSR)
        if (to / "external").is_dir():
            lay_outside(to / "external")
        return to / self.table


def cases(folder):
    """The cases below `folder`: NAME.db/t of `oracle`, FORMAT/NAME.db/NAME of `paimon-cpp`."""
    found = []
    for case in sorted([*folder.glob("*.db"), *folder.glob("oracle/*.db")]):
        if (case / "t" / "schema").is_dir():
            found.append(Case(case, "t", case / "expected.jsonl"))
    for case in sorted([*folder.glob("paimon-cpp/*.db"), *folder.glob("paimon-cpp/*/*.db")]):
        table = case.name[:-len(".db")]
        if (case / table / "schema").is_dir():
            found.append(Case(case, table, case / "expected" / "latest.jsonl"))
            found[-1].name = str((case.parent / table).relative_to(folder))
    return found
