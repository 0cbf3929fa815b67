"""recorded.py: the checks that follow from the files in expect/. Each is (name, command that it needs, function)."""
import json
import os
import shutil
from collections import Counter

from case import load_metadata, newest_metadata
from rows import (COMMIT, KIND, ORDINAL, ROW_ID, SEQUENCE, STANDING, Failure, contained, events_of, expect, in_order,
                  parse_lines, read_lines, repeated_ids, same_rows, without)


def statuses(record, default=0):
    status = record.get('exit_any', record.get('exit', default))
    return status if isinstance(status, list) else [status]


def says(text, record, all_of='says', one_of='says_any'):
    """Words, in any case; a list among them: one of its words."""
    lower = text.lower()
    words = record.get(all_of, [])
    if one_of and record.get(one_of):
        words = [record[one_of]]
    for word in words:
        choice = word if isinstance(word, list) else [word]
        expect(any(w.lower() in lower for w in choice), 'does not say %s: %.200s', ' or '.join(choice), ' '.join(text.split()))


def table_rows(document):
    """The rows of a report: an array, alone or as a member of an object."""
    if isinstance(document, dict):
        document = next((v for v in document.values() if isinstance(v, list)), None)
    expect(isinstance(document, list), 'the report has no rows')
    return document


def numbers_in(name):
    return [int(n) for n in name.split('.')[1:-1]]


# ---- metadata

def snapshots(case):
    want = case.recorded('snapshots.json')
    got = table_rows(case.run('inspect', '{table}', 'snapshots', '--format', 'json').ok().document())
    ids = lambda rows: Counter((r['snapshot_id'], r['operation']) for r in rows)
    expect(ids(want) == ids(got), 'the snapshots are %s, expected %s', sorted(ids(got)), sorted(ids(want)))
    by_id = {r['snapshot_id']: r for r in got}
    for record in want:
        for field in ('sequence_number', 'first_row_id', 'added_rows'):
            shown = by_id[record['snapshot_id']].get(field)
            expect(field not in record or shown == record[field], '%s of snapshot %d is %s, expected %s', field,
                   record['snapshot_id'], shown, record.get(field))


def properties(case):
    got = case.run('inspect', '{table}', 'properties', '--format', 'json').ok().document()
    for key, value in case.recorded('properties.json').items():
        expect(got.get(key) == value, 'property %s is %r, expected %r', key, got.get(key), value)


def next_row_id(case):
    got = case.run('inspect', '{table}', 'info', '--format', 'json').ok().document()
    expect(got.get('next_row_id') == case.recorded('next_row_id.json'), 'next_row_id is %s', got.get('next_row_id'))


# ---- scans

def scan(case, name):
    want, got = read_lines(case.path(name)), case.scan(numbers_in(name)[0], '--lineage')
    same_rows(want, got)
    expect(not want or list(got[0]) == list(want[0]), 'the columns are %s', got and list(got[0]))


def where(case, record):
    got = case.scan(record['at'], '--lineage', '--where', record['where'])
    expect(len(got) == record['count'], '%s: %d rows, expected %d', record['where'], len(got), record['count'])
    for key, end in (('min_row_id', min), ('max_row_id', max)):
        if key in record:
            found = end(r[ROW_ID] for r in got)
            expect(found == record[key], '%s: %s is %d, expected %d', record['where'], key, found, record[key])
    contained(got, case.scanned(record['at']) or got)


def address(case, record):
    result = case.run('scan', '{table}', '--at', record['at'], '--lineage', '--format', 'ndjson')
    if 'snapshot_id' in record:
        same_rows(case.scanned(record['snapshot_id']), result.rows())
    else:
        result.refused(statuses(record))


def nothing(case, command):
    same_rows([], case.run(command, '{table}', '--format', 'ndjson').rows())


# ---- the changelog

