"""cases_catalog.py: one SQLite file as the catalog of Java's JdbcCatalog, of PyIceberg's SqlCatalog and of bergline."""
import os
import threading

import pyarrow as pa

from rows import Failure, difference, expect, repeated_ids, same_rows, without
from shared import COPY_ON_WRITE, LINEAGE, MERGE_ON_READ, LeftOut, deleted, inserted, modes, updated

SCHEMA = 'id long, v string'


def row(i, v='v'):
    return {'id': i, 'v': v}


class Catalog:
    """The file as each of them opens it: by the name j, which is a column in it."""

    def __init__(self, world, name, warehouse):
        self.world, self.name, self.warehouse = world, name, warehouse
        self.file = world.path('catalog.db')
        self.words = ['--uri', 'sqlite:///' + self.file, '--warehouse', warehouse, '--catalog', name]

    def bergline(self, *args):
        return self.world.program.run(['catalog', *args, *self.words, '--format', 'json']).ok().document()

    def pyiceberg(self):
        if 'pyiceberg' not in self.world.readers:
            raise LeftOut('no PyIceberg')
        from pyiceberg.catalog.sql import SqlCatalog
        return SqlCatalog(self.name, uri='sqlite:///' + self.file, warehouse=self.warehouse, init_catalog_tables='false')

    def table(self, namespace, name, spark=None, faults=None):
        folder = os.path.join(self.warehouse, namespace, name)
        return self.world.table(name, folder=folder, spark_name=spark, address=['%s.%s' % (namespace, name), *self.words], faults=faults)


def shared_with_spark(world):
    if not world.spark or not world.spark.has_sqlite:
        raise LeftOut('no SQLite driver for Spark')
    c = Catalog(world, 'j', world.path('jdbc'))
    c.bergline('create-namespace', 'ours', '--property', 'keeper=bergline')
    world.spark.sql("CREATE NAMESPACE j.theirs WITH DBPROPERTIES ('keeper' = 'spark')")
    t = c.table('ours', 'orders', 'j.ours.orders')
    t.create(SCHEMA, properties=modes(MERGE_ON_READ))
    t.append(row(1), row(2))
    t.by_spark(updated(lambda r: r['id'] == 1, v='s'), "UPDATE {t} SET v = 's' WHERE id = 1")
    t.write(updated(lambda r: r['id'] == 2, v='b'), 'update', '--set', "v = 'b'", '--where', 'id = 2')
    t.by_spark(inserted(row(3)), "INSERT INTO {t} VALUES (3, 'v')")
    t.finish()
    u = c.table('theirs', 'items', 'j.theirs.items')
    u.create_by_spark('id bigint, v string', properties=modes(COPY_ON_WRITE))
    u.append(row(1), row(2), row(3))
    u.by_spark(deleted(lambda r: r['id'] == 2), 'DELETE FROM {t} WHERE id = 2')
    u.write(updated(lambda r: r['id'] == 3, v='b'), 'update', '--set', "v = 'b'", '--where', 'id = 3')
    u.finish()
    # Names: moved by one, found by the other.
    c.bergline('rename', 'theirs.items', 'ours.goods')
    u.spark_name, u.address = 'j.ours.goods', ['ours.goods', *c.words]
    u.by_spark(inserted(row(9)), "INSERT INTO {t} VALUES (9, 'v')")
    world.spark.sql('ALTER TABLE j.ours.goods RENAME TO theirs.things')
    u.spark_name, u.address = 'j.theirs.things', ['theirs.things', *c.words]
    u.write(deleted(lambda r: r['id'] == 9), 'delete', '--where', 'id = 9')
    names = sorted(r['namespace'] + '.' + r['tableName'] for ns in ('ours', 'theirs') for r in world.spark.sql('SHOW TABLES IN j.' + ns))
    expect(names == ['ours.orders', 'theirs.things'], 'Spark lists %s', names)
    c.bergline('drop', 'ours.orders', '--purge', '--yes')
    world.spark.sql('DROP TABLE j.theirs.things')
    c.bergline('drop-namespace', 'theirs', '--yes')
    names = sorted(r['namespace'] for r in world.spark.sql('SHOW NAMESPACES IN j'))
    expect('ours' in names and 'theirs' not in names, 'Spark lists namespaces %s', names)


