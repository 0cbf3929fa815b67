#!/usr/bin/env python3
"""Times bergline and its peers on the same tables, in turn, and prints the ratios.

usage: run.py --program build/bergline --decode build/bench/decode --python VENV/bin/python --warehouse DIR --scratch DIR [--jar JAR] [--spark]
              [--runs 3] [--only CASE] [--markdown FILE]

Each side of a case runs --runs times, the two in turn; medians are compared. The last column says whether the case reached what it is to reach.
Everything that gives rows writes an Arrow stream to a file, but for decode and the scan beside it, which write nothing anywhere. Seconds of bergline are those of the whole process."""
import glob
import json
import os

import common

args = common.arguments(__doc__, ("program", "decode", "python", "warehouse", "scratch"), "with Spark's changelog (minutes)").parse_args()
here = os.path.dirname(os.path.abspath(__file__))
out = os.path.join(args.scratch, "out.arrows")


def table(name):
    return os.path.join(args.warehouse, "bench", name)


def snapshots(name):
    return [int(s["snapshot_id"]) for s in common.report_of(args.program, "inspect", table(name), "snapshots")]


def timed(command):
    """Seconds, peak MB and the output of a whole process."""
    if os.path.exists(out):
        os.remove(out)  # so that nobody pays for freeing what ran before
    return common.timed(command)[:3]


def bergline(*words, to=out):
    return lambda: timed([args.program, *words, "-o", to])[:2]


def decode(name, snapshot):
    doc = common.report_of(args.program, "inspect", table(name), "data_files", "--at", "id:%d" % snapshot)
    location = common.report_of(args.program, "inspect", table(name), "info")["location"]
    files = [r["file_path"].replace("file://", "").replace("file:", "").replace(location.replace("file://", "").replace("file:", ""), table(name)) for r in doc]
    return lambda: timed([args.decode, "-t", str(os.cpu_count()), *files])[:2]


def peer(script, *words):
    def run():
        lines = timed([args.python, os.path.join(here, "peers", script), "--warehouse", args.warehouse, *words])[2].decode().strip().split("\n")
        doc = json.loads(lines[-1])  # the last line is the warm run
        return doc["seconds"], doc["peak_mb"]
    return run


def cold(script, *words):
    def run():
        doc = json.loads(timed([args.python, os.path.join(here, "peers", script), "--warehouse", args.warehouse, "--runs", "1", *words])[2].decode().strip().split("\n")[0])
        return doc["seconds"], doc["peak_mb"]
    return run


def cases():
    mor, cow, many = table("orders_mor"), table("orders_cow"), table("many_files")
    ids = {n: snapshots(n) for n in ("orders_mor", "orders_cow", "many_files")}
    arrow = ("--format", "arrow")

    def recipe(name, a, b):
        return peer("duckdb_recipe.py", "--table", "bench/" + name, "--snapshots", "%d,%d" % (ids[name][a], ids[name][b]), "-o", out)

    def pairs(name):
        return peer("duckdb_recipe.py", "--table", "bench/" + name, "--mode", "pairs", "-o", out)

    def changes(name, a, b, *words):
        return bergline("changes", table(name), "--from", "id:%d" % ids[name][a], "--to", "id:%d" % ids[name][b], *arrow, *words)

    last = len(ids["many_files"]) - 1
    net_mor = changes("orders_mor", 0, 5, "--net")
    yield "changes --net s1→s6, merge-on-read", net_mor, "plain decode of s6", decode("orders_mor", ids["orders_mor"][5]), 1.0
    yield "changes --net s1→s6, merge-on-read", net_mor, "DuckDB recipe", recipe("orders_mor", 0, 5), 3
    yield "changes --net s1→s6, copy-on-write", changes("orders_cow", 0, 5, "--net"), "DuckDB recipe", recipe("orders_cow", 0, 5), 3
    yield "log s1→s6, merge-on-read", changes("orders_mor", 0, 5), "DuckDB recipe, 5 pairs", pairs("orders_mor"), 4
    yield "log s1→s6, copy-on-write", changes("orders_cow", 0, 5), "DuckDB recipe, 5 pairs", pairs("orders_cow"), 4
    yield "changes s2→s3 (clustered update)", changes("orders_mor", 1, 2), "DuckDB recipe", recipe("orders_mor", 1, 2), 20
    yield "changes s4→s5 (append)", changes("orders_mor", 3, 4), "DuckDB recipe", recipe("orders_mor", 3, 4), 20
    yield "changes --net --images after s1→s6", changes("orders_mor", 0, 5, "--net", "--images", "after"), "DuckDB recipe", recipe("orders_mor", 0, 5), 10
    scan = bergline("scan", mor, "--lineage", *arrow)
    yield "scan with lineage, to /dev/null", bergline("scan", mor, "--lineage", *arrow, to=os.devnull), "plain decode", decode("orders_mor", ids["orders_mor"][5]), 1 / 1.15
    yield "scan with lineage", scan, "DuckDB iceberg_scan", peer("duckdb_scan.py", "-o", out), 2
    plan = ("changes", many, "--plan", "--format", "json")
    pyiceberg = cold("pyiceberg_plan.py")
    yield "plan of a neighbouring append, 100,000 files", bergline(*plan, "--from", "id:%d" % ids["many_files"][last - 2], "--to", "id:%d" % ids["many_files"][last - 1]), "PyIceberg full plan", pyiceberg, 50
    yield "plan of the vector commit, 100,000 files", bergline(*plan, "--from", "id:%d" % ids["many_files"][last - 1]), "PyIceberg full plan", pyiceberg, 20
    yield "full plan, 100,000 files", bergline("scan", many, "--plan", "--format", "json"), "PyIceberg full plan", pyiceberg, 15
    yield "history of one row, 10M rows", bergline("history", mor, "--row-id", "5000007", *arrow), "DuckDB recipe", recipe("orders_mor", 0, 5), 3
    if args.spark:
        yield "log s1→s6, copy-on-write", changes("orders_cow", 0, 5), "Spark create_changelog_view, warm", peer("spark_changelog.py", "--jar", args.jar), 25
        yield "scan with lineage", scan, "Spark, warm", peer("spark_changelog.py", "--jar", args.jar, "--table", "bench/orders_mor", "--case", "scan"), 1


def main():
    results = common.Table(args.runs, 400)
    for case in cases():
        if args.only in case[0]:
            results.case(*case)
    for p in glob.glob(out):
        os.remove(p)
    results.end(args.markdown)


main()
