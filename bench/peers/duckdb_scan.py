"""DuckDB reads one snapshot with both lineage columns into an Arrow IPC stream.

usage: duckdb_scan.py --warehouse DIR [--table bench/orders_mor] [--snapshots ID] [-o scan.arrows]
"""
import time

import common
import duck

parser = common.arguments(__doc__, "bench/orders_mor")
common.add_snapshots(parser)
duck.add_options(parser)
args = parser.parse_args()

started = time.perf_counter()
con = duck.connect(args)
metadata = common.metadata_file(args)
columns = duck.table_columns(con, metadata) + list(duck.LINEAGE)
with duck.Stream(args.output) as stream:
    stream.write(con.execute(duck.scan_sql(metadata, columns, common.snapshots(args)[-1])))
common.report("duckdb", "scan", time.perf_counter() - started, stream.rows)
