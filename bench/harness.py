"""Builds the benchmark's programs, makes inputs, runs one compaction, verifies its output."""

import argparse
import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name: (program, block KiB). Another peer needs a program with build, compact and verify.
ENGINES = {
    "sinter": ("sinter_bench", 64),
    "rocksdb64k": ("rocksdb_bench", 64),
    "rocksdb4k": ("rocksdb_bench", 4),
    "leveldb": ("leveldb_bench", 64),
    "paimon-avro": ("paimon_avro", 64),  # these three have blocks of their own
    "paimon-parquet": ("paimon_parquet", 64),
    "paimon-orc": ("paimon_orc", 64),
    "limit": ("limit_bench", 64),
}
PEERS = ("rocksdb64k", "rocksdb4k", "leveldb", "paimon-avro", "paimon-parquet")
MORE_PEERS = ("paimon-orc",)  # not part of "all"
NO_CODEC = {
    "leveldb": ("zstd1", "zstd3"),  # its snappy stands in for lz4
    "paimon-avro": ("lz4",),
}
SERVED = ("paimon-avro", "paimon-parquet", "paimon-orc")  # one warm process for all rounds
NO_LIMIT = ("W7",)  # the limit program knows keys of one width only
LEVELDB_HEADERS = ("/usr/include/leveldb", "/usr/local/include/leveldb")
ROCKSDB_HEADERS = ("/usr/include/rocksdb", "/usr/local/include/rocksdb")
MAVEN_SECONDS_MAX = 600


class Failure(Exception):
    """Something that ends the benchmark, said in one sentence."""


class Engine:
    """One column of the report: a program with its block size."""

    def __init__(self, name, program, block_kib, words=()):
        self.name = name
        self.program = program
        self.block_kib = block_kib
        self.words = list(words)  # more arguments of its compact


def engine(name, block_kib=None):
    program, default_kib = ENGINES[name]
    return Engine(name, program, block_kib or default_kib)


def has_codec(name, codec):
    return codec not in NO_CODEC.get(name, ())


def limit_engine(workload, codec):
    """zstd 1 is cheapest in blocks of 256 KiB, but for many runs, which then leave the cache."""
    return engine("limit", 256 if codec == "zstd1" and workload != "W5" else 64)


def call(command, **keywords):
    try:
        return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                              **keywords).stdout
    except FileNotFoundError as error:
        raise Failure(f"{command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{' '.join(command)} took more than {error.timeout} s") from error
    except subprocess.CalledProcessError as error:
        print(error.stdout, end="")
        raise Failure(f"{' '.join(command)} ended with status {error.returncode}") from error


def rocksdb_version():
    """Version of the installed headers, or None."""
    for folder in ROCKSDB_HEADERS:
        try:
            with open(os.path.join(folder, "version.h"), encoding="utf-8") as header:
                text = header.read()
        except OSError:
            continue
        numbers = [re.search(rf"#define ROCKSDB_{part}\s+(\d+)", text) for part in
                   ("MAJOR", "MINOR", "PATCH")]
        if all(numbers):
            return ".".join(match.group(1) for match in numbers)
    return None


def cache_dir():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "sinter-bench")