def shared_with_pyiceberg(world):
    c = Catalog(world, 'p', world.path('pyiceberg'))
    c.bergline('create-namespace', 'ours')
    python = c.pyiceberg()
    t = c.table('ours', 'v2')
    t.create(SCHEMA, '--format-version', 2, properties=modes(COPY_ON_WRITE))
    t.append(row(1), row(2))

    def by_pyiceberg(effect, act):
        before = t.load()
        act(python.load_table('ours.v2'))
        t.check(before, effect)

    schema = pa.schema([('id', pa.int64()), ('v', pa.string())])
    by_pyiceberg(inserted(row(3), row(4)), lambda x: x.append(pa.Table.from_pylist([row(3), row(4)], schema)))
    t.write(updated(lambda r: r['id'] in (2, 3), v='b'), 'update', '--set', "v = 'b'", '--where', 'id in (2, 3)')
    by_pyiceberg(deleted(lambda r: r['id'] == 1), lambda x: x.delete('id == 1'))
    t.write(deleted(lambda r: r['id'] == 4), 'delete', '--where', 'id = 4')
    by_pyiceberg(updated(lambda r: r['id'] == 2, v='up') + inserted(row(5)), lambda x: x.upsert(pa.Table.from_pylist([row(2, 'up'), row(5)], schema), join_cols=['id']))
    by_pyiceberg(deleted(lambda r: r['id'] == 5) + inserted(row(6)), lambda x: x.overwrite(pa.Table.from_pylist([row(6)], schema), 'id == 5'))
    t.append(row(7))
    t.finish()
    # Its own tables, in its own namespaces.
    python.create_namespace('theirs')
    python.create_table('theirs.made', schema=schema)
    u = c.table('theirs', 'made')
    u.load()
    u.append(row(1))
    u.write(updated(lambda r: True, v='b'), 'update', '--set', "v = 'b'", '--mode', COPY_ON_WRITE)
    u.finish()
    python.rename_table('theirs.made', 'ours.known')
    expect(c.bergline('tables', 'ours') is not None, 'nothing is listed')
    same_rows([row(1, 'b')], world.program.run(['scan', 'ours.known', *c.words, '--format', 'ndjson']).rows())
    c.bergline('drop', 'ours.known', '--yes')
    expect([n[-1] for n in python.list_tables('ours')] == ['v2'], 'PyIceberg lists %s', python.list_tables('ours'))


def races_in_one_catalog(world):
    """Spark and bergline commit to one table at once: every commit lands, every row has an id of its own."""
    if not world.spark or not world.spark.has_sqlite:
        raise LeftOut('no SQLite driver for Spark')
    c = Catalog(world, 'j', world.path('jdbc'))
    world.spark.sql('CREATE NAMESPACE IF NOT EXISTS j.race')
    t = c.table('race', 'busy', 'j.race.busy')
    t.create(SCHEMA, properties={'commit.retry.num-retries': '50', 'commit.retry.max-wait-ms': '500'})
    t.append(*[row(i) for i in range(4)])
    failed = []

    def by_spark():
        for i in range(100, 105):
            try:
                world.spark.sql("INSERT INTO j.race.busy VALUES (%d, 'spark')" % i)
            except Failure as e:
                failed.append(str(e))

    thread = threading.Thread(target=by_spark)
    before = t.load()
    thread.start()
    ours = 0
    while thread.is_alive() and ours < 100:
        t.run('append', rows=[row(200 + ours, 'bergline')])
        t.run('update', '--set', "v = 'u'", '--where', 'id = %d' % (ours % 4))
        ours += 1
    thread.join()
    expect(not failed, 'Spark could not commit: %s', failed)
    t.load()
    rows = t.scan()
    same_rows([row(i, 'u' if i < ours else 'v') for i in range(4)] + [row(i, 'spark') for i in range(100, 105)] + [row(200 + i, 'bergline') for i in range(ours)],
              [without(r, *LINEAGE) for r in rows])
    same_rows([{k: r[k] for k in ('id', '_row_id')} for r in t.twin], [{k: r[k] for k in ('id', '_row_id')} for r in rows if r['id'] < 100])
    expect(not repeated_ids(rows), 'ids are there twice: %s', rows)
    t.agree()
    same_rows(difference(t.twin, rows), t.changes(before['current-snapshot-id'], t.head(), '--net'))


def types_by_pyiceberg(world):
    """Every type that version 2 has: PyIceberg reads bergline's, and writes what bergline gives as Arrow. PyIceberg 0.12 reads and
    writes a null list of structs as an empty one."""
    from cases_types import ROWS, SCHEMA as TYPES
    c = Catalog(world, 'p', world.path('pyiceberg'))
    c.bergline('create-namespace', 'types')
    python = c.pyiceberg()
    t = c.table('types', 'ours', faults={'pyiceberg': '"ls": []'})
    t.create(TYPES, '--format-version', 2, properties=modes(COPY_ON_WRITE))
    t.append(*ROWS)
    t.write(updated(lambda r: r['id'] < 4, i=1), 'update', '--set', 'i = 1', '--where', 'id < 4')
    given = world.path('types.arrows')
    world.program.run(['scan', *t.address, '-o', given]).ok()
    with open(given, 'rb') as f:
        rows = pa.ipc.open_stream(f).read_all()
    python.create_table('types.theirs', schema=python.load_table('types.ours').schema())
    python.load_table('types.theirs').append(rows)
    u = c.table('types', 'theirs')
    u.check(None, inserted(*[dict(without(r, *LINEAGE), ls=r['ls'] or []) for r in t.twin]))
    u.write(updated(lambda r: r['id'] > 2, b=False), 'update', '--set', 'b = false', '--where', 'id > 2', '--mode', COPY_ON_WRITE)
    u.finish()


