"""An image, as `docker save` and `podman save` write it."""
import json
import pathlib
import tarfile


class Image:
    """Its settings, the entries of its layers, and its files unpacked into `root`, which must be empty."""

    def __init__(self, archive, root):
        self.root = pathlib.Path(root)
        self.entries = {}  # path below the root, without a leading slash, to tarfile.TarInfo
        with tarfile.open(archive) as tar:
            manifest, = json.load(tar.extractfile("manifest.json"))
            self.settings = json.load(tar.extractfile(manifest["Config"]))
            for layer in manifest["Layers"]:
                with tarfile.open(fileobj=tar.extractfile(layer)) as files:
                    for entry in files:
                        path = entry.name.removeprefix("./").strip("/")
                        if path:
                            self.entries[path] = entry
                    files.extractall(self.root)
        self.config = self.settings["config"]

    def bytes(self):
        return sum(entry.size for entry in self.entries.values() if entry.isfile())

    def read(self, path):
        return (self.root / path).read_bytes()

    def file_paths(self, folder=""):
        return sorted(path for path, entry in self.entries.items() if entry.isfile() and path.startswith(folder))
