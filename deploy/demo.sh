#!/usr/bin/env bash
# trelu in a few minutes on Debian 12: sets up, builds, serves, computes ONNX's own examples, measures, stops.
# Leaves nothing running; build/release and build/demo stay.
set -euo pipefail
cd "$(dirname "$0")/.."
source deploy/start_server.sh

if [ -t 1 ]; then bold=$'\e[1m' green=$'\e[32m' plain=$'\e[0m'; else bold='' green='' plain=''; fi
step() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }
show() { printf '%s$ %s%s\n' "$green" "$*" "$plain"; "$@"; }
trap 'stop_server || true' EXIT

step 'Set-up: the Debian packages that the build needs'
deploy/setup.sh build

step 'Build: server and client, optimised'
# An existing build folder keeps its settings, so that the demo never takes a developer's tests away.
[ -e build/release/CMakeCache.txt ] || cmake --preset release -DTRELU_BUILD_TESTS=OFF > /dev/null
cmake --build --preset release --target trelu-server trelu_command
server=build/release/server/trelu-server
trelu=build/release/client/trelu
work=build/demo
mkdir -p "$work"

step 'Start: a server on free ports of this machine'
start_server "$server" "$work/server.log"
cat "$work/server.log"
export TRELU_TARGET=$address  # as --target would
show "$trelu" health

step "ONNX's published examples: what goes in, what comes out"
# Each example is one line of the conformance vectors: its shape and alpha, and bytes in hexadecimal.
field() { sed -nE "/\"float32\/node-test\/$1\"/s/.*\"$2\": \"?([^]\"]*).*/\1/p" tests/conformance/edge_cases.jsonl; }
bytes() { printf '%b' "$(fold -w 2 <<< "$1" | sed 's/^/\\x/' | tr -d '\n')"; }
for name in example thresholdedrelu default; do
  shape=$(field $name 'shape' | tr -d '[ ')
  alpha=()
  [ "$name" = default ] || alpha=(--alpha "$(field $name alpha_decimal)")
  bytes "$(field $name input_hex)" > "$work/$name.bin"
  bytes "$(field $name output_hex)" > "$work/$name.expected.bin"
  echo "$name: the first elements of x are"
  od -An -t f4 -w20 -N 20 "$work/$name.bin"
  show "$trelu" apply "${alpha[@]}" --dtype float32 --shape "$shape" "$work/$name.bin"
  "$trelu" apply "${alpha[@]}" --dtype float32 --shape "$shape" "$work/$name.bin" \
    -o "$work/$name.out.bin" > /dev/null
  cmp "$work/$name.out.bin" "$work/$name.expected.bin"
  echo 'equal to the published answer, bit for bit'
done

step 'A NumPy file'
# A .npy file is a magic, a padded header and the bytes; this one is the first example again.
header="{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }"
{ printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"; cat "$work/example.bin"; } > "$work/x.npy"
show "$trelu" apply --alpha 2.0 "$work/x.npy" -o "$work/y.npy"
show "$trelu" apply --alpha 2.0 "$work/x.npy"
cmp <(tail -c 20 "$work/y.npy") "$work/example.expected.bin"

step 'Speed: small calls, then large tensors'
show "$trelu" bench --size 64,4KiB --in-flight 8 --duration 3s --warmup 1s
show "$trelu" bench --size 16MiB --mode stream --in-flight 2 --duration 3s --warmup 1s

step 'Metrics: what Prometheus would see'
# bash speaks TCP itself, so the demo needs no HTTP client.
exec 3<> "/dev/tcp/${admin%:*}/${admin##*:}"
printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
cat <&3 > "$work/metrics.txt"
exec 3>&-
grep -E '^(grpc_server_handled_total.* [1-9]|trelu_kernel_seconds_(sum|count)|trelu_inflight_|trelu_build_info)' \
  "$work/metrics.txt"

step 'Stop: SIGTERM, and the server finishes what it has begun'
stop_server
tail -n 3 "$work/server.log"
printf '\n%sThe demo is done: every answer was right, and the server ended with status 0.%s\n' "$green" "$plain"
