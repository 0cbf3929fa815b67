"""cases_schema.py: schemas that change under old files, by bergline and by Spark in turn; default values."""
from rows import without
from shared import COPY_ON_WRITE, MERGE_ON_READ, deleted, inserted, modes, nothing, put, reshaped, updated

SCHEMA = '''id int not null, f float, d decimal(9,2), x string, s struct<p: int, q: string>, l list<struct<k: int, v: string>>,
m map<string, struct<u: int, w: string>>'''


def row(i, **more):
    return dict({'id': i, 'f': 0.5 * i, 'd': '%d.25' % i, 'x': 'x%d' % i, 's': {'p': i, 'q': 'q%d' % i}, 'l': [{'k': i, 'v': 'v'}, None],
                 'm': {'one': {'u': i, 'w': 'w'}, 'none': None}}, **more)


def renamed(old, new):
    return reshaped(lambda r: {new if k == old else k: v for k, v in r.items()})


def placed(name, value, at=None):
    def shape(r):
        items = list(r.items())
        items.insert(len(items) if at is None else at, (name, value))
        return dict(items)
    return reshaped(shape)


def columns_come_and_go(world):
    t = world.table('evolved')
    t.create(SCHEMA, properties=modes(MERGE_ON_READ))
    t.append(row(1), row(2, s=None, l=[], m={}), row(3, f=None, d=None, x=None, s={'p': None, 'q': None}, l=None, m=None), row(4))
    t.step(placed('note', None, 1), 'alter', 'add', 'note', 'string', 'after', 'id')
    t.step(renamed('x', 'y'), 'alter', 'rename', 'x', 'y')
    t.step(nothing(), 'alter', 'type', 'id', 'long')
    t.step(nothing(), 'alter', 'type', 'f', 'double')
    t.step(nothing(), 'alter', 'type', 'd', 'decimal(20,2)')
    wide = dict(id=2**40, note='n5', f=0.1, d='999999999999999999.99', y='y5', s=None, l=None, m=None)
    t.append(wide)
    t.write(updated(lambda r: r['id'] in (1, 2**40), note='changed'), 'update', '--set', "note = 'changed'", '--where', 'id in (1, 1099511627776)')
    # Spark goes on with the schema: fields inside structs, lists and maps.
    t.sql('ALTER TABLE {t} RENAME COLUMN s.q TO qq')
    t.sql('ALTER TABLE {t} ADD COLUMN s.r double')
    t.sql('ALTER TABLE {t} ALTER COLUMN s.p TYPE bigint')
    t.sql('ALTER TABLE {t} ADD COLUMN l.element.extra string FIRST')
    t.sql('ALTER TABLE {t} DROP COLUMN m.value.u')

    def deeper(r):
        s = r['s'] and {'p': r['s']['p'], 'qq': r['s']['q'], 'r': None}
        l = r['l'] and [e and dict(extra=None, **e) for e in r['l']]
        return dict(r, s=s, l=l, m=r['m'] and {k: v and without(v, 'u') for k, v in r['m'].items()})
    t.check(t.metadata, reshaped(deeper))
    new = dict(id=6, note=None, f=None, d='6.00', y='y6', s={'p': 2**33, 'qq': 'q', 'r': 0.25}, l=[{'extra': 'e', 'k': 1, 'v': None}], m={'k': {'w': 'w6'}})
    t.append(new)
    t.by_spark(updated(lambda r: r['id'] in (3, 6), note='by spark'), "UPDATE {t} SET note = 'by spark' WHERE id IN (3, 6)")
    # A dropped column's name comes back as another column.
    t.step(reshaped(lambda r: without(r, 'y')), 'alter', 'drop', 'y')
    t.write(deleted(lambda r: r['id'] == 4), 'delete', '--where', 'id = 4')
    t.step(placed('y', None), 'alter', 'add', 'y', 'string')
    t.step(reshaped(lambda r: {'y': r['y'], **without(r, 'y')}), 'alter', 'move', 'y', 'first')
    t.step(nothing(), 'alter', 'optional', 'id')
    t.write(updated(lambda r: r['id'] == 1, y='second life'), 'update', '--set', "y = 'second life'", '--where', 'id = 1', '--mode', COPY_ON_WRITE)
    t.by_spark(nothing(), "CALL w.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
    t.write(updated(lambda r: r['id'] == 2, f=1e300), 'update', '--set', 'f = 1e300', '--where', 'id = 2')
    t.finish()


DEFAULTS = [('int', '7', 7), ('string', "'seven'", 'seven'), ('decimal(9,2)', '7.70', '7.70'), ('date', "'2026-07-07'", '2026-07-07'),
            ('timestamptz', "'2026-07-07T07:07:07.000007+00:00'", '2026-07-07T07:07:07.000007+00:00'), ('boolean', 'true', True), ('double', '0.7', 0.7),
            ('timestamp', "'2026-07-07T07:07:07'", '2026-07-07T07:07:07.000000'), ('binary', "x'0707'", 'Bwc='), ('fixed[2]', "x'0707'", 'Bwc='),
            ('uuid', "'f79c3e09-677c-4bbd-a479-3f349cb785e7'", 'f79c3e09-677c-4bbd-a479-3f349cb785e7')]


def defaults_fill_old_rows(world):
    t = world.table('defaults')
    t.create('id int not null, s struct<a: int>')
    t.append({'id': 1, 's': {'a': 1}}, {'id': 2, 's': None})
    for n, (kind, literal, value) in enumerate(DEFAULTS):
        t.run('alter', 'add', 'c%d' % n, kind, 'default', literal)
    t.check(t.load(), reshaped(lambda r: {**r, **{'c%d' % n: v for n, (_, _, v) in enumerate(DEFAULTS)}}))
    t.append({'id': 3, 's': None}, {'id': 4, 's': None, 'c0': None, 'c1': 'own'})
    t.step(nothing(), 'alter', 'default', 'c1', "'eight'")
    t.append({'id': 5, 's': None, 'c0': 1})
    t.write(updated(lambda r: r['id'] in (1, 4), c0=8), 'update', '--set', 'c0 = 8', '--where', 'id in (1, 4)')
    t.write(put([{'id': 2, 'c5': False}], ['id']), 'upsert', '--key', 'id', '--mode', COPY_ON_WRITE, rows=[{'id': 2, 'c5': False}])
    t.by_spark(updated(lambda r: r['id'] > 2, c6=0.5), 'UPDATE {t} SET c6 = 0.5 WHERE id > 2')
    t.by_spark(nothing(), "CALL w.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
    t.write(updated(lambda r: r['id'] == 1, c6=1.5), 'update', '--set', 'c6 = 1.5', '--where', 'id = 1')
    t.finish()


CASES = [columns_come_and_go, defaults_fill_old_rows]
