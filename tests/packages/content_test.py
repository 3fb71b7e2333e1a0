"""What is in the Debian packages of the folder PACKAGES: files and their modes, control fields, scripts, service."""
import copy
import functools
import gzip
import io
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ["PACKAGES"])
LIBRARIES = "/usr/lib/" + subprocess.run(
    ["gcc", "-print-multiarch"], check=True, capture_output=True, text=True).stdout.strip()
DOCUMENTS = {"/usr/share/doc/{}/copyright": 0o644, "/usr/share/doc/{}/changelog.gz": 0o644}
PROGRAM = {"/usr/bin/{}": 0o755, "/usr/share/man/man1/{}.1.gz": 0o644} | DOCUMENTS
SERVICE = "/usr/lib/systemd/system/trelu-server.service"
DEFAULT = "/etc/default/trelu-server"
FILES = {
    "trelu-server": PROGRAM | {SERVICE: 0o644, DEFAULT: 0o644, "/usr/lib/sysusers.d/trelu-server.conf": 0o644},
    "trelu": PROGRAM,
    "libtrelu-dev": DOCUMENTS | {
        f"/usr/include/trelu/{name}.h": 0o644 for name in ("client", "dtype", "shape", "tensor_spec")} | {
        f"{LIBRARIES}/{name}": 0o644 for name in (
            "libtrelu.a", "pkgconfig/trelu.pc", "cmake/trelu/trelu-config.cmake", "cmake/trelu/trelu-config-version.cmake",
            "cmake/trelu/trelu-targets.cmake", "cmake/trelu/trelu-targets-relwithdebinfo.cmake")},
}
DEPENDS = {  # what no look into the files tells
    "trelu-server": {"systemd"},
    "trelu": set(),
    "libtrelu-dev": {"libgrpc++-dev", "libprotobuf-dev", "libabsl-dev", "protobuf-compiler-grpc"},
}
# The archive has their code within it, and works with no other series.
IN_SERIES = {"libtrelu-dev": ("libgrpc++-dev", "libprotobuf-dev", "libabsl-dev")}
CONTROL = {  # DEBIAN/
    "trelu-server": {"control": 0o644, "md5sums": 0o644, "conffiles": 0o644,
                     "postinst": 0o755, "prerm": 0o755, "postrm": 0o755},
    "trelu": {"control": 0o644, "md5sums": 0o644},
    "libtrelu-dev": {"control": 0o644, "md5sums": 0o644},
}


class Package:
    def __init__(self, path):
        def parts(option):
            packed = subprocess.run(["dpkg-deb", option, path], check=True, capture_output=True).stdout
            with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
                return {(m.name.lstrip(".") or "/"): (m, tar.extractfile(m).read() if m.isfile() else b"") for m in tar}
        self.control, self.data = parts("--ctrl-tarfile"), parts("--fsys-tarfile")
        text = self.control["/control"][1].decode()
        self.fields = dict(re.findall(r"^([\w-]+): (.*)$", text, re.M))
        self.name = self.fields["Package"]

    def text(self, path):
        return self.data[path][1].decode()


@functools.cache
def owner_of(library):
    """The package that has a shared library."""
    said = subprocess.run(["dpkg-query", "-S", f"*/{library}"], capture_output=True, text=True).stdout
    return {line.split(":")[0] for line in said.splitlines()}


def needed_by(program):
    with tempfile.NamedTemporaryFile() as file:
        file.write(program)
        file.flush()
        said = subprocess.run(["readelf", "--dynamic", file.name], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", said)


@functools.cache
def told_by(name):
    """What the program of that name says with --help."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, name)
        program.write_bytes(PACKAGES[name].data[f"/usr/bin/{name}"][1])
        program.chmod(0o755)
        return subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout


def manual_faults(package):
    """The manual has the sections of every manual, and one for each of the program's commands."""
    page = package.data.get(f"/usr/share/man/man1/{package.name}.1.gz")
    listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", told_by(package.name), re.M)
    commands = re.findall(r"^  (\w+) ", listed[1], re.M) if listed else []
    wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", *(f"{package.name} {command}".upper() for command in commands)]
    found = re.findall(r"^\.SH (.*)$", gzip.decompress(page[1]).decode(), re.M) if page else wanted
    if found != wanted:
        yield f"{package.name}: the manual's sections are {found}, expected {wanted}"


def series_faults(package):
    """What is linked in is wanted in the series that is installed here: from a version on, and not from another one on."""
    for name in IN_SERIES.get(package.name, ()):
        have = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], check=True, capture_output=True, text=True).stdout
        bounds = dict(re.findall(rf"{re.escape(name)} \((>=|<<) ([^)]+)\)", package.fields.get("Depends", "")))
        for relation in (">=", "<<"):
            bound = bounds.get(relation)
            if not bound or subprocess.run(["dpkg", "--compare-versions", have, relation, bound]).returncode:
                yield f"{package.name}: depends on {name} {bounds}, expected bounds about {have}"


