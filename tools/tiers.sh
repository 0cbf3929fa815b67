#!/bin/sh
# tiers.sh TIER: one of the slower checks; each ends with a line "N passed, N failed". The base tier is `make check`.
#   asan      the address and undefined behaviour sanitizers, all tests but those over whole tables
#   valgrind  all unit tests under valgrind
#   clang     a clang build, all tests
#   interop   tables shared with Spark, DuckDB and PyIceberg (deps/interop, or BERGLINE_INTEROP_PYTHON and BERGLINE_INTEROP_JAR)
#   races     8 processes with 50 changes each in one table, in both catalogs, also while they are killed
#   faults    every verb with every call failing, killed and cut off at every step; much damage; long sequences
#   memory    every verb with every allocation failing; this takes long
#   install   an installed tree that stands alone: the program, and each program in examples/
set -u
cd "$(dirname "$0")/.." || exit 1

# Arrow's own allocator hides errors from the tools.
export ARROW_DEFAULT_MEMORY_POOL=system

case ${1:-} in
  asan)
    tools/build.sh build-asan -Db_sanitize=address,undefined -Db_lundef=false || exit 1
    ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
      LSAN_OPTIONS=suppressions=$PWD/tools/lsan.supp:print_suppressions=0 tools/test.sh build-asan -t 5 --no-suite law --no-suite accept --no-suite model ;;
  valgrind)
    command -v valgrind >/dev/null || tools/setup.sh all || exit 1
    tools/build.sh build || exit 1
    tools/test.sh build -t 20 --suite unit --wrap "valgrind -q --error-exitcode=99 --leak-check=full \
--show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect --suppressions=$PWD/tools/valgrind.supp" ;;
  clang)
    command -v clang >/dev/null || tools/setup.sh all || exit 1
    CC=clang CXX=clang++ tools/build.sh build-clang || exit 1
    tools/test.sh build-clang --no-suite law ;;
  interop)
    tools/setup.sh interop || exit 1
    tools/build.sh build || exit 1
    python=${BERGLINE_INTEROP_PYTHON:-deps/interop/python/bin/python}
    [ -x "$python" ] || python=python3
    jars=${BERGLINE_INTEROP_JAR:-$(ls deps/interop/jars/*.jar 2>/dev/null | paste -s -d ,)}
    BERGLINE_INTEROP_JAR=$jars exec timeout --kill-after=20 900 "$python" tests/interop/run.py build/bergline . ;;
  races)
    tools/build.sh build || exit 1
    BL_RACES=all tools/test.sh build fault/races ;;
  faults)
    tools/build.sh build || exit 1
    BL_FAULTS=all BL_DAMAGE=10 BL_MODEL=40 tools/test.sh build -t 8 fault/killed fault/errors fault/power fault/damaged \
      model/histories ;;
  memory)
    tools/build.sh build || exit 1
    BL_FAULTS=all tools/test.sh build -t 60 fault/memory ;;
  install) exec tools/check_install.sh ;;
  *)
    sed -n '2,10s/^# //p' "$0"
    exit 2 ;;
esac
