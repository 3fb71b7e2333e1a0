# shellcheck shell=bash disable=SC2034  # `venv` is for those who source this
# Sourced by tests that need packages from PyPI.
#
#   python_venv REQUIREMENTS CACHE_DIR    sets venv: a virtual environment in CACHE_DIR that holds REQUIREMENTS,
#                                         made once for each content of that file
#   cannot_be_had WHAT                    ends the test as skipped (exit status 77), but as failed when CI=true

cannot_be_had() {
  echo "$1 cannot be had: out of reach, or changed."
  [ "${CI:-}" = true ] && exit 1
  echo "SKIPPED: $(basename "$0") ${test:-} was not run"
  exit 77
}

python_venv() {
  local requirements=$1 cache=$2 lock
  venv=$cache/$(sha256sum "$requirements" | cut -c1-16)
  mkdir -p "$cache"
  exec {lock}> "$cache/lock"
  flock "$lock"  # tests run side by side
  if [ ! -e "$venv/complete" ]; then
    rm -rf "$venv"
    { python3 -m venv "$venv" &&
      "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"; } ||
      cannot_be_had "Python with the packages of $requirements"
    touch "$venv/complete"
  fi
  exec {lock}>&-
}
