"""What deploy/release.sh has made in the folder RELEASE, of VERSION: its files are complete, and say what they should."""
import copy
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ["RELEASE"])
VERSION = os.environ["VERSION"]
PROGRAMS = ("trelu", "trelu-server")
# Debian's packages that the programs have parts of, whose files no loader opens.
COMPILED_IN = {"grpc-proto", "libcli11-dev", "nlohmann-json3-dev"}


def text_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read_release():
    """Name of a file to its bytes."""
    return {path.name: path.read_bytes() for path in FOLDER.iterdir()}


def packages_of(files):
    """What the Debian packages of the release depend on, without versions: what is loaded."""
    found = set()
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            if re.match(r"trelu(-server)?_.*\.deb$", name):
                path = pathlib.Path(folder, name)
                path.write_bytes(content)
                found |= set(re.findall(r"(?:^|, )(lib[a-z0-9.+-]+)", text_of("dpkg-deb", "--field", path, "Depends")))
    return found


def programs_of(files):
    """Path of each packaged program to its SHA-256."""
    sums = {}
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            name = next(name for name in files if name.startswith(f"{program}_"))
            path = pathlib.Path(folder, name)
            path.write_bytes(files[name])
            subprocess.run(["dpkg-deb", "--extract", path, folder], check=True)
            sums[f"./usr/bin/{program}"] = hashlib.sha256(pathlib.Path(folder, "usr/bin", program).read_bytes()).hexdigest()
    return sums


def bill_faults(bill, files):
    """Of the bill of materials: one sentence for every fault."""
    described = {file["fileName"]: {sum["algorithm"]: sum["checksumValue"] for sum in file["checksums"]}.get("SHA256")
                 for file in bill["files"]}
    if described != programs_of(files):
        yield f"the bill has the programs {described}, but packaged are {programs_of(files)}"
    packages = {package["name"]: package for package in bill["packages"]}
    if packages.get("trelu", {}).get("versionInfo") != VERSION or bill["name"] != f"trelu-{VERSION}":
        yield f"the bill is of {bill['name']} {packages.get('trelu', {}).get('versionInfo')}, expected {VERSION}"
    for missing in sorted((packages_of(files) | COMPILED_IN) - packages.keys()):
        yield f"the bill misses {missing}"
    for name, package in packages.items():
        if name != "trelu" and package["versionInfo"] != text_of("dpkg-query", "-W", "-f", "${Version}\n", name).split("\n")[0]:
            yield f"the bill has {name} {package['versionInfo']}, which is not the one that is installed"


def faults(files):
    """Of the release: one sentence for every fault."""
    architecture = text_of("dpkg", "--print-architecture").strip()
    chart = re.search(r"^version: (.*)", (ROOT / "deploy/helm/trelu/Chart.yaml").read_text(), re.M)[1]
    wanted = {f"trelu-{VERSION}.tar.gz", f"trelu-{chart}.tgz", f"trelu-{VERSION}.spdx.json", f"trelu-{VERSION}-image.tar",
              "SHA256SUMS", *(f"{name}_{VERSION}_{architecture}.deb" for name in (*PROGRAMS, "libtrelu-dev"))}
    if files.keys() != wanted:
        yield f"the files are {sorted(files)}, expected {sorted(wanted)}"
    sums = "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files) if name != "SHA256SUMS")
    if files.get("SHA256SUMS", b"").decode() != sums:
        yield "SHA256SUMS are not those of all files"
    if f"trelu-{VERSION}.spdx.json" in files:
        yield from bill_faults(json.loads(files[f"trelu-{VERSION}.spdx.json"]), files)


class Release(unittest.TestCase):
    maxDiff = None

    def test_release_is_complete_and_true(self):
        self.assertEqual(list(faults(read_release())), [])

    def test_every_kind_of_fault_is_seen(self):
        files = read_release()
        lines = files["SHA256SUMS"].splitlines(keepends=True)
        for name, damaged in {
            "a file that is not summed up": files | {"SHA256SUMS": b"".join(lines[1:])},
            "a file that is missing": {name: content for name, content in files.items() if not name.endswith(".tgz")},
            "another content": files | {f"trelu-{VERSION}.tar.gz": b""},
        }.items():
            with self.subTest(name):
                self.assertNotEqual(list(faults(damaged)), [])

    def test_every_kind_of_fault_of_the_bill_is_seen(self):
        files = read_release()
        bill = json.loads(files[f"trelu-{VERSION}.spdx.json"])

        def of_another_program(damaged):
            damaged["files"][0]["checksums"][1]["checksumValue"] = "0" * 64

        def of_another_version(damaged):
            next(package for package in damaged["packages"] if package["name"] == "trelu")["versionInfo"] = "9.9.9"

        def of_another_library(damaged):
            next(package for package in damaged["packages"] if package["name"] == "libc6")["versionInfo"] = "1"

        def without(name):
            def damage(damaged):
                damaged["packages"] = [package for package in damaged["packages"] if package["name"] != name]
            return damage
        for damage in (lambda damaged: damaged["files"].pop(), of_another_program, of_another_version, of_another_library,
                       without("libc6"), without("libcli11-dev")):
            damaged = copy.deepcopy(bill)
            damage(damaged)
            self.assertEqual(len(list(bill_faults(damaged, files))), 1)


if __name__ == "__main__":
    unittest.main()
