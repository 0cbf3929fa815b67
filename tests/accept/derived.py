"""derived.py: checks picked by a seed that follow from the recorded scans and changes: any net change by brute force, any
range of the log, predicates, projections, limits, histories, and faults that `verify` must find."""
import glob
import gzip
import json
import os
import random
import re
import shutil

from recorded import changelog
from rows import (COMMIT, KIND, ORDINAL, ROW_ID, SEQUENCE, contained, difference, events_of, expect, in_order, parse_lines,
                  read_lines, repeated_ids, same_rows, text_of, without)

COMPARE = {'=': lambda a, b: a == b, '!=': lambda a, b: a != b, '<': lambda a, b: a < b, '>=': lambda a, b: a >= b}


class Derived:
    def __init__(self, case, seed):
        self.case, self.random = case, random.Random('%s/%s' % (seed, case.name))
        self.scans = {}
        for name in case.names('scan.*.ndjson'):
            self.scans[int(name.split('.')[1])] = read_lines(case.path(name))
        self.tree = case.snapshots

    def checks(self, count):
        """`count` of them, each (name, command, function)"""
        makers = [self.net, self.log, self.predicate, self.columns, self.limit, self.tasks, self.history,
                  self.part_of_log, self.order]
        made = tries = 0
        while self.scans and made < count and tries < 15 * count:
            tries += 1
            check = self.random.choice(makers)()
            if check:
                made += 1
                yield check

    # ---- the changelog

    def comparable(self, a, b):
        rows = self.scans[b] + (self.scans[a] if a else [])
        return (not a or self.tree.schemas.get(a) == self.tree.schemas.get(b)) and len({tuple(r) for r in rows}) <= 1

    def net(self):
        start, end = self.random.choice([0] + sorted(self.scans)), self.random.choice(sorted(self.scans))
        old, new = self.scans.get(start, []), self.scans[end]
        if start == end or not self.comparable(start, end) or repeated_ids(old) or repeated_ids(new):
            return None
        upgraded = any(s.get('first-row-id') is None for s in self.case.metadata['snapshots'])
        if upgraded and self.tree.way(start, end)[1] == 'apart':
            return None  # branches may have given one place different ids: C5
        want = difference(old, new)
        return 'net.%d.%d' % (start, end), 'changes', lambda: changelog(self.case, start, end, True, want)

    def range(self):
        """(start, end, rows of the log with ordinal and commit), or None"""
        line = self.tree.way(0, self.random.choice(sorted(self.scans)))[0]
        if not line:
            return None
        first = self.random.randrange(len(line))
        steps = line[first:self.random.randrange(first, len(line)) + 1]
        start = self.tree.parent(steps[0])
        if self.tree.expired_parent(steps[0]) or len({self.tree.schemas.get(s) for s in steps + [start] if s}) > 1:
            return None
        rows = []
        for ordinal, snapshot in enumerate(steps):
            step = self.case.step(self.tree.parent(snapshot), snapshot)
            if step is None:
                return None
            rows += [dict(r, **{ORDINAL: ordinal, COMMIT: snapshot}) for r in step]
        return (start, steps[-1], rows) if len({tuple(r) for r in rows}) <= 1 else None

    def log(self):
        found = self.range()
        if not found:
            return None
        start, end, rows = found
        return 'log.%d.%d' % (start, end), 'changes', lambda: changelog(self.case, start, end, False, rows)

    def part_of_log(self):
        """--where on the log: the events of which an image matches."""
        found = self.range()
        if not found or not found[2]:
            return None
        start, end, rows = found
        row_id = self.random.choice(rows)[ROW_ID]
        if row_id is None:
            return None
        operator = self.random.choice(sorted(COMPARE))
        want = [r for r in rows if r[ROW_ID] is not None and COMPARE[operator](r[ROW_ID], row_id)]

        def run():
            got = parse_lines(self.case.changes(start, end, '--where', '_row_id %s %d' % (operator, row_id)).out)
            same_rows(want, [without(r, SEQUENCE) for r in got])
            in_order(got)
        return 'log.%d.%d._row_id%s%d' % (start, end, operator, row_id), 'changes', run

    def order(self):
        """The order down to file and position; --unordered gives the same rows, pairs together."""
        found = self.range()
        if not found or not found[2]:
            return None
        start, end, rows = found
        columns = ','.join('"%s"' % c.replace('"', '""') for c in rows[0] if c not in (ROW_ID, KIND, ORDINAL, COMMIT))

        def run():
            more = ('--columns', columns + ',_file,_pos')
            got = parse_lines(self.case.changes(start, end, *more).out)
            in_order(got, True)
            loose = parse_lines(self.case.changes(start, end, *more, '--unordered').out)
            events_of(loose)
            same_rows(got, loose)
        return 'order.%d.%d' % (start, end), 'changes', run

    def history(self):
        """The history of an id is what the log says of it, without UPDATE_BEFORE."""
        found = self.range()
        if not found or found[0] or not found[2]:
            return None
        _, end, rows = found
        ids = sorted({r[ROW_ID] for r in rows if r[ROW_ID] is not None})
        if not ids or any(r[ROW_ID] is None for r in rows):
            return None
        ids = self.random.sample(ids, min(len(ids), self.random.randint(1, 3)))
        want = [r for r in rows if r[ROW_ID] in ids and r[KIND] != 'UPDATE_BEFORE']

        def run():
            got = self.case.run('history', '{table}', '--row-id', ','.join(map(str, ids)), '--to', 'id:%d' % end, '--format', 'ndjson').rows()
            same_rows(want, [{k: r[k] for k in rows[0]} for r in got])
            keys = [(r[ROW_ID], r[ORDINAL]) for r in got]
            expect(keys == sorted(keys), 'versions are not in order')
        return 'history.%d.%s' % (end, '_'.join(map(str, ids))), 'history', run

    # ---- scans

    def some_scan(self):
        snapshot = self.random.choice(sorted(self.scans))
        return snapshot, self.scans[snapshot]

    def predicate(self):
        snapshot, rows = self.some_scan()
        if not rows:
            return None
        whole = [c for c in rows[0] if re.fullmatch(r'[a-z_]+', c) and all(type(r[c]) in (int, type(None)) for r in rows)]
        column = self.random.choice(whole)
        value, operator = self.random.choice(rows)[column], self.random.choice(sorted(COMPARE))
        if value is None:
            text, want = column + ' is null', [r for r in rows if r[column] is None]
        else:
            text = '%s %s %d' % (column, operator, value)
            want = [r for r in rows if r[column] is not None and COMPARE[operator](r[column], value)]
        return ('scan.%d.%s' % (snapshot, text.replace(' ', '')), 'scan',
                lambda: same_rows(want, self.case.scan(snapshot, '--lineage', '--where', text)))

    def columns(self):
        snapshot, rows = self.some_scan()
        names = [c for c in rows[0] if re.fullmatch(r'\w+', c)] if rows else []
        if not names:
            return None
        names = self.random.sample(names, self.random.randint(1, len(names)))

        def run():
            got = self.case.scan(snapshot, '--columns', ','.join(names))
            same_rows([{c: r[c] for c in names} for r in rows], got)
            expect(list(got[0]) == names, 'the columns are %s', list(got[0]))
        return 'scan.%d.%s' % (snapshot, ','.join(names)), 'scan', run

    def limit(self):
        """The first rows of the whole scan; the whole scan comes the same way twice."""
        snapshot, rows = self.some_scan()
        n = self.random.randint(0, len(rows) + 2)

        def run():
            all_rows = self.case.scan(snapshot, '--lineage')
            same_rows(all_rows[:n], self.case.scan(snapshot, '--lineage', '--limit', str(n)), True)
            some = self.case.scan(snapshot, '--lineage', '--unordered', '--limit', str(n))
            expect(len(some) == min(n, len(rows)), '%d rows with --unordered, expected %d', len(some), min(n, len(rows)))
            contained(some, rows)
        return 'scan.%d.limit.%d' % (snapshot, n), 'scan', run

    def tasks(self):
        """The tasks of a plan, each run on its own, give the scan, in order."""
        snapshot, rows = self.some_scan()
        at, case = ('--at', 'id:%d' % snapshot, '--lineage'), self.case

        def run():
            plan = case.run('scan', '{table}', *at, '--plan', '--format', 'json').ok().document()
            got = []
            for task in plan['tasks']:
                moved = '%s=%s' % (case.metadata['location'], case.table)
                got += case.program.run(['run-task', '-', '--path-map', moved, '--format', 'ndjson'], json.dumps(task)).rows()
            same_rows(case.scan(snapshot, '--lineage'), got, True)
            expect(len(rows) == len(got), '%d rows, expected %d', len(got), len(rows))
        return 'scan.%d.tasks' % snapshot, 'run-task', run

    # ---- faults

    def planted(self, scratch, count):
        """Damage done to a copy of the table, which `verify --deep` must not pass."""
        case = self.case
        if case.made.get('verify') or case.has('verify.json') or case.has('refuse.json') or not case.metadata:
            return
        data = sorted(p for p in glob.glob(case.original + '/data/**/*', recursive=True) if os.path.isfile(p))
        kinds = ['missing', 'short'] if data else []
        if any(p.endswith('.puffin') for p in data):
            kinds.append('bit')
        if any(s.get('added-rows') for s in case.metadata.get('snapshots', [])):
            kinds.append('next-row-id')
        for kind in self.random.sample(kinds, min(len(kinds), count)):
            victims = [p for p in data if p.endswith('.puffin') == (kind == 'bit')] or data
            victim = self.random.choice(victims) if victims else None
            yield 'planted.' + kind, 'verify', lambda k=kind, v=victim: self.find(scratch, k, v)

    def find(self, scratch, kind, victim):
        case = self.case
        table = os.path.join(scratch, 'planted', case.name + '.' + kind)
        shutil.copytree(case.original, table)
        if kind == 'next-row-id':
            forge_next_row_id(os.path.join(table, os.path.relpath(case.metadata_path, case.original)))
        else:
            damage(os.path.join(table, os.path.relpath(victim, case.original)), kind)
        result = case.run('verify', '{table}', '--deep', '--all-snapshots', '--format', 'json', table=table)
        expect(result.status in (1, 3, 8), '%s of %s was not found: exit %d', kind, victim, result.status)


def damage(path, kind):
    if kind == 'missing':
        os.remove(path)
        return
    with open(path, 'rb') as f:
        content = bytearray(f.read())
    if kind == 'short':
        del content[-12:]
    else:
        content[4 + 20] ^= 4  # inside the first vector, which follows the Puffin magic
    with open(path, 'wb') as f:
        f.write(content)


def forge_next_row_id(path):
    with open(path, 'rb') as f:
        content = f.read()
    packed = content[:2] == b'\x1f\x8b'
    metadata = json.loads(gzip.decompress(content) if packed else content)
    metadata['next-row-id'] = 0
    content = json.dumps(metadata).encode()
    with open(path, 'wb') as f:
        f.write(gzip.compress(content) if packed else content)
