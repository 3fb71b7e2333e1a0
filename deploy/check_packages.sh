#!/usr/bin/env bash
# Checks the Debian packages, on Debian 12 as root, in a few minutes once everything is compiled:
#
#   build      cpack makes trelu-server, trelu and libtrelu-dev; lintian finds no error and no warning
#   content    files, modes, dependencies, scripts, settings (tests/packages/content_test.py)
#   service    in a fresh minimal system, systemd-analyze reads the unit, and finds its exposure low
#   live       that system is booted in namespaces of its own, systemd and all: the installed service answers the packaged
#              command bit for bit, confined, over TCP, a Unix socket and shared memory; comes back after a crash; is
#              upgraded, disabled, removed and purged, and leaves nothing but its account
#   library    there, a program is compiled against libtrelu-dev, with CMake and with pkg-config, and gets its answer
#
# All but live and library also damage what they look at, and must see it.
#
#   deploy/check_packages.sh [--help]
#   BUILD=FOLDER deploy/check_packages.sh    uses what is built there, with the preset `package`
#   STATE=FOLDER deploy/check_packages.sh    where systems and downloads are kept (/var/tmp/trelu-packages)
#
# Leaves nothing running. Needs the machine's apt sources, and its network.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  '') ;;
  --help) sed -n '2,20s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) sed -n '2,20s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

MOST_EXPOSED=15  # tenths, of systemd-analyze's 0 to 10
state=${STATE:-/var/tmp/trelu-packages}
root=$state/root
log=$state/log
init=''  # pid of the booted system's first process
groups=''  # its control group

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
fail() {
  echo "check_packages: $*" >&2
  [ -z "$init" ] || inside journalctl --no-pager --lines 40 --unit trelu-server >&2 || true
  exit 1
}
# Its output only if it fails.
quietly() { "$@" > "$log" 2>&1 || { cat "$log" >&2; fail "failed: $*"; }; }
expect() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; }

end_system() {
  if [ -n "$init" ]; then
    kill -KILL "$init" 2> /dev/null || true
    wait "$unshared" 2> /dev/null || true
    init=''
  fi
  [ -z "$groups" ] || find "$groups" -depth -type d -exec rmdir {} + 2> /dev/null || true
  groups=''
}
trap end_system EXIT

[ "$(id -u)" = 0 ] || fail 'installs packages in a system of its own: run it as root'
step 'set-up and build'
deploy/setup.sh ship
if [ -z "${BUILD:-}" ]; then
  [ -e build/package/CMakeCache.txt ] || cmake --preset package > /dev/null
  cmake --build --preset package
  BUILD=build/package
