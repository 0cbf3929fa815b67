"""engines.py: the engines that bergline shares tables with, each reduced to: read the rows of one metadata file.

An engine that cannot be started is left out; `why` then says what is missing."""
import glob
import logging
import multiprocessing
import os
import sys

import pyarrow as pa

import values
from rows import Failure
from shared import LINEAGE, Unreadable


class Spark:
    """Apache Spark with Iceberg's runtime: one session for all cases. Catalog w is the warehouse folder."""

    def __init__(self, folder, jars):
        from pyspark.sql import SparkSession
        os.environ.update(SPARK_LOCAL_IP='127.0.0.1', HADOOP_USER_NAME='interop')
        build = SparkSession.builder.master('local[2]').appName('interop')
        for k, v in self.settings(folder, jars).items():
            build = build.config(k, v)
        with redirected(os.path.join(folder, 'spark.log')):
            self.session = build.getOrCreate()
        self.session.sparkContext.setLogLevel('ERROR')
        logging.getLogger('SQLQueryContextLogger').setLevel(logging.CRITICAL)  # what it logs is in the exception too
        self.jvm = self.session._jvm
        self.warehouse = os.path.join(folder, 'wh')
        self.has_sqlite = any('sqlite' in os.path.basename(j) for j in jars)
        self.version = 'Spark %s with Iceberg %s' % (self.session.version, self.jvm.org.apache.iceberg.IcebergBuild.version())

    @staticmethod
    def settings(folder, jars):
        catalog = 'org.apache.iceberg.spark.SparkCatalog'
        return {
            'spark.jars': ','.join(jars),
            'spark.sql.extensions': 'org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions',
            'spark.sql.catalog.w': catalog, 'spark.sql.catalog.w.type': 'hadoop',
            'spark.sql.catalog.w.warehouse': os.path.join(folder, 'wh'), 'spark.sql.catalog.w.cache-enabled': 'false',
            'spark.sql.catalog.j': catalog, 'spark.sql.catalog.j.type': 'jdbc', 'spark.sql.catalog.j.cache-enabled': 'false',
            'spark.sql.catalog.j.uri': 'jdbc:sqlite:' + os.path.join(folder, 'catalog.db'),
            'spark.sql.catalog.j.jdbc.schema-version': 'V1', 'spark.sql.catalog.j.warehouse': os.path.join(folder, 'jdbc'),
            'spark.sql.session.timeZone': 'UTC', 'spark.driver.extraJavaOptions': '-Duser.timezone=UTC',
            'spark.sql.shuffle.partitions': '1', 'spark.default.parallelism': '1', 'spark.ui.enabled': 'false',
            'spark.ui.showConsoleProgress': 'false', 'spark.driver.memory': '1g', 'spark.driver.host': '127.0.0.1',
            'spark.driver.bindAddress': '127.0.0.1', 'spark.local.dir': os.path.join(folder, 'spark'),
            'spark.sql.warehouse.dir': os.path.join(folder, 'spark-warehouse'),
        }

    def sql(self, statement):
        try:
            return [r.asDict(True) for r in self.session.sql(statement).collect()]
        except Exception as e:
            raise Failure('%s: %s: %s' % (self.version, statement, first_line(e)))

    def ask_all(self, queries):
        """The ids that each query gives, asked in one."""
        found = [[] for _ in queries]
        union = ' UNION ALL '.join(q.replace('SELECT id', 'SELECT %d AS n, id' % n) for n, q in enumerate(queries))
        for n, i in self.session.sql(union).collect():
            found[n].append(i)
        return found

    def read(self, metadata, fields, snapshot=None, lineage=True, vectors=True, ref=None):
        frame = self.session.read.format('iceberg').option('vectorization-enabled', str(vectors).lower())
        if snapshot is not None:
            frame = frame.option('versionAsOf', str(snapshot))
        if ref is not None:
            frame = frame.option('versionAsOf', ref)
        names = ['to_json(`%s`)' % f['name'] if f['type'] == 'variant' else '`%s`' % f['name'] for f in fields]
        more = LINEAGE if lineage else []
        try:
            return values.rows(frame.load(metadata).selectExpr(*names, *more).toArrow(), fields, more)
        except Exception as e:
            raise Unreadable(first_line(e))

    def stop(self):
        self.session.stop()


class RowReader:
    """Spark's reader that takes row by row, which is other code than its vectorised one."""

    def __init__(self, spark):
        self.spark, self.version = spark, spark.version.split(' with ')[0] + "'s row reader"

    def read(self, metadata, fields, snapshot=None, lineage=True):
        return self.spark.read(metadata, fields, snapshot, lineage, vectors=False)

    def stop(self):
        pass


