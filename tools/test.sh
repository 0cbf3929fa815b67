#!/bin/sh
# test.sh FOLDER [MESON TEST OPTION...]: runs the tests of a build folder; prints the failing ones with their output, and
# a last line "N passed, N failed". The folder is built already.
set -u
cd "$(dirname "$0")/.." || exit 1
folder=$1
shift
meson test -C "$folder" --no-rebuild --print-errorlogs "$@" >"$folder/test-output.txt" 2>&1 </dev/null
status=$?
python3 tools/count_tests.py "$folder" || {
  tail -n 30 "$folder/test-output.txt"
  exit 1
}
exit $status
