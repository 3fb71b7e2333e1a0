#!/usr/bin/env bash
# Runs one of this folder's tests: clients and oracles that others wrote, as published, against a real server.
#
#   compat_test.sh TRELU_SERVER SOURCE_DIR CACHE_DIR TEST [ARGUMENT...]     e.g. ... triton_client_test.py -v
#
# The packages of requirements.txt come from PyPI into CACHE_DIR, once for each content of that file. Where they
# cannot be had the test is skipped (exit status 77), but never when CI=true. Each test starts and stops its servers.
set -euo pipefail
server=$1 source=$2 cache=$3 test=$4
shift 4
here=$source/tests/compat
source "$source/tests/support/python_venv.sh"

python_venv "$here/requirements.txt" "$cache"
if [ "$test" = perf_analyzer_test.py ]; then
  PERF_ANALYZER=$("$here/perf_analyzer.sh" "$venv/bin/pip" "$cache") || cannot_be_had perf_analyzer
  export PERF_ANALYZER
fi
export TRELU_SERVER=$server
exec "$venv/bin/python" -B "$here/$test" "$@"
