#!/usr/bin/env bash
# Triton's perf_analyzer, as PyPI has it, on a Debian that may be older than it.
#
#   perf_analyzer.sh PIP CACHE_DIR     prints the path of a program that takes perf_analyzer's arguments
#
# Its wheel is for glibc 2.38. Where that is not there, the program gets Debian 13's C and C++ libraries for itself, from
# the archive that this machine's apt uses, signature and all. For system shared memory too it opens CUDA's runtime
# library (and asks no GPU of it). Everything is kept in CACHE_DIR.
set -euo pipefail
pip=$1 cache=$2
version=2.60.0
cuda=nvidia-cuda-runtime-cu12==12.9.79
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
home=$cache/perf_analyzer-$version
program=$home/perf_analyzer/bin/perf_analyzer
libraries=$home/libraries

fetch_debian_13() {
  local apt=$home/apt archive
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/parts"
  # shellcheck disable=SC2016  # apt's variable
  archive=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' | grep -v security | head -n 1)
  echo "deb [signed-by=$keyring] ${archive:?apt-get update has not been run} trixie main" > "$apt/sources.list"
  cat > "$apt/apt.conf" <<CONF
Dir::State::lists "$apt/lists";
Dir::State::status "/dev/null";
Dir::Cache "$apt";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "$apt/parts";
Dir::Etc::preferencesparts "$apt/parts";
Acquire::Languages "none";
APT::Sandbox::User "";
CONF
  APT_CONFIG=$apt/apt.conf apt-get -qq update >&2
  (cd "$apt" && APT_CONFIG=$apt/apt.conf apt-get -qq download libc6 libstdc++6 libgcc-s1 >&2)
  for package in "$apt"/*.deb; do dpkg-deb -x "$package" "$apt/files"; done
  cp -a "$apt"/files/usr/lib/x86_64-linux-gnu/*.so* "$libraries"
  rm -rf "$apt"
}

mkdir -p "$cache"
exec {lock}> "$cache/perf_analyzer.lock"
flock "$lock"
if [ ! -e "$home/complete" ]; then
  rm -rf "$home"
  "$pip" install --quiet --disable-pip-version-check --no-deps --only-binary=:all: --platform manylinux_2_38_x86_64 \
    --platform manylinux_2_17_x86_64 --target "$home" "perf-analyzer==$version" "$cuda" >&2
  mkdir "$libraries"
  ln -s "$home"/nvidia/cuda_runtime/lib/libcudart.so.* "$libraries/libcudart.so"
  loader=()
  if ! "$program" --version > /dev/null 2>&1; then
    fetch_debian_13
    loader=("$libraries/ld-linux-x86-64.so.2" --library-path "$libraries")
  fi
  {
    echo '#!/bin/sh'
    echo "export LD_LIBRARY_PATH='$libraries'"
    echo "exec ${loader[*]@Q} '$program' \"\$@\""
  } > "$home/run"
  chmod +x "$home/run"
  "$home/run" --version >&2
  touch "$home/complete"
fi
echo "$home/run"
