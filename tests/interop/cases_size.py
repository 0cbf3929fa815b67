"""cases_size.py: files of many row groups and pages, compared as Arrow tables: which id has which row id and sequence number."""
import hashlib

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rows import expect
from shared import COPY_ON_WRITE, MERGE_ON_READ, modes

ROWS = 120_000
COLUMNS = ['id', 'v', '_row_id', '_last_updated_sequence_number']


def lineage(world, t, engines=True):
    """bergline's rows by id, after the others were found to have the same."""
    path = world.path('scan.arrows')
    world.program.run(['scan', *t.address, '--columns', ','.join(COLUMNS), '-o', path]).ok()
    with open(path, 'rb') as f:
        ours = pa.ipc.open_stream(f).read_all()
    ours = canonical(ours)
    t.load()
    if engines and 'duckdb' in t.readers:
        theirs = t.readers['duckdb'].table("SELECT %s FROM iceberg_scan('%s')" % (', '.join(COLUMNS), t.metadata_path))
        same(t.readers['duckdb'].version, ours, canonical(theirs))
    if engines and 'spark' in t.readers:
        theirs = world.spark.session.read.format('iceberg').load(t.metadata_path).select(*COLUMNS).toArrow()
        same(world.spark.version, ours, canonical(theirs))
    return ours


def canonical(table):
    table = table.select(COLUMNS)
    plain = pa.schema([('id', pa.int64()), ('v', pa.string())] + [(c, pa.int64()) for c in COLUMNS[2:]])
    return table.cast(plain).combine_chunks().sort_by('id')


def same(who, ours, theirs):
    expect(ours.num_rows == theirs.num_rows, '%s: %d rows, bergline has %d', who, theirs.num_rows, ours.num_rows)
    if not ours.equals(theirs):
        wrong = next(i for i in range(ours.num_rows) if ours.slice(i, 1) != theirs.slice(i, 1))
        expect(False, '%s: %s, bergline has %s', who, theirs.slice(wrong, 1).to_pylist(), ours.slice(wrong, 1).to_pylist())


def kept(before, after, changed):
    """Ids are those of before; the number is that of before but where `changed` (a mask over before's ids) is true."""
    both = after.join(before.append_column('changed', changed), 'id', join_type='inner', right_suffix='_before').combine_chunks()
    expect(both.num_rows == after.num_rows, '%d of %d rows are known', both.num_rows, after.num_rows)
    expect(pc.all(pc.equal(both['_row_id'], both['_row_id_before'])).as_py(), 'row ids changed')
    number = both['_last_updated_sequence_number']
    moved = pc.not_equal(number, both['_last_updated_sequence_number_before'])
    expect(pc.all(pc.equal(moved, both['changed'])).as_py(), 'the numbers changed of %s rows, not of %s', pc.sum(moved), pc.sum(both['changed']))


def large(world, mode):
    t = world.table('large_' + mode[:4])
    t.create('id long, v string', properties=dict(modes(mode), **{'write.parquet.row-group-size-bytes': '65536', 'write.parquet.page-size-bytes': '4096',
                                                                  'write.target-file-size-bytes': '800000'}))
    path = world.path('large.parquet')
    pq.write_table(pa.table({'id': pa.array(range(ROWS), pa.int64()), 'v': [hashlib.md5(b'%d' % i).hexdigest() for i in range(ROWS)]}), path, row_group_size=4000)
    t.run('append', path)
    groups = [pq.ParquetFile(f['file_path']).metadata.num_row_groups for f in t.run('inspect', 'files')]
    expect(len(groups) > 1 and max(groups) > 1, 'row groups of the files: %s', groups)
    at = [lineage(world, t)]

    def step(remainder, removed, act):
        before = at[0]
        act()
        at[0] = lineage(world, t)
        kept(before, at[0], pa.array([i % 1000 == remainder for i in before['id'].to_pylist()]))
        expect(at[0].num_rows == before.num_rows - removed, '%d rows are left of %d', at[0].num_rows, before.num_rows)

    names = ', '.join(str(i) for i in range(0, ROWS, 1000))
    step(7, 0, lambda: t.run('update', '--set', "v = 'u'", '--where', 'id in (%s)' % ', '.join(str(i) for i in range(7, ROWS, 1000))))
    step(-1, ROWS // 1000, lambda: t.run('delete', '--where', 'id in (%s)' % names))
    if world.spark:
        step(8, 0, lambda: t.sql("UPDATE {t} SET v = 's' WHERE id % 1000 = 8"))
        step(-1, ROWS // 1000, lambda: t.sql('DELETE FROM {t} WHERE id % 1000 = 9'))
        step(-1, 0, lambda: t.sql("CALL w.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))"))
    step(11, 0, lambda: t.run('update', '--set', "v = 'again'", '--where', 'id in (%s)' % ', '.join(str(i) for i in range(11, ROWS, 1000))))


def large_merge_on_read(world):
    large(world, MERGE_ON_READ)


def large_copy_on_write(world):
    large(world, COPY_ON_WRITE)


CASES = [large_merge_on_read, large_copy_on_write]
