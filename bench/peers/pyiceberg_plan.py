"""PyIceberg plans a full scan of a table: cold, then again with its manifest cache warm.

usage: pyiceberg_plan.py --warehouse DIR [--table bench/many_files] [--runs 2]
"""
import time

from pyiceberg.table import StaticTable

import common

parser = common.arguments(__doc__, "bench/many_files")
parser.add_argument("--runs", type=int, default=2)
args = parser.parse_args()

metadata = common.metadata_file(args)
for run in range(args.runs):
    started = time.perf_counter()
    tasks = list(StaticTable.from_metadata(metadata).scan().plan_files())
    common.report("pyiceberg", "plan_warm" if run else "plan", time.perf_counter() - started, len(tasks), tasks_with_deletes=sum(1 for t in tasks if t.delete_files))
