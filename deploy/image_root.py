#!/usr/bin/env python3
"""Makes the root directory of an image from nothing but trelu's programs.

    deploy/image_root.py ROOT PROGRAM...

Into ROOT, which must not exist, go: the programs, as /usr/local/bin; every library that the loader opens for them, where
Debian has it; an account without a name elsewhere; the authorities that a TLS client trusts; the licence of everything
that is in it; and what image scanners read: the distribution's name, and dpkg's record of each package with the
checksums of its files. The programs may be of another architecture than this machine.
"""
import os
import pathlib
import re
import shutil
import sys

import shipped

FILES = {
    "etc/passwd": "trelu:x:65532:65532::/nonexistent:/sbin/nologin\n",
    "etc/group": "trelu:x:65532:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}
COPIED = ("/etc/os-release", "/etc/debian_version", "/etc/ssl/certs/ca-certificates.crt")
DOC = "/usr/share/doc"
COMMON_LICENCES = "/usr/share/common-licenses"


def copy(root, path):
    """Puts a file where it is here, and with it the links that lead to it."""
    while True:
        path = shipped.inside("", path)
        target = root + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.islink(path):
            shutil.copy(path, target)
            return
        if not os.path.lexists(target):
            os.symlink(os.readlink(path), target)
        path = os.path.join(os.path.dirname(path), os.readlink(path))


def copyright_of(package):
    """The text, which packages of one source may keep in one place."""
    same_source = [other for other in shipped.installed()
                   if (other.source, other.source_version) == (package.source, package.source_version)]
    for name in (package.name, *(other.name for other in same_source)):
        if os.path.isfile(file := f"{DOC}/{name}/copyright"):
            return pathlib.Path(file).read_bytes()
    raise shipped.Unfit(f"{package.name}: no copyright file")


def write_licence(root, package):
    text = copyright_of(package)
    path = pathlib.Path(f"{root}{DOC}/{package.name}/copyright")
    path.parent.mkdir(parents=True)
    path.write_bytes(text)
    for name in re.findall(rb"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", text):
        if os.path.isfile(file := f"{COMMON_LICENCES}/{name.decode()}"):
            copy(root, file)


def write_record(root, package):
    """As images without dpkg keep it: what scanners know as status.d."""
    folder = pathlib.Path(f"{root}/var/lib/dpkg/status.d")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / package.name).write_text(shipped.dpkg_query("-s", package.qualified))
    sums = [file for name in (package.qualified, package.name)
            if os.path.isfile(file := f"/var/lib/dpkg/info/{name}.md5sums")]
    shutil.copy(sums[0], folder / f"{package.name}.md5sums")


def make(root, programs):
    os.makedirs(root)
    for name in ("usr/lib", "usr/lib64", "usr/local/bin", "etc", "dev", "proc", "run", "sys", "tmp"):
        os.makedirs(f"{root}/{name}")
    os.chmod(f"{root}/tmp", 0o1777)
    for name in ("lib", "lib64"):
        os.symlink(f"usr/{name}", f"{root}/{name}")
    for program in programs:
        shutil.copy(program, f"{root}/usr/local/bin/")
    programs = [os.path.abspath(program) for program in programs]
    graph = shipped.loaded(programs)
    libraries = [path for path in graph if path not in programs]
    for path in (*libraries, *COPIED):
        copy(root, path)
    for path, content in FILES.items():
        pathlib.Path(root, path).write_text(content)
    owners = shipped.owners({shipped.file_of("", path) for path in libraries})
    others = (*shipped.compiled_in(graph), *shipped.WITHOUT_LIBRARIES)
    architecture = shipped.read_elf(programs[0]).architecture
    for package in sorted({*owners.values(), *(shipped.package_named(name, architecture) for name in others)}):
        write_record(root, package)
        write_licence(root, package)


def main():
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        make(sys.argv[1], sys.argv[2:])
    except (shipped.Unfit, OSError) as error:
        sys.exit(f"image_root: {error}")


if __name__ == "__main__":
    main()