def views_and_registered_tables(world):
    if not world.spark or not world.spark.has_sqlite:
        raise LeftOut('no SQLite driver for Spark')
    c = Catalog(world, 'j', world.path('jdbc'))
    world.spark.sql('CREATE NAMESPACE j.seen')
    t = c.table('seen', 'first', 'j.seen.first')
    t.create(SCHEMA)
    t.append(row(1))
    world.spark.sql('CREATE VIEW j.seen.picture AS SELECT id FROM j.seen.first')
    names = [n for n in c.bergline('tables', 'seen')]
    expect('first' in str(names) and 'picture' not in str(names), 'bergline lists %s', names)
    world.program.run(['scan', 'seen.picture', *c.words]).refused([7])
    world.program.run(['append', 'seen.picture', '-', '--input-format', 'ndjson', *c.words], '{"id": 1}').refused([7])
    # One gives a name to the other's metadata file.
    u = world.table('by_folder')
    u.create(SCHEMA)
    u.append(row(5))
    c.bergline('register', 'seen.ours', u.metadata_path)
    same_rows([{'id': 5}], world.spark.sql('SELECT id FROM j.seen.ours'))
    u.sql("CALL j.system.register_table(table => 'seen.theirs', metadata_file => '%s')" % u.metadata_path)
    same_rows(u.twin, world.program.run(['scan', 'seen.theirs', '--lineage', *c.words, '--format', 'ndjson']).rows())
    world.spark.sql('DROP VIEW j.seen.picture')


def names_in_a_warehouse(world):
    """A warehouse folder is Spark's Hadoop catalog: it goes on with tables that bergline renamed, dropped and registered."""
    where = ['--warehouse', world.path('wh')]

    def names(*args):
        return world.program.run(['catalog', *args, *where, '--format', 'json']).ok().document()

    def go_to(namespace, name):
        t.folder, t.spark_name = world.path('wh', namespace, name), 'w.%s.%s' % (namespace, name)
        t.address = ['%s.%s' % (namespace, name), *where]
        t.load()
        t.agree()

    def drop(name):
        left = names('drop', name, '--yes')['metadata_location']
        world.program.run(['scan', name, *where]).refused([8])
        try:
            world.spark.sql('SELECT * FROM w.' + name)
        except Failure:
            return left
        raise Failure('Spark still reads %s' % name)

    t = world.table('named')
    t.need_spark()
    for namespace in ('old', 'new'):
        names('create-namespace', namespace, '--property', 'keeper=bergline')
    t.folder, t.spark_name, t.address = world.path('wh', 'old', 'orders'), 'w.old.orders', ['old.orders', *where]
    t.create(SCHEMA, properties=modes(MERGE_ON_READ))
    t.append(row(1), row(2), row(3))
    t.by_spark(updated(lambda r: r['id'] == 1, v='s'), "UPDATE {t} SET v = 's' WHERE id = 1")
    t.write(deleted(lambda r: r['id'] == 2), 'delete', '--where', 'id = 2')
    names('rename', 'old.orders', 'new.items')
    go_to('new', 'items')
    t.by_spark(inserted(row(4), row(5)), "INSERT INTO {t} VALUES (4, 'v'), (5, 'v')")
    t.write(updated(lambda r: r['id'] == 4, v='b'), 'update', '--set', "v = 'b'", '--where', 'id = 4')
    names('register', 'new.items', drop('new.items'))
    go_to('new', 'items')
    t.by_spark(deleted(lambda r: r['id'] == 3), 'DELETE FROM {t} WHERE id = 3')
    names('register', 'old.copy', drop('new.items'))
    go_to('old', 'copy')
    t.by_spark(updated(lambda r: r['id'] == 5, v='s'), "UPDATE {t} SET v = 's' WHERE id = 5")
    t.append(row(6))
    t.finish()
    names('drop', 'old.copy', '--purge', '--yes')
    names('drop-namespace', 'old', '--yes')
    # Manifests and vectors that a rename wrote anew stay where they were.
    expect(not any(f.endswith('.parquet') for n in ('old', 'new') for _, _, fs in os.walk(world.path('wh', n)) for f in fs if f[0] != '.'),
           'rows of a purged table stay')


CASES = [names_in_a_warehouse, types_by_pyiceberg, views_and_registered_tables, races_in_one_catalog, shared_with_spark, shared_with_pyiceberg]
