"""case.py: one table of tests/fixtures/tables, what is known about it, and a program to try on it."""
import glob
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess

from rows import Failure, ROW_ID, KIND, SEQUENCE, expect, parse, parse_lines, read_lines, without

METADATA = re.compile(r'(?:v(\d+)|(\d+)-[0-9a-f-]+)(?:\.gz)?\.metadata\.json(?:\.gz)?$')
DROPPED = ('BERGLINE_CONFIG', 'PYICEBERG_HOME')


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def last_error(self):
        lines = self.err.strip().splitlines()
        return lines[-1][:300] if lines else ''

    def ok(self):
        expect(self.status == 0, 'exit %d: %s', self.status, self.last_error())
        return self

    def rows(self):
        return parse_lines(self.ok().out)

    def document(self):
        try:
            return parse(self.out)
        except ValueError as e:
            raise Failure('stdout is no JSON document (%s): %.100s' % (e, self.out))

    def refused(self, statuses):
        """An orderly refusal: one of the exit statuses, and the error line."""
        expect(self.status in statuses, 'exit %d, expected %s: %s', self.status, ' or '.join(map(str, statuses)), self.last_error())
        expect(any(l.startswith('bergline: error: ') for l in self.err.splitlines()), 'stderr has no error line: %.200s', self.err)


class Program:
    """Runs with a time zone and a locale that must not matter, and without the configuration of whoever runs the tests."""

    def __init__(self, command, seconds=60):
        self.words = shlex.split(command)
        self.seconds = seconds
        self.environment = dict({k: v for k, v in os.environ.items() if k not in DROPPED}, HOME='/nonexistent',
                                TZ='Asia/Kathmandu', LC_ALL='de_DE.UTF-8')
        self.commands = set(re.findall(r'^  ([a-z][a-z-]*) ', self.run(['--help']).out, re.M))

    def run(self, arguments, stdin=''):
        try:
            p = subprocess.run(self.words + list(arguments), input=stdin.encode(), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, timeout=self.seconds, env=self.environment)
        except subprocess.TimeoutExpired:
            raise Failure('not done after %d s: %s' % (self.seconds, ' '.join(arguments)))
        return Result(p.returncode, p.stdout.decode('utf-8', 'replace'), p.stderr.decode('utf-8', 'replace'))


def load_metadata(path):
    with open(path, 'rb') as f:
        data = f.read()
    return json.loads(gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data)


def newest_metadata(table):
    """(path, document) of the highest version that can be read; (None, None): none of them."""
    best = None
    for path in glob.glob(os.path.join(table, 'metadata', '*')):
        name = METADATA.match(os.path.basename(path))
        try:
            document = load_metadata(path) if name else None
        except (OSError, EOFError, ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            changed = document.get('last-updated-ms')
            rank = (int(name[1] or name[2]), changed if isinstance(changed, int) else 0)
            if best is None or rank > best[0]:
                best = (rank, path, document)
    return best[1:] if best else (None, None)


class Snapshots:
    """The tree of snapshots that the metadata holds. 0 stands for the empty table before the first one."""

    def __init__(self, metadata):
        found = (metadata or {}).get('snapshots') or []
        if not all(isinstance(s, dict) and 'snapshot-id' in s for s in found):
            found = []  # the table is damaged
        self.parents = {s['snapshot-id']: s.get('parent-snapshot-id') for s in found}
        self.numbers = {s['snapshot-id']: s.get('sequence-number', 0) for s in found}
        self.schemas = {s['snapshot-id']: s.get('schema-id') for s in found}

    def parent(self, snapshot):
        """0 where it has none or where it has expired"""
        parent = self.parents[snapshot]
        return parent if parent in self.parents else 0

    def expired_parent(self, snapshot):
        parent = self.parents[snapshot]
        return parent not in (None, -1) and parent not in self.parents

    def way(self, start, end):
        """The snapshots after start up to end, oldest first, and how they are related: 'whole', 'gap' where some of the way has
        expired, or 'apart' where start is no ancestor."""
        steps = []
        at = end
        while at in self.parents and at != start and at not in steps:
            steps.insert(0, at)
            at = self.parents[at]
        if at == start or (start == 0 and at in (None, -1)):
            return steps, 'whole'
        if steps and self.expired_parent(steps[0]) and (start == 0 or self.numbers[start] < self.numbers[steps[0]]):
            return steps, 'gap'
        return steps, 'apart'


class Case:
    def __init__(self, folder, program, scratch=None):
        """scratch: a folder to move the table into before anything is tried"""
        self.folder, self.name, self.program = folder, os.path.basename(folder), program
        self.original = os.path.join(folder, 'table')
        self.table = self.original
        if scratch:
            self.table = os.path.join(scratch, self.name)
            shutil.copytree(self.original, self.table)
        with open(os.path.join(folder, 'made.json'), encoding='utf-8') as f:
            self.made = json.load(f)
        self.metadata_path, self.metadata = newest_metadata(self.original)
        self.snapshots = Snapshots(self.metadata)

    # ---- what is recorded

    def path(self, name):
        return os.path.join(self.folder, 'expect', name)

    def has(self, name):
        return os.path.exists(self.path(name))

    def recorded(self, name, default=None):
        if not self.has(name):
            return default
        with open(self.path(name), encoding='utf-8') as f:
            return parse(f.read())

    def names(self, pattern):
        return sorted(os.path.basename(p) for p in glob.glob(self.path(pattern)))

    def scanned(self, snapshot):
        """The rows of a snapshot, None where they are not recorded."""
        if snapshot == 0:
            return []
        name = 'scan.%d.ndjson' % snapshot
        return read_lines(self.path(name)) if self.has(name) else None

    def step(self, start, end):
        """The changes of one step of the log, None where they are not recorded. The oldest snapshot left after others have
        expired inserts all its rows (C10)."""
        name = 'changes.%d.%d.ndjson' % (start, end)
        if self.has(name):
            return read_lines(self.path(name))
        if start == 0 and self.snapshots.way(0, end) == ([end], 'gap'):
            rows = self.scanned(end)
            return None if rows is None else [dict(without(r, SEQUENCE), **{KIND: 'INSERT'}) for r in rows]
        return None

    def remover(self, row_id, start, end):
        """The last snapshot of a whole way that removed the row; None where the record does not tell."""
        found = None
        for snapshot in self.snapshots.way(start, end)[0]:
            rows = self.step(self.snapshots.parent(snapshot), snapshot)
            if rows is None:
                return None
            if any(r[KIND] == 'DELETE' and r[ROW_ID] == row_id for r in rows):
                found = snapshot
        return found

    # ---- the program on this table

    def run(self, *arguments, table=None):
        return self.program.run([a.replace('{table}', table or self.table) for a in arguments])

    def scan(self, snapshot, *more):
        return self.run('scan', '{table}', '--at', 'id:%d' % snapshot, *more, '--format', 'ndjson').rows()

    def changes(self, start, end, *more):
        begin = ['--from', 'id:%d' % start] if start else []
        return self.run('changes', '{table}', *begin, '--to', 'id:%d' % end, *more, '--format', 'ndjson').ok()
