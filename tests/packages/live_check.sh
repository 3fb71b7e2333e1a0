#!/usr/bin/env bash
# The live part of deploy/check_packages.sh, which says what it is and runs it; also by itself, on packages in
# STATE/packages/VERSION and, an older version of the same, STATE/packages/EARLIER:
#
#   STATE=/var/tmp/trelu-packages VERSION=0.1.0 EARLIER=0.1.0~earlier tests/packages/live_check.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
state=$STATE
root=$state/root
log=$state/log

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
fail() {
  echo "check_packages: $*" >&2
  [ -z "$init" ] || inside journalctl --no-pager --lines 40 --unit trelu-server >&2 || true
  exit 1
}
expect() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; }
. tests/packages/system.sh
. tests/packages/service.sh
trap end_system EXIT
# there NAME VERSION: a package, as seen in the system
there() { echo "/packages/$2/$1_$2_$(dpkg --print-architecture).deb"; }
as_trelu=(setpriv --reuid=trelu --regid=trelu --init-groups)

step 'live: a fresh minimal system'
toolchain=(g++ cmake make pkgconf)
make_system "$state/packages" "$(there trelu-server "$VERSION")" "$(there trelu "$VERSION")" \
  "$(there libtrelu-dev "$VERSION")" "${toolchain[@]}"
du -sh "$root" | sed 's/\t.*/ with downloads/'

step 'live: installed where nothing is booted'
chrooted=$state/chrooted
rm -rf "$chrooted"
cp -a "$root" "$chrooted"
root=$chrooted quietly host "${install[@]}" "$(there trelu-server "$EARLIER")"
# A boot would make it, too.
grep -q '^trelu:' "$chrooted/etc/passwd" || fail 'the installation has made no account'
[ -L "$chrooted/etc/systemd/system/multi-user.target.wants/trelu-server.service" ] || fail 'the installation has not enabled the service'
rm -rf "$chrooted"

step 'live: boot and first installation'
boot
if inside getent passwd trelu; then fail 'there is an account before the installation'; fi
quietly inside "${install[@]}" "$(there trelu-server "$EARLIER")" "$(there trelu "$EARLIER")"
packaged=$(cat "$settings")
expect 'the service after its installation' "$(inside systemctl is-enabled trelu-server || true)" enabled
eventually 'the service serves after its installation' serves
expect_account
expect 'addresses' "$(listening)" "$loopback_alone"
expect 'the description of the earlier unit' "$(property Description)" 'ONNX ThresholdedRelu over gRPC, earlier'
end_system
boot
eventually 'the service serves after a boot' serves
echo "installed, booted, and the service serves; $(inside systemctl --version | head -n 1)"

step 'live: upgrade'
before=$(main_pid)
echo '# A change of the administrator.' >> "$settings"
apt=("${install[@]}" --reinstall)
quietly inside "${apt[@]}" "$(there trelu-server "$VERSION")" "$(there trelu "$VERSION")"
eventually 'the service serves after an upgrade' serves
[ "$(main_pid)" != "$before" ] || fail 'the upgrade did not restart the service'
expect 'the unit after an upgrade' "$(property Description)" 'ONNX ThresholdedRelu over gRPC'
grep -q administrator "$settings" || fail 'the upgrade has overwritten the settings'
expect 'versions' "$(inside dpkg-query -W -f '${Version} ' trelu-server trelu)" "$VERSION $VERSION "

