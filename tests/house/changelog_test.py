"""The Debian changelog (deploy/debian/changelog.py) is made of what tags say, in whatever form they say it."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from sources import ROOT

LONG = "It does so, line after line, for as long as there are words to fill this line with, and some more."
SIGNATURE = "-----BEGIN PGP SIGNATURE-----\n\nxyz\n-----END PGP SIGNATURE-----"
# Name, the tag's message, and the entry's bullets as they are to be.
FORMS = (
    ("one line", "Everything is new.", ["Everything is new."]),
    ("items alone", "- It thresholds.\n- It streams.\n- It serves.", ["It thresholds.", "It streams.", "It serves."]),
    ("items with stars", "* It thresholds.\n* It streams.", ["It thresholds.", "It streams."]),
    ("paragraphs", "One.\n\nTwo.\n\nThree.", ["One.", "Two.", "Three."]),
    ("a paragraph of two lines", "One and\nstill one.\n\nTwo.", ["One and still one.", "Two."]),
    ("a paragraph, then items", "New.\n\n- It thresholds.\n- It streams.", ["New.", "It thresholds.", "It streams."]),
    ("items right below a line", "New:\n- It thresholds.\n- It streams.", ["New:", "It thresholds.", "It streams."]),
    ("items apart", "- It thresholds.\n\n- It streams.", ["It thresholds.", "It streams."]),
    ("an item of two lines", "- It thresholds,\n  and well.\n- It streams.", ["It thresholds, and well.", "It streams."]),
    ("a long item", f"- {LONG}\n- It streams.", [LONG, "It streams."]),
    ("a hyphen within", "A drop-in - and more.", ["A drop-in - and more."]),
    ("a signature", f"- It thresholds.\n- It streams.\n{SIGNATURE}", ["It thresholds.", "It streams."]),
    ("nothing", "", ["Version 1.0.0."]),
)
ENTRY = re.compile(r"trelu \(1\.0\.0\) unstable; urgency=medium\n\n((?:  .*\n)+)\n -- \S.* <\S+>  \w{3}, .*\n")


class Changelog(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.script = shutil.copy(ROOT / "deploy/debian/changelog.py", self.folder)
        self.git("init", "--quiet")
        self.git("commit", "--quiet", "--allow-empty", "--message=one")

    def git(self, *words, text=None):
        who = {f"GIT_{role}_{what}": "check@trelu.example" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        nobodys = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        subprocess.run(["git", *words], cwd=self.folder, check=True, input=text, text=True, capture_output=True,
                       env=os.environ | who | nobodys)

    def changelog(self):
        return subprocess.run(["python3", "-B", self.script, "1.0.0"], check=True, capture_output=True, text=True,
                              env=os.environ | {"SOURCE_DATE_EPOCH": "0"}).stdout

    def test_every_form_of_a_message(self):
        for name, message, wanted in FORMS:
            with self.subTest(name):
                self.git("tag", "--force", "--annotate", "--cleanup=verbatim", "--file=-", "v1.0.0", text=message)
                said = self.changelog()
                self.assertRegex(said, f"^{ENTRY.pattern}$")
                lines = ENTRY.match(said)[1]
                self.assertLessEqual(max(map(len, lines.splitlines())), 78)
                found = re.findall(r"^  \* (.*(?:\n    .*)*)", lines, re.M)
                self.assertEqual([bullet.replace("\n    ", " ") for bullet in found], wanted)

    def test_a_version_without_a_tag(self):
        self.assertIn("\n  * Version 1.0.0.\n", self.changelog())

    def test_tags_of_something_else_are_no_releases(self):
        for name in ("v-old-experiment", "v1.0.0-rc1", "v2"):
            self.git("tag", "--annotate", "--message=No.", name)
        self.git("tag", "v3.0.0")
        self.assertEqual(len(re.findall("^trelu ", self.changelog(), re.M)), 1)


if __name__ == "__main__":
    unittest.main()
