#!/bin/sh
# demo.sh: a tour of a table that Spark wrote (tests/fixtures/tables/mor_basic): what happened to its rows, told by their ids.
set -u
cd "$(dirname "$0")/.." || exit 1
table=tests/fixtures/tables/mor_basic/table
bergline=${BERGLINE:-build/bergline}

tell() { printf '\n%s\n' "$*"; }

show() { # ARGUMENT...
  # As one would type it: arguments with blanks in quotes.
  printf '$ bergline'
  for word in "$@"; do
    case $word in *' '*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  printf '\n'
  "$bergline" "$@" || exit $?
}

tell "A table of format version 3 with nine commits: rows were inserted, updated, merged and deleted."
show inspect "$table" info --format text
tell "Every row has an id that it keeps through updates, and the number of the commit that last changed it."
show scan "$table" --lineage --columns id,name,v,_row_id,_last_updated_sequence_number --limit 8 --format text
tell "What the third commit did: an update is a pair of images of one id, not a delete and an insert."
show changes "$table" --from seq:2 --to seq:3 --columns id,name,v --format text
tell "The net effect of all commits after the second, each row once."
show changes "$table" --from seq:2 --net --columns id,name,v --format text
tell "The life of one row."
show history "$table" --where 'id = 2' --format text
tell "Only rows that a later commit touched, as JSON lines."
show scan "$table" --where '_last_updated_sequence_number > 4' --lineage --format ndjson
