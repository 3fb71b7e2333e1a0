"""What an image keeps to. Each function yields one sentence for every fault of an Image."""
import hashlib
import json
import re

import shipped

PROGRAMS = ("usr/local/bin/trelu", "usr/local/bin/trelu-server")
BILL = "usr/share/doc/trelu/trelu.spdx.json"
STATUS = "var/lib/dpkg/status.d"
AUTHORITIES = "ca-certificates"  # the package, of which no library is here
# All that may be there; whatever else is there, such as a shell, nobody needs.
EXPECTED = re.compile("|".join((
    *PROGRAMS, r"usr/lib/(\w+-linux-gnu/)?[\w+.-]+\.so[\w.]*", r"usr/lib64/ld-linux-x86-64\.so\.2",
    r"usr/lib/os-release", r"usr/share/doc/[a-z0-9+.-]+/copyright", r"usr/share/common-licenses/[\w.-]+",
    r"usr/share/doc/trelu/(LICENSE|trelu\.spdx\.json)", r"etc/(passwd|group|nsswitch\.conf|os-release|debian_version)",
    r"etc/ssl/certs/ca-certificates\.crt", STATUS + r"/[a-z0-9+.-]+", "lib", "lib64")))


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


def records(image):
    """dpkg's, by name: {package: (fields, {path: MD5})}."""
    result = {}
    for path in image.file_paths(STATUS + "/"):
        name = path.removeprefix(STATUS + "/")
        if not name.endswith(".md5sums"):
            fields = dict(re.findall(r"^([\w-]+): (.*)$", image.read(path).decode(), re.M))
            sums = STATUS + f"/{name}.md5sums"
            lines = image.read(sums).decode().splitlines() if sums in image.entries else []
            result[name] = fields, {re.sub("^lib", "usr/lib", line[34:]): line[:32] for line in lines}
    return result


def packages(image, architecture):
    """Every library is, unchanged, of a package that has its record and its licence here."""
    known = records(image)
    users = {AUTHORITIES}
    for path in library_paths(image):
        digest = hashlib.md5(image.read(path)).hexdigest()
        users |= (owners := {name for name, (_, sums) in known.items() if sums.get(path) == digest})
        if not owners:
            yield f"{path}: of no package that is recorded, or changed"
    for name, (fields, _) in known.items():
        if name not in users:
            yield f"{name}: recorded, but nothing of it is here"
        if fields.get("Package") != name or fields.get("Status") != "install ok installed" or not fields.get("Version"):
            yield f"{name}: its record is not one"
        if fields.get("Architecture") not in (architecture, "all"):
            yield f"{name}: of architecture {fields.get('Architecture')}"
    if AUTHORITIES not in known:
        yield f"{AUTHORITIES}: no record"
    for name in (*known, *shipped.COMPILED_IN):
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
    for name in shipped.COMPILED_IN:
        expected[name] = listed.get(name, "some version")
    for name in sorted(set(listed) | set(expected)):
        if listed.get(name) != expected.get(name):
            yield f"{name}: version {listed.get(name)} in the bill of materials, {expected.get(name)} in the image"
    sums = {file["fileName"]: {each["algorithm"]: each["checksumValue"] for each in file["checksums"]}
            for file in document["files"]}
    for path in PROGRAMS:
        if sums.get(f"./{path}", {}).get("SHA256") != hashlib.sha256(image.read(path)).hexdigest():
            yield f"{path}: not the program that the bill of materials tells of"
