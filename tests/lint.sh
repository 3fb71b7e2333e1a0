#!/usr/bin/env bash
# Form and pitfalls of our C++: clang-format (nothing to change) and clang-tidy (nothing to say).
#
#   tests/lint.sh                   every file; clang-tidy over the product's, not the tests' own
#   tests/lint.sh --all             clang-tidy over the tests too, which takes twice as long
#   tests/lint.sh --changed [BASE]  what differs from BASE (main) or is not committed; for clang-tidy also
#                                   the .cc files beside a changed header
#
# JOBS sets how many run at once (2). Needs the packages of `deploy/setup.sh test`.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-2}

list() { git ls-files --cached --others --exclude-standard -- "$@"; }
if [ "${1:-}" = --changed ]; then
  base=$(git merge-base HEAD "${2:-main}")
  changed=$({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sort -u)
  sources=$(grep -E '\.(h|cc)$' <<< "$changed" || true)
  units=$(sed -nE 's/\.(h|cc)$/.cc/p' <<< "$sources" | sort -u)
elif [ $# = 0 ] || [ "$1" = --all ]; then
  sources=$(list '*.h' '*.cc')
  units=$(list '*.cc')
  [ $# != 0 ] || units=$(grep -v '^tests/' <<< "$units")
else
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
sources=$(for file in $sources; do [ -f "$file" ] && echo "$file"; done || true)
if [ -z "$sources" ]; then
  echo 'lint: no C++ file to look at'
  exit 0
fi

failed=0
echo "lint: clang-format over $(wc -l <<< "$sources") files"
if ! found=$(xargs clang-format-14 --dry-run -Werror <<< "$sources" 2>&1); then
  failed=1
  unformatted=$(sed -nE 's/^([^ :]+):[0-9]+:[0-9]+: error.*/\1/p' <<< "$found" | sort -u | tr '\n' ' ')
  echo "lint: mend with: clang-format-14 -i ${unformatted:-"$found"}"
fi

# clang-tidy needs each file's compiler call, and the generated headers.
[ -e build/release/build.ninja ] || cmake --preset release > /dev/null
cmake --build --preset release --target trelu_schemas -- -j "$jobs" > build/release/lint-build.log || {
  cat build/release/lint-build.log
  exit 1
}
compiled=$(sed -nE "s|^ *\"file\": \"$PWD/(.*)\",?$|\1|p" build/release/compile_commands.json | sort -u)
units=$(comm -12 <(sort -u <<< "$units") - <<< "$compiled")
if [ -n "$units" ]; then
  echo "lint: clang-tidy over $(wc -l <<< "$units") files, $jobs at once"
  # One line a file, so that minutes of work are seen to move.
  xargs -P "$jobs" -n 1 tests/tidy.py <<< "$units" || failed=1
fi
if [ $failed = 0 ]; then echo 'lint: clean'; else echo 'lint: FAILED'; fi
exit $failed
