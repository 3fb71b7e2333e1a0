"""The shipped objects keep policy.py's rules, and each rule sees what it is for.

RENDERED: a directory with what `helm template` made, one file for each file of values.
"""
import copy
import os
import pathlib
import unittest

import yaml

import policy

ROOT = pathlib.Path(__file__).resolve().parents[2]
RENDERED = pathlib.Path(os.environ["RENDERED"])


def read(*files):
    return [each for file in files for each in yaml.safe_load_all(file.read_text()) if each is not None]


SETS = {file.stem: read(file) for file in sorted(RENDERED.glob("*.yaml"))}
SETS["kserve"] = read(*sorted((ROOT / "deploy/kserve").glob("*.yaml")))


def first(objects, kind):
    return policy.of_kind(objects, kind)[0]


def spec(objects):
    return first(objects, "Deployment")["spec"]["template"]["spec"]


def server(objects):
    if policy.of_kind(objects, "ClusterServingRuntime"):
        return first(objects, "ClusterServingRuntime")["spec"]["containers"][0]
    return spec(objects)["containers"][0]


# (set, rule, what is done to it)
DAMAGE = (
    ("default", policy.confinement, lambda o: server(o)["securityContext"].update(readOnlyRootFilesystem=False)),
    ("default", policy.confinement, lambda o: server(o)["securityContext"]["capabilities"].clear()),
    ("default", policy.confinement, lambda o: spec(o)["securityContext"].update(runAsUser=0)),
    ("default", policy.confinement, lambda o: spec(o).pop("automountServiceAccountToken")),
    ("default", policy.confinement, lambda o: first(o, "Pod")["spec"].update(enableServiceLinks=True)),
    ("everything", policy.confinement, lambda o: server(o)["volumeMounts"][0].pop("readOnly")),
    ("kserve", policy.confinement, lambda o: server(o)["securityContext"].pop("seccompProfile")),
    ("default", policy.resources, lambda o: server(o)["resources"]["limits"].update(memory="2Gi")),
    ("kserve", policy.resources, lambda o: server(o)["resources"].pop("requests")),
    ("default", policy.probes, lambda o: server(o)["readinessProbe"]["grpc"].update(service="liveness")),
    ("default", policy.probes, lambda o: server(o)["livenessProbe"]["grpc"].update(port=8002)),
    ("default", policy.probes, lambda o: server(o).pop("startupProbe")),
    ("everything", policy.probes, lambda o: server(o)["livenessProbe"]["httpGet"].update(path="/healthz")),
    ("kserve", policy.probes, lambda o: server(o)["ports"][0].update(containerPort=8001)),
    ("default", policy.ends, lambda o: spec(o).update(terminationGracePeriodSeconds=32)),
    ("kserve", policy.ends, lambda o: server(o)["args"].append("--drain-grace=25s")),
    ("default", policy.selectors, lambda o: first(o, "Service")["spec"]["selector"].update(tier="none")),
    ("default", policy.selectors,
     lambda o: first(o, "Service")["spec"]["selector"].pop("app.kubernetes.io/component")),
    ("default", policy.selectors, lambda o: first(o, "Service")["spec"]["ports"][0].update(targetPort="http")),
    ("default", policy.selectors, lambda o: first(o, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"].clear()),
    ("default", policy.selectors, lambda o: spec(o)["topologySpreadConstraints"][1].pop("matchLabelKeys")),
    ("default", policy.selectors, lambda o: spec(o).update(serviceAccountName="other")),
    ("default", policy.selectors, lambda o: first(o, "NetworkPolicy")["spec"]["ingress"].pop()),
    ("everything", policy.selectors, lambda o: first(o, "Deployment")["spec"].update(replicas=2)),
    ("everything", policy.selectors,
     lambda o: first(o, "HorizontalPodAutoscaler")["spec"]["scaleTargetRef"].update(name="other")),
    ("everything", policy.selectors, lambda o: first(o, "ServiceMonitor")["spec"]["endpoints"][0].update(port="grpc")),
    ("everything", policy.selectors, lambda o: spec(o)["volumes"].pop()),
    ("default", policy.services, lambda o: policy.of_kind(o, "Service")[1]["spec"].pop("clusterIP")),
    ("default", policy.services, lambda o: first(o, "Service")["spec"]["ports"][0].pop("appProtocol")),
)


class Manifests(unittest.TestCase):
    maxDiff = None

    def test_every_set_keeps_every_rule(self):
        for name, objects in SETS.items():
            with self.subTest(name):
                self.assertEqual(policy.faults(objects), [])

    def test_every_damage_is_seen_by_its_rule(self):
        for number, (name, rule, damage) in enumerate(DAMAGE):
            with self.subTest(f"{number}: {name}, {rule.__name__}"):
                objects = copy.deepcopy(SETS[name])
                damage(objects)
                self.assertNotEqual(list(rule(objects)), [])
        self.assertEqual({rule for _, rule, _ in DAMAGE}, set(policy.ALL))

    def test_sets_hold_what_they_are_to_show(self):
        kinds = {name: {each["kind"] for each in objects} for name, objects in SETS.items()}
        self.assertEqual(kinds["minimal"], {"Deployment", "Service", "Pod"})
        self.assertEqual(kinds["default"],
                         kinds["minimal"] | {"ServiceAccount", "PodDisruptionBudget", "NetworkPolicy"})
        self.assertEqual(kinds["everything"], kinds["default"] | {
            "HorizontalPodAutoscaler", "ConfigMap", "ServiceMonitor", "PrometheusRule"})
        self.assertEqual(kinds["kserve"], {"ClusterServingRuntime", "InferenceService"})

    def test_the_budget_never_blocks_a_drain_of_nodes(self):
        for name in ("default", "everything"):
            budget = first(SETS[name], "PodDisruptionBudget")["spec"]
            self.assertEqual((budget["maxUnavailable"], budget["unhealthyPodEvictionPolicy"]), (1, "AlwaysAllow"))

    def test_a_label_of_ours_cannot_be_taken(self):
        labels = first(SETS["everything"], "Deployment")["spec"]["template"]["metadata"]["labels"]
        self.assertEqual(labels["app.kubernetes.io/name"], "trelu")
        self.assertEqual(labels["example.org/tier"], "fast")

    def test_kserve_uses_the_runtime_that_is_beside_it(self):
        runtime, model = first(SETS["kserve"], "ClusterServingRuntime"), first(SETS["kserve"], "InferenceService")
        model = model["spec"]["predictor"]["model"]
        self.assertEqual(model["runtime"], runtime["metadata"]["name"])
        self.assertIn(model["protocolVersion"], runtime["spec"]["protocolVersions"])
        self.assertIn(model["modelFormat"], [{"name": each["name"], "version": each["version"]}
                                             for each in runtime["spec"]["supportedModelFormats"]])
        given = policy.flags(runtime["spec"]["containers"][0])
        self.assertEqual((given["listen"], given["model-repository"]), ("0.0.0.0:9000", "/mnt/models"))
        self.assertEqual(runtime["spec"]["annotations"]["prometheus.kserve.io/port"],
                         given["admin-listen"].rpartition(":")[2])


if __name__ == "__main__":
    unittest.main()
