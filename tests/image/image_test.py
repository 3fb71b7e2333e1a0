"""An image that `docker save` wrote keeps to every rule of image_rules.py, and damage to it is seen.

Environment: IMAGE_ARCHIVE, ARCHITECTURE (Debian's name, as docker's), LIMIT_MB (most that its files may have).
"""
import copy
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import image_rules
import shipped
from image import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"^project\(trelu VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
ARCHITECTURE = os.environ["ARCHITECTURE"]
LIMIT_BYTES = int(os.environ["LIMIT_MB"]) * 1_000_000
RULES = {
    "settings": lambda image: image_rules.settings(image, VERSION, ARCHITECTURE),
    "size": lambda image: image_rules.size(image, LIMIT_BYTES),
    "files": image_rules.files,
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
    del image.entries[path]
    (image.root / path).unlink()


def add(image, path, like, content):
    image.entries[path] = copy.copy(image.entries[like])
    image.entries[path].size = len(content)
    (image.root / path).write_bytes(content)


def set_entry(image, path, **values):
    for name, value in values.items():
        setattr(image.entries[path], name, value)


PROGRAM = image_rules.PROGRAMS[1]
DAMAGE = {
    "settings": {
        "root": lambda image: image.config.update(User="0"),
        "no user": lambda image: image.config.pop("User"),
        "a user's name": lambda image: image.config.update(User="trelu"),
        "another entry point": lambda image: image.config.update(Entrypoint=["/usr/local/bin/trelu"]),
        "a shell's health check": lambda image: image.config["Healthcheck"].update(Test=["CMD-SHELL", "trelu health"]),
        "another stop signal": lambda image: image.config.update(StopSignal="SIGUSR1"),
        "another version": lambda image: image.config["Labels"].update({"org.opencontainers.image.version": "9"}),
        "another architecture": lambda image: image.settings.update(architecture="riscv64"),
    },
    "size": {"a large file": lambda image: set_entry(image, PROGRAM, size=LIMIT_BYTES)},
    "files": {
        "a shell": lambda image: add(image, "usr/local/bin/sh", PROGRAM, b""),
        "a package manager": lambda image: add(image, "usr/lib/dpkg", PROGRAM, b""),
        "setuid": lambda image: set_entry(image, PROGRAM, mode=0o4755),
        "open to everybody": lambda image: set_entry(image, PROGRAM, mode=0o777),
        "somebody's": lambda image: set_entry(image, PROGRAM, uid=65532),
    },
    "libraries": {
        "a library too few": lambda image: remove(image, library(image, "libcares")),
        "no loader": lambda image: remove(image, library(image, "ld-linux-x86-64" if ARCHITECTURE == "amd64"
                                                         else "ld-linux-aarch64")),
        "a library too many": lambda image: add(image, "usr/lib/libother.so.1", PROGRAM, b""),
        "a program too few": lambda image: remove(image, PROGRAM),
    },
    "packages": {
        "a changed library": lambda image: add(image, library(image, "libz"), PROGRAM, b"\x7fELF"),
        "no record": lambda image: remove(image, f"{image_rules.STATUS}/zlib1g"),
        "a record too many": lambda image: add(image, f"{image_rules.STATUS}/bash", PROGRAM, b"Package: bash\n"),
        "no licence": lambda image: remove(image, "usr/share/doc/zlib1g/copyright"),
        "no licence of headers": lambda image: remove(image, f"usr/share/doc/{shipped.COMPILED_IN[0]}/copyright"),
        "no common licence": lambda image: remove(image, "usr/share/common-licenses/Apache-2.0"),
    },
    "bill": {
        "another program": lambda image: add(image, PROGRAM, PROGRAM, b""),
        "another version of a package": lambda image: add(
            image, f"{image_rules.STATUS}/zlib1g", PROGRAM, b"Package: zlib1g\nVersion: 0\n"),
        "a package that is not listed": lambda image: add(
            image, f"{image_rules.STATUS}/bash", PROGRAM, b"Package: bash\nVersion: 5\n"),
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
            for name, damage in cases.items():
                with self.subTest(rule=rule, damage=name), Damaged() as image:
                    damage(image)
                    self.assertNotEqual(list(RULES[rule](image)), [])


if __name__ == "__main__":
    print(f"{len(IMAGE.entries)} entries, {IMAGE.bytes() / 1e6:.1f} MB, "
          f"{len(image_rules.records(IMAGE))} packages recorded")
    unittest.main()
