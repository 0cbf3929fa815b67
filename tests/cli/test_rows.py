#!/usr/bin/env python3
"""test_rows.py BERGLINE ROOT: what tables that change say of their rows, through the program."""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
from table_case import TABLES, TableCase


class Rows(TableCase):
    def write(self, command, *args):
        return self.result(command, self.table, *args, *(['--yes'] if command == 'delete' else []))

    # ---- metadata columns ----

    def test_a_filter_names_parts_of_the_partition(self):
        table = self.table = os.path.join(TABLES, 'partitioned', 'table')
        scan = lambda *args: self.lines('scan', *args)
        rows = scan('--columns', '_file,_pos,_partition')
        places = lambda rows: [(r['_file'], r['_pos']) for r in rows]
        for part in rows[0]['_partition']:
            for value in {r['_partition'][part] for r in rows}:
                literal = "'%s'" % value if isinstance(value, str) else str(value)
                if part == 'ts_day' and value is not None:
                    literal = 'date ' + literal
                where = '_partition.%s %s' % (part, 'is null' if value is None else '= ' + literal)
                with self.subTest(where):
                    want = [r for r in rows if r['_partition'][part] == value]
                    got = scan('--columns', '_file,_pos,_partition.' + part, '--where', where)
                    self.assertEqual(places(got), places(want))
                    self.assertEqual({json.dumps(r['_partition']) for r in got}, {json.dumps({part: value})})
                    plan = self.result('scan', table, '--where', where, '--plan')
                    self.assertEqual({t['file']['file-path'] for t in plan['tasks']} >= {r['_file'] for r in want}, True)
                    self.assertGreater(plan['counts']['files-skipped'], 0)
        self.assertEqual(scan('--where', '_partition is null'), [])
        self.assertEqual(len(scan('--where', 'meta._partition is not null')), len(rows))
        self.refuse(2, '_partition.nope', 'scan', table, '--where', '_partition.nope = 1')

    def test_parquet_leaves_out_the_partition_of_a_table_without_partitions(self):
        self.create()
        self.append(1, 2)
        out = self.path('x.parquet')
        p = self.try_run('scan', self.table, '--columns', '_partition,id', '-o', out)
        self.assertEqual((p.returncode, p.stdout), (0, ''), p.stderr)
        self.assertEqual(p.stderr, 'bergline: warning: column _partition: left out: Parquet has no struct without fields\n')
        p = self.try_run('scan', self.table, '--columns', '_partition', '-o', self.path('y.parquet'))
        self.assertEqual(p.returncode, 7)
        self.assertIn('no column is left', p.stderr)
        self.table = self.path('copy')
        self.run_ok('create', self.table, '--schema', 'id long')
        self.run_ok('append', self.table, out)
        self.assertEqual(self.lines('scan'), [{'id': 1}, {'id': 2}])

    # ---- plans ----

    def run_tasks(self, plan):
        rows = []
        for task in plan['tasks']:
            with open(self.path('task.json'), 'w') as f:
                json.dump(task, f)
            rows.append([json.loads(x) for x in self.run_ok('run-task', self.path('task.json'), '--format', 'ndjson').splitlines()])
        return rows

    def test_a_plan_of_changes_names_manifests_and_ids(self):
        self.table = os.path.join(TABLES, 'mor_basic', 'table')
        lists = {m['path'] for s in self.result('inspect', self.table, 'snapshots')
                 for m in self.result('inspect', self.table, 'manifests', '--at', 'id:%d' % s['snapshot_id'])}
        for command in (['changes', self.table], ['history', self.table, '--row-id', '1']):
            plan = self.result(*command, '--plan')
            self.assertEqual(sorted(m['path'] for m in plan['manifests']), sorted(lists))
            self.assertEqual({m['opened'] for m in plan['manifests'] if m['content'] == 'data'}, {True})
            for task in plan['tasks']:
                f = task['new-file'] or task['old-file']
                self.assertEqual(task['id-range'], [f['first-row-id'], f['first-row-id'] + f['record-count'] - 1])

    def test_a_plan_as_text_says_what_the_document_says(self):
        self.table = os.path.join(TABLES, 'eq_upsert_v3', 'table')
        for command in (['scan', self.table], ['changes', self.table], ['scan', self.table, '--where', '_row_id = 1']):
            plan, text = self.result(*command, '--plan'), self.run_ok(*command, '--plan', '--format', 'text')
            for m in plan['manifests']:
                self.assertIn('  %-9s%-9s%s: %s\n' % ('opened' if m['opened'] else 'skipped', m['content'], m['path'], m['why']), text)
            lines = text[text.index('\n\n') + 2:].splitlines()[1:]
            at = 0
            for t in plan['tasks']:
                f = t.get('file') or t['new-file'] or t['old-file']
                deletes = t.get('old-deletes', []) + t.get('new-deletes', []) + t.get('deletes', [])
                words = lines[at].split()
                self.assertEqual(words[:4], [str(f['record-count']), str(max(1, len(f.get('split-offsets', [])))), str(len(deletes)),
                                             '%d-%d' % tuple(t['id-range'])])
                self.assertTrue(lines[at].endswith(t['why'] + ', ' + f['file-path']))
                for line, d in zip(lines[at + 1:], deletes):
                    self.assertIn(' ' + d['file-path'], line)
                at += 1 + len(deletes)
            self.assertEqual(at, len(lines))

    def test_footers_leave_out_files_that_hold_no_wanted_row(self):
        self.table = os.path.join(TABLES, 'mor_basic', 'table')
        where = '_last_updated_sequence_number > 7'
        rows = self.lines('scan', '--where', where, '--lineage')
        plan = self.result('scan', self.table, '--where', where, '--lineage', '--plan=footers')
        self.assertEqual(self.run_tasks(plan), [rows])
        self.assertEqual((plan['counts']['files'], plan['counts']['rows']), (1, 2))
        plain = self.result('scan', self.table, '--where', where, '--plan')
        self.assertEqual(len(plain['tasks']), plain['counts']['files'])
        self.assertGreater(len(plain['tasks']), 1)

    def test_footers_leave_out_files_that_hold_no_wanted_id(self):
        for name in ('mor_basic', 'cow_basic'):
            self.table = os.path.join(TABLES, name, 'table')
            for row in self.lines('scan', '--columns', '_row_id'):
                want = sorted(json.dumps([e['_change_ordinal'], e['_row_id'], e['_last_updated_sequence_number']])
                              for e in self.lines('history', '--row-id', str(row['_row_id'])))
                few = self.result('history', self.table, '--row-id', str(row['_row_id']), '--plan=footers')
                all = self.result('history', self.table, '--row-id', str(row['_row_id']), '--plan')
                tasks = [{k: v for k, v in t.items() if k != 'row-groups' and not k.startswith('stores-')} for t in few['tasks']]
                self.assertEqual([t for t in all['tasks'] if t in tasks], tasks)
                self.assertEqual(len(tasks), few['counts']['files'])
                self.assertLess(len(tasks), len(all['tasks']))
                for t in tasks:  # each side's own ids, or what it stores
                    sides = [t[k] for k in ('old-file', 'new-file') if t[k]]
                    inherits = any(f['first-row-id'] <= row['_row_id'] < f['first-row-id'] + f['record-count'] for f in sides)
                    stores = any(f['stores-row-id'] for f in few['tasks'])
                    self.assertTrue(inherits or stores)
                got = {json.dumps([t['ordinal'], e['_row_id'], e['_last_updated_sequence_number']])
                       for t, events in zip(tasks, self.run_tasks(few)) for e in events}
                self.assertLessEqual(set(want), got)

    def test_a_history_opens_no_file_whose_metrics_rule_the_id_out(self):
        self.create()
        self.append(1, 2)
        self.append(3, 4)
        self.write('update', '--set', "v = 'y'", '--where', 'id = 3', '--mode', 'merge-on-read')
        ids = self.rows(self.table)
        stored, = [f['file_path'] for f in self.result('inspect', self.table, 'row_ids') if f['row_ids_stored']]
        want = {i: self.lines('history', '--row-id', str(ids[i])) for i in ids}
        self.assertEqual({i: len(v) for i, v in want.items()}, {1: 1, 2: 1, 3: 2, 4: 1})
        os.remove(stored)
        for i in (1, 2, 4):
            self.assertEqual(self.lines('history', '--row-id', str(ids[i])), want[i])
        self.assertEqual(self.try_run('history', self.table, '--row-id', str(ids[3])).returncode, 8)

    # ---- changes ----

    def test_a_net_change_names_the_snapshot_that_wrote_the_row(self):  # apache/iceberg#14851
        self.create()
        self.append(1, 2)
        self.write('update', '--set', "v = 'y'", '--where', 'id = 2', '--mode', 'copy-on-write')
        self.assertEqual(self.changes('--net'), [('INSERT', 0, 0, 1, 1), ('INSERT', 1, 1, 2, 2)])
        self.assertEqual(self.changes(), [('INSERT', 0, 0, 1, 1), ('INSERT', 0, 1, 1, 2),
                                          ('UPDATE_BEFORE', 1, 1, 1, 2), ('UPDATE_AFTER', 1, 1, 2, 2)])

    def test_every_change_has_the_id_of_its_row_and_both_numbers(self):  # apache/iceberg#17792
        for mode in ('merge-on-read', 'copy-on-write'):
            with self.subTest(mode):
                self.table = self.path(mode)
                self.create()
                self.append(1, 2)
                start = self.append(3)['snapshot_id']
                self.write('update', '--set', "v = 'y'", '--where', 'id = 1', '--mode', mode)
                self.write('delete', '--where', 'id = 2', '--mode', mode)
                last = self.append(9)
                self.assertEqual(last['first_row_id'], self.rows(self.table)[9])
                got = self.changes('--from', str(start), '--net')
                self.assertEqual(sorted(got), sorted([('UPDATE_BEFORE', 0, 0, 1, 1), ('UPDATE_AFTER', 0, 0, 3, 1),
                                                      ('DELETE', 1, 1, 1, 2),
                                                      ('INSERT', 2, last['first_row_id'], 5, 9)]))

    def test_the_history_of_a_row_is_found_by_what_it_was_when_the_range_began(self):
        self.create()
        start = self.append(1, 2)['snapshot_id']
        self.write('update', '--set', "v = 'y'", '--where', 'id = 1')
        was = self.lines('scan', '--at', str(start), '--where', 'id = 1')[0]['v']
        for where in (f"v = '{was}' and id = 1", "v = 'y'"):
            with self.subTest(where):
                got = self.lines('history', '--from', str(start), '--where', where)
                self.assertEqual([(r['_change_type'], r['_row_id']) for r in got], [('UPDATE_AFTER', 0)])

    def test_of_equal_rows_the_one_that_goes_is_named(self):  # apache/iceberg#7388
        for mode in ('merge-on-read', 'copy-on-write'):
            with self.subTest(mode):
                self.table = self.path(mode)
                self.create()
                start = self.append(1, 1, 1)['snapshot_id']
                self.write('delete', '--where', '_row_id = 1', '--mode', mode)
                self.assertEqual(self.changes('--from', str(start)), [('DELETE', 0, 1, 1, 1)])
                self.assertEqual(self.changes('--from', str(start), '--key', 'id'), [('DELETE', 0, 1, 1, 1)])
                self.assertEqual(sorted(r['_row_id'] for r in self.lines('scan', '--lineage')), [0, 2])

    def test_keys_that_are_there_twice_stay_unpaired_with_a_warning(self):  # apache/iceberg#7388
        self.create()
        start = self.append(1, 1)['snapshot_id']
        self.run_ok('overwrite', self.table, self.rows_file({'id': 1, 'v': 'a'}, {'id': 1, 'v': 'b'}), '--yes')
        p = self.try_run('changes', self.table, '--from', str(start), '--key', 'id', '--format', 'ndjson')
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIn('warning', p.stderr)
        got = [t for t, *_ in self.changes('--from', str(start), '--key', 'id')]
        self.assertEqual(sorted(got), ['DELETE', 'DELETE', 'INSERT', 'INSERT'])

    def test_what_was_rolled_away_is_in_no_range(self):  # apache/iceberg#10247
        self.create()
        ids = [self.append(i)['snapshot_id'] for i in (1, 2, 3)]
        self.run_ok('rollback', self.table, str(ids[0]), '--yes')
        last = self.append(4)['snapshot_id']
        times = {s['snapshot_id']: s['committed_at'] for s in self.snapshots()}
        self.assertEqual([r[4] for r in self.changes('--from', 'ts:' + times[ids[0]])], [4])
        self.assertEqual([r[4] for r in self.changes('--from', str(ids[0]), '--to', str(last))], [4])
        self.assertEqual([r[4] for r in self.changes()], [1, 4])
        p = self.try_run('changes', self.table, '--from', str(ids[2]))
        self.assertEqual(p.returncode, 2)
        self.assertIn('ancestor', p.stderr)
        self.assertIn(str(ids[0]), p.stderr)

    def test_changes_of_the_first_snapshot_and_of_none(self):  # prestodb/presto#23071
        self.create()
        self.assertEqual(self.changes(), [])
        one = str(self.append(1, 2, 3)['snapshot_id'])
        self.assertEqual([r[:4] for r in self.changes()], [('INSERT', 0, i, 1) for i in range(3)])
        self.assertEqual(self.changes('--from', one, '--to', one), [])
        self.assertEqual(self.changes('--from', one, '--to', one, '--net'), [])

    def test_images_after_of_nothing_but_deletes(self):
        self.create()
        start = self.append(1, 2, 3)['snapshot_id']
        self.write('delete', '--where', 'id > 1')
        got = self.lines('changes', '--from', str(start), '--images', 'after')
        self.assertEqual([(r['_change_type'], r['_row_id'], r['id'], r['v']) for r in got],
                         [('DELETE', 1, None, None), ('DELETE', 2, None, None)])

    # ---- branches ----

    def test_what_happens_on_a_branch_leaves_main_alone(self):  # apache/iceberg-go#1637
        self.create()
        self.append(1, 2)
        self.run_ok('branch', self.table, 'create', 'b')
        self.append(3)
        self.append(4, more=('--ref', 'b'))
        self.assertEqual(sorted(self.rows(self.table, '--at', 'b')), [1, 2, 4])
        self.run_ok('overwrite', self.table, self.rows_file({'id': 5, 'v': 'x'}), '--where', 'id < 4', '--ref', 'b', '--yes')
        self.write('delete', '--where', 'id = 4', '--ref', 'b')
        self.assertEqual(sorted(self.rows(self.table, '--at', 'b')), [5])
        self.assertEqual(self.rows(self.table), {1: 0, 2: 1, 3: 2})
        parents = {s['snapshot_id']: s['parent_id'] for s in self.snapshots()}
        heads = {r['name']: r['snapshot_id'] for r in self.result('inspect', self.table, 'refs')}
        chain, at = [], heads['b']
        while at is not None:
            chain.append(at)
            at = parents[at]
        self.assertEqual(len(chain), 4)
        self.assertNotIn(heads['main'], chain)

    # ---- paths ----

    def test_paths_are_opaque(self):  # apache/iceberg#1224, apache/iceberg#7612
        for name in ('a b', 'a%20b', 'a+b', 'k=11%2F12', 'caf\u00e9', '#x', 'q?y=1', '%'):
            for form in ('%s', 'file:%s', 'file://%s') if ' ' in name or '%2F' in name else ('%s',):
                with self.subTest(name=name, form=form):
                    folder = self.path(name + form[:6].strip('%s').replace(':', '').replace('/', '1'))
                    self.table = form % folder
                    self.run_ok('create', self.table, '--schema', 'id long, v string', '--partition', 'v')
                    self.run_ok('append', self.table, self.rows_file({'id': 1, 'v': name}, {'id': 2, 'v': name},
                                                                     {'id': 3, 'v': 'other'}))
                    self.assertTrue(os.path.isdir(os.path.join(folder, 'data')))
                    for mode, row in (('merge-on-read', 1), ('copy-on-write', 2)):
                        self.write('delete', '--where', 'id = %d' % row, '--mode', mode)
                    self.assertEqual(self.rows(folder), {3: 2})
                    self.assertEqual([r['v'] for r in self.lines('scan', '--where', "v = 'other'")], ['other'])
                    self.write('update', '--set', "v = '%s'" % name, '--where', 'id = 3')
                    self.assertEqual([(r['v'], r['_row_id']) for r in self.lines('scan', '--lineage')], [(name, 2)])

    def test_a_vector_names_its_file_byte_for_byte(self):  # apache/doris#67544
        for form in ('%s', 'file:%s', 'file://%s'):
            with self.subTest(form):
                self.table = form % self.path('t' + str(len(form)))
                self.create()
                self.append(1, 2, 3)
                self.write('delete', '--where', 'id = 2', '--mode', 'merge-on-read')
                data, = self.result('inspect', self.table, 'data_files')
                vector, = self.result('inspect', self.table, 'delete_files')
                self.assertEqual(vector['referenced_data_file'], data['file_path'])
                self.assertEqual(sorted(self.rows(self.path('t' + str(len(form))))), [1, 3])
    # ---- columns that change ----

    def test_changes_back_to_an_older_schema_keep_the_wider_type(self):
        self.run_ok('create', self.table, '--schema', 'id int, f float, s struct<n: int>, v string')
        self.run_ok('append', self.table, self.rows_file({'id': 1, 'f': 0.5, 's': {'n': 1}, 'v': 'x'}))
        self.run_ok('tag', self.table, 'create', 'old')
        for column, kind in (('id', 'long'), ('f', 'double'), ('s.n', 'long')):
            self.run_ok('alter', self.table, 'type', column, kind)
        self.run_ok('append', self.table, self.rows_file({'id': 5000000000, 'f': 0.1, 's': {'n': 6000000000}, 'v': 'y'}))
        gone, = self.lines('changes', '--net', '--from', 'main', '--to', 'old')
        self.assertEqual((gone['_change_type'], gone['id'], gone['f'], gone['s']),
                         ('DELETE', 5000000000, 0.1, {'n': 6000000000}))
        self.assertEqual(self.lines('changes', '--net', '--from', 'main', '--to', 'old', '--where', 'id < 7'), [])
        came, = self.lines('changes', '--net', '--from', 'old', '--to', 'main')
        self.assertEqual((came['_change_type'], came['id']), ('INSERT', 5000000000))
        self.assertEqual([r['id'] for r in self.lines('scan', '--at', 'old')], [1])

    def test_changes_follow_columns_by_id(self):  # ray-project/ray#64485, facebookincubator/velox#17790
        self.run_ok('create', self.table, '--schema', 'id long, b string, gone int')
        self.run_ok('append', self.table, self.rows_file({'id': 1, 'b': 'x', 'gone': 7}, {'id': 2, 'b': 'y', 'gone': 8}))
        self.run_ok('alter', self.table, 'rename', 'b', 'c')
        self.run_ok('alter', self.table, 'add', 'd', 'int', 'default', '5')
        self.run_ok('alter', self.table, 'drop', 'gone')
        start = self.snapshots()[-1]['snapshot_id']
        self.write('delete', '--where', 'd = 5 and id = 2')
        self.write('update', '--set', 'd = 6', '--where', 'id = 1')
        columns = ['id', 'c', 'd']
        got = [[r['_change_type']] + [r[c] for c in columns] for r in self.lines('changes')]
        self.assertEqual(got, [['INSERT', 1, 'x', 5], ['INSERT', 2, 'y', 5], ['DELETE', 2, 'y', 5],
                               ['UPDATE_BEFORE', 1, 'x', 5], ['UPDATE_AFTER', 1, 'x', 6]])
        self.assertEqual(list(self.lines('changes')[0])[:3], columns)
        got = [r['id'] for r in self.lines('changes', '--from', str(start), '--where', 'd = 5')]
        self.assertEqual(got, [2, 1, 1])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
