"""Paimon, the peer in Java: builds bench/macro/paimon with Maven, one launcher a file format."""

import hashlib
import os
import shutil
import sys

from harness import MAVEN_SECONDS_MAX, ROOT, Failure, call

SOURCES = os.path.join(ROOT, "bench", "macro", "paimon")
FORMATS = {"paimon-avro": "avro", "paimon-parquet": "parquet", "paimon-orc": "orc"}
TOOLS = ("java", "javac", "mvn")
JAVA_FLAGS = "-XX:+UseParallelGC -Xmx4g"


def missing_tools():
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def where_possible(peers):
    """The peers without those that need Java, if Java is not here; says so once."""
    missing = missing_tools()
    if not missing or not FORMATS.keys() & set(peers):
        return list(peers)
    print(f"note: Paimon is left out: {', '.join(missing)} not installed (Debian: apt-get install "
          "default-jdk-headless maven)", file=sys.stderr)
    return [name for name in peers if name not in FORMATS]


def program(name):
    return name.replace("-", "_")


def sources_key():
    """Changes when anything the program is made from does."""
    digest = hashlib.sha256(JAVA_FLAGS.encode())
    for folder, folders, names in os.walk(SOURCES):
        folders.sort()
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as file:
                digest.update(name.encode() + b"\0" + file.read())
    return digest.hexdigest()[:12]


def classpath_of(folder):
    """The class path that Maven wrote, or None if a part of it is not there (any more)."""
    try:
        with open(os.path.join(folder, "classpath.txt"), encoding="utf-8") as file:
            parts = [os.path.join(folder, "paimon-bench.jar"), *file.read().strip().split(":")]
    except OSError:
        return None
    return ":".join(parts) if all(map(os.path.exists, parts)) else None


def build(build_dir, peers):
    """Make a launcher for each of the peers that are Paimon; Maven runs if something changed."""
    peers = [name for name in peers if name in FORMATS]
    if not peers:
        return
    if missing_tools():
        raise Failure(f"{', '.join(missing_tools())} not installed; Paimon needs a JDK and Maven "
                      "(Debian: apt-get install default-jdk-headless maven)")
    folder = os.path.join(os.path.abspath(build_dir), "bench", f"paimon-{sources_key()}")
    if classpath_of(folder) is None:
        call(["mvn", "-q", "-B", "-Dstyle.color=never", f"-Dbench.build={folder}", "-f",
              os.path.join(SOURCES, "pom.xml"), "package"], timeout=MAVEN_SECONDS_MAX)
    for name in peers:
        launcher = os.path.join(build_dir, "bench", program(name))
        with open(launcher, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec java {JAVA_FLAGS} -cp "{classpath_of(folder)}" '
                       f'sinter.bench.PaimonBench "$@" --format {FORMATS[name]}\n')
        os.chmod(launcher, 0o755)
