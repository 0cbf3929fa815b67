#!/usr/bin/env python3
"""test_library.py LIBRARY ROOT: the shared library as a program in another language uses it: by ctypes, with pyarrow at the other end of
its streams. Without pyarrow it is left out (exit status 77)."""
import ctypes
import gc
import os
import re
import subprocess
import sys
import tempfile
import unittest
from ctypes import POINTER, Structure, addressof, byref, c_bool, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p

try:
    import pyarrow as pa
except ImportError as e:
    print('left out: %s' % e)
    sys.exit(77)

LIBRARY, INCLUDE = os.path.abspath(sys.argv.pop(1)), os.path.join(sys.argv.pop(1), 'include', 'bergline')
OK, USAGE, IO, CONFLICT, NOT_FOUND = 0, 2, 4, 5, 8
DEBEZIUM, CHANGES = 0, 1

# ---- the structs of the headers, as ctypes has them ----

Names = POINTER(c_char_p)
SCALARS = {'bool': c_bool, 'int': c_int, 'size_t': c_size_t, 'int32_t': c_int32, 'int64_t': c_int64}


def fields_of(declaration):
    """of `const char *from, *to`: name and type each"""
    if '(' in declaration:  # of a function
        return [(re.search(r'\(\*(\w+)\)', declaration).group(1), c_void_p)]
    kind, names_of = re.match(r'((?:const )?(?:struct )?\w+(?: \*const)?) ?(.*)', declaration, re.S).groups()
    found = []
    for name in names_of.split(','):
        stars, name, length = re.match(r'\s*(\**)(\w+)(?:\[(\d+)\])?$', name).groups()
        if kind == 'const char *const':
            found.append((name, Names))
        elif stars:
            found.append((name, c_char_p if (kind, stars) == ('const char', '*') else c_void_p))
        else:
            scalar = c_char if kind == 'char' else SCALARS.get(kind, c_int)  # else an enum
            found.append((name, scalar * int(length) if length else scalar))
    return found


