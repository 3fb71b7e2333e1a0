#!/usr/bin/env bash
# Builds the Dockerfile and checks the image, with docker where an engine answers, else with podman, as root on Debian 12:
#
#   image    its settings, its size, that nothing is in it but the programs, what they load and the licences, and that
#            dpkg's records and the bill of materials tell of just that (tests/image/)
#   service  locked down as the Kubernetes chart does it - no network, read-only, no capabilities, limits - and as its
#            own user and as any other: calls, a model repository, health, metrics, threads and budget by the limits,
#            and an end on SIGTERM that is announced
#   start    ready within 100 ms from exec, inside the container
#   damage   images with one thing broken are noticed
#
#   deploy/check_image.sh            minutes, most of them the first build's
#   deploy/check_image.sh --arm64    instead the image for arm64, compiled crosswise: image, and calls under an emulator
#
# IMAGE=NAME checks that image and builds none. LIMIT_MB (40): how large the image's files may be together.
# STATE=FOLDER (/var/tmp/trelu-image) keeps podman's layers, so that a second run builds only what changed, and the base
# image, which is made from this machine's apt sources, since nothing is pulled. It may be deleted whenever no check runs.
# Leaves no container; the logs of a run that failed stay in build/image.
set -euo pipefail
cd "$(dirname "$0")/.."

native=$(dpkg --print-architecture)
architecture=$native
case ${1:-} in
  '') ;;
  --arm64) architecture=arm64 ;;
  *)
    sed -n '2,19s/^# \{0,1\}//p' "$0"
    [ "$1" = --help ] && exit
    exit 2 ;;
esac
limit_mb=${LIMIT_MB:-40}
state=${STATE:-/var/tmp/trelu-image}
ready_ms=100

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
fail() { echo "check_image: $*" >&2; exit 1; }
python() { /usr/bin/python3 -B "$@"; }  # Debian's own
quietly() {  # quietly LOG COMMAND...: shows what it said only when it fails
  local log=$work/$1.log
  shift
  "$@" > "$log" 2>&1 || { tail -n 40 "$log" >&2; return 1; }
}

[ "$(id -u)" = 0 ] || fail 'enters the containers from outside: run as root'
work=$PWD/build/image
rm -rf "$work"
mkdir -p "$work" "$state"
# Two at once would take each other's layers and containers away.
exec {turn}> "$state/lock"
flock --nonblock "$turn" || { echo 'waits for another check of the image'; flock "$turn"; }
export PYTHONPATH=$PWD/deploy:$PWD/tests/image

step 'set-up'
quietly setup deploy/setup.sh ship || fail 'packages could not be installed'
# shellcheck source=tests/support/python_venv.sh
source tests/support/python_venv.sh
CI=true python_venv tests/image/requirements.txt build/python
python tests/image/model.py write "$work/models"
chmod -R a+rX "$work/models"

engine=(docker)
build=(docker build)
run=()
if ! docker info > /dev/null 2>&1; then
  # Every changed source leaves a layer.
  if [ "$(du -smx "$state" | cut -f1)" -gt 6000 ]; then
    # What a killed run left mounted.
    awk -v "in=$state/" 'index($2, in) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount
    rm -rf "$state/storage"
  fi
  driver=overlay
  grep -qw overlay /proc/filesystems || driver=vfs
  # Neither systemd nor cgroups version 2 is taken for granted.
  engine=(podman --root "$state/storage" --runroot "$state/run" --storage-driver "$driver"
          --cgroup-manager cgroupfs --runtime runc --events-backend file)
  build=("${engine[@]}" build --isolation chroot --pull=never --format docker --layers
         --build-arg "BUILDPLATFORM=linux/$native")
  # By default podman asks for more than a container's root may have, and for health checks by systemd.
  run=(--ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --no-healthcheck --read-only-tmpfs=false)
  base=docker.io/library/debian:bookworm-slim
  "${engine[@]}" image exists "$base" || {
    echo 'making a base image'
    # The image of that name has no documents but the licences, and apt leaves nothing behind in it.
    slim=(--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*'
          --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*'
          --dpkgopt='path-include=/usr/share/doc/*/copyright'
          --aptopt='Dir::Cache::pkgcache ""' --aptopt='Dir::Cache::srcpkgcache ""' --aptopt='Acquire::Languages "none"'
          --aptopt='DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb || true"; }'
          --customize-hook='rm -f "$1"/etc/resolv.conf "$1"/etc/hostname "$1"/var/cache/apt/*.bin "$1"/var/log/*.log')
    quietly base deploy/debian_base.sh "$state/base.tar" "${slim[@]}" || fail 'no base image'
    "${engine[@]}" import --quiet --change 'CMD ["bash"]' --change 'ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' \
      "$state/base.tar" "$base" > /dev/null
    rm "$state/base.tar"
  }
