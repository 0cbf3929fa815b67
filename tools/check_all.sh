#!/bin/sh
# check_all.sh: every tier; all of them run, whatever fails. The last line sums them.
set -u
cd "$(dirname "$0")/.." || exit 1
sum=$(mktemp)
trap 'rm -f "$sum"' EXIT
status=0

tier() { # NAME COMMAND...
  name=$1
  shift
  echo "== $name"
  "$@" >"$sum.out" 2>&1 || status=1
  cat "$sum.out"
  grep -E '^[0-9]+ passed, [0-9]+ failed' "$sum.out" | tail -n 1 >>"$sum"
  rm -f "$sum.out"
}

tier "check" make check
for name in races interop asan clang valgrind install faults memory; do tier "$name" tools/tiers.sh $name; done
awk '{p += $1; f += $3} END {printf "%d passed, %d failed in all tiers\n", p, f}' "$sum"
exit $status
