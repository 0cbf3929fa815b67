#!/usr/bin/env python3
"""Times writing: bergline and its peers on copies of the same tables, in turn, and prints the ratios.

usage: write.py --program build/bergline --programs build/bench --python VENV/bin/python --warehouse DIR --scratch DIR [--jar JAR] [--spark]
                [--runs 3] [--only CASE] [--commits 200] [--markdown FILE]

Each side of a case runs --runs times, the two in turn, Spark's once with a run before to warm it; medians are compared. The last column says whether
the case reached what it is to reach. Seconds of bergline are those of the whole process, with all files synced to the disk; no peer but SQLite syncs.
Processor seconds stand beside, for machines that others use too."""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import common

ap = common.arguments(__doc__, ("program", "programs", "python", "warehouse", "scratch"), "with Spark's statements (minutes)")
ap.add_argument("--commits", type=int, default=200)
args = ap.parse_args()
here = os.path.dirname(os.path.abspath(__file__))
scratch = os.path.abspath(os.path.join(args.scratch, "write"))
wh, base = os.path.join(scratch, "wh"), os.path.join(scratch, "base")
orders = os.path.join(wh, "bench", "orders")
threads = str(os.cpu_count())
SCHEMA = "id long, customer string, amount double, tax decimal(12,2), ts timestamptz, status string, quantity int, note string"


def file(name):
    return os.path.join(scratch, name)


def bergline(*words):
    subprocess.run([args.program, *words], check=True, stdout=subprocess.DEVNULL)


# ---- what all cases begin with ----

SOURCES = """
import pyarrow as pa, pyarrow.compute as pc, pyarrow.ipc as ipc, pyarrow.parquet as pq, sys
rows = ipc.open_stream(pa.memory_map(sys.argv[1])).read_all()
rows = pa.table({f.name: rows[f.name] for f in rows.schema})
def changed(t):
    i = t.schema.get_field_index('amount')
    return t.set_column(i, 'amount', pc.add(t['amount'], 5.0))
n = rows.num_rows
spread = changed(rows.take(pa.array(range(0, n - n // 1000, 111))))
new = rows.slice(0, n // 1000).set_column(0, 'id', pa.array(range(2 * n, 2 * n + n // 1000)))
for name, t in (('spread', pa.concat_tables([spread, new])), ('near', changed(rows.slice(3 * n // 10, n // 100)))):
    with ipc.new_stream(sys.argv[2] + '/' + name + '.arrows', t.schema) as w: w.write_table(t.combine_chunks(), max_chunksize=65536)
    pq.write_table(t, sys.argv[2] + '/' + name + '.parquet')
"""


def prepare():
    """The orders table as it was after its first insert, its rows as an Arrow stream, and rows to upsert: 1 % of its keys and some new ones, spread and near."""
    if os.path.exists(file("near.parquet")):
        return
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(os.path.dirname(orders))
    source = os.path.join(args.warehouse, "bench", "orders_mor")
    first = common.report_of(args.program, "inspect", source, "snapshots")[0]["snapshot_id"]
    bergline("scan", source, "--at", "id:%d" % first, "-o", file("orders.arrows"))
    shutil.copytree(source, orders)
    bergline("relocate", orders, "--to", orders)
    bergline("rollback", orders, str(first), "--yes")
    shutil.move(orders, base)
    subprocess.run([args.python, "-c", SOURCES, file("orders.arrows"), scratch], check=True)


def fresh():
    shutil.rmtree(orders, ignore_errors=True)
    shutil.copytree(os.path.join(base, "metadata"), os.path.join(orders, "metadata"))
    shutil.copytree(os.path.join(base, "data"), os.path.join(orders, "data"), copy_function=os.link)


# ---- both sides of a case: seconds, peak MB, processor seconds ----

def measured(command):
    seconds, mb, _, cpu = common.timed(command)
    return seconds, mb, cpu


def verb(*words):
    def run():
        fresh()
        return measured([args.program, words[0], orders, *words[1:]])
    return run


def append():
    target = os.path.join(wh, "bench", "appended")
    shutil.rmtree(target, ignore_errors=True)
    bergline("create", target, "--schema", SCHEMA)
    result = measured([args.program, "append", target, file("orders.arrows")])
    shutil.rmtree(target)
    return result


