"""cases_partitions.py: partitions by every transform, specs that change, rows that move between partitions."""
from rows import expect, text_of
from shared import COPY_ON_WRITE, MERGE_ON_READ, Effect, deleted, inserted, modes, nothing, put, updated

SCHEMA = 'id long, region string, n int, amount decimal(9,2), day date, at timestamptz, local timestamp, y binary'


def row(i, region='north', **more):
    return dict({'id': i, 'region': region, 'n': i * 7 - 20, 'amount': '%d.%02d' % (i, i), 'day': '2026-01-%02d' % (i % 28 + 1),
                 'at': '2026-01-01T%02d:00:00.000001+00:00' % (i % 24), 'local': '1969-12-%02dT23:59:59.999999' % (i % 30 + 1), 'y': 'AAECAw=='}, **more)


ODD = [row(1, 'a b'), row(2, 'a/b=c&d?e#f'), row(3, '100%'), row(4, 'ÄÖ 日本'), row(5, ''), row(6, 'null'), row(7, None),
       row(8, day='1969-12-31', at='1969-12-31T23:59:59.999999+00:00'), row(9, day='0001-01-01', at='1900-02-28T00:00:00.500000+00:00', n=-2**31),
       row(10, day='9999-12-31', at='1970-01-01T00:00:00.000000+00:00', n=2**31 - 1),
       {k: None for k in row(0)}, dict(row(12), amount='-0.01', n=-1), dict(row(13), day='1970-01-01', y='')]

BY_BERGLINE = ['bucket(4, id), day(at), region', 'truncate(3, region), truncate(10, n), bucket(3, region)', 'truncate(50, amount), month(day), hour(local)',
               'year(day), year(at), bucket(5, amount), bucket(2, y)', 'truncate(2, y), month(local), bucket(7, day), bucket(3, at), day(day)', 'bucket(2, local), id, day, at']
BY_SPARK = {'day': 'days', 'month': 'months', 'year': 'years', 'hour': 'hours'}


def spark_spec(spec):
    """The same fields in Spark's words."""
    out = []
    for field in spec.replace('), ', ')|').split('|'):
        for name, theirs in BY_SPARK.items():
            field = field.replace(name + '(', theirs + '(')
        out.append(field)
    return ', '.join('`at`' if w.strip() == 'at' else w for w in ', '.join(out).replace('(at)', '(`at`)').replace(', at)', ', `at`)').split(', '))


def partitions(world, name):
    found = {}
    for r in world.spark.sql('SELECT partition, record_count FROM %s.partitions' % name):
        found[text_of({k: str(v) for k, v in r['partition'].items()})] = r['record_count']
    return found


def transforms_agree(world):
    """Spark and bergline put the same rows into the same partitions."""
    for number, spec in enumerate(BY_BERGLINE):
        t = world.table('transforms_%d' % number)
        t.create(SCHEMA, '--partition', spec)
        t.append(*ODD)
        u = world.table('transforms_of_spark_%d' % number)
        u.sql("CREATE TABLE {t} USING iceberg PARTITIONED BY (%s) TBLPROPERTIES ('format-version' = '3') AS SELECT * FROM %s" % (spark_spec(spec), t.spark_name))
        u.check(None, inserted(*ODD))
        ours, theirs = partitions(world, t.spark_name), partitions(world, u.spark_name)
        expect(ours == theirs, '%s: bergline has partitions %s, Spark %s', spec, ours, theirs)


