#!/usr/bin/env bash
# Checks how releases are made (deploy/release.sh), in clones of the commit that is checked out; nothing is tagged here:
#
#   refusals       what must not be released is not: changes, tags that are wrong or not annotated, no tag, another image
#   failure        a release that fails leaves nothing, and can be tried again
#   reproducible   a release is made twice, from nothing: in another folder, on another file system where there is one,
#                  at another time, with another umask, time zone, language and number of jobs. Its files are the same
#   content        they are complete, and say what they should (tests/packages/release_test.py); the packages' changelog
#                  is the tag's message
#
#   deploy/check_release.sh [--help]
#   deploy/check_release.sh --quick          refusals and failure alone: seconds
#   STATE=FOLDER deploy/check_release.sh     where both releases stay (/var/tmp/trelu-release)
#
# Compiles everything twice, without ccache, which would hand the second what it kept of the first: some twelve minutes
# on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
quick=false
case ${1:-} in
  '') ;;
  --quick) quick=true ;;
  --help) sed -n '2,16s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
fail() { echo "check_release: $*" >&2; exit 1; }
state=$(realpath -m -- "${STATE:-/var/tmp/trelu-release}")
mkdir -p "$state"
# What earlier checks have left.
(cd "$state" && rm -rf clone image full failing failed one two one.content two.content ./*.tar ./*.log)
elsewhere=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "$state")")
trap 'rm -rf "$elsewhere"' EXIT
version=$(sed -nE 's/^project\(trelu VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
head=$(git rev-parse HEAD)

step 'refusals'
clone=$state/clone
git clone --quiet --no-tags . "$clone"
git -C "$clone" checkout --quiet --detach "$head"
as() { git -C "$clone" -c user.name=Check -c user.email=check@trelu.example "$@"; }
# Of a caller who is elsewhere, with no image unless the options have one.
release() {
  [[ " $* " = *' --image '* || " $* " = *' --no-image '* ]] || set -- --no-image "$@"
  (cd "$state" && "$clone/deploy/release.sh" "$@" 2>&1)
}
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
allowed 'a snapshot before the release' "^trelu $version~[0-9]{14}\.[0-9a-f]{10}, commit $head" --snapshot "$out"
# image FILE TITLE VERSION: an archive of an image, as far as its labels
image() {
  local config='{"config":{"Labels":{"org.opencontainers.image.title":"%s","org.opencontainers.image.version":"%s"}}}'
  mkdir -p "$state/image"
  printf "$config" "$2" "$3" > "$state/image/config.json"
  echo '[{"Config":"config.json","RepoTags":null,"Layers":[]}]' > "$state/image/manifest.json"
  tar -C "$state/image" --mtime=@0 -cf "$state/$1" config.json manifest.json
}
image trelu.tar trelu "$version"
image other.tar other "$version"
image other_version.tar trelu "$version.1"
echo text > "$state/text.tar"
tar -C "$state" -cf "$state/files.tar" text.tar
as tag "v$version"
refused 'a tag that is not annotated' "v$version is not annotated" "$out"
as tag -d "v$version" > /dev/null
as tag -a v99.0.0 -m 'Another version.'
refused 'a tag of another version' "tag is v99.0.0, but its version is $version" "$out"
as tag -a "v$version" -m "$(printf 'Everything is new.\n\n- It thresholds.\n- It does so, line after line, for as long as there are words to fill this line with.\n')"
refused 'two tags' "v99.0.0" "$out"
as tag -d v99.0.0 > /dev/null
as tag -a v-old-experiment -m 'Nothing came of it.'
as tag -a "v$version-rc1" -m 'A try.'
allowed 'an annotated tag of the version, beside others' "^trelu $version, commit $head" "$out"
refused 'a snapshot of a release' "is released as v$version" --snapshot "$out"
echo >> "$clone/README.md"
refused 'a changed file' 'README.md' "$out"
as checkout --quiet README.md
touch "$clone/server/stranger"
refused 'a new file in a folder of the project' 'server/stranger' "$out"
rm "$clone/server/stranger"
mkdir "$clone/OUT"
touch "$clone/OUT/SHA256SUMS"
cp "$state/trelu.tar" "$clone/"
(cd "$clone" && deploy/release.sh --dry-run --image trelu.tar OUT2 > /dev/null) || fail "README's own command is refused"
rm -r "$clone/OUT" "$clone/trelu.tar"
mkdir "$state/full"
touch "$state/full/file"
refused 'a folder that is not empty' 'is not empty' "$state/full"
refused 'an unknown option' 'deploy/release.sh' --quickly "$out"
refused 'both an image and none' 'deploy/release.sh' --image trelu.tar --no-image "$out"
refused 'two images' 'deploy/release.sh' --image trelu.tar --image trelu.tar "$out"
refused 'an image without a name' 'deploy/release.sh' --image '' "$out"
refused 'none, and an image without a name' 'deploy/release.sh' --no-image --image '' "$out"
refused 'an option without its value' 'deploy/release.sh' "$out" --image
refused 'two folders' 'deploy/release.sh' "$out" "$out"
refused 'an image that is not there' 'No such file' --image nothing.tar "$out"
refused 'a folder as image' 'Is a directory' --image image "$out"
refused 'a text as image' 'not an archive' --image text.tar "$out"
refused 'an archive of files as image' 'no file manifest.json' --image files.tar "$out"
refused 'the image of something else' "title is 'other', expected 'trelu'" --image other.tar "$out"
refused 'the image of another version' "version is '$version.1', expected '$version'" --image other_version.tar "$out"
allowed 'an image of the version' "^trelu $version, commit $head" --image trelu.tar "$out"
as commit --quiet --allow-empty -m 'deploy: another commit'
allowed 'a snapshot after the release' "^trelu $version\+[0-9]{14}\." --snapshot "$out"
# of_time SECONDS [ZONE]: the version of a snapshot of a commit of then
of_time() {
  GIT_COMMITTER_DATE="@$1 ${2:-+0000}" as commit --quiet --allow-empty -m 'deploy: of another time'
  release --dry-run --snapshot "$out" | sed -n 's/^trelu \(.*\), commit .*/\1/p'
}
for second in 0 1 2 3; do
  # The later, the farther west, where it is an earlier hour.
  snapshots+=("$(of_time "$((1767225600 + second))" "-0${second}00")")
