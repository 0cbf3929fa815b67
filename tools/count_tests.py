#!/usr/bin/env python3
"""count_tests.py FOLDER: what the last `meson test` in a build folder gave: the output of each test that failed, then
"N passed, N failed". A test that ends with such a line itself counts as that many. Exit 1 where any failed, 2 where none ran."""
import glob
import json
import os
import re
import sys

GOOD = {'OK', 'EXPECTEDFAIL'}
TAIL = 60
INNER = re.compile(r'^(\d+) passed, (\d+) failed$', re.M)


def counts(test):
    """(passed, failed) of a test that ran"""
    inner = INNER.findall(test.get('stdout') or '')
    passed, failed = map(int, inner[-1]) if inner else (0, 0)
    good = test['result'] in GOOD
    if not inner or good != (failed == 0):
        return (1, 0) if good else (0, 1)
    return passed, failed


def main():
    folder = sys.argv[1]
    logs = glob.glob(os.path.join(folder, 'meson-logs', '*.json'))
    if not logs:
        print('no test ran in ' + folder)
        return 2
    passed = failed = skipped = 0
    with open(max(logs, key=os.path.getmtime), encoding='utf-8') as f:
        for line in f:
            test = json.loads(line)
            if test['result'] == 'SKIP':
                skipped += 1
                continue
            good, bad = counts(test)
            passed, failed = passed + good, failed + bad
            if test['result'] not in GOOD:
                print(f"--- {test['name']}: {test['result']} ({test['duration']:.1f} s)")
                output = (test.get('stdout') or '') + (test.get('stderr') or '')
                print('\n'.join(output.splitlines()[-TAIL:]))
    print(f'{passed} passed, {failed} failed' + (f', {skipped} skipped' if skipped else ''))
    return 1 if failed else 0 if passed else 2


if __name__ == '__main__':
    sys.exit(main())
