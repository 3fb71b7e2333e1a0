#!/usr/bin/env python3
"""Asks a running Prometheus what deploy/check_monitoring.sh wants to know, and waits until it is so.

usage: ask_prometheus.py URL QUESTION [ARGUMENT]...

  scraped TARGET...         has every target answered?
  handled TARGET COUNT      has it seen so many calls end at the target?
  starts TARGET COUNT       has it seen the target's process begin anew so often?
  shows TARGET              does every query of the dashboard and of the rules find something at the target?
  quiet TARGET              has no alert been pending or firing for the target, up to an evaluation from now on?
  fires ALERT TARGET        does the alert fire for the target, with its texts filled in?

Exit status 0: yes; 1: not within a minute (TRELU_PATIENCE, in seconds), and what there is instead.
"""
import json
import math
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from monitoring_files import dashboard, queries, rules, selectors

PATIENCE = float(os.environ.get("TRELU_PATIENCE", "60"))


class Prometheus:
    def __init__(self, url):
        self._url = url

    def get(self, path, **parameters):
        request = f"{self._url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise SystemExit(f"Prometheus refuses {parameters}: {error.read().decode()}") from error

    def query(self, expression):
        """Labels and value of each series."""
        result = self.get("query", query=expression)["result"]
        return [(series["metric"], float(series["value"][1])) for series in result]


def until(unmet):
    """Asks until `unmet` returns nothing; what it returned last is the failure."""
    end = time.monotonic() + PATIENCE
    while reason := unmet():
        if time.monotonic() > end:
            raise SystemExit(f"not within {PATIENCE:.0f} s: {reason}")
        time.sleep(0.2)


def number_of(prometheus, expression):
    return sum(value for _, value in prometheus.query(expression))


def scraped(prometheus, *targets):
    def unmet():
        up = {labels["instance"] for labels, value in prometheus.query("up == 1")}
        return sorted(set(targets) - up)
    until(unmet)


def at_least(prometheus, expression, count):
    def unmet():
        found = number_of(prometheus, expression)
        return found < float(count) and f"{expression} is {found:g}, not {count}"
    until(unmet)


def handled(prometheus, target, count):
    at_least(prometheus, f'sum(grpc_server_handled_total{{instance="{target}"}})', count)


def starts(prometheus, target, count):
    at_least(prometheus, f'changes(process_start_time_seconds{{instance="{target}"}}[15m])', count)


def shows(prometheus, target):
    asked = []
    values = {"instance": re.escape(target).replace("\\", "\\\\"), "job": "trelu", "method": "Apply|ApplyStream",
              "__rate_interval": "5m"}
    for title, expression in queries(dashboard()):
        filled = re.sub(r"\$\{?(\w+)\}?", lambda match: values[match[1]], expression)
        asked.append((title, filled, lambda series: any(not math.isnan(value) for _, value in series)))
    for rule in rules():
        def of_target(series):
            return any(labels.get("instance") == target for labels, _ in series)
        # An alert finds something only when it fires; what it reads is there before.
        for expression in [rule["expr"]] if "record" in rule else selectors(rule["expr"]):
            asked.append((rule.get("alert") or rule["record"], expression, of_target))
    for title, expression, enough in asked:
        until(lambda: None if enough(prometheus.query(expression)) else f"{title}: nothing at {target} for {expression}")
    print(f"{len(asked)} queries find something")


def quiet(prometheus, target):
    begun = time.time()

    def unevaluated():
        groups = prometheus.get("rules")["groups"]
        bad = [f"{rule['name']}: {rule['lastError']}" for group in groups for rule in group["rules"] if rule.get("lastError")]
        if bad:
            raise SystemExit("\n".join(bad))
        # In UTC; later by what the alerts of the short configuration wait.
        late = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(begun + 3))
        return any(rule["lastEvaluation"] <= late for group in groups for rule in group["rules"]) and "no evaluation"
    until(unevaluated)
    seen = prometheus.query(f'count_over_time(ALERTS{{instance="{target}"}}[15m])')
    if seen:
        raise SystemExit("\n".join(f"{labels['alertname']} is {labels['alertstate']}: {labels}" for labels, _ in seen))


def fires(prometheus, name, target):
    def firing():
        return [alert for alert in prometheus.get("alerts")["alerts"] if alert["state"] == "firing"
                and alert["labels"]["alertname"] == name and alert["labels"]["instance"] == target]
    until(lambda: not firing() and f"{name} does not fire for {target}")
    alert = firing()[0]
    for key, text in alert["annotations"].items():
        if re.search(r"<no value>|<error|\{\{", text):
            raise SystemExit(f"{name}: the {key} is not filled in: {text}")
    print(f"{name}: {alert['annotations']['summary']}. {alert['annotations']['description']}")


def main():
    questions = {"scraped": scraped, "handled": handled, "starts": starts, "shows": shows, "quiet": quiet, "fires": fires}
    if len(sys.argv) < 4 or sys.argv[2] not in questions:
        raise SystemExit(__doc__)
    questions[sys.argv[2]](Prometheus(sys.argv[1]), *sys.argv[3:])


main()
