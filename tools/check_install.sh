#!/bin/sh
# check_install.sh: installs into a scratch folder and proves that the tree stands alone: nothing in it names the source or
# the build folder, the program runs, pkg-config finds the library, and each program in examples/ compiles and runs.
set -u
cd "$(dirname "$0")/.." || exit 1
tools/build.sh build || exit 1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
sample=$PWD/examples/sample/orders
passed=0 failed=0

check() { # NAME COMMAND...
  name=$1
  shift
  if out=$("$@" 2>&1); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "--- $name"
    echo "$out" | tail -n 20
  fi
}

no_source_path() { # FILE
  ! readelf -d "$1" | grep -E 'RPATH|RUNPATH' | grep -F "$PWD"
}

needs_are_met() { # FILE
  ldd "$1" >"$root/needs" && ! grep -E "not found|$PWD" "$root/needs"
}

example() { # SOURCE
  # shellcheck disable=SC2046
  ${CC:-cc} -std=c11 -Wall -Wextra -Werror "$1" -o "$root/example" $(pkg-config --cflags --libs bergline) &&
    (cd "$root" && LD_LIBRARY_PATH=$lib ./example "$sample" </dev/null)
}

# The prefix is whatever the build folder has; everything inside is found relative to itself.
check "meson install" env DESTDIR="$root/tree" meson install -C build --no-rebuild --quiet
pc=$(find "$root/tree" -name bergline.pc)
[ -n "$pc" ] || { echo "0 passed, 1 failed"; exit 1; }
lib=$(dirname "$(dirname "$pc")")
prefix=$(dirname "$lib")
export PKG_CONFIG_PATH="$lib/pkgconfig"

for file in "$lib"/libbergline.so "$prefix"/bin/*; do
  [ -e "$file" ] || continue
  check "$(basename "$file"): no path of the source tree" no_source_path "$file"
  check "$(basename "$file"): all libraries are found" needs_are_met "$file"
done
if [ -x "$prefix/bin/bergline" ]; then check "bergline --version" "$prefix/bin/bergline" --version; fi
for source in examples/*.c; do
  [ -e "$source" ] && check "$source" example "$source"
done
check "man pages" test -s "$prefix/share/man/man1/bergline-scan.1" -a -s "$prefix/share/man/man3/bergline.3"
check "static library" test -s "$lib/libbergline.a"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
