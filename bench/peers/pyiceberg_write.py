"""PyIceberg writes to a v2 table of a catalog in SQLite.

usage: pyiceberg_write.py --warehouse DIR --input FILE.arrow --case append|commits|create|commit [--commits 200] [--rows 10]

append   all rows of the file in one commit
commits  its first rows again and again: a line for each tenth of the commits
create   a table, which is left for
commit   its first rows once, to that table: a process for each commit
"""
import os
import shutil
import time

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

import common

parser = common.arguments(__doc__, "")
parser.add_argument("--input", required=True)
parser.add_argument("--case", choices=("append", "commits", "create", "commit"), required=True)
parser.add_argument("--commits", type=int, default=200)
parser.add_argument("--rows", type=int, default=10)
args = parser.parse_args()

folder = os.path.join(os.path.abspath(args.warehouse), "pyiceberg")
if args.case != "commit":
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
catalog = SqlCatalog("bench", uri="sqlite:///%s/catalog.db" % folder, warehouse="file://" + folder)
with pa.memory_map(args.input) as source:
    reader = pa.ipc.open_stream(source)
    if args.case == "commit":
        table = catalog.load_table("bench.orders")
    else:
        catalog.create_namespace("bench")
        table = catalog.create_table("bench.orders", reader.schema, properties={"format-version": "2", "write.parquet.compression-codec": "zstd"})
    started, before = time.perf_counter(), common.cpu_seconds()
    if args.case == "append":
        table.append(reader.read_all())
        common.report("pyiceberg", "append", time.perf_counter() - started, 0, cpu=round(common.cpu_seconds() - before, 2))
    elif args.case != "create":
        rows = pa.Table.from_batches([reader.read_next_batch().slice(0, args.rows)])
        commits = 1 if args.case == "commit" else args.commits
        lot = max(commits // 10, 1)
        for k in range(0, commits, lot):
            started, before = time.perf_counter(), common.cpu_seconds()
            for _ in range(lot):
                table.append(rows)
            common.report("pyiceberg", "commits", time.perf_counter() - started, 0, commits=k + lot, lot=lot, cpu=round(common.cpu_seconds() - before, 2),
                          metadata_kb=os.path.getsize(table.metadata_location.replace("file://", "")) // 1024)
if args.case in ("append", "commits"):
    shutil.rmtree(folder, ignore_errors=True)
