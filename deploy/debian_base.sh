#!/usr/bin/env bash
# Makes a minimal Debian 12 as a tar file, from this machine's apt sources, where no image can be pulled. Needs root, and
# the packages of `deploy/setup.sh ship`.
#
#   deploy/debian_base.sh FILE.tar [OPTION...]    with mmdebstrap's options for what is to be different
set -euo pipefail
[ $# != 0 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
file=$1
shift

sources=/etc/apt/sources.list.d/debian.sources
[ -s "$sources" ] || sources=/etc/apt/sources.list
mmdebstrap --quiet --mode=root --variant=minbase --format=tar \
  --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --include=usr-is-merged "$@" bookworm "$file.part" - < "$sources"
mv "$file.part" "$file"
