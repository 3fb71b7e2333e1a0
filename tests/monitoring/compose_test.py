"""compose.yaml is wired: what it mounts exists, what it passes is a flag, ports meet, and nothing is open to the world."""
import copy
import json
import re
import unittest

from monitoring_files import DEPLOY, MONITORING, help_of, read_yaml

# Those of the compose specification that are used here; a misspelt one would be none of them.
SERVICE_KEYS = {"build", "cap_drop", "command", "depends_on", "environment", "healthcheck", "image", "mem_limit", "ports",
                "read_only", "restart", "security_opt", "stop_grace_period", "tmpfs", "volumes"}
HEALTH_KEYS = {"test", "interval", "timeout", "start_period"}


def flags_of(words):
    return [word.split("=")[0] for word in words if word.startswith("--")]


def seconds(text):
    return int(re.fullmatch(r"(\d+)s", text)[1])


def default(server_help, flag):
    return re.search(rf"^  {flag} .*\[(.*)\]  \(", server_help, re.M)[1]


def inside(service):
    """Container path to file of the repository, for what is mounted from it."""
    mounts = [volume.split(":") for volume in service.get("volumes", [])]
    return {target: (DEPLOY / source).resolve() for source, target, *_ in mounts if source.startswith(".")}


def container_ports(service):
    return {port.split(":")[-1] for port in service["ports"]}


def faults_of_service(name, service, compose):
    for key in sorted(set(service) - SERVICE_KEYS) + sorted(set(service.get("healthcheck", {})) - HEALTH_KEYS):
        yield f"{name}: unknown key {key}"
    for key in ("healthcheck", "restart", "image"):
        if key not in service:
            yield f"{name}: no {key}"
    if "build" not in service and not re.search(r":v?\d+\.\d+\.\d+$", service["image"]):
        yield f"{name}: the image {service['image']} is not pinned"
    if service.get("read_only") is not True or service.get("cap_drop") != ["ALL"]:
        yield f"{name}: not read-only without capabilities"
    if "no-new-privileges:true" not in service.get("security_opt", []):
        yield f"{name}: may gain privileges"
    for port in service["ports"]:
        if not re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port):
            yield f"{name}: the port {port} is open to others"
    for volume in service.get("volumes", []):
        source, _, mode = (volume + ":").split(":")[:3]
        if not source.startswith("."):
            if source not in compose["volumes"]:
                yield f"{name}: no volume {source}"
        elif not (DEPLOY / source).is_file():
            yield f"{name}: no file {source}"
        elif mode != "ro":
            yield f"{name}: {source} can be written"
    for other in service.get("depends_on", {}):
        if other not in compose["services"]:
            yield f"{name}: no service {other}"


def faults_of_server(server, server_help, health_help):
    for flag in flags_of(server.get("command", [])):
        if not re.search(rf"^  {flag} ", server_help, re.M):
            yield f"trelu: the server has no flag {flag}"
    for variable in server.get("environment", {}):
        if f"({variable})" not in server_help:
            yield f"trelu: the server has no variable {variable}"
    program, *words = server["healthcheck"]["test"][1:]
    for flag in flags_of(words):
        if flag not in health_help:
            yield f"trelu: trelu health has no option {flag}"
    dockerfile = (DEPLOY / server["build"] / "Dockerfile").read_text(encoding="utf-8")
    if f'"{program}"' not in dockerfile:
        yield f"trelu: the image has no {program}"
    ports = {default(server_help, flag).rsplit(":")[-1] for flag in ("--listen", "--admin-listen")}
    if container_ports(server) != ports:
        yield f"trelu: ports {sorted(container_ports(server))}, but the server's are {sorted(ports)}"
    drain = sum(seconds(default(server_help, flag)) for flag in ("--drain-delay", "--drain-grace"))
    if seconds(server["stop_grace_period"]) <= drain:
        yield f"trelu: killed before it has drained, which takes up to {drain} s"