done
for snapshot in "${snapshots[@]}"; do
  [[ $snapshot =~ ^"$version"\+[0-9]{14}\. ]] || fail "a snapshot is called '$snapshot'"
done
[ "$(printf '%s\n' "${snapshots[@]}" | sort --version-sort)" = "$(printf '%s\n' "${snapshots[@]}")" ] ||
  fail "snapshots do not sort by time: ${snapshots[*]}"
dpkg --compare-versions "$version~20991231" lt "$version" && dpkg --compare-versions "$version+20000101" gt "$version" ||
  fail 'snapshots do not sort about their release'

as checkout --quiet --detach "$head"

step 'failure'
mkdir "$state/failing"
printf '#!/bin/sh\nexit 1\n' > "$state/failing/cmake"
chmod +x "$state/failing/cmake"
if PATH=$state/failing:$PATH release --image trelu.tar failed/out > "$state/failed.log"; then fail 'a release without CMake'; fi
grep -q '^== packages' "$state/failed.log" || { cat "$state/failed.log" >&2; fail 'failed before it began'; }
[ -z "$(ls -A "$state/failed")" ] || fail "a release that failed has left $(ls -A "$state/failed")"
allowed 'the next try' "^trelu $version, commit $head" failed/out
if $quick; then
  printf '\nReleases: every quick check passed, in %d s.\n' "$SECONDS"
  exit 0
fi

step 'reproducible: once'
release --image trelu.tar one > "$state/one.log" || { tail -n 20 "$state/one.log" >&2; fail 'no release'; }

step 'reproducible: and again'
another=$elsewhere/a/deeper/folder
git clone --quiet "$clone" "$another"
git -C "$another" checkout --quiet --detach "$head"
(
  umask 077
  TMPDIR=$elsewhere TZ=Pacific/Auckland LC_ALL=C.UTF-8 CMAKE_BUILD_PARALLEL_LEVEL=3 HOME=$elsewhere \
    "$another/deploy/release.sh" --image "$state/trelu.tar" "$state/two"
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

step 'content'
RELEASE=$state/two VERSION=$version /usr/bin/python3 -B tests/packages/release_test.py
told=$(dpkg-deb --fsys-tarfile "$state/two/trelu_${version}"_*.deb | tar -xO ./usr/share/doc/trelu/changelog.gz | gunzip)
grep -qx '  \* It thresholds.' <<< "$told" || fail 'the packages have another changelog than the tag'
cmp "$state/trelu.tar" "$state/two/trelu-$version-image.tar" || fail 'the image is another'
tar -xOzf "$state/two/trelu-$version.tgz" trelu/Chart.yaml | cmp - deploy/helm/trelu/Chart.yaml || fail 'the chart is another'
tar -xOzf "$state/two/trelu-$version.tar.gz" "trelu-$version/CMakeLists.txt" | cmp - CMakeLists.txt || fail 'the source is another'

printf '\nReleases: every check passed, in %d s.\n' "$SECONDS"
