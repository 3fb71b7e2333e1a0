"""The dashboard can be read by Grafana, covers nothing with something else, and shows what the server serves."""
import copy
import re
import unittest

from monitoring_files import (MONITORING, OF_PROMETHEUS, dashboard, faults_of_expression, metrics_text, panels, queries,
                              read_yaml, served_names)

COLUMNS = 24
VARIABLES = {"datasource", "job", "instance", "method"}


def cells(panel):
    at = panel["gridPos"]
    return {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}


def faults_of_layout(board):
    ids, taken = set(), {}
    for panel in board["panels"]:
        title = panel["title"]
        if panel["id"] in ids:
            yield f"{title}: the id {panel['id']} is another's"
        ids.add(panel["id"])
        if any(x < 0 or x >= COLUMNS for x, _ in cells(panel)):
            yield f"{title}: wider than the page"
        for other in sorted({taken[cell] for cell in cells(panel) if cell in taken}):
            yield f"{title}: lies over {other}"
        taken.update(dict.fromkeys(cells(panel), title))


def faults_of_panels(board):
    for panel in panels(board):
        title = panel["title"]
        if not panel["fieldConfig"]["defaults"].get("unit"):
            yield f"{title}: no unit"
        if not panel.get("description"):
            yield f"{title}: no description"
        refs = [target["refId"] for target in panel["targets"]]
        if len(refs) != len(set(refs)) or not refs:
            yield f"{title}: two queries of one name, or none"
        for source in [panel["datasource"], *(target["datasource"] for target in panel["targets"])]:
            if source != {"type": "prometheus", "uid": "${datasource}"}:
                yield f"{title}: reads another data source than the variable"


def faults_of_variables(board):
    defined = {variable["name"]: variable for variable in board["templating"]["list"]}
    for name in sorted(VARIABLES - set(defined)):
        yield f"no variable {name}"
    if defined.get("datasource", {}).get("type") != "datasource":
        yield "the variable datasource does not choose one"
    for title, expression in queries(board):
        for name in re.findall(r"\$\{?(\w+)", expression):
            if name not in defined and not name.startswith("__"):
                yield f"{title}: no variable {name}"
        if "$instance" not in expression:
            yield f"{title}: shows every instance whatever is chosen"


def faults_of_queries(board, metrics):
    known = served_names(metrics) | OF_PROMETHEUS
    for title, expression in queries(board):
        yield from faults_of_expression(title, expression, known, metrics)
    for variable in board["templating"]["list"]:
        for name in re.findall(r"label_values\((\w+)", variable.get("definition", "")):
            if name not in known:
                yield f"variable {variable['name']}: no metric {name}"


def faults(board, metrics):
    return [*faults_of_layout(board), *faults_of_panels(board), *faults_of_variables(board),
            *faults_of_queries(board, metrics)]


class Dashboard(unittest.TestCase):
    maxDiff = None

    def test_it_has_no_fault(self):
        self.assertGreater(len(queries(dashboard())), 20)
        self.assertEqual(faults(dashboard(), metrics_text()), [])

    def test_it_shows_every_metric_of_the_server(self):
        shown = " ".join(expression for _, expression in queries(dashboard()))
        families = set(re.findall(r"^# TYPE ((?:grpc|process|trelu)_\w+)", metrics_text(), re.M))
        # The one tells nothing beside handled and in flight, the other nothing beside resident memory.
        left_out = {"grpc_server_started_total", "process_virtual_memory_bytes"}
        self.assertEqual({name for name in families if name not in shown}, left_out)

    def test_provisioning_asks_grafana_for_this_data_source_and_folder(self):
        source = read_yaml(MONITORING / "grafana/datasource.yaml")["datasources"][0]
        self.assertEqual((source["type"], source["isDefault"]), ("prometheus", True))
        interval = read_yaml(MONITORING / "prometheus.yaml")["global"]["scrape_interval"]
        self.assertEqual(source["jsonData"]["timeInterval"], interval)

    def test_every_kind_of_fault_is_seen(self):
        def without_unit(board):
            del panels(board)[0]["fieldConfig"]["defaults"]["unit"]

        def moved(board):
            panels(board)[1]["gridPos"]["x"] -= 1

        def wide(board):
            panels(board)[-1]["gridPos"]["w"] += 1

        def same_id(board):
            board["panels"][1]["id"] = board["panels"][0]["id"]

        def fixed_source(board):
            panels(board)[0]["datasource"] = {"type": "prometheus", "uid": "abc"}

        def renamed(old, new):
            def change(board):
                target = next(t for p in panels(board) for t in p["targets"] if old in t["expr"])
                target["expr"] = target["expr"].replace(old, new)
            return change

        def without_variable(board):
            board["templating"]["list"].pop(0)

        for change, told in {
            without_unit: "no unit", moved: "lies over", wide: "wider", same_id: "another's", fixed_source: "data source",
            renamed("trelu_kernel_seconds", "trelu_kernel_duration"): "no metric", without_variable: "no variable",
            renamed("Internal", "Intern"): "no grpc_code", renamed("over_budget", "overbudget"): "no reason",
            renamed("$instance", ".*"): "whatever is chosen",
        }.items():
            with self.subTest(told):
                board = copy.deepcopy(dashboard())
                change(board)
                found = faults(board, metrics_text())
                self.assertTrue(any(told in fault for fault in found), found)


if __name__ == "__main__":
    unittest.main()
