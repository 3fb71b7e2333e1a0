"""What deploy/ ships to watch trelu with, and the metrics and flags of a real server to hold it against."""
import json
import os
import pathlib
import re
import subprocess

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
MONITORING = DEPLOY / "monitoring"
# What Prometheus itself adds.
OF_PROMETHEUS = {"up", "ALERTS"}
OF_PROMQL = {"by", "without", "on", "ignoring", "and", "or", "unless", "offset", "bool", "group_left", "group_right"}


def read_yaml(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def dashboard():
    return json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))


def rules():
    """Every rule, recording and alerting, of all groups."""
    return [rule for group in read_yaml(MONITORING / "rules.yaml")["groups"] for rule in group["rules"]]


def metrics_text():
    """What /metrics of a running server said."""
    return pathlib.Path(os.environ["TRELU_METRICS"]).read_text(encoding="utf-8")


def served_names(text):
    """The names that a query may use: those of samples, so a histogram is its three."""
    return {match[1] for match in re.finditer(r"^([a-z]\w*)[ {]", text, re.M)}


def help_of(program, *words):
    binary = os.environ[{"trelu-server": "TRELU_SERVER", "trelu": "TRELU_COMMAND"}[program]]
    return subprocess.run([binary, *words, "--help"], check=True, capture_output=True, text=True).stdout


def metric_names(expression):
    """The metrics that a PromQL expression reads."""
    bare = re.sub(r'"[^"]*"|\{[^}]*\}|\[[^]]*\]', lambda match: "" if match[0][0] == '"' else "{}", expression)
    bare = re.sub(r"\b(by|without|on|ignoring)\s*\([^)]*\)", "", bare)
    bare = re.sub(r"\boffset\s+\w+", "", bare)
    return {name for name in re.findall(r"(?<![\w.:])[a-zA-Z_][\w:]*(?![\w:]*\s*\()", bare)} - OF_PROMQL


def selectors(expression):
    """NAME{LABELS} without range and offset."""
    return re.findall(r'[a-zA-Z_][\w:]*\{(?:[^}"]|"[^"]*")*\}', expression) or sorted(metric_names(expression))


def panels(board):
    """All panels that show something."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def queries(board):
    """(panel's title, expression)"""
    return [(panel["title"], target["expr"]) for panel in panels(board) for target in panel["targets"]]


def code_names():
    """The values of the label grpc_code, from the server's table of them."""
    table = re.search(r"kCodeNames = \{(.*?)\}", (ROOT / "server/metrics.cc").read_text(encoding="utf-8"), re.S)
    return set(re.findall(r'"(\w+)"', table[1]))


def label_values(expression, label):
    """Every value that an expression asks of a label; those of a regular expression one by one."""
    found = re.findall(rf'\b{label}\s*(?:=~|!~|!=|=)\s*"([^"]*)"', expression)
    return {value for alternatives in found for value in alternatives.split("|") if not value.startswith("$")}


def faults_of_expression(where, expression, known, metrics):
    """What an expression names that no server serves and no rule records."""
    for name in sorted(metric_names(expression) - known):
        yield f"{where}: no metric {name}"
    for code in sorted(label_values(expression, "grpc_code") - code_names()):
        yield f"{where}: no grpc_code {code}"
    for label in ("reason", "grpc_type", "grpc_service"):
        for value in sorted(label_values(expression, label)):
            if f'{label}="{value}"' not in metrics:
                yield f"{where}: no {label} {value}"
