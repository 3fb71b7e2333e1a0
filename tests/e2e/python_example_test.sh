#!/usr/bin/env bash
# Runs the README's Python example against a real server, as a newcomer would.
#
#   python_example_test.sh TRELU_SERVER SOURCE_DIR CACHE_DIR
#
# The packages come from PyPI into CACHE_DIR, once for each requirements.txt. Without PyPI the test is skipped
# (exit status 77), but never when CI=true.
set -euo pipefail
server=$1 source=$2 cache=$3
example=$source/client/examples/python
# Stubs as a user would generate them, in a folder of their own.
work=$(mktemp -d)
source "$source/deploy/start_server.sh"
source "$source/tests/support/python_venv.sh"
finish() {
  stop_server || true
  rm -rf "$work"
}
trap finish EXIT

python_venv "$example/requirements.txt" "$cache"

"$venv/bin/python" -m grpc_tools.protoc -I "$source/proto" --python_out="$work" --grpc_python_out="$work" \
  trelu/v1/trelu.proto

start_server "$server" "$work/server.log"
PYTHONPATH=$work "$venv/bin/python" "$example/apply.py" "$address" | tee "$work/out"

diff "$work/out" - <<'EXPECTED'
unary:  [0.  0.  0.  0.  2.2]
stream: (1000, 4000) passed 3998999 equal True
EXPECTED