step 'live: version, account, answers'
expect 'the server'"'"'s version' "$(inside trelu-server --version)" "trelu-server $VERSION"
expect 'the command'"'"'s version' "$(inside trelu --version)" "trelu $VERSION"
expect 'the version in the metrics' "$(get /metrics | sed -nE 's/^trelu_build_info\{.*version="([^"]*)".*/\1/p')" "$VERSION"
[[ $(get /metrics) == *$'\n'process_start_time_seconds\ [1-9]* ]] || fail 'the server does not see all that it tells of itself'
expect_account
expect 'capabilities' "$(of_process CapPrm) $(of_process CapEff) $(of_process CapBnd)" \
  '0000000000000000 0000000000000000 0000000000000000'
expect 'new privileges' "$(of_process NoNewPrivs)" 1
expect 'filter of system calls' "$(of_process Seccomp)" 2
expect 'files' "$(inside sed -nE 's/^Max open files +([0-9]+).*/\1/p' "/proc/$(main_pid)/limits")" \
  "$(limit=$(ulimit -H -n); [ "$limit" != unlimited ] && [ "$limit" -lt 65536 ] && echo "$limit" || echo 65536)"

# Each example is one line of the conformance vectors: its shape and alpha, and bytes in hexadecimal.
field() { sed -nE "/\"float32\/node-test\/$1\"/s/.*\"$2\": \"?([^]\"]*).*/\1/p" tests/conformance/edge_cases.jsonl; }
bytes() { printf '%b' "$(fold -w 2 <<< "$1" | sed 's/^/\\x/' | tr -d '\n')"; }
mkdir "$root/srv/examples"
for name in example thresholdedrelu default; do
  bytes "$(field $name input_hex)" > "$root/srv/examples/$name.bin"
  bytes "$(field $name output_hex)" > "$root/srv/examples/$name.expected"
  [ -s "$root/srv/examples/$name.expected" ] || fail "no example $name"
done
# answers OPTION...: the examples of ONNX, bit for bit
answers() {
  local name alpha
  for name in example thresholdedrelu default; do
    alpha=()
    [ "$name" = default ] || alpha=(--alpha "$(field $name alpha_decimal)")
    quietly inside trelu "$@" apply "${alpha[@]}" --dtype float32 --shape "$(field $name shape | tr -d '[ ')" \
      "/srv/examples/$name.bin" -o "/srv/examples/$name.out.bin"
    cmp "$root/srv/examples/$name.out.bin" "$root/srv/examples/$name.expected" || fail "$name: the answer is wrong"
  done
}
answers
echo "as the user trelu, without capabilities, on loopback alone; ONNX's examples are answered bit for bit"

step 'live: confinement'
check_confinement
echo "nothing but its folders can be written, exposure is at most $MOST_EXPOSED tenths, and every line of the unit counts"

step 'live: a Unix socket, shared memory, a crash'
check_socket_and_memory
before=$(main_pid)
kill -KILL "$(pgrep --nslist pid --ns "$init" -x trelu-server)"
restarted() { [ "$(main_pid)" != "$before" ] && serves; }
eventually 'the service serves after a crash' restarted
echo 'the group gets in and others do not, memory is shared, a crash is mended'

step 'live: settings'
check_settings
echo 'TLS and models as the settings propose, loopback without a word, nothing by an empty address'

step 'library'
quietly inside "${apt[@]}" "$(there libtrelu-dev "$VERSION")" "${toolchain[@]}"
cp -r client/examples/consumer "$root/srv/consumer"
quietly inside cmake -S /srv/consumer -B /srv/consumer/build
quietly inside cmake --build /srv/consumer/build
quietly inside bash -c 'g++ -std=c++20 /srv/consumer/main.cc -o /srv/consumer/plain $(pkg-config --cflags --libs trelu)'
for program in build/consumer plain; do
  expect "$program" "$(inside "/srv/consumer/$program" localhost:8001)" '0 0 1.5 2'
done
expect 'version for pkg-config' "$(inside pkg-config --modversion trelu)" "$VERSION"
echo 'compiled with CMake and with pkg-config, and answered'

step 'live: disable, remove, purge'
quietly inside systemctl disable trelu-server
quietly inside "${apt[@]}" "$(there trelu-server "$VERSION")"
expect 'a disabled service after a reinstallation' "$(inside systemctl is-enabled trelu-server || true)" disabled
quietly inside systemctl enable trelu-server
eventually 'the service serves' serves
process=$(pgrep --nslist pid --ns "$init" -x trelu-server)
quietly inside apt-get remove -q -y trelu-server trelu libtrelu-dev
! kill -0 "$process" 2> /dev/null || fail 'the server runs although it is removed'
[ -e "$settings" ] || fail 'the removal has taken the settings'
touch "$root/var/lib/trelu-server/core"
quietly inside dpkg --purge trelu-server
rm -rf "${root:?}/srv" "$root/packages" "$root/etc/trelu"
# Not what dpkg, apt and the journal remember of every package.
left=$(inside find / -xdev -path /proc -prune -o -name '*trelu*' -not -path '/var/log/*' -print)
expect 'files that are left' "$left" ''
expect 'words that are left' "$(inside grep -rlw trelu /etc /var/lib --exclude-dir=lists --exclude-dir=apt --exclude-dir=dpkg |
  sort | paste -s -d ' ')" '/etc/group /etc/gshadow /etc/passwd /etc/shadow'
inside systemctl list-units --all --plain --no-legend 'trelu*' | grep . && fail 'systemd still knows the service'

end_system
rm -rf "$root" "$log"
