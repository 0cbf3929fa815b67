#!/bin/sh
# demo.sh: the tour in brief: build/bergline on the sample table, each command with its output.
set -u
cd "$(dirname "$0")/.." || exit 1
table=examples/sample/orders

# Off a terminal rows would come as NDJSON.
if [ -t 1 ]; then format=; else format='--format text'; fi
if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold= plain=; fi

say() { printf '\n%s\n' "$1"; }

show() { # ARGUMENT...: shown as it would be typed
  line='build/bergline'
  for word in "$@"; do
    case $word in *[!A-Za-z0-9_./,:=-]*) word="\"$word\"" ;; esac
    line="$line $word"
  done
  printf '%s$ %s%s%s\n' "$bold" "$line" "${format:+ $format}" "$plain"
  # shellcheck disable=SC2086
  build/bergline "$@" $format || exit 1
}

printf 'A table of orders, written by Spark: inserts, updates, a compaction, a branch, deletes (examples/sample/README.md).\n\n'
show inspect $table info
say 'Its rows now. _row_id stays with a row for life; the sequence number tells when it was last changed.'
show scan $table --lineage
say 'What happened since the tag before_compaction. The compaction rewrote every file and changed no row: it gives nothing.'
show changes $table --from before_compaction
say 'The same as one step: only where the two ends differ.'
show changes $table --from before_compaction --net
say 'The life of row 1, over the compaction and the branch on which it was changed.'
show history $table --row-id 1
say 'All rows that ever had this number: a key that came back is another row.'
show history $table --where 'id = 2' --columns status,amount
say 'README.md goes on from here.'
