"""cases_maintain.py: Spark's procedures over tables that bergline wrote, and bergline after them; files that empty; old delete files."""
import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq

from rows import expect, same_rows
from shared import COPY_ON_WRITE, MERGE_ON_READ, deleted, inserted, modes, nothing, put, reshaped, updated

SCHEMA = 'id long, g int, v string'


def row(i, v='v'):
    return {'id': i, 'g': i % 3, 'v': v}


def files(t, what='files'):
    return t.run('inspect', what)


def vectors(t):
    return [f for f in files(t, 'delete_files') if f['file_format'].lower() == 'puffin']


def many_vectors(world):
    """A commit's vectors share a Puffin file, also with those that they follow."""
    t = world.table('vectors')
    t.create(SCHEMA, properties=modes(MERGE_ON_READ))
    t.alone = True
    for n in range(6):
        t.append(*[row(i) for i in range(n * 10, n * 10 + 10)])
    t.alone = False
    t.write(deleted(lambda r: r['id'] % 10 < 2), 'delete', '--where', ' or '.join('id in (%d, %d)' % (n, n + 1) for n in range(0, 60, 10)))
    t.write(updated(lambda r: r['id'] % 10 == 5 and r['id'] < 30, v='u'), 'update', '--set', "v = 'u'", '--where', 'id in (5, 15, 25)')
    t.by_spark(deleted(lambda r: r['id'] in (6, 16, 46)), 'DELETE FROM {t} WHERE id IN (6, 16, 46)')
    t.write(deleted(lambda r: r['id'] in (7, 17, 27, 47)), 'delete', '--where', 'id in (7, 17, 27, 47)')
    t.finish()


def files_that_empty(world):
    for mode in (MERGE_ON_READ, COPY_ON_WRITE):
        t = world.table('emptied_' + mode[:4])
        t.create(SCHEMA, properties=modes(mode))
        t.append(*[row(i) for i in range(10)])
        t.append(*[row(i) for i in range(10, 20)])
        t.write(deleted(lambda r: r['id'] < 5), 'delete', '--where', 'id < 5')
        t.write(deleted(lambda r: r['id'] < 10), 'delete', '--where', 'id < 10')
        t.by_spark(updated(lambda r: r['id'] == 12, v='s'), "UPDATE {t} SET v = 's' WHERE id = 12")
        t.write(updated(lambda r: True, v='all'), 'update', '--set', "v = 'all'")
        t.by_spark(deleted(lambda r: r['id'] != 12), 'DELETE FROM {t} WHERE id != 12')
        t.write(deleted(lambda r: True), 'delete', '--where', 'id = 12')
        t.append(row(30))
        t.by_spark(deleted(lambda r: True), 'DELETE FROM {t}')
        t.append(row(31))
        t.finish()


def procedures(world):
    t = world.table('maintained')
    t.create(SCHEMA, '--partition', 'g', properties=dict(modes(MERGE_ON_READ), **{'commit.manifest.min-count-to-merge': '3'}))
    t.append(*[row(i) for i in range(12)])
    for n in range(4):
        t.append(row(20 + n))
        t.write(updated(lambda r: r['id'] == n, v='u%d' % n), 'update', '--set', "v = 'u%d'" % n, '--where', 'id = %d' % n)
    t.by_spark(nothing(), "CALL w.system.rewrite_manifests('{name}')")
    t.write(deleted(lambda r: r['id'] == 5), 'delete', '--where', 'id = 5')
    t.by_spark(nothing(), "CALL w.system.rewrite_data_files(table => '{name}', where => 'g = 1', options => map('rewrite-all', 'true'))")
    t.write(updated(lambda r: r['g'] == 1, v='one'), 'update', '--set', "v = 'one'", '--where', 'g = 1')
    t.by_spark(nothing(), "CALL w.system.rewrite_position_delete_files(table => '{name}', options => map('rewrite-all', 'true'))")
    t.by_spark(nothing(), "CALL w.system.rewrite_data_files(table => '{name}', strategy => 'sort', sort_order => 'id DESC', options => map('rewrite-all', 'true'))")
    t.write(put([row(2, 'put'), row(50)], ['id']), 'upsert', '--key', 'id', rows=[row(2, 'put'), row(50)])
    expired = len(t.load()['snapshots'])
    t.sql("CALL w.system.expire_snapshots(table => '{name}', older_than => TIMESTAMP '2999-01-01 00:00:00', retain_last => 2)")
    t.load()
    expect(len(t.metadata['snapshots']) == 2 < expired, 'snapshots are left: %d', len(t.metadata['snapshots']))
    t.agree()
    t.events = None  # the log no longer reaches back
    t.write(deleted(lambda r: r['id'] in (2, 20)), 'delete', '--where', 'id in (2, 20)')
    t.by_spark(inserted(row(60)), "INSERT INTO {t} VALUES (60, 0, 'v')")
    t.finish()


