#!/usr/bin/env python3
"""test_tables.py BERGLINE ROOT: tables made, changed in their metadata, moved and dropped by the program."""
import glob
import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from table_case import PROGRAM, ROOT, TABLES, TableCase


class Tables(TableCase):
    # ---- tables ----

    def test_a_new_table_is_empty_and_version_3(self):
        self.create('--partition', 'bucket(4, id)', '--sort', 'v desc', '--property', 'a=b')
        info = self.info()
        self.assertEqual((info['format_version'], info['next_row_id'], info['current_snapshot_id']), (3, 0, None))
        self.assertEqual(self.rows(self.table), {})
        properties = self.result('inspect', self.table, 'properties')
        self.assertEqual(properties['a'], 'b')
        for kind in ('delete', 'update', 'merge'):
            self.assertEqual(properties['write.%s.mode' % kind], 'merge-on-read')
        self.refuse(5, 'there is a table already', 'create', self.table, '--schema', 'id long')

    def test_a_schema_comes_from_a_file_or_a_sample(self):
        with open(self.path('s.json'), 'w') as f:
            json.dump(self.result('inspect', os.path.join(TABLES, 'types', 'table'), 'schema'), f)
        self.run_ok('create', self.path('a'), '--schema', self.path('s.json'))
        self.run_ok('create', self.path('b'), '--like', self.rows_file({'id': 1, 'at': '2026-01-31', 's': {'x': [1.5]}}))
        a, b = (self.result('inspect', self.path(n), 'schema') for n in 'ab')
        self.assertEqual(len(a['fields']), 24)
        self.assertEqual([f['name'] for f in b['fields']], ['id', 'at', 's'])
        self.assertEqual(b['fields'][1]['type'], 'date')

    def test_wrong_words_are_named_and_nothing_is_made(self):
        self.refuse(2, "byte 3", 'create', self.table, '--schema', 'id lang')
        self.refuse(2, '--schema or --like', 'create', self.table)
        self.refuse(2, '1, 2 or 3', 'create', self.table, '--schema', 'id long', '--format-version', '4')
        self.refuse(8, 'nor a file', 'create', self.table, '--schema', self.path('none.json'))
        self.refuse(2, 'no catalog is named', 'create', 'db.t', '--schema', 'id long')
        self.refuse(2, 'there is no column', 'create', self.table, '--schema', 'id long', '--partition', 'day(x)')
        self.assertFalse(os.path.exists(self.table))

    def test_a_dry_run_changes_nothing(self):
        self.run_ok('create', self.table, '--schema', 'id long', '--dry-run')
        self.assertFalse(os.path.exists(self.table))
        self.create()
        self.append(1, 2)
        self.run_ok('branch', self.table, 'create', 'b')
        before = sorted(os.listdir(os.path.join(self.table, 'metadata')))
        for words in (['set', 'a=b'], ['unset', 'write.update.mode'], ['branch', 'create', 'c'], ['branch', 'drop', 'b'],
                      ['tag', 'create', 'd'], ['alter', 'add', 'n', 'int'], ['rollback', 'b'],
                      ['fast-forward', 'b', 'main'], ['relocate', '--to', '/else/where']):
            self.run_ok(words[0], self.table, *words[1:], '--dry-run')
        self.assertEqual(sorted(os.listdir(os.path.join(self.table, 'metadata'))), before)
        self.refuse(2, 'reserved', 'alter', self.table, 'add', '_row_id', 'long', '--dry-run')

    def test_properties_are_set_and_unset(self):
        self.create()
        self.run_ok('set', self.table, 'a=1', 'b=x=y')
        self.assertEqual(self.result('inspect', self.table, 'properties')['b'], 'x=y')
        done = self.result('unset', self.table, 'a', 'b')
        self.assertTrue(done['metadata_location'].endswith('v3.metadata.json'))
        self.assertNotIn('a', self.result('inspect', self.table, 'properties'))
        self.run_ok('unset', self.table, 'a')
        self.assertFalse(os.path.exists(os.path.join(self.table, 'metadata', 'v4.metadata.json')))
        self.refuse(2, 'KEY=VALUE', 'set', self.table, 'a')
        self.refuse(2, 'format-version: it is not set as a property (create --format-version sets it; no command changes that',
                    'set', self.table, 'format-version=2')
        self.refuse(2, 'keeps its metadata', 'set', self.table, 'write.metadata.path=/x')

    # ---- summaries and batches ----

    def test_a_batch_is_applied_once_on_each_branch(self):
        self.create()
        first = self.append(1, more=('--batch-id', 'b1', '--summary', 'who=me'))
        self.assertTrue(first['committed'])
        again = self.append(1, more=('--batch-id', 'b1'))
        self.assertEqual((again['committed'], again['already_applied']), (False, True))
        self.assertEqual(len(self.rows(self.table)), 1)
        summary = self.result('inspect', self.table, 'snapshots')[0]['summary']
        self.assertEqual((summary['who'], summary['bergline.batch-id'], summary['engine-name']), ('me', 'b1', 'bergline'))
        self.refuse(2, 'sets total-records itself', 'append', self.table, self.rows_file({'id': 1}), '--summary',
                    'total-records=1')

    def test_a_batch_that_changes_nothing_is_kept(self):
        self.create()
        self.append(1, 2)
        self.assertFalse(self.result('delete', self.table, '--where', 'id = 9', '--yes')['committed'])
        args = ('delete', self.table, '--where', 'id = 9', '--yes', '--batch-id', 'b2')
        self.assertFalse(self.result(*args, '--dry-run')['committed'])
        first = self.result(*args)
        self.assertEqual((first['committed'], first['rows_assigned'], first['rows_deleted']), (True, 0, 0))
        again = self.result(*args)
        self.assertEqual((again['committed'], again['already_applied']), (False, True))
        self.append(3)
        self.assertEqual(self.rows(self.table), {1: 0, 2: 1, 3: 2})
        self.assertEqual(self.rows(self.table, '--at', str(first['snapshot_id'])), {1: 0, 2: 1})
        snapshots = self.snapshots()
        self.assertEqual([(s['operation'], s['first_row_id'], s['added_rows']) for s in snapshots],
                         [('append', 0, 2), ('append', 2, 0), ('append', 2, 1)])
        self.assertEqual(snapshots[1]['summary']['total-records'], '2')
        self.assertEqual(self.changes(), [('INSERT', 0, 0, 1, 1), ('INSERT', 0, 1, 1, 2), ('INSERT', 2, 2, 3, 3)])
        self.assertEqual(self.changes('--from', 'seq:1', '--to', 'seq:2'), [])
        self.assertEqual([e['_change_type'] for e in self.lines('history', '--row-id', '0')], ['INSERT'])

    def test_changes_of_metadata_are_done_once_a_batch(self):
        schema = ('--schema', 'id long, v string', '--summary', 'who=me', '--batch-id')
        self.run_ok('create', self.table, *schema, 'b1')
        self.assertTrue(self.result('create', self.table, *schema, 'b1')['already_applied'])
        self.refuse(5, 'table already', 'create', self.table, *schema, 'b2')
        self.refuse(2, 'empty', 'create', self.table, *schema, '')
        self.append(1)
        for words in (['alter', self.table, 'add', 'q', 'int'], ['set', self.table, 'a=b'], ['unset', self.table, 'a'],
                      ['branch', self.table, 'create', 'b'], ['tag', self.table, 'create', 't'],
                      ['fast-forward', self.table, 'b', 'main'], ['rollback', self.table, 'main', '--yes'],
                      ['branch', self.table, 'drop', 'b', '--yes'], ['relocate', self.table, '--to', '/elsewhere']):
            words += ['--batch-id', 'b1', '--summary', 'why=%s' % words[0]]
            planned = self.result(*words, '--dry-run')
            self.assertNotIn('already', str(planned), words)
            self.assertNotIn('already', str(self.result(*words)), words)
            self.assertIn('already', self.result(*words)['done'], words)
            self.assertIn('already', self.result(*words, '--dry-run')['planned'], words)
        properties = self.result('inspect', self.table, 'properties')
        self.assertEqual(json.loads(properties['bergline.metadata-summary'])['summary'], {'why': 'relocate'})
        self.assertIn('create b1', json.loads(properties['bergline.metadata-batches']))

    # ---- branches ----

    def test_branches_and_tags(self):
        self.create()
        self.append(1, 2)
        self.refuse(2, 'above 0', 'branch', self.table, 'create', 'audit', '--keep', '0')
        self.run_ok('branch', self.table, 'create', 'audit', '--keep', '5', '--max-snapshot-age', '7d')
        self.append(3, more=('--ref', 'audit'))
        self.append(4)
        self.assertEqual(self.rows(self.table), {1: 0, 2: 1, 4: 3})
        self.assertEqual(self.rows(self.table, '--at', 'audit'), {1: 0, 2: 1, 3: 2})
        self.run_ok('tag', self.table, 'create', 'then', '--at', 'audit', '--max-ref-age', '12h')
        self.assertEqual([r['name'] for r in self.result('branch', self.table, 'list')], ['main', 'audit'])
        self.assertEqual(self.result('tag', self.table, 'list')[0]['max_ref_age_ms'], 12 * 3600 * 1000)
        self.assertEqual(self.result('branch', self.table, 'list')[1]['max_snapshot_age_ms'], 7 * 86400 * 1000)
        self.refuse(2, 'tag', 'append', self.table, self.rows_file({'id': 9}), '--ref', 'then')
        for verb in (('append', self.table, self.rows_file({'id': 9})), ('delete', self.table, '--where', 'true', '--yes'),
                     ('cherry-pick', self.table, 'audit')):
            self.refuse(8, 'no such branch: nowhere of ' + self.table, *verb, '--ref', 'nowhere')
            self.refuse(2, 'cannot commit to then of %s: it is a tag' % self.table, *verb, '--ref', 'then')
        self.refuse(2, 'no ancestor', 'fast-forward', self.table, 'main', 'audit')
        self.run_ok('branch', self.table, 'create', 'audit2', '--ref', 'audit')
        self.assertEqual(self.rows(self.table, '--at', 'audit2'), {1: 0, 2: 1, 3: 2})
        self.refuse(8, 'nowhere', 'tag', self.table, 'create', 'z', '--ref', 'nowhere')
        self.refuse(2, '--yes', 'tag', self.table, 'drop', 'then')
        self.run_ok('tag', self.table, 'drop', 'then', '--yes')
        self.refuse(8, 'then', 'tag', self.table, 'drop', 'then', '--yes')
        self.refuse(2, 'above 0', 'branch', self.table, 'create', 'x', '--keep', '0')
        self.refuse(2, 'create NAME', 'branch', self.table, 'make', 'x')

    def test_how_long_a_ref_is_kept_has_a_unit(self):
        """7 could be meant as days; it was 7 milliseconds."""
        self.create()
        self.append(1)
        for age in ('7', '12y', '7w', 'd', '1.5d', ''):
            self.refuse(2, '--max-ref-age %s: a time with its unit is expected, as 7d' % age, 'tag', self.table, 'create', 'x',
                        '--max-ref-age', age)
            self.refuse(2, '--max-snapshot-age %s: a time with its unit' % age, 'branch', self.table, 'create', 'x',
                        '--max-snapshot-age', age)
        for name, age in (('d', '7d'), ('h', '168h'), ('m', '10080m'), ('s', '604800s'), ('ms', '604800000ms')):
            self.run_ok('tag', self.table, 'create', name, '--max-ref-age', age)
        self.assertEqual({r['max_ref_age_ms'] for r in self.result('tag', self.table, 'list')}, {7 * 86400 * 1000})

    def test_a_new_table_is_filled_on_a_branch(self):
        """Every verb works on it, and main stays without a snapshot until it follows."""
        self.create()
        self.refuse(8, 'no snapshot', 'branch', self.table, 'create', 'b', '--at', 'main')
        self.refuse(8, 'no snapshot', 'tag', self.table, 'create', 't')
        self.assertIn('nothing (dry run)', self.run_ok('branch', self.table, 'create', 'b', '--dry-run'))
        self.assertEqual(self.snapshots(), [])
        self.run_ok('branch', self.table, 'create', 'b', '--keep', '3', '--max-ref-age', '7d')
        self.refuse(5, 'exists', 'branch', self.table, 'create', 'b')
        on = ('--ref', 'b')
        self.append(1, 2, 3, more=on)
        self.run_ok('upsert', self.table, self.rows_file({'id': 3, 'v': 'y'}, {'id': 4, 'v': 'x'}), '--key', 'id', *on)
        self.run_ok('update', self.table, '--set', "v = 'z'", '--where', 'id = 1', *on)
        self.run_ok('delete', self.table, '--where', 'id = 2', '--yes', *on)
        self.run_ok('sync', self.table, self.rows_file({'id': 1, 'v': 'z'}, {'id': 5, 'v': 'x'}), '--key', 'id', '--yes', *on)
        self.assertEqual((self.rows(self.table), self.lines('changes'), self.result('inspect', self.table, 'history')), ({}, [], []))
        self.assertIsNone(self.info()['current_snapshot_id'])
        self.assertEqual(self.rows(self.table, '--at', 'b').keys(), {1, 5})
        self.assertEqual([c[:2] for c in self.changes('--from', 'seq:1', *on)], [
            ('INSERT', 0), ('INSERT', 0), ('INSERT', 0), ('UPDATE_BEFORE', 1), ('UPDATE_AFTER', 1), ('INSERT', 1),
            ('UPDATE_BEFORE', 2), ('UPDATE_AFTER', 2), ('DELETE', 3), ('DELETE', 4), ('DELETE', 4), ('INSERT', 4)])
        self.assertEqual([c[:1] + c[4:] for c in self.changes('--net', *on)], [('INSERT', 1), ('INSERT', 5)])
        self.refuse(8, 'main has no snapshot', 'fast-forward', self.table, 'b', 'main')
        before = self.rows(self.table, '--at', 'b')
        self.assertIn('"planned"', self.run_ok('fast-forward', self.table, 'main', 'b', '--dry-run'))
        self.run_ok('fast-forward', self.table, 'main', 'b')
        self.assertEqual(self.rows(self.table), before)
        self.assertEqual([h['is_current_ancestor'] for h in self.result('inspect', self.table, 'history')], [True])
        self.append(6)
        self.assertEqual(self.rows(self.table).keys(), {1, 5, 6})

    def test_rollback_cherry_pick_and_publishing(self):
        self.create()
        self.append(1, 2)
        self.run_ok('tag', self.table, 'create', 'first')
        self.append(3)
        self.refuse(2, '--yes', 'rollback', self.table, 'first')
        for verb in (('rollback', self.table, 'first', '--yes'), ('cherry-pick', self.table, 'first')):
            self.refuse(2, 'no such option', *verb, '--wap-id', 'w')
        self.run_ok('rollback', self.table, 'first', '--yes')
        self.append(4)
        self.assertEqual(self.rows(self.table), {1: 0, 2: 1, 4: 3})
        staged = self.append(5, more=('--wap-id', 'w'))
        self.assertEqual(self.rows(self.table), {1: 0, 2: 1, 4: 3})
        self.assertEqual(self.rows(self.table, '--at', 'wap:w'), {1: 0, 2: 1, 4: 3, 5: 4})
        events = self.run_ok('changes', self.table, '--from', 'main', '--to', 'wap:w', '--format', 'ndjson').splitlines()
        self.assertEqual([(r['id'], r['_change_type']) for r in map(json.loads, events)], [(5, 'INSERT')])
        self.append(6)
        p = self.try_run('cherry-pick', self.table, 'wap:w')
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIn('bergline: warning: the rows of snapshot %d get new row ids' % staged['snapshot_id'], p.stderr)
        self.assertEqual(self.rows(self.table), {1: 0, 2: 1, 4: 3, 6: 5, 5: 6})
        self.assertIn('already', self.result('cherry-pick', self.table, 'wap:w')['done'])
        self.run_ok('delete', self.table, '--where', 'id = 1', '--ref', 'main', '--yes', '--wap-id', 'd')
        self.append(7)
        self.refuse(2, 'exist twice', 'cherry-pick', self.table, 'wap:d')

    def test_what_moves_a_branch_tells_the_branch_and_the_metadata_file(self):
        self.create()
        self.append(1)
        self.run_ok('branch', self.table, 'create', 'b')
        self.append(2, more=('--ref', 'b'))
        moves = {('fast-forward', self.table, 'main', 'b'): 'branch main moved forward to b',
                 ('rollback', self.table, 'seq:1', '--ref', 'b', '--yes'): 'branch b rolled back to seq:1',
                 ('cherry-pick', self.table, 'main', '--ref', 'b'): 'snapshot picked onto branch b'}
        for words, done in moves.items():
            report = self.result(*words)
            self.assertEqual((report['done'], report['metadata_location']), (done, self.info()['metadata_location']))
        made = self.result('fast-forward', self.table, 'new', 'main')
        self.assertEqual((made['done'], made['snapshot_id']), ('branch new made at main', self.info()['current_snapshot_id']))
        self.refuse(8, 'nowhere', 'fast-forward', self.table, 'newer', 'nowhere')
        again = self.result('fast-forward', self.table, 'main', 'b')
        self.assertEqual((again['done'], again['metadata_location']), ('nothing', self.info()['metadata_location']))

    def test_the_name_that_was_meant_is_told(self):
        self.run_ok('create', self.table, '--schema', 'id long not null, Amount decimal(9,2), place struct<street: string>')
        rows = self.rows_file({'id': 1, 'Amount': '1.00'})
        self.run_ok('append', self.table, rows)
        wrong = self.rows_file({'id': 1, 'amount': '1.00'})
        with open(self.path('wrong.csv'), 'w') as f:
            f.write('ids,Amount\n1,1\n')
        self.run_ok('create', self.path('other'), '--like', wrong)
        self.run_ok('append', self.path('other'), wrong)
        self.run_ok('scan', self.path('other'), '-o', self.path('wrong.parquet'))
        for name, args in {
                'id': [('scan', self.table, '--columns', 'ID'), ('scan', self.table, '--where', 'ids = 1'),
                       ('append', self.table, self.path('wrong.csv')), ('upsert', self.table, rows, '--key', 'Id'),
                       ('changes', self.table, '--columns', 'idd'), ('changes', self.table, '--key', 'ID'),
                       ('update', self.table, '--set', 'ID = 2'), ('delete', self.table, '--where', 'Id = 1', '--yes')],
                'Amount': [('append', self.table, wrong), ('append', self.table, self.path('wrong.parquet')),
                           ('update', self.table, '--set', 'Amount = amuont', '--where', 'id = 1')],
                'place.street': [('scan', self.table, '--columns', 'Place.street')],
                '_row_id': [('scan', self.table, '--columns', '_rowid'), ('scan', self.table, '--where', 'row_id = 0')]}.items():
            for words in args:
                self.refuse(2, ': did you mean %s?' % name, *words)
        self.assertNotIn('did you mean', self.try_run('scan', self.table, '--columns', 'x').stderr)
        self.refuse(2, 'no such report: inspect foo: there are info, schema, spec, properties, ', 'inspect', self.table, 'foo')

    def test_blanks_around_commas_are_passed_over(self):
        self.run_ok('create', self.table, '--schema', '"a b" int, shop int, " c" string, id long')
        with open(self.path('rows.csv'), 'w') as f:
            f.write('a b,shop, c,id\n1,2,x,3\n4,5,y,6\n')
        self.run_ok('append', self.table, self.path('rows.csv'))
        for columns in (' shop ,\tid, a b ', '"shop", "id" ,"a b"', 'shop,id,a b'):
            self.assertEqual(list(self.lines('scan', '--columns', columns)[0]), ['shop', 'id', 'a b'])
        self.assertEqual(self.lines('scan', '--columns', 'id, " c"')[0], {'id': 3, ' c': 'x'})
        self.refuse(2, 'column: c:', 'scan', self.table, '--columns', 'id, c,')
        self.assertEqual(self.result('upsert', self.table, self.path('rows.csv'), '--key', 'shop, id')['rows_unchanged'], 2)
        self.assertEqual({e['_row_id'] for e in self.lines('history', '--row-id', '0, 1')}, {0, 1})

    def test_a_catalog_that_is_locked_is_a_conflict_for_what_would_change_it(self):
        db = self.path('c.db')
        where = ('--uri', 'jdbc:sqlite:file:%s?busy_timeout=1' % db, '--warehouse', self.path('wh'))
        rows = self.rows_file({'id': 1})
        self.run_ok('catalog', 'create-namespace', 'a', *where)
        self.run_ok('create', 'a.t', '--schema', 'id long', '--property', 'commit.retry.min-wait-ms=1', *where)
        other = sqlite3.connect(db, isolation_level=None)
        self.addCleanup(other.close)
        for locked in ('BEGIN; SELECT * FROM iceberg_tables', 'BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE'):
            for statement in locked.split('; '):
                other.execute(statement).fetchall()
            for args in (('append', 'a.t', rows), ('set', 'a.t', 'p=q'),
                         ('create', 'a.new', '--schema', 'id long'), ('catalog', 'create-namespace', 'b'),
                         ('catalog', 'drop', 'a.t', '--yes')):
                self.refuse(5, 'the catalog is locked', *args, *where)
            reads = 4 if locked == 'BEGIN EXCLUSIVE' else 0
            for args in (('scan', 'a.t'), ('catalog', 'tables'), ('inspect', 'a.t')):
                self.assertEqual(self.try_run(*args, *where).returncode, reads, args)
            other.execute('ROLLBACK')
        self.assertEqual(self.result('append', 'a.t', rows, *where)['rows_inserted'], 1)
        self.assertEqual(self.result('inspect', 'a.t', 'properties', *where).get('p'), None)

    def test_a_wap_id_that_is_there_already_is_told(self):
        self.create()
        self.append(1)
        first = self.append(2, more=('--wap-id', 'w', '--batch-id', 'b'))['snapshot_id']
        twice = ('append', self.table, self.rows_file({'id': 2, 'v': 'x'}), '--wap-id', 'w')
        self.assertEqual(self.warnings(*twice, '--batch-id', 'b'), [])  # it is not written again
        says = 'the WAP id w is staged already, as snapshot %d: wap:w is ambiguous' % first
        told = self.warnings(*twice)
        self.assertEqual(len(told), 1)
        self.assertIn(says, told[0])
        self.assertIn('--batch-id', told[0])
        self.assertEqual(self.warnings(*twice[:-1], 'other'), [])
        self.refuse(2, 'ambiguous', 'cherry-pick', self.table, 'wap:w')
        self.refuse(8, 'no such snapshot: w: did you mean wap:w?', 'cherry-pick', self.table, 'w')
        self.refuse(8, 'no such snapshot: W: neither', 'scan', self.table, '--at', 'W')
        self.append(3)
        self.run_ok('cherry-pick', self.table, str(first))
        published = self.info()['current_snapshot_id']
        self.assertIn('the WAP id w is published already, by snapshot %d' % published, self.warnings(*twice)[0])
        self.assertIn('--batch-id', self.run_ok('append', '--help').split('--wap-id ID')[1].split('--dry-run')[0])

    # ---- files ----

    def test_files_that_are_not_there_are_told(self):
        self.create()
        self.append(1)
        for name in ('none.parquet', self.path('none.parquet')):
            self.refuse(8, 'No such file', 'add-files', self.table, name)
            self.refuse(8, 'No such file', 'append', self.table, name)
            self.refuse(8, 'No such file', 'sync', self.table, name, '--key', 'id', '--yes')
        self.assertEqual(self.rows(self.table), {1: 0})

    # ---- reports ----

    def test_a_dry_run_of_metadata_tells_what_it_would_do(self):
        self.create()
        self.append(1)
        for words, planned in ((['alter', self.table, 'add', 'q', 'int'], 'add q'),
                               (['branch', self.table, 'create', 'b'], 'branch b created'),
                               (['set', self.table, 'a=b'], '1 property set')):
            self.assertEqual(self.result(*words, '--dry-run'), {'done': 'nothing (dry run)', 'planned': planned})

    def test_every_command_that_writes_takes_yes(self):
        rows = self.rows_file({'id': 1, 'v': 'x'})
        self.run_ok('create', self.table, '--schema', 'id long, v string', '--yes')
        for words in (['append', self.table, rows], ['upsert', self.table, rows, '--key', 'id'], ['set', self.table, 'a=b'],
                      ['update', self.table, '--set', "v = 'y'", '--where', 'id = 1'], ['alter', self.table, 'drop', 'v']):
            self.run_ok(*words, '--yes')
        self.refuse(2, 'no such option', 'scan', self.table, '--yes')

    def test_a_report_that_cannot_be_given_fails_before_the_commit(self):
        self.create()
        rows = self.rows_file({'id': 1})
        self.refuse(2, 'text|json', 'append', self.table, rows, '--format', 'xml')
        self.refuse(2, 'text|json', 'branch', self.table, 'create', 'x', '--format', 'csv')
        self.refuse(4, 'cannot write', 'append', self.table, rows, '-o', self.path('nosuch/report.json'))
        for option in ('--batch-id', '--wap-id'):
            self.refuse(2, 'empty', 'append', self.table, rows, option, '')
        self.assertEqual((self.rows(self.table), self.info()['branches']), ({}, 0))

    def test_a_report_that_fails_after_the_commit_says_that_it_is_done(self):
        self.create()
        with open('/dev/full', 'wb') as full:
            p = subprocess.run([PROGRAM, 'append', self.table, self.rows_file({'id': 1, 'v': 'x'})], stdout=full,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=60)
        self.assertEqual(p.returncode, 4)
        self.assertIn('warning: the change is committed as snapshot %d' % self.info()['current_snapshot_id'], p.stderr)

    # ---- history ----

    def test_tombstones_are_still_in_the_changes_after_an_append(self):
        self.create()
        self.append(1, 2)
        first = self.info()['current_snapshot_id']
        self.run_ok('delete', self.table, '--where', 'id > 0', '--yes')
        self.append(3)
        lines = self.run_ok('changes', self.table, '--from', 'id:%d' % first, '--format', 'ndjson').splitlines()
        got = sorted((r['_change_type'], r['id'], r['_row_id']) for r in map(json.loads, lines))
        self.assertEqual(got, [('DELETE', 1, 0), ('DELETE', 2, 1), ('INSERT', 3, 2)])

    # ---- schemas ----

    def test_rows_keep_values_and_ids_while_columns_change(self):
        self.create()
        self.append(1, 2)
        self.run_ok('alter', self.table, 'add', 'n', 'int', 'default', '7', 'first')
        self.run_ok('alter', self.table, 'rename', 'v', 'w')
        self.run_ok('alter', self.table, 'type', 'n', 'long')
        self.run_ok('alter', self.table, 'partition', 'add', 'bucket(2, id)')
        self.run_ok('append', self.table, self.rows_file({'id': 3, 'n': 3000000000, 'w': None}))
        lines = [json.loads(s) for s in self.run_ok('scan', self.table, '--lineage', '--format', 'ndjson').splitlines()]
        self.assertEqual(sorted((r['id'], r['n'], r['w'], r['_row_id']) for r in lines),
                         [(1, 7, 'x', 0), (2, 7, 'x', 1), (3, 3000000000, None, 2)])
        self.refuse(2, 'add NAME TYPE', 'alter', self.table, 'add', 'x')

    # ---- places ----

    def test_damage_of_a_copy_is_told_with_the_path_that_was_read(self):
        self.create()
        self.append(1, 2, 3)
        self.run_ok('delete', self.table, '--where', 'id = 2', '--yes')
        kinds = {'data/*.parquet': 'not a Parquet file', 'data/*.puffin': 'deletion vector', 'metadata/snap-*.avro': '',
                 'metadata/*-m*.avro': 'manifest '}
        for i, (kind, says) in enumerate(kinds.items()):
            copy = self.path('copy%d' % i)
            shutil.copytree(self.table, copy)
            for path in glob.glob(os.path.join(copy, kind)):
                os.truncate(path, 30)
            self.refuse(3, says, 'scan', copy)
            said = self.try_run('scan', copy).stderr
            self.assertIn(os.path.join(copy, kind.split('/')[0]), said)
            self.assertNotIn(os.path.join(self.table, ''), said)

    def test_rows_that_do_not_fit_the_metadata_of_a_copy_are_told_with_the_path_that_was_read(self):
        self.create()
        self.append(1, 2, 3)
        other = self.path('other')
        self.run_ok('create', other, '--schema', 'id long not null, v string')
        self.run_ok('append', other, self.rows_file({'id': 1, 'v': 'x'}))
        copy = self.path('copy')
        shutil.copytree(self.table, copy)
        here, = glob.glob(os.path.join(copy, 'data', '*.parquet'))
        there, = glob.glob(os.path.join(other, 'data', '*.parquet'))
        shutil.copyfile(there, here)
        said = self.try_run('scan', copy).stderr
        self.assertIn('data file: %s: it has 1 rows, record_count says 3' % here, said)

    def test_a_table_that_moved_for_good_says_so(self):
        self.create()
        self.append(1, 2, 3)
        self.run_ok('delete', self.table, '--where', 'id = 2', '--yes')
        moved = self.path('moved')
        shutil.move(self.table, moved)
        self.assertEqual(self.rows(moved), {1: 0, 3: 2})
        self.run_ok('relocate', moved, '--to', moved)
        self.assertEqual(self.info(moved)['location'], moved)
        self.assertEqual(self.rows(moved), {1: 0, 3: 2})
        self.refuse(2, 'absolute', 'relocate', moved, '--to', 'somewhere')

    # ---- catalogs ----

    def test_a_catalog_that_another_keeps_locked(self):
        where = ('--uri', 'jdbc:sqlite:file:%s?busy_timeout=1' % self.path('c.db'), '--warehouse', self.path('wh'))
        self.run_ok('catalog', 'create-namespace', 'db', *where)
        self.run_ok('create', 'db.t', '--schema', 'id long', '--property', 'commit.retry.num-retries=0', *where)
        rows = self.rows_file({'id': 1})
        other = sqlite3.connect(self.path('c.db'), isolation_level=None)
        self.addCleanup(other.close)
        other.execute('BEGIN IMMEDIATE')
        self.refuse(5, 'the catalog is locked', 'append', 'db.t', rows, *where)
        self.refuse(5, 'the catalog is locked', 'catalog', 'rename', 'db.t', 'db.u', *where)
        other.execute('COMMIT')
        reading = other.execute('SELECT * FROM iceberg_namespace_properties UNION ALL SELECT 1, 2, 3, 4')
        self.assertIsNotNone(reading.fetchone())
        self.refuse(5, 'the catalog is locked', 'append', 'db.t', rows, *where)
        reading.close()
        other.execute('BEGIN EXCLUSIVE')
        self.refuse(4, 'the catalog is locked', 'scan', 'db.t', *where)
        other.execute('COMMIT')
        self.run_ok('append', 'db.t', rows, *where)
        self.assertEqual(self.rows('db.t', *where), {1: 0})
        self.assertEqual(len(os.listdir(self.path('wh/db/t/metadata'))), 4)

    def test_names_in_a_catalog(self):
        where = ('--uri', 'sqlite:///' + self.path('c.db'), '--warehouse', self.path('wh'))
        self.refuse(8, 'c.db', 'catalog', 'namespaces', *where)
        self.run_ok('catalog', 'create-namespace', 'db', '--property', 'owner=me', *where)
        self.run_ok('create', 'db.t', '--schema', 'id long', *where)
        self.run_ok('append', 'db.t', self.rows_file({'id': 1}), *where)
        self.assertEqual(self.rows('db.t', *where), {1: 0})
        self.assertEqual(self.result('catalog', 'tables', *where), [{'namespace': 'db', 'name': 't'}])
        self.assertEqual(self.result('catalog', 'properties', 'db', *where), [{'key': 'owner', 'value': 'me'}])
        self.run_ok('catalog', 'set-namespace', 'db', '--unset', 'owner', '--property', 'a=b', *where)
        self.assertEqual(self.run_ok('catalog', 'properties', 'db', '--format', 'text', *where), 'a=b\n')
        self.run_ok('catalog', 'rename', 'db.t', 'db.u', *where)
        location = self.info('db.u', *where)['metadata_location']
        self.run_ok('catalog', 'drop', 'db.u', '--yes', *where)
        self.run_ok('catalog', 'register', 'db.v', os.path.relpath(location), *where)
        registered = self.info('db.v', *where)['metadata_location']
        self.assertTrue(os.path.isabs(registered))
        self.assertEqual(os.path.realpath(registered), os.path.realpath(location))
        self.assertEqual(self.rows('db.v', *where), {1: 0})
        self.refuse(2, '--catalog', 'append', self.path('wh/db/t'), self.rows_file({'id': 2}))
        self.refuse(2, '--yes', 'catalog', 'drop', 'db.v', '--purge', *where)
        self.run_ok('catalog', 'drop', 'db.v', '--purge', '--yes', *where)
        self.assertFalse(os.path.exists(self.path('wh/db/t')))
        self.run_ok('catalog', 'drop-namespace', 'db', '--yes', *where)
        self.assertEqual(self.result('catalog', 'namespaces', *where, '--catalog', 'mine'), [])
        self.refuse(8, 'no such namespace: db', 'catalog', 'tables', 'db', *where, '--catalog', 'mine')
        self.refuse(2, 'no such action', 'catalog', 'eat', *where)
        self.refuse(2, 'no catalog is named', 'catalog', 'tables')

    def test_names_in_a_warehouse_folder(self):
        where = ('--warehouse', self.path('wh'))
        self.run_ok('catalog', 'create-namespace', 'a.b', *where)
        self.run_ok('create', 'a.b.t', '--schema', 'id long', *where)
        self.run_ok('append', 'a.b.t', self.rows_file({'id': 1}), *where)
        self.assertEqual(self.rows(self.path('wh/a/b/t')), {1: 0})
        self.run_ok('catalog', 'create-namespace', 'c', '--property', 'owner=me', *where)
        self.run_ok('catalog', 'set-namespace', 'c', '--unset', 'owner', '--property', 'a=b', *where)
        self.assertEqual(self.run_ok('catalog', 'properties', 'c', '--format', 'text', *where), 'a=b\n')
        with open(self.path('wh/c/.namespace.json'), 'w') as f:
            f.write('{"a":')
        self.refuse(3, 'c/.namespace.json', 'catalog', 'properties', 'c', *where)
        self.run_ok('catalog', 'drop-namespace', 'c', '--yes', *where)
        self.refuse(2, '--yes', 'catalog', 'drop', 'a.b.t', *where)
        left = self.result('catalog', 'drop', 'a.b.t', '--yes', *where)['metadata_location']
        self.assertTrue(os.path.exists(left))
        self.refuse(8, left, 'scan', 'a.b.t', *where)
        self.refuse(8, left, 'catalog', 'drop', 'a.b.t', '--yes', *where)
        self.refuse(5, left, 'create', 'a.b.t', '--schema', 'id long', *where)
        self.refuse(5, left, 'create', 'a.b.t', '--schema', 'id long', '--dry-run', *where)
        self.refuse(5, 'not empty', 'catalog', 'drop-namespace', 'a.b', '--yes', *where)
        self.assertEqual(self.result('catalog', 'tables', *where), [])
        self.assertEqual(self.run_ok('catalog', 'namespaces', '--format', 'text', *where), 'a\na.b\n')
        self.assertEqual([n for n in os.listdir(self.path('wh/a/b/t/metadata')) if n.startswith('v')], [])
        self.run_ok('catalog', 'register', 'a.b.t', os.path.relpath(left), *where)
        self.assertEqual(self.rows('a.b.t', *where), {1: 0})
        self.run_ok('append', 'a.b.t', self.rows_file({'id': 2}), *where)
        self.assertEqual(self.rows('a.b.t', *where), {1: 0, 2: 1})
        self.assertIn('metadata_location', self.run_ok('catalog', 'drop', 'a.b.t', '--yes', '--format', 'text', *where))
        left = [n for n in os.listdir(self.path('wh/a/b/t/metadata')) if n.endswith('.metadata.json')]
        self.run_ok('catalog', 'register', 'a.b.u', self.path('wh/a/b/t/metadata/' + max(left)), *where)
        self.assertEqual(self.rows('a.b.u', *where), {1: 0, 2: 1})
        self.run_ok('catalog', 'drop', 'a.b.u', '--yes', '--purge', *where)
        self.assertEqual(glob.glob(self.path('wh/a/b/*/**/*.parquet'), recursive=True), [])
        self.assertFalse(os.path.exists(self.path('wh/a/b/u')))
        self.assertEqual(self.run_ok('catalog', 'namespaces', '--format', 'text', *where), 'a\na.b\n')

    def test_a_table_of_a_warehouse_folder_gets_another_name(self):
        where = ('--warehouse', self.path('wh'))
        self.run_ok('catalog', 'create-namespace', 'a', *where)
        self.run_ok('catalog', 'create-namespace', 'b', *where)
        self.run_ok('create', 'a.t', '--schema', 'id long', *where)
        self.run_ok('append', 'a.t', self.rows_file({'id': 1}, {'id': 2}), *where)
        self.run_ok('delete', 'a.t', '--where', 'id = 2', '--yes', *where)
        self.assertEqual(self.result('catalog', 'rename', 'a.t', 'b.u', *where)['name'], 'b.u')
        self.assertEqual(self.result('catalog', 'tables', *where), [{'namespace': 'b', 'name': 'u'}])
        self.assertFalse(os.path.exists(self.path('wh/a/t')))
        self.assertNotIn('.commit-lock', os.listdir(self.path('wh/b/u/metadata')))
        self.assertEqual(self.info('b.u', *where)['location'], self.path('wh/b/u'))
        self.assertEqual(self.rows('b.u', *where), {1: 0})
        with open(self.info('b.u', *where)['metadata_location']) as f:
            self.assertNotIn('/wh/a/t', f.read())
        self.run_ok('append', 'b.u', self.rows_file({'id': 3}), *where)
        self.assertEqual(self.rows(self.path('wh/b/u')), {1: 0, 3: 2})
        self.refuse(8, 'no such table: a.t', 'scan', 'a.t', *where)
        self.run_ok('catalog', 'drop-namespace', 'a', '--yes', *where)

    def test_a_rename_whose_second_half_fails_says_what_ends_it(self):
        where = ('--warehouse', self.path('wh'))
        self.run_ok('catalog', 'create-namespace', 'a', *where)
        self.run_ok('create', 'a.t', '--schema', 'id long', *where)
        self.run_ok('append', 'a.t', self.rows_file({'id': 1}), *where)
        lost = glob.glob(self.path('wh/a/t/metadata/snap-*.avro'))[0]
        os.rename(lost, self.path('kept.avro'))
        self.refuse(6, 'bergline relocate a.u --to ' + self.path('wh/a/u'), 'catalog', 'rename', 'a.t', 'a.u', *where)
        self.assertEqual(self.result('catalog', 'tables', *where), [{'namespace': 'a', 'name': 'u'}])
        os.rename(self.path('kept.avro'), self.path('wh/a/u/metadata/' + os.path.basename(lost)))
        self.assertEqual(self.rows('a.u', *where), {1: 0})
        self.run_ok('append', 'a.u', self.rows_file({'id': 2}), *where)
        self.run_ok('relocate', 'a.u', '--to', self.path('wh/a/u'), *where)
        self.assertEqual(self.info('a.u', *where)['location'], self.path('wh/a/u'))
        self.assertEqual(self.rows('a.u', *where), {1: 0, 2: 1})

    def test_a_table_that_was_moved_is_not_registered_where_it_is_not(self):
        where = ('--warehouse', self.path('wh'))
        self.run_ok('catalog', 'create-namespace', 'a', *where)
        self.run_ok('create', self.path('old'), '--schema', 'id long')
        self.run_ok('append', self.path('old'), self.rows_file({'id': 1}))
        os.rename(self.path('old'), self.path('new'))
        self.refuse(2, 'relocate', 'catalog', 'register', 'a.t', self.path('new/metadata/v2.metadata.json'), *where)
        self.refuse(2, 'relocate', 'catalog', 'register', 'a.t', self.path('new/metadata/v2.metadata.json'), '--dry-run', *where)
        self.run_ok('relocate', self.path('new'), '--to', self.path('new'))
        self.run_ok('catalog', 'register', 'a.t', self.path('new/metadata/v3.metadata.json'), *where)
        self.run_ok('append', 'a.t', self.rows_file({'id': 2}), *where)
        self.assertEqual(self.rows('a.t', *where), {1: 0, 2: 1})
        self.assertEqual(self.rows(self.path('new')), {1: 0})

    # ---- dry runs fail where the command would ----

    def test_a_dry_run_fails_as_the_command_would(self):
        self.create()
        self.append(1, 2)
        before = self.info()['metadata_location']
        self.refuse(5, 'there is a table already', 'create', self.table, '--schema', 'id long', '--dry-run')
        for expression, says in (('id = 7 / 0', 'division by zero'), ('id = 9223372036854775807 + id', 'overflow'),
                                 ('id = cast(null as long)', 'id')):
            for mode in ('copy-on-write', 'merge-on-read'):
                p = self.try_run('update', self.table, '--set', expression, '--mode', mode)
                self.assertEqual(p.returncode, 2, p.stderr)
                self.refuse(2, p.stderr, 'update', self.table, '--set', expression, '--mode', mode, '--dry-run')
        self.run_ok('update', self.table, '--set', 'id = 7 / 0', '--where', 'id > 2', '--dry-run')
        self.assertEqual(self.result('update', self.table, '--set', 'id = id + 1', '--dry-run')['rows_updated'], 2)
        self.assertEqual(self.info()['metadata_location'], before)

    def test_a_dry_run_of_a_pick_says_what_it_would_do(self):
        self.create()
        self.append(1)
        self.append(2, more=('--wap-id', 'w'))
        plan = self.result('cherry-pick', self.table, 'wap:w', '--dry-run')
        self.assertEqual((plan['done'], plan['planned']), ('nothing (dry run)', 'snapshot picked onto branch main'))
        self.assertNotIn('metadata_location', plan)
        self.append(3)
        self.assertIn('a new snapshot', self.result('cherry-pick', self.table, 'wap:w', '--dry-run')['planned'])
        self.run_ok('cherry-pick', self.table, 'wap:w')
        self.assertIn('applied already', self.result('cherry-pick', self.table, 'wap:w', '--dry-run')['planned'])
        self.assertTrue(self.result('cherry-pick', self.table, 'wap:w')['already_applied'])

    def test_dry_runs_of_a_catalog(self):
        for where in (('--uri', 'sqlite:////' + self.path('c.db').lstrip('/')), ('--warehouse', self.path('wh'))):
            more = where if where[0] == '--warehouse' else (*where, '--warehouse', self.path('wh2'))
            self.run_ok('catalog', 'create-namespace', 'q', *more, '--dry-run')
            self.assertFalse(os.path.exists(self.path('c.db' if where[0] == '--uri' else 'wh')))
            self.run_ok('catalog', 'create-namespace', 'q', *more)
            metadata = json.loads(self.run_ok('create', 'q.t', '--schema', 'id long', *more))['metadata_location']
            self.run_ok('create', 'q.t2', '--schema', 'id long', *more)
            for args in (('create-namespace', 'q'), ('drop-namespace', 'q'), ('drop-namespace', 'r'), ('drop', 'q.u', '--purge'),
                         ('rename', 'q.u', 'q.v'), ('rename', 'q.t', 'r.t'), ('rename', 'q.t', 'q.t2'), ('register', 'q.t', metadata),
                         ('register', 'r.t', metadata), ('register', 'q.u', self.path('nope.json')), ('drop', 'q.t')):
                q = self.try_run('catalog', *args, '--yes', *more, '--dry-run')
                p = self.try_run('catalog', *args, '--yes', *more)
                self.assertEqual((args, q.returncode), (args, p.returncode), q.stderr)
                self.assertTrue(p.returncode != 0 or args == ('drop', 'q.t'))

    def test_a_catalog_whose_last_namespace_is_gone_is_empty(self):
        where = ('--uri', 'sqlite:////' + self.path('c.db').lstrip('/'))
        self.run_ok('catalog', 'create-namespace', 'q', *where)
        self.run_ok('catalog', 'drop-namespace', 'q', '--yes', *where)
        self.assertEqual(self.result('catalog', 'namespaces', *where), [])
        self.assertEqual(self.result('catalog', 'tables', *where), [])
        self.refuse(8, 'no such table', 'scan', 'q.t', *where)

    # ---- names and properties ----

    def names(self):
        return [f['name'] for f in self.result('inspect', self.table, 'schema')['fields']]

    def test_files_of_rows_may_be_packed(self):
        self.create()
        packed = self.path('rows.csv.gz')
        with open(packed, 'wb') as f:
            f.write(gzip.compress(b'id,v\n1,a\n') + gzip.compress(b'2,b\n'))
        self.run_ok('append', self.table, packed)
        self.assertEqual(self.rows(self.table), {1: 0, 2: 1})
        self.assertEqual(self.result('upsert', self.table, packed, '--key', 'id')['rows_unchanged'], 2)
        self.run_ok('create', self.path('like'), '--like', packed)
        with open(packed, 'r+b') as f:
            f.truncate(30)
        self.refuse(3, 'rows.csv.gz: gzip: byte 30: truncated', 'append', self.table, packed)
        self.assertEqual(self.rows(self.table), {1: 0, 2: 1})

    def test_metadata_lies_where_the_table_says(self):
        where = ('--uri', 'sqlite:///' + self.path('m.db'), '--warehouse', self.path('mwh'))
        elsewhere = 'write.metadata.path=' + self.path('elsewhere')
        self.run_ok('catalog', 'create-namespace', 'db', *where)
        self.run_ok('create', 'db.t', '--schema', 'id long', '--property', elsewhere, *where)
        self.run_ok('append', 'db.t', self.rows_file({'id': 1}), *where)
        self.assertEqual(self.rows('db.t', *where), {1: 0})
        self.assertFalse(os.path.exists(self.path('mwh/db/t/metadata')))
        self.assertEqual(sum(n.endswith('.json') for n in os.listdir(self.path('elsewhere'))), 2)
        for new in (self.path('folder'), self.table):
            verb = ('set', new, elsewhere) if os.path.exists(new) else ('create', new, '--schema', 'id long', '--property', elsewhere)
            self.refuse(2, 'a table in a folder keeps its metadata there', *verb)
        self.assertFalse(os.path.exists(self.path('folder')))

    def test_namespaces_inside_another(self):
        for where in (('--uri', 'sqlite:///' + self.path('n.db'), '--warehouse', self.path('nwh')), ('--warehouse', self.path('nwf'))):
            for name in ('a', 'a.b', 'a.b.c', 'ab'):
                self.run_ok('catalog', 'create-namespace', name, *where)
            below = lambda *ns: [r['namespace'] for r in self.result('catalog', 'namespaces', *ns, *where)]
            self.assertEqual(below(), ['a', 'a.b', 'a.b.c', 'ab'])
            self.assertEqual((below('a'), below('a.b'), below('ab')), (['a.b', 'a.b.c'], ['a.b.c'], []))
            self.refuse(8, 'no such namespace: x', 'catalog', 'namespaces', 'x', *where)
            for dry in ([], ['--dry-run']):
                self.refuse(5, 'namespace', 'catalog', 'drop-namespace', 'a.b', '--yes', *dry, *where)

    def test_names_in_quotes(self):
        self.create()
        self.run_ok('alter', self.table, 'add', '"a b"', 'string')
        self.run_ok('alter', self.table, 'add', '"x.y"', 'struct<"p q": int>', 'after', '"a b"')
        self.run_ok('alter', self.table, 'add', '"x.y".z', 'int', 'before', '"x.y"."p q"')
        self.run_ok('alter', self.table, 'add', '"say ""hi"""', 'int', 'first')
        self.assertEqual(self.names(), ['say "hi"', 'id', 'v', 'a b', 'x.y'])
        self.run_ok('alter', self.table, 'rename', '"a b"', '"c d"')
        self.run_ok('alter', self.table, 'rename', '"x.y"."p q"', 'r')
        self.run_ok('alter', self.table, 'move', '"c d"', 'first')
        self.run_ok('alter', self.table, 'drop', '"say ""hi"""')
        self.assertEqual(self.names(), ['c d', 'id', 'v', 'x.y'])
        fields = self.result('inspect', self.table, 'schema')['fields'][3]['type']['fields']
        self.assertEqual([f['name'] for f in fields], ['z', 'r'])
        for wrong in ('"a', '"a"b', 'a."b'):
            self.refuse(2, 'quotes', 'alter', self.table, 'add', wrong, 'int')

    def test_unset_counts_what_was_there(self):
        self.create()
        self.run_ok('set', self.table, 'a=1', 'b=2')
        self.assertEqual(self.result('unset', self.table, 'nope')['done'], '0 properties unset')
        self.assertEqual(self.result('unset', self.table, 'a', 'a', 'nope')['done'], '1 property unset')

    def test_a_dropped_partition_field_of_version_1_gives_its_name_back(self):
        self.run_ok('create', self.table, '--schema', 'a int, b int', '--partition', 'a', '--format-version', '1')
        self.run_ok('append', self.table, self.rows_file({'a': 1, 'b': 1}))
        self.run_ok('alter', self.table, 'partition', 'drop', 'a')
        self.run_ok('alter', self.table, 'partition', 'add', 'a')
        self.run_ok('append', self.table, self.rows_file({'a': 2, 'b': 2}))
        spec = self.result('inspect', self.table, 'spec')
        fields = [(f['name'], f['transform'], f['field-id']) for f in spec['specs'][-1]['fields']]
        self.assertEqual(fields, [('a_1000', 'void', 1000), ('a', 'identity', 1001)])
        rows = sorted(self.lines('scan', '--where', 'a > 0'), key=lambda r: r['a'])
        self.assertEqual(rows, [{'a': 1, 'b': 1}, {'a': 2, 'b': 2}])

    def test_a_schema_comes_from_arrow(self):
        self.create()
        self.append(1)
        for ending in ('arrow', 'arrows'):
            self.run_ok('scan', self.table, '-o', self.path('rows.' + ending))
        with open(self.path('rows.arrows'), 'rb') as f:
            stream = f.read()
        with open(self.path('one.bin'), 'wb') as f: # the first message
            f.write(stream[:8 + int.from_bytes(stream[4:8], 'little')])
        for i, name in enumerate(('rows.arrow', 'rows.arrows', 'one.bin')):
            self.run_ok('create', self.path('n%d' % i), '--schema', self.path(name))
            fields = self.result('inspect', self.path('n%d' % i), 'schema')['fields']
            self.assertEqual([(f['name'], f['type'], f['required']) for f in fields],
                             [('id', 'long', True), ('v', 'string', False)])

    def test_what_is_written_as_arrow_is_read(self):
        """Files and streams, of many rows and of none; standard input too."""
        self.create()
        self.append(*range(1, 200))
        for i, ending in enumerate(('arrow', 'feather', 'ipc', 'arrows')):
            name, copy = self.path('rows.' + ending), self.path('c%d' % i)
            self.run_ok('create', copy, '--schema', 'id long not null, v string')
            self.run_ok('scan', self.table, '-o', name)
            self.assertEqual(self.result('append', copy, name)['rows_inserted'], 199)
            self.run_ok('scan', self.table, '--where', 'id < 0', '-o', name)
            self.assertFalse(self.result('append', copy, name)['committed'])
            self.run_ok('scan', self.table, '--where', 'id < 5', '-o', name)
            self.assertEqual(self.result('sync', copy, name, '--key', 'id', '--yes')['rows_deleted'], 195)
            self.assertEqual(self.rows(copy).keys(), {1, 2, 3, 4})

    # ---- files of others ----

    def warnings(self, *args):
        p = self.try_run(*args)
        self.assertEqual(p.returncode, 0, p.stderr)
        return [line for line in p.stderr.splitlines() if line.startswith('bergline: warning: ')]

    def test_a_mapped_name_that_goes_to_another_column_is_told(self):
        self.run_ok('create', self.table, '--schema', 'id long, s string, d double')
        self.assertEqual(self.warnings('alter', self.table, 'rename', 's', 't'), [])
        self.assertEqual(self.warnings('alter', self.table, 'add', 's', 'string'), []) # there is no mapping
        self.run_ok('set', self.table, 'schema.name-mapping.default=[{"field-id":1,"names":["id"]},{"field-id":2,"names":["t"]},'
                    '{"field-id":3,"names":["d"]},{"field-id":4,"names":["s"]}]')
        self.assertEqual(self.warnings('alter', self.table, 'rename', 'd', 'dd'), [])
        moved, = self.warnings('alter', self.table, 'add', 'd', 'double')
        for word in ('name d ', 'column dd (field 3)', 'column d:'):
            self.assertIn(word, moved)
        self.run_ok('alter', self.table, 'drop', 's')
        dropped, = self.warnings('alter', self.table, 'rename', 't', 's')
        self.assertIn('a dropped column (field 4)', dropped)

    def test_columns_of_a_file_that_the_table_does_not_have_are_told(self):
        path = self.path('s.parquet')
        shutil.copy(os.path.join(ROOT, 'tests', 'fixtures', 'parquet', 'no_index.parquet'), path)
        self.run_ok('create', self.table, '--schema', 'l long, D double')
        told = self.warnings('add-files', self.table, path)
        self.assertEqual(len(told), 1)
        self.assertIn(path + ': columns that are not in the table are not read: b, i, f, d (the table has D), ', told[0])

    def test_errors_of_rows_name_their_file(self):
        self.create()
        path, twice = self.rows_file({'id': None}), self.rows_file({'id': 1}, {'id': 1})
        wide = os.path.join(ROOT, 'tests', 'fixtures', 'parquet', 'wide_decimal.parquet')
        self.run_ok('create', self.path('d'), '--schema', 'id long, d decimal(38, 3)')
        for verb in (('upsert',), ('sync', '--yes')):
            self.refuse(2, path, *verb, self.table, path, '--key', 'id')
            self.refuse(2, twice + ': key id = 1', *verb, self.table, twice, '--key', 'id')
            self.refuse(7, wide + ': column d', *verb, self.path('d'), wide, '--key', 'id')
        for args in (('append', self.path('d'), wide), ('add-files', self.path('d'), wide),
                     ('create', self.path('e'), '--like', wide)):
            self.refuse(7, wide + ': column d', *args)
        for verb in (('append',), ('upsert', '--key', 'id'), ('overwrite', '--yes')):
            p = subprocess.run([PROGRAM, verb[0], self.table, '-', *verb[1:], '--input-format', 'ndjson'], input='{"id":"x"}',
                               capture_output=True, text=True, timeout=60)
            self.assertIn('error: standard input: row 1 (byte 0): column id', p.stderr)

    def test_a_sample_has_a_known_ending(self):
        for name, status in (('mk.py', 2), ('rows.txt', 2), ('rows.CSV', 0), ('rows', 0)):
            with open(self.path(name), 'w') as f:
                f.write('a,b\n1,x\n')
            p = self.try_run('create', self.table, '--like', self.path(name), '--dry-run')
            self.assertEqual((p.returncode, name), (status, name), p.stderr)
            self.assertEqual(name in p.stderr, status != 0)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
