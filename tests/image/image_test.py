"""An image that `docker save` wrote keeps to every rule of image_rules.py, and damage to it is seen.

Environment: IMAGE_ARCHIVE, ARCHITECTURE (Debian's name, as docker's), LIMIT_MB (most that its files may have).
"""
import copy
import os
import pathlib
import re
import shutil
import tarfile
import tempfile
import unittest

import image_rules
from image import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"^project\(trelu VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
ARCHITECTURE = os.environ["ARCHITECTURE"]
LIMIT_BYTES = int(os.environ["LIMIT_MB"]) * 1_000_000
RULES = {
    "settings": lambda image: image_rules.settings(image, VERSION, ARCHITECTURE),
    "size": lambda image: image_rules.size(image, LIMIT_BYTES),
    "files": image_rules.files,
    "essentials": image_rules.essentials,
    "authorities": image_rules.authorities,
    "libraries": image_rules.libraries,
    "packages": lambda image: image_rules.packages(image, ARCHITECTURE),
    "bill": lambda image: image_rules.bill(image, VERSION),
}
TREE = tempfile.TemporaryDirectory()
IMAGE = Image(os.environ["IMAGE_ARCHIVE"], TREE.name)


def setUpModule():
    unittest.addModuleCleanup(TREE.cleanup)


