#!/usr/bin/env bash
# Checks how releases are made (deploy/release.sh), in clones of the commit that is checked out; nothing is tagged here:
#
#   refusals       what must not be released is not: changes, tags that are wrong or not annotated, no tag
#   changelog      the packages' changelog is made of the tags' messages
#   reproducible   a release is made twice, from nothing: in another folder, on another file system where there is one,
#                  at another time, with another umask, time zone, language and number of jobs. Its files are the same
#
#   deploy/check_release.sh [--help]
#   STATE=FOLDER deploy/check_release.sh    where both releases stay (/var/tmp/trelu-release)
#
# Compiles everything twice, without ccache, which would hand the second what it kept of the first: some twelve minutes
# on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  '') ;;
  --help) sed -n '2,15s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
fail() { echo "check_release: $*" >&2; exit 1; }
state=${STATE:-/var/tmp/trelu-release}
rm -rf "$state"
mkdir -p "$state"
elsewhere=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "$state")")
trap 'rm -rf "$elsewhere"' EXIT
version=$(sed -nE 's/^project\(trelu VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
head=$(git rev-parse HEAD)

step 'refusals'
clone=$state/clone
git clone --quiet --no-tags . "$clone"
git -C "$clone" checkout --quiet --detach "$head"
as() { git -C "$clone" -c user.name=Check -c user.email=check@trelu.example "$@"; }
release() { "$clone/deploy/release.sh" --no-image "$@" 2>&1; }
# refused WHAT PATTERN OPTION...
refused() {
  local what=$1 pattern=$2 said
  shift 2
  ! said=$(release "$@") || fail "$what: released"
  grep -qE -- "$pattern" <<< "$said" || fail "$what: said '$said'"
  [ ! -e "$state/out" ] || fail "$what: something was made"
  echo "refused: $what"
}
# allowed WHAT PATTERN OPTION...
allowed() {
  local what=$1 said
  said=$(release --dry-run "${@:3}") || fail "$what: refused, $said"
  grep -qE -- "$2" <<< "$said" || fail "$what: said '$said'"
  echo "allowed: $what: ${said%%,*}"
}
out=$state/out
refused 'no tag' "has no tag v$version" "$out"
allowed 'a snapshot before the release' "^trelu $version~[0-9]{8}\.[0-9a-f]{10}, commit $head" --snapshot "$out"
as tag "v$version"
refused 'a tag that is not annotated' "v$version is not annotated" "$out"
as tag -d "v$version" > /dev/null
as tag -a v99.0.0 -m 'Another version.'
refused 'a tag of another version' "tag is v99.0.0, but its version is $version" "$out"
as tag -a "v$version" -m "$(printf 'Everything is new.\n\n- It thresholds.\n- It does so, line after line, for as long as there are words to fill this line with.\n')"
refused 'two tags' "v99.0.0" "$out"
as tag -d v99.0.0 > /dev/null
allowed 'an annotated tag of the version' "^trelu $version, commit $head" "$out"
refused 'a snapshot of a release' "is released as v$version" --snapshot "$out"
echo >> "$clone/README.md"
refused 'a changed file' 'README.md' "$out"
as checkout --quiet README.md
touch "$clone/stranger"
refused 'a new file' 'stranger' "$out"
rm "$clone/stranger"
mkdir "$state/full"
touch "$state/full/file"
refused 'a folder that is not empty' 'is not empty' "$state/full"
refused 'an unknown option' 'deploy/release.sh' --quickly "$out"
refused 'both an image and none' 'deploy/release.sh' --image README.md "$out"
as commit --quiet --allow-empty -m 'deploy: another commit'
allowed 'a snapshot after the release' "^trelu $version\+[0-9]{8}\." --snapshot "$out"
dpkg --compare-versions "$version~20991231" lt "$version" && dpkg --compare-versions "$version+20000101" gt "$version" ||
  fail 'snapshots do not sort about their release'

step 'changelog'
as tag -a v99.1.0 -m 'Newer still.'
said=$(SOURCE_DATE_EPOCH=0 /usr/bin/python3 -B "$clone/deploy/debian/changelog.py" 99.1.0)
entries=$(dpkg-parsechangelog -l - --all --format rfc822 <<< "$said" 2>&1 | sed -n '/^Version: \|warning/s/^Version: //p' | paste -s -d ' ')
[ "$entries" = "99.1.0 $version" ] || fail "the changelog is of the versions $entries"
grep -qx '  \* Everything is new.' <<< "$said" && grep -qx '  \* It thresholds.' <<< "$said" || fail "the changelog: $said"
as tag -d v99.1.0 > /dev/null
as checkout --quiet --detach "$head"
echo 'made of the annotated tags, newest first, and Debian reads it'

step 'reproducible: once'
"$clone/deploy/release.sh" --no-image "$state/one" > "$state/one.log" 2>&1 || { tail -n 20 "$state/one.log" >&2; fail 'no release'; }

step 'reproducible: and again'
another=$elsewhere/a/deeper/folder
git clone --quiet "$clone" "$another"
git -C "$another" checkout --quiet --detach "$head"
(
  umask 077
  TMPDIR=$elsewhere TZ=Pacific/Auckland LC_ALL=C.UTF-8 CMAKE_BUILD_PARALLEL_LEVEL=3 HOME=$elsewhere \
    "$another/deploy/release.sh" --no-image "$state/two"
) > "$state/two.log" 2>&1 || { tail -n 20 "$state/two.log" >&2; fail 'no second release'; }
cat "$state/two/SHA256SUMS"
if ! cmp "$state/one/SHA256SUMS" "$state/two/SHA256SUMS"; then
  # Down to the files within the packages.
  for release in one two; do
    mkdir "$state/$release.content"
    for package in "$state/$release"/*.deb; do
      dpkg-deb --raw-extract "$package" "$state/$release.content/$(basename "$package" .deb)"
    done
  done
  diff -rq "$state/one" "$state/two" >&2 || true
  diff -rq "$state/one.content" "$state/two.content" >&2 || true
  fail 'two builds of one commit differ'
fi
[ "$(ls "$state/two" | wc -l)" = 7 ] || fail "expected 7 files: $(ls "$state/two")"
told=$(dpkg-deb --fsys-tarfile "$state/two/trelu_${version}"_*.deb | tar -xO ./usr/share/doc/trelu/changelog.gz | gunzip)
grep -qx '  \* It thresholds.' <<< "$told" || fail 'the packages have another changelog than the tag'
(cd "$state/two" && sha256sum --check --quiet SHA256SUMS)
tar -xOzf "$state/two/trelu-$version.tgz" trelu/Chart.yaml | cmp - deploy/helm/trelu/Chart.yaml || fail 'the chart is another'
tar -xOzf "$state/two/trelu-$version.tar.gz" "trelu-$version/CMakeLists.txt" | cmp - CMakeLists.txt || fail 'the source is another'

printf '\nReleases: every check passed, in %d s.\n' "$SECONDS"
