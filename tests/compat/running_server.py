"""A trelu-server that runs for a while."""
import os
import re
import signal
import subprocess
import tempfile
import time


class Server:
    """A running trelu-server on free loopback ports."""

    def __init__(self, *flags):
        self._log = tempfile.TemporaryFile(mode="w+")
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM",  # it does not outlive a test that is killed
             os.environ["TRELU_SERVER"], "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--drain-delay", "0s",
             *flags], stdout=subprocess.PIPE, stderr=self._log, text=True)
        ready = next((line for line in self._process.stdout if re.search(r"\bready\b", line)), "")
        found = re.search(r"\blisten=(\S+)", ready)
        if not found:
            self._process.kill()
            raise AssertionError(f"The server did not become ready. It said:\n{self._end()}")
        self.address = found[1]
        self.admin = re.search(r"\badmin=(\S+)", ready)[1]

    def send(self, number):
        self._process.send_signal(number)

    def _end(self):
        self._process.communicate(timeout=60)
        with self._log as log:
            log.seek(0)
            return log.read()

    def stop(self):
        """Ends it, and holds it to a clean end."""
        self.send(signal.SIGTERM)
        log = self._end()
        if self._process.returncode != 0:
            raise AssertionError(f"The server ended with status {self._process.returncode}. It said:\n{log}")


def until(condition, what, seconds=30):
    """Waits for what the server does in its own time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)
