#!/usr/bin/env bash
# Starts the optimised server with shared memory on and calls it each way in turn: see shared_memory.cc.
#
#   tests/benchmark/shared_memory.sh [KIB [ROUNDS]]     65536 and 31
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/start_server.sh
trap 'stop_server || true' EXIT
mkdir -p build
start_server build/release/server/trelu-server build/shared_memory.log --shared-memory-prefix /
build/release/tests/benchmark/shared_memory "$address" "${1:-65536}" "${2:-31}" "$server_pid"
