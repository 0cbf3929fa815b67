"""The changelog by the usual SQL recipe in DuckDB: two snapshots joined by _row_id, written as an Arrow IPC stream.

usage: duckdb_recipe.py --warehouse DIR [--table bench/orders_mor] [--snapshots ID,ID,...] [--mode net|pairs] [-o changes.arrows]

net    the first snapshot against the last
pairs  every neighbouring pair of snapshots, one after another into one stream: the log
"""
import time

import common
import duck

RECIPE = """
with old as ({old}),
     new as ({new}),
     diff as materialized (
       select old, new
       from old full outer join new on old._row_id = new._row_id
       where old._last_updated_sequence_number is distinct from new._last_updated_sequence_number)
select {old_columns}, case when new._row_id is null then 'DELETE' else 'UPDATE_BEFORE' end _change_type,
       {ordinal}::int _change_ordinal, {to}::bigint _commit_snapshot_id
from diff where old._row_id is not null
union all
select {new_columns}, case when old._row_id is null then 'INSERT' else 'UPDATE_AFTER' end,
       {ordinal}, {to}
from diff where new._row_id is not null
"""


def recipe(metadata, columns, ordinal, snapshots):
    return RECIPE.format(
        old=duck.scan_sql(metadata, columns, snapshots[0]), new=duck.scan_sql(metadata, columns, snapshots[1]),
        old_columns=", ".join('old."%s"' % c for c in columns), new_columns=", ".join('new."%s"' % c for c in columns),
        ordinal=ordinal, to=snapshots[1])


parser = common.arguments(__doc__, "bench/orders_mor")
common.add_snapshots(parser)
parser.add_argument("--mode", choices=("net", "pairs"), default="net")
duck.add_options(parser)
args = parser.parse_args()

started = time.perf_counter()
con = duck.connect(args)
metadata = common.metadata_file(args)
columns = duck.table_columns(con, metadata) + list(duck.LINEAGE)
chain = common.snapshots(args)
pairs = list(zip(chain, chain[1:])) if args.mode == "pairs" else [(chain[0], chain[-1])]
with duck.Stream(args.output) as stream:
    by_pair = [stream.write(con.execute(recipe(metadata, columns, i, pair))) for i, pair in enumerate(pairs)]
common.report("duckdb", "changes_" + args.mode, time.perf_counter() - started, stream.rows, rows_by_pair=by_pair)
