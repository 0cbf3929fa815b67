"""rows.py: rows as the program prints them: reading, comparing, and what two sets of rows say about each other."""
import json
import math
from collections import Counter

ROW_ID, SEQUENCE = '_row_id', '_last_updated_sequence_number'
KIND, ORDINAL, COMMIT = '_change_type', '_change_ordinal', '_commit_snapshot_id'
STANDING = [ROW_ID, SEQUENCE, KIND, ORDINAL, COMMIT]


class Failure(Exception):
    """What a check found; the text is one line."""


def expect(truth, text, *values):
    if not truth:
        raise Failure(text % values if values else text)


def _integer(text):
    return -0.0 if text == '-0' else int(text)


def _no_constant(text):
    raise ValueError(text + ' is no JSON')


def parse(text):
    return json.loads(text, parse_int=_integer, parse_constant=_no_constant)


def parse_lines(text):
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line:
            continue
        try:
            row = parse(line)
        except ValueError as e:
            raise Failure('line %d is no JSON (%s): %.100s' % (number, e, line))
        expect(isinstance(row, dict), 'line %d is no object: %.100s', number, line)
        rows.append(row)
    return rows


def read_lines(path):
    with open(path, encoding='utf-8') as f:
        return parse_lines(f.read())


# ---- equality

def _plain(value):
    """Equal values have equal plain forms: 1 and 1.0 are one number, 0.0 and -0.0 are two."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        negative_zero = value == 0 and math.copysign(1, value) < 0
        return int(value) if value.is_integer() and not negative_zero else ['float', repr(value)]
    return value


def text_of(row):
    return json.dumps(_plain(row), sort_keys=True, ensure_ascii=False)


def _shown_alike(want, got):
    """Of two equal values: whole numbers and fields are shown in one way. A double may be printed as 1 or as 1.0."""
    if isinstance(want, dict):
        return list(want) == list(got) and all(_shown_alike(v, got[k]) for k, v in want.items())
    if isinstance(want, list):
        return all(_shown_alike(a, b) for a, b in zip(want, got))
    return not (isinstance(want, int) and isinstance(got, float))


def _some(texts):
    shown = ' | '.join(t[:200] for t in texts[:2])
    return '%d [%s%s]' % (len(texts), shown, ' …' if len(texts) > 2 else '')


def same_rows(want, got, ordered=False):
    a, b = [text_of(r) for r in want], [text_of(r) for r in got]
    left, right = Counter(a), Counter(b)
    missing, extra = list((left - right).elements()), list((right - left).elements())
    expect(not missing and not extra, '%d rows are expected, %d came: missing %s, too many %s', len(a), len(b),
           _some(missing), _some(extra))
    expect(not ordered or a == b, 'the rows are right, their order is not')
    for (_, w), (_, g) in zip(sorted(zip(a, want), key=lambda x: x[0]), sorted(zip(b, got), key=lambda x: x[0])):
        expect(_shown_alike(w, g), 'shown otherwise: %.200s, expected %.200s', json.dumps(g), json.dumps(w))


def contained(some, rows):
    extra = list((Counter(map(text_of, some)) - Counter(map(text_of, rows))).elements())
    expect(not extra, 'rows that the scan does not have: %s', _some(extra))


def without(row, *names):
    return {k: v for k, v in row.items() if k not in names}


def repeated_ids(rows):
    counts = Counter(r[ROW_ID] for r in rows if r[ROW_ID] is not None)
    return {i for i, n in counts.items() if n > 1}


# ---- the changelog, worked out from whole scans

def difference(old, new):
    """The net change between two scans with the same columns (C1 to C4): rows with _change_type and both lineage columns."""
    before = {r[ROW_ID]: r for r in old if r[ROW_ID] is not None}
    after = {r[ROW_ID]: r for r in new if r[ROW_ID] is not None}
    events = []
    for i in before.keys() & after.keys():
        if before[i][SEQUENCE] != after[i][SEQUENCE]:
            events += [dict(before[i], **{KIND: 'UPDATE_BEFORE'}), dict(after[i], **{KIND: 'UPDATE_AFTER'})]
    # What has no partner by id is matched by its values where at least one side has no id.
    groups = {}
    for side, rows, others in ((0, old, after), (1, new, before)):
        for row in rows:
            if row[ROW_ID] is None or row[ROW_ID] not in others:
                nothing = ({False: [], True: []}, {False: [], True: []})
                group = groups.setdefault(text_of(without(row, ROW_ID, SEQUENCE)), nothing)
                group[side][row[ROW_ID] is not None].append(row)
    for gone, come in groups.values():
        for left, right in ((False, False), (False, True), (True, False)):
            a, b = (sorted(rows, key=lambda r: r[ROW_ID] or 0) for rows in (gone[left], come[right]))
            n = min(len(a), len(b))
            gone[left], come[right] = a[n:], b[n:]
        events += [dict(r, **{KIND: 'DELETE'}) for r in gone[False] + gone[True]]
        events += [dict(r, **{KIND: 'INSERT'}) for r in come[False] + come[True]]
    return events


def events_of(rows):
    """The rows of a changelog as events: (before or None, after or None), each pair checked to be adjacent."""
    events, i = [], 0
    while i < len(rows):
        kind = rows[i][KIND]
        if kind == 'UPDATE_BEFORE':
            expect(i + 1 < len(rows) and rows[i + 1][KIND] == 'UPDATE_AFTER', 'no UPDATE_AFTER follows %s', json.dumps(rows[i]))
            before, after = rows[i], rows[i + 1]
            for name in (ROW_ID, ORDINAL, COMMIT):
                expect(before[name] == after[name], 'the images of a pair differ in %s: %s', name, json.dumps(after))
            events.append((before, after))
            i += 2
            continue
        expect(kind in ('INSERT', 'DELETE'), 'not in its place: %s', json.dumps(rows[i]))
        events.append((rows[i], None) if kind == 'DELETE' else (None, rows[i]))
        i += 1
    return events


def in_order(rows, places=False):
    """C12: by ordinal, then _row_id of the event with nulls last; with `places` then by file and position."""
    last = None
    for before, after in events_of(rows):
        row = after or before
        key = (row[ORDINAL], row[ROW_ID] is None, row[ROW_ID] or 0)
        if places:
            key += (row['_file'].encode(), row['_pos'])
        expect(last is None or last <= key, 'out of order: %.250s', json.dumps(row))
        last = key
