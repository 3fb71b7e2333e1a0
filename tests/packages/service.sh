# For bash's source, after system.sh: what is asked of the service in the booted system, and its settings.
# shellcheck shell=bash disable=SC2154

settings=$root/etc/default/trelu-server
unit=/usr/lib/systemd/system/trelu-server.service
# Tenths, of systemd-analyze's 0 to 10: README's promise.
MOST_EXPOSED=$(sed -nE 's/.*rates its exposure ([0-9]+)\.([0-9]) of 10.*/\1\2/p' README.md)
[ "$MOST_EXPOSED" ] || fail 'README promises no exposure'

property() { inside systemctl show --property "$1" --value trelu-server; }
main_pid() { property MainPID; }
serves() { inside systemctl is-active --quiet trelu-server && inside trelu health --quiet "$@"; }
get() { inside bash -c 'exec 3<> /dev/tcp/127.0.0.1/8002; printf "GET $0 HTTP/1.0\r\n\r\n" >&3; cat <&3' "$1"; }
of_process() { inside sed -nE "s/^$1:\t(.*)/\1/p" "/proc/$(main_pid)/status"; }
listening() {
  inside cat "/proc/$(main_pid)/net/tcp" "/proc/$(main_pid)/net/tcp6" |
    awk '$4 == "0A" { sub("^0000000000000000FFFF0000", "", $2); print $2 }' | sort | paste -s -d ' '
}
loopback_alone='0100007F:1F41 0100007F:1F42'
expect_account() {
  local account
  account=$(inside id -u trelu)
  expect 'account' "$(of_process Uid)" "$account	$account	$account	$account"
}

# with WHAT SETTINGS [OPTION...]: restarts the service with more settings than the package's, until it serves
with() {
  settle "$2"
  inside systemctl restart trelu-server || true
  eventually "the service serves with $1" serves "${@:3}"
}
settle() {
  printf '%s\nTRELU_DRAIN_DELAY=0s\n%s\n' "$packaged" "$1" > "$settings"
  # So many starts in so short a time are refused.
  inside systemctl reset-failed trelu-server
}
# refused WHAT SETTINGS PATTERN: they stop it, for the reason, with the status of a wrong command line
refused() {
  settle "$2"
  inside systemctl restart trelu-server || true
  eventually "the service is stopped by $1" inside bash -c '[ "$(systemctl is-active trelu-server)" = failed ]'
  expect "status of $1" "$(property ExecMainStatus)" 2
  logged() { grep -qE -- "$1" <<< "$(inside journalctl --no-pager --lines 5 --unit trelu-server)"; }
  eventually "the log says why $1 is refused" logged "$3"
}
# propose NAME...: the lines of these settings, which the package has commented out, in $proposed
propose() {
  local name
  proposed=''
  for name; do
    grep -q "^#$name=" <<< "$packaged" || fail "the settings propose no $name"
    proposed+=$(sed -n "s/^#\($name=\)/\1/p" <<< "$packaged")$'\n'
  done
}

# confinement_faults UNIT-FILE: a line for each, by systemd-analyze and from within
confinement_faults() {
  local said
  said=$(inside systemd-analyze security --offline=yes --threshold="$MOST_EXPOSED" --no-pager "$1") || tail -n 1 <<< "$said"
  inside sed -e 's/^Type=.*/Type=oneshot/' -e 's/^Restart=.*/Restart=no/' -e 's/^\(RuntimeDirectory=\).*/\1trelu-probe/' \
    -e 's|^ExecStart=.*|ExecStart=/bin/bash /srv/confinement.sh\nStandardOutput=truncate:/srv/said|' "$1" > "$root/srv/probe.service"
  inside cp /srv/probe.service /run/systemd/system/trelu-probe.service
  rm -f "$root/srv/said"
  inside systemctl daemon-reload
  inside systemctl start trelu-probe || echo 'the probe does not run'
  inside cat /srv/said
}

check_confinement() {
  local said line
  cp tests/packages/confinement.sh "$root/srv/"
  inside touch {/home,/tmp,/var/tmp,/dev}/outside
  for kind in ipc mnt user uts; do echo "$kind $(inside readlink "/proc/1/ns/$kind")"; done > "$root/srv/outside"
  quietly inside systemd-analyze verify --man=no "$unit"
  [ ! -s "$log" ] || { cat "$log" >&2; fail 'systemd-analyze finds fault with the unit'; }
  said=$(confinement_faults "$unit")
  expect 'faults of the confinement' "$said" ''
  # Each line must count.
  while read -r line; do
    grep -vxF -- "$line" "$root$unit" > "$root/srv/damaged.service"
    [ "$(confinement_faults /srv/damaged.service < /dev/null)" ] || fail "nobody notices a unit without $line"
  done < <(sed -nE '/^#/d; /^NoNewPrivileges/,$p' "$root$unit" | grep -E '^[A-Z]\w+=' | grep -v '^RemoveIPC=no\|^WantedBy=')
  sed 's|^ExecStart=.*|ExecStart=/usr/bin/trelu-serve|' "$root$unit" > "$root/srv/damaged.service"
  if inside systemd-analyze verify --man=no /srv/damaged.service > /dev/null 2>&1; then fail 'a unit without a program passed'; fi
  inside rm /run/systemd/system/trelu-probe.service {/home,/tmp,/var/tmp,/dev}/outside
  inside systemctl daemon-reload
}