def changelog(case, start, end, net, want=None):
    """From start to end (0: the beginning). want: the rows, by default the recorded ones; with _last_updated_sequence_number
    where it has that."""
    if want is None:
        want = read_lines(case.path('net.%d.%d.ndjson' % (start, end))) if net else case.step(start, end)
    result = case.changes(start, end, *(['--net'] if net else []))
    got = parse_lines(result.out)
    for row in got:
        expect(list(row)[-5:] == STANDING, 'the last columns are %s', list(row)[-5:])
    if want:
        columns = [c for c in want[0] if c not in STANDING]
        expect(all(list(r)[:-5] == columns for r in got), 'the columns are %s, expected %s', got and list(got[0]), columns)
        got_same = [{k: r[k] for k in want[0]} for r in got]
    else:
        got_same = got
    same_rows(want, got_same)
    in_order(got)
    steps, way = case.snapshots.way(start, end)
    expect(way != 'gap' or net or 'bergline: warning: ' in result.err, 'history has expired and no warning says so')
    commits(got, steps, way, end)
    images(case, got, start, end, net)
    if net:
        net_commits(case, got, start, end)


def commits(got, steps, way, end):
    """Every snapshot of the range has its ordinal; across branches all is of the end, ordinal 0."""
    for row in got:
        ordinal = row[ORDINAL]
        right = (ordinal, row[COMMIT]) == (0, end) if way == 'apart' else 0 <= ordinal < len(steps) and steps[ordinal] == row[COMMIT]
        expect(right, 'ordinal and commit do not belong together: %.200s', json.dumps(row))


def images(case, got, start, end, net):
    """Each image has the lineage columns that it has in the scan of its side (ids that are there once)."""
    scans = {}

    def sequence_of(snapshot, row_id):
        if snapshot not in scans:
            rows = case.scanned(snapshot)
            twice = repeated_ids(rows or [])
            scans[snapshot] = rows and {r[ROW_ID]: r[SEQUENCE] for r in rows if r[ROW_ID] is not None and r[ROW_ID] not in twice}
        return scans[snapshot].get(row_id) if scans[snapshot] else None

    first = case.snapshots.way(start, end)[0][:1]
    for row in got:
        if row[ROW_ID] is None:
            expect(row[SEQUENCE] is None, 'a row without id has a sequence number: %.200s', json.dumps(row))
            continue
        old = row[KIND] in ('DELETE', 'UPDATE_BEFORE')
        if old:
            side = start if net or [row[COMMIT]] == first else case.snapshots.parent(row[COMMIT])
        else:
            side = end if net else row[COMMIT]
        known = sequence_of(side, row[ROW_ID])
        expect(known is None or known == row[SEQUENCE], '%s of row %d is %s, expected %s', SEQUENCE, row[ROW_ID], row[SEQUENCE], known)


def net_commits(case, got, start, end):
    """C7: which snapshot an event of --net is told of."""
    steps, way = case.snapshots.way(start, end)
    if way == 'apart':
        return
    twice = repeated_ids(case.scanned(start) or []) | repeated_ids(case.scanned(end) or [])
    numbers = case.snapshots.numbers
    for before, after in events_of(got):
        row = after or before
        if row[ROW_ID] in twice:
            continue
        if after:
            want = next((s for s in steps if numbers[s] == row[SEQUENCE]), None)
            if want is None:
                behind = way == 'gap' and row[SEQUENCE] is not None and row[SEQUENCE] < numbers[steps[0]]
                want = steps[0] if behind else end
        else:
            want = case.remover(row[ROW_ID], start, end) if way == 'whole' and row[ROW_ID] is not None else None
        expect(want in (None, row[COMMIT]), 'told of snapshot %d, expected %s: %.200s', row[COMMIT], want, json.dumps(row))


# ---- refusals, whole command lines, catalogs

def refuse(case, record):
    command = record.get('command', 'scan')
    result = case.run(command, '{table}', '--format', 'ndjson', *(['--lineage'] if command == 'scan' else []))
    result.refused(statuses(record))
    says(result.err, record)


