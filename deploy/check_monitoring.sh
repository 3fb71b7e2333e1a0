#!/usr/bin/env bash
# Checks what deploy/ ships to watch trelu with, on Debian 12 as root, without a container, in a few minutes:
#
#   files   promtool reads the configuration and the rules and runs the rules' tests; the dashboard, the rules and
#           compose.yaml name only metrics, flags, files and ports that exist (tests/monitoring/)
#   live    real servers and a real Prometheus: every query of the dashboard and the rules finds something under load, no
#           alert disturbs a healthy server, and alerts fire when servers are killed, restarted, overloaded, nearly
#           full, slow, or short of files
#
# Not live, but in rules_test.yaml: TreluServerFaults, since no input makes the server fail; TreluCallersGiveUp, since a call
# counts only when its deadline passes after it has been received, and TreluQueueing, since workers outpace the connection,
# moments that no load hits for sure; TreluAbsent and TreluSaturated, which take minutes, and TreluMemoryGrowth, which takes
# hours. Grafana and compose are not run.
#
#   deploy/check_monitoring.sh            sets up and builds first
#   BUILD=FOLDER deploy/check_monitoring.sh    uses the server and command that are built there
#
# Leaves nothing running; the logs of a run that failed stay in build/monitoring.
set -euo pipefail
cd "$(dirname "$0")/.."
source deploy/start_server.sh

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
fail() { echo "check_monitoring: $*" >&2; exit 1; }
python() { /usr/bin/python3 -B "$@"; }  # Debian's own, for which python3-yaml is

started=()  # pids of ours
end_all() {
  local pid
  for pid in "${started[@]}"; do
    kill -CONT "$pid" 2> /dev/null || true
    kill -TERM "$pid" 2> /dev/null || true
  done
  for pid in "${started[@]}"; do
    timeout 30 tail --pid="$pid" -f /dev/null || kill -KILL "$pid" 2> /dev/null || true
    wait "$pid" 2> /dev/null || true
  done
  started=()
}
trap end_all EXIT
# end PID [SIGNAL]: one of them, now.
end() {
  local pid kept=()
  for pid in "${started[@]}"; do [ "$pid" = "$1" ] || kept+=("$pid"); done
  started=("${kept[@]}")
  # bash would say that one was killed.
  { kill -"${2:-TERM}" "$1" && wait "$1"; } 2> /dev/null || true
}

if [ -z "${BUILD:-}" ]; then
  step 'set-up and build'
  deploy/setup.sh test
  [ -e build/release/CMakeCache.txt ] || cmake --preset release -DTRELU_BUILD_TESTS=OFF > /dev/null
  cmake --build --preset release --target trelu-server trelu_command
  BUILD=build/release
fi
server=$BUILD/server/trelu-server
trelu=$BUILD/client/trelu
for program in "$server" "$trelu"; do [ -x "$program" ] || fail "no program $program"; done
work=build/monitoring
rm -rf "$work"
mkdir -p "$work"

step 'files: promtool'
promtool check config deploy/monitoring/prometheus.yaml
promtool test rules deploy/monitoring/rules_test.yaml

# serve NAME [FLAG...]: a server; its addresses are then ${grpc[NAME]} and ${http[NAME]}, its process ${pid[NAME]}.
declare -A grpc http pid
serve() {
  local name=$1
  shift
  start_server "$server" "$work/$name.log" "$@"
  started+=("$server_pid")
  pid[$name]=$server_pid grpc[$name]=$address http[$name]=$admin
}
# bench NAME OPTION...: load on a server.
bench() { "$trelu" --target "${grpc[$1]}" bench "${@:2}" >> "$work/bench.log" 2>&1; }
# The same for after &, so that the job's process is the command's own.
background() { exec "$trelu" --target "${grpc[$1]}" bench "${@:2}" >> "$work/bench.log" 2>&1; }

step 'servers: a healthy one, and those to be broken'
# With work for the workers, whose queue has queries too.
serve healthy --log-calls none --inline-bytes 256KiB
serve crashing
serve full --log-calls none --max-inflight-bytes 1MiB
serve holding --log-calls none --max-inflight-bytes 4608KiB
serve slow --log-calls none
serve crowded
for name in "${!http[@]}"; do echo "$name: gRPC ${grpc[$name]}, admin ${http[$name]}"; done

