#!/usr/bin/env python3
"""The arrows of layers.txt: includes, headers of the system and of libraries, forbidden calls.

usage: check_layers.py [BUILD_DIR]    with a build directory the calls of its objects are checked
"""
import fnmatch
import pathlib
import re
import subprocess
import sys

import tree

STANDARD_C = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp
    signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath
    threads time uchar wchar wctype""".split())
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)

# Calls that have one door (base, io), and calls that no part of a library may make.
ONLY_BASE_AND_IO = set("""malloc calloc realloc reallocarray free posix_memalign aligned_alloc
    strdup strndup time clock clock_gettime gettimeofday nanosleep rand srand random rand_r drand48
    getrandom open open64 openat openat64 creat creat64 close read pread pread64 preadv preadv64
    write pwrite pwrite64 pwritev pwritev64 rename renameat unlink unlinkat link linkat mkdir
    mkdirat stat stat64 fstat fstat64 lstat fsync fdatasync ftruncate ftruncate64 mmap mmap64 munmap
    opendir readdir readdir64 fopen fopen64 fclose fread fwrite fseek flock fcntl fcntl64
    pthread_create pthread_sigmask thrd_create""".split())
NEVER = set("""printf fprintf vprintf vfprintf dprintf puts fputs putchar fputc putc perror abort
    exit _exit _Exit quick_exit getenv secure_getenv setenv putenv system popen fork vfork signal
    sigaction raise kill setlocale atexit strcpy strcat sprintf vsprintf gets strtok asctime ctime
    localtime gmtime json_set_alloc_funcs json_set_alloc_funcs2 __printf_chk __fprintf_chk
    __vfprintf_chk""".split())


class Law:
    """layers.txt, read."""

    def __init__(self, path):
        self.rooms, self.headers, self.extra, self.libraries = {}, {}, {}, {}
        self.outside, self.system, self.shims = [], set(), {}
        for number, line in enumerate(path.read_text().splitlines(), 1):
            line = line.split("#")[0].strip()
            if line:
                self.read(line, f"{path.name}:{number}")

    def extra_rooms(self, inside):
        """Rooms that one file may include beyond those of its own room."""
        found = set()
        for pattern, rooms in self.extra.items():
            if fnmatch.fnmatchcase(inside, pattern):
                found |= rooms
        return found

    def read(self, line, where):
        word, _, rest = line.partition(" ")
        left, _, right = rest.partition(":")
        left, right = left.strip(), right.split()
        if word == "room":
            self.rooms[left] = set(right) | {left}
        elif word == "header":
            self.headers[left] = right[0]
        elif word == "file":
            self.extra[left] = set(right)
        elif word == "library":
            self.libraries[left] = set(right)
        elif word == "shim":
            self.shims[left] = set(right)
        elif word == "outside":
            self.outside.append(left)
        elif word == "system":
            self.system = set(rest.split())
        else:
            sys.exit(f"{where}: what is `{word}`?")


def includes(path):
    text = path.read_text()
    code = tree.without_comments(text)
    for match in INCLUDE.finditer(text):
        if code[match.start():match.end()].lstrip().startswith("#"):
            yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def check_library_header(law, room, inside, header):
    """A header in <> that is not ours: of C, of another library, or of the system."""
    if header.endswith(".h") and header[:-2] in STANDARD_C:
        return None
    if header in law.libraries:
        if room in law.libraries[header] or inside in law.libraries[header]:
            return None
        return f"<{header}> is for {', '.join(sorted(law.libraries[header]))} only"
    if room in law.system:
        return None
    return f"<{header}>: headers of the system are for {', '.join(sorted(law.system))} only"


def check_room_file(law, room, path):
    inside = str(path.relative_to(tree.ROOT / "src"))
    allowed = law.rooms[room] | law.extra_rooms(inside)
    own = f"{room}/{path.stem}.h"
    for position, (line, quote, header) in enumerate(includes(path)):
        where = f"{tree.name(path)}:{line}"
        target, _, rest = header.partition("/")
        if position == 0 and path.suffix == ".c" and (tree.ROOT / "src" / own).exists():
            if header != own:
                yield f"{where}: its own header \"{own}\" comes first"
        if target == "sinter":
            target = law.headers.get(rest)
            if target is None:
                yield f"{where}: layers.txt does not know <sinter/{rest}>"
            elif target not in allowed:
                yield f"{where}: {room} may not know <sinter/{rest}> ({target})"
        elif target in law.rooms:
            if target not in allowed:
                yield f"{where}: {room} may not include \"{header}\""
            elif target != room and rest.endswith("_priv.h"):
                yield f"{where}: \"{header}\" is private to {target}"
            elif quote != '"':
                yield f"{where}: write \"{header}\""
        elif quote == '"':
            yield f"{where}: write it as \"room/file.h\": \"{header}\""
        else:
            fault = check_library_header(law, room, inside, header)
            if fault:
                yield f"{where}: {fault}"


def check_public_header(law, path):
    room = law.headers.get(path.name.replace(".in", ""))
    if room is None and path.name != "sinter.h":
        yield f"{tree.name(path)}: layers.txt gives it no room"
    for line, _, header in includes(path):
        where = f"{tree.name(path)}:{line}"
        if header.startswith("sinter/"):
            target = law.headers.get(header[7:])
            if room is not None and target not in law.rooms[room]:
                yield f"{where}: <sinter/{path.name}> ({room}) may not include <{header}>"
        elif header[:-2] not in STANDARD_C:
            yield f"{where}: a public header includes C's own headers and sinter's only"


def check_outside(law, folder, path):
    for line, quote, header in includes(path):
        target = header.partition("/")[0]
        own = (path.parent / header).exists() or (tree.ROOT / folder / header).exists() or (
            folder == f"src/{target}")
        if header.startswith("sinter/"):
            continue
        if target in law.rooms or (quote == '"' and not own):
            yield f"{tree.name(path)}:{line}: {folder} sees public headers only: {header}"
        if header == "jansson.h":
            yield f"{tree.name(path)}:{line}: JSON is the business of src/doc"


def check_shim(law, room, path):
    """A file in C++: its own headers, one of ours, C++'s own, and those of its libraries."""
    for line, quote, header in includes(path):
        where = f"{tree.name(path)}:{line}"
        target = header.partition("/")[0]
        if quote == '"' and target != room and header not in law.shims[room]:
            yield f"{where}: {room} may not include \"{header}\""
        elif quote == "<" and "/" in header and target not in law.shims[room]:
            yield f"{where}: <{header}> is for no shim of {', '.join(sorted(law.shims[room]))}"
        elif quote == "<" and header.endswith(".h"):
            if "/" not in header and header not in law.shims[room]:
                yield f"{where}: <{header}>: C++ has a header of its own"


