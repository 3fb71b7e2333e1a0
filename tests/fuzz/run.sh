#!/bin/sh
# Builds the codec's fuzzer with both sanitizers and runs it: tests/fuzz/run.sh [SECONDS]
#
# New inputs are kept in build/fuzz/corpus, findings in build/fuzz/findings. Exit code 0: no finding.
set -eu
seconds=${1:-600}
cd "$(dirname "$0")/../.."
out=build/fuzz
echo "fuzz: building"
cmake --preset fuzz > /dev/null
cmake --build --preset fuzz --target apply_codec_fuzzer apply_codec_seeds
mkdir -p $out/corpus $out/seeds $out/findings
$out/tests/fuzz/apply_codec_seeds $out/seeds
echo "fuzz: running apply_codec_fuzzer for $seconds s"
if $out/tests/fuzz/apply_codec_fuzzer -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -rss_limit_mb=2048 -dict=tests/fuzz/apply_codec.dict -print_final_stats=1 -verbosity=1 \
    -artifact_prefix=$out/findings/ $out/corpus $out/seeds; then
  echo "fuzz: no finding in $seconds s"
else
  echo "fuzz: FOUND SOMETHING, see above and $out/findings" >&2
  exit 1
fi
