"""Spark writes to a table: one line a run, the last counts (warm). Each run has a copy of the table as it was.

usage: spark_write.py --jar iceberg-spark-runtime.jar --warehouse DIR [--table bench/orders] --base FOLDER --case append|update|delete|merge
                      [--mode merge-on-read|copy-on-write] [--source FILE.parquet] [--runs 2]

append  inserts --rows made rows into a new table
update  1 % of the rows, spread
delete  0.5 % of the rows, spread
merge   the rows of --source by id
"""
import os
import time

import common
import orders
from spark import session

parser = common.arguments(__doc__, "bench/orders")
parser.add_argument("--jar", required=True)
parser.add_argument("--base", required=True, help="the table as each run is to find it")
parser.add_argument("--case", choices=("append", "update", "delete", "merge"), required=True)
parser.add_argument("--mode", default="merge-on-read")
parser.add_argument("--source")
parser.add_argument("--rows", type=int, default=10_000_000)
parser.add_argument("--runs", type=int, default=2)
parser.add_argument("--memory", default="8g")
args = parser.parse_args()

spark, jvm = session(args, 4, cache_enabled="false")
name = "w." + args.table.replace("/", ".")
new = name + "_new"
properties = ", ".join("'write.%s.mode'='%s'" % (v, args.mode) for v in ("update", "delete", "merge"))


def prepare():
    if args.case == "append":
        spark.sql(f"drop table if exists {new} purge")
        spark.sql(f"create table {new} ({orders.COLUMNS}) using iceberg tblproperties ('format-version'='3', 'write.distribution-mode'='none')")
        return
    common.fresh(args.base, os.path.join(args.warehouse, args.table))
    spark.sql(f"alter table {name} set tblproperties ({properties})")
    if args.case == "merge":
        spark.read.parquet(args.source).createOrReplaceTempView("source")


def run():
    if args.case == "append":
        spark.range(0, args.rows, 1, 20).selectExpr(*orders.EXPRESSIONS).writeTo(new).append()
    elif args.case == "update":
        spark.sql(f"update {name} set amount = amount + 1 where quantity < 10")
    elif args.case == "delete":
        spark.sql(f"delete from {name} where quantity < 5")
    else:
        spark.sql(f"merge into {name} t using source s on t.id = s.id when matched then update set * when not matched then insert *")


for k in range(args.runs):
    prepare()
    started, before = time.perf_counter(), common.cpu_seconds(jvm)
    run()
    seconds = time.perf_counter() - started
    common.report("spark", args.case, seconds, 0, pid=jvm, run=k + 1, cpu=round(common.cpu_seconds(jvm) - before, 2))
if args.case == "append":
    spark.sql(f"drop table if exists {new} purge")
spark.stop()
