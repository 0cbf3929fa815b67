#!/usr/bin/env python3
"""test_events.py BERGLINE ROOT: files of change events of every format, applied to a table."""
import json
import sys
import unittest

sys.dont_write_bytecode = True
from table_case import TableCase

ROWS = ['{"k": 1, "s": "a"}', '{"k": 2, "s": "b,\\"c"}']
EVENTS = [{'op': 'c', 'before': None, 'after': json.loads(r)} for r in ROWS] + [{'op': 'd', 'before': {'k': 7}, 'after': None}]


class Events(TableCase):
    def write(self, name, lines):
        with open(self.path(name), 'w') as f:
            f.write(''.join(line + '\n' for line in lines))
        return self.path(name)

    def files_of(self, name, schema, lines):
        """Rows as a file of each format, made by the program."""
        t = self.path(name)
        self.run_ok('create', t, '--schema', schema)
        self.run_ok('append', t, self.write(name + '.ndjson', lines))
        for ending in ('parquet', 'arrow', 'csv'):
            self.run_ok('scan', t, '-o', self.path('%s.%s' % (name, ending)))
            yield self.path('%s.%s' % (name, ending))

    def applied(self, *args):
        self.run_ok('create', self.table, '--schema', 'k long not null, s string')
        result = self.result('apply', self.table, *args, '--key', 'k')
        self.assertEqual(self.run_ok('scan', self.table, '--format', 'csv').split('\n')[1:], ['1,a', '2,"b,""c"', ''])
        self.table += '+'
        return result

    def test_of_debezium_are_read_from_files_of_texts(self):
        lines = [json.dumps({'topic': 't', 'value': json.dumps(e)}) for e in EVENTS] + ['{"topic": "t", "value": null}']
        for path in self.files_of('kafka', 'topic string, value string', lines):
            self.assertEqual(self.applied(path, '--source', 'debezium')['rows_inserted'], 2)

    def test_of_debezium_are_read_from_files_of_structs(self):
        schema = 'op string, before struct<k: long>, after struct<k: long, s: string>'
        for path in list(self.files_of('structs', schema, map(json.dumps, EVENTS)))[:2]:
            self.applied(path, '--source', 'debezium')

    def test_without_a_position_are_applied_again_with_a_warning(self):
        self.run_ok('create', self.table, '--schema', 'k long not null, s string')
        placed = {'op': 'c', 'after': {'k': 8, 's': 'p'}, 'source': {'connector': 'mysql', 'file': 'f.1', 'pos': 4}}
        path = self.write('events.ndjson', map(json.dumps, EVENTS + [placed, {'op': 'm', 'message': {}}]))
        words = ('apply', self.table, path, '--key', 'k', '--source', 'debezium')
        p = self.try_run(*words)
        self.assertIn('bergline: warning: apply: 3 of 5 events tell no position of their source', p.stderr)
        again = self.result(*words)
        self.assertEqual((again['rows_unchanged'], again['events_passed_over']), (2, 1))
        self.assertEqual(self.try_run(*words, '--batch-id', 'b').stderr, '')

    def test_of_debezium_may_be_rows_and_others_of_no_table(self):
        rows = [{**json.loads(ROWS[0]), '__op': 'c', '__source_lsn': 5}, {**json.loads(ROWS[1]), '__deleted': 'false'},
                {'k': 7, 's': None, '__deleted': 'true'}]
        others = [{'status': 'BEGIN', 'id': '1'}, {'ts_ms': 1}, {'databaseName': 'd', 'ddl': 'CREATE TABLE t (k INT)'}]
        path = self.write('flat.ndjson', map(json.dumps, others + rows + [{'payload': others[1]}]))
        self.assertEqual(self.applied(path, '--source', 'debezium')['rows_inserted'], 2)

    def test_of_a_changelog_are_read_from_every_format(self):
        t = self.path('source')
        self.run_ok('create', t, '--schema', 'k long not null, s string')
        self.run_ok('append', t, self.write('rows.ndjson', ROWS))
        for ending in ('parquet', 'arrow', 'csv', 'ndjson'):
            path = self.path('log.' + ending)
            self.run_ok('changes', t, '-o', path)
            self.applied(path, '--source', 'changes')

    def test_of_rows_of_one_key_are_told(self):
        t = self.path('source')
        self.run_ok('create', t, '--schema', 'k long, s string')
        self.run_ok('append', t, self.write('rows.ndjson', ['{"k": 1, "s": "a"}', '{"k": 1, "s": "b"}', '{"k": 2, "s": "c"}']))
        self.run_ok('update', t, '--set', "s = 'd'", '--where', 'k = 2')
        self.run_ok('changes', t, '-o', self.path('log.ndjson'))
        self.run_ok('create', self.table, '--schema', 'k long, s string')
        p = self.try_run('apply', self.table, self.path('log.ndjson'), '--key', 'k', '--source', 'changes')
        self.assertIn('warning: apply: 1 rows have the key of another row of the same commit', p.stderr)
        self.assertEqual(self.run_ok('scan', self.table, '--format', 'csv').split('\n')[1:], ['1,b', '2,d', ''])

    def test_that_are_wrong_are_named_by_file_and_place(self):
        self.run_ok('create', self.table, '--schema', 'k int not null, s string')
        path = self.write('bad.ndjson', ['{"op":"c","after":{"k":1}}', '{"op":"c","after":{"k":"x"}}'])
        self.refuse(2, 'apply: %s: line 2 (byte 27): column k' % path, 'apply', self.table, path, '--key', 'k', '--source', 'debezium')
        path = self.write('bad.csv', ['k,s,_change_type,_commit_snapshot_id', '1,a,INSERT,5', 'x,b,INSERT,5'])
        self.refuse(2, 'apply: %s: row 2 (byte 50): column k' % path, 'apply', self.table, path, '--key', 'k', '--source', 'changes')
        path = self.write('none.csv', ['k,s', '1,a'])
        self.refuse(2, 'apply: %s: it is no changelog' % path, 'apply', self.table, path, '--key', 'k', '--source', 'changes')
        self.refuse(2, 'apply: %s: they are no events of Debezium' % path, 'apply', self.table, path, '--key', 'k', '--source',
                    'debezium')
        wide = self.path('wide')
        self.run_ok('create', wide, '--schema', 'k long not null, s string')
        self.run_ok('append', wide, self.write('wide.ndjson', ['{"k": 1}', '{"k": 3000000000}']))
        self.run_ok('changes', wide, '-o', self.path('wide.arrow'))
        self.refuse(2, 'apply: %s: row 2: column k: 3000000000' % self.path('wide.arrow'), 'apply', self.table,
                    self.path('wide.arrow'), '--key', 'k', '--source', 'changes')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