def scan_or_refuse(case, want):
    result = case.run('scan', '{table}', '--format', 'ndjson')
    if result.status in (3, 7):
        return result.refused([3, 7])
    rows = result.rows()
    if isinstance(want, list):
        return same_rows(want, rows)
    return expect(len(rows) == want, '%d rows, expected %d', len(rows), want)


def pick(rows, like):
    """Of each row what the first expected one names."""
    if not like:
        return rows
    for row in rows:
        absent = [k for k in like[0] if k not in row]
        expect(not absent, 'no column %s in %.150s', ', '.join(absent), json.dumps(row))
    return [{k: r[k] for k in like[0]} for r in rows]


def command_line(case, record):
    result = case.run(*record['args'])
    status = record.get('exit', 0)
    if status != 'any':
        expect(result.status in statuses(record), 'exit %d, expected %s: %s', result.status, status, result.last_error())
    says(result.out, record, 'stdout_has', None)
    says(result.err, record, 'stderr_has', None)
    if 'json_rows' in record:
        got, want = table_rows(result.document()), record['json_rows']
        expect(len(got) == len(want), '%d rows, expected %d', len(got), len(want))
        same_rows(want, [{k: g.get(k) for k in w} for g, w in zip(got, want)], True)
    if 'count' in record:
        expect(len(parse_lines(result.out)) == record['count'], 'not %d rows', record['count'])
    for key in ('rows', 'rows_after'):
        if key in record:
            got = [r for r in parse_lines(result.out) if key == 'rows' or r[KIND] != 'UPDATE_BEFORE']
            same_rows(record[key], pick(got, record[key]), record.get('ordered', False))


def catalog_table(case, db, table):
    name = '%s.%s' % (table['namespace'], table['name'])
    folder = os.path.join(case.table, db)
    return [name, '--uri', 'sqlite:///%s.db' % folder, '--warehouse', folder if os.path.isdir(folder) else case.table, '--path-map',
            '%s=%s' % (case.made['location'], case.table)]


def catalog_scan(case, db, table):
    result = case.run('scan', *catalog_table(case, db, table), '--lineage', '--format', 'ndjson')
    if table['type'] == 'VIEW':
        return result.refused([7])
    return same_rows(read_lines(case.path('%s.%s.%s.scan.ndjson' % (db, table['namespace'], table['name']))), result.rows())


# ---- verify and writes

def verify(case, record, *address):
    command, *options = record.get('command', 'verify').split()
    result = case.run(command, *(address or ['{table}']), *options, '--format', 'json')
    expect(result.status in statuses(record), 'exit %d, expected %s: %.200s', result.status, statuses(record), result.out + result.err)
    if result.status in (0, 1):
        result.document()
    says(result.out + result.err, record)


def verify_outcome(case, refused):
    """What `verify --deep` may say where no record asks for more."""
    if refused:
        return {1, 3, 4, 7, *statuses(refused)} if case.made.get('verify') != 'faults' else {1, 3}
    return {1} if case.made.get('verify') == 'faults' else {0}


def point(document, pointer):
    for key in pointer.split('/')[1:]:
        key = key.replace('~1', '/').replace('~0', '~')
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def keep(case, scratch, what):
    """Set a property, or append a row, in a copy: the metadata goes on and keeps what bergline does not know."""
    table = os.path.join(scratch, 'keep', case.name + '.' + what)
    shutil.copytree(case.original, table)
    if what == 'set':
        result = case.run('set', '{table}', 'accept.touched=1', table=table)
    else:
        row = without(case.scanned(case.metadata['current-snapshot-id'])[0], ROW_ID, SEQUENCE)
        with open(table + '.ndjson', 'w', encoding='utf-8') as f:
            f.write(json.dumps(row) + '\n')
        result = case.run('append', '{table}', table + '.ndjson', table=table)
    result.ok()
    path, metadata = newest_metadata(table)
    expect(os.path.basename(path) != os.path.basename(case.metadata_path), 'no new metadata was written')
    grown = metadata.get('current-snapshot-id') != case.metadata.get('current-snapshot-id')
    expect(what == 'set' or grown, 'no snapshot was made')
    for pointer, want in case.recorded('keep.json').items():
        try:
            got = point(load_metadata(path), pointer)
        except (KeyError, IndexError, TypeError):
            raise Failure('%s is gone' % pointer)
        expect(json.dumps(got, sort_keys=True) == json.dumps(want, sort_keys=True), '%s became %.200s', pointer, json.dumps(got))


