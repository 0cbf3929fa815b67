#!/bin/sh
# build.sh FOLDER [MESON OPTION...]: configures the folder where that is not done (or options are given), and builds.
# JOBS limits the compilers that run at once. CC and CXX count only when the folder is new.
set -u
cd "$(dirname "$0")/.." || exit 1
folder=$1
shift

quietly() {
  out=$("$@" 2>&1 </dev/null) && return
  echo "$out" | grep -v '^\[[0-9]*/[0-9]*\] \(Comp\|Link\|Gener\)' | tail -n 60 >&2
  echo "failed: $*" >&2
  exit 1
}

if [ ! -e "$folder/build.ninja" ]; then
  quietly meson setup "$folder" "$@"
elif [ $# -gt 0 ]; then
  quietly meson configure "$folder" "$@"
fi
# On a terminal ninja shows where it is; elsewhere only what failed is shown.
if [ -t 1 ]; then exec ninja -C "$folder" ${JOBS:+-j "$JOBS"}; fi
quietly ninja -C "$folder" ${JOBS:+-j "$JOBS"}
