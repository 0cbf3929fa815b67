"""What the peers share: finding a Hadoop table's newest metadata and its snapshots, and the one JSON line that each measurement prints."""
import argparse
import json
import os
import shutil


def arguments(doc, table):
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--warehouse", required=True, help="folder given to make_tables.py")
    p.add_argument("--table", default=table, help="folder of the table below the warehouse (default: %(default)s)")
    return p


def add_snapshots(parser):
    parser.add_argument("--snapshots", help="snapshot ids, comma separated, oldest first (default: all of the current branch)")


def metadata_file(args):
    folder = os.path.join(os.path.abspath(args.warehouse), args.table, "metadata")
    with open(os.path.join(folder, "version-hint.text")) as f:
        return os.path.join(folder, "v%s.metadata.json" % f.read().strip())


def snapshots(args):
    """The ids that --snapshots names, else the ancestry of the current snapshot, oldest first."""
    if args.snapshots:
        return [int(s) for s in args.snapshots.split(",")]
    with open(metadata_file(args)) as f:
        meta = json.load(f)
    parents = {s["snapshot-id"]: s.get("parent-snapshot-id") for s in meta["snapshots"]}
    chain, at = [], meta["current-snapshot-id"]
    while at in parents:
        chain.append(at)
        at = parents[at]
    return chain[::-1]


def peak_mb(pid="self"):
    with open("/proc/%s/status" % pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM:")) // 1024


def report(peer, case, seconds, rows, pid="self", **more):
    print(json.dumps({"peer": peer, "case": case, "seconds": round(seconds, 3), "peak_mb": peak_mb(pid), "rows": rows, **more}), flush=True)


def cpu_seconds(pid="self"):
    with open("/proc/%s/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fresh(base, folder):
    """A copy of a table that was made for this place: its data files are the same ones, which nobody changes."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(base, "metadata"), os.path.join(folder, "metadata"))
    shutil.copytree(os.path.join(base, "data"), os.path.join(folder, "data"), copy_function=os.link)