def structs_of(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith('.h'):
            with open(os.path.join(folder, name)) as f:
                text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
            for body, struct in re.findall(r'^typedef struct \w* ?\{(.*?)^\} (\w+);', text, re.M | re.S):
                fields = [f for line in body.split(';') if line.strip() for f in fields_of(' '.join(line.split()))]
                found[struct] = type(struct, (Structure,), {'_fields_': fields})
    return found


structs = structs_of(INCLUDE)
Error, WriteResult, TableInfo = structs['bl_error'], structs['bl_write_result'], structs['bl_table_info']
CreateOptions, WriteOptions, UpsertOptions = structs['bl_create_options'], structs['bl_write_options'], structs['bl_upsert_options']
ApplyOptions, ScanOptions, ChangesOptions = structs['bl_apply_options'], structs['bl_scan_options'], structs['bl_changes_options']


class Stream(Structure):
    _fields_ = [(n, c_void_p) for n in ('get_schema', 'get_next', 'get_last_error', 'release', 'private_data')]


class Schema(Structure):
    _fields_ = [('format', c_char_p), ('name', c_char_p), ('metadata', c_void_p), ('flags', c_int64), ('n_children', c_int64),
                ('children', c_void_p), ('dictionary', c_void_p), ('release', c_void_p), ('private_data', c_void_p)]


lib = ctypes.CDLL(LIBRARY)
lib.bl_status_name.restype = c_char_p
for name in ('bl_input_close', 'bl_table_free', 'bl_ctx_free', 'bl_text_free', 'bl_table_get_info'):
    getattr(lib, name).restype = None


def names(*values):
    return (c_char_p * len(values))(*[v.encode() for v in values])


class Failed(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


# ---- a small binding ----


class Library:
    def __init__(self):
        self.ctx = c_void_p()
        self.call('bl_ctx_new', None, byref(self.ctx))

    def call(self, function, *args):
        error = Error(OK, -1, b'')
        status = getattr(lib, function)(*args, byref(error))
        if status != OK:
            raise Failed(status, error.message.decode())
        assert error.status == OK and error.message == b''

    def close(self):
        lib.bl_ctx_free(self.ctx)


def exported(reader):
    stream = Stream()
    reader._export_to_c(addressof(stream))
    return stream


def imported(stream):
    return pa.RecordBatchReader._import_from_c(addressof(stream))


class Table:
    def __init__(self, library, path):
        self.library, self.path, self.handle, self.result = library, path, c_void_p(), WriteResult()
        library.call('bl_table_open', library.ctx, path.encode(), None, byref(self.handle))

    def close(self):
        lib.bl_table_free(self.handle)

    def reopen(self):
        self.close()
        self.__init__(self.library, self.path)

    def write(self, verb, rows, *options, keep=False, **write):
        """A verb on rows (a table, a reader, or a stream of the library), which must be used up whatever happens."""
        stream = rows if isinstance(rows, Stream) else exported(rows.to_reader() if isinstance(rows, pa.Table) else rows)
        result = WriteResult()
        try:
            self.library.call(verb, self.handle, byref(stream), *options, byref(WriteOptions(**write)), byref(result))
        finally:
            assert stream.release is None, 'the stream was not released'
        if not keep:
            self.reopen()
        self.result = result

    def append(self, rows, **write):
        self.write('bl_append', rows, **write)

    def upsert(self, rows, *key, **write):
        self.write('bl_upsert', rows, byref(UpsertOptions(key=names(*key), n_key=len(key))), **write)

    def apply(self, events, source, *key, **write):
        self.write('bl_apply', events, byref(ApplyOptions(source=source, key=names(*key), n_key=len(key))), **write)

    def stream(self, function, options):
        stream = Stream()
        self.library.call(function, self.handle, byref(options), byref(stream))
        return stream

    def scan(self, **options):
        return imported(self.stream('bl_scan', ScanOptions(**options))).read_all()

    def changes(self, since=None, **options):
        return self.stream('bl_changes', ChangesOptions(**{'from': since}, **options))

    def info(self):
        info = TableInfo()
        lib.bl_table_get_info(self.handle, byref(info))
        return info


class LibraryCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.library = Library()
        self.addCleanup(self.library.close)

    def table(self, name, schema):
        """schema: text, or one of pyarrow"""
        path, options = os.path.join(self.folder.name, name), CreateOptions()
        arrow = Schema()
        if isinstance(schema, str):
            options.schema = schema.encode()
        else:
            schema._export_to_c(addressof(arrow))
            options.arrow = addressof(arrow)
        self.library.call('bl_table_create', self.library.ctx, path.encode(), None, byref(options))
        if not isinstance(schema, str):
            self.assertIsNotNone(arrow.release)  # it is still the caller's
            self.assertEqual(pa.Schema._import_from_c(addressof(arrow)), schema)
        t = Table(self.library, path)
        self.addCleanup(t.close)
        return t

    def shows(self, t, rows):
        self.assertEqual(sorted(t.scan().to_pylist(), key=repr), sorted(rows, key=repr))

    def refuses(self, status, says, function, *args, **more):
        with self.assertRaises(Failed) as caught:
            function(*args, **more)
        self.assertEqual(caught.exception.status, status, caught.exception)
        self.assertIn(says, str(caught.exception))


def rows(**columns):
    return pa.table(columns)


class Verbs(LibraryCase):
    def test_a_stream_is_appended_and_read_back(self):
        schema = pa.schema([pa.field('k', pa.int64(), nullable=False), ('s', pa.string()), ('l', pa.list_(pa.int32())),
                            ('t', pa.timestamp('us', 'UTC')), ('st', pa.struct([('a', pa.int32())]))])
        t = self.table('t', schema)
        data = [{'k': i, 's': None if i % 3 == 0 else 'row %d' % i, 'l': [i, None], 't': None, 'st': {'a': i}} for i in range(1000)]
        t.append(pa.RecordBatchReader.from_batches(schema, iter(pa.Table.from_pylist(data, schema).to_batches(max_chunksize=77))))
        self.assertTrue(t.result.committed)
        self.assertEqual((t.result.rows_inserted, t.result.first_row_id, t.result.rows_assigned), (1000, 0, 1000))
        self.assertEqual(t.info().next_row_id, 1000)
        self.shows(t, data)
        lineage = t.scan(lineage=True, where=b'k >= 998')
        self.assertEqual(lineage.column('_row_id').to_pylist(), [998, 999])
        self.assertEqual(lineage.schema.field('k').metadata[b'PARQUET:field_id'], b'1')

    def test_columns_come_in_any_layout_of_arrow(self):
        t = self.table('t', 'k long, s string, b binary, d string, f float, st struct<d: string>, l list<string>')
        words = pa.array(['u', 'v', 'u']).dictionary_encode()
        views = pa.array(['short', None, 'more than twelve bytes']).cast(pa.string_view())
        t.append(rows(k=pa.array([1, 2, 3], pa.uint8()), s=views, b=pa.array([b'x', b'y', None], pa.large_binary()),
                      d=words, f=pa.array([1, 2, None], pa.float16()), st=pa.StructArray.from_arrays([words], ['d']),
                      l=pa.ListArray.from_arrays([0, 2, 2, 3], words)))
        got = t.scan()
        self.assertEqual(got.column('s').to_pylist(), ['short', None, 'more than twelve bytes'])
        self.assertEqual(got.column('d').to_pylist(), ['u', 'v', 'u'])
        self.assertEqual(got.column('st').to_pylist(), [{'d': 'u'}, {'d': 'v'}, {'d': 'u'}])
        self.assertEqual(got.column('l').to_pylist(), [['u', 'v'], [], ['u']])

    def test_views_of_lists_and_runs_are_what_they_mean_at_every_level(self):
        numbers = pa.array([1, 2, 3, None, 5], pa.int16())
        views = pa.ListViewArray.from_arrays(pa.array([3, 0, 0, 1], pa.int32()), pa.array([2, 2, 0, 4], pa.int32()), numbers,
                                             mask=pa.array([False, False, True, False]))
        large = pa.LargeListViewArray.from_arrays(pa.array([4, 0, 1, 0], pa.int64()), pa.array([1, 1, 0, 5], pa.int64()), numbers)
        runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 4], pa.int32()), pa.array(['a', None, 'c']))
        deep = pa.StructArray.from_arrays([views, runs], ['l', 'r'])
        words = pa.array([['x', None], None, [], ['more than twelve bytes']], pa.list_view(pa.string_view()))
        given = rows(v=views, g=large, r=runs, s=pa.StructArray.from_arrays([views, runs], ['l', 'r']), w=words)
        t = self.table('t', 'v list<int>, g list<long>, r string, s struct<l: list<long>, r: string>, w list<string>')
        for part in (given, given.slice(1, 2), given.slice(3)):
            t.append(part)
        self.maxDiff = None
        self.shows(t, given.to_pylist() + given.slice(1).to_pylist())

    def test_a_sliced_table_is_its_slice(self):
        t = self.table('t', 'k long, l list<string>')
        t.append(rows(k=[1, 2, 3, 4], l=[['a'], None, ['c', 'd'], []]).slice(1, 2))
        self.shows(t, [{'k': 2, 'l': None}, {'k': 3, 'l': ['c', 'd']}])

    def test_rows_are_put_by_key_and_keep_their_ids(self):
        t = self.table('t', 'k long not null, s string')
        t.append(rows(k=[1, 2, 3], s=['a', 'b', 'c']))
        t.upsert(rows(k=[2, 4], s=['B', 'd']), 'k')
        self.assertEqual((t.result.rows_inserted, t.result.rows_updated), (1, 1))
        ids = dict(zip(*[t.scan(lineage=True).column(c).to_pylist() for c in ('k', '_row_id')]))
        self.assertEqual([ids[k] for k in (1, 2, 3)], [0, 1, 2])

    def test_what_one_handle_stages_another_commits(self):
        t = self.table('t', 'k long not null, s string')
        t.append(rows(k=[1, 2], s=['a', 'b']))
        other, texts = Table(self.library, t.path), (c_void_p * 2)()
        self.addCleanup(lambda: other.close())
        for i, change in enumerate((rows(k=[1], s=['A']), rows(k=[5], s=['e']))):
            t.upsert(change, 'k', stage=addressof(texts) + i * ctypes.sizeof(c_void_p), keep=True)
            self.assertFalse(t.result.committed)
            self.assertTrue(ctypes.string_at(texts[i]).startswith(b'{'))
        result = WriteResult()
        for again in (False, True):
            self.library.call('bl_commit_staged', other.handle, texts, c_size_t(2), None, byref(result))
            self.assertEqual((result.committed, result.already_applied), (not again, again))
            other.reopen()
        self.shows(other, [{'k': 1, 's': 'A'}, {'k': 2, 's': 'b'}, {'k': 5, 's': 'e'}])
        for text in texts:
            lib.bl_text_free(self.library.ctx, c_void_p(text))

    def test_a_stream_that_raises_says_why(self):
        t = self.table('t', 'k long, s string')

        def batches(data):
            yield pa.record_batch({'k': [1], **data})
            raise ConnectionError('the queue has gone')

        def failing(**data):
            generator = batches(data)
            return pa.RecordBatchReader.from_batches(pa.record_batch({'k': [1], **data}).schema, generator)

        with self.assertRaisesRegex(Failed, 'the queue has gone'):
            t.append(failing())
        with self.assertRaisesRegex(Failed, 'the queue has gone'):
            t.upsert(failing(), 'k')
        with self.assertRaisesRegex(Failed, 'the queue has gone'):
            t.apply(failing(_change_type=['INSERT'], _commit_snapshot_id=[1]), CHANGES, 'k')
        with self.assertRaisesRegex(Failed, 'the queue has gone'):
            t.apply(failing(value=['{"op":"c","after":{"k":1}}']), DEBEZIUM, 'k')
        self.assertFalse(t.info().has_current_snapshot)

    def test_streams_are_released_where_a_verb_refuses(self):
        t = self.table('t', 'k int not null, s string')
        self.refuses(USAGE, 'column x: the table has no such column', t.append, rows(k=[1], x=[1]))
        self.refuses(USAGE, 'row 2: column k', t.append, rows(k=[1, 1 << 40]))
        self.refuses(USAGE, 'row 2: column k', t.append, rows(k=[1, None]))
        self.refuses(NOT_FOUND, 'nowhere', t.append, rows(k=[1]), ref=b'nowhere')
        self.refuses(USAGE, 'key column s: the input lacks it', t.upsert, rows(k=[1]), 's')
        self.refuses(NOT_FOUND, 'nowhere', t.upsert, rows(k=[1]), 'k', ref=b'nowhere')
        self.refuses(USAGE, 'no key', t.apply, rows(value=['null']), DEBEZIUM)
        self.refuses(USAGE, 'a column of texts is expected', t.apply, rows(a=[1], b=[2]), DEBEZIUM, 'k')
        self.refuses(USAGE, 'no column _change_type', t.apply, rows(k=[1]), CHANGES, 'k')
        self.refuses(NOT_FOUND, 'nowhere', t.write, 'bl_overwrite', rows(k=[1]), c_int(0), None, ref=b'nowhere')

    def test_a_stream_is_read_once(self):
        t = self.table('t', 'k int not null, s string')
        stream = exported(rows(k=[1]).to_reader())
        t.append(stream)
        for again in (lambda: t.append(stream), lambda: t.upsert(stream, 'k'), lambda: t.apply(stream, CHANGES, 'k'),
                      lambda: t.write('bl_overwrite', stream, c_int(0), None)):
            self.refuses(USAGE, 'the stream was released before', again)
        self.shows(t, [{'k': 1, 's': None}])

    def test_a_table_that_is_not_there_is_told(self):
        self.refuses(NOT_FOUND, 'nothing', Table, self.library, os.path.join(self.folder.name, 'nothing'))


