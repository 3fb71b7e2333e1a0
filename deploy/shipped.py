"""What a set of programs brings along on Debian: the shared libraries that the loader opens for them, of whatever
architecture the programs are, and the packages that their parts come from. Asks dpkg; runs none of the programs.
"""
import dataclasses
import functools
import os
import re
import struct
import subprocess

# ELF's number of a machine, and what Debian calls its folder of libraries and itself.
MACHINES = {62: ("x86_64-linux-gnu", "amd64"), 183: ("aarch64-linux-gnu", "arm64")}
# Packages whose headers and schemas alone are used: they are compiled in.
HEADERS = ("grpc-proto", "libcli11-dev", "nlohmann-json3-dev")
# Packages whose archives are linked in, unless the programs load the library of that name.
ARCHIVES = {"libabsl-dev": "libabsl_", "libgrpc++-dev": "libgrpc++.", "libgrpc-dev": "libgrpc.",
            "libprotobuf-dev": "libprotobuf."}
# Whose files an image has though no program loads them: the distribution's name and licences, and authorities.
WITHOUT_LIBRARIES = ("base-files", "ca-certificates")

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 1, 5, 15, 29


class Unfit(Exception):
    """What was given cannot be shipped so; the message says why."""


@dataclasses.dataclass(frozen=True)
class Elf:
    multiarch: str
    architecture: str
    interpreter: str  # "" for a library
    needed: tuple  # names, in the file's order


def read_elf(path):
    """The dynamic part of a 64-bit little-endian ELF file. Raises Unfit for everything else."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x7fELF\x02\x01":
        raise Unfit(f"{path}: not a 64-bit little-endian ELF file")
    machine = struct.unpack_from("<H", data, 18)[0]
    if machine not in MACHINES:
        raise Unfit(f"{path}: machine {machine}, expected one of {sorted(MACHINES)}")
    table, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    headers = []  # type, offset, address, bytes
    for i in range(count):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, table + i * size)
        headers.append((kind, offset, address, length))

    def text(offset):
        return data[offset:data.index(b"\0", offset)].decode()

    interpreter, entries = "", []
    for kind, offset, _, length in headers:
        if kind == PT_INTERP:
            interpreter = text(offset)
        if kind == PT_DYNAMIC:
            entries = [struct.unpack_from("<QQ", data, offset + i) for i in range(0, length, 16)]
    values = dict(entries)
    if DT_RPATH in values or DT_RUNPATH in values:
        raise Unfit(f"{path}: has a search path of its own, which is not followed")
    needed = []
    for tag, value in entries:
        if tag == DT_NEEDED:
            address = values[DT_STRTAB] + value
            start = next(a - o for kind, o, a, n in headers if kind == PT_LOAD and a <= address < a + n)
            needed.append(text(address - start))
    return Elf(*MACHINES[machine], interpreter, tuple(needed))


def inside(root, path):
    """Where `path` is, seen from a root directory, when its folder's symbolic links are followed within that root."""
    folder, name = os.path.split(path)
    for _ in range(40):
        parts = folder.strip("/").split("/")
        for i in range(1, len(parts) + 1):
            here = "/" + "/".join(parts[:i])
            if os.path.islink(root + here):
                target = os.path.join(os.path.dirname(here), os.readlink(root + here))
                folder = os.path.normpath(os.path.join(target, *parts[i:]))
                break
        else:
            return os.path.join(folder, name)
    raise Unfit(f"{path}: a circle of links")


def file_of(root, path):
    """The same for the file itself: where its content is."""
    for _ in range(40):
        path = inside(root, path)
        if not os.path.islink(root + path):
            return path
        path = os.path.join(os.path.dirname(path), os.readlink(root + path))
    raise Unfit(f"{path}: a circle of links")


def loaded(programs, root=""):
    """Every file that the loader opens for the programs: {program or library: the files that it needs directly}.

    Paths as seen from `root`, after links of folders; a library's own may still be a link to the versioned file. The
    program's loader is among what it needs. Only the folders that the loader searches without configuration count.
    """
    graph, todo = {}, [inside(root, program) for program in programs]
    while todo:
        path = todo.pop()
        if path in graph:
            continue
        elf = read_elf(root + file_of(root, path))
        graph[path] = [inside(root, elf.interpreter)] if elf.interpreter else []
        for name in elf.needed:
            searched = [inside(root, f"{folder}/{name}")
                        for folder in (f"/lib/{elf.multiarch}", f"/usr/lib/{elf.multiarch}", "/lib", "/usr/lib")]
            found = next((file for file in searched if os.path.isfile(root + file_of(root, file))), None)
            if found is None:
                raise Unfit(f"{path}: needs {name}, which is in none of the loader's folders")
            graph[path].append(found)
        todo += graph[path]
    return graph


def compiled_in(graph):
    """Names of the packages that programs, whose graph loaded() gave, have parts of without loading anything."""
    names = [os.path.basename(path) for path in graph]
    return (*HEADERS, *(package for package, library in ARCHIVES.items()
                        if not any(name.startswith(library) for name in names)))


@dataclasses.dataclass(frozen=True, order=True)
class Package:
    """An installed Debian package."""
    name: str
    architecture: str
    version: str
    source: str
    source_version: str
    multi_arch: str

    def serves(self, architecture):
        """Programs of that architecture."""
        return self.architecture in (architecture, "all") or self.multi_arch == "foreign"

    @property
    def qualified(self):
        """As dpkg takes it when several architectures are installed."""
        return self.name if self.architecture == "all" else f"{self.name}:{self.architecture}"


def dpkg_query(*arguments):
    return subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, check=False).stdout


@functools.cache
def installed():
    """Every installed package."""
    fields = ("Package", "Architecture", "Version", "source:Package", "source:Version", "Multi-Arch", "db:Status-Status")
    lines = dpkg_query("-W", "-f", "\t".join(f"${{{field}}}" for field in fields) + "\n").splitlines()
    rows = [line.split("\t") for line in lines]
    return sorted(Package(*row[:-1]) for row in rows if row[-1] == "installed")


def package_named(name, architecture=None):
    """The installed package; one that serves the architecture, if that is given."""
    found = [package for package in installed() if name in (package.name, package.qualified)
             and (architecture is None or package.serves(architecture))]
    if not found:
        raise Unfit(f"{name}: no such package is installed")
    return found[0]


def owners(paths):
    """{path: the package that it came from}, for paths of installed files as file_of() gives them."""
    # dpkg knows some by their path before /lib became a link to /usr/lib.
    asked = {variant: path for path in paths for variant in (path, re.sub(r"^/usr/(?=lib)", "/", path))}
    found = {}
    for line in dpkg_query("-S", *sorted(asked)).splitlines():
        names, _, path = line.rpartition(": ")
        if path in asked and not line.startswith("diversion "):
            found[asked[path]] = package_named(names.split(", ")[0])
    for path in paths:
        if path not in found:
            raise Unfit(f"{path}: of no Debian package")
    return found