fi
echo "with ${engine[0]} $("${engine[@]}" version --format '{{.Client.Version}}')"
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)

image=${IMAGE:-}
if [ -z "$image" ]; then
  step 'build'
  image=localhost/trelu:check-$architecture
  quietly build "${build[@]}" --platform "linux/$architecture" --build-arg SOURCE_DATE_EPOCH --tag "$image" . ||
    fail 'the image cannot be built'
fi

step 'image'
"${engine[@]}" save --output "$work/image.tar" "$image" > /dev/null 2>&1 || fail "no image $image"
IMAGE_ARCHIVE=$work/image.tar ARCHITECTURE=$architecture LIMIT_MB=$limit_mb python tests/image/image_test.py ||
  fail 'the image breaks a rule'
root=$work/root
mkdir "$root"
python -c 'import sys, image; image.Image(*sys.argv[1:])' "$work/image.tar" "$root"
"$venv/bin/pyspdxtools" --infile "$root/usr/share/doc/trelu/trelu.spdx.json" ||
  fail 'the bill of materials is not as SPDX 2.3 has it'
echo 'the bill of materials is SPDX 2.3'

x='\0\0\300\277\0\0\0\0\232\231\231\077\0\0\0\100\315\314\014\100'  # ONNX's example: -1.5, 0, 1.2, 2 and 2.2
y='\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\315\314\014\100'
# calls COMMAND...: the command makes right calls.
calls() {
  printf %b "$x" | "$@" apply --alpha 2 --dtype float32 --shape 5 - --output - | cmp - <(printf %b "$y") ||
    fail 'a wrong answer'
  "$@" bench --verify --size 256KiB --in-flight 4 --warmup 0s --requests 100 > "$work/bench.log" 2>&1 ||
    { cat "$work/bench.log" >&2; fail 'calls fail'; }
}

if [ "$architecture" != "$native" ]; then
  step 'calls, emulated'
  emulator=(qemu-aarch64 -L "$root")
  command=("${emulator[@]}" "$root/usr/local/bin/trelu" --target "unix:$work/socket")
  "${emulator[@]}" "$root/usr/local/bin/trelu-server" --listen "unix:$work/socket" --admin-listen none --drain-delay 0s \
    > "$work/server.log" 2>&1 &
  server=$!
  trap 'kill -KILL $server 2> /dev/null || true' EXIT
  "${command[@]}" health --wait 60s --quiet || { cat "$work/server.log" >&2; fail 'not ready'; }
  calls "${command[@]}"
  kill -TERM $server
  wait $server || fail "exit status $? on SIGTERM, expected 0"
  echo 'served, and ended with 0'
  rm -rf "$work"
  printf '\nImage for %s: every check passed, in %d s.\n' "$architecture" "$SECONDS"
  exit
fi

