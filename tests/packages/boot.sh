#!/usr/bin/env bash
# Boots the Debian system in a folder, with systemd, as far as services need: no hardware, no console, no network but
# loopback. Ends with the first process of its namespaces:
#
#   unshare --pid --fork --kill-child --mount --ipc --uts --net --cgroup boot.sh FOLDER
set -euo pipefail
root=$1

mount --make-rprivate /
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
# Of version 2, which systemd wants for its own; with no more of it than this namespace's.
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
for device in null zero full random urandom tty; do
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
ln -s /proc/self/fd dev/fd
ln -s pts/ptmx dev/ptmx
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mkdir run/outside
pivot_root . run/outside
umount -l run/outside
exec env -i container=check PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=multi-user.target --log-target=journal --show-status=0
