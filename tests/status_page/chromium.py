"""A headless Chromium of our own, spoken to over a pipe in the DevTools protocol; nothing but Python's library."""
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

PATIENCE = float(os.environ.get("TRELU_PATIENCE", "60"))  # seconds that anything may take


def program():
    """Where Chromium is, or nothing."""
    return shutil.which("chromium")


def _pipe():
    """Both ends out of the way of descriptors 3 and 4."""
    low = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low]
    for end in low:
        os.close(end)
    return high


class Chromium:
    """Ends with the `with` block, its profile with it."""

    def __enter__(self):
        self._profile = tempfile.TemporaryDirectory(prefix="trelu-chromium-", ignore_cleanup_errors=True)
        to_read, to_write = _pipe()  # ours to write, Chromium's to read as descriptor 3
        from_read, from_write = _pipe()  # and the answers, its descriptor 4
        self._in, self._out = to_write, from_read
        flags = ["--headless", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                 "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
                 "--no-proxy-server", f"--user-data-dir={self._profile.name}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # it refuses to make one as root
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{from_write}', "bash", program(), *flags, "about:blank"],
            pass_fds=(to_read, from_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "TZ": "UTC", "LANG": "C.UTF-8"})
        os.close(to_read)
        os.close(from_write)
        self._buffer, self._last_id, self._listeners = b"", 0, {}
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except (EOFError, OSError, TimeoutError):
            pass
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)  # a session that we began, and what it started
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._profile.cleanup()

    def call(self, method, session=None, **parameters):
        """The answer to a command; meanwhile events go to their pages."""
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._read(end, method)
            if answer.get("id") == self._last_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self._listeners.get(answer.get("sessionId"), lambda *_: None)(answer["method"], answer["params"])

    def _read(self, end, what):
        while b"\0" not in self._buffer:
            if not select.select([self._out], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"no answer from Chromium to {what}")
            block = os.read(self._out, 1 << 20)
            if not block:
                raise EOFError("Chromium is gone")
            self._buffer += block
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, url, **look):
        return Page(self, url, **look)

    def listen(self, session, listener):
        self._listeners[session] = listener


class Page:
    """One tab. `complaints` has what the browser said against the page: errors, exceptions, breaches of its policy."""

    def __init__(self, browser, url, **look):
        self._browser, self.complaints = browser, []
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._target = target
        self._session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.listen(self._session, self._heard)
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.call(f"{domain}.enable")
        self.look(**look)
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)

    def _heard(self, event, told):
        if event == "Runtime.exceptionThrown":
            self.complaints.append(told["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif event == "Runtime.consoleAPICalled":
            self.complaints.append(f"console.{told['type']}: {told['args']}")
        elif event == "Log.entryAdded":
            self.complaints.append(f"{told['entry']['source']}: {told['entry']['text']}")
        elif event == "Audits.issueAdded":
            self.complaints.append(f"issue: {json.dumps(told['issue'])}")

    def look(self, width=1280, height=900, dark=False, scale=1):
        """How large the window is, and whether its reader likes it dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def wait_for(self, condition):
        """Returns what the expression is once it is true; looks whenever the page is about to draw."""
        value = self.evaluate(f"""new Promise((resolve) => {{
            const end = performance.now() + {1000 * PATIENCE / 2};
            const look = () => {{
              const value = ({condition});
              if (value || performance.now() > end) resolve(value); else setTimeout(look, 50);
            }};
            look();
          }})""")
        if not value:
            raise AssertionError(f"not within {PATIENCE / 2:.0f} s: {condition}; the page says:\n{self.text()}")
        return value

    def text(self):
        return self.evaluate("document.body.innerText")

    def press(self, key):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode={"Tab": 9, "ArrowLeft": 37, "Escape": 27, "Enter": 13}[key])

    def screenshot(self, path):
        """All of the page, however long."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})["data"]
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))
