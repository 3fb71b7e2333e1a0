#!/usr/bin/env bash
# Run by the service's unit in the server's place: prints a line for everything that the unit lets it see or do and
# should not, and for what it must let it do and does not. /srv/outside has the namespaces of the system's first process;
# /home, /tmp, /var/tmp and /dev have a file `outside` each.
export LC_ALL=C

for folder in /home /tmp /var/tmp /dev; do
  [ ! -e "$folder/outside" ] || echo "sees what others have in $folder"
done
[ ! -e /proc/1 ] || echo 'sees the first process'
for folder in / /boot /etc /home /opt /root /run /run/lock /srv /sys /usr /var /var/lib; do
  # The reason tells a file system that cannot be written from a folder that is another user's.
  said=$(mkdir "$folder/made" 2>&1)
  case "$folder $said" in
    *'Read-only file system' | '/home '*'Permission denied' | '/root '*'Permission denied') ;;
    *) echo "may write to $folder, as far as the unit goes: $said" ;;
  esac
done
for folder in "$STATE_DIRECTORY" "$RUNTIME_DIRECTORY" /tmp /var/tmp /dev/shm; do
  { mkdir "$folder/made" && rmdir "$folder/made"; } || echo "cannot write to $folder"
done

# may WHAT REASON COMMAND...: the command must be refused, for the reason
may() {
  local said
  said=$("${@:3}" 2>&1)
  [[ $said = *"$2"* ]] || echo "may $1: $said"
}
case $(uname -m) in
  x86_64) mmap=9 ;;
  aarch64) mmap=222 ;;
esac
may 'change its personality' 'Operation not permitted' setarch --addr-no-randomize true
may 'have memory to write and to execute' 'Operation not permitted' \
  perl -e 'syscall($ARGV[0] + 0, 0, 4096, 7, 34, -1, 0) == -1 and print $!' "$mmap"
may 'change its priority, or is killed for it' 'Operation not permitted' nice -n 1 true

while read -r kind namespace; do
  [ "$(readlink "/proc/self/ns/$kind")" != "$namespace" ] || echo "shares the system's $kind namespace"
done < /srv/outside
while read -r field value; do
  said=$(sed -nE "s/^$field:\t//p" /proc/self/status)
  [ "$said" = "$value" ] || echo "has $field $said"
done << 'END'
NoNewPrivs 1
Seccomp 2
CapPrm 0000000000000000
CapEff 0000000000000000
CapBnd 0000000000000000
END
exit 0
