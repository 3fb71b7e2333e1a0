#!/usr/bin/env bash
# Starts the optimised server on a free port and calls it now and then: see sporadic.cc.
#
#   tests/benchmark/sporadic.sh [CHANNELS [CALLS_EACH]]     50 and 20: a thousand calls in half a minute
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/start_server.sh
trap 'stop_server || true' EXIT
cmake --preset release -DTRELU_BUILD_TESTS=ON > /dev/null
cmake --build --preset release --target trelu-server sporadic > /dev/null
start_server build/release/server/trelu-server build/sporadic.log
build/release/tests/benchmark/sporadic "$address" "$@"
