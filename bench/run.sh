#!/usr/bin/env bash
# run: the benchmark: bergline beside its peers in one run, ratios printed. See README.md.
#   WAREHOUSE=DIR    the tables of make_tables.py; made there (Spark, some 8 minutes, 3 GB) where they are missing
#   BENCH=DIR        where peers and outputs go (build/bench-data)
# Arguments go to run.py (reading) and write.py (writing): --only CASE, --runs N, --spark, --markdown FILE. --read or --write first: that one alone.
set -eu
cd "$(dirname "$0")/.."
BENCH=${BENCH:-build/bench-data}
WAREHOUSE=${WAREHOUSE:-$BENCH/wh}
mkdir -p "$BENCH"
if [ ! -x "$BENCH/venv/bin/python" ]; then
  echo "setting up the peers"
  python3 -m venv "$BENCH/venv"
  "$BENCH/venv/bin/pip" install --quiet 'pyspark==4.1.*' 'duckdb==1.5.5' 'duckdb-extension-iceberg==1.5.5' 'duckdb-extension-avro==1.5.5' \
    'duckdb-extension-httpfs==1.5.5' 'pyiceberg[sql-sqlite]' 'pyarrow==25.*'
fi
jar=$(find "$BENCH" "$(dirname "$WAREHOUSE")/jars" -name 'iceberg-spark-runtime-4.1_2.13-*.jar' 2>/dev/null | head -n 1)
if [ -z "$jar" ]; then
  mvn -q dependency:copy -Dartifact=org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0 -DoutputDirectory="$PWD/$BENCH/jars"
  jar=$(find "$BENCH/jars" -name '*.jar' | head -n 1)
fi
if [ ! -d "$WAREHOUSE/bench/many_files" ]; then
  echo "making the tables"
  "$BENCH/venv/bin/python" bench/make_tables.py --jar "$jar" --warehouse "$PWD/$WAREHOUSE"
fi
which=both
case ${1:-} in --read | --write) which=$1; shift ;; esac
common=(--program build/bergline --python "$BENCH/venv/bin/python" --jar "$jar" --warehouse "$WAREHOUSE" --scratch "$BENCH")
[ $which = --write ] || python3 bench/run.py --decode build/bench/decode "${common[@]}" "$@"
[ $which = --read ] || python3 bench/write.py --programs build/bench "${common[@]}" "$@"
