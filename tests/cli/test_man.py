#!/usr/bin/env python3
"""test_man.py BERGLINE FOLDER: every command has a man page in FOLDER, and the pages are whole."""
import glob
import os
import re
import subprocess
import sys
import unittest

PROGRAM, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2]
REQUESTS = {'TH', 'SH', 'PP', 'TP', 'B', 'RS', 'RE', 'nf', 'fi', 'nh', 'ad'}


def run(*args):
    return subprocess.run([PROGRAM, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True).stdout


class Man(unittest.TestCase):
    def test_each_command_has_a_page_and_no_page_is_left_over(self):
        commands = re.findall(r'^  ([a-z][a-z-]*) ', run('--help'), re.M)
        pages = {os.path.basename(p) for p in glob.glob(os.path.join(FOLDER, '*.1'))}
        self.assertEqual(pages, {'bergline.1'} | {'bergline-%s.1' % c for c in commands}, 'tools/man_pages.py writes them')

    def test_pages_begin_and_end_as_they_should(self):
        for path in glob.glob(os.path.join(FOLDER, '*.1')):
            with open(path, encoding='utf-8') as f:
                text = f.read()
            self.assertTrue(text.startswith('.TH BERGLINE'), path)
            for title in ('NAME', 'SYNOPSIS', 'EXIT STATUS', 'SEE ALSO'):
                self.assertIn('\n.SH %s\n' % title, text, path)
            self.assertEqual(text.count('\n.nf\n'), text.count('\n.fi\n'), path)
            self.assertEqual(text.count('\n.RS 4\n'), text.count('\n.RE\n'), path)
            for line in text.splitlines():
                if line.startswith('.'):
                    self.assertIn(line[1:].split(' ')[0], REQUESTS, path + ': ' + line)
                self.assertFalse(line.startswith("'"), path + ': ' + line)

    def test_the_page_of_a_command_holds_what_help_prints(self):
        words = lambda s: re.findall(r'\w+', s.lower())
        for name in ('scan', 'changes', 'history', 'inspect'):
            with open(os.path.join(FOLDER, 'bergline-%s.1' % name), encoding='utf-8') as f:
                page = words(re.sub(r'\\(.)', r'\1', f.read()))
            missing = [w for w in words(run('help', name)) if w not in page]
            self.assertEqual(missing, [], name)

    def test_help_of_a_command_is_the_same_both_ways(self):
        self.assertEqual(run('help', 'scan'), run('scan', '--help'))

    def test_help_fits_a_terminal(self):
        for name in ('scan', 'changes', 'history', 'inspect', 'bergline'):
            for line in run('help', name).splitlines():
                self.assertTrue(len(line) <= 80 or line.startswith('    '), line)
                self.assertEqual(line, line.rstrip())


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0]])