def rows_move_between_partitions(world):
    t = world.table('moving')
    t.create(SCHEMA, '--partition', 'bucket(4, id), day(at)', properties=modes(MERGE_ON_READ))
    t.append(*ODD)
    t.write(updated(lambda r: r['id'] in (1, 3, 8), at='2027-05-05T05:05:05.000000+00:00'), 'update', '--set', "at = timestamptz '2027-05-05T05:05:05+00:00'",
            '--where', 'id in (1, 3, 8)')
    t.by_spark(updated(lambda r: r['id'] in (2, 3), region='moved', at='1969-12-31T00:00:00.000000+00:00'),
               "UPDATE {t} SET region = 'moved', `at` = TIMESTAMP '1969-12-31 00:00:00+00:00' WHERE id IN (2, 3)")
    t.step(nothing(), 'alter', 'partition', 'drop', 'day(at)')
    t.step(nothing(), 'alter', 'partition', 'add', 'month(at)')
    t.step(nothing(), 'alter', 'partition', 'add', 'region')
    t.append(row(21, 'a b'), row(22, 'a/b=c&d?e#f'), row(23, None, at=None), row(24, 'ÄÖ 日本'))
    t.write(updated(lambda r: r['id'] in (1, 2, 21, 24), region='south'), 'update', '--set', "region = 'south'", '--where', 'id in (1, 2, 21, 24)')
    t.write(updated(lambda r: r['id'] in (4, 22), region='100%'), 'update', '--set', "region = '100%'", '--where', 'id in (4, 22)', '--mode', COPY_ON_WRITE)
    t.by_spark(deleted(lambda r: r['region'] == 'south'), "DELETE FROM {t} WHERE region = 'south'")
    t.sql('ALTER TABLE {t} DROP PARTITION FIELD bucket(4, id)')
    t.sql('ALTER TABLE {t} ADD PARTITION FIELD truncate(3, region)')
    rows = [row(4, 'a b'), row(31, 'new'), row(23, 'known')]
    t.write(put(rows, ['id']), 'upsert', '--key', 'id', rows=rows)
    t.by_spark(inserted(row(41, 'x'), row(42, None)),
               "INSERT INTO {t} SELECT %s" % ' UNION ALL SELECT '.join(select(r) for r in (row(41, 'x'), row(42, None))))
    t.by_spark(nothing(), "CALL w.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
    t.write(deleted(lambda r: r['region'] is not None and r['region'].startswith('no')), 'delete', '--where', "starts_with(region, 'no')")
    t.finish()


def select(r):
    quote = lambda v, cast: 'CAST(NULL AS %s)' % cast if v is None else "CAST('%s' AS %s)" % (v, cast)
    return ', '.join([str(r['id']) + 'L', quote(r['region'], 'string'), str(r['n']), quote(r['amount'], 'decimal(9,2)'), quote(r['day'], 'date'),
                      quote(r['at'], 'timestamp'), quote(r['local'], 'timestamp_ntz'), "X'00010203'"])


def partitions_overwritten(world):
    t = world.table('overwritten')
    t.create(SCHEMA, '--partition', 'region')
    t.append(row(1, 'a'), row(2, 'a'), row(3, 'b'), row(4, None), row(5, 'c'))
    rows = [row(11, 'a'), row(12, None), row(13, 'd')]
    t.write(deleted(lambda r: r['region'] in ('a', None)) + inserted(*rows), 'overwrite', '--partitions', rows=rows)
    t.write(deleted(lambda r: r['region'] == 'b') + inserted(row(14, 'b')), 'overwrite', '--where', "region = 'b'", rows=[row(14, 'b')])
    t.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
    t.by_spark(deleted(lambda r: r['region'] == 'd') + inserted(row(15, 'd')), 'INSERT OVERWRITE {t} SELECT ' + select(row(15, 'd')))
    t.sql("SET spark.sql.sources.partitionOverwriteMode = static")
    t.write(deleted(lambda r: r['region'] in ('d', 'c')) + inserted(row(16, 'd'), row(17, 'c')), 'overwrite', '--partitions', rows=[row(16, 'd'), row(17, 'c')])
    t.write(Effect(lambda r: None, [row(18, 'z')]), 'overwrite', rows=[row(18, 'z')])
    t.finish()


CASES = [transforms_agree, rows_move_between_partitions, partitions_overwritten]
