"""The version is CMake's project VERSION, and whatever else names it says the same."""
import os
import re
import subprocess
import unittest

from readme_test import SERVER, scrape
from sources import ROOT, read_all

COMMAND = os.environ.get("TRELU_COMMAND", str(ROOT / "build/release/client/trelu"))
NUMBER = r"\d+\.\d+\.\d+"
# Where a version of ours is named: after these words.
NAMED = {
    "Dockerfile": r"^ARG VERSION=(NUMBER)$",
    "README.md": r"(?:\bgit tag -a v|\btrelu:)(NUMBER)",
    "deploy/helm/trelu/Chart.yaml": r'^(?:version|appVersion): "?(NUMBER)"?$',
    "deploy/kserve/runtime.yaml": r"\btrelu:(NUMBER)",
    "proto/trelu/v1/trelu.proto": r'such as "(NUMBER)"',
}
MENTION = re.compile(rf"(?:\btrelu:|\btrelu[-_ ]v?|appVersion: \"?)({NUMBER})")  # where one may hide


def version_of(text):
    return re.search(rf"^project\(trelu VERSION ({NUMBER}) ", text, re.M)[1]


def faults(texts, version):
    """One sentence for every file that names another version, or none although it should."""
    for path, pattern in NAMED.items():
        named = re.findall(pattern.replace("NUMBER", NUMBER), texts[path], re.M)
        if not named or set(named) != {version}:
            yield f"{path}: {named}, expected {version}"
    for path, text in texts.items():
        other = [found for found in MENTION.findall(text) if found != version]
        if path not in NAMED and not path.startswith("tests/") and other:
            yield f"{path}: {other}, expected {version}"


class Version(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.texts = read_all("*.yaml", "*.proto", "*.md", "*.sh", "*.cmake", "*.txt", "*.py", "Dockerfile")
        self.version = version_of(self.texts["CMakeLists.txt"])

    def test_files_name_the_same(self):
        self.assertEqual(list(faults(self.texts, self.version)), [])

    def test_programs_and_metrics_say_the_same(self):
        for program, name in ((SERVER, "trelu-server"), (COMMAND, "trelu")):
            said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
            self.assertEqual(said, f"{name} {self.version}\n")
        info = re.findall(r"^trelu_build_info\{(.*)\} 1$", scrape(), re.M)
        self.assertEqual([re.search(r'\bversion="([^"]*)"', labels)[1] for labels in info], [self.version])

    def test_the_example_asks_for_this_series(self):
        text = read_all("client/examples/consumer/CMakeLists.txt")["client/examples/consumer/CMakeLists.txt"]
        self.assertTrue(self.version.startswith(re.search(r"find_package\(trelu ([\d.]+) REQUIRED", text)[1] + "."))

    def test_every_kind_of_fault_is_seen(self):
        for path, old, new in (
            ("deploy/helm/trelu/Chart.yaml", f"version: {self.version}", "version: 9.9.9"),
            ("deploy/helm/trelu/Chart.yaml", f'appVersion: "{self.version}"', 'appVersion: "9.9.9"'),
            ("deploy/kserve/runtime.yaml", f"trelu:{self.version}", "trelu:latest"),
            ("README.md", f"git tag -a v{self.version}", "git tag -a v9.9.9"),
            ("README.md", f"docker push REGISTRY/trelu:{self.version}", "docker push REGISTRY/trelu:9.9.9"),
            ("Dockerfile", f"ARG VERSION={self.version}", "ARG VERSION=9.9.9"),
            ("deploy/scaling.md", "# ", "# trelu 9.9.9: "),
        ):
            with self.subTest(new):
                self.assertIn(old, self.texts[path])
                self.assertEqual(len(list(faults(self.texts | {path: self.texts[path].replace(old, new)}, self.version))), 1)


if __name__ == "__main__":
    unittest.main()