def check_calls(law, build):
    """Undefined symbols of each room's objects: what is really called."""
    count, findings = 0, []
    for room in [*law.rooms, *law.shims]:
        objects = sorted(build.glob(f"src/{room}/CMakeFiles/sinter_{room}.dir/**/*.o"))
        if not objects and room in law.rooms:
            findings.append(f"{build}: no objects of {room}; build first")
        for path in objects:
            count += 1
            out = subprocess.run(["nm", "-u", "--format=posix", str(path)], check=True,
                                 capture_output=True, text=True).stdout
            for symbol in (line.split()[0].split("@")[0] for line in out.splitlines() if line):
                if symbol in NEVER:
                    findings.append(f"src/{room}/{path.stem}: calls {symbol}")
                elif symbol in ONLY_BASE_AND_IO and room not in law.system:
                    findings.append(f"src/{room}/{path.stem}: calls {symbol}; only base and io do")
    return count, findings


def main():
    law = Law(pathlib.Path(__file__).with_name("layers.txt"))
    checked, findings = 0, []
    for path in tree.files(".c", ".h", folders=("src",)):
        folder = path.relative_to(tree.ROOT / "src").parts[0]
        checked += 1
        if f"src/{folder}" in law.outside:
            findings += check_outside(law, f"src/{folder}", path)
        elif folder in law.rooms:
            findings += check_room_file(law, folder, path)
        else:
            findings.append(f"{tree.name(path)}: layers.txt does not know this room")
    for path in tree.files(".cc", ".hh", folders=("src",)):
        folder = path.relative_to(tree.ROOT / "src").parts[0]
        checked += 1
        if folder in law.shims:
            findings += check_shim(law, folder, path)
        else:
            findings.append(f"{tree.name(path)}: layers.txt knows no shim {folder}")
    for path in tree.files(".h", ".in", folders=("include",)):
        checked += 1
        findings += check_public_header(law, path)
    for folder in law.outside:
        if not folder.startswith("src/"):
            for path in tree.files(".c", ".h", ".cc", folders=(folder,)):
                checked += 1
                findings += check_outside(law, folder, path)
    if len(sys.argv) > 1:
        objects, wrong = check_calls(law, pathlib.Path(sys.argv[1]))
        checked += objects
        findings += wrong
    tree.report(findings, checked, "files and objects")


if __name__ == "__main__":
    main()
