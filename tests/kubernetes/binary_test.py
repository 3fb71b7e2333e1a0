"""The chart and the KServe files against the programs themselves, and against the rest of the tree.

SERVER, COMMAND: trelu-server and trelu; HELM; RENDERED: as in manifests_test.py.
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import urllib.request

import yaml

import policy
from manifests_test import RENDERED, ROOT, SETS, first, server

SERVER, COMMAND, HELM = (os.environ[name] for name in ("SERVER", "COMMAND", "HELM"))
CHART = ROOT / "deploy/helm/trelu"
# Flags of the server that the chart sets from keys of its own.
OWN_KEYS = {"listen", "admin-listen", "drain-delay", "drain-grace", "model-repository", "tls-cert", "tls-key",
            "tls-client-ca"}
# Flags that no pod has a use for: other pods' memory is out of reach.
NOT_OFFERED = {"shared-memory-prefix", "max-shared-memory-bytes"}


def flags_of_help():
    """Flag to (what it takes, default)."""
    text = subprocess.run([SERVER, "--help"], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^  --([a-z-]+) (\S+) .*\[([^]]*)\]  \(\w+\)$", text, re.M)
    return {flag: (kind, default) for flag, kind, default in rows}


def helm(*arguments, values=None):
    """(whether it worked, what it said) of `helm template` with more arguments."""
    more = []
    if values is not None:
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False) as file:
            yaml.safe_dump(values, file)
        more = ["-f", file.name]
    run = subprocess.run([HELM, "template", "check", str(CHART), *more, *arguments], capture_output=True, text=True,
                         check=False)
    if more:
        os.unlink(file.name)
    return run.returncode == 0, run.stdout + run.stderr


def here(container, directory):
    """The container's arguments, but on free ports of this machine, and with files that are there."""
    for argument in container["args"]:
        flag, _, value = argument.partition("=")
        if flag in ("--listen", "--admin-listen"):
            value = "127.0.0.1:0"
        elif flag == "--model-repository":
            value = directory
        elif flag.startswith("--tls-"):
            value = str(pathlib.Path(directory) / {"--tls-key": "key.pem"}.get(flag, "certificate.pem"))
        elif flag == "--drain-delay":
            value = "0s"
        yield f"{flag}={value}"


