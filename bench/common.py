"""What run.py and write.py share: commands timed as whole processes, and the table of results."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time


def arguments(doc, folders, spark):
    """What both parts take; folders: options that must be given."""
    ap = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in folders:
        ap.add_argument("--" + name, required=True)
    ap.add_argument("--jar")
    ap.add_argument("--spark", action="store_true", help=spark)
    ap.add_argument("--runs", type=int, default=3)
    ap.add_argument("--only", default="")
    ap.add_argument("--markdown", help="append the table to this file")
    return ap


def timed(command):
    """Seconds, peak MB, what it printed and its seconds of processor."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text, errors = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        sys.exit("%s\nended with status %d: %s" % (" ".join(command), status, errors.decode()[-400:]))
    return seconds, usage.ru_maxrss // 1024, text, usage.ru_utime + usage.ru_stime


def report_of(program, *words):
    """The json of a report command."""
    return json.loads(subprocess.run([program, *words, "--format", "json"], check=True, capture_output=True).stdout)


class Table:
    """Rows of results; `missed` counts those below what they are to reach. cpu: with processor seconds, the third figure of each run."""

    def __init__(self, runs, most_mb, cpu=False):
        columns = ["case", "bergline s", "peak MB", "peer", "peer s", "peer MB", "ratio", "to reach"]
        if cpu:
            columns[2:2], columns[6:6] = ["CPU s"], ["CPU s"]
        self.lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
        self.missed, self.runs, self.most_mb, self.cpu = 0, runs, most_mb, cpu
        print("%d cores, medians of %d" % (os.cpu_count(), runs))
        print("\n".join(self.lines), flush=True)

    def figures(self, runs):
        cpu = ["%.2f" % statistics.median(r[2] for r in runs)] if self.cpu else []
        return ["%.2f" % statistics.median(r[0] for r in runs), *cpu, "%d" % max(r[1] for r in runs)]

    def case(self, name, ours, peer, theirs, goal):
        """Both sides in turn; a peer that is slow to start runs once (its last run is a warm one)."""
        a, b = [], []
        for _ in range(self.runs):
            a.append(ours())
            if not b or "Spark" not in peer:
                b.append(theirs())
        ratio = statistics.median(r[0] for r in b) / statistics.median(r[0] for r in a)
        self.missed += ratio < goal or max(r[1] for r in a) > self.most_mb
        last = ["%.2f" % ratio, "%s%.2f" % ("" if ratio >= goal else "MISSED ", goal)]
        self.lines.append("| " + " | ".join([name, *self.figures(a), peer, *self.figures(b), *last]) + " |")
        print(self.lines[-1], flush=True)

    def end(self, markdown):
        if markdown:
            with open(markdown, "a") as f:
                f.write("\n".join(self.lines) + "\n")
        print("all reached" if not self.missed else "%d cases below what they are to reach" % self.missed)