def release_rocksdb(version):
    """The release build inside the Java artefact of the same version, or None.

    Debian's library has assertions built in; this one doesn't, and has the same C++ interface.
    """
    suffix = {"x86_64": "linux64", "aarch64": "linux-aarch64"}.get(platform.machine())
    folder = os.path.join(cache_dir(), f"rocksdbjni-{version}")
    name = f"librocksdbjni-{suffix}.so"
    library = os.path.join(folder, name)
    jar = os.path.join(folder, f"rocksdbjni-{version}.jar")
    if suffix is None:
        return None
    if os.path.exists(library):
        return library
    if not os.path.exists(jar) and shutil.which("mvn"):
        os.makedirs(folder, exist_ok=True)
        try:
            subprocess.run(["mvn", "-q", "-B", "dependency:copy",
                            f"-Dartifact=org.rocksdb:rocksdbjni:{version}:jar",
                            f"-DoutputDirectory={folder}"], check=False, cwd=folder,
                           stdout=subprocess.DEVNULL, timeout=MAVEN_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return None
    if not os.path.exists(jar):
        return None
    with zipfile.ZipFile(jar) as archive:
        archive.extract(name, folder)
    return library


class Programs:
    """The programs of one build folder."""

    def __init__(self, build_dir, targets):
        self.build_dir = os.path.abspath(build_dir)
        self.targets = sorted(set(targets))

    def path(self, program):
        return os.path.join(self.build_dir, "bench", program)

    def build(self):
        if "leveldb_bench" in self.targets and not any(map(os.path.isdir, LEVELDB_HEADERS)):
            raise Failure("LevelDB's headers are missing (Debian: apt-get install "
                          "libleveldb-dev), or choose other peers")
        command = ["cmake", "--preset", "bench", "-S", ROOT, "-B", self.build_dir,
                   "-DSINTER_BUILD_TESTS=OFF",
                   f"-DSINTER_BUILD_PROGRAM={'ON' if 'sinter' in self.targets else 'OFF'}"]
        if any(target.startswith("rocksdb") for target in self.targets):
            version = rocksdb_version()
            if version is None:
                raise Failure("RocksDB's headers are missing (Debian: apt-get install "
                              "librocksdb-dev), or choose --peer none")
            library = release_rocksdb(version)
            if library is None:
                print("note: no release build of RocksDB (Maven is not here or can't reach its "
                      "repository); the system's library, which may hold assertions, stands in")
            command.append(f"-DSINTER_BENCH_ROCKSDB_LIBRARY={library or ''}")
        call(command, cwd=ROOT)
        call(["cmake", "--build", self.build_dir, "--target"] + self.targets, cwd=ROOT)

    def stamp(self, program):
        """Changes when the program does, and with it what its input files look like."""
        with open(self.path(program), "rb") as binary:
            return hashlib.sha256(binary.read()).hexdigest()[:12]


def last_json(text):
    return json.loads(text.strip().splitlines()[-1])


def cores_for(threads):
    """The last cores that this process may use: the first serve most interrupts."""
    cores = sorted(os.sched_getaffinity(0))
    return ",".join(str(core) for core in cores[-threads:])


@contextlib.contextmanager
def work_directory(wanted):
    """The folder asked for, which stays; else a fresh one in memory, removed at the end."""
    if wanted:
        os.makedirs(wanted, exist_ok=True)
        yield wanted
        return
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    directory = tempfile.mkdtemp(prefix="sinter-bench-", dir=base)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def settings(**changes):
    """What Bench wants to know, for commands that don't ask for all of it."""
    return argparse.Namespace(**{"div": 4, "threads": 1, "beside": False, "io": "auto",
                                 "direct": False, **changes})


class Served:
    """A process that stays warm: it compacts into each folder that it is told, one a line."""

    def __init__(self, command):
        self.command = command
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def compact(self, output):
        try:
            print(output, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # it ended; what follows says so
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{' '.join(self.command)} ended with status {self.process.wait()}")
        return json.loads(line)

    def close(self):
        self.process.communicate()


class Bench:
    """One workload with one codec: its inputs, and single compactions of them."""

    def __init__(self, programs, workload, codec, arguments, directory):
        self.programs = programs
        self.workload = workload
        self.codec = codec
        self.div = arguments.div
        self.threads = arguments.threads
        self.beside = arguments.beside
        self.io = arguments.io
        self.direct = "yes" if arguments.direct else "no"
        self.directory = os.path.abspath(directory)
        self.cores = cores_for(arguments.threads)
        self.served = {}
        self.expected = last_json(call([programs.path("workload_check"), "--div", str(self.div),
                                        workload]))

    def _inputs(self, engine):
        stem = f"{engine.program}-{engine.block_kib}k-{self.workload}-{self.codec}-div{self.div}-"
        return stem, os.path.join(self.directory, stem + self.programs.stamp(engine.program))

    def inputs(self, engine):
        """Where the input files of an engine are."""
        return self._inputs(engine)[1]

    def build_inputs(self, engine):
        """Make the input files unless they are there, drop those of an earlier program, and read
        them once so that they lie in the page cache."""
        stem, path = self._inputs(engine)
        if not os.path.isdir(path):
            for name in os.listdir(self.directory):
                if name.startswith(stem):
                    shutil.rmtree(os.path.join(self.directory, name))
            made = call([self.programs.path(engine.program), "build", "--workload", self.workload,
                         "--div", str(self.div), "--codec", self.codec, "--block-kib",
                         str(engine.block_kib), "--dir", path + ".part"])
            self._check_inputs(engine, made)
            os.rename(path + ".part", path)
        for folder, _, names in os.walk(path):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    while file.read(1 << 20):
                        pass

    def _check_inputs(self, engine, made):
        """A program with a generator of its own tells the hash of what it made."""
        if made:
            self._check(engine, last_json(made), ("records", "bytes_in", "in_fnv"))

    def _check(self, engine, found, keys):
        for key in keys:
            if found[key] != self.expected[key]:
                raise Failure(f"{engine.name} {self.workload} {self.codec}: {key} is {found[key]},"
                              f" expected {self.expected[key]}")

    def close(self):
        """End the processes that stayed."""
        for served in self.served.values():
            served.close()

    def _compact(self, engine, command, output):
        if engine.name not in SERVED:
            return last_json(call([*command, "--out", output]))
        if engine.name not in self.served:
            self.served[engine.name] = Served(
                ["serve" if each == "compact" else each for each in command])
        return self.served[engine.name].compact(output)

    def _layout(self, engine):
        return ["--codec", self.codec, "--block-kib", str(engine.block_kib)]

    def verify(self, engine, output):
        """Read an output back; its hash."""
        found = last_json(call([self.programs.path(engine.program), "verify", "--dir", output]
                               + self._layout(engine)))
        self._check(engine, found, ("live", "bytes_out", "out_fnv"))
        return found["out_fnv"]

    def compact(self, engine):
        """One compaction on its own core, in a fresh process but for SERVED; its output is
        verified."""
        command = ["taskset", "-c", self.cores, self.programs.path(engine.program), "compact",
                   "--dir", self.inputs(engine), "--threads", str(self.threads),
                   "--io", self.io, "--direct", self.direct]
        command += ["--beside", "yes"] if self.beside else []
        output = os.path.join(self.directory, f"output-{os.getpid()}")
        shutil.rmtree(output, ignore_errors=True)
        try:
            result = self._compact(engine, command + self._layout(engine) + engine.words, output)
            result["out_fnv"] = self.verify(engine, output)
        finally:
            shutil.rmtree(output, ignore_errors=True)
        return result
