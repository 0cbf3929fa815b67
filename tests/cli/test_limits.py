"""test_limits.py BERGLINE ROOT: writing where the process may have few files open."""
import glob
import os
import resource
import unittest

from table_case import TableCase

PARTITIONS = 150


class Limits(TableCase):
    def setUp(self):
        super().setUp()
        self.soft = None

    def limit(self):
        if self.soft:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.soft, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    def many(self, first=0):
        """Rows of many partitions, each partition in three places."""
        return self.rows_file(*({'id': first + k * PARTITIONS + p, 'p': p, 'v': 'x'}
                                for k in range(3) for p in range(PARTITIONS)))

    def make(self, *more):
        self.run_ok('create', self.table, '--schema', 'id long not null, p int, v string', '--partition', 'p', *more)

    def files(self):
        return glob.glob(os.path.join(self.table, 'data', '**', '*.parquet'), recursive=True)

    def check_rows(self, n):
        rows = self.rows(self.table)
        self.assertEqual(sorted(rows), list(range(n)))
        self.assertEqual(sorted(rows.values()), list(range(n)))

    def test_rows_of_many_partitions_are_written_with_few_open_files(self):
        rows = self.many()
        for soft in (256, 64, 32, 20, None):
            with self.subTest(soft):
                self.table = self.path('t%s' % soft)
                self.soft = None
                self.make()
                self.soft = soft
                r = self.result('append', self.table, rows)
                self.assertEqual((r['rows_inserted'], r['data_files_added']), (3 * PARTITIONS, PARTITIONS))
                self.assertEqual(len(self.files()), PARTITIONS)
                self.check_rows(3 * PARTITIONS)

    def test_rows_keep_their_order_within_a_partition(self):
        self.make()
        rows = self.many()
        self.soft = 24
        self.run_ok('append', self.table, rows)
        seen = {}
        for r in self.lines('scan'):
            seen.setdefault(r['p'], []).append(r['id'])
        self.assertEqual(seen, {p: [p, PARTITIONS + p, 2 * PARTITIONS + p] for p in range(PARTITIONS)})

    def test_every_verb_writes_with_few_open_files(self):
        self.make('--property', 'write.delete.mode=copy-on-write', '--property', 'write.update.mode=copy-on-write')
        everything = 3 * PARTITIONS
        self.soft = 32
        self.run_ok('append', self.table, self.many())
        self.assertEqual(self.result('update', self.table, '--set', "v = 'y'", '--where', 'id >= 0')['rows_updated'],
                         everything)
        self.assertEqual(self.result('delete', self.table, '--where', 'id < 75', '--yes')['rows_deleted'], 75)
        r = self.result('upsert', self.table, self.many(), '--key', 'id', '--mode', 'merge-on-read')
        self.assertEqual((r['rows_inserted'], r['rows_updated']), (75, everything - 75))
        r = self.result('overwrite', self.table, self.many(), '--yes')
        self.assertEqual((r['rows_inserted'], r['rows_deleted']), (everything, everything))
        self.assertEqual(sorted(r['id'] for r in self.lines('scan')), list(range(everything)))

    def test_sorted_tables_are_written_with_few_open_files(self):
        self.make('--sort', 'id desc')
        self.soft = 20
        self.run_ok('append', self.table, self.many())
        self.check_rows(3 * PARTITIONS)

    def test_too_few_for_anything_is_told_and_leaves_no_file(self):
        self.make()
        before = sorted(os.listdir(os.path.join(self.table, 'metadata')))
        rows = self.many()
        self.soft = 8
        p = self.try_run('append', self.table, rows)
        self.assertNotEqual(p.returncode, 0)
        self.assertIn('Too many open files', p.stderr)
        self.soft = None
        self.assertEqual((self.files(), sorted(os.listdir(os.path.join(self.table, 'metadata')))), ([], before))
        self.assertEqual(self.rows(self.table), {})


if __name__ == '__main__':
    unittest.main(argv=['test_limits.py', '-v'])
