"""What every set of objects that is shipped keeps to: confinement, resources, health, ends, and names that meet.

Each function yields one sentence for every fault; `objects` is what is applied together. Where a pod's settings come
from is told by the arguments that the container gives the server.
"""
import re

SERVER_DEFAULTS = {"drain-delay": "5s", "drain-grace": "20s"}
GRACE_DEFAULT = 30  # Kubernetes' own
STOPPING = 2  # seconds that the server needs besides: its HTTP listener takes as long to close


class Pod:
    """A pod that an object asks for, whatever the kind."""

    def __init__(self, owner, spec, labels):
        self.name = f"{owner['kind']} {owner['metadata']['name']}"
        self.owner, self.spec, self.labels = owner, spec, labels
        self.containers = spec["containers"] + spec.get("initContainers", [])


def pods(objects):
    for each in objects:
        if each["kind"] == "Deployment":
            template = each["spec"]["template"]
            yield Pod(each, template["spec"], template["metadata"]["labels"])
        elif each["kind"] == "Pod":
            yield Pod(each, each["spec"], each["metadata"]["labels"])
        elif each["kind"] == "ClusterServingRuntime":
            # The rest of the pod is in the InferenceServices that use it.
            for user in of_kind(objects, "InferenceService"):
                yield Pod(each, each["spec"] | {k: v for k, v in user["spec"]["predictor"].items() if k != "model"}, {})


def of_kind(objects, kind):
    return [each for each in objects if each["kind"] == kind]


def is_server(container):
    return any(argument.startswith("--listen=") for argument in container.get("args", []))


def flags(container):
    """Flag to value, of the container's arguments."""
    return dict(re.fullmatch(r"--([a-z-]+)=(.*)", argument).groups()
                for argument in container.get("args", []) if argument.startswith("--"))


def port_of(address):
    return int(address.rpartition(":")[2])


def seconds(duration):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h)?", duration).groups()
    return int(number) * {"ms": 0.001, "m": 60, "h": 3600}.get(unit, 1)


def confinement(objects):
    for pod in pods(objects):
        for key in ("automountServiceAccountToken", "enableServiceLinks"):
            if pod.spec.get(key) is not False:
                yield f"{pod.name}: {key} is not false"
        for key in ("hostNetwork", "hostPID", "hostIPC"):
            if pod.spec.get(key):
                yield f"{pod.name}: {key}"
        for container in pod.containers:
            context = pod.spec.get("securityContext", {}) | container.get("securityContext", {})
            for key, wanted in (("runAsNonRoot", True), ("runAsUser", 65532), ("runAsGroup", 65532),
                                ("readOnlyRootFilesystem", True), ("allowPrivilegeEscalation", False),
                                ("privileged", False), ("seccompProfile", {"type": "RuntimeDefault"}),
                                ("capabilities", {"drop": ["ALL"]})):
                if context.get(key) != wanted:
                    yield f"{pod.name}, {container['name']}: {key} is {context.get(key)}, not {wanted}"
            for mount in container.get("volumeMounts", []):
                if mount.get("readOnly") is not True:
                    yield f"{pod.name}, {container['name']}: {mount['mountPath']} is not read-only"
    for account in of_kind(objects, "ServiceAccount"):
        if account.get("automountServiceAccountToken") is not False:
            yield f"ServiceAccount {account['metadata']['name']}: automountServiceAccountToken is not false"


def resources(objects):
    for pod in pods(objects):
        for container in pod.containers:
            wanted = container.get("resources", {})
            for part in ("requests", "limits"):
                if set(wanted.get(part, {})) != {"cpu", "memory"}:
                    yield f"{pod.name}, {container['name']}: {part} are not of cpu and memory"
            if wanted.get("requests") != wanted.get("limits"):
                yield f"{pod.name}, {container['name']}: requests and limits differ"


def probes(objects):
    """Each probe asks a port that the server listens on, in a protocol that it speaks there, for the right thing."""
    wanted = {"startupProbe": ("readiness", "/readyz"), "readinessProbe": ("readiness", "/readyz"),
              "livenessProbe": ("liveness", "/livez")}
    for pod in pods(objects):
        for container in filter(is_server, pod.containers):
            given = flags(container)
            named = {port["name"]: port["containerPort"] for port in container["ports"]}
            grpc, admin = port_of(given["listen"]), port_of(given["admin-listen"])
            if grpc not in named.values():
                yield f"{pod.name}: port {grpc} of --listen is not among the container's"
            needed = set(wanted) - ({"startupProbe"} if pod.owner["kind"] == "ClusterServingRuntime" else set())
            if needed - set(container):
                yield f"{pod.name}: without {sorted(needed - set(container))}"
            for probe in set(wanted) & set(container):
                service, path = wanted[probe]
                if "tls-cert" in given:
                    ask, right = container[probe].get("httpGet", {}), {"port": admin, "path": path}
                    ask = ask | {"port": named.get(ask.get("port"), ask.get("port"))}
                else:
                    ask, right = container[probe].get("grpc"), {"port": grpc, "service": service}
                if ask != right:
                    yield f"{pod.name}: {probe} asks {ask}, not {right}"