# ---- all of a case

def checks(case, scratch):
    refused = case.recorded('refuse.json')
    if case.has('snapshots.json') and not refused:
        yield 'snapshots', 'inspect', lambda: snapshots(case)
        if case.recorded('snapshots.json') == []:
            for command in ('scan', 'changes'):
                yield 'empty.' + command, command, lambda c=command: nothing(case, c)
    for name in case.names('scan.*.ndjson'):
        yield name[:-7], 'scan', lambda n=name: scan(case, n)
    yield from changelog_checks(case, refused)
    for i, record in enumerate(case.recorded('where.json', [])):
        yield 'where.%d' % i, 'scan', lambda r=record: where(case, r)
    for i, record in enumerate(case.recorded('at.json', [])):
        yield 'at.%d' % i, 'scan', lambda r=record: address(case, r)
    if case.has('properties.json'):
        yield 'properties', 'inspect', lambda: properties(case)
    if case.has('next_row_id.json'):
        yield 'next_row_id', 'inspect', lambda: next_row_id(case)
    for i, record in enumerate(case.recorded('commands.json', [])):
        yield 'command.%d' % i, record['args'][0], lambda r=record: command_line(case, r)
    yield from refusal_checks(case, refused)
    yield from verify_checks(case, refused)
    if case.has('keep.json'):
        for what in ('set', 'append'):
            yield 'keep.' + what, what, lambda w=what: keep(case, scratch, w)


def changelog_checks(case, refused):
    done = set()
    for kind in ('changes', 'net'):
        for name in case.names(kind + '.*.ndjson'):
            start, end = numbers_in(name)
            done.add((kind, start, end))
            yield name[:-7], 'changes', lambda a=start, b=end, k=kind: changelog(case, a, b, k == 'net')
    for snapshot in [] if refused else case.snapshots.parents:
        left = case.snapshots.way(0, snapshot) == ([snapshot], 'gap') and case.scanned(snapshot) is not None
        if left and ('changes', 0, snapshot) not in done:
            yield 'changes.0.%d' % snapshot, 'changes', lambda b=snapshot: changelog(case, 0, b, False)


def refusal_checks(case, refused):
    if refused:
        if not refused.get('command', 'scan').startswith('verify'):
            yield 'refuse', refused.get('command', 'scan'), lambda: refuse(case, refused)
        if 'scan_rows' in refused:
            yield 'refuse.scan', 'scan', lambda: scan_or_refuse(case, refused['scan_rows'])
    for db, tables in case.recorded('catalogs.json', {}).items():
        for table in tables:
            name = 'catalog.%s.%s.%s' % (db, table['namespace'], table['name'])
            yield name, 'scan', lambda d=db, t=table: catalog_scan(case, d, t)
            if table['type'] != 'VIEW':
                yield 'verify.' + name, 'verify', lambda d=db, t=table: verify(case, {'command': 'verify --deep'}, *catalog_table(case, d, t))


def verify_checks(case, refused):
    record = case.recorded('verify.json')
    if refused and refused.get('command', 'scan').startswith('verify'):
        record = refused
    if record is None and case.made.get('verify') != 'skip' and not case.has('catalogs.json'):
        record = {'command': 'verify --deep', 'exit': sorted(verify_outcome(case, refused))}
    if record is not None:
        yield 'verify', 'verify', lambda: verify(case, record)
