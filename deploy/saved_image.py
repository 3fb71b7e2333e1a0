"""Says what is wrong with a release's image, and ends with status 1; else nothing.

  saved_image.py FILE VERSION    FILE: as `docker save` or `podman save` makes it, of one image: trelu of that VERSION
"""
import json
import sys
import tarfile

LABEL = "org.opencontainers.image."


class Wrong(Exception):
    """The message says what came instead."""


def member(archive, name):
    """The JSON in a file of the archive."""
    try:
        return json.load(archive.extractfile(name))
    except (KeyError, AttributeError):
        raise Wrong(f"has no file {name}: not what `docker save` makes") from None
    except ValueError:
        raise Wrong(f"{name} is not JSON") from None


def labels(path):
    """Of the one image in the archive."""
    try:
        with tarfile.open(path, "r:") as archive:
            images = member(archive, "manifest.json")
            if len(images) != 1:
                raise Wrong(f"has {len(images)} images, expected one")
            return member(archive, images[0]["Config"]).get("config", {}).get("Labels") or {}
    except (TypeError, AttributeError, KeyError):
        raise Wrong("its manifest is not what `docker save` makes") from None
    except (tarfile.TarError, OSError) as error:
        raise Wrong(f"not an archive of an image: {error}") from None


def main():
    path, version = sys.argv[1:]
    try:
        found = labels(path)
        for name, wanted in (("title", "trelu"), ("version", version)):
            if found.get(LABEL + name) != wanted:
                raise Wrong(f"its label {LABEL}{name} is {found.get(LABEL + name)!r}, expected {wanted!r}")
    except Wrong as wrong:
        sys.exit(f"{path}: {wrong}")


main()
