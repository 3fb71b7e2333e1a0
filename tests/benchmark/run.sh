#!/usr/bin/env bash
# Measures trelu beside its ceilings, all in turns on this machine: a bare socket, gRPC alone, memcpy, and what a
# competent user would write with protobuf and the callback API. Checks every answer first.
#
#   tests/benchmark/run.sh [--quick] [--only GROUP] [--rounds N] [--seconds S] [--output DIR]
#
# About eleven minutes, --quick two. Prints the targets and the tables, and leaves them in build/benchmark with the raw
# figures (JSON) and plots (SVG). Use a machine on which nothing else runs. Builds what it needs, but sets nothing up:
# deploy/setup.sh test does.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/python_venv.sh
cmake --preset release -DTRELU_BUILD_TESTS=ON > /dev/null
cmake --build --preset release --target trelu-server load library in_process grpc_echo callback_server socket_echo
python_venv tests/benchmark/requirements.txt build/python
exec "$venv/bin/python" tests/benchmark/suite "$@"
