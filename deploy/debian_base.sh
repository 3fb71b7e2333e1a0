#!/usr/bin/env bash
# Makes a small Debian 12 as a tar file, from this machine's apt sources: what the image debian:bookworm-slim is, where
# that cannot be pulled. Needs root, and the packages of `deploy/setup.sh ship`.
#
#   deploy/debian_base.sh FILE.tar
set -euo pipefail
[ $# = 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }

sources=/etc/apt/sources.list.d/debian.sources
[ -s "$sources" ] || sources=/etc/apt/sources.list
excluded=()
for path in man info doc locale; do excluded+=(--dpkgopt="path-exclude=/usr/share/$path/*"); done
# The image of that name has no documents but the licences, and apt leaves nothing behind in it.
mmdebstrap --quiet --mode=root --variant=minbase --format=tar \
  --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --include=usr-is-merged \
  "${excluded[@]}" --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --aptopt='Dir::Cache::pkgcache ""' --aptopt='Dir::Cache::srcpkgcache ""' --aptopt='Acquire::Languages "none"' \
  --aptopt='DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb || true"; }' \
  --customize-hook='rm -f "$1"/etc/resolv.conf "$1"/etc/hostname "$1"/var/cache/apt/*.bin "$1"/var/log/*.log' \
  bookworm "$1.part" - < "$sources"
mv "$1.part" "$1"