class RunningServer:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([SERVER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.ready = self.process.stdout.readline()
        found = re.search(r"listen=(\S+) admin=(\S*)", self.ready)
        self.address, self.admin = found.groups() if found else (None, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.status = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.process.stderr.close()

    def page(self, path):
        with urllib.request.urlopen(f"http://{self.admin}{path}", timeout=10) as answer:
            return answer.read().decode()


class Flags(unittest.TestCase):
    maxDiff = None

    def test_chart_offers_every_flag_or_says_why_not(self):
        offered = set(json.loads((CHART / "values.schema.json").read_text())
                      ["properties"]["server"]["properties"]["flags"]["properties"])
        self.assertEqual(sorted(offered | OWN_KEYS | NOT_OFFERED), sorted(flags_of_help()))
        self.assertFalse(offered & (OWN_KEYS | NOT_OFFERED))

    def test_every_flag_used_is_the_server_s(self):
        known = flags_of_help()
        self.assertGreater(len(known), 15)
        for name, objects in SETS.items():
            self.assertLessEqual(set(policy.flags(server(objects))), set(known), name)

    def test_ports_are_the_server_s_own_and_the_image_s(self):
        known = flags_of_help()
        exposed = re.search(r"^EXPOSE (\d+) (\d+)$", (ROOT / "Dockerfile").read_text(), re.M).groups()
        for name in ("default", "minimal", "everything"):
            given = policy.flags(server(SETS[name]))
            self.assertEqual((given["listen"], given["admin-listen"]), (known["listen"][1], known["admin-listen"][1]))
            self.assertEqual([each["containerPort"] for each in server(SETS[name])["ports"]], [int(p) for p in exposed])

    def test_ends_are_reckoned_with_the_server_s_defaults(self):
        known = flags_of_help()
        self.assertEqual({flag: known[flag][1] for flag in policy.SERVER_DEFAULTS}, policy.SERVER_DEFAULTS)

    def test_the_test_pod_s_command_is_understood(self):
        for name in ("default", "minimal"):
            pod = first(SETS[name], "Pod")["spec"]["containers"][0]
            self.assertEqual(pod["command"], ["/usr/local/bin/trelu"])
            with RunningServer("--listen=127.0.0.1:0", "--admin-listen=none", "--drain-delay=0s") as running:
                arguments = [re.sub(r"^--target=.*", f"--target={running.address}", each) for each in pod["args"]]
                said = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)
            self.assertEqual((said.returncode, said.stdout.strip()), (0, "SERVING"), said.stderr)


class LiveServer(unittest.TestCase):
    maxDiff = None

    def test_starts_with_every_set_s_arguments_and_answers_their_probes(self):
        for name, objects in SETS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as directory:
                subprocess.run(
                    ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                     "-subj", "/CN=localhost", "-days", "1", "-keyout", f"{directory}/key.pem",
                     "-out", f"{directory}/certificate.pem"], check=True, capture_output=True)
                container = server(objects)
                with RunningServer(*here(container, directory)) as running:
                    self.assertIn("ready", running.ready, container["args"])
                    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                        ask = container.get(probe, {})
                        if "httpGet" in ask:
                            running.page(ask["httpGet"]["path"])
                        elif "grpc" in ask:
                            said = subprocess.run([COMMAND, f"--target={running.address}", "health",
                                                   ask["grpc"]["service"]], capture_output=True, text=True, check=False)
                            self.assertEqual(said.stdout.strip(), "SERVING", said.stderr)
                self.assertEqual(running.status, 0)

    def test_has_the_metric_that_the_autoscaler_asks_for(self):
        metric = first(SETS["everything"], "HorizontalPodAutoscaler")["spec"]["metrics"][0]["pods"]["metric"]["name"]
        adapter = next(each["data"]["values.yaml"] for each in policy.of_kind(SETS["everything"], "ConfigMap")
                       if "values.yaml" in each["data"])
        rule, = yaml.safe_load(adapter)["rules"]["custom"]
        self.assertEqual(rule["name"]["as"], metric)
        series = re.match(r"\w+", rule["seriesQuery"])[0]
        # A share of time, so a counter's rate and a target below one.
        self.assertIn("rate(<<.Series>>", rule["metricsQuery"])
        target = first(SETS["everything"], "HorizontalPodAutoscaler")["spec"]["metrics"][0]["pods"]["target"]
        self.assertEqual(target, {"type": "AverageValue", "averageValue": "450m"})
        with RunningServer("--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0", "--drain-delay=0s") as running:
            page = running.page("/metrics")
            self.assertEqual(running.page("/readyz").strip()[:2].lower(), "ok")
        self.assertIn(f'\n{series}{{queue="0"}} ', page)
        self.assertNotIn("\ntrelu_no_such_metric ", page)


class Schema(unittest.TestCase):
    def refused(self, values, because):
        worked, said = helm(values=values)
        self.assertFalse(worked, values)
        self.assertIn(because, said)

    def test_misspelt_keys_are_refused(self):
        for values, key in (({"replicacount": 3}, "replicacount"), ({"image": {"repo": "x"}}, "repo"),
                            ({"server": {"flags": {"max-conection-age": "1m"}}}, "max-conection-age"),
                            ({"drain": {"delay": 3}}, "delay"), ({"resources": {"limits": {"cpu": "1"}}}, "limits"),
                            ({"metrics": {"serviceMonitor": {"enable": True}}}, "enable")):
            with self.subTest(key):
                self.refused(values, f"'{key}'")

    def test_wrong_values_are_refused(self):
        for values, path in (({"replicaCount": "two"}, "/replicaCount"),
                             ({"server": {"flags": {"max-connection-age": "5 minutes"}}}, "/server/flags"),
                             ({"server": {"flags": {"max-message-bytes": "64MB"}}}, "/server/flags"),
                             ({"server": {"flags": {"log-format": "xml"}}}, "/server/flags"),
                             ({"image": {"digest": "sha256:abc"}}, "/image/digest"),
                             ({"resources": {"cpu": "two"}}, "/resources/cpu"),
                             ({"resources": {"cpu": 0}}, "/resources/cpu"),
                             ({"fullnameOverride": "a.b"}, "/fullnameOverride"),
                             ({"fullnameOverride": "1a"}, "/fullnameOverride"),
                             ({"fullnameOverride": "a" * 51}, "/fullnameOverride"),
                             ({"networkPolicy": {"metricsClients": []}}, "/networkPolicy/metricsClients"),
                             ({"autoscaling": {"targetBusyPercent": 0.6}}, "/autoscaling/targetBusyPercent")):
            with self.subTest(path):
                self.refused(values, path)

    def test_null_is_refused_where_it_would_open_or_break_something(self):
        for values in ({"networkPolicy": {"metricsClients": None}}, {"networkPolicy": {"enabled": None}},
                       {"networkPolicy": None}, {"drain": {"graceSeconds": None}}, {"drain": None}, {"tls": None},
                       {"tls": {"requireClientCertificates": None}}, {"resources": {"memory": None}}):
            with self.subTest(values):
                self.refused(values, "missing propert")
        worked, said = helm(values={"affinity": None, "terminationGracePeriodSeconds": None})
        self.assertTrue(worked, said)

    def test_numbers_are_taken_as_they_are_written(self):
        for given in (("--set", "resources.cpu=4,server.flags.max-message-bytes=67108864"),
                      ("--set-json", 'resources={"cpu":4.0,"memory":1073741824},'
                                     'server.flags={"max-message-bytes":67108864}')):
            worked, said = helm(*given)
            self.assertTrue(worked, said)
            container = server([each for each in yaml.safe_load_all(said) if each])
            self.assertEqual(container["resources"]["limits"]["cpu"], "4")
            self.assertIn("--max-message-bytes=67108864", container["args"])
        worked, said = helm(values={"resources": {"cpu": 1.5, "memory": 1073741824}, "drain": {"graceSeconds": 21.0},
                                    "server": {"flags": {"max-message-bytes": 67108864, "stream-idle-timeout": 0}}})
        self.assertTrue(worked, said)
        container = server([each for each in yaml.safe_load_all(said) if each])
        self.assertEqual(container["resources"]["requests"], {"cpu": "1.5", "memory": "1073741824"})
        self.assertIn("--max-message-bytes=67108864", container["args"])
        self.assertIn("--stream-idle-timeout=0", container["args"])

    def test_the_longest_name_makes_valid_services(self):
        worked, said = helm("--set", f"fullnameOverride={'a' * 50}")
        self.assertTrue(worked, said)
        for each in yaml.safe_load_all(said):
            self.assertRegex(each["metadata"]["name"], "^[a-z][a-z0-9-]{0,62}$")

    def test_contradictions_are_refused(self):
        self.refused({"autoscaling": {"enabled": True}, "server": {"flags": {"busy-poll": "50us"}}}, "always busy")
        self.refused({"terminationGracePeriodSeconds": 32}, "drain's phases take 30 seconds")
        self.refused({"drain": {"graceSeconds": 50}, "terminationGracePeriodSeconds": 45}, "drain's phases take 60")
        self.refused({"tls": {"requireClientCertificates": True}}, "tls.secretName")
        self.refused({"autoscaling": {"enabled": True, "minReplicas": 3, "maxReplicas": 2}}, "more than maxReplicas")

    def test_every_value_has_a_comment_and_a_place_in_the_schema(self):
        schema = json.loads((CHART / "values.schema.json").read_text())
        values = yaml.safe_load((CHART / "values.yaml").read_text())
        self.assertEqual(sorted(set(schema["properties"]) - {"global"}), sorted(values))

        def strict(node, path):
            if node.get("type") == "object" and "properties" in node:
                self.assertIs(node.get("additionalProperties"), False, path)
                for key, inner in node["properties"].items():
                    strict(inner, f"{path}/{key}")
        strict(schema, "")


class SameThing(unittest.TestCase):
    def test_versions_are_the_project_s(self):
        version = re.search(r"^project\(trelu VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
        self.assertEqual((chart["version"], chart["appVersion"]), (version, version))
        self.assertEqual(server(SETS["default"])["image"], f"trelu:{version}")
        self.assertEqual(server(SETS["kserve"])["image"], f"trelu:{version}")
        self.assertEqual(re.findall(r"REGISTRY/trelu:([0-9.]+[0-9])", (ROOT / "README.md").read_text()), [version] * 2)
        said = subprocess.run([SERVER, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertIn(version, said)

    def test_monitoring_files_are_copies(self):
        for name in ("rules.yaml", "dashboard.json"):
            source, copy = ROOT / "deploy/monitoring" / name, CHART / "files" / name
            self.assertTrue(source.exists(), f"{source} is missing")
            self.assertEqual(copy.read_bytes(), source.read_bytes(),
                             f"cp deploy/monitoring/{name} deploy/helm/trelu/files/")

    def test_monitoring_files_arrive_unchanged(self):
        rules = yaml.safe_load((CHART / "files/rules.yaml").read_text())
        self.assertEqual(first(SETS["everything"], "PrometheusRule")["spec"], rules)
        carried = [each["data"]["trelu.json"] for each in policy.of_kind(SETS["everything"], "ConfigMap")
                   if "trelu.json" in each["data"]]
        self.assertEqual([json.loads(each) for each in carried],
                         [json.loads((CHART / "files/dashboard.json").read_text())])

    def test_notes_name_what_is_there(self):
        # helm template leaves the notes out; every object they name must be rendered.
        notes = (CHART / "templates/NOTES.txt").read_text()
        names = {each["metadata"]["name"] for each in SETS["everything"]}
        for suffix in re.findall(r"\{\{ \$name \}\}((?:-[a-z]+)*)", notes):
            self.assertIn("everything" + suffix, names)


if __name__ == "__main__":
    unittest.main()