class Files(LibraryCase):
    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, 'w') as f:
            f.write(text)
        return path.encode()

    def events(self, t, path, source):
        """(stream, input): the input must outlive the stream"""
        stream, file = Stream(), c_void_p()
        self.library.call('bl_input_open', self.library.ctx, path, byref(file))
        self.library.call('bl_read_events', t.handle, file, path, c_int(source), byref(stream))
        return stream, file

    def test_a_sample_tells_the_columns(self):
        text = c_void_p()
        self.library.call('bl_schema_like', self.library.ctx, self.write('s.csv', 'k,d,s\n1,2026-01-31,x\n'), None, byref(text))
        t = self.table('t', ctypes.string_at(text).decode())
        lib.bl_text_free(self.library.ctx, text)
        self.assertEqual(t.scan().schema.types, [pa.int64(), pa.date32(), pa.string()])

    def test_of_events_are_streams(self):
        t = self.table('t', 'k long, s string')
        path = self.write('e.ndjson', '{"op":"c","after":{"k":1,"s":"a"}}\n\nnull\n')
        stream, file = self.events(t, path, DEBEZIUM)
        self.assertEqual(imported(stream).read_all().to_pylist(), [{'value': '{"op":"c","after":{"k":1,"s":"a"}}', '_byte': 0},
                                                                   {'value': 'null', '_byte': 36}])
        lib.bl_input_close(file)
        stream, file = self.events(t, path, DEBEZIUM)
        t.apply(stream, DEBEZIUM, 'k')
        lib.bl_input_close(file)
        self.shows(t, [{'k': 1, 's': 'a'}])

    def test_that_are_not_there_are_told(self):
        self.refuses(NOT_FOUND, 'nothing', self.library.call, 'bl_input_open', self.library.ctx, b'/nothing', byref(c_void_p()))
        lib.bl_input_close(None)