name=trelu-check-$$
remove() { "${engine[@]}" rm --force --time 0 "$name" > /dev/null 2>&1 || true; }
trap remove EXIT
program() { "${engine[@]}" exec --interactive "$name" /usr/local/bin/trelu "$@"; }
in_network() { nsenter --target "$pid" --net "$@"; }
# probe PATH: the status of HTTP; nothing once the container is gone.
probe() {
  in_network curl --silent --max-time 5 --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:8002$1" 2> /dev/null
}
# start_container IMAGE USER CPUS MEMORY_MIB: sets pid. USER empty: the image's own.
start_container() {
  remove
  "${engine[@]}" run --detach --name "$name" "${run[@]}" ${2:+--user "$2"} --cpus "$3" --memory "$4m" --pids-limit 128 \
    --network none --read-only --cap-drop ALL --security-opt no-new-privileges --volume "$work/models:/models:ro" \
    "$1" --model-repository /models --drain-delay 1s > /dev/null || fail 'does not start'
  if ! program health --wait 20s --quiet; then
    "${engine[@]}" logs "$name" >&2
    fail 'not ready'
  fi
  pid=$("${engine[@]}" inspect --format '{{.State.Pid}}' "$name")
}
# fits INFO CPUS MEMORY_MIB: what the server says of itself, as JSON, is what these limits ask for.
fits() {
  python - "$@" << 'EOF'
import json, sys
info, cpus, mib = json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
told = f"{info['workers']} workers and {info['max_inflight_bytes']} bytes in flight under {cpus} processors and {mib} MiB"
if (info["workers"], info["max_inflight_bytes"]) != (cpus, mib * 2**20 // 4):
    sys.exit(told)
print(told)
EOF
}
# serves IMAGE USER CPUS MEMORY_MIB: all that a container is for, from its start to its end.
serves() {
  local user=${2:-$own_user} status line stopping
  start_container "$@"
  status=$(cat "/proc/$pid/status")
  for line in "Uid:\s+${user%:*}\s" 'CapEff:\s+0+$' 'NoNewPrivs:\s+1' 'Seccomp:\s+2'; do
    grep -qE "^$line" <<< "$status" || fail "not locked down: no $line in the status of its process"
  done
  calls program
  in_network "$venv/bin/python" tests/image/model.py ask 127.0.0.1:8001 || fail 'the model repository is not served'
  [ "$(probe /readyz) $(probe /livez)" = '200 200' ] || fail 'not ready by /readyz, or not alive by /livez'
  in_network curl --silent --show-error --fail http://127.0.0.1:8002/metrics > "$work/metrics.txt" || fail 'no metrics'
  promtool check metrics < "$work/metrics.txt" || fail 'the metrics cannot be read'
  grep -qE '^grpc_server_handled_total\{.*"Apply".*\} [1-9]' "$work/metrics.txt" || fail 'the metrics do not know of the calls'
  fits "$(program info --json)" "$3" "$4" || fail 'does not keep to its limits'
  "${engine[@]}" stop --time 10 "$name" > /dev/null 2>&1 &
  stopping=$!
  until [ "$(probe /readyz)" = 503 ]; do
    kill -0 $stopping 2> /dev/null || fail "did not say in /readyz that it ends; $(end_of)"
    sleep 0.02
  done
  wait $stopping
  [ "$(end_of)" = 'exit status 0' ] || fail "on SIGTERM: $(end_of)"
  echo "user $user: served; drained and ended with 0"
}
end_of() { "${engine[@]}" inspect --format 'exit status {{.State.ExitCode}}' "$name"; }

step 'service'
own_user=$("${engine[@]}" image inspect --format '{{.Config.User}}' "$image")
serves "$image" '' 1 512
serves "$image" 1000790000:0 2 1024

step 'start'
# Puts the calling shell under the container's limits.
join_limits() {
  local controllers path
  while IFS=: read -r _ controllers path; do
    path=/sys/fs/cgroup/${controllers%%,*}$path/cgroup.procs
    [ ! -e "$path" ] || echo "$BASHPID" > "$path"
  done < "/proc/$pid/cgroup"
}
start_container "$image" '' 1 512
times=()
for _ in 1 2 3 4 5; do
  # A second server, since the engine does not tell when the first one's exec was.
  exec {output}< <(join_limits; echo "$EPOCHREALTIME"; exec nsenter --target "$pid" --mount --net --ipc --pid \
    --setuid "${own_user%:*}" --setgid "${own_user#*:}" \
    /usr/local/bin/trelu-server --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --drain-delay 0s 2> "$work/start.log")
  server=$!
  read -r began <&"$output"
  read -r line <&"$output" || line=
  now=$EPOCHREALTIME
  grep -qw ready <<< "$line" || { cat "$work/start.log" >&2; fail 'a second server does not start'; }
  times+=($(((${now/./} - ${began/./}) / 1000)))
  pkill -TERM --parent "$server"  # nsenter stays outside
  cat <&"$output" > /dev/null
  exec {output}<&-
done
remove
echo "from exec to ready: ${times[*]} ms"
best=$(printf '%s\n' "${times[@]}" | sort -n | head -n 1)  # the others waited for this machine's other work
[ "$best" -le "$ready_ms" ] || fail "ready after $best ms at best, expected at most $ready_ms"

step 'damage'
mkdir "$work/damage"
: > "$work/damage/empty"
# damaged WHAT INSTRUCTION REASON: an image with that on top is not to pass, for a reason that grep -E finds in the log.
damaged() {
  printf '%s\n' "FROM $image" "$2" > "$work/damage/Dockerfile"
  quietly damage "${build[@]}" --tag localhost/trelu:damaged "$work/damage" || fail "no damaged image: $1"
  if (serves localhost/trelu:damaged '' 1 512) > "$work/damage.log" 2>&1; then fail "did not notice $1"; fi
  remove
  grep -E --max-count 1 "$3" "$work/damage.log" > "$work/reason" || {
    cat "$work/damage.log" >&2
    fail "noticed something else than $1, expected $3"
  }
  echo "noticed $1: $(cat "$work/reason")"
}
library=$(cd "$root" && ls usr/lib/*/libcares.so.*.*)
damaged 'a missing library' "COPY empty /$library" 'libcares.*file too short'
damaged 'another entry point' 'ENTRYPOINT ["/usr/local/bin/trelu"]' 'not ready'
damaged 'a stop signal that the server ignores' 'STOPSIGNAL SIGUSR1' 'on SIGTERM|did not say'
damaged 'a fixed number of workers' 'ENV TRELU_WORKERS=7' '7 workers'
damaged 'a fixed budget' 'ENV TRELU_MAX_INFLIGHT_BYTES=1GiB' '1073741824 bytes'
"${engine[@]}" rmi --force localhost/trelu:damaged > /dev/null 2>&1

rm -rf "$work"
printf '\nImage: every check passed, in %d s.\n' "$SECONDS"
