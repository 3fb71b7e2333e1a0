"""The status page in a browser, against real servers: right numbers, plain words when something is wrong."""
import json
import os
import pathlib
import re
import signal
import sys
import tempfile
import unittest
import urllib.request

from chromium import program
from running_server import Server
from status_page_case import StatusPage

HERE = pathlib.Path(__file__).parent
PICTURES = pathlib.Path(os.environ.get("TRELU_PICTURES", tempfile.gettempdir()))
NOTHING = "\u2013"


def setUpModule():
    StatusPage.open_browser()


def scrape(server):
    """Series, as it is written, to value."""
    with urllib.request.urlopen(f"http://{server.admin}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def total_by(series, name, label, where=""):
    """Sums of a counter by a label, without what counted nothing."""
    totals = {}
    for key, value in series.items():
        if key.startswith(f"{name}{{") and where in key and value > 0:
            of = re.search(rf'\b{label}="([^"]*)"', key)[1]
            totals[of] = totals.get(of, 0) + value
    return totals


class Numbers(StatusPage):
    FLAGS = ("--max-message-bytes", "1MiB", "--max-inflight-bytes", "96MiB")

    def test_totals_are_those_of_metrics(self):
        self.bench("--size", "4KiB", "--requests", "1500")
        self.bench("--size", "256KiB", "--mode", "stream", "--requests", "20")
        self.bench("--size", "2MiB", "--requests", "7", "--in-flight", "1", ends_well=False)
        self.page.wait_for("latest !== null")
        self.wait_for_polls(2)
        series = scrape(self.server)
        methods = {key: f"{int(value):,}" for key, value in
                   total_by(series, "grpc_server_handled_total", "grpc_method").items()}
        self.assertGreaterEqual(set(methods), {"Apply", "ApplyStream"})
        self.assertEqual({key.split("/")[1]: text for key, text in self.rows("methods", 6).items()}, methods)
        errors = {key: f"{int(value):,}" for key, value in
                  total_by(series, "grpc_server_handled_total", "grpc_code").items() if key != "OK"}
        self.assertIn("ResourceExhausted", errors)
        self.assertEqual(self.rows("errors", 2), errors)
        rejections = {key: f"{int(value):,}" for key, value in total_by(series, "trelu_rejected_total", "reason").items()}
        self.assertIn("too_large", rejections)
        self.assertEqual(self.rows("rejections", 2), rejections)
        self.assertEqual(self.quantity("#budget"), (96, "MiB"))
        self.assertEqual(self.quantity("[data-value=inFlightBytes]"), (0, "B"))
        version = next(re.search(r'version="([^"]*)"', key)[1] for key in series if key.startswith("trelu_build_info"))
        self.assertEqual(self.shown("#version"), version)
        self.assertRegex(self.shown("#uptime"), r"^\d+ s$|^\d min \d+ s$")
        self.assertRegex(self.shown("#memory"), r"^\d+(\.\d+)? MiB$")
        self.assertEqual(self.shown("#files").split(" of ")[1], f"{int(series['process_max_fds']):,}")
        self.assert_no_complaint()

    def test_without_traffic_there_is_no_latency_and_nothing_flickers(self):
        self.page.wait_for("record.points.length >= 2")
        for key in ("p50", "p90", "p99"):
            self.assertEqual(self.shown(f"[data-value={key}]"), NOTHING)
        self.assertEqual(self.shown("#errors .empty"), "No call failed since the start.")
        self.bench("--size", "4KiB", "--requests", "100")
        self.page.wait_for("document.querySelectorAll('#methods tbody tr').length > 0"
                           " && document.querySelectorAll('#models tbody tr').length > 0")
        self.page.evaluate("""elements = [];
            new MutationObserver((changes) => elements.push(...changes.flatMap(
                ({addedNodes, removedNodes}) => [...addedNodes, ...removedNodes].filter((node) => node.nodeType === 1)
                  .map((node) => node.outerHTML)))).observe(document.body, {childList: true, subtree: true})""")
        self.wait_for_polls(6)  # long enough for the models to be asked for again
        self.assertEqual(self.page.evaluate("elements"), [])
        self.assert_no_complaint()

    def test_rates_are_those_of_the_load_and_it_looks_well(self):
        rate, size = 200, 64 * 1024
        self.load("--size", "64KiB", "--rate", str(rate), "--arrivals", "uniform", "--duration", "120s")

        def near(selector, expected):
            self.page.wait_for(f"(() => {{ const parts = document.querySelector({json.dumps(selector)}).children;"
                               f" const value = parseFloat(parts[0]?.textContent.replaceAll(',', ''));"
                               f" return Math.abs(value / {expected} - 1) < 0.1; }})()")
        near("[data-value=calls]", rate)
        near("[data-value=bytesIn]", rate * size / 1e6)
        near("[data-value=bytesOut]", rate * size / 1e6)
        self.assertEqual(self.quantity("[data-value=bytesIn]")[1], "MB/s")
        self.page.wait_for("record.points.length >= 8")
        point = self.page.evaluate("(({p50, p90, p99}) => [p50, p90, p99])(record.points[record.points.length - 1])")
        self.assertEqual(point, sorted(point))
        self.assertGreater(point[0], 1e-6)
        for line in ("#calls .line", "#latency .line.p99", "#payload .line.bytesOut", "#inflight .plot .line", "#methods .line"):
            self.assertRegex(self.page.evaluate(f"document.querySelector('{line}').getAttribute('d')"), r"^M[\d. ]+(L[\d. ]+){3}")
        for name, look in {"light": {}, "dark": {"dark": True}, "phone": {"width": 360, "height": 780, "scale": 2},
                           "phone-dark": {"width": 360, "height": 780, "scale": 2, "dark": True}}.items():
            self.page.look(**look)
            self.wait_for_polls(1)
            self.assertEqual(self.page.evaluate((HERE / "looks.js").read_text()), [], name)
            self.page.screenshot(PICTURES / f"{name}.png")
        for width in (320, 360, 768, 1024, 1280, 2560):
            self.page.look(width=width)
            self.page.wait_for(f"innerWidth === {width}")
            self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), width)
        self.assert_no_complaint()

    def test_keys_lead_through_the_past(self):
        self.bench("--size", "4KiB", "--requests", "100")
        self.page.wait_for("record.points.length >= 4")
        self.page.press("Tab")
        self.assertEqual(self.page.evaluate("document.activeElement.closest('figure').id"), "calls")
        self.assertRegex(self.page.evaluate("document.activeElement.getAttribute('aria-label')"), "^Calls a second now: ")
        self.page.press("ArrowLeft")
        self.page.press("ArrowLeft")
        self.page.wait_for("/^[1-9]\\d* s ago$/.test(document.querySelector('#payload .when').textContent)")
        self.assertRegex(self.shown("#reading"), r"^Calls a second \d+ seconds ago: ")
        self.page.press("Escape")
        self.page.wait_for("document.querySelector('#payload .when').textContent === ''")
        self.assert_no_complaint()

    def test_it_can_be_read_aloud(self):
        self.page.wait_for("latest !== null")
        nodes = self.page.call("Accessibility.getFullAXTree")["nodes"]

        def of(role):
            return [node.get("name", {}).get("value", "") for node in nodes
                    if node.get("role", {}).get("value") == role and not node["ignored"]]
        self.assertCountEqual(of("heading"), ["Serving", "Calls", "Latency", "Payload", "In flight", "Methods", "Errors",
                                              "Turned away", "Models"])
        self.assertEqual(len(of("main")), 1)
        self.assertEqual(of("meter"), ["Bytes in flight of the budget"])
        self.assertTrue(all(of("image")), of("image"))
        self.assertIn("Version", of("columnheader"))
        self.assertEqual(len(of("status")), 1)

    def test_its_policy_is_in_force(self):
        self.page.wait_for("latest !== null")
        self.page.evaluate("document.body.setAttribute('style', 'color: rgb(1, 2, 3)')")
        self.assertNotEqual(self.page.evaluate("getComputedStyle(document.body).color"), "rgb(1, 2, 3)")
        self.assertRegex("\n".join(self.page.complaints), "Content.?Security.?Policy")
        other = Server()
        self.addCleanup(other.stop)
        self.assertEqual(self.page.evaluate(f"fetch('http://{other.admin}/livez', {{mode: 'no-cors'}})"
                                            ".then(() => 'sent', () => 'refused')"), "refused")
        with self.assertRaisesRegex(RuntimeError, "TrustedHTML"):
            self.page.evaluate("document.body.innerHTML = '<p>'")


