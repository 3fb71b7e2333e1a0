# For bash's source: a minimal Debian 12 of the tests' own, in the folder $root, which boot starts in namespaces. Beside
# it in $state: `base-*.tar`, what it is unpacked from, and `archives`, what apt has downloaded. Needs root, the
# repository as the current folder, and fail().
# shellcheck shell=bash disable=SC2154

init=''  # pid of the booted system's first process
groups=''  # its control group
clean=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8)
install=(apt-get install -q -y --no-install-recommends -o Dpkg::Use-Pty=0)

# Its output only if it fails.
quietly() { "$@" > "$log" 2>&1 || { cat "$log" >&2; fail "failed: $*"; }; }
# In the system that is not booted, and in the booted one.
host() { chroot "$root" "${clean[@]}" "$@"; }
inside() { nsenter --target "$init" --mount --pid --ipc --uts --net --cgroup "${clean[@]}" "$@"; }

# make_system FOLDER WANTED...: with the packages of the folder in /packages, and those that are wanted, of there or of
# Debian, downloaded with all they need: there is no network once it is booted.
make_system() {
  local packages=$1 options=(--include=systemd) key base unit
  shift
  key=$({ cat deploy/debian_base.sh; echo "${options[@]}"; } | sha256sum)
  base=$state/base-${key:0:12}.tar
  if [ ! -e "$base" ]; then
    rm -f "$state"/base*.tar
    quietly deploy/debian_base.sh "$base" "${options[@]}"
  fi
  rm -rf "$root"
  mkdir -p "$root" "$state/archives"
  tar -C "$root" -xf "$base"
  cp /etc/resolv.conf "$root/etc/"
  echo 127.0.0.1 localhost > "$root/etc/hosts"
  cp -r "$packages" "$root/packages"
  find "$state/archives" -name '*.deb' -exec cp --link --target-directory="$root/var/cache/apt/archives" {} +
  echo force-unsafe-io > "$root/etc/dpkg/dpkg.cfg.d/check"
  printf '%s "true";\n' APT::Keep-Downloaded-Packages Binary::apt-get::APT::Keep-Downloaded-Packages > "$root/etc/apt/apt.conf.d/check"
  # What a namespace does not have.
  for unit in getty.target systemd-udevd.service systemd-udev-trigger.service systemd-networkd.service dev-hugepages.mount \
              dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-fs-fuse-connections.mount; do
    ln -s /dev/null "$root/etc/systemd/system/$unit"
  done
  quietly host apt-get update -q -o APT::Update::Error-Mode=any
  quietly host "${install[@]}" --download-only "$@"
  quietly host apt-get autoclean -q
  rm -rf "$state/archives"
  mkdir "$state/archives"
  cp --link "$root/var/cache/apt/archives"/*.deb "$state/archives/"
}

# eventually WHAT COMMAND...: within half a minute. Tries are counted, since a virtual machine may stand still for long.
eventually() {
  local what=$1 tries=300
  shift
  until "$@" > /dev/null 2>&1; do
    [ $((tries -= 1)) != 0 ] || fail "never: $what"
    sleep 0.1
  done
}
first_process() { init=$(pgrep -P "$unshared") && grep -qx systemd "/proc/$init/comm"; }

boot() {
  local hierarchy=/sys/fs/cgroup
  [ "$(stat -f -c %T "$hierarchy")" = cgroup2fs ] || hierarchy=/sys/fs/cgroup/unified
  groups=$hierarchy/trelu-check-$$
  mkdir "$groups" || fail 'the system needs a control group of its own: run as root, in a container with SYS_ADMIN'
  (
    echo "$BASHPID" > "$groups/cgroup.procs"
    exec unshare --pid --fork --kill-child --mount --ipc --uts --net --cgroup tests/packages/boot.sh "$root" > "$state/boot.log" 2>&1
  ) &
  unshared=$!
  eventually "systemd runs, see $state/boot.log" first_process
  eventually 'systemd answers' inside systemctl list-units
  expect 'the system after its start' "$(inside systemctl is-system-running --wait)" running
}

end_system() {
  if [ -n "$init" ]; then
    kill -KILL "$init" 2> /dev/null || true
    wait "$unshared" 2> /dev/null || true
    init=''
  fi
  [ -z "$groups" ] || find "$groups" -depth -type d -exec rmdir {} + 2> /dev/null || true
  groups=''
}
