"""cases_v2.py: tables of version 1 and 2, which have no row ids: PyIceberg reads and writes them too."""
from shared import COPY_ON_WRITE, MERGE_ON_READ, deleted, inserted, modes, nothing, put, updated

SCHEMA = 'id long, g int, v string'


def row(i, v='v'):
    return {'id': i, 'g': i % 3, 'v': v}


def every_verb(world):
    for version in (1, 2):
        t = world.table('version_%d' % version)
        t.create(SCHEMA, '--format-version', version, '--partition', 'g', properties=modes(COPY_ON_WRITE))
        t.append(*[row(i) for i in range(12)])
        t.write(updated(lambda r: r['id'] in (1, 2), v='u'), 'update', '--set', "v = 'u'", '--where', 'id in (1, 2)')
        t.write(deleted(lambda r: r['id'] in (2, 3)), 'delete', '--where', 'id in (2, 3)')
        rows = [row(4, 'put'), row(20)]
        t.write(put(rows, ['id']), 'upsert', '--key', 'id', rows=rows)
        t.by_spark(updated(lambda r: r['id'] in (5, 20), v='s'), "UPDATE {t} SET v = 's' WHERE id IN (5, 20)")
        t.write(deleted(lambda r: r['id'] == 5), 'delete', '--where', 'id = 5')
        t.by_spark(nothing(), "CALL w.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
        t.write(updated(lambda r: r['g'] == 1, v='x'), 'update', '--set', "v = 'x'", '--where', 'g = 1')
        t.finish()


def position_deletes(world):
    """Spark's merge-on-read of version 2: bergline reads it and goes on by copy-on-write."""
    t = world.table('version_2_merge')
    t.create_by_spark('id bigint, g int, v string', 'PARTITIONED BY (g)', dict(modes(MERGE_ON_READ), **{'format-version': '2'}))
    t.append(*[row(i) for i in range(12)])
    t.by_spark(deleted(lambda r: r['id'] in (1, 5)), 'DELETE FROM {t} WHERE id IN (1, 5)')
    t.by_spark(updated(lambda r: r['id'] in (2, 6), v='s'), "UPDATE {t} SET v = 's' WHERE id IN (2, 6)")
    t.write(updated(lambda r: r['id'] in (2, 8), v='b'), 'update', '--set', "v = 'b'", '--where', 'id in (2, 8)', '--mode', COPY_ON_WRITE)
    t.write(deleted(lambda r: r['id'] == 7), 'delete', '--where', 'id = 7', '--mode', COPY_ON_WRITE)
    rows = [row(i, 'put') for i in range(8, 14)]
    t.write(put(rows, ['id']), 'upsert', '--key', 'id', '--mode', COPY_ON_WRITE, rows=rows)
    t.by_spark(deleted(lambda r: r['id'] == 8), 'DELETE FROM {t} WHERE id = 8')
    t.finish()


CASES = [every_verb, position_deletes]
