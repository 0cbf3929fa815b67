"""shared.py: a table that several engines write in turn, beside a twin that knows no engine.

A step is one statement of one engine and its effect, told in Python: which rows it changes, removes and adds. After each step
  1. bergline's rows are the twin's: values, and lineage by the specification's rules alone: an untouched row keeps its id and
     its sequence number, a changed one its id, and takes the number of the new snapshot, a new one has an id of its own out of
     those that the snapshot gave out;
  2. every other engine reads the same rows with the same lineage;
  3. `bergline changes` over the step is the difference of the twin before and after.
At the end the log and the net change of all steps are compared too, and every snapshot that is left, by every engine."""
import base64
import json
import os

import rows as accept
from case import newest_metadata
from rows import KIND, ROW_ID, SEQUENCE, Failure, expect, same_rows, text_of, without

LINEAGE = [ROW_ID, SEQUENCE]
V3 = {'format-version': '3'}
MERGE_ON_READ, COPY_ON_WRITE = 'merge-on-read', 'copy-on-write'


def modes(mode):
    return {'write.%s.mode' % verb: mode for verb in ('delete', 'update', 'merge')}


class LeftOut(Exception):
    """The case needs an engine that is not here; what was checked before holds."""


class Unreadable(Exception):
    """An engine gave an error instead of rows."""


# ---- effects: what a statement does to the rows, whoever carries it out

class Effect:
    """change: a row -> the same object (untouched), another (changed), None (removed). shape: what a change of the schema does to
    the columns of every row."""

    def __init__(self, change=lambda row: row, add=(), shape=None):
        self.change, self.add, self.shape = change, [dict(r) for r in add], shape

    def __add__(self, other):
        """Both in one snapshot."""
        def change(row):
            between = self.change(row)
            return None if between is None else other.change(between)
        return Effect(change, self.add + other.add)


def nothing():
    return Effect()


def inserted(*rows):
    return Effect(add=rows)


def updated(where, **new):
    """A changed row is a changed row, also where no value differs."""
    def change(row):
        return dict(row, **{k: v(row) if callable(v) else v for k, v in new.items()}) if where(row) else row
    return Effect(change)


def deleted(where):
    return Effect(lambda row: None if where(row) else row)


def put(given, key, all_of_it=False):
    """An upsert by key: rows with other values change. all_of_it: the rows given are all that shall be left."""
    by_key = {tuple(r[k] for k in key): r for r in given}

    def of(row):
        return by_key.get(tuple(row[k] for k in key))

    def change(row):
        if of(row) is None:
            return None if all_of_it else row
        new = dict(row, **of(row))
        return row if text_of(new) == text_of(row) else new

    def missing(present):
        keys = {tuple(r[k] for k in key) for r in present}
        return [r for k, r in by_key.items() if k not in keys]

    effect = Effect(change)
    effect.missing = missing
    return effect


def reshaped(shape):
    return Effect(shape=shape)


# ---- the table