fi
mkdir -p "$state"
version=$(sed -nE 's/^project\(trelu VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
earlier=$version~earlier  # sorts before it
packages=$state/packages
rm -rf "$packages"
for each in "$version" "$earlier"; do
  (cd "$BUILD" && quietly cpack -B "$packages/$each" -D CPACK_PACKAGE_VERSION="$each")
done
# package NAME VERSION
package() { echo "$packages/$2/$1_$2_$(dpkg --print-architecture).deb"; }
ls -s "$packages/$version"/*.deb

step 'build: lintian'
lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$packages/$version"/*.deb || fail 'lintian has found something'
broken=$state/broken
rm -rf "$broken"
dpkg-deb --raw-extract "$(package trelu-server "$version")" "$broken"
rm "$broken/usr/share/doc/trelu-server/copyright"
dpkg-deb --build "$broken" "$state/broken.deb" > /dev/null
if lintian --allow-root --fail-on error,warning "$state/broken.deb" > /dev/null 2>&1; then
  fail 'lintian did not notice a package without copyright'
fi

step 'content'
PACKAGES=$packages/$version VERSION=$version /usr/bin/python3 -B tests/packages/content_test.py

step 'service: a fresh minimal system'
rm -rf "$root"
base=$state/base.tar
[ -e "$base" ] || quietly deploy/debian_base.sh "$base" --include=systemd
mkdir "$root"
tar -C "$root" -xf "$base"
cp /etc/resolv.conf "$root/etc/"
echo 127.0.0.1 localhost > "$root/etc/hosts"
cp -r "$packages" "$root/packages"
mkdir -p "$state/archives"
find "$state/archives" -name '*.deb' -exec cp --link --target-directory="$root/var/cache/apt/archives" {} +
echo force-unsafe-io > "$root/etc/dpkg/dpkg.cfg.d/check"
printf '%s\n' 'APT::Keep-Downloaded-Packages "true";' 'Binary::apt-get::APT::Keep-Downloaded-Packages "true";' > "$root/etc/apt/apt.conf.d/check"
# What a namespace does not have.
for unit in getty.target systemd-udevd.service systemd-udev-trigger.service systemd-networkd.service dev-hugepages.mount \
            dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-fs-fuse-connections.mount; do
  ln -s /dev/null "$root/etc/systemd/system/$unit"
done
host() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
install=(apt-get install -q -y --no-install-recommends -o Dpkg::Use-Pty=0)
quietly host apt-get update -q -o APT::Update::Error-Mode=any
# A name below /packages, as seen there.
there() { echo "/packages/$2/$(basename "$(package "$1" "$2")")"; }
quietly host "${install[@]}" "$(there trelu-server "$earlier")" "$(there trelu "$earlier")"
# For later, when there is no network.
toolchain=(g++ cmake make pkgconf)
quietly host "${install[@]}" --download-only "$(there libtrelu-dev "$version")" "${toolchain[@]}"
quietly host apt-get autoclean -q
rm -rf "$state/archives"
mkdir "$state/archives"
cp --link "$root/var/cache/apt/archives"/*.deb "$state/archives/"
du -sh "$root" | sed 's/\t.*/ with server, command and downloads/'

unit=/usr/lib/systemd/system/trelu-server.service
quietly host systemd-analyze verify --man=no "$unit"
[ ! -s "$log" ] || { cat "$log" >&2; fail 'systemd-analyze finds fault with the unit'; }
exposure() { host systemd-analyze security --offline=yes --threshold="$MOST_EXPOSED" --no-pager "$1"; }
quietly exposure "$unit"
grep 'Overall exposure' "$log"
for hardening in NoNewPrivileges CapabilityBoundingSet ProtectSystem 'SystemCallFilter=@' RestrictAddressFamilies; do
  sed "/^$hardening/d" "$root$unit" > "$root/run/damaged.service"
  [ "$(host systemd-analyze security --offline=yes --no-pager /run/damaged.service | tail -n 1)" != "$(tail -n 1 "$log")" ] ||
    fail "systemd-analyze did not notice the unit without $hardening"
done
sed '/^\(No\|Cap\|Private\|Protect\|Restrict\|SystemCall\|Memory\)/d' "$root$unit" > "$root/run/damaged.service"
if exposure /run/damaged.service > /dev/null 2>&1; then fail 'a unit without confinement passed'; fi
sed 's/^ExecStart=.*/ExecStart=\/usr\/bin\/trelu-serve/' "$root$unit" > "$root/run/damaged.service"
if host systemd-analyze verify --man=no /run/damaged.service > /dev/null 2>&1; then fail 'a unit without a program passed'; fi
rm "$root/run/damaged.service"

step 'live: boot'
hierarchy=/sys/fs/cgroup
[ "$(stat -f -c %T "$hierarchy")" = cgroup2fs ] || hierarchy=/sys/fs/cgroup/unified
groups=$hierarchy/trelu-check-$$
mkdir "$groups" || fail 'the system needs a control group of its own: run as root, in a container with SYS_ADMIN'
(
  echo "$BASHPID" > "$groups/cgroup.procs"
  exec unshare --pid --fork --kill-child --mount --ipc --uts --net --cgroup tests/packages/boot.sh "$root" > "$state/boot.log" 2>&1
) &
unshared=$!
inside() {
  nsenter --target "$init" --mount --pid --ipc --uts --net --cgroup \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}
# eventually WHAT COMMAND...: within 30 seconds
eventually() {
  local what=$1 until=$((SECONDS + 30))
  shift
  until "$@" > /dev/null 2>&1; do
    [ "$SECONDS" -lt "$until" ] || fail "never: $what"
    sleep 0.1
  done
}
first_process() { init=$(pgrep -P "$unshared") && grep -qx systemd "/proc/$init/comm"; }
eventually 'systemd runs' first_process || { cat "$state/boot.log" >&2; exit 1; }
eventually 'systemd answers' inside systemctl list-units
expect 'the system after its start' "$(inside systemctl is-system-running --wait)" running
main_pid() { inside systemctl show --property MainPID --value trelu-server; }
serves() { inside systemctl is-active --quiet trelu-server && inside trelu health --quiet "$@"; }
eventually 'the service serves after a boot' serves
echo "booted, and the service serves; $(inside systemctl --version | head -n 1)"

step 'live: upgrade'
before=$(main_pid)
echo '# A change of the administrator.' >> "$root/etc/default/trelu-server"
apt=("${install[@]}" --reinstall)
quietly inside "${apt[@]}" "$(there trelu-server "$version")" "$(there trelu "$version")"
eventually 'the service serves after an upgrade' serves
[ "$(main_pid)" != "$before" ] || fail 'the upgrade did not restart the service'
inside grep -q administrator /etc/default/trelu-server || fail 'the upgrade has overwritten the settings'
expect 'versions' "$(inside dpkg-query -W -f '${Version} ' trelu-server trelu)" "$version $version "

step 'live: version, confinement, answers'
expect 'the server'"'"'s version' "$(inside trelu-server --version)" "trelu-server $version"
expect 'the command'"'"'s version' "$(inside trelu --version)" "trelu $version"
get() { inside bash -c 'exec 3<> /dev/tcp/127.0.0.1/8002; printf "GET $0 HTTP/1.0\r\n\r\n" >&3; cat <&3' "$1"; }
expect 'the version in the metrics' "$(get /metrics | sed -nE 's/^trelu_build_info\{.*version="([^"]*)".*/\1/p')" "$version"
[[ $(get /metrics) == *$'\n'process_start_time_seconds\ [1-9]* ]] || fail 'the server does not see all that it tells of itself'
of_process() { inside sed -nE "s/^$1:\t(.*)/\1/p" "/proc/$(main_pid)/status"; }
account=$(inside id -u trelu)
expect 'account' "$(of_process Uid)" "$account	$account	$account	$account"
expect 'capabilities' "$(of_process CapPrm) $(of_process CapEff) $(of_process CapBnd)" \
  '0000000000000000 0000000000000000 0000000000000000'
expect 'new privileges' "$(of_process NoNewPrivs)" 1
expect 'filter of system calls' "$(of_process Seccomp)" 2
expect 'files' "$(inside sed -nE 's/^Max open files +([0-9]+).*/\1/p' "/proc/$(main_pid)/limits")" \
  "$(limit=$(ulimit -H -n); [ "$limit" != unlimited ] && [ "$limit" -lt 65536 ] && echo "$limit" || echo 65536)"
expect 'addresses' "$(inside cat "/proc/$(main_pid)/net/tcp" "/proc/$(main_pid)/net/tcp6" |
  awk '$4 == "0A" { sub("^0000000000000000FFFF0000", "", $2); print $2 }' | sort | paste -s -d ' ')" '0100007F:1F41 0100007F:1F42'

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
echo "as uid $account without capabilities, on loopback alone; the answers to ONNX's examples are right, bit for bit"

step 'live: a Unix socket, shared memory, a crash'
cat >> "$root/etc/default/trelu-server" << 'END'
TRELU_LISTEN=127.0.0.1:8001,unix:/run/trelu-server/grpc.sock
TRELU_SHARED_MEMORY_PREFIX=/trelu_
TRELU_DRAIN_DELAY=0s
END
quietly inside systemctl restart trelu-server
eventually 'the service serves with the new settings' serves
answers --target unix:/run/trelu-server/grpc.sock
# The one user whose memory the server takes.
as_trelu=(setpriv --reuid=trelu --regid=trelu --init-groups)
quietly inside "${as_trelu[@]}" trelu bench --mode auto --size 4MiB --requests 16
handled() { get /metrics | sed -nE "s/^grpc_server_handled_total\{.*grpc_method=\"$1\",grpc_code=\"OK\"\} ([0-9]+)\r?$/\1/p"; }
[ "$(handled SystemSharedMemoryRegister)" ] || fail 'no memory was shared'
before=$(main_pid)
kill -KILL "$(pgrep --nslist pid --ns "$init" -x trelu-server)"
restarted() { [ "$(main_pid)" != "$before" ] && serves; }
eventually 'the service serves after a crash' restarted
sed -i 's/^TRELU_DRAIN_DELAY=.*/TRELU_DRAIN_DELAY=soon/' "$root/etc/default/trelu-server"
inside systemctl restart trelu-server || true
eventually 'a wrong setting stops it' inside bash -c '[ "$(systemctl is-active trelu-server)" = failed ]'
expect 'status of a wrong setting' "$(inside systemctl show --property ExecMainStatus --value trelu-server)" 2
sed -i 's/^TRELU_DRAIN_DELAY=.*/TRELU_DRAIN_DELAY=0s/' "$root/etc/default/trelu-server"
quietly inside systemctl restart trelu-server
eventually 'the service serves again' serves
echo 'shared memory and the Unix socket work, a crash is mended, a wrong setting is not tried again'

step 'library'
quietly inside "${apt[@]}" "$(there libtrelu-dev "$version")" "${toolchain[@]}"
cp -r client/examples/consumer "$root/srv/consumer"
quietly inside cmake -S /srv/consumer -B /srv/consumer/build
quietly inside cmake --build /srv/consumer/build
quietly inside bash -c 'g++ -std=c++20 /srv/consumer/main.cc -o /srv/consumer/plain $(pkg-config --cflags --libs trelu)'
for program in build/consumer plain; do
  expect "$program" "$(inside "/srv/consumer/$program" localhost:8001)" '0 0 1.5 2'
done
expect 'version for pkg-config' "$(inside pkg-config --modversion trelu)" "$version"
echo 'compiled with CMake and with pkg-config, and answered'

step 'live: disable, remove, purge'
quietly inside systemctl disable trelu-server
quietly inside "${apt[@]}" "$(there trelu-server "$version")"
expect 'a disabled service after a reinstallation' "$(inside systemctl is-enabled trelu-server || true)" disabled
quietly inside systemctl enable trelu-server
eventually 'the service serves' serves
process=$(pgrep --nslist pid --ns "$init" -x trelu-server)
quietly inside apt-get remove -q -y trelu-server trelu libtrelu-dev
! kill -0 "$process" 2> /dev/null || fail 'the server runs although it is removed'
[ -e "$root/etc/default/trelu-server" ] || fail 'the removal has taken the settings'
touch "$root/var/lib/trelu-server/core"
quietly inside dpkg --purge trelu-server
rm -rf "$root/srv/consumer" "$root/srv/examples" "$root/packages"
# Not what dpkg, apt and the journal remember of every package.
left=$(inside find / -xdev -path /proc -prune -o -name '*trelu*' -not -path '/var/log/*' -print)
expect 'files that are left' "$left" ''
expect 'words that are left' "$(inside grep -rlw trelu /etc /var/lib --exclude-dir=lists --exclude-dir=apt --exclude-dir=dpkg |
  sort | paste -s -d ' ')" '/etc/group /etc/gshadow /etc/passwd /etc/shadow'
inside systemctl list-units --all --plain --no-legend 'trelu*' | grep . && fail 'systemd still knows the service'

end_system
rm -rf "$root" "$broken" "$state/broken.deb" "$log"
printf '\nPackages: every check passed, in %d s.\n' "$SECONDS"
