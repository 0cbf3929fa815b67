"""cases_mode.py: every verb in both modes; Spark goes on with the table, and bergline with Spark's."""
from shared import (COPY_ON_WRITE, MERGE_ON_READ, Shared, deleted, inserted, modes, nothing, put, updated)

SCHEMA = 'id long not null, name string, v double, price decimal(10,2), at timestamptz'
SPARK_COLUMNS = 'id bigint NOT NULL, name string, v double, price decimal(10,2), at timestamp'


def row(i, **more):
    return dict({'id': i, 'name': 'row %d' % i, 'v': i * 1.5, 'price': '%.2f' % (i / 4), 'at': '2026-01-01T00:00:%02d.000001+00:00' % (i % 60)}, **more)


def write_by_bergline(t, mode):
    t.append(*[row(i) for i in range(1, 21)])
    t.append(row(21, name=None, v='NaN'), row(22, name='', v=None, price=None), row(23, name='ünï "quoted" \\ back', at='1969-12-31T23:59:59.999999+00:00'))
    t.write(updated(lambda r: r['id'] in (2, 5, 21), v=lambda r: 0.25, name='changed'), 'update', '--set', 'v = 0.25', '--set', "name = 'changed'",
            '--where', 'id in (2, 5, 21)', '--mode', mode)
    t.write(deleted(lambda r: r['id'] in (3, 7)), 'delete', '--where', 'id = 3 or id = 7', '--mode', mode)
    t.write(updated(lambda r: r['id'] == 6), 'update', '--set', 'v = v', '--where', 'id = 6', '--mode', mode)
    rows = [row(1, name='put'), row(20), row(30, name='new'), row(2, name='changed', v=0.25)]
    t.write(put(rows, ['id']), 'upsert', '--key', 'id', '--mode', mode, rows=rows)


def write_by_spark(t):
    t.by_spark(updated(lambda r: r['id'] in (2, 8, 30), v=9.5), 'UPDATE {t} SET v = 9.5 WHERE id IN (2, 8, 30)')
    t.by_spark(deleted(lambda r: r['id'] in (9, 22)), 'DELETE FROM {t} WHERE id IN (9, 22)')
    t.by_spark(updated(lambda r: r['id'] == 1, name='merged') + deleted(lambda r: r['id'] == 12) +
               inserted(row(40, name='forty', v=None, price=None, at=None)),
               """MERGE INTO {t} t USING (SELECT * FROM VALUES (1L, 'merged'), (12L, 'gone'), (40L, 'forty') AS s(id, name)) s ON t.id = s.id
                  WHEN MATCHED AND s.name = 'gone' THEN DELETE WHEN MATCHED THEN UPDATE SET name = s.name
                  WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name)""")
    t.by_spark(nothing(), "CALL w.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")


def both_ways(world, mode, by):
    short = mode.split('-')[0]
    t = world.table('%s_%s' % (by, short))
    if by == 'bergline':
        t.create(SCHEMA, properties=modes(mode))
        write_by_bergline(t, mode)
        write_by_spark(t)
    else:
        t.create_by_spark(SPARK_COLUMNS, properties=modes(mode))
        t.by_spark(inserted(*[row(i, at=None, name=None) for i in range(1, 31)]),
                   'INSERT INTO {t} SELECT id, null, id * 1.5D, cast(id / 4 as decimal(10,2)), null FROM range(1, 31)')
        write_by_spark(t)
        t.write(put([row(5)], ['id']), 'upsert', '--key', 'id', '--mode', mode, rows=[row(5)])
    t.write(updated(lambda r: r['id'] < 12, name='again'), 'update', '--set', "name = 'again'", '--where', 'id < 12', '--mode', mode)
    t.write(deleted(lambda r: r['id'] == 40), 'delete', '--where', 'id = 40', '--mode', mode)
    t.finish()


def merge_on_read_starting_with_bergline(world):
    both_ways(world, MERGE_ON_READ, 'bergline')


def copy_on_write_starting_with_bergline(world):
    both_ways(world, COPY_ON_WRITE, 'bergline')


def merge_on_read_starting_with_spark(world):
    both_ways(world, MERGE_ON_READ, 'spark')


def copy_on_write_starting_with_spark(world):
    both_ways(world, COPY_ON_WRITE, 'spark')


CASES = [merge_on_read_starting_with_bergline, copy_on_write_starting_with_bergline, merge_on_read_starting_with_spark, copy_on_write_starting_with_spark]
