#!/usr/bin/env bash
# Whether the server's memory stays flat: with 1,000 idle streams, then while 200 streams carry chunks of 1 MiB.
#
#   tests/benchmark/memory.sh [SECONDS]     how long the 200 streams run; 600
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-600}
cmake --preset release -DTRELU_BUILD_TESTS=ON > /dev/null
cmake --build --preset release --target trelu-server load > /dev/null
source deploy/start_server.sh
trap 'stop_server || true' EXIT
load=build/release/tests/benchmark/load
resident() { awk '/^VmRSS/ {printf "%.0f", $2 / 1024}' "/proc/$server_pid/status"; }

start_server build/release/server/trelu-server build/memory.log
echo "$(resident) MiB at the start"
mkfifo build/memory.idle.$$
"$load" --target "$address" --call stream --bytes 64 --connections 20 --in-flight 1000 --streams 1000 --idle \
  --seconds 2 > build/memory.idle.$$ &
idle=$!
exec 3< build/memory.idle.$$
rm build/memory.idle.$$
read -r _ <&3
echo "$(resident) MiB with 1,000 idle streams on 20 connections"
wait $idle
echo "$(resident) MiB when they are gone"

"$load" --target "$address" --call stream --pieces chunks --bytes 1048576 --connections 4 --streams 200 \
  --in-flight 400 --seconds "$seconds" > build/memory.json &
busy=$!
step=$(((seconds + 19) / 20))
while sleep $step && kill -0 $busy 2>/dev/null; do
  echo "$(resident) MiB after $((SECONDS)) s with 200 streams of 1 MiB chunks"
done
wait $busy
echo "$(resident) MiB when they are gone; $(cat build/memory.json)"
sleep 11  # the server gives memory back after at most ten
echo "$(resident) MiB after some silence"