class Changes(LibraryCase):
    def setUp(self):
        super().setUp()
        self.source = self.table('source', 'k long not null, s string')
        self.copy = self.table('copy', 'k long not null, s string')
        self.source.append(rows(k=[1, 2, 3], s=['a', 'b', 'c']))
        self.source.upsert(rows(k=[2, 4], s=['B', 'd']), 'k')

    def test_are_a_stream_of_rows(self):
        log = imported(self.source.changes()).read_all()
        self.assertEqual(log.column('_change_type').to_pylist(), ['INSERT'] * 3 + ['UPDATE_BEFORE', 'UPDATE_AFTER', 'INSERT'])
        self.assertEqual(log.column('_change_ordinal').to_pylist(), [0] * 3 + [1] * 3)
        self.assertEqual(log.schema.names[2:], ['_row_id', '_last_updated_sequence_number', '_change_type', '_change_ordinal',
                                                '_commit_snapshot_id'])

    def test_of_one_table_are_applied_to_another(self):
        self.copy.apply(self.source.changes(), CHANGES, 'k')
        self.assertEqual(self.copy.result.rows_inserted, 4)
        self.shows(self.copy, self.source.scan().to_pylist())
        self.source.upsert(rows(k=[4], s=['D']), 'k')
        self.copy.apply(self.source.changes(), CHANGES, 'k')
        self.assertEqual((self.copy.result.rows_updated, self.copy.result.events_passed_over), (1, 6))
        self.shows(self.copy, self.source.scan().to_pylist())

    def test_may_be_changed_on_their_way(self):
        log = imported(self.source.changes()).read_all()
        upper = pa.array([s.upper() for s in log.column('s').to_pylist()])
        log = log.set_column(1, 's', upper.dictionary_encode())
        log = log.set_column(4, '_change_type', log.column('_change_type').dictionary_encode())
        self.copy.apply(log, CHANGES, 'k')
        self.shows(self.copy, [{'k': i + 1, 's': s} for i, s in enumerate('ABCD')])

    def test_of_debezium_are_texts(self):
        for texts in (pa.array(['{"op":"c","after":{"k":1,"s":"a"}}', None]), pa.array([b'{"op":"c","after":{"k":2,"s":"b"}}']),
                      pa.array(['{"op":"u","after":{"k":2,"s":"B"}}'], pa.large_string()),
                      pa.array(['{"op":"d","before":{"k":1}}']).cast(pa.string_view())):
            self.copy.apply(rows(key=pa.nulls(len(texts), pa.string()), value=texts), DEBEZIUM, 'k')
        self.shows(self.copy, [{'k': 2, 's': 'B'}])

    def test_of_debezium_may_be_structs(self):
        self.copy.apply(rows(op=['c', 'u', 'd'], before=[None, {'k': 1}, {'k': 7}], ts_ms=[1, 2, 3],
                             after=[{'k': 1, 's': 'a'}, {'k': 1, 's': 'A'}, None],
                             source=[{'lsn': 1}, {'lsn': 2}, {'lsn': 3}]), DEBEZIUM, 'k')
        self.shows(self.copy, [{'k': 1, 's': 'A'}])

    def test_streams_that_are_not_read_to_the_end_leave_nothing(self):
        for _ in range(3):
            reader = imported(self.source.changes())
            reader.read_next_batch()
            del reader
            gc.collect()
        stream = self.source.changes()  # never read
        imported(stream).close()
        self.assertIsNone(stream.release)


class Example(unittest.TestCase):
    def test_shows_the_changes_of_a_table(self):
        root = os.path.dirname(os.path.dirname(INCLUDE))
        environment = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(LIBRARY))
        p = subprocess.run([sys.executable, os.path.join(root, 'examples', 'changes.py'), os.path.join(root, 'examples', 'sample', 'orders')],
                           env=environment, capture_output=True, text=True)
        self.assertEqual((p.returncode, p.stderr), (0, ''))
        lines = p.stdout.splitlines()
        self.assertIn("{'id': 1, 'item': 'lamp'", lines[0])
        self.assertIn("'_change_type': 'INSERT', '_change_ordinal': 8", lines[-1])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