class End(StatusPage):
    FLAGS = ("--drain-delay", "60s")

    def test_it_says_that_the_server_drains_is_gone_and_is_back(self):
        self.bench("--size", "4KiB", "--requests", "500")
        self.wait_for_health("Serving")
        self.page.wait_for("document.querySelectorAll('#methods tbody tr').length > 0")
        self.server.send(signal.SIGTERM)
        self.wait_for_health("Draining")
        self.assertRegex(self.shown("#health-detail"), "still takes calls")
        self.bench("--size", "4KiB", "--requests", "10")
        self.page.screenshot(PICTURES / "draining.png")
        self.assertEqual(self.page.evaluate("document.title.split(' ')[0]"), "Draining")
        self.assert_no_complaint()

        admin = self.server.admin
        self.end_server()
        self.wait_for_health("Unreachable")
        self.assertRegex(self.shown("#health-detail"), "^No answer since .*[0-9]")
        self.page.wait_for("document.getElementById('retry').checkVisibility()")
        for selector in ("[data-value=calls] .number", "[data-value=p99]", "[data-value=bytesIn]", "#version", "#memory", "#budget"):
            self.assertEqual(self.shown(selector), NOTHING, selector)
        self.assertEqual(self.rows("methods", 0), {})
        self.page.wait_for("document.getElementById('retry-wait').textContent === 'Next try in 8 s.'")
        self.page.screenshot(PICTURES / "unreachable.png")

        self.server = Server("--log-calls", "none", "--admin-listen", admin)
        self.bench("--size", "4KiB", "--requests", "20")
        self.page.evaluate("clearTimeout(timer)")  # so that only the button can help
        self.page.evaluate("document.getElementById('try-now').click()")
        self.wait_for_health("Serving")
        self.assertFalse(self.page.evaluate("document.getElementById('retry').checkVisibility()"))
        self.page.wait_for("record.points[record.points.length - 1].calls !== null")
        # Of this process alone.
        applied = total_by(scrape(self.server), "grpc_server_handled_total", "grpc_method")["Apply"]
        self.assertLess(applied, 100)
        self.assertEqual(self.rows("methods", 6)["trelu.v1.ThresholdedRelu/Apply"], str(int(applied)))
        self.assertRegex(self.page.evaluate("document.querySelector('#calls .mark').getAttribute('d')"), "^M")
        # Before the restart and after it are two lines.
        self.assertEqual(self.page.evaluate("document.querySelector('#inflight .plot .line').getAttribute('d').split('M').length"), 3)
        self.assert_no_complaint()

    def test_it_finds_a_server_that_comes_back_by_itself(self):
        self.wait_for_health("Serving")
        admin = self.server.admin
        self.end_server()
        self.wait_for_health("Unreachable")
        self.server = Server("--log-calls", "none", "--admin-listen", admin)
        self.wait_for_health("Serving")


