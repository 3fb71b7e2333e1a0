#!/usr/bin/env bash
# Installs what trelu needs on Debian 12, and nothing that is there already.
#
#   deploy/setup.sh [build|test|ship] [ARCHITECTURE]
#
# build (the default): to build and run; test: the test suite's needs too; ship: those of the checks of image and packages
# too. With another ARCHITECTURE of Debian than this machine's (arm64, amd64), the compiler and the libraries are for that.
# The packages are those of apt-packages.txt beside this script. Needs root or sudo only when one is missing.
set -euo pipefail
cd "$(dirname "$0")"

purpose=${1:-build}
case $purpose in
  build) wanted='build' ;;
  test) wanted='build|test' ;;
  ship) wanted='build|test|ship' ;;
  *) echo "usage: $0 [build|test|ship] [ARCHITECTURE]" >&2; exit 2 ;;
esac
native=$(dpkg --print-architecture)
architecture=${2:-$native}
case $architecture in
  "$native") ;;
  amd64) compiler=g++-x86-64-linux-gnu ;;
  arm64) compiler=g++-aarch64-linux-gnu ;;
  *) echo "$0: '$architecture' is none of amd64, arm64 and $native" >&2; exit 2 ;;
esac

# What is installed, and what that provides: another nodejs than Debian's brings npm with it, and refuses Debian's.
# Another architecture's packages have it in their names, as apt-get takes them.
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}:${Architecture}, ${Provides}\n' |
  sed -nE "s/^installed //; T; s/:$native,/,/; p" | tr -s ', ' '\n')
missing=()
while read -r package; do
  if [ "$architecture" != "$native" ]; then
    case $package in
      g++) package=$compiler ;;
      *-dev) package=$package:$architecture ;;
    esac
  fi
  grep -qxF -e "$package" -e "${package%:*}:all" <<< "$installed" || missing+=("$package")
done < <(sed -nE "s/^([a-z0-9.+-]+) +# *($wanted)$/\1/p" apt-packages.txt)
if [ ${#missing[@]} = 0 ]; then
  echo "setup: every $purpose package is installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root, or install sudo; missing: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
[ "$architecture" = "$native" ] || "${as_root[@]}" dpkg --add-architecture "$architecture"
# Without Error-Mode, apt-get update says 0 with every mirror out of reach.
"${as_root[@]}" apt-get update -q -o APT::Update::Error-Mode=any
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -q -y --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}"
echo "setup: done, ${#missing[@]} packages and what they need"
