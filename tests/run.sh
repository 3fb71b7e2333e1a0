#!/usr/bin/env bash
# Every test, on a fresh Debian 12 too: sets up, then for each preset builds and runs what it is for.
#
#   tests/run.sh [--quick]     --quick: the optimised build alone, without lint and sanitizers
#
#   release   all tests
#   lint      clang-format and clang-tidy
#   asan      all but benchmarks and house, under AddressSanitizer and UndefinedBehaviorSanitizer
#   tsan      core's threads and the server's parts, under ThreadSanitizer
#
# Ends with each preset's summary and, last, `N passed, N failed` over all of them; the exit status says the
# same. A preset that does not build counts as one failure, and so does lint. JOBS sets how many jobs run at once (2).
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-2}
case ${1:-} in
  '') quick=false ;;
  --quick) quick=true ;;
  *) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

passed=0 failed=0 summary=() failures_by_name=()
step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
count() { # count NAME PASSED FAILED REMARK
  passed=$((passed + $2)) failed=$((failed + $3))
  summary+=("$(printf '%-8s %5d passed %4d failed  %s' "$1" "$2" "$3" "$4")")
}

# test_preset PRESET OPTION REGEX TARGET...: builds the targets, runs the tests that ctest's option picks
test_preset() {
  local preset=$1 choice=("$2" "$3") report=$PWD/build/$1/junit.xml tests failures skipped
  shift 3
  step "$preset: build"
  if ! { cmake --preset "$preset" -DTRELU_BUILD_TESTS=ON > /dev/null &&
         cmake --build --preset "$preset" --target "$@" -- -j "$jobs"; }; then
    count "$preset" 0 1 'does not build'
    return
  fi
  step "$preset: test"
  rm -f "$report"
  ctest --preset "$preset" "${choice[@]}" -j "$jobs" --no-tests=error --output-junit "$report" || true
  mapfile -t -O ${#failures_by_name[@]} failures_by_name < <(failed_tests | sed "s/^/$preset: /")
  tests=$(attribute tests) failures=$(attribute failures) skipped=$(($(attribute skipped) + $(attribute disabled)))
  if [ "$tests" = 0 ]; then
    count "$preset" 0 1 'ran no test'
  else
    count "$preset" $((tests - failures - skipped)) "$failures" "$([ $skipped = 0 ] || echo "$skipped skipped")"
  fi
}
# Of the report's first element.
attribute() { { grep -m 1 -oE "\b$1=\"[0-9]+\"" "$report" 2>/dev/null || echo 0; } | tr -dc 0-9; }
failed_tests() { sed -nE 's/.*<testcase name="([^"]*)".* status="fail".*/\1/p' "$report" 2>/dev/null; }

step 'set-up'
deploy/setup.sh test

test_preset release -E '^$' all  # leaves nothing out
if ! $quick; then
  step 'lint'
  if tests/lint.sh; then count lint 1 0 ''; else count lint 0 1 ''; fi
  export UBSAN_OPTIONS=print_stacktrace=1
  test_preset asan -LE '^(benchmark|house)$' all
  test_preset tsan -L '^(core|server)$' execution_test segments_test tests/server/all
fi

step 'summary'
[ ${#failures_by_name[@]} = 0 ] || printf 'FAILED  %s\n' "${failures_by_name[@]}"
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
