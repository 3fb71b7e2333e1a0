"""The form of every source file: its length, its guard, its first line, its name and its words."""
import re
import unittest

from sources import files, read_all

MAX_LINES = 300  # the aim is 250
# What a file is called when nobody has found out what it is for.
VAGUE = {"util", "utils", "helper", "helpers", "common", "manager", "impl", "misc"}
# What does not belong in a finished tree: unfinished work, numbers that mean something elsewhere only, and paths
# that exist on one machine only. (Split, so that this file may hold them.)
WORDS = re.compile(
    r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK|not impl" r"emented)\b"
    r"|\biss" r"ue #?\d"
    r"|(?<![\w.~:*/-])/(?:home|root|work|farm)/")
TOP_LEVEL = {
    "proto", "server", "client", "core", "deploy", "tests", "CMakeLists.txt", "Dockerfile", "README.md",  # the house
    "CMakePresets.json", ".clang-format", ".clang-tidy", ".gitignore", ".dockerignore", ".ci", "LICENSE",  # its tools
}


def guard_of(path):
    inside = re.sub(r"^(core|client)/include/", "", path)
    name = re.sub(r"[^A-Z0-9]", "_", inside.upper()) + "_"
    return name if name.startswith("TRELU_") else "TRELU_" + name


def faults_of_source(path, text):
    """One sentence for every fault of a C++ file."""
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        yield f"{path}: {len(lines)} lines, more than {MAX_LINES}"
    if path.endswith(".h"):
        if not text.startswith("// "):
            yield f"{path}: does not begin by saying what it is for"
        guard = guard_of(path)
        code = [line for line in lines if line and not line.startswith("//")]
        if code[:2] != [f"#ifndef {guard}", f"#define {guard}"] or lines[-1] != f"#endif  // {guard}":
            yield f"{path}: not wrapped in the guard {guard}"


def faults_of_name(path):
    for part in re.split(r"[/_.-]", path):
        if part.lower() in VAGUE:
            yield f"{path}: '{part}' says nothing"
    if path.split("/")[0] not in TOP_LEVEL:
        yield f"{path}: a new top-level entry"


def faults_of_words(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if found := WORDS.search(line):
            yield f"{path}:{number}: '{found[0]}'"


def faults_of_package_list(text):
    for line in text.splitlines():
        if not re.fullmatch(r"#.*|[a-z0-9.+-]+ +# (build|test|ship)", line):
            yield f"apt-packages.txt: '{line}' is not 'name  # WORD', a word of build, test, ship"


class SourceForm(unittest.TestCase):
    maxDiff = None

    def test_sources_are_short_guarded_and_say_what_they_are_for(self):
        sources = read_all("*.h", "*.cc")
        self.assertGreater(len(sources), 10)
        self.assertEqual([fault for item in sources.items() for fault in faults_of_source(*item)], [])

    def test_names_say_something(self):
        self.assertEqual([fault for path in files("*") for fault in faults_of_name(path)], [])

    def test_words_are_for_every_reader(self):
        texts = read_all("*.h", "*.cc", "*.py", "*.sh", "*.proto", "*.md", "*.txt", "*.cmake", "*.yaml", "*.yml",
                         "*.js", "*.mjs", "*.css", "*.html", "Dockerfile", ".ci/*")
        self.assertEqual([fault for item in texts.items() for fault in faults_of_words(*item)], [])

    def test_package_list_can_be_read(self):
        self.assertEqual(list(faults_of_package_list(read_all("deploy/apt-packages.txt")["deploy/apt-packages.txt"])), [])

    def test_every_kind_of_fault_is_seen(self):
        good = "// What it is for.\n#ifndef TRELU_CORE_A_H_\n#define TRELU_CORE_A_H_\n#endif  // TRELU_CORE_A_H_\n"
        self.assertEqual(list(faults_of_source("core/a.h", good)), [])
        self.assertEqual(guard_of("core/include/trelu/dtype.h"), "TRELU_DTYPE_H_")
        for name, faults in {
            "long": faults_of_source("core/a.cc", "\n" * (MAX_LINES + 1)),
            "no purpose": faults_of_source("core/a.h", good.split("\n", 1)[1]),
            "another's guard": faults_of_source("core/b.h", good),
            "no guard": faults_of_source("core/a.h", "// What it is for.\n#pragma once\n"),
            "vague name": faults_of_name("core/string_util.h"),
            "new top-level entry": faults_of_name("scripts/a.sh"),
            "unfinished": faults_of_words("core/a.cc", "int a;  // TO" "DO: more"),
            "number": faults_of_words("core/a.cc", "// see iss" "ue 12"),
            "one machine's path": faults_of_words("a.sh", "cd /" + "home/me"),
            "package line": faults_of_package_list("cmake"),
        }.items():
            with self.subTest(name):
                self.assertEqual(len(list(faults)), 1)


if __name__ == "__main__":
    unittest.main()
