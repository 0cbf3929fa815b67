"""table_case.py: tests of tables in a temporary folder, through the program: `test_x.py BERGLINE ROOT`."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TABLES = os.path.join(ROOT, 'tests', 'fixtures', 'tables')


class TableCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.table = self.path('t')

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def try_run(self, *args):
        env = {k: v for k, v in os.environ.items() if k not in ('BERGLINE_CONFIG', 'PYICEBERG_HOME')}
        return subprocess.run([PROGRAM, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              env={**env, 'HOME': self.folder.name}, preexec_fn=self.limit)

    def limit(self):
        """In the process that becomes the program."""

    def run_ok(self, *args):
        p = self.try_run(*args)
        self.assertEqual(p.returncode, 0, '%s: %s' % (args, p.stderr))
        return p.stdout

    def result(self, *args):
        return json.loads(self.run_ok(*args, '--format', 'json'))

    def refuse(self, status, says, *args):
        p = self.try_run(*args)
        self.assertEqual((p.returncode, p.stdout), (status, ''), p.stderr)
        self.assertIn(says, p.stderr)
        self.assertTrue(p.stderr.startswith('bergline: error: '), p.stderr)

    def rows_file(self, *rows):
        path = self.path('rows%d.ndjson' % len(os.listdir(self.folder.name)))
        with open(path, 'w') as f:
            f.writelines(json.dumps(r) + '\n' for r in rows)
        return path

    def rows(self, *args):
        lines = self.run_ok('scan', *args, '--lineage', '--format', 'ndjson').splitlines()
        return {r['id']: r['_row_id'] for r in map(json.loads, lines)}

    def create(self, *more):
        self.run_ok('create', self.table, '--schema', 'id long not null, v string', *more)

    def append(self, *ids, more=()):
        return self.result('append', self.table, self.rows_file(*({'id': i, 'v': 'x'} for i in ids)), *more)

    def info(self, *args):
        return self.result('inspect', *(args or (self.table,)), 'info')

    def lines(self, command, *args):
        """The rows that a row command gives."""
        return [json.loads(line) for line in self.run_ok(command, self.table, *args, '--format', 'ndjson').splitlines()]

    def changes(self, *args):
        """[(type, ordinal, id of the row, its number, column id)] of a feed"""
        return [(r['_change_type'], r['_change_ordinal'], r['_row_id'], r['_last_updated_sequence_number'], r['id'])
                for r in self.lines('changes', *args)]

    def snapshots(self):
        return self.result('inspect', self.table, 'snapshots')
