"""cases_refs.py: branches, tags, cherry-picks and audited writes, made by one engine and moved by another."""
from rows import Failure, expect, same_rows
from shared import LINEAGE, deleted, inserted, nothing, updated, without

SCHEMA = 'id long, v string'


def row(i, v='v'):
    return {'id': i, 'v': v}


def ids(rows):
    return {r['id']: r['_row_id'] for r in rows}


def heads(t):
    t.load()
    return {name: ref['snapshot-id'] for name, ref in t.metadata.get('refs', {}).items()}


def branches_of_both(world):
    t = world.table('branches')
    t.create(SCHEMA)
    t.append(row(1), row(2), row(3))
    t.run('branch', 'create', 'ours')
    t.sql('ALTER TABLE {t} CREATE BRANCH theirs')
    t.run('tag', 'create', 'first')
    t.run('append', '--ref', 'theirs', rows=[row(10, 'ours on theirs')])
    t.sql("INSERT INTO {t}.branch_ours VALUES (20, 'theirs on ours')")
    t.run('update', '--set', "v = 'u'", '--where', 'id = 1', '--ref', 'ours')
    t.sql("UPDATE {t}.branch_theirs SET v = 'w' WHERE id IN (2, 10)")
    t.run('delete', '--where', 'id = 3', '--ref', 'theirs')
    t.load()
    for name, snapshot in heads(t).items():
        t.agree(snapshot)
        theirs = world.spark.read(t.metadata_path, t.fields(), ref=name)
        same_rows(t.scan('--at', 'ref:' + name), theirs)
    first, ours, theirs = (t.scan('--at', 'ref:' + n) for n in ('first', 'ours', 'theirs'))
    same_rows([row(1, 'u'), row(2), row(3), row(20, 'theirs on ours')], [without(r, *LINEAGE) for r in ours])
    same_rows([row(1), row(2, 'w'), row(10, 'w')], [without(r, *LINEAGE) for r in theirs])
    for branch in (ours, theirs):
        expect(all(ids(first).get(i, r) == r for i, r in ids(branch).items()), 'ids differ from the tag: %s, %s', first, branch)
    expect(not set(ids(ours).values()) & set(ids(theirs).values()) - set(ids(first).values()), 'two branches gave out one id: %s, %s', ours, theirs)
    # Each moves main on to the other's branch; main did not move meanwhile, so that both are fast-forwards.
    t.sql("CALL w.system.fast_forward('{name}', 'main', 'ours')")
    same_rows(ours, t.scan())
    t.run('rollback', 'first')
    t.run('fast-forward', 'main', 'theirs')
    same_rows(theirs, t.scan())
    t.load()
    t.agree()
    t.sql("CALL w.system.rollback_to_snapshot('{name}', %d)" % heads(t)['first'])
    same_rows(first, t.scan())
    t.run('branch', 'drop', 'theirs')
    t.sql('ALTER TABLE {t} DROP BRANCH ours')
    expect(set(heads(t)) == {'main', 'first'}, 'refs are left: %s', heads(t))
    t.load()
    before = t.metadata['next-row-id']
    t.run('append', rows=[row(30)])
    fresh = ids(t.scan())[30]
    expect(fresh >= before, 'id %d was given out before a rollback (%d)', fresh, before)
    t.load()
    t.agree()


def picked_snapshots(world):
    """Of Spark by bergline, of bergline by Spark."""
    t = world.table('picked')
    t.create(SCHEMA)
    t.append(row(1))
    t.run('branch', 'create', 'work')
    t.run('append', '--ref', 'work', rows=[row(2)])
    t.sql("INSERT INTO {t}.branch_work VALUES (3, 'v')")
    t.load()
    third = heads(t)['work']
    second = t.snapshots()[third]['parent-snapshot-id']
    t.append(row(4))  # main moves, so that what follows is no fast-forward
    before = t.load()
    t.sql("CALL w.system.cherrypick_snapshot('{name}', %d)" % second)
    t.check(before, inserted(row(2)))
    before = t.load()
    t.run('cherry-pick', 'id:%d' % third)
    t.check(before, inserted(row(3)))
    t.finish()


def audited_writes(world):
    t = world.table('audited')
    t.create(SCHEMA, properties={'write.wap.enabled': 'true'})
    t.append(row(1), row(2))
    before = t.load()
    t.run('append', '--wap-id', 'ours', rows=[row(3)])
    t.check(before, inserted())
    t.sql("CALL w.system.publish_changes('{name}', 'ours')")
    t.check(before, inserted(row(3)))
    world.spark.sql('SET spark.wap.id = theirs')
    before = t.load()
    try:
        t.sql("INSERT INTO {t} VALUES (4, 'v')")
    finally:
        world.spark.sql('RESET spark.wap.id')
    t.check(before, inserted())
    t.run('cherry-pick', 'wap:theirs')
    t.check(before, inserted(row(4)))
    before = t.load()
    t.run('update', '--set', "v = 'checked'", '--where', 'id < 3', '--wap-id', 'changed')
    t.sql("CALL w.system.publish_changes('{name}', 'changed')")
    t.check(before, updated(lambda r: r['id'] < 3, v='checked'))
    t.finish()


