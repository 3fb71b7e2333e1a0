# shellcheck shell=bash disable=SC2034  # `admin` is for those who source this
# Sourced by scripts that need a server for a while: starts one on free loopback ports and says where it is.
#
#   start_server BINARY LOG_FILE [FLAG...]    sets server_pid, address (gRPC) and admin (HTTP), both host:port
#   stop_server                               asks it to end; returns its exit status

server_pid=

start_server() {
  local binary=$1 log=$2 ready
  shift 2
  : > "$log"
  "$binary" --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --drain-delay 0s "$@" >> "$log" 2>&1 &
  server_pid=$!
  # Follows the log until the ready line, or until the server is gone.
  ready=$(timeout 30 tail --pid="$server_pid" -n +1 -f "$log" | grep -m 1 -w ready) || true
  address=$(grep -oE '127\.0\.0\.1:[0-9]+' <<< "$ready" | head -n 1) || true
  admin=$(grep -oE '127\.0\.0\.1:[0-9]+' <<< "$ready" | tail -n 1) || true
  if [ -z "$address" ]; then
    echo "The server did not become ready. It said:" >&2
    cat "$log" >&2
    return 1
  fi
}

stop_server() {
  local pid=$server_pid
  server_pid=
  [ -n "$pid" ] || return 0
  kill -TERM "$pid" 2>/dev/null || true
  wait "$pid"
}
