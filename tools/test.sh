#!/bin/sh
# test.sh FOLDER [MESON TEST OPTION...]: runs the tests of a build folder; prints the failing ones with their output, and
# a last line "N passed, N failed". The folder is built already.
set -u
cd "$(dirname "$0")/.." || exit 1
folder=$1
shift
output=$folder/meson-logs/test-output.txt
rm -f "$folder"/meson-logs/*.json
meson test -C "$folder" --no-rebuild "$@" >"$output" 2>&1 </dev/null
status=$?
python3 tools/count_tests.py "$folder"
counted=$?
if [ $counted = 2 ]; then tail -n 30 "$output"; fi
[ $status = 0 ] && exit $counted
exit $status
