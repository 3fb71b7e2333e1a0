#!/usr/bin/env bash
# The benchmark itself: every contender answers every kind of request rightly, and every target has its figure. Times
# nothing.
#
#   suite_test.sh BUILD_DIR CACHE_DIR
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
source tests/support/python_venv.sh
python_venv tests/benchmark/requirements.txt "$2"
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
"$venv/bin/python" tests/benchmark/suite --quick --rounds 1 --seconds 0.05 --build "$build" --output "$output" > "$output/printed"
"$venv/bin/python" - "$output" <<'EOF'
import json, pathlib, sys
output = pathlib.Path(sys.argv[1])
sys.path.insert(0, 'tests/benchmark/suite')
import plan
found = {target['figure'] for target in json.loads((output / 'results.json').read_text())['targets']}
missing = [target.what for target in plan.targets() if target.what not in found]
missing += [name for name in ('report.md', 'rate_by_size.svg', 'latency_by_load.svg', 'cpu_by_size.svg')
            if not (output / name).stat().st_size]
print(f'{len(found)} figures; missing: {missing}')
sys.exit(bool(missing))
EOF
