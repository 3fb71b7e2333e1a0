"""The rules read what the server serves, every alert tells what to do, and every alert is tested both ways."""
import copy
import re
import unittest

from monitoring_files import (MONITORING, OF_PROMETHEUS, faults_of_expression, metrics_text, read_yaml, rules, selectors,
                              served_names)


def faults_of_alert(alert):
    name = alert["alert"]
    if alert.get("labels", {}).get("severity") not in ("critical", "warning"):
        yield f"{name}: severity is neither critical nor warning"
    for annotation in ("summary", "description", "hint"):
        if len(alert.get("annotations", {}).get(annotation, "")) < 10:
            yield f"{name}: no {annotation}"


def faults_of_rules(all_rules, metrics):
    recorded = [rule["record"] for rule in all_rules if "record" in rule]
    known = served_names(metrics) | OF_PROMETHEUS | set(recorded)
    names = recorded + [rule["alert"] for rule in all_rules if "alert" in rule]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{name}: twice"
    for rule in all_rules:
        where = rule.get("alert") or rule["record"]
        yield from faults_of_expression(where, rule["expr"], known, metrics)
        for selector in selectors(rule["expr"]):
            if selector.split("{")[0] not in recorded and 'job="trelu"' not in selector:
                yield f"{where}: {selector} reads other jobs too"
        if "alert" in rule:
            yield from faults_of_alert(rule)


def faults_of_tests(all_rules, tests):
    for alert in (rule["alert"] for rule in all_rules if "alert" in rule):
        own = [test for test in tests if test["name"].startswith(f"{alert} - ")]
        expected = [case["exp_samples"] for test in own for case in test["promql_expr_test"] if "ALERTS" in case["expr"]]
        if not any(f'alertname="{alert}"' in sample["labels"] for samples in expected for sample in samples):
            yield f"{alert}: no test sees it fire"
        if [] not in expected:
            yield f"{alert}: no test sees it wait"
        instances = {name for test in own for series in test["input_series"]
                     for name in re.findall(r'instance="(\w+)"', series["series"])}
        if len(instances) < 2:
            yield f"{alert}: no test has an instance beside the bad one"


def faults(all_rules, tests, metrics):
    return [*faults_of_rules(all_rules, metrics), *faults_of_tests(all_rules, tests)]


class Rules(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.tests = read_yaml(MONITORING / "rules_test.yaml")["tests"]

    def test_they_have_no_fault(self):
        self.assertEqual(faults(rules(), self.tests, metrics_text()), [])

    def test_the_job_is_the_one_that_is_scraped(self):
        jobs = {job["job_name"] for job in read_yaml(MONITORING / "prometheus.yaml")["scrape_configs"]}
        self.assertEqual(jobs, {"trelu"})

    def test_every_kind_of_fault_is_seen(self):
        alerts = next(i for i, rule in enumerate(rules()) if "alert" in rule)

        def renamed(old, new):
            def change(all_rules, _):
                rule = next(rule for rule in all_rules if old in rule["expr"])
                rule["expr"] = rule["expr"].replace(old, new)
            return change

        for change, told in {
            renamed("grpc_server_handled_total", "grpc_server_calls_total"): "no metric",
            renamed("DataLoss", "Dataloss"): "no grpc_code",
            renamed("grpc.health.v1.Health", "grpc.health.v1.health"): "no grpc_service",
            renamed('{job="trelu"}', "{}"): "other jobs",
            lambda all_rules, _: all_rules[alerts]["labels"].clear(): "severity",
            lambda all_rules, _: all_rules[alerts]["annotations"].pop("hint"): "no hint",
            lambda all_rules, _: all_rules.append(all_rules[0]): "twice",
            lambda _, tests: tests.pop(): "no test",
        }.items():
            with self.subTest(told):
                all_rules, tests = copy.deepcopy((rules(), self.tests))
                change(all_rules, tests)
                found = faults(all_rules, tests, metrics_text())
                self.assertTrue(any(told in fault for fault in found), found)


if __name__ == "__main__":
    unittest.main()
