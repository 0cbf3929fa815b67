"""PyIceberg writes to a v2 table of a catalog in SQLite.

usage: pyiceberg_write.py --warehouse DIR --input FILE.arrow --case append|commits [--commits 200] [--rows 10]

append   all rows of the file in one commit
commits  its first rows again and again: a line for each tenth of the commits
"""
import os
import shutil
import time

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

import common

parser = common.arguments(__doc__, "")
parser.add_argument("--input", required=True)
parser.add_argument("--case", choices=("append", "commits"), required=True)
parser.add_argument("--commits", type=int, default=200)
parser.add_argument("--rows", type=int, default=10)
args = parser.parse_args()

folder = os.path.join(os.path.abspath(args.warehouse), "pyiceberg")
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
catalog = SqlCatalog("bench", uri="sqlite:///%s/catalog.db" % folder, warehouse="file://" + folder)
catalog.create_namespace("bench")
with pa.memory_map(args.input) as source:
    reader = pa.ipc.open_stream(source)
    table = catalog.create_table("bench.orders", reader.schema, properties={"format-version": "2", "write.parquet.compression-codec": "zstd"})
    started, before = time.perf_counter(), common.cpu_seconds()
    if args.case == "append":
        table.append(reader.read_all())
        common.report("pyiceberg", "append", time.perf_counter() - started, 0, cpu=round(common.cpu_seconds() - before, 2))
    else:
        rows = pa.Table.from_batches([reader.read_next_batch().slice(0, args.rows)])
        lot = max(args.commits // 10, 1)
        for k in range(0, args.commits, lot):
            started, before = time.perf_counter(), common.cpu_seconds()
            for _ in range(lot):
                table.append(rows)
            common.report("pyiceberg", "commits", time.perf_counter() - started, 0, commits=k + lot, lot=lot, cpu=round(common.cpu_seconds() - before, 2),
                          metadata_kb=os.path.getsize(table.metadata_location.replace("file://", "")) // 1024)
shutil.rmtree(folder, ignore_errors=True)