def faults(package):
    """One sentence for every fault."""
    name = package.name
    wanted = {path.format(name): mode for path, mode in FILES[name].items()}
    found = {path: entry.mode for path, (entry, _) in package.data.items() if not entry.isdir()}
    for path in sorted(wanted.keys() | found.keys()):
        if found.get(path) != wanted.get(path):
            have, want = (oct(mode) if mode is not None else "nothing" for mode in (found.get(path), wanted.get(path)))
            yield f"{name}: {path}: {have}, expected {want}"
    for path, (entry, _) in package.data.items():
        if entry.isdir() and entry.mode != 0o755:
            yield f"{name}: {path}: {oct(entry.mode)}, expected 0o755"
    for path, (entry, _) in (package.data | package.control).items():
        if (entry.uid, entry.gid, entry.uname, entry.gname) != (0, 0, "root", "root"):
            yield f"{name}: {path}: belongs to {entry.uname}:{entry.gname}"
    scripts = {path[1:]: entry.mode for path, (entry, _) in package.control.items() if not entry.isdir()}
    if scripts != CONTROL[name]:
        yield f"{name}: control files {scripts}, expected {CONTROL[name]}"

    depends = set(re.findall(r"(?:^|, )([a-z0-9.+-]+)", package.fields.get("Depends", "")))
    for missing in sorted(DEPENDS[name] - depends):
        yield f"{name}: depends not on {missing}"
    program = package.data.get(f"/usr/bin/{name}")
    for library in needed_by(program[1]) if program else ():
        if not owner_of(library) & depends:
            yield f"{name}: needs {library}, but depends on nothing that has it"
    yield from series_faults(package)
    if program:
        yield from manual_faults(package)
    for path, (_, content) in package.data.items():
        if str(ROOT).encode() in content:
            yield f"{name}: {path}: names {ROOT}, where it was built"
    if package.fields.get("Version") != VERSION:
        yield f"{name}: version {package.fields.get('Version')}, expected {VERSION}"
    conffiles = {path for path in found if path.startswith("/etc/")}
    if set(package.control.get("/conffiles", (None, b""))[1].decode().split()) != conffiles:
        yield f"{name}: conffiles are not {conffiles}"


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(s|m|min)?", text).groups()
    return int(number) * (60 if unit in ("m", "min") else 1)


def setting_faults(default, flags):
    """Of the settings, those that are commented out too, against `trelu-server --help`: one sentence for every fault."""
    told = re.findall(r"^  --\S+ (\S+) .*\[([^]]*)\]  \((TRELU_\w+)\)$", flags, re.M)
    kinds, defaults = ({row[2]: row[i] for row in told} for i in (0, 1))
    loopback, absolute = r"127\.0\.0\.1:\d+", r"/\S+"  # a fresh installation listens on this host alone
    for active, variable, value in re.findall(r"^(#?)(TRELU_\w+)=(.*)$", default, re.M):
        if variable not in defaults:
            yield f"{variable} is no variable of the server's"
            continue
        kind = kinds[variable]
        wanted = {"ADDRESS": loopback, "PATH": absolute, "PREFIX": absolute}.get(kind, re.escape(defaults[variable]))
        if not re.fullmatch(wanted, value):
            yield f"{variable} is {value!r}, expected {wanted}"
        if not active and kind != "ADDRESS":
            yield f"{variable} is set, and not only proposed"


def service_faults(unit, default, flags):
    """Of the unit and the settings, against `trelu-server --help`: one sentence for every fault."""
    defaults = {variable: value for value, variable in re.findall(r"\[([^]]*)\]  \((TRELU_\w+)\)$", flags, re.M)}
    settings = dict(re.findall(r"^(\w+)=(.*)$", unit, re.M))
    yield from setting_faults(default, flags)
    drain = sum(seconds(defaults[variable]) for variable in ("TRELU_DRAIN_DELAY", "TRELU_DRAIN_GRACE"))
    if seconds(settings.get("TimeoutStopSec", "0")) < drain + 5:
        yield f"TimeoutStopSec is shorter than the drain of {drain} s and its end"
    addresses = set(re.findall(r"^TRELU_(?:ADMIN_)?LISTEN=.*$", default, re.M))
    if len(addresses) != 2 or set(settings.get("Environment", "").split()) != addresses:
        yield f"the unit has {settings.get('Environment')}, expected the addresses of the settings, {sorted(addresses)}"
    if settings.get("EnvironmentFile") != DEFAULT:
        yield "the settings are not read, or may be missing"
    if settings.get("Type") != "exec":
        yield "Type is not exec, but the server does not tell when it is ready"


