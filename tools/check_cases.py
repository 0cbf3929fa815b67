#!/usr/bin/env python3
"""check_cases.py ROOT: each test that tests/CASES.md names is there."""
import os
import re
import sys

NAMED = re.compile(r'`([\w/]+\.(?:c|py)): (\w+)`')


def main():
    root = sys.argv[1]
    missing, n = [], 0
    with open(os.path.join(root, 'tests', 'CASES.md'), encoding='utf-8') as f:
        for number, line in enumerate(f, 1):
            for path, name in NAMED.findall(line):
                n += 1
                file = os.path.join(root, 'tests', path)
                words = ('void test_%s(' if path.endswith('.c') else 'def %s(') % name
                if not os.path.exists(file) or words not in open(file, encoding='utf-8').read():
                    missing.append('tests/CASES.md:%d: %s: %s is not there' % (number, path, name))
    print('\n'.join(missing) or '%d tests of cases' % n)
    return 1 if missing or not n else 0


sys.exit(main())
