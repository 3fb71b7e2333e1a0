#!/usr/bin/env bash
# Makes a release's files in the folder OUT, out of the commit that is checked out and nothing else:
#
#   trelu-V.tar.gz            the source
#   *_V_ARCH.deb              the Debian packages (amd64, arm64: this machine's)
#   trelu-C.tgz               the Helm chart, of the chart's version C
#   trelu-V.spdx.json         the bill of materials of the packaged programs
#   trelu-V-image.tar         the image
#   SHA256SUMS                of all of them
#
#   deploy/release.sh [--snapshot] [--dry-run] (--image FILE | --no-image) OUT
#
#   --snapshot     of a commit that is no release: V is the version, the commit's time and its name. It sorts before the
#                  version until that has been released, and after it from then on
#   --image FILE   the archive of the image, as `docker save` has made it of this commit
#   --no-image     release none
#   --dry-run      say V, or why not, and make nothing
#
# A release is a commit with an annotated tag: `git tag -a vVERSION`, VERSION as in CMakeLists.txt. The tag's message is the
# changelog, a paragraph or a line that begins with "- " an entry. Refused are changes that are not committed, a tag that is
# not annotated, one of another version, and an image of another version. New files beside README.md are nobody's business:
# FILE and OUT may be there. OUT is made at the end, complete or not at all.
#
# The same commit and Debian packages give the same bytes, wherever and whenever: ccache is not used, times are the
# commit's. deploy/check_release.sh checks that. Takes minutes; needs the packages of `deploy/setup.sh ship`.
set -euo pipefail
umask 022
export LC_ALL=C TZ=UTC
caller=$PWD
cd "$(dirname "$0")/.."

usage() { sed -n '2,25s/^# \{0,1\}//p' deploy/release.sh; }
misused() { usage >&2; exit 2; }
refuse() { echo "release: $*" >&2; exit 1; }
# As the caller means it, whose folder may be another.
path() { [ -n "$1" ] || misused; cd "$caller" && realpath -m -- "$1"; }
snapshot=false dry=false image='' image_options=0 out=''
while [ $# != 0 ]; do
  case $1 in
    --help) usage; exit 0 ;;
    --snapshot) snapshot=true ;;
    --dry-run) dry=true ;;
    --image) image_options=$((image_options + 1)); image=$(path "${2:-}"); shift ;;
    --no-image) image_options=$((image_options + 1)) ;;
    -*) misused ;;
    *) [ -z "$out" ] || misused; out=$(path "$1") ;;
  esac
  shift || misused
done
[ -n "$out" ] && [ $image_options = 1 ] || misused
[ ! -e "$out" ] || { [ -d "$out" ] && [ -z "$(ls -A "$out")" ]; } || refuse "$out is not empty"

changes=$(git status --porcelain --untracked-files=normal) || refuse 'not a git repository'
# Where nothing of the project would be forgotten.
changes=$(grep -vE '^\?\? [^/]+/?$' <<< "$changes" || true)
[ -z "$changes" ] || refuse "there are changes that are not committed:"$'\n'"$changes"
version=$(sed -nE 's/^project\(trelu VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
tags=$(git tag --points-at HEAD | grep -xE 'v[0-9]+\.[0-9]+\.[0-9]+' || true)
if $snapshot; then
  [ -z "$tags" ] || refuse "the commit is released as ${tags//$'\n'/, }: no snapshot"
  sign='~'
  [ -z "$(git tag --merged HEAD --list "v$version")" ] || sign=+
  full=$version$sign$(git log -1 --format=%cd.%h --date=format-local:%Y%m%d%H%M%S --abbrev=10)
else
  [ -n "$tags" ] || refuse "the commit has no tag v$version: git tag -a v$version, or --snapshot"
  [ "$tags" = "v$version" ] || refuse "the commit's tag is ${tags//$'\n'/, }, but its version is $version"
  [ "$(git cat-file -t "refs/tags/$tags")" = tag ] || refuse "the tag $tags is not annotated: git tag -a -f $tags"
  full=$version
fi
if [ -n "$image" ]; then
  wrong=$(/usr/bin/python3 -B deploy/saved_image.py "$image" "$version" 2>&1) || refuse "the image: $wrong"
fi
echo "trelu $full, commit $(git rev-parse HEAD)"
if $dry; then exit 0; fi

work=$(mktemp -d) made=''
trap 'rm -rf "$work" ${made:+"$made"}' EXIT
mkdir -p "$(dirname "$out")"
made=$(mktemp -d "$out.XXXXXX")  # beside it: moved, not copied, once it is complete
chmod 755 "$made"
[ -z "$image" ] || cp "$image" "$made/trelu-$full-image.tar"
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }

step 'source'
# Not the folder at hand, where ignored files and other people's settings may be.
tree=$work/trelu
git clone --quiet --shared --no-checkout . "$tree"
git -C "$tree" -c core.autocrlf=false checkout --quiet --detach "$(git rev-parse HEAD)"
cd "$tree"
git -c tar.umask=0022 archive --format=tar --prefix="trelu-$full/" HEAD | gzip -9n > "$made/trelu-$full.tar.gz"

step 'packages'
# An object that was compiled elsewhere or earlier proves nothing about this commit.
CCACHE_DISABLE=1 cmake --preset package > "$work/log" || { cat "$work/log" >&2; refuse 'CMake'; }
CCACHE_DISABLE=1 cmake --build --preset package
(cd build/package && cpack -B "$work/packages" -D CPACK_PACKAGE_VERSION="$full")
cp "$work/packages"/*.deb "$made/"

step 'chart'
chart=$(sed -nE 's/^version: (.*)/\1/p' deploy/helm/trelu/Chart.yaml)
# helm package would put the time of day into it.
tar --create --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
  --mode='u=rwX,go=rX' --directory=deploy/helm trelu | gzip -9n > "$made/trelu-$chart.tgz"

step 'bill of materials'
for name in trelu trelu-server; do
  dpkg-deb --extract "$made/${name}_${full}"_*.deb "$work/root"
done
/usr/bin/python3 -B deploy/sbom.py --version "$full" --binary "$work/root/usr/bin/trelu-server" \
  --binary "$work/root/usr/bin/trelu" > "$made/trelu-$full.spdx.json"

cd "$made"
sha256sum -- * > "$work/SHA256SUMS"
cp "$work/SHA256SUMS" .
mv --no-target-directory "$made" "$out"
printf '\n'
cat SHA256SUMS
