"""The project's own files, as the tests of the house see them."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("core", "proto", "server", "client", "tests", "deploy")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)


def files(*patterns):
    """Paths below ROOT that match a pattern such as "*.h": those in version control, and new ones."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(path for path in set(listed) if (ROOT / path).is_file())


def read_all(*patterns):
    """Path to text, for every such file."""
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in files(*patterns)}