def encode():
    result = measured([os.path.join(args.programs, "encode"), "-t", threads, "-o", file("out.parquet"), file("orders.arrows")])
    os.remove(file("out.parquet"))
    return result


def copy():
    fresh()
    paths = [r["file_path"] for r in common.report_of(args.program, "inspect", orders, "data_files")]
    out = file("copies")
    os.makedirs(out)
    result = measured([os.path.join(args.programs, "encode"), "-t", threads, "-o", out, *paths])
    shutil.rmtree(out)
    return result


def peer(script, *words):
    def run():
        lines = common.timed([args.python, os.path.join(here, "peers", script), "--warehouse", wh, *words])[2].decode().strip().split("\n")
        doc = json.loads(lines[-1])  # the last line is the warm run
        return doc["seconds"], doc["peak_mb"], doc["cpu"]
    return run


def spark(case, *words):
    return peer("spark_write.py", "--jar", args.jar, "--base", base, "--case", case, *words)


def cases():
    update = ("update", "--set", "amount = amount + 1", "--where", "quantity < 10")
    delete = verb("delete", "--where", "quantity < 5", "--mode", "merge-on-read", "--yes")
    upsert = {name: verb("upsert", file(name + ".arrows"), "--key", "id", "--mode", "merge-on-read") for name in ("spread", "near")}
    mor, cow = verb(*update, "--mode", "merge-on-read"), verb(*update, "--mode", "copy-on-write")
    yield "append 10M rows", append, "plain Parquet file of them", encode, 1 / 1.25
    yield "append 10M rows", append, "PyIceberg append, v2", peer("pyiceberg_write.py", "--input", file("orders.arrows"), "--case", "append"), 1
    yield "update 1 %, copy-on-write", cow, "plain copy of the files", copy, 1 / 1.2
    if not args.spark:
        return
    yield "append 10M rows", append, "Spark insert, warm", spark("append"), 2
    yield "update 1 %, merge-on-read", mor, "Spark, warm", spark("update"), 1.5
    yield "delete 0.5 %, merge-on-read", delete, "Spark, warm", spark("delete"), 4
    yield "update 1 %, copy-on-write", cow, "Spark, warm", spark("update", "--mode", "copy-on-write"), 4
    yield "upsert 100,000 keys, spread", upsert["spread"], "Spark merge, warm", spark("merge", "--source", file("spread.parquet")), 5
    yield "upsert 100,000 keys, near each other", upsert["near"], "Spark merge, warm", spark("merge", "--source", file("near.parquet")), 5


# ---- small commits ----

def new_catalog():
    """Each in a folder of its own. None is removed before the end: a new file is looked for past all those that ext4 gave up in the last minutes."""
    os.makedirs(file("catalogs"), exist_ok=True)
    folder = tempfile.mkdtemp(dir=file("catalogs"))
    where = ("--uri", "sqlite:///%s/c.db" % folder, "--warehouse", folder + "/wh")
    bergline("catalog", "create-namespace", "bench", *where)
    bergline("create", "bench.orders", *where, "--schema", SCHEMA)
    return folder, where


def in_one_process(n, *words, folder=None):
    folder = folder or new_catalog()[0]
    text = common.timed([os.path.join(args.programs, "commits"), "-n", str(n), *words, folder + "/c.db", folder + "/wh", "bench.orders", file("near.arrows")])[2]
    return [json.loads(line) for line in text.decode().strip().split("\n")]


def by_process(command, n, lot):
    """A process for each commit."""
    lots = []
    for k in range(0, n, lot):
        runs = [measured(command) for _ in range(lot)]
        lots.append({"commits": k + lot, "lot": lot, "seconds": sum(r[0] for r in runs), "cpu": sum(r[2] for r in runs)})
    return lots