PACKAGES = {package.name: package for package in map(Package, sorted(FOLDER.glob("*.deb")))}
VERSION = os.environ["VERSION"]


class Content(unittest.TestCase):
    maxDiff = None

    def test_packages_are_as_they_should_be(self):
        self.assertEqual(PACKAGES.keys(), FILES.keys())
        self.assertEqual([fault for package in PACKAGES.values() for fault in faults(package)], [])

    def test_service_fits_the_server(self):
        server = PACKAGES["trelu-server"]
        self.assertEqual(list(service_faults(server.text(SERVICE), server.text(DEFAULT), told_by("trelu-server"))), [])

    def test_every_kind_of_fault_is_seen(self):
        def without(part, path):
            def damage(package):
                del getattr(package, part)[path]
            return damage

        def mode(part, path, bits):
            def damage(package):
                getattr(package, part)[path][0].mode = bits
            return damage

        def depends(pattern):
            def damage(package):
                package.fields["Depends"] = re.sub(pattern, "", package.fields["Depends"])
            return damage

        def unbound(package):
            package.fields["Depends"] = re.sub(r", libabsl-dev \(<<[^,]*", "", package.fields["Depends"])

        def manual(package):
            entry, content = package.data["/usr/share/man/man1/trelu.1.gz"]
            page = re.sub(rb"\.SH TRELU BENCH.*(?=\.SH TRELU HEALTH)", b"", gzip.decompress(content), flags=re.S)
            package.data["/usr/share/man/man1/trelu.1.gz"] = entry, gzip.compress(page)

        def built_here(package):
            entry, content = package.data["/usr/bin/trelu"]
            package.data["/usr/bin/trelu"] = entry, content + str(ROOT).encode()

        def stranger(package):
            package.data["/usr/bin"][0].uname = "builder"
        for name, damage in {
            "binary missing": ("trelu-server", without("data", "/usr/bin/trelu-server")),
            "header missing": ("libtrelu-dev", without("data", "/usr/include/trelu/shape.h")),
            "manual missing": ("trelu", without("data", "/usr/share/man/man1/trelu.1.gz")),
            "not executable": ("trelu", mode("data", "/usr/bin/trelu", 0o644)),
            "settings writable": ("trelu-server", mode("data", DEFAULT, 0o666)),
            "folder writable": ("trelu-server", mode("data", "/usr/bin", 0o775)),
            "script not executable": ("trelu-server", mode("control", "/postinst", 0o644)),
            "script missing": ("trelu-server", without("control", "/postrm")),
            "no library": ("trelu", depends(r"libgrpc\+\+1\.51[^,]*,?")),
            "no headers": ("libtrelu-dev", depends(r"libabsl-dev[^,]*,?")),
            "any later headers": ("libtrelu-dev", unbound),
            "a command without a manual": ("trelu", manual),
            "no sysusers": ("trelu-server", depends(r"systemd [^,]*,")),
            "another's folder": ("trelu-server", stranger),
            "path of the build": ("trelu", built_here),
        }.items():
            with self.subTest(name):
                damaged = copy.deepcopy(PACKAGES[damage[0]])
                damage[1](damaged)
                self.assertNotEqual(list(faults(damaged)), [])

    def test_every_kind_of_service_s_fault_is_seen(self):
        server, flags = PACKAGES["trelu-server"], told_by("trelu-server")
        unit, default = server.text(SERVICE), server.text(DEFAULT)
        for name, (broken_unit, broken_default) in {
            "killed while draining": (unit.replace("TimeoutStopSec=35s", "TimeoutStopSec=25s"), default),
            "unknown variable": (unit, default + "#TRELU_LISTENS=1\n"),
            "for everyone": (unit.replace("127.0.0.1:8001", "0.0.0.0:8001"), default.replace("127.0.0.1:8001", "0.0.0.0:8001")),
            "for everyone, without a word": (re.sub("(?m)^Environment=.*$", "", unit), default),
            "a prefix of no object": (unit, default.replace("=/trelu_", "=trelu")),
            "a path of no file": (unit, default.replace("=/etc/trelu/server.key", "=server.key")),
            "another default": (unit, default.replace("DELAY=5s", "DELAY=6s")),
            "TLS without files": (unit, default.replace("#TRELU_TLS_KEY", "TRELU_TLS_KEY")),
            "settings may be missing": (unit.replace("EnvironmentFile=", "EnvironmentFile=-"), default),
            "waits for ever": (unit.replace("Type=exec", "Type=notify"), default),
        }.items():
            with self.subTest(name):
                self.assertEqual(len(list(service_faults(broken_unit, broken_default, flags))), 1)


if __name__ == "__main__":
    unittest.main()