class Damaged:
    """A copy of the image in which one thing is different."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        image = copy.copy(IMAGE)
        image.root = pathlib.Path(self._folder.name, "root")
        shutil.copytree(IMAGE.root, image.root, symlinks=True)
        image.settings = copy.deepcopy(IMAGE.settings)
        image.config = image.settings["config"]
        image.entries = {path: copy.copy(entry) for path, entry in IMAGE.entries.items()}
        return image

    def __exit__(self, *_):
        self._folder.cleanup()


def library(image, name):
    return next(path for path in image.file_paths("usr/lib") if f"/{name}.so" in path)


def remove(image, path):
    folder = image.entries.pop(path).isdir()
    (image.root / path).rmdir() if folder else (image.root / path).unlink()


def add(image, path, like, content):
    image.entries[path] = copy.copy(image.entries[like])
    image.entries[path].size = len(content)
    (image.root / path).write_bytes(content)


def change_bundle(image, change):
    add(image, image_rules.BUNDLE, image_rules.BUNDLE, change(image.read(image_rules.BUNDLE)))


def removed(path):
    return lambda image: remove(image, path)


def written(path, content):
    return lambda image: add(image, path, PROGRAM, content)


def set_entry(image, path, **values):
    for name, value in values.items():
        setattr(image.entries[path], name, value)


PROGRAM = image_rules.PROGRAMS[1]
STATUS = image_rules.STATUS
# By rule: what is done, and the fault that must be told of, as a regular expression.
DAMAGE = {
    "settings": {
        "root": (lambda image: image.config.update(User="0"), "^user '0'"),
        "no user": (lambda image: image.config.pop("User"), "^user None"),
        "a user's name": (lambda image: image.config.update(User="trelu"), "^user 'trelu'"),
        "another entry point": (lambda image: image.config.update(Entrypoint=["/usr/local/bin/trelu"]), "^entry point"),
        "a shell's health check": (lambda image: image.config["Healthcheck"].update(Test=["CMD-SHELL", "trelu health"]),
                                   "^health check"),
        "another stop signal": (lambda image: image.config.update(StopSignal="SIGUSR1"), "^stop signal SIGUSR1"),
        "another version": (lambda image: image.config["Labels"].update({"org.opencontainers.image.version": "9"}),
                            "^labelled as version 9"),
        "another architecture": (lambda image: image.settings.update(architecture="riscv64"), "^architecture riscv64"),
    },
    "size": {"a large file": (lambda image: set_entry(image, PROGRAM, size=LIMIT_BYTES), "more than")},
    "files": {
        "a shell": (written("usr/local/bin/sh", b""), "bin/sh: not of what"),
        "a package manager": (written("usr/lib/dpkg", b""), "lib/dpkg: not of what"),
        "setuid": (lambda image: set_entry(image, PROGRAM, mode=0o4755), "setuid"),
        "open to everybody": (lambda image: set_entry(image, PROGRAM, mode=0o777), "everybody may write"),
        "somebody's": (lambda image: set_entry(image, PROGRAM, uid=65532), "belongs to 65532:0"),
    },
    "essentials": {
        **{f"no {path}": (removed(path), f"^{re.escape(path)}: not there$")
           for path in (*image_rules.FILES, *image_rules.FOLDERS)},
        **{f"no link {path}": (removed(path), f"^{path}: no link to")
           for path in image_rules.LINKS},
        **{f"another mode of {path}": (lambda image, path=path: set_entry(image, path, mode=0o700),
                                          f"^{re.escape(path)}: mode 700")
           for path in (*image_rules.FILES, *image_rules.FOLDERS)},
        "a file instead of a folder": (lambda image: set_entry(image, "tmp", type=tarfile.REGTYPE), "^tmp: not there"),
        "a link elsewhere": (lambda image: set_entry(image, "lib64", linkname="usr/lib"), "^lib64: no link to usr/lib64"),
        "an account too few": (written("etc/passwd", b"root:x:0:0::/:/bin/sh\n"), "^etc/passwd: nothing"),
        "a group too few": (written("etc/group", b""), "^etc/group: nothing"),
        "names by files only": (written("etc/nsswitch.conf", b"hosts: files\n"), "^etc/nsswitch.conf: nothing"),
        "another distribution": (written("usr/lib/os-release", b"ID=other\n"), "^usr/lib/os-release: nothing"),
    },
    "authorities": {
        "no authorities": (removed(image_rules.BUNDLE), "lacks usr/share/ca-certificates/"),
        "an empty bundle": (lambda image: change_bundle(image, lambda text: b""), "lacks usr/share/ca-certificates/"),
        "an authority too few": (lambda image: change_bundle(image, lambda text: text[text.index(b"-----BEGIN", 9):]),
                                 "lacks usr/share/ca-certificates/"),
        "somebody's own": (lambda image: change_bundle(image, lambda text: text + text[:text.index(b"END")].replace(b"M", b"N")
                                                       + b"END CERTIFICATE-----\n"), "1 certificates that the package"),
        "half a certificate": (lambda image: change_bundle(image, lambda text: text[:-100]), "not only certificates"),
        "no record of them": (removed(f"{STATUS}/ca-certificates"), "tells of no certificate"),
    },
    "libraries": {
        "a library too few": (lambda image: remove(image, library(image, "libcares")), "needs libcares"),
        "no loader": (lambda image: remove(image, library(image, "ld-linux-x86-64" if ARCHITECTURE == "amd64"
                                                          else "ld-linux-aarch64")), "ld-linux"),
        "a library too many": (written("usr/lib/libother.so.1", b""), "libother.*no program loads"),
        "a program too few": (removed(PROGRAM), "No such file"),
    },
    "packages": {
        "a changed library": (lambda image: add(image, library(image, "libz"), PROGRAM, b"\x7fELF"), "libz.*or changed"),
        "a changed file of the distribution": (written("etc/debian_version", b"11\n"), "debian_version: of no package"),
        "no record": (removed(f"{STATUS}/zlib1g"), "libz.*of no package"),
        "no record of the distribution": (removed(f"{STATUS}/base-files"), "^base-files: no record"),
        "no record of the authorities": (removed(f"{STATUS}/ca-certificates"), "^ca-certificates: no record"),
        "a record too many": (written(f"{STATUS}/bash", b"Package: bash\n"), "^bash: recorded, but"),
        "a record of another architecture": (written(f"{STATUS}/zlib1g", b"Package: zlib1g\nArchitecture: riscv64\n"),
                                             "architecture riscv64"),
        "no licence": (removed("usr/share/doc/zlib1g/copyright"), "^zlib1g: no licence"),
        "no record of headers": (removed(f"{STATUS}/libcli11-dev"), "^libcli11-dev: no record"),
        "no record of archives": (removed(f"{STATUS}/libgrpc-dev"), "^libgrpc-dev: no record"),
        "no licence of headers": (removed("usr/share/doc/libcli11-dev/copyright"), "^libcli11-dev: no licence"),
        "no common licence": (removed("usr/share/common-licenses/Apache-2.0"), "refers to common-licenses/Apache"),
        "no licence of our own": (written("usr/share/doc/trelu/LICENSE", b""), "of our own"),
    },
    "bill": {
        "another program": (written(PROGRAM, b""), "not the program that"),
        "another version of a package": (written(f"{STATUS}/zlib1g", b"Package: zlib1g\nVersion: 0\n"),
                                         "^zlib1g: version .* 0 in the image"),
        "a package that is not listed": (written(f"{STATUS}/bash", b"Package: bash\nVersion: 5\n"), "^bash: version None"),
    },
}


class ImageTest(unittest.TestCase):
    maxDiff = None

    def test_keeps_to_the_rules(self):
        for name, rule in RULES.items():
            with self.subTest(name):
                self.assertEqual(list(rule(IMAGE)), [])

    def test_damage_is_seen(self):
        for rule, cases in DAMAGE.items():
            for name, (damage, fault) in cases.items():
                with self.subTest(rule=rule, damage=name), Damaged() as image:
                    damage(image)
                    self.assertRegex("\n".join(RULES[rule](image)), f"(?m){fault}")


if __name__ == "__main__":
    print(f"{len(IMAGE.entries)} entries, {IMAGE.bytes() / 1e6:.1f} MB, "
          f"{len(image_rules.records(IMAGE))} packages recorded")
    unittest.main()