def batches_that_change_nothing(world):
    """A snapshot that only keeps a batch's id: first, between others, and published."""
    t = world.table('empty_batches')
    t.create(SCHEMA)
    t.write(nothing(), 'delete', '--where', 'id = 9', '--batch-id', 'b0')
    t.by_spark(inserted(row(1), row(2)), "INSERT INTO {t} VALUES (1, 'v'), (2, 'v')")
    t.write(nothing(), 'update', '--set', "v = 'x'", '--where', 'id = 9', '--batch-id', 'b1')
    t.by_spark(updated(lambda r: r['id'] == 1, v='u'), "UPDATE {t} SET v = 'u' WHERE id = 1")
    t.run('delete', '--where', 'id = 9', '--batch-id', 'b2', '--wap-id', 'w')
    t.sql("CALL w.system.publish_changes('{name}', 'w')")
    t.by_spark(inserted(row(3)), "INSERT INTO {t} VALUES (3, 'v')")
    t.write(nothing(), 'delete', '--where', 'id = 9', '--batch-id', 'b3')
    expect(len(t.snapshots()) == 7, 'seven snapshots, not %s', t.snapshots())
    expect(t.run('delete', '--where', 'id = 1', '--batch-id', 'b2')['already_applied'], 'the batch that was published is not known')
    t.finish()


def branches_of_an_empty_table(world):
    """One that each engine makes, which both fill; then main, which has no snapshot, follows, and both go on."""
    for name, maker in (('ours_first', 'bergline'), ('theirs_first', 'spark')):
        t = world.table(name)
        t.create(SCHEMA)
        if maker == 'bergline':
            t.run('branch', 'create', 'b')
        else:
            t.sql('ALTER TABLE {t} CREATE BRANCH b')
        t.load()
        [made] = t.snapshots().values()
        expect(heads(t) == {'b': made['snapshot-id']}, 'refs are %s', heads(t))
        expect((made['summary']['operation'], made['first-row-id'], made['added-rows']) == ('append', 0, 0), 'the snapshot is %s', made)
        expect(t.metadata.get('current-snapshot-id') in (None, -1) and not t.metadata.get('snapshot-log'), 'main has a snapshot: %s', t.metadata)
        t.agree()
        t.sql("INSERT INTO {t}.branch_b VALUES (1, 'theirs'), (2, 'theirs')")
        t.run('append', '--ref', 'b', rows=[row(3, 'ours'), row(4, 'ours')])
        t.sql("UPDATE {t}.branch_b SET v = 'w' WHERE id IN (2, 3)")
        t.run('delete', '--where', 'id = 1', '--ref', 'b')
        t.load()
        t.agree()
        on_b = t.scan('--at', 'b')
        same_rows([row(2, 'w'), row(3, 'w'), row(4, 'ours')], [without(r, *LINEAGE) for r in on_b])
        same_rows(on_b, world.spark.read(t.metadata_path, t.fields(), ref='b'))
        expect(t.scan() == [] and set(heads(t)) == {'b'}, 'main has rows')
        if maker == 'bergline':
            t.sql("CALL w.system.fast_forward('{name}', 'main', 'b')")
        else:
            t.run('fast-forward', 'main', 'b')
        same_rows(on_b, t.scan())
        t.twin, t.events = t.scan(), None
        t.by_spark(inserted(row(5)), "INSERT INTO {t} VALUES (5, 'v')")
        t.write(updated(lambda r: r['id'] > 3, v='u'), 'update', '--set', "v = 'u'", '--where', 'id > 3')
        t.finish()


def main_beside_a_branch(world):
    """Main gets rows of its own while the first branch has others."""
    t = world.table('beside')
    t.create(SCHEMA)
    t.run('branch', 'create', 'b')
    t.run('append', '--ref', 'b', rows=[row(1), row(2)])
    t.by_spark(inserted(row(10)), "INSERT INTO {t} VALUES (10, 'v')")
    t.write(inserted(row(11)), 'append', rows=[row(11)])
    t.sql("INSERT INTO {t}.branch_b VALUES (3, 'v')")
    on_b = t.scan('--at', 'b')
    same_rows([row(1), row(2), row(3)], [without(r, *LINEAGE) for r in on_b])
    t.load()
    same_rows(on_b, world.spark.read(t.metadata_path, t.fields(), ref='b'))
    expect(not set(ids(on_b).values()) & set(ids(t.scan()).values()), 'an id was given out twice: %s', on_b)
    t.finish()


CASES = [branches_of_an_empty_table, main_beside_a_branch, branches_of_both, picked_snapshots, audited_writes, batches_that_change_nothing]