class Shared:
    def __init__(self, world, name, folder=None, spark_name=None, address=None, faults=None,
                 readers=('spark', 'duckdb', 'pyiceberg')):
        """faults: {engine: symptom}: what an engine is known to get wrong in this table; it must show by the end."""
        self.world, self.name = world, name
        self.folder = folder or os.path.join(world.folder, 'wh', 'db', name)
        self.spark_name = spark_name or 'w.db.' + name
        self.address = address or [self.folder]
        self.faults = dict(faults or {})
        self.readers = {n: world.readers[n] for n in readers if n in world.readers}
        self.twin, self.events, self.said = [], [], []
        self.ids_to_come = False
        self.shown = set()  # engines whose faults have shown
        self.alone = False  # True: the other engines are not asked after each step

    # -- metadata

    def load(self):
        self.metadata_path, self.metadata = newest_metadata(self.folder)
        return self.metadata

    def fields(self, schema_id=None):
        wanted = self.metadata['current-schema-id'] if schema_id is None else schema_id
        return next(s for s in self.metadata['schemas'] if s['schema-id'] == wanted)['fields']

    def snapshots(self):
        return {s['snapshot-id']: s for s in self.metadata.get('snapshots', [])}

    def head(self, ref='main'):
        return (self.metadata.get('refs') or {}).get(ref, {}).get('snapshot-id')

    @property
    def v3(self):
        return self.metadata['format-version'] >= 3

    # -- statements

    def run(self, verb, *args, rows=None):
        """bergline on this table; rows are its standard input, as NDJSON. Gives the report of a write."""
        stdin = ''.join(json.dumps(r, ensure_ascii=False) + '\n' for r in rows or [])
        words = [verb, *self.address[:1], *map(str, args), *(['-'] if rows is not None else []), *self.address[1:]]
        if rows is not None and verb in ('append', 'upsert', 'sync', 'overwrite'):
            words += ['--input-format', 'ndjson']
        if verb in ('sync', 'overwrite', 'branch', 'tag', 'delete', 'rollback'):
            words += ['--yes']
        self.said.append('bergline ' + ' '.join(map(repr_word, words)) + (' <<< ' + stdin[:150].rstrip() if rows else ''))
        return self.world.program.run(words + ['--format', 'json'], stdin).ok().document()

    def sql(self, statement):
        statement = ' '.join(statement.replace('{t}', self.spark_name).replace('{name}', self.spark_name.split('.', 1)[1]).split())
        self.said.append('spark: ' + statement)
        self.need_spark()
        return self.world.spark.sql(statement)

    def need_spark(self):
        if not self.world.spark:
            raise LeftOut('no Spark')

    def create(self, schema, *args, properties=None):
        words = [w for k, v in (properties or {}).items() for w in ('--property', '%s=%s' % (k, v))]
        self.run('create', '--schema', schema, *args, *words)
        self.load()

    def create_by_spark(self, columns, partition='', properties=None):
        given = {**V3, **(properties or {})}
        self.sql('CREATE TABLE {t} (%s) USING iceberg %s TBLPROPERTIES (%s)' %
                 (columns, partition, ', '.join("'%s' = '%s'" % i for i in given.items())))
        self.load()

    def write(self, effect, verb, *args, rows=None):
        """A step by bergline."""
        before = self.load()
        report = self.run(verb, *args, rows=rows)
        self.check(before, effect)
        return report

    def step(self, effect, verb, *args):
        """A step that makes no snapshot."""
        before = self.load()
        self.run(verb, *args)
        self.check(before, effect)

    def append(self, *rows):
        return self.write(inserted(*rows), 'append', rows=rows)

    def by_spark(self, effect, statement):
        """A step by Spark."""
        before = self.load()
        answer = self.sql(statement)
        self.check(before, effect)
        return answer

    # -- checks

    def check(self, before, effect, ref='main'):
        self.load()
        old = [shaped(effect.shape, r) for r in self.twin]
        self.events = self.events and [shaped(effect.shape, e) for e in self.events]
        self.twin = self.advance(before, old, effect)
        if not self.alone:
            self.agree()
        start, end = (before or {}).get('current-snapshot-id'), self.metadata.get('current-snapshot-id')
        if end in (None, -1, start):
            return
        events = accept.difference(old, self.twin)
        same_rows(events, self.changes(None if start == -1 else start, end))
        if self.events is not None:
            self.events += events

    def upgraded(self):
        """Version 3 from now on. The next commit gives every row an id (W11), any: they are taken as bergline reads them, and must
        stay as they are from then on."""
        self.ids_to_come = True

    def advance(self, before, old, effect):
        """The twin after the step; the ids of new rows are taken from what bergline reads, after they were checked."""
        now = self.metadata
        sequence = self.snapshots().get(now.get('current-snapshot-id'), {}).get('sequence-number') if self.v3 else None
        known, added = [], list(effect.add) + (effect.missing(old) if hasattr(effect, 'missing') else [])
        for row in old:
            values = without(row, *LINEAGE)
            new = effect.change(values)
            if new is values:
                known.append(row)
            elif new is not None:
                known.append({**new, ROW_ID: row[ROW_ID], SEQUENCE: sequence})
        got = self.scan()
        if self.ids_to_come:
            self.ids_to_come = False
            same_rows([without(r, *LINEAGE) for r in known] + [self.complete(r) for r in added], [without(r, *LINEAGE) for r in got])
            expect(all(r[ROW_ID] is not None for r in got) and not accept.repeated_ids(got), 'not every row has an id of its own: %s', got)
            return got
        fresh = unmatched(known, got)
        expect(all(r[SEQUENCE] == sequence for r in fresh), 'new rows have another sequence number than %s: %s', sequence, fresh[:3])
        same_rows([self.complete(r) for r in added], [without(r, *LINEAGE) for r in fresh])
        if self.v3:
            low, high = (before or {}).get('next-row-id', 0), now['next-row-id']
            expect(all(low <= r[ROW_ID] < high for r in fresh), 'ids of new rows lie outside [%d, %d): %s', low, high, fresh[:3])
            expect(not accept.repeated_ids(got), 'row ids are there twice: %s', got)
        return known + fresh

    def complete(self, row):
        """A row as it is stored: what was not given is the column's default."""
        return {f['name']: row[f['name']] if f['name'] in row else default(f) for f in self.fields()}

    def scan(self, *args):
        lines = self.world.program.run(['scan', *self.address[:1], '--lineage', *args, *self.address[1:], '--format', 'ndjson']).rows()
        return lines

    def changes(self, start, end, *more):
        words = [*(['--from', 'id:%d' % start] if start else []), '--to', 'id:%d' % end, *more]
        found = self.world.program.run(['changes', *self.address[:1], *words, *self.address[1:], '--format', 'ndjson']).rows()
        accept.in_order(found)
        return [without(r, accept.ORDINAL, accept.COMMIT) for r in found]

    def agree(self, snapshot=None, also=()):
        """All engines read what bergline reads; None: the head of main, with the current schema."""
        at = [] if snapshot is None else ['--at', 'id:%d' % snapshot]
        want = self.scan(*at)
        schema = None if snapshot is None else self.snapshots()[snapshot].get('schema-id')
        fields = self.fields(schema)
        for name, engine in self.readers.items():
            if name == 'pyiceberg' and self.v3:
                continue
            self.agree_with(name, engine, fields, want, snapshot)

    def agree_with(self, name, engine, fields, want, snapshot):
        lineage = self.v3 and name != 'pyiceberg'
        want = [r if lineage else without(r, *LINEAGE) for r in want]
        symptom = None
        try:
            got = engine.read(self.metadata_path, fields, snapshot, lineage)
            same_rows(want, got)
        except Unreadable as e:
            symptom = str(e)
        except Failure as e:
            symptom = 'other rows: ' + str(e)
        known = self.faults.get(name)
        if symptom and not (known and known in symptom):
            where = 'snapshot %s, ' % snapshot if snapshot else ''
            raise Failure('%s%s: %s' % (where, engine.version, symptom))
        if symptom:
            self.shown.add(name)

    def finish(self):
        """The whole history: each snapshot by each engine, the log, the net change."""
        self.load()
        for name in self.faults.keys() & self.readers.keys() - self.shown:
            raise Failure('%s reads everything right, although known for: %s' % (self.readers[name].version, self.faults[name]))
        snapshots = self.snapshots()
        line, at = [], self.metadata.get('current-snapshot-id')
        while at in snapshots:
            line.insert(0, at)
            at = snapshots[at].get('parent-snapshot-id')
        for snapshot in line[:-1]:
            self.agree(snapshot)
        if 'spark' in self.readers:
            self.agree_with('rows', self.world.readers['rows'], self.fields(), self.scan(), None)
        if line and at in (None, -1) and self.events is not None:
            same_rows(self.events, self.changes(None, line[-1]))
            same_rows(accept.difference([], self.twin), self.changes(None, line[-1], '--net'))


def default(field):
    """The metadata has defaults in the specification's JSON, which has bytes as hexadecimal digits."""
    value = field.get('write-default')
    if value is not None and field['type'].startswith(('binary', 'fixed')):
        return base64.b64encode(bytes.fromhex(value)).decode()
    if value is not None and field['type'] == 'timestamp':
        return value if '.' in value else value + '.000000'
    return value


def shaped(shape, row):
    """Columns through a change of the schema; lineage and the rest of an event stay."""
    if shape is None:
        return row
    kept = {k: v for k, v in row.items() if k in LINEAGE or k == KIND}
    return {**shape(without(row, *kept)), **kept}


def unmatched(known, got):
    """The rows of got beyond those known, which must all be there."""
    left = {}
    for row in got:
        left.setdefault(text_of(row), []).append(row)
    missing = []
    for row in known:
        found = left.get(text_of(row))
        if found:
            found.pop()
        else:
            missing.append(row)
    over = [r for rest in left.values() for r in rest]
    expect(not missing, 'rows that should be there are not: %s; instead: %s', missing[:4], over[:4])
    return over


def repr_word(word):
    return word if word.replace('-', '').replace('.', '').replace('/', '').replace('_', '').isalnum() else repr(word)
