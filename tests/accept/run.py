#!/usr/bin/env python3
"""Compare a bergline program with what other engines and the specification say about the tables in tests/fixtures/tables.

  run.py [options] BERGLINE [FOLDER…]

FOLDER holds cases at any depth (tests/fixtures/tables/README.md says what a case is); default: all of them. Prints a line for
each check that failed and last `N passed, N failed`; exit status 1 where one failed or none ran. Checks of a command that
`BERGLINE --help` does not name are left out and counted."""
import argparse
import collections
import concurrent.futures
import fnmatch
import os
import sys
import tempfile

from case import Case, Program
from derived import Derived
from recorded import checks
from rows import Failure

TABLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures', 'tables')


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('bergline', help='the program, with words in front of it where it is run by another one')
    p.add_argument('folders', nargs='*', default=[TABLES])
    p.add_argument('--only', default='*', metavar='CASE[/CHECK]', help='patterns of names')
    p.add_argument('--leave-out', action='append', default=[], metavar='GROUP', help='a folder below FOLDER (repeatable)')
    p.add_argument('--part', default='1/1', metavar='I/N', help='every N-th case, from the I-th')
    p.add_argument('--relocate', action='store_true', help='copy each table to another place first')
    p.add_argument('--seeded', metavar='SEED[:N]', help='add N (6) derived checks a case')
    p.add_argument('--no-recorded', action='store_true', help='leave out the recorded checks')
    p.add_argument('--jobs', type=int, default=2)
    p.add_argument('--list', action='store_true', help='name the checks')
    return p.parse_intermixed_args()


def case_folders(o):
    found = []
    for top in o.folders:
        for folder, inner, files in os.walk(os.path.abspath(top)):
            inner[:] = sorted(d for d in inner if d not in o.leave_out)
            if 'made.json' in files and 'table' in inner:
                found.append(folder)
                inner[:] = []
    first, _, step = o.part.partition('/')
    return sorted(found)[int(first) - 1::int(step)]


def checks_of(case, o, scratch):
    found = [] if o.no_recorded else list(checks(case, scratch))
    if o.seeded is not None and not case.has('refuse.json'):
        seed, _, count = o.seeded.partition(':')
        derived, count = Derived(case, seed), int(count or 6)
        found += list(derived.checks(count)) + list(derived.planted(scratch, max(1, count // 3)))
    return found


def collect(o, program, scratch):
    """[(case, check, function)] and how often a command was missing"""
    jobs, missing = [], collections.Counter()
    only, _, only_check = o.only.partition('/')
    for number, folder in enumerate(case_folders(o)):
        if not fnmatch.fnmatch(os.path.basename(folder), only):
            continue
        case = Case(folder, program, os.path.join(scratch, 'moved', str(number)) if o.relocate else None)
        for name, command, function in checks_of(case, o, scratch):
            if only_check and not fnmatch.fnmatch(name, only_check):
                continue
            if command in program.commands:
                jobs.append((case.name, name, function))
            else:
                missing[command] += 1
    return jobs, missing


def outcome(job):
    """None, or what is wrong"""
    try:
        job[2]()
    except Failure as e:
        return str(e)
    except Exception as e:  # the check itself could not go on: that is a failure too
        return '%s: %s' % (type(e).__name__, e)
    return None


def main():
    o = arguments()
    program = Program(o.bergline)
    with tempfile.TemporaryDirectory() as scratch:
        jobs, missing = collect(o, program, scratch)
        if o.list:
            print('\n'.join('%s %s' % job[:2] for job in jobs))
            return 0
        failed = 0
        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            for (case, check, _), wrong in zip(jobs, pool.map(outcome, jobs)):
                if wrong is not None:
                    failed += 1
                    print('FAIL %s %s: %s' % (case, check, ' '.join(wrong.split())[:900]), flush=True)
    if missing:
        print('left out, not in this program: ' + ', '.join('%s (%d)' % m for m in sorted(missing.items())))
    print('%d passed, %d failed' % (len(jobs) - failed, failed))
    return 1 if failed or not jobs else 0


if __name__ == '__main__':
    sys.exit(main())