class Models(StatusPage):
    def setUp(self):
        repository = tempfile.TemporaryDirectory()
        self.addCleanup(repository.cleanup)
        for i in range(120):
            folder = pathlib.Path(repository.name, f"broken{i:03}", "1")
            folder.mkdir(parents=True)
            (folder / "model.onnx").write_bytes(b"no model")
        pathlib.Path(repository.name, "broken000").rename(pathlib.Path(repository.name, "  a  broken one "))
        self.FLAGS = ("--model-repository", repository.name)
        super().setUp()

    def test_a_hundred_are_shown_and_the_others_counted(self):
        self.page.wait_for("document.querySelectorAll('#models tbody tr').length === 100")
        self.assertEqual(self.shown("#models-count"), "5 of 125 ready")
        self.assertEqual(self.shown("#models-left"), "25 more are not shown.")
        states = self.rows("models", 2)
        self.assertEqual(list(states)[:2], ["  a  broken one /1", "broken001/1"])
        self.assertRegex(states["broken001/1"], "^unavailable.{10}")
        self.assertTrue(all("broken" in key for key in states))
        self.assertEqual(self.page.evaluate("document.querySelector('#models tbody th').innerText"), '"  a  broken one "')
        self.page.look(width=360)
        self.page.wait_for("innerWidth === 360")
        self.assertGreater(self.page.evaluate("document.querySelector('#models tbody .about').offsetWidth"), 300)
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), 360)
        self.page.screenshot(PICTURES / "models-phone.png")
        self.page.look()
        self.page.screenshot(PICTURES / "models.png")
        self.assert_no_complaint()


if __name__ == "__main__":
    if program() is None:
        print("No Chromium here: Debian's package chromium, which deploy/setup.sh test installs.")
        if os.environ.get("CI") == "true":
            sys.exit(1)
        print("SKIPPED: the status page was not looked at")
        sys.exit(77)
    unittest.main(verbosity=2)
