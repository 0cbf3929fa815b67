"""DuckDB with its iceberg extension, and its results as an Arrow IPC stream."""
import glob
import importlib.util
import os

import duckdb
import pyarrow as pa

LINEAGE = ("_row_id", "_last_updated_sequence_number")
BATCH = 100_000


def add_options(parser):
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--memory-limit", help="as DuckDB writes it, such as 4GB (default: DuckDB's own, 80 %% of the machine)")
    parser.add_argument("-o", "--output", default=os.devnull, help="file for the Arrow IPC stream (default: %(default)s)")


def connect(args):
    con = duckdb.connect(config={"threads": args.threads})
    if args.memory_limit:
        con.execute("set memory_limit = '%s'" % args.memory_limit)
    con.execute("set preserve_insertion_order = false")
    for name in ("httpfs", "avro", "iceberg"):  # from the wheels duckdb-extension-NAME; nothing is downloaded
        folder = os.path.dirname(importlib.util.find_spec("duckdb_extension_" + name).origin)
        con.load_extension(glob.glob(folder + "/extensions/*/*.duckdb_extension*")[0])
    return con


def table_columns(con, metadata):
    return [c[0] for c in con.execute("describe select * from iceberg_scan('%s')" % metadata).fetchall() if c[0] not in LINEAGE]


def quoted(names):
    return ", ".join('"%s"' % n.replace('"', '""') for n in names)


def scan_sql(metadata, columns, snapshot):
    return "select %s from iceberg_scan('%s', snapshot_from_id => %d)" % (quoted(columns), metadata, snapshot)


class Stream:
    """One IPC stream for the results of any number of queries with the same columns."""

    def __init__(self, path):
        self.sink, self.writer, self.rows = pa.OSFile(path, "wb"), None, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.writer:
            self.writer.close()
        self.sink.close()

    def write(self, result):
        """Writes all batches of an executed query and returns the number of rows."""
        before = self.rows
        with result.to_arrow_reader(BATCH) as batches:
            self.writer = self.writer or pa.ipc.new_stream(self.sink, batches.schema)
            for batch in batches:
                self.writer.write_batch(batch)
                self.rows += batch.num_rows
        return self.rows - before
