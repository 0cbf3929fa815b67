#!/usr/bin/env python3
"""run.py BERGLINE ROOT [CASE…]: bergline and other engines read and write the same tables. Ends with "N passed, N failed".

BERGLINE_INTEROP_JAR names the jar of Iceberg's Spark runtime (and, separated by commas, an SQLite driver for its JDBC catalog).
What cannot be started is left out, and named. For a person at it: BERGLINE_INTEROP_VERBOSE names cases that pass,
BERGLINE_INTEROP_KEEP keeps the tables, BERGLINE_INTEROP_PATIENT takes longer than a tier may."""
import importlib
import os
import shutil
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, '..', 'accept')]

from case import Program
from rows import Failure
from shared import LeftOut, Shared

SECONDS = 780  # after that no further case is begun: a tier has 15 minutes
THEMES = ['mode', 'types', 'partitions', 'schema', 'refs', 'maintain', 'v2', 'catalog', 'settings', 'size']


class World:
    """What the cases share."""

    def __init__(self, program, root, folder, found):
        self.program, self.root, self.folder = program, root, folder
        self.readers = found
        self.spark = found.get('spark')
        os.makedirs(os.path.join(folder, 'wh', 'db'))
        self.shared = []
        self.began, self.patient = time.monotonic(), bool(os.environ.get('BERGLINE_INTEROP_PATIENT'))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def table(self, name, **options):
        self.shared.append(Shared(self, name, **options))
        return self.shared[-1]


def cases(wanted):
    found = []
    for theme in THEMES:
        module = importlib.import_module('cases_' + theme)
        found += [c for c in module.CASES if not wanted or any(w in c.__name__ for w in wanted)]
    return found


def attempt(case, world):
    """None, what went wrong, or LeftOut"""
    world.shared = []
    try:
        if time.monotonic() - world.began > SECONDS and not world.patient:
            raise LeftOut('no time is left')
        case(world)
        return None
    except LeftOut as e:
        return e
    except Failure as e:
        text = str(e)
    except Exception as e:
        text = ''.join(traceback.format_exception(type(e), e, e.__traceback__)[-6:]).strip()[:3000]
    said = [s for table in world.shared for s in table.said]
    return '\n'.join(['    ' + s[:600] for s in said[-6:]] + [text])


def start(folder):
    """The engines by name; what is missing is said."""
    jars = [os.path.abspath(j) for j in os.environ.get('BERGLINE_INTEROP_JAR', '').split(',') if j]
    try:
        import engines
        found, missing = engines.start(folder, jars)
    except ImportError as e:
        found, missing = {}, ['all engines: %s' % e]
    for what in missing:
        print('left out: ' + what)
    print('with ' + (', '.join(e.version for e in found.values()) or 'no engine'), flush=True)
    return found


def main():
    program, root, wanted = Program(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
    verbose = bool(os.environ.get('BERGLINE_INTEROP_VERBOSE'))
    folder = tempfile.mkdtemp(prefix='bergline-interop-')
    passed = failed = skipped = 0
    try:
        found = start(folder)
        world = World(program, root, folder, found)
        for case in cases(wanted) if found else []:
            began = time.monotonic()
            wrong = attempt(case, world)
            took = '%s (%.1f s)' % (case.__name__, time.monotonic() - began)
            if wrong is None:
                passed += 1
                print('ok ' + took, flush=True) if verbose else None
            elif isinstance(wrong, LeftOut):
                skipped += 1
                print('left out: %s: %s' % (case.__name__, wrong), flush=True)
            else:
                failed += 1
                print('--- %s\n%s' % (took, wrong), flush=True)
        for engine in found.values():
            engine.stop()
    finally:
        if os.environ.get('BERGLINE_INTEROP_KEEP'):
            print('kept: ' + folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print('%d passed, %d failed' % (passed, failed) + (', %d skipped' % skipped if skipped else ''))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