step 'files: dashboard, rules and compose against a server'
curl -sSf "http://${http[healthy]}/metrics" > "$work/metrics.txt"
promtool check metrics < "$work/metrics.txt"
export TRELU_METRICS=$work/metrics.txt TRELU_SERVER=$server TRELU_COMMAND=$trelu
for test in dashboard rules compose; do
  echo "$test:"
  python "tests/monitoring/${test}_test.py"
done

data=$(mktemp -d)
trap 'end_all; rm -rf "$data"' EXIT
# A stream whose caller has more to send, but does not: it holds four messages of 1 MiB, from before the first scrape on.
mkfifo "$data/tensor"
exec {unsent}<> "$data/tensor"
"$trelu" --target "${grpc[holding]}" apply --dtype float32 --shape 268435456 - -o checksum: < "$data/tensor" >> "$work/hold.log" 2>&1 &
started+=("$!")
timeout 60 head -c 8MiB /dev/zero >&"$unsent"

step 'live: Prometheus with the shipped rules'
python tests/monitoring/short_config.py "$data" "${http[@]}"
mkdir "$data/tsdb"
# Unprivileged where that can be chosen; in UTC, which ask_prometheus.py expects.
as_nobody=()
if [ "$(id -u)" = 0 ]; then
  chown -R 65534:65534 "$data"
  as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --pdeathsig TERM)
fi
TZ=UTC "${as_nobody[@]}" prometheus --config.file="$data/prometheus.yaml" --storage.tsdb.path="$data/tsdb" \
  --web.listen-address=127.0.0.1:0 > "$work/prometheus.log" 2>&1 &
prometheus_pid=$!
started+=("$prometheus_pid")
# Its log has the port it got.
listening=$(timeout 30 tail --pid="$prometheus_pid" -n +1 -f "$work/prometheus.log" | grep -m 1 'msg="Listening on"') || true
url=http://$(grep -oE '127\.0\.0\.1:[1-9][0-9]*' <<< "$listening") || { cat "$work/prometheus.log"; fail 'no Prometheus'; }
ask() { python tests/monitoring/ask_prometheus.py "$url" "$@"; }
echo "Prometheus: $url, as uid $(stat -c %u "/proc/$prometheus_pid")"
ask scraped "${http[@]}"
echo 'all servers are scraped'

step 'live: normal load; every query finds something, no alert'
bench healthy --size 4KiB --in-flight 8 --requests 5000
bench healthy --size 1MiB --in-flight 4 --requests 400
bench healthy --size 16MiB --mode stream --in-flight 2 --requests 16
ask handled "${http[healthy]}" 5416
ask shows "${http[healthy]}"
ask quiet "${http[healthy]}"
echo 'no alert was pending or firing'

step 'live: a server is killed and started four times, then killed for good'
for times in 1 2 3 4; do
  end "${pid[crashing]}" KILL
  serve crashing --admin-listen "${http[crashing]}"
  ask starts "${http[crashing]}" "$times"
done
ask fires TreluRestartLoop "${http[crashing]}"
end "${pid[crashing]}" KILL
ask fires TreluInstanceDown "${http[crashing]}"

step 'live: more bytes in flight than the budget'
background full --size 1MiB --in-flight 16 --connections 4 --duration 60s &
load=$!
started+=("$load")
ask fires TreluBudgetFull "${http[full]}"
end "$load"

step 'live: a stream that holds nearly all of the budget'
ask fires TreluBudgetNearlyFull "${http[holding]}"
exec {unsent}>&-

step 'live: a server that is stopped most of the time'
pulses() { while kill -STOP "$1" && sleep 1.5 && kill -CONT "$1" && sleep 0.3; do :; done; }
background slow --size 8MiB --in-flight 4 --duration 90s &
load=$!
pulses "${pid[slow]}" &
pulses=$!
started+=("$load" "$pulses")
ask fires TreluSlowCalls "${http[slow]}"
end "$pulses"
kill -CONT "${pid[slow]}"
end "$load"

step 'live: a server with nearly as many connections as it may have files'
prlimit --pid "${pid[crowded]}" --nofile=64:64
for ((i = 0; i < 45; i++)); do exec {connection}<> "/dev/tcp/${grpc[crowded]%:*}/${grpc[crowded]##*:}"; connections[i]=$connection; done
ask fires TreluFilesNearLimit "${http[crowded]}"
for connection in "${connections[@]}"; do exec {connection}>&-; done

step 'live: the healthy server has stayed so'
ask quiet "${http[healthy]}"
end_all
rm -rf "$work"
printf '\nMonitoring is as it should be: dashboard, rules and compose fit the server, 6 alerts fired live and no false one.\n'
