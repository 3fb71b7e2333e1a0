#!/usr/bin/env bash
# Checks the Debian packages, on Debian 12 as root, in a few minutes once everything is compiled:
#
#   build      cpack makes trelu-server, trelu and libtrelu-dev; lintian finds no error and no warning
#   content    files, modes, dependencies, scripts, settings, manuals (tests/packages/content_test.py)
#   live       a minimal system is booted in namespaces of its own, systemd and all (tests/packages/live_check.sh). There
#              the service is installed, serves at once and after a boot, and answers the packaged command bit for bit,
#              over TCP, TLS, a Unix socket and shared memory; it can see and do only what it should; it comes back after a
#              crash; it is upgraded, disabled, removed and purged, and leaves nothing but its account
#   library    there, a program is compiled against libtrelu-dev, with CMake and with pkg-config, and gets its answer
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
  --help) sed -n '2,16s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

STATE=$(realpath -m -- "${STATE:-/var/tmp/trelu-packages}")
export STATE
log=$STATE/log

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
fail() { echo "check_packages: $*" >&2; exit 1; }
# Its output only if it fails.
quietly() { "$@" > "$log" 2>&1 || { cat "$log" >&2; fail "failed: $*"; }; }

[ "$(id -u)" = 0 ] || fail 'installs packages in a system of its own: run it as root'
step 'set-up and build'
deploy/setup.sh ship
if [ -z "${BUILD:-}" ]; then
  [ -e build/package/CMakeCache.txt ] || cmake --preset package > /dev/null
  cmake --build --preset package
  BUILD=build/package
fi
mkdir -p "$STATE"
version=$(sed -nE 's/^project\(trelu VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
earlier=$version~earlier  # sorts before it
packages=$STATE/packages
rm -rf "$packages"
# As README says, with no word about the version: the packages' own must be right.
(cd "$BUILD" && quietly cpack -B "$packages/$version")
(cd "$BUILD" && quietly cpack -B "$packages/$earlier" -D CPACK_PACKAGE_VERSION="$earlier")
# package NAME VERSION
package() { echo "$packages/$2/$1_$2_$(dpkg --print-architecture).deb"; }
damaged=$STATE/damaged
open_package() { rm -rf "$damaged" && dpkg-deb --raw-extract "$(package trelu-server "$1")" "$damaged"; }
close_package() { dpkg-deb --root-owner-group --build "$damaged" "$1" > /dev/null && rm -rf "$damaged"; }
for name in trelu-server trelu libtrelu-dev; do
  ls -s "$(package "$name" "$version")" || fail "cpack has made no $name of $version"
done
# Another unit than the new one, so that it shows which of them systemd has read.
open_package "$earlier"
sed -i 's/^Description=.*/&, earlier/' "$damaged/usr/lib/systemd/system/trelu-server.service"
close_package "$(package trelu-server "$earlier")"

step 'build: lintian'
lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$packages/$version"/*.deb || fail 'lintian has found something'
open_package "$version"
rm "$damaged/usr/share/doc/trelu-server/copyright"
close_package "$STATE/damaged.deb"
if lintian --allow-root --fail-on error,warning "$STATE/damaged.deb" > /dev/null 2>&1; then
  fail 'lintian did not notice a package without copyright'
fi
rm "$STATE/damaged.deb"

step 'content'
PACKAGES=$packages/$version VERSION=$version /usr/bin/python3 -B tests/packages/content_test.py

VERSION=$version EARLIER=$earlier tests/packages/live_check.sh
rm -f "$log"
printf '\nPackages: every check passed, in %d s.\n' "$SECONDS"