def faults_of_wires(services, scraped, server_help):
    files = inside(services["prometheus"])
    config = next(word.split("=")[1] for word in services["prometheus"]["command"] if word.startswith("--config.file="))
    if files.get(config) != MONITORING / "prometheus.yaml":
        yield f"prometheus: {config} is not our configuration"
    for rule_file in scraped["rule_files"]:
        if files.get(config.rsplit("/", 1)[0] + "/" + rule_file) != MONITORING / rule_file:
            yield f"prometheus: {rule_file} is not beside its configuration"
    admin = "trelu:" + default(server_help, "--admin-listen").rsplit(":")[-1]
    if scraped["scrape_configs"][0]["static_configs"][0]["targets"] != [admin]:
        yield f"prometheus: does not scrape {admin}"
    files = inside(services["grafana"])
    by_source = {source: target for target, source in files.items()}
    source = read_yaml(MONITORING / "grafana/datasource.yaml")["datasources"][0]
    if source["url"] not in {f"http://prometheus:{port}" for port in container_ports(services["prometheus"])}:
        yield f"grafana: nothing is at {source['url']}"
    shown = by_source.get(MONITORING / "dashboard.json", "")
    folder = read_yaml(MONITORING / "grafana/dashboards.yaml")["providers"][0]["options"]["path"]
    if shown.rsplit("/", 1)[0] != folder:
        yield f"grafana: looks for dashboards in {folder}, not where {shown} is"
    if services["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"] != shown:
        yield "grafana: the first page is not the dashboard"
    for kind in ("datasource", "dashboards"):
        target = by_source.get(MONITORING / f"grafana/{kind}.yaml", "")
        if not re.match(rf"/etc/grafana/provisioning/{kind.rstrip('s')}s/[^/]+\.yaml$", target):
            yield f"grafana: does not find its {kind} in {target or 'no mount'}"


class Compose(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.server_help, cls.health_help = help_of("trelu-server"), help_of("trelu", "health")
        cls.compose, cls.scraped = read_yaml(DEPLOY / "compose.yaml"), read_yaml(MONITORING / "prometheus.yaml")

    def faults(self, compose, scraped):
        services = compose["services"]
        self.assertEqual(set(services), {"trelu", "prometheus", "grafana"})
        return [*(fault for name, service in services.items() for fault in faults_of_service(name, service, compose)),
                *faults_of_server(services["trelu"], self.server_help, self.health_help),
                *faults_of_wires(services, scraped, self.server_help)]

    def test_it_has_no_fault(self):
        self.assertEqual(self.faults(self.compose, self.scraped), [])

    def test_every_kind_of_fault_is_seen(self):
        def changed(old, new):
            def change(text):
                self.assertIn(old, text)
                return text.replace(old, new, 1)
            return change

        for old, new, told in [
            ("--log-format", "--log-fromat", "no flag"),
            ('"--quiet"', '"--silent"', "no option"),
            ("127.0.0.1:8002:8002", "127.0.0.1:8002:8003", "but the server's are"),
            ("127.0.0.1:8001:", "8001:", "open to others"),
            ("./monitoring/rules.yaml", "./monitoring/rule.yaml", "no file"),
            ("/etc/prometheus/rules.yaml", "/etc/rules.yaml", "not beside"),
            ("rules.yaml:ro", "rules.yaml:rw", "can be written"),
            ("/etc/grafana/provisioning/datasources/", "/etc/grafana/provisioning/", "does not find its datasource"),
            ("grafana:12.1.1", "grafana:latest", "not pinned"),
            ('"read_only": true', '"read_only": false', "not read-only"),
            ("read_only", "readonly", "unknown key"),
            ("no-new-privileges:true", "no-new-privileges:false", "privileges"),
            ("30s", "20s", "before it has drained"),
            ('"prometheus": {"condition"', '"prom": {"condition"', "no service"),
            ("/usr/local/bin/trelu", "/usr/bin/trelu", "the image has no"),
            ("trelu:8002", "trelu:9090", "does not scrape"),
        ]:
            with self.subTest(told):
                compose, scraped = json.loads(changed(old, new)(json.dumps([self.compose, self.scraped])))
                found = self.faults(compose, scraped)
                self.assertTrue(any(told in fault for fault in found), found)


if __name__ == "__main__":
    unittest.main()
