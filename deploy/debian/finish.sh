#!/usr/bin/env bash
# Completes packages that cpack has made, in place: manual pages, copyright, changelog, no symbols that only a debugger
# wants; and packs them again so that equal contents are equal bytes, whatever the time, the folder and its file system.
#
#   finish.sh VERSION PACKAGE.deb...
#
# The time of every file is SOURCE_DATE_EPOCH, by default the commit's.
set -euo pipefail
umask 022
export LC_ALL=C TZ=UTC
here=$(cd "$(dirname "$0")" && pwd)
version=$1
shift
# Files of an archive that git made have the commit's time.
: "${SOURCE_DATE_EPOCH:=$(git -C "$here" log -1 --format=%ct 2> /dev/null || stat -c %Y "$here/../../CMakeLists.txt")}"
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# page ROOT SECTION PROGRAM SUMMARY [COMMAND...]: its manual page, out of what the program and its commands say.
page() {
  local root=$1 program=$3
  mkdir -p "$root/usr/share/man/man$2"
  /usr/bin/python3 -B "$here/man_page.py" "$root/usr/bin/$program" "${@:4}" |
    gzip -9n > "$root/usr/share/man/man$2/$program.$2.gz"
}

for package in "$@"; do
  root=$work/root
  rm -rf "$root"
  dpkg-deb --raw-extract "$package" "$root"
  name=$(dpkg-deb --field "$package" Package)
  case $name in
    trelu-server) page "$root" 1 trelu-server 'server of ONNX ThresholdedRelu over gRPC' ;;
    trelu) page "$root" 1 trelu 'ONNX ThresholdedRelu from the shell' apply bench health info ;;
  esac
  find "$root" -path '*/bin/*' -type f -exec strip --remove-section=.comment --remove-section=.note {} +
  find "$root" -name '*.a' -exec strip --strip-debug --enable-deterministic-archives --remove-section=.comment {} +
  doc=$root/usr/share/doc/$name
  mkdir -p "$doc"
  cp "$here/copyright" "$doc/"
  /usr/bin/python3 -B "$here/changelog.py" "$version" | gzip -9n > "$doc/changelog.gz"
  chmod 644 "$doc"/*

  # What cpack wrote depends on the order and the sizes of folders.
  (cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
  kilobytes=$(find "$root" -path "$root/DEBIAN" -prune -o -type f -printf '%s\n' -o -printf '1024\n' |
    awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }')
  sed -i "s/^Installed-Size:.*/Installed-Size: $kilobytes/" "$root/DEBIAN/control"
  find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zxz --build "$root" "$work/finished.deb" > /dev/null
  cp "$work/finished.deb" "$package"
done