check_socket_and_memory() {
  local socket=unix:/run/trelu-server/grpc.sock nobody=(setpriv --reuid=nobody --regid=nogroup) said
  propose TRELU_SHARED_MEMORY_PREFIX
  with 'a Unix socket and shared memory' "${proposed}TRELU_LISTEN=127.0.0.1:8001,$socket"
  answers --target "$socket"
  inside "${nobody[@]}" --groups=trelu trelu --target "$socket" health --quiet || fail 'a member of the group trelu does not get in'
  ! said=$(inside "${nobody[@]}" --clear-groups trelu --target "$socket" health 2>&1) || fail 'a stranger gets in at the Unix socket'
  [[ $said = *'Permission denied'* ]] || fail "a stranger at the Unix socket is told: $said"
  # The one user whose memory the server takes.
  quietly inside "${as_trelu[@]}" trelu bench --mode auto --size 4MiB --requests 16
  [ "$(get /metrics | sed -nE 's/^grpc_server_handled_total\{.*grpc_method="SystemSharedMemoryRegister",grpc_code="OK"\} ([1-9][0-9]*)\r?$/\1/p')" ] ||
    fail 'no memory was shared'
  inside "${as_trelu[@]}" touch /dev/shm/trelu_kept
  with 'its settings' ''
  inside rm /dev/shm/trelu_kept || fail "a restart takes the clients' shared memory with it"
}

check_settings() {
  local key=$root/etc/trelu/server.key
  # As the comments in the settings tell.
  (cd "$root/srv" && quietly openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost -out CERTIFICATE -keyout KEY)
  sed -n 's/^#   \(install .*\)/\1/p' <<< "$packaged" | inside bash -e -c 'cd /srv; . /dev/stdin'
  propose TRELU_TLS_CERT TRELU_TLS_KEY
  with 'TLS' "$proposed" --tls-ca /etc/trelu/server.pem
  expect 'the key' "$(inside stat -c '%a %U %G' /etc/trelu/server.key)" '640 root trelu'
  if serves; then fail 'a caller without TLS is served'; fi
  chmod 600 "$key"
  inside systemctl reset-failed trelu-server
  inside systemctl restart trelu-server || true
  ended_with_1() { [ "$(property ExecMainStatus)" = 1 ]; }
  tried_again() { [ "$(property NRestarts)" -ge 1 ]; }
  eventually 'the status of a file that cannot be read' ended_with_1
  eventually 'a file that cannot be read is tried again' tried_again
  chmod 640 "$key"
  # A slow machine may have come to the last try.
  inside systemctl reset-failed trelu-server
  inside systemctl start trelu-server || true
  eventually 'the service serves once its key can be read' serves --tls-ca /etc/trelu/server.pem

  mkdir -p "$root/srv/trelu/models/check/1"
  protoc --encode=trelu.onnx.ModelProto proto/onnx/onnx_model.proto > "$root/srv/trelu/models/check/1/model.onnx" << 'END'
ir_version: 10 opset_import { version: 22 } graph {
  node { input: "X" output: "Y" op_type: "ThresholdedRelu" }
  input { name: "X" type { tensor_type { elem_type: 1 } } } output { name: "Y" type { tensor_type { elem_type: 1 } } }
}
END
  propose TRELU_MODEL_REPOSITORY
  with 'a model repository' "$proposed"
  has_model() { get /models | grep -q '"name":"check"[^}]*"state":"READY"'; }
  eventually 'the model is ready' has_model

  packaged=$(sed '/^TRELU_\(ADMIN_\)\?LISTEN=/d' <<< "$packaged") with 'no word about addresses' ''
  expect 'addresses without a word about them' "$(listening)" "$loopback_alone"
  refused 'an empty address' TRELU_LISTEN= 'TRELU_LISTEN.* needs a value'
  refused 'an empty address of the metrics' TRELU_ADMIN_LISTEN= 'TRELU_ADMIN_LISTEN.* needs a value'
  refused 'a wrong setting' TRELU_DRAIN_GRACE=soon TRELU_DRAIN_GRACE
  with 'its settings again' ''
}
