"""The README is true: its flags are the server's, with their variables and defaults, and so are its metrics."""
import os
import re
import signal
import subprocess
import unittest
import urllib.request

from sources import ROOT, read_all

SERVER = os.environ.get("TRELU_SERVER", str(ROOT / "build/release/server/trelu-server"))
README = read_all("README.md")["README.md"]


def flags_of_readme(text):
    """Flag to (variable, default)."""
    rows = re.findall(r"^\| `--([a-z-]+)` \| `(\w+)` \| (?:`([^`]*)`)? *\|", text, re.M)
    return {flag: (variable, default) for flag, variable, default in rows}


def flags_of_help(text):
    """The same, of `trelu-server --help`, where a line ends in the default and the variable."""
    rows = re.findall(r"^  --([a-z-]+) .*\[([^]]*)\]  \((\w+)\)$", text, re.M)
    return {flag: (variable, default) for flag, default, variable in rows}


def metrics_of_readme(text):
    return set(re.findall(r"^\| `((?:grpc|process|trelu)_\w+)` \|", text, re.M))


def scrape():
    server = subprocess.Popen(
        [SERVER, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--drain-delay", "0s"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        ready = next((line for line in server.stdout if re.search(r"\bready\b", line)), "")
        admin = re.findall(r"127\.0\.0\.1:\d+", ready)[-1]
        with urllib.request.urlopen(f"http://{admin}/metrics", timeout=10) as answer:
            return answer.read().decode()
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=30)


class Readme(unittest.TestCase):
    maxDiff = None

    def test_flags_are_those_of_the_server(self):
        told = subprocess.run([SERVER, "--help"], check=True, capture_output=True, text=True).stdout
        # --help and --version have neither.
        self.assertEqual(len(flags_of_help(told)), len(re.findall("^  --", told.split("\nexamples:")[0], re.M)) - 2)
        self.assertEqual(flags_of_readme(README), flags_of_help(told))

    def test_metrics_are_those_of_the_server(self):
        served = set(re.findall(r"^# TYPE ((?:grpc|process|trelu)_\w+)", scrape(), re.M))
        self.assertIn("trelu_build_info", served)
        self.assertEqual(metrics_of_readme(README), served)

    def test_links_lead_to_files(self):
        for target in re.findall(r"\]\(([^)#:]+)\)", README):
            with self.subTest(target):
                self.assertTrue((ROOT / target).exists())


if __name__ == "__main__":
    unittest.main()
