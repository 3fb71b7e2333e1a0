"""Who may include whom: the walls between the folders, as the README's architecture draws them."""
import re
import unittest

from sources import INCLUDE, read_all

# Folders of ours that a folder's files may name in an include. "types" are the public tensor types
# (core/include), "library" is the client library's public header (client/include).
MAY_INCLUDE = {
    "core": {"core", "types"},
    "proto": {"proto", "core", "types"},
    "server": {"server", "proto", "core", "types"},
    "client": {"client", "library", "proto", "types"},
    "client/include": {"library", "types"},
    "client/command": {"client", "library", "proto", "core", "types"},  # --verify computes the answer itself
    "tests": {"tests", "server", "client", "library", "proto", "core", "types"},
}
# Where a server and a client may be part of the same program.
MEETING_PLACES = ("tests/e2e/", "tests/benchmark/", "tests/support/")
# Packages by the first part of their headers' paths, and the folders that do without them.
PACKAGES = {"grpc": "grpc", "grpcpp": "grpc", "grpc++": "grpc", "google": "protobuf", "prometheus": "prometheus"}
WITHOUT = {
    "core": {"grpc", "protobuf", "prometheus"},
    "proto": {"prometheus"},
    "client": {"prometheus"},
    "client/command": {"prometheus"},
    "client/include": {"grpc", "protobuf", "prometheus"},
}


def folder_of(path):
    first_two = "/".join(path.split("/")[:2])
    return first_two if first_two in MAY_INCLUDE else path.split("/")[0]


def owner(name, files):
    """(owner, file) of what a quoted include names; (None, None) when it names nothing of ours."""
    if name.endswith(".pb.h"):
        return "proto", None  # generated from proto/'s schemas
    for place, kind in (("core/include/", "types"), ("client/include/", "library")):
        if place + name in files:
            return kind, place + name
    return (name.split("/")[0], name) if name in files and "/" in name else (None, None)


def breaches(files):
    """One sentence for every include in `files` (path to text) that breaks the rule."""
    found, includes = [], {}
    for path, text in files.items():
        folder = folder_of(path)
        includes[path] = set()
        for bracket, name in INCLUDE.findall(text):
            if bracket == "<" and not name.endswith(".pb.h"):
                package = PACKAGES.get(name.split("/")[0])
                if package in WITHOUT.get(folder, ()):
                    found.append(f"{path}: {folder}/ does without {package}, but includes <{name}>")
                elif folder == "core" and name.split("/")[0] != "absl" and not re.fullmatch(r"\w+|\w*intrin\.h", name):
                    found.append(f"{path}: core/ is made of std, Abseil and intrinsics, but includes <{name}>")
                continue
            kind, target = owner(name, files)
            if kind is None:
                found.append(f"{path}: \"{name}\" is no file of ours, by its path from the root")
            elif kind not in MAY_INCLUDE[folder]:
                found.append(f"{path}: {folder}/ may not include \"{name}\" ({kind})")
            elif target:
                includes[path].add(target)
    for path in files:
        if path.startswith("tests/") and not path.startswith(MEETING_PLACES):
            reached, todo = set(), [path]
            while todo:
                for target in includes[todo.pop()] - reached:
                    reached.add(target)
                    todo.append(target)
            if {"server", "client"} <= {target.split("/")[0] for target in reached}:
                found.append(f"{path}: server and client meet; that is for {', '.join(MEETING_PLACES)}")
    return found


class IncludeRule(unittest.TestCase):
    maxDiff = None

    def test_every_file_keeps_it(self):
        files = read_all("*.h", "*.cc")
        self.assertGreater(len(files), 10)
        self.assertEqual(breaches(files), [])

    def test_every_kind_of_breach_is_seen(self):
        house = {
            "core/include/trelu/dtype.h": "", "client/include/trelu/client.h": "", "core/a.h": "",
            "proto/p.h": '#include "core/a.h"\n#include <grpcpp/grpcpp.h>', "client/c.h": "",
            "server/s.h": '#include "proto/p.h"\n#include "trelu/v1/trelu.pb.h"',
            "tests/support/s.h": '#include "server/s.h"', "tests/e2e/t.cc": '#include "server/s.h"\n#include "client/c.h"',
        }
        self.assertEqual(breaches(house), [])
        for path, line in (
            ("core/b.cc", '#include "proto/p.h"'),
            ("core/b.cc", '#include "trelu/v1/trelu.pb.h"'),
            ("core/b.cc", "#include <grpcpp/support/slice.h>"),
            ("core/b.cc", "#include <google/protobuf/message.h>"),
            ("core/b.cc", "#include <prometheus/counter.h>"),
            ("core/b.cc", "#include <sys/mman.h>"),
            ("proto/b.cc", '#include "server/s.h"'),
            ("server/b.cc", '#include "trelu/client.h"'),
            ("client/b.cc", '#include "server/s.h"'),
            ("client/b.cc", '#include "core/a.h"'),
            ("client/include/trelu/b.h", '#include "client/c.h"'),
            ("client/include/trelu/b.h", "#include <grpcpp/grpcpp.h>"),
            ("server/b.cc", '#include "s.h"'),
            ("server/b.cc", '#include "server/gone.h"'),
            ("tests/client/b.cc", '#include "client/c.h"\n#include "tests/support/s.h"'),
        ):
            with self.subTest(f"{path}: {line}"):
                self.assertEqual(len(breaches(house | {path: line})), 1)


if __name__ == "__main__":
    unittest.main()
