#!/usr/bin/env python3
"""test_rows.py BERGLINE ROOT: what tables that change say of their rows, through the program."""
import sys
import unittest

sys.dont_write_bytecode = True
from table_case import TableCase


class Rows(TableCase):
    # ---- columns that change ----

    def test_changes_back_to_an_older_schema_keep_the_wider_type(self):
        self.run_ok('create', self.table, '--schema', 'id int, f float, s struct<n: int>, v string')
        self.run_ok('append', self.table, self.rows_file({'id': 1, 'f': 0.5, 's': {'n': 1}, 'v': 'x'}))
        self.run_ok('tag', self.table, 'create', 'old')
        for column, kind in (('id', 'long'), ('f', 'double'), ('s.n', 'long')):
            self.run_ok('alter', self.table, 'type', column, kind)
        self.run_ok('append', self.table, self.rows_file({'id': 5000000000, 'f': 0.1, 's': {'n': 6000000000}, 'v': 'y'}))
        gone, = self.lines('changes', '--net', '--from', 'main', '--to', 'old')
        self.assertEqual((gone['_change_type'], gone['id'], gone['f'], gone['s']),
                         ('DELETE', 5000000000, 0.1, {'n': 6000000000}))
        self.assertEqual(self.lines('changes', '--net', '--from', 'main', '--to', 'old', '--where', 'id < 7'), [])
        came, = self.lines('changes', '--net', '--from', 'old', '--to', 'main')
        self.assertEqual((came['_change_type'], came['id']), ('INSERT', 5000000000))
        self.assertEqual([r['id'] for r in self.lines('scan', '--at', 'old')], [1])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
