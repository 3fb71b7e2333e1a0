"""The bill of materials that deploy/sbom.py writes: the same for the same input, whole, and true.

Whether it is SPDX by others' judgement is for deploy/check_image.sh, which has the packages for that.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = [os.environ["TRELU_SERVER"], os.environ["TRELU_COMMAND"]]
LINKED_IN = os.environ["TRELU_STATIC_GRPC"] == "ON"


def write(*arguments, epoch="1700000000", programs=None):
    programs = PROGRAMS if programs is None else programs
    flags = [word for path in programs for word in ("--binary", path)]
    return subprocess.run([sys.executable, "-B", ROOT / "deploy/sbom.py", "--version", "1.2.3", *flags, *arguments],
                          capture_output=True, text=True, check=False, env=os.environ | {"SOURCE_DATE_EPOCH": epoch})


def loaded_packages(programs):
    """By ldd, which asks the loader itself, where sbom.py reads the files."""
    said = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=True).stdout
    paths = {os.path.realpath(path) for path in re.findall(r"(/\S+) \(0x", said)}
    # dpkg knows some by their path before /lib became a link to /usr/lib.
    asked = sorted(paths | {path.removeprefix("/usr") for path in paths})
    owners = subprocess.run(["dpkg-query", "-S", *asked], capture_output=True, text=True, check=False).stdout
    return {line.split(":")[0] for line in owners.splitlines()}


class SbomTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.result = write("--package", "ca-certificates")
        cls.document = json.loads(cls.result.stdout)
        cls.packages = {package["SPDXID"]: package for package in cls.document["packages"]}
        cls.relations = [(each["spdxElementId"], each["relationshipType"], each["relatedSpdxElement"])
                         for each in cls.document["relationships"]]

    def related(self, one, kind):
        return [other for this, how, other in self.relations if (this, how) == (one, kind)]

    def test_is_the_same_for_the_same(self):
        self.assertEqual(write("--package", "ca-certificates").stdout, self.result.stdout)
        self.assertEqual(write("--package", "ca-certificates", programs=PROGRAMS[::-1]).stdout, self.result.stdout)

    def test_time_is_source_date_epoch(self):
        self.assertEqual(self.document["creationInfo"]["created"], "2023-11-14T22:13:20Z")
        self.assertEqual(json.loads(write(epoch="0").stdout)["creationInfo"]["created"], "1970-01-01T00:00:00Z")

    def test_namespace_is_of_the_content(self):
        others = [self.document, *(json.loads(each.stdout) for each in (
            write(), write(epoch="0"), write("--as", "/opt"), write(programs=PROGRAMS[:1])))]
        self.assertEqual(len({each["documentNamespace"] for each in others}), len(others))
        for each in others:
            self.assertRegex(each["documentNamespace"], r"^https://spdx\.org/spdxdocs/trelu-1\.2\.3-[0-9a-f]{32}$")

    def test_names_are_unique_and_relations_lead_to_them(self):
        names = ["SPDXRef-DOCUMENT", *self.packages, *(file["SPDXID"] for file in self.document["files"])]
        self.assertEqual(len(set(names)), len(names))
        for name in names:
            self.assertRegex(name, r"^SPDXRef-[A-Za-z0-9.-]+$")
        self.assertLessEqual({end for one, _, other in self.relations for end in (one, other)}, set(names))
        self.assertEqual(len(set(self.relations)), len(self.relations))

    def test_describes_trelu_with_its_programs(self):
        self.assertEqual(self.related("SPDXRef-DOCUMENT", "DESCRIBES"), ["SPDXRef-Package-trelu"])
        self.assertEqual(self.packages["SPDXRef-Package-trelu"]["versionInfo"], "1.2.3")
        files = {file["fileName"]: file for file in self.document["files"]}
        self.assertEqual(set(files), {"./usr/bin/trelu-server", "./usr/bin/trelu"})
        contained = self.related("SPDXRef-Package-trelu", "CONTAINS")
        for path in PROGRAMS:
            file = files[f"./usr/bin/{os.path.basename(path)}"]
            self.assertIn(file["SPDXID"], contained)
            data = pathlib.Path(path).read_bytes()
            self.assertEqual({each["algorithm"]: each["checksumValue"] for each in file["checksums"]},
                             {"SHA1": hashlib.sha1(data).hexdigest(), "SHA256": hashlib.sha256(data).hexdigest()})

    def test_depends_on_what_the_loader_loads(self):
        reached, todo = set(), ["SPDXRef-Package-trelu"]
        while todo:
            todo += (new := set(self.related(todo.pop(), "DEPENDS_ON")) - reached)
            reached |= new
        self.assertEqual({self.packages[name]["name"] for name in reached}, loaded_packages(PROGRAMS))
        self.assertIn("libssl3", {self.packages[name]["name"] for name in reached})

    def test_contains_what_is_compiled_in_and_what_is_asked_for(self):
        contained = {self.packages[name]["name"] for name in self.related("SPDXRef-Package-trelu", "CONTAINS")
                     if name in self.packages}
        loaded = loaded_packages(PROGRAMS)
        libraries = {"libabsl20220623", "libgrpc++1.51", "libgrpc29", "libprotobuf32"}
        archives = {"libabsl-dev", "libgrpc++-dev", "libgrpc-dev", "libprotobuf-dev"}
        self.assertEqual(loaded & libraries, set() if LINKED_IN else libraries)
        self.assertEqual(contained, {"ca-certificates", "grpc-proto", "libcli11-dev", "nlohmann-json3-dev",
                                     *(archives if LINKED_IN else ())})

    def test_packages_are_of_the_programs_architecture_or_serve_every_one(self):
        sys.path.insert(0, str(ROOT / "deploy"))
        import shipped
        self.assertEqual(shipped.package_named("base-files", "no-such-architecture").name, "base-files")
        self.assertEqual(shipped.package_named("grpc-proto", "no-such-architecture").name, "grpc-proto")
        with self.assertRaises(shipped.Unfit):
            shipped.package_named("libgrpc-dev", "no-such-architecture")

    def test_packages_are_named_as_scanners_look_for_them(self):
        for package in self.packages.values():
            if package["name"] == "trelu":
                continue
            with self.subTest(package["name"]):
                reference, = package["externalRefs"]
                found = re.fullmatch(r"pkg:deb/debian/([^@]+)@([A-Za-z0-9.%~-]+)\?arch=(\w+)&distro=debian-\d+",
                                     reference["referenceLocator"])
                self.assertEqual(urllib.parse.unquote(found[1]), package["name"])
                version, architecture = subprocess.run(
                    ["dpkg-query", "-W", "-f", "${Version} ${Architecture}\n", package["name"]],
                    capture_output=True, text=True, check=True).stdout.splitlines()[0].split()
                self.assertEqual((urllib.parse.unquote(found[2]), found[3]), (version, architecture))
                self.assertEqual(package["versionInfo"], version)

    def test_refuses_what_it_cannot_tell_of(self):
        for name, arguments, message in (("no file", ["--binary", "/no/such/file"], "/no/such/file"),
                                         ("no program", ["--binary", __file__], "not a 64-bit little-endian ELF file"),
                                         ("no package", ["--package", "no-such-package"], "no such package")):
            with self.subTest(name):
                result = write(*arguments)
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertIn(message, result.stderr)

    def test_dockerfile_has_the_project_s_version(self):
        version = re.search(r"^project\(trelu VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
        self.assertEqual(re.findall(r"^ARG VERSION=(.*)$", (ROOT / "Dockerfile").read_text(), re.M), [version])


if __name__ == "__main__":
    unittest.main()