class Java:
    """Iceberg's own generic reader, which knows types that Spark does not; it runs in Spark's JVM. Columns are of plain types."""

    def __init__(self, spark):
        self.jvm, self.version = spark.jvm, spark.version.split(' with ')[1] + "'s generic reader"
        self.tables = self.jvm.org.apache.iceberg.hadoop.HadoopTables(spark.session._jsc.hadoopConfiguration())
        u = self.jvm.org.apache.iceberg.util.DateTimeUtil
        self.scalars = {
            'time': lambda v: pa.scalar(u.microsFromTime(v), pa.time64('us')),
            'timestamp_ns': lambda v: pa.scalar(u.nanosFromTimestamp(v), pa.timestamp('ns')),
            'timestamptz_ns': lambda v: pa.scalar(u.nanosFromTimestamptz(v), pa.timestamp('ns', 'UTC')),
            'timestamp': lambda v: pa.scalar(u.microsFromTimestamp(v), pa.timestamp('us')),
            'timestamptz': lambda v: pa.scalar(u.microsFromTimestamptz(v), pa.timestamp('us', 'UTC')),
            'uuid': lambda v: pa.scalar(v.toString()),
            'fixed': pa.scalar,
            'binary': lambda v: pa.scalar(bytes(v.array())),
        }

    def read(self, metadata, fields, snapshot=None, lineage=True):
        try:
            table = self.tables.load(os.path.dirname(os.path.dirname(metadata)))
            columns = self.jvm.org.apache.iceberg.MetadataColumns.schemaWithRowLineage(table.schema())
            scan = self.jvm.org.apache.iceberg.data.IcebergGenerics.read(table).project(columns)
            records = (scan if snapshot is None else scan.useSnapshot(snapshot)).build().iterator()
            found = []
            while records.hasNext():
                found.append(self.row(records.next(), fields))
            return found
        except Exception as e:
            raise Unreadable(first_line(e))

    def row(self, record, fields):
        out = {f['name']: self.value(f['type'], record.get(i)) for i, f in enumerate(fields)}
        out.update({name: record.get(len(fields) + i) for i, name in enumerate(LINEAGE)})
        return out

    def value(self, kind, v):
        if v is None:
            return None
        return values.value(kind, self.scalars.get(kind.split('[')[0], pa.scalar)(v))

    def stop(self):
        pass


class Duck:
    """DuckDB in a process of its own, as some tables end it."""

    def __init__(self):
        import duckdb
        import duckdb_extension_avro, duckdb_extension_httpfs, duckdb_extension_iceberg
        found = []
        for module in (duckdb_extension_httpfs, duckdb_extension_avro, duckdb_extension_iceberg):
            found += sorted(glob.glob(os.path.join(os.path.dirname(module.__file__), '**', '*.duckdb_extension*'), recursive=True))[:1]
        self.extensions, self.process = found, None
        self.version = 'DuckDB ' + duckdb.__version__

    def read(self, metadata, fields, snapshot=None, lineage=True):
        names = [('"%s"::json::varchar' if f['type'] == 'variant' else '"%s"') % f['name'] for f in fields]
        more = LINEAGE if lineage else []
        at = '' if snapshot is None else ', snapshot_from_id => %d' % snapshot
        return self.answer("select %s from iceberg_scan('%s'%s)" % (', '.join(names + more), metadata, at), fields, more)

    def ask_all(self, queries):
        return [self.answer(q).column(0).to_pylist() for q in queries]

    def table(self, query):
        return self.answer(query)

    def answer(self, *question):
        if self.process is None:
            spawn = multiprocessing.get_context('spawn')
            self.pipe, other = spawn.Pipe()
            self.process = spawn.Process(target=duck_process, args=(other, self.extensions), daemon=True)
            self.process.start()
            other.close()
        try:
            self.pipe.send(question)
            good, answer = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            good, answer = False, 'the process ends with signal %d' % -(self.process.exitcode or 0)
        if not good:
            self.stop()  # some errors leave it unusable
            raise Unreadable(answer)
        return answer

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.join()
            self.process = None


def duck_process(pipe, extensions):
    import duckdb
    base = duckdb.connect(config={'allow_unsigned_extensions': 'true', 'threads': '2'})
    for path in extensions:
        base.sql("load '%s'" % path)
    base.sql("set timezone = 'UTC'")
    while True:
        try:
            query, *shape = pipe.recv()
        except EOFError:
            return
        try:
            table = base.sql(query).to_arrow_table()
            pipe.send((True, values.rows(table, *shape) if shape else table))
        except Exception as e:
            pipe.send((False, first_line(e)))


class PyIceberg:
    """Reads version 1 and 2 only."""

    def __init__(self):
        import pyiceberg
        from pyiceberg.table import StaticTable
        self.open, self.version = StaticTable.from_metadata, 'PyIceberg ' + pyiceberg.__version__

    def stop(self):
        pass

    def read(self, metadata, fields, snapshot=None, lineage=False):
        try:
            table = self.open(metadata).scan(snapshot_id=snapshot).to_arrow()
            return values.rows(table.select([f['name'] for f in fields]), fields, [])
        except Exception as e:
            raise Unreadable(first_line(e))


def first_line(e):
    lines = [l.strip() for l in str(e).splitlines() if l.strip() and not l.startswith('An error occurred')] or [type(e).__name__]
    causes = [l for l in lines if l.startswith('Caused by: ')]
    return (causes[-1] if causes else lines[0])[:300]


class redirected:
    """What a child process started inside writes to the terminal goes to a file."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        sys.stdout.flush()
        sys.stderr.flush()
        self.kept = os.dup(1), os.dup(2)
        log = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)

    def __exit__(self, *_):
        sys.stdout.flush()
        sys.stderr.flush()
        for number, kept in zip((1, 2), self.kept):
            os.dup2(kept, number)
            os.close(kept)


def start(folder, jars):
    """(engines by name, why others were left out)"""
    found, missing = {}, []

    def add(name, make):
        try:
            found[name] = make()
        except Exception as e:
            missing.append('%s: %s' % (name, first_line(e)))

    if jars:
        add('spark', lambda: Spark(folder, jars))
        if 'spark' in found:
            add('rows', lambda: RowReader(found['spark']))
            add('java', lambda: Java(found['spark']))
    else:
        missing.append('spark: no jar of its Iceberg runtime')
    add('duckdb', Duck)
    add('pyiceberg', PyIceberg)
    return found, missing
