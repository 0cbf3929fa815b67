#!/bin/sh
# demo.sh: the tour in brief: build/bergline on the sample table, then on one that it makes; each command with its output.
set -u
cd "$(dirname "$0")/.." || exit 1
table=examples/sample/orders
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
stock=$folder/stock

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

say 'A table of its own, made by bergline: two columns of words, one of numbers, and the rows of a file.'
show create "$stock" --schema 'sku string not null, place string, pieces int'
show append "$stock" examples/sample/monday.csv
say 'The whole truth of the next day: only what differs is written. Then an update.'
show sync "$stock" examples/sample/tuesday.csv --key sku --yes
show update "$stock" --set 'pieces = pieces - 1' --where "place = 'B2'"
say 'Rows that were changed kept their ids.'
show scan "$stock" --lineage
say 'What happened to it, and the life of one of its rows.'
show changes "$stock"
show history "$stock" --row-id 1
say 'README.md goes on from here: branches, new columns, the C library.'
