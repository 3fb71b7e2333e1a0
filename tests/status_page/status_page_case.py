"""A real server, and the status page of it in a browser, for a test's time."""
import json
import os
import re
import signal
import subprocess
import unittest

from chromium import Chromium
from running_server import Server

TRELU = os.environ["TRELU_COMMAND"]


def number(text):
    return float(text.replace(",", ""))


class StatusPage(unittest.TestCase):
    FLAGS = ()
    maxDiff = None
    browser = None

    @classmethod
    def open_browser(cls):
        """For all tests of a module, in its setUpModule."""
        StatusPage.browser = unittest.enterModuleContext(Chromium())

    def setUp(self):
        self.server = Server("--log-calls", "none", *self.FLAGS)
        self.addCleanup(self.end_server)
        self.page = self.browser.open(f"http://{self.server.admin}/")
        self.addCleanup(self.page.close)

    def end_server(self):
        if self.server:
            self.server.send(signal.SIGINT)  # the second signal ends the wait; two of one kind could arrive as one
            self.server.stop()
        self.server = None

    def bench(self, *options, ends_well=True):
        done = subprocess.run([TRELU, "--target", self.server.address, "bench", "--warmup", "0s", *options],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode == 0, ends_well, done.stderr)

    def load(self, *options):
        process = subprocess.Popen([TRELU, "--target", self.server.address, "bench", "--warmup", "0s", *options],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    def wait_for_health(self, word):
        self.page.wait_for(f"document.getElementById('health-word').textContent === {json.dumps(word)}")

    def wait_for_polls(self, count):
        """Until the page has asked so often again; it keeps the points of five minutes."""
        before = self.page.evaluate("record.points.length")
        self.page.wait_for(f"record.points.length >= {before + count}")

    def shown(self, selector):
        return self.page.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def quantity(self, selector):
        """Number and unit."""
        found, unit = self.page.evaluate(
            f"[...document.querySelector({json.dumps(selector)}).children].map((part) => part.textContent.trim())")
        return number(found), unit

    def rows(self, section, cell):
        """First cell's heading to the text of another cell."""
        return dict(self.page.evaluate(
            f"[...document.querySelectorAll('#{section} tbody tr')].map((row) => [row.dataset.key, row.cells[{cell}].textContent])"))

    def assert_no_complaint(self):
        """But for what the browser itself notes of an answer 503, and of none."""
        noted = re.compile("^network: Failed to load resource: (the server responded with a status of 503|net::ERR_)")
        self.assertEqual([told for told in self.page.complaints if not noted.match(told)], [])
