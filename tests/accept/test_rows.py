#!/usr/bin/env python3
"""test_rows.py: the comparisons of rows.py themselves: what they let pass and what not."""
import unittest

import rows
from rows import Failure, parse_lines


def row(i, seq, **more):
    return dict(more, **{'_row_id': i, '_last_updated_sequence_number': seq})


def event(kind, i, ordinal=0, **more):
    return dict(row(i, 1, **more), **{'_change_type': kind, '_change_ordinal': ordinal, '_commit_snapshot_id': 7})


class Rows(unittest.TestCase):
    def test_the_order_of_rows_counts_only_where_it_is_asked_for(self):
        rows.same_rows([{'a': 1}, {'a': 2}], [{'a': 2}, {'a': 1}])
        with self.assertRaises(Failure):
            rows.same_rows([{'a': 1}, {'a': 2}], [{'a': 2}, {'a': 1}], True)

    def test_rows_are_a_multiset(self):
        for want, got in (([1, 1], [1]), ([1], [1, 1]), ([1, 2, 2], [1, 1, 2])):
            with self.assertRaises(Failure):
                rows.same_rows([{'a': v} for v in want], [{'a': v} for v in got])

    def test_zeros_have_signs_and_a_double_may_look_whole(self):
        rows.same_rows([{'a': 1.0}], [{'a': 1}])
        for want, got in ((0.0, -0.0), (1, 1.0), (1, '1'), (None, 0), (1, True), (0.1, 0.10000000000000002)):
            with self.assertRaises(Failure):
                rows.same_rows([{'a': want}], [{'a': got}])

    def test_fields_have_an_order(self):
        with self.assertRaises(Failure):
            rows.same_rows([{'s': {'x': 1, 'y': 2}}], [{'s': {'y': 2, 'x': 1}}])

    def test_lines_must_be_objects_of_strict_json(self):
        self.assertEqual(parse_lines('{"a":-0}\n{"a":12345678901234567890}\n')[1], {'a': 12345678901234567890})
        for text in ('[1]', '{"a":NaN}', '{"a":1', '1'):
            with self.assertRaises(Failure):
                parse_lines(text)

    def test_a_pair_stays_together(self):
        rows.in_order([event('UPDATE_BEFORE', 1), event('UPDATE_AFTER', 1), event('DELETE', 2)])
        for wrong in ([event('UPDATE_AFTER', 1)], [event('UPDATE_BEFORE', 1), event('DELETE', 2), event('UPDATE_AFTER', 1)],
                      [event('UPDATE_BEFORE', 1), event('UPDATE_AFTER', 2)], [event('UPDATE_BEFORE', 1)]):
            with self.assertRaises(Failure):
                rows.in_order(wrong)

    def test_events_are_ordered_by_ordinal_then_id_with_nulls_last(self):
        rows.in_order([event('INSERT', 5), event('INSERT', None), event('INSERT', 1, 1)])
        for wrong in ([event('INSERT', 5), event('INSERT', 4)], [event('INSERT', None), event('INSERT', 4)],
                      [event('INSERT', 5, 1), event('INSERT', 6, 0)]):
            with self.assertRaises(Failure):
                rows.in_order(wrong)

    def test_files_and_positions_break_ties(self):
        a, b = event('INSERT', None, _file='a', _pos=9), event('INSERT', None, _file='b', _pos=0)
        rows.in_order([a, b], True)
        with self.assertRaises(Failure):
            rows.in_order([b, a], True)


class Difference(unittest.TestCase):
    def kinds(self, old, new):
        return sorted((e['_change_type'], e['_row_id']) for e in rows.difference(old, new))

    def test_an_equal_number_means_that_the_row_only_moved(self):
        self.assertEqual(self.kinds([row(1, 1, a='x')], [row(1, 1, a='x')]), [])

    def test_another_number_is_an_update_though_no_value_differs(self):
        self.assertEqual(self.kinds([row(1, 1, a='x')], [row(1, 2, a='x')]), [('UPDATE_AFTER', 1), ('UPDATE_BEFORE', 1)])

    def test_what_is_left_was_deleted_or_inserted(self):
        self.assertEqual(self.kinds([row(1, 1, a='x')], [row(2, 2, a='x')]), [('DELETE', 1), ('INSERT', 2)])

    def test_rows_without_an_id_are_matched_by_value_lowest_ids_first(self):
        self.assertEqual(self.kinds([row(None, None, a='x')], [row(8, 2, a='x'), row(3, 2, a='x')]), [('INSERT', 8)])
        self.assertEqual(self.kinds([row(None, None, a='x')] * 2, [row(None, None, a='x')]), [('DELETE', None)])


if __name__ == '__main__':
    unittest.main()
