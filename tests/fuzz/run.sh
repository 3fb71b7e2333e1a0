#!/bin/sh
# Builds the codecs' fuzzers with both sanitizers and runs one after the other, each for half of the
# time: tests/fuzz/run.sh [SECONDS]
#
# New inputs are kept in build/fuzz/corpus/<codec>, findings in build/fuzz/findings. Exit code 0: no
# finding.
set -eu
seconds=${1:-600}
each=$(((seconds + 1) / 2))
cd "$(dirname "$0")/../.."
out=build/fuzz
echo "fuzz: building"
cmake --preset fuzz > /dev/null
cmake --build --preset fuzz --target \
  apply_codec_fuzzer apply_codec_seeds infer_codec_fuzzer infer_codec_seeds
mkdir -p $out/findings
found=0
for codec in apply_codec infer_codec; do
  mkdir -p $out/corpus/$codec $out/seeds/$codec
  $out/tests/fuzz/${codec}_seeds $out/seeds/$codec
  echo "fuzz: running ${codec}_fuzzer for $each s"
  if $out/tests/fuzz/${codec}_fuzzer -max_total_time="$each" -max_len=4096 -timeout=10 \
      -rss_limit_mb=2048 -dict=tests/fuzz/$codec.dict -print_final_stats=1 -verbosity=1 \
      -artifact_prefix=$out/findings/ $out/corpus/$codec $out/seeds/$codec; then
    echo "fuzz: $codec: no finding in $each s"
  else
    echo "fuzz: $codec: FOUND SOMETHING, see above and $out/findings" >&2
    found=1
  fi
done
exit $found
