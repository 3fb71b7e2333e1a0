"""What an image keeps to. Each function yields one sentence for every fault of an Image."""
import hashlib
import json
import re

import shipped

PROGRAMS = ("usr/local/bin/trelu", "usr/local/bin/trelu-server")
BILL = "usr/share/doc/trelu/trelu.spdx.json"
STATUS = "var/lib/dpkg/status.d"
BUNDLE = "etc/ssl/certs/ca-certificates.crt"
# All that may be there; whatever else is there, such as a shell, nobody needs.
EXPECTED = re.compile("|".join((
    *PROGRAMS, r"usr/lib/(\w+-linux-gnu/)?[\w+.-]+\.so[\w.]*", r"usr/lib64/ld-linux-x86-64\.so\.2",
    r"usr/lib/os-release", r"usr/share/doc/[a-z0-9+.-]+/copyright", r"usr/share/common-licenses/[\w.-]+",
    r"usr/share/doc/trelu/(LICENSE|trelu\.spdx\.json)", r"etc/(passwd|group|nsswitch\.conf|os-release|debian_version)",
    re.escape(BUNDLE), STATUS + r"/[a-z0-9+.-]+", "lib", "lib64")))
# What must be there, libraries aside, with its mode; and where a link leads.
FOLDERS = {"dev": 0o755, "proc": 0o755, "run": 0o755, "sys": 0o755, "tmp": 0o1777}
FILES = dict.fromkeys(PROGRAMS, 0o755) | dict.fromkeys(
    ("etc/passwd", "etc/group", "etc/nsswitch.conf", "etc/debian_version", "usr/lib/os-release", BUNDLE, BILL), 0o644)
LINKS = {"lib": "usr/lib", "lib64": "usr/lib64", "etc/os-release": "../usr/lib/os-release"}


def settings(image, version, architecture):
    config = image.config
    if not re.fullmatch(r"[1-9]\d*(:\d+)?", config.get("User", "")):
        yield f"user {config.get('User')!r}: not a number other than 0, which Kubernetes can tell from root"
    if config.get("Entrypoint") != ["/usr/local/bin/trelu-server"]:
        yield f"entry point {config.get('Entrypoint')}"
    if config.get("StopSignal") not in ("SIGTERM", "15"):
        yield f"stop signal {config.get('StopSignal')}"
    if set(config.get("ExposedPorts", {})) != {"8001/tcp", "8002/tcp"}:
        yield f"ports {sorted(config.get('ExposedPorts', {}))}"
    check = config.get("Healthcheck", {}).get("Test", [])
    if check[:2] != ["CMD", "/usr/local/bin/trelu"]:
        yield f"health check {check}: not the program itself, and there is no shell"
    labels = config.get("Labels") or {}
    for name in ("title", "description", "version", "licenses"):
        if not labels.get(f"org.opencontainers.image.{name}"):
            yield f"no label org.opencontainers.image.{name}"
    if labels.get("org.opencontainers.image.version") != version:
        yield f"labelled as version {labels.get('org.opencontainers.image.version')}, expected {version}"
    if image.settings["architecture"] != architecture:
        yield f"architecture {image.settings['architecture']}, expected {architecture}"


def size(image, limit_bytes):
    if image.bytes() > limit_bytes:
        yield f"{image.bytes()} bytes, more than {limit_bytes}"


def files(image):
    for path, entry in image.entries.items():
        if not entry.isdir() and not EXPECTED.fullmatch(path):
            yield f"{path}: not of what the image is for"
        if not (entry.isdir() or entry.isfile() or entry.issym()):
            yield f"{path}: neither file nor folder nor symbolic link"
        if entry.mode & 0o6000:
            yield f"{path}: setuid or setgid"
        if entry.mode & 0o002 and not entry.issym() and path != "tmp":
            yield f"{path}: everybody may write it"
        if (entry.uid, entry.gid) != (0, 0):
            yield f"{path}: belongs to {entry.uid}:{entry.gid}, not to root"


def essentials(image):
    """What programs, those who look at an image, and a read-only root's mounts count on is there, and says the right thing."""
    for kind, expected in (("isdir", FOLDERS), ("isfile", FILES)):
        for path, mode in expected.items():
            entry = image.entries.get(path)
            if entry is None or not getattr(entry, kind)():
                yield f"{path}: not there"
            elif entry.mode & 0o7777 != mode:
                yield f"{path}: mode {entry.mode & 0o7777:o}, expected {mode:o}"
    for path, target in LINKS.items():
        if path not in image.entries or image.entries[path].linkname != target:
            yield f"{path}: no link to {target}"
    user, _, group = image.config.get("User", "").partition(":")
    for path, pattern in (("etc/passwd", rf"^\w+:x:{user}:{group}:"), ("etc/group", rf"^\w+:x:{group}:"),
                          ("etc/nsswitch.conf", r"^hosts: files dns$"), ("usr/lib/os-release", "^ID=debian$")):
        if path in image.entries and not re.search(pattern, image.read(path).decode(), re.M):
            yield f"{path}: nothing like {pattern}"


