"""values.py: what an engine's Arrow table says, as the rows that `bergline scan --format ndjson` prints."""
import base64
import datetime
import json
import math
import struct
import uuid

import pyarrow as pa

PER_SECOND = {'s': 1, 'ms': 10**3, 'us': 10**6, 'ns': 10**9}


def rows(table, fields, lineage):
    """fields: the Iceberg fields of the first columns; lineage: the names of the columns behind them."""
    columns = [[value(f['type'], v) for v in table.column(i)] for i, f in enumerate(fields)]
    columns += [table.column(len(fields) + i).to_pylist() for i in range(len(lineage))]
    names = [f['name'] for f in fields] + list(lineage)
    return [dict(zip(names, row)) for row in zip(*columns)]


def value(kind, v):
    """A scalar of Arrow for a column of Iceberg's type `kind`."""
    if not v.is_valid:
        return None
    if isinstance(kind, dict):
        return nested(kind, v)
    if isinstance(v, pa.ExtensionScalar):
        v = v.value
    word = kind.split('(')[0].split('[')[0]
    return SHOW.get(word, lambda x: x.as_py())(v)


def nested(kind, v):
    if kind['type'] == 'struct':
        return {f['name']: value(f['type'], v[i]) for i, f in enumerate(kind['fields'])}
    if kind['type'] == 'list':
        return [value(kind['element'], x) for x in v.values]
    pairs = [(value(kind['key'], p[0]), value(kind['value'], p[1])) for p in v.values]
    if kind['key'] == 'string':
        return dict(pairs)
    return [{'key': k, 'value': x} for k, x in pairs]


def number(x):
    if math.isnan(x):
        return 'NaN'
    if math.isinf(x):
        return 'Infinity' if x > 0 else '-Infinity'
    return x


def shortest(x):
    """The double with the fewest digits that is the float x."""
    if math.isfinite(x):
        for digits in range(1, 10):
            y = float('%.*g' % (digits, x))
            try:
                if struct.pack('<f', y) == struct.pack('<f', x):
                    return y
            except OverflowError:
                pass  # rounded up beyond the greatest float
    return number(x)


def moment(v, digits, zone):
    """A timestamp with so many fraction digits; an engine may have kept it in another unit."""
    per = PER_SECOND[v.type.unit]
    seconds, fraction = divmod(v.value, per)
    day = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return '%s.%0*d%s' % (day.isoformat(), digits, fraction * 10**digits // per, zone)


def time_of_day(v):
    micros = v.value * 10**6 // PER_SECOND[v.type.unit]
    return (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros)).time().isoformat('microseconds')


def identifier(v):
    x = v.as_py()
    return str(uuid.UUID(bytes=x) if isinstance(x, bytes) else x).lower()


SHOW = {
    'float': lambda v: shortest(v.as_py()),
    'double': lambda v: number(v.as_py()),
    'decimal': lambda v: format(v.as_py(), 'f'),
    'date': lambda v: v.as_py().isoformat(),
    'time': time_of_day,
    'timestamp': lambda v: moment(v, 6, ''),
    'timestamptz': lambda v: moment(v, 6, '+00:00'),
    'timestamp_ns': lambda v: moment(v, 9, ''),
    'timestamptz_ns': lambda v: moment(v, 9, '+00:00'),
    'uuid': identifier,
    'binary': lambda v: base64.b64encode(v.as_py()).decode(),
    'geometry': lambda v: base64.b64encode(v.as_py()).decode(),
    'fixed': lambda v: base64.b64encode(v.as_py()).decode(),
    'variant': lambda v: json.loads(v.as_py()),  # the readers ask for its JSON
}
