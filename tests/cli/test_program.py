#!/usr/bin/env python3
"""test_program.py BERGLINE ROOT: what golden cases cannot show: files written, readers that go away, full disks."""
import json
import os
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
        read, write = os.pipe()
        os.close(read)
        p = run('inspect', BRANCHES, 'refs', stdout=write)
        os.close(write)
        self.assertEqual(p.returncode, -13)
        self.assertEqual(p.stderr, b'')

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