def authorities(image):
    """Exactly those of Debian's package: none got lost, and nobody's own were added."""
    text = image.read(BUNDLE) if BUNDLE in image.entries else b""
    whole = re.findall(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n", text, re.S)
    if b"".join(whole) != text:
        yield f"{BUNDLE}: not only certificates"
    _, sums = records(image).get("ca-certificates", ({}, {}))
    expected = {digest: path for path, digest in sums.items() if path.startswith("usr/share/ca-certificates/")}
    found = {hashlib.md5(each).hexdigest() for each in whole}
    if not expected:
        yield "ca-certificates: the record tells of no certificate"
    for digest, path in expected.items():
        if digest not in found:
            yield f"{BUNDLE}: lacks {path}"
    if more := found - expected.keys():
        yield f"{BUNDLE}: {len(more)} certificates that the package does not have"


def library_paths(image):
    return [path for path in image.file_paths("usr/lib") if path != "usr/lib/os-release"]


def libraries(image):
    """Exactly those that the programs load."""
    root = str(image.root)
    try:
        graph = shipped.loaded(["/" + path for path in PROGRAMS], root)
    except (shipped.Unfit, OSError) as error:
        yield str(error)
        return
    needed = {shipped.file_of(root, path)[1:] for path in graph}
    for path in library_paths(image):
        if path not in needed:
            yield f"{path}: no program loads it"


def compiled_in(image):
    return shipped.compiled_in(image.file_paths("usr/lib"))


def records(image):
    """dpkg's, by name: {package: (fields, {path: MD5})}."""
    result = {}
    for path in image.file_paths(STATUS + "/"):
        name = path.removeprefix(STATUS + "/")
        if not name.endswith(".md5sums"):
            text = image.read(path).decode()
            fields = dict(re.findall(r"^([\w-]+): (.*)$", text, re.M))
            sums = STATUS + f"/{name}.md5sums"
            lines = image.read(sums).decode().splitlines() if sums in image.entries else []
            result[name] = fields, {re.sub("^lib", "usr/lib", line[34:]): line[:32] for line in lines} | {
                path: digest for path, digest in re.findall(r"^ /(etc/\S+) ([0-9a-f]{32})$", text, re.M)}
    return result


def packages(image, architecture):
    """Every file of Debian's is, unchanged, of a package that has its record and its licence here."""
    known = records(image)
    inside_programs = compiled_in(image)
    users = set(inside_programs)
    if BUNDLE in image.entries:
        users.add("ca-certificates")  # made at its installation: authorities()
    of_debian = ("usr/lib/", "usr/lib64/", "usr/share/common-licenses/", "etc/debian_version")
    for path in image.file_paths(of_debian):
        digest = hashlib.md5(image.read(path)).hexdigest()
        users |= (owners := {name for name, (_, sums) in known.items() if sums.get(path) == digest})
        if not owners:
            yield f"{path}: of no package that is recorded, or changed"
    for name, (fields, _) in known.items():
        if name not in users:
            yield f"{name}: recorded, but nothing of it is here"
        if fields.get("Package") != name or fields.get("Status") != "install ok installed" or not fields.get("Version"):
            yield f"{name}: its record is not one"
        # One that is "foreign" serves programs of every architecture.
        if fields.get("Architecture") not in (architecture, "all") and fields.get("Multi-Arch") != "foreign":
            yield f"{name}: of architecture {fields.get('Architecture')}"
    for name in (*shipped.WITHOUT_LIBRARIES, *inside_programs):
        if name not in known:
            yield f"{name}: no record"
    for name in known:
        licence = f"usr/share/doc/{name}/copyright"
        if licence not in image.entries or not image.read(licence):
            yield f"{name}: no licence"
            continue
        for common in re.findall(rb"/usr/share/(common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9])", image.read(licence)):
            if f"usr/share/{common.decode()}" not in image.entries:
                yield f"{name}: refers to {common.decode()}, which is not here"
    if b"Apache License" not in image.read("usr/share/doc/trelu/LICENSE"):
        yield "no licence of our own"


def bill(image, version):
    """The bill of materials is of these programs and these packages."""
    document = json.loads(image.read(BILL))
    listed = {package["name"]: package["versionInfo"] for package in document["packages"]}
    expected = {name: fields["Version"] for name, (fields, _) in records(image).items()} | {"trelu": version}
    for name in sorted(set(listed) | set(expected)):
        if listed.get(name) != expected.get(name):
            yield f"{name}: version {listed.get(name)} in the bill of materials, {expected.get(name)} in the image"
    sums = {file["fileName"]: {each["algorithm"]: each["checksumValue"] for each in file["checksums"]}
            for file in document["files"]}
    for path in PROGRAMS:
        if sums.get(f"./{path}", {}).get("SHA256") != hashlib.sha256(image.read(path)).hexdigest():
            yield f"{path}: not the program that the bill of materials tells of"