def ends(objects):
    for pod in pods(objects):
        for container in filter(is_server, pod.containers):
            given = SERVER_DEFAULTS | flags(container)
            sleep = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
            phases = sleep + seconds(given["drain-delay"]) + seconds(given["drain-grace"]) + STOPPING
            period = pod.spec.get("terminationGracePeriodSeconds", GRACE_DEFAULT)
            if period <= phases:
                yield f"{pod.name}: has {period} s to end and needs {phases}"


def selectors(objects):
    """Whatever selects, selects the server's pods and no others; whatever is named is there."""
    def fits(selector, labels):
        return bool(selector) and selector.items() <= labels.items()

    servers = [pod for pod in pods(objects) if pod.owner["kind"] == "Deployment"]
    others = [pod for pod in pods(objects) if pod.owner["kind"] == "Pod"]
    selecting = []
    for pod in servers:
        selecting.append((f"{pod.name}: its selector", pod.owner["spec"]["selector"]["matchLabels"]))
        for spread in pod.spec.get("topologySpreadConstraints", []):
            selecting.append((f"{pod.name}: spread over {spread['topologyKey']}", spread["labelSelector"]["matchLabels"]))
            if spread.get("matchLabelKeys") != ["pod-template-hash"]:
                yield f"{pod.name}: spread over {spread['topologyKey']} mixes versions of the template"
        mounts = {mount["name"] for container in pod.containers for mount in container.get("volumeMounts", [])}
        if mounts != {volume["name"] for volume in pod.spec.get("volumes", [])}:
            yield f"{pod.name}: volumes and mounts differ"
        accounts = {account["metadata"]["name"] for account in of_kind(objects, "ServiceAccount")}
        if accounts and pod.spec["serviceAccountName"] not in accounts:
            yield f"{pod.name}: no ServiceAccount {pod.spec['serviceAccountName']}"
        for scaler in of_kind(objects, "HorizontalPodAutoscaler"):
            if scaler["spec"]["scaleTargetRef"]["name"] != pod.owner["metadata"]["name"]:
                yield f"{pod.name}: the HorizontalPodAutoscaler scales something else"
            if "replicas" in pod.owner["spec"]:
                yield f"{pod.name}: has replicas, and a HorizontalPodAutoscaler"
        named = {port["name"]: port["containerPort"] for container in pod.containers for port in container["ports"]}
        for service in of_kind(objects, "Service"):
            for port in service["spec"]["ports"]:
                if named.get(port["targetPort"]) != port["port"]:
                    yield f"Service {service['metadata']['name']}: {port['port']} leads to {port['targetPort']}"
        for policy in of_kind(objects, "NetworkPolicy"):
            if {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]} != set(named):
                yield f"NetworkPolicy {policy['metadata']['name']}: its ports are not the container's"
    for each in objects:
        name = f"{each['kind']} {each['metadata']['name']}"
        if each["kind"] == "Service":
            selecting.append((name, each["spec"]["selector"]))
        elif each["kind"] == "PodDisruptionBudget":
            selecting.append((name, each["spec"]["selector"]["matchLabels"]))
        elif each["kind"] == "NetworkPolicy":
            selecting.append((name, each["spec"]["podSelector"]["matchLabels"]))
        elif each["kind"] == "ServiceMonitor":
            for endpoint in each["spec"]["endpoints"]:
                scraped = [service for service in of_kind(objects, "Service")
                           if fits(each["spec"]["selector"]["matchLabels"], service["metadata"]["labels"])
                           and endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}]
                if len(scraped) != 1:
                    yield f"{name}: scrapes each pod {len(scraped)} times"
                if {"action": "replace", "targetLabel": "job", "replacement": "trelu"} not in endpoint["relabelings"]:
                    yield f"{name}: the rules ask for job trelu"
    for what, selector in selecting:
        if not all(fits(selector, pod.labels) for pod in servers):
            yield f"{what} does not match the server's pods"
        if any(fits(selector, pod.labels) for pod in others):
            yield f"{what} matches the test's pod, too"


def services(objects):
    """One Service balances connections; one gives clients every pod's address."""
    kinds = of_kind(objects, "Service")
    if not kinds:
        return
    if sorted(service["spec"].get("clusterIP", "") for service in kinds) != ["", "None"]:
        yield "not one Service and one headless Service"
    encrypted = any("tls-cert" in flags(container) for pod in pods(objects) for container in pod.containers)
    for service in kinds:
        for port in service["spec"]["ports"]:
            wanted = {"grpc": None if encrypted else "kubernetes.io/h2c", "metrics": "http"}[port["name"]]
            if port.get("appProtocol") != wanted:
                yield f"Service {service['metadata']['name']}: {port['name']} is said to be {port.get('appProtocol')}"


ALL = (confinement, resources, probes, ends, selectors, services)


def faults(objects):
    return [fault for rule in ALL for fault in rule(objects)]