def position_deletes_become_vectors(world):
    """A table of version 2 with position deletes of Spark, upgraded by Spark: bergline's vectors take them in."""
    # DuckDB 1.5.5 gives rows that have no id yet a sequence number.
    t = world.table('absorbed', faults={'duckdb': '"_row_id": null'})
    t.create_by_spark('id bigint, g int, v string', properties=dict(modes(MERGE_ON_READ), **{'format-version': '2', 'write.delete.granularity': 'partition'}))
    t.by_spark(inserted(*[row(i) for i in range(8)]), "INSERT INTO {t} SELECT id, cast(id % 3 as int), 'v' FROM range(0, 8)")
    t.by_spark(inserted(*[row(i) for i in range(8, 16)]), "INSERT INTO {t} SELECT id, cast(id % 3 as int), 'v' FROM range(8, 16)")
    t.by_spark(deleted(lambda r: r['id'] in (1, 9)), 'DELETE FROM {t} WHERE id IN (1, 9)')
    t.by_spark(updated(lambda r: r['id'] == 2, v='two'), "UPDATE {t} SET v = 'two' WHERE id = 2")
    before = t.load()
    t.sql("ALTER TABLE {t} SET TBLPROPERTIES ('format-version' = '3')")
    t.check(before, nothing())
    t.upgraded()
    t.write(deleted(lambda r: r['id'] == 3), 'delete', '--where', 'id = 3')
    kinds = sorted((f['file_format'].lower(), f['record_count']) for f in files(t, 'delete_files'))
    expect([k for k in kinds if k[0] == 'puffin'] == [('puffin', 3)], 'the vector holds the old deletes too: %s', kinds)
    t.write(updated(lambda r: r['id'] in (4, 10), v='u'), 'update', '--set', "v = 'u'", '--where', 'id in (4, 10)')
    t.by_spark(deleted(lambda r: r['id'] in (5, 11)), 'DELETE FROM {t} WHERE id IN (5, 11)')
    t.by_spark(nothing(), "CALL w.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
    t.write(updated(lambda r: r['id'] == 6, v='u'), 'update', '--set', "v = 'u'", '--where', 'id = 6')
    t.finish()


def verbs_by_key(world):
    """sync and apply, in both modes, between changes of Spark."""
    for mode in (MERGE_ON_READ, COPY_ON_WRITE):
        t = world.table('by_key_' + mode[:4])
        t.create(SCHEMA, '--partition', 'g', properties=modes(mode))
        rows = [row(i) for i in range(12)]
        t.write(put(rows, ['id'], all_of_it=True), 'sync', '--key', 'id', rows=rows)
        t.by_spark(updated(lambda r: r['id'] < 3, v='s'), "UPDATE {t} SET v = 's' WHERE id < 3")
        rows = [row(i) for i in range(2, 14)]
        t.write(put(rows, ['id'], all_of_it=True), 'sync', '--key', 'id', rows=rows)
        t.by_spark(updated(lambda r: r['id'] == 4, v='s') + deleted(lambda r: r['id'] == 5), """MERGE INTO {t} t USING (SELECT 4L AS id UNION ALL SELECT 5L) s
                   ON t.id = s.id WHEN MATCHED AND s.id = 5 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 's'""")
        events = [{'before': None, 'after': row(20), 'op': 'c'}, {'before': None, 'after': row(6, 'old'), 'op': 'u'}, {'before': None, 'after': row(6, 'new'), 'op': 'u'},
                  {'before': row(7), 'after': None, 'op': 'd'}, {'before': row(8), 'after': row(8), 'op': 'u'}]
        t.write(updated(lambda r: r['id'] == 6, v='new') + deleted(lambda r: r['id'] == 7) + inserted(row(20)),
                'apply', '--key', 'id', '--source', 'debezium', rows=events)
        t.by_spark(nothing(), "CALL w.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
        t.write(updated(lambda r: r['id'] == 8, g=0), 'update', '--set', 'g = 0', '--where', 'id = 8')
        t.finish()


def files_of_others(world):
    """add-files: by field ids, by name mapping, and Spark's add_files beside them."""
    t = world.table('added')
    t.create(SCHEMA)
    plain = pa.table({'v': ['a', 'b'], 'id': pa.array([1, 2], pa.int64()), 'more': [1, 2]})
    folder = world.path('files')
    os.makedirs(folder)
    pq.write_table(plain, folder + '/plain.parquet')
    pq.write_table(pa.table({'id': pa.array([3], pa.int64()), 'g': pa.array([3], pa.int32())}), folder + '/other.parquet')
    t.write(inserted({'id': 1, 'g': None, 'v': 'a'}, {'id': 2, 'g': None, 'v': 'b'}, {'id': 3, 'g': 3, 'v': None}), 'add-files',
            folder + '/plain.parquet', folder + '/other.parquet')
    t.write(updated(lambda r: r['id'] == 2, v='u'), 'update', '--set', "v = 'u'", '--where', 'id = 2')
    t.by_spark(updated(lambda r: r['id'] == 3, v='s'), "UPDATE {t} SET v = 's' WHERE id = 3")
    os.makedirs(folder + '/spark')
    pq.write_table(pa.table({'id': pa.array([4, 5], pa.int64()), 'v': ['x', 'y']}), folder + '/spark/more.parquet')
    t.by_spark(inserted({'id': 4, 'g': None, 'v': 'x'}, {'id': 5, 'g': None, 'v': 'y'}),
               "CALL w.system.add_files(table => '{name}', source_table => '`parquet`.`%s`')" % (folder + '/spark'))
    t.write(updated(lambda r: r['id'] in (1, 5), v='w'), 'update', '--set', "v = 'w'", '--where', 'id in (1, 5)', '--mode', COPY_ON_WRITE)
    t.step(reshaped(lambda r: {{'g': 'h'}.get(k, k): v for k, v in r.items()}), 'alter', 'rename', 'g', 'h')
    t.by_spark(nothing(), "CALL w.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
    t.finish()


def names_that_come_back(world):
    """A column dropped and added again, and one that takes a dropped one's name, in files without ids: by bergline as by Spark."""
    t, theirs = world.table('back'), world.table('back_by_spark')
    folder = world.path('back_files')
    os.makedirs(folder)
    pq.write_table(pa.table({'id': pa.array([1, 2], pa.int64()), 'g': pa.array([7, 8], pa.int32()), 'v': ['a', 'b']}), folder + '/plain.parquet')
    rows = [{'id': 1, 'g': 7, 'v': 'a'}, {'id': 2, 'g': 8, 'v': 'b'}]
    t.create(SCHEMA)
    theirs.create(SCHEMA)
    for each in (t, theirs):
        each.write(inserted(*rows), 'add-files', folder + '/plain.parquet')
    old = {r['id']: r for r in rows}
    t.step(reshaped(without_column('v')), 'alter', 'drop', 'v')
    t.step(reshaped(lambda r: dict(r, v=old[r['id']]['v'])), 'alter', 'add', 'v', 'string')
    t.append({'id': 3, 'g': 3, 'v': 'new'})
    theirs.by_spark(reshaped(without_column('v')), 'ALTER TABLE {t} DROP COLUMN v')
    theirs.by_spark(reshaped(lambda r: dict(r, v=old[r['id']]['v'])), 'ALTER TABLE {t} ADD COLUMN v string')
    theirs.append({'id': 3, 'g': 3, 'v': 'new'})
    t.finish()
    theirs.finish()


def without_column(name):
    return lambda row: {k: v for k, v in row.items() if k != name}


def moved_for_good(world):
    """relocate: Spark and DuckDB read the table where it lies now, and Spark writes it there."""
    t = world.table('here')
    t.create(SCHEMA, '--partition', 'g', properties=modes(MERGE_ON_READ))
    t.append(*[row(i) for i in range(9)])
    t.write(deleted(lambda r: r['id'] == 4), 'delete', '--where', 'id = 4')
    t.by_spark(updated(lambda r: r['id'] == 5, v='s'), "UPDATE {t} SET v = 's' WHERE id = 5")
    u = world.table('there')
    shutil.move(t.folder, u.folder)
    u.twin, u.events = t.twin, t.events
    u.run('relocate', '--to', u.folder)
    u.load()
    u.agree()
    u.by_spark(updated(lambda r: r['id'] in (5, 6), v='t'), "UPDATE {t} SET v = 't' WHERE id IN (5, 6)")
    u.write(deleted(lambda r: r['id'] == 6), 'delete', '--where', 'id = 6')
    u.finish()


CASES = [many_vectors, files_that_empty, procedures, position_deletes_become_vectors, verbs_by_key, files_of_others, names_that_come_back, moved_for_good]
