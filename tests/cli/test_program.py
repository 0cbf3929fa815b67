#!/usr/bin/env python3
"""test_program.py BERGLINE ROOT: what golden cases cannot show: files written, readers that go away, full disks."""
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TABLES = os.path.join(ROOT, 'tests', 'fixtures', 'tables')
BRANCHES = os.path.join(TABLES, 'branches', 'table')


def run(*args, **more):
    return subprocess.run([PROGRAM, *args], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          **{'stdout': subprocess.PIPE, **more}, timeout=60)


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name):
        return os.path.join(self.folder.name, name)

    def test_a_file_is_written_in_the_format_of_its_ending(self):
        for name, is_json in (('x.json', True), ('x.txt', False), ('x', True)):
            p = run('inspect', BRANCHES, 'refs', '-o', self.file(name))
            self.assertEqual((p.returncode, p.stdout, p.stderr), (0, b'', b''))
            with open(self.file(name)) as f:
                text = f.read()
            if is_json:
                self.assertEqual(len(json.loads(text)), 7)
            else:
                self.assertTrue(text.startswith('name '))

    def test_endings_count_in_upper_and_lower_case(self):
        for name, magic in (('x.CSV', b'id'), ('x.Arrow', b'ARRO'), ('x.ipc', b'ARRO'), ('x.ARROWS', b'\xff\xff\xff\xff'),
                            ('x.feather', b'ARRO'), ('x.PARQUET', b'PAR1'), ('x.jsonl', b'{')):
            p = run('scan', os.path.join(TABLES, 'mor_basic', 'table'), '--columns', 'id', '-o', self.file(name))
            self.assertEqual((p.returncode, p.stderr), (0, b''))
            with open(self.file(name), 'rb') as f:
                self.assertTrue(f.read(4).startswith(magic), name)

    def test_arrow_files_are_whole_and_streams_stay_streams(self):
        table, name = os.path.join(TABLES, 'mor_basic', 'table'), self.file('x.feather')
        for columns in ('id', '_file,_partition'):
            self.assertEqual(run('scan', table, '--columns', columns, '-o', name).returncode, 0)
            with open(name, 'rb') as f:
                data = f.read()
            self.assertEqual((data[:8], data[-6:]), (b'ARROW1\0\0', b'ARROW1'))
        p = run('scan', table, '-o', name, '--format', 'arrow')
        self.assertIn(b'x.feather: it is written as an Arrow IPC stream', p.stderr)
        with open(name, 'rb') as f:
            self.assertEqual(f.read(), run('scan', table, '--format', 'arrow').stdout)
        p = run('scan', table, '--format', 'arrow', '-o', self.file('x.arrows'))
        self.assertEqual((p.returncode, p.stderr), (0, b''))

    def test_an_ending_that_says_nothing_is_told_of_once(self):
        for args in (('scan', BRANCHES, '--limit', '1'), ('inspect', BRANCHES, 'refs')):
            p = run(*args, '-o', self.file('x.foo'))
            self.assertEqual((p.returncode, p.stderr.count(b'\n')), (0, 1))
            self.assertTrue(p.stderr.startswith(b'bergline: warning: '), p.stderr)
            self.assertEqual(run(*args, '-o', self.file('x.foo'), '--format', 'text').stderr, b'')
        self.assertEqual(run('scan', BRANCHES, '--plan', '-o', self.file('x.json')).stderr, b'')

    def test_a_task_needs_no_catalog(self):
        self.assertNotIn(b'--catalog', run('run-task', '--help').stdout)
        for option in ('--catalog', '--uri', '--warehouse'):
            self.assertEqual(run('run-task', '-', option, 'x').returncode, 2)
        self.assertEqual(run('run-task', '-', '--path-map', '/a=/b').returncode, 3)

    def test_a_database_that_is_not_supported_is_named(self):
        with open(self.file('c.yaml'), 'w') as f:
            f.write('catalog: {p: {type: sql, uri: "postgresql+psycopg2://u:s3cret@host/db"}, q: {type: sql, warehouse: /x}}')
        for name, status, says in (('p', 7, b'postgresql+psycopg2'), ('q', 2, b'needs a uri')):
            p = run('inspect', 'a.b', '--catalog', name, env={**os.environ, 'BERGLINE_CONFIG': self.file('c.yaml')})
            self.assertEqual(p.returncode, status)
            self.assertIn(says, p.stderr)
            self.assertNotIn(b's3cret', p.stderr)

    def test_a_format_that_is_asked_for_goes_before_the_ending(self):
        run('inspect', BRANCHES, 'refs', '--format=text', '--output=' + self.file('x.json'))
        with open(self.file('x.json')) as f:
            self.assertTrue(f.read().startswith('name '))

    def test_a_failure_leaves_the_old_file_and_nothing_else(self):
        with open(self.file('x.json'), 'w') as f:
            f.write('old')
        p = run('inspect', os.path.join(TABLES, 'refuse', 'manifest_missing', 'table'), 'files', '-o', self.file('x.json'))
        self.assertEqual(p.returncode, 8)
        self.assertEqual(os.listdir(self.folder.name), ['x.json'])
        with open(self.file('x.json')) as f:
            self.assertEqual(f.read(), 'old')

    def test_a_folder_that_cannot_be_written_is_an_io_error(self):
        p = run('inspect', BRANCHES, 'refs', '-o', '/proc/nosuch/x.json')
        self.assertEqual(p.returncode, 4)
        self.assertEqual(p.stderr.count(b'\n'), 1)
        self.assertTrue(p.stderr.startswith(b'bergline: error: '))

    def test_a_folder_as_output_is_told_before_anything_is_read(self):
        os.mkdir(self.file('d'))
        os.symlink('d', self.file('link'))
        broken = os.path.join(TABLES, 'refuse', 'manifest_missing', 'table')
        for name in ('d', 'd/', 'link'):
            for args in (('scan', broken), ('changes', broken), ('scan', broken, '--plan'), ('inspect', self.file('nosuch'))):
                p = run(*args, '-o', self.file(name))
                self.assertEqual((p.returncode, p.stdout), (4, b''), args)
                self.assertIn(b'%s: it is a folder, a file is expected' % name.encode(), p.stderr)
        self.assertEqual(os.listdir(self.file('d')), [])

    def test_no_folder_is_made_for_a_result(self):
        for inside in ('', 'file/'):
            with open(self.file('file'), 'w'):
                pass
            p = run('scan', BRANCHES, '-o', self.file(inside or 'nosuch/') + 'x.csv')
            self.assertEqual((p.returncode, p.stderr.count(b'\n')), (4, 1))
            self.assertEqual(os.listdir(self.folder.name), ['file'])

    def test_a_full_disk_is_an_io_error(self):
        with open('/dev/full', 'wb') as full:
            p = run('inspect', BRANCHES, 'refs', stdout=full)
        self.assertEqual(p.returncode, 4)
        self.assertIn(b'standard output', p.stderr)

    def test_a_reader_that_goes_away_ends_it_quietly(self):
        for more in ((), ('-o', '/dev/stdout'), ('-o', '/dev/fd/1')):
            read, write = os.pipe()
            os.close(read)
            p = run('inspect', BRANCHES, 'refs', *more, stdout=write)
            os.close(write)
            self.assertEqual(p.returncode, -13)
            self.assertEqual(p.stderr, b'')

    def test_a_link_is_followed_not_replaced(self):
        os.mkdir(self.file('deep'))
        with open(self.file('deep/real.json'), 'w') as f:
            f.write('old')
        os.symlink('real.json', self.file('deep/near.json'))
        os.symlink(self.file('deep/near.json'), self.file('far.json'))
        os.symlink('deep/new.json', self.file('dangling.json'))
        for link, real in (('far.json', 'deep/real.json'), ('dangling.json', 'deep/new.json')):
            self.assertEqual(run('inspect', BRANCHES, 'refs', '-o', self.file(link)).returncode, 0)
            self.assertTrue(os.path.islink(self.file(link)))
            with open(self.file(real)) as f:
                self.assertEqual(len(json.load(f)), 7)
        self.assertTrue(os.path.islink(self.file('deep/near.json')))
        self.assertEqual(sorted(os.listdir(self.file('deep'))), ['near.json', 'new.json', 'real.json'])

    def test_links_that_lead_to_each_other_are_an_io_error(self):
        os.symlink('b.json', self.file('a.json'))
        os.symlink('a.json', self.file('b.json'))
        p = run('inspect', BRANCHES, 'refs', '-o', self.file('a.json'))
        self.assertEqual((p.returncode, p.stderr.count(b'\n')), (4, 1))
        self.assertEqual(sorted(os.listdir(self.folder.name)), ['a.json', 'b.json'])

    def test_what_is_no_regular_file_is_written_straight(self):
        want = run('inspect', BRANCHES, 'refs', '--format', 'json').stdout
        for target in ('/dev/stdout', '/proc/self/fd/1', '/dev/fd/1'):
            os.symlink(target, self.file('link.json'))
            p = run('inspect', BRANCHES, 'refs', '--format', 'json', '-o', self.file('link.json'))
            self.assertEqual((p.returncode, p.stdout, p.stderr), (0, want, b''))
            self.assertEqual(os.readlink(self.file('link.json')), target)
            os.remove(self.file('link.json'))
        os.symlink('/dev/full', self.file('full.json'))
        p = run('inspect', BRANCHES, 'refs', '-o', self.file('full.json'))
        self.assertEqual((p.returncode, p.stderr.count(b'\n')), (4, 1))
        self.assertTrue(os.path.islink(self.file('full.json')))

    def test_standard_output_by_its_path_goes_on_where_it_is(self):
        os.symlink('/dev/stdout', self.file('link.json'))
        with open(self.file('x'), 'w') as f:
            f.write('before\n')
            f.flush()
            p = run('inspect', BRANCHES, 'refs', '--format', 'json', '-o', self.file('link.json'), stdout=f)
        self.assertEqual((p.returncode, p.stderr), (0, b''))
        with open(self.file('x')) as f:
            self.assertEqual(f.readline(), 'before\n')
            self.assertEqual(len(json.load(f)), 7)

    def test_a_check_that_stops_the_rows_leaves_the_old_file(self):
        table = os.path.join(TABLES, 'upgraded_v2', 'table')
        self.assertEqual(run('scan', table, '--at', 'seq:1', '--require-lineage').returncode, 1)
        for format in ('csv', 'ndjson', 'parquet', 'arrow', 'text'):
            with open(self.file('x'), 'w') as f:
                f.write('old')
            p = run('scan', table, '--at', 'seq:1', '--require-lineage', '--format', format, '-o', self.file('x'))
            self.assertEqual((p.returncode, p.stderr.count(b'\n')), (1, 1))
            self.assertEqual(os.listdir(self.folder.name), ['x'])
            with open(self.file('x')) as f:
                self.assertEqual(f.read(), 'old')

    def test_a_check_that_finds_something_in_all_rows_gives_them_all(self):
        table = os.path.join(TABLES, 'eq_upsert_v3', 'table')
        args = ('changes', table, '--on-broken-identity', 'fail', '--format', 'ndjson')
        p = run(*args)
        self.assertEqual((p.returncode, p.stdout != b''), (1, True))
        self.assertEqual(run(*args, '-o', self.file('x')).returncode, 1)
        with open(self.file('x'), 'rb') as f:
            self.assertEqual(f.read(), p.stdout)

    def test_a_file_that_grows_too_large_is_an_io_error(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
        p = run('inspect', BRANCHES, 'refs', '-o', self.file('x.json'), preexec_fn=limit)
        self.assertEqual((p.returncode, p.stderr.count(b'\n')), (4, 1))
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_arguments_may_stand_behind_options_and_two_dashes(self):
        p = run('inspect', '--format', 'json', '--', BRANCHES, 'refs')
        self.assertEqual(p.returncode, 0)
        self.assertEqual(len(json.loads(p.stdout)), 7)

    def test_a_table_that_was_copied_opens(self):
        os.symlink(BRANCHES, self.file('copy'))
        here = json.loads(run('inspect', BRANCHES, 'files').stdout)
        there = json.loads(run('inspect', self.file('copy'), 'files').stdout)
        self.assertEqual(here, there)

    def test_credentials_of_the_configuration_are_never_printed(self):
        with open(self.file('c.yaml'), 'w') as f:
            f.write('catalog: {p: {type: rest, uri: "https://u:s3cret@host", token: s3cret, list: [s3cret]}}')
        for name in ('p', 'q'):
            p = run('inspect', 'a.b', '--catalog', name, env={**os.environ, 'BERGLINE_CONFIG': self.file('c.yaml')})
            self.assertNotEqual(p.returncode, 0)
            self.assertNotIn(b's3cret', p.stderr + p.stdout)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0]])
