"""Spark: the changelog procedure over a range of snapshots, and a scan with both lineage columns, each into the noop sink; one line a run, the last counts (warm).

usage: spark_changelog.py --jar iceberg-spark-runtime.jar --warehouse DIR [--table bench/orders_cow] [--snapshots ID,ID,...] [--case changelog|net|scan] [--runs 2]

changelog  create_changelog_view from the first snapshot (exclusive) to the last, updates found by --key
net        the same with net_changes, which knows no updates
scan       the last snapshot
"""
import time

from pyspark.sql import Observation
from pyspark.sql.functions import count, lit

import common
from spark import session

parser = common.arguments(__doc__, "bench/orders_cow")
common.add_snapshots(parser)
parser.add_argument("--jar", required=True)
parser.add_argument("--case", choices=("changelog", "net", "scan"), default="changelog")
parser.add_argument("--key", default="id")
parser.add_argument("--runs", type=int, default=2)
parser.add_argument("--memory", default="8g")
args = parser.parse_args()

spark, jvm = session(args, 16)
name = args.table.replace("/", ".")
chain = common.snapshots(args)


def changelog(how):
    view = spark.sql(f"""call w.system.create_changelog_view(table => '{name}', changelog_view => 'changes', {how},
        options => map('start-snapshot-id', '{chain[0]}', 'end-snapshot-id', '{chain[-1]}'))""").first()[0]
    return spark.table(view)


def frame():
    if args.case == "scan":
        return spark.sql(f"select *, _row_id, _last_updated_sequence_number from w.{name} version as of {chain[-1]}")
    return changelog(f"identifier_columns => array('{args.key}')" if args.case == "changelog" else "net_changes => true")


for run in range(args.runs):
    started, counted = time.perf_counter(), Observation()
    frame().observe(counted, count(lit(1)).alias("rows")).write.format("noop").mode("overwrite").save()
    seconds = time.perf_counter() - started
    common.report("spark", args.case, seconds, counted.get["rows"], pid=jvm, run=run + 1)
spark.stop()
