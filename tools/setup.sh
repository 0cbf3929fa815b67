#!/bin/sh
# setup.sh [all|interop]: brings what a build needs (tools/packages.txt) and Arrow C++ 25. "all" adds what `make check-all` needs,
# "interop" the engines of tests/interop, into deps/interop: Spark with a Java runtime and Iceberg's jar, DuckDB, PyIceberg; those
# that cannot be had are left out. BERGLINE_INTEROP_PYTHON (a python that has them) and BERGLINE_INTEROP_JAR take their place.
# Installs only what is missing: where all is there it is silent and uses no network.
set -u
cd "$(dirname "$0")/.." || exit 1
tiers=base
[ "${1:-}" = all ] && tiers='base all'
log=build/setup.log

say() { echo "setup: $*" >&2; }

die() {
  say "$*"
  exit 1
}

# run TEXT COMMAND...: quiet; the end of the log when it fails
run() {
  say "$1"
  shift
  mkdir -p build
  "$@" >"$log" 2>&1 </dev/null && return
  tail -n 15 "$log" >&2
  die "failed: $* (all of it in $log)"
}

at_least() { # VERSION MINIMUM
  [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]
}

have() { # PROBE
  what=${1#*:}
  case $1 in
    tool:*'>='*)
      tool=${what%%>=*}
      command -v "$tool" >/dev/null 2>&1 && at_least "$("$tool" --version 2>/dev/null | head -n 1)" "${what#*>=}" ;;
    tool:*) command -v "$what" >/dev/null 2>&1 ;;
    pkg:*) pkg-config --exists "$what" 2>/dev/null ;;
    header:*) echo "#include <$what>" | ${CC:-gcc} -E -x c - >/dev/null 2>&1 ;;
    module:*) python3 -c "import $what" >/dev/null 2>&1 ;;
  esac
}

missing_packages() {
  while read -r tier probe package; do
    case " $tiers " in *" $tier "*) have "$probe" || echo "$package" ;; esac
  done <<LIST
$(grep -v "^#" tools/packages.txt)
LIST
}

install_packages() { # PACKAGE...
  if ! command -v apt-get >/dev/null 2>&1; then
    die "missing: $* (these are Debian's names; install them with this system's package manager)"
  fi
  if [ "$(id -u)" = 0 ]; then
    as_root=
  elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=sudo
    sudo true || die "run as root: apt-get update && apt-get install -y $*"
  else
    die "run as root: apt-get update && apt-get install -y $*"
  fi
  run "apt-get update" $as_root apt-get update
  run "apt-get install $*" $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# A python with pip, for the Arrow wheel only: the libraries in it do not depend on the python's version.
python_with_pip() {
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      echo "$python"
      return
    fi
  done
}

have_arrow() {
  pkg-config --exists 'parquet >= 25' 'arrow-compute >= 25' 2>/dev/null ||
    [ -e deps/pyarrow/include/parquet/api/reader.h ]
}

install_arrow() {
  python=$(python_with_pip)
  [ -n "$python" ] || die "python3 has no pip: install it, then run make again"
  # A python that a distribution manages takes --target only with this word; older pips do not know it.
  managed=
  "$python" -m pip install --help 2>/dev/null | grep -q -- --break-system-packages && managed=--break-system-packages
  mkdir -p deps
  rm -rf deps/.new
  run "pip install --target deps 'pyarrow==25.*' (Arrow C++, once)" \
    env PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
    "$python" -m pip install --quiet $managed --only-binary :all: --target deps/.new 'pyarrow==25.*'
  rm -rf deps/pyarrow deps/pyarrow-*.dist-info
  mv deps/.new/* deps/ && rm -rf deps/.new
}

# ---- the engines of tests/interop; each of these in a subshell, as it ends it when it fails

interop_packages() { # TIER
  tiers=$1
  packages=$(missing_packages)
  # shellcheck disable=SC2086
  [ -z "$packages" ] || install_packages $packages
}

interop_python() {
  venv=$PWD/deps/interop/python
  cmp -s tests/interop/requirements.txt "$venv/requirements.txt" && return
  interop_packages interop-python
  rm -rf "$venv"
  run "python3 -m venv deps/interop/python" python3 -m venv "$venv"
  run "pip install -r tests/interop/requirements.txt (once)" \
    env PIP_DISABLE_PIP_VERSION_CHECK=1 "$venv/bin/python" -m pip install --quiet -r tests/interop/requirements.txt
  cp tests/interop/requirements.txt "$venv/"
}

interop_jars() {
  while IFS=: read -r group name version; do
    [ -e "deps/interop/jars/$name-$version.jar" ] && continue
    interop_packages interop-jars
    run "mvn dependency:copy $name (once)" \
      mvn -B -q dependency:copy "-Dartifact=$group:$name:$version" "-DoutputDirectory=$PWD/deps/interop/jars"
  done <tests/interop/jars.txt
}

interop() {
  (interop_packages interop) || say "left out: a Java runtime, and with it Spark"
  [ -n "${BERGLINE_INTEROP_PYTHON:-}" ] || (interop_python) || say "left out: the Python packages of the engines"
  [ -n "${BERGLINE_INTEROP_JAR:-}" ] || (interop_jars) || say "left out: jars for Spark"
}

packages=$(missing_packages)
# pip is needed only to bring Arrow.
if ! have_arrow && [ -z "$(python_with_pip)" ]; then packages="$packages python3-pip"; fi
# Where a tool is missing, what is asked through it counts as missing too: no harm, apt-get leaves alone what is there.
# shellcheck disable=SC2086
if [ -n "$packages" ]; then install_packages $packages; fi
packages=$(missing_packages)
[ -z "$packages" ] || die "still missing after the installation:" $packages
have_arrow || install_arrow
have_arrow || die "Arrow C++ >= 25 is still missing: see $log"
if [ "${1:-}" = interop ]; then interop; fi