def by_command(n):
    _, where = new_catalog()
    ten = file("ten.ndjson")
    bergline("scan", base, "--limit", "10", "-o", ten)
    return by_process([args.program, "append", "bench.orders", ten, *where], n, n // 10)


def pyiceberg(case, *words):
    return [args.python, os.path.join(here, "peers", "pyiceberg_write.py"), "--warehouse", wh, "--input", file("near.arrows"), "--case", case, *words]


def pyiceberg_in_one_process(n):
    text = common.timed(pyiceberg("commits", "--commits", str(n)))[2]  # it removes what it wrote
    return [json.loads(line) for line in text.decode().strip().split("\n")]


def pyiceberg_by_process():
    common.timed(pyiceberg("create"))
    return by_process(pyiceberg("commit"), 5, 5)


def figure(runs, k, of):
    """Of the first or last tenth, the median of the runs."""
    return statistics.median(of(lots[k]) for lots in runs)


def rate(lot):
    return lot["lot"] / lot["seconds"]


def commits():
    """Commits a second at first and at last, of each way to make them, and how often that is of what PyIceberg makes: in one process, or by one for each commit. Where the disk
    is waited for as by PyIceberg, or for all files besides, it is to be ten times as many at first."""
    n, goal = args.commits, 10
    ways = [("PyIceberg, v2, one process; SQLite syncs", lambda: pyiceberg_in_one_process(n), None, 0),
            ("library, one process; SQLite syncs", lambda: in_one_process(n, "-p"), 0, goal),
            ("as it is: all files and folders synced, too", lambda: in_one_process(n), 0, goal),
            ("nothing synced", lambda: in_one_process(n, "-u"), 0, 0),
            ("PyIceberg, v2, a process each; SQLite syncs", pyiceberg_by_process, None, 0),
            ("bergline, a command each; all synced", lambda: by_command(n), 4, goal)]
    runs = [[] for _ in ways]
    for _ in range(args.runs):
        for mine, way in zip(runs, ways):
            mine.append(way[1]())
    lines = ["| commits of 10 rows, SQLite catalog | a second, first %d | last %d of %d | CPU ms each, first | last | syncs each | × PyIceberg first | last | to reach |" % (n // 10, n // 10, n), "|---" * 9 + "|"]
    missed = 0
    for mine, (name, _, peer, least) in zip(runs, ways):
        both = (0, -1) if len(mine[0]) > 1 else (0,)
        cells = [["%.1f" % figure(mine, k, rate) for k in both], ["%.1f" % figure(mine, k, lambda x: 1e3 * x["cpu"] / x["lot"]) for k in both]]
        times = [] if peer is None else [figure(mine, k, rate) / figure(runs[peer], k, rate) for k in both if k == 0 or len(runs[peer][0]) > 1]
        cells.append(["%.1f" % x for x in times])
        syncs = "%.0f" % mine[0][-1]["syncs"] if "syncs" in mine[0][-1] else ""
        reached = not least or times[0] >= least
        missed += not reached
        row = [name] + [c for cell in cells[:2] for c in (cell + [""])[:2]] + [syncs] + (cells[2] + ["", ""])[:2] + [("" if reached else "MISSED ") + (str(least) if least else "")]
        lines.append("| " + " | ".join(row) + " |")
    folder, where = new_catalog()
    many = in_one_process(1000, "-u", folder=folder)
    scan = measured([args.program, "scan", "bench.orders", *where, "--format", "arrow", "-o", os.devnull])
    plan = measured([args.program, "scan", "bench.orders", *where, "--plan", "--format", "json", "-o", os.devnull])
    lines += ["", "1,000 commits without syncing, ms of processor each by hundreds (metadata file KB): " + ", ".join("%.1f (%d)" % (1e3 * x["cpu"] / x["lot"], x["metadata_kb"]) for x in many) +
              ". Then a scan of the 1,000 files: %.2f s, its plan: %.2f s." % (scan[0], plan[0])]
    shutil.rmtree(file("catalogs"))
    print("\n".join(lines), flush=True)
    return lines, missed


def main():
    if args.spark and not args.jar:
        sys.exit("write.py: --spark needs --jar")
    prepare()
    results = common.Table(args.runs, 500, cpu=True)
    for case in cases():
        if args.only in case[0]:
            results.case(*case)
    if args.only in "small commits":
        lines, missed = commits()
        results.lines += ["", *lines]
        results.missed += missed
    results.end(args.markdown)


main()
