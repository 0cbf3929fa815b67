/* test_json_write.c: printing, copying and editing JSON documents. */
#include "arena_fixture.h"
#include "format/json.h"

static bl_json *parse(fixture *f, const char *text) {
  bl_json *v = NULL;
  test_ok(bl_json_parse(f->a, text, strlen(text), &v, &f->err), &f->err);
  return v;
}

static const char *print(fixture *f, const bl_json *v, bool pretty) {
  bl_buf b;
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  bl_json_print(&b, v, pretty);
  const char *text = buf_text(f->a, &b);
  bl_buf_free(&b);
  return text;
}

/* Links, counts and look-up agree in the whole document. */
static void assert_sound(const bl_json *v) {
  size_t n = 0;
  for (const bl_json *c = v->first; c; c = c->next, n++) {
    assert_ptr_equal(c->parent, v);
    if (!c->next) assert_ptr_equal(v->last, c);
    if (v->kind == BL_J_OBJECT) assert_ptr_equal(bl_json_get(v, c->key.p), c);
    if (v->kind == BL_J_ARRAY) assert_ptr_equal(bl_json_at(v, n), c);
    assert_sound(c);
  }
  assert_int_equal(n, v->n);
  if (!n) assert_null(v->last);
}

static void test_json_write__compact_text_is_read_back_the_same(void **state) {
  (void)state;
  static const char *const texts[] = {
      "null",
      "true",
      "-0.10E+07",
      "\"\"",
      "[]",
      "{}",
      "[[],{},[[]]]",
      "{\"a\":{\"b\":[1,\"x\",null]},\"c\":12345678901234567890}",
      "{\"\":1,\"tab\\t\":\"quote\\\" back\\\\ line\\n\",\"\xC3\xA9\":\"\xF0\x9F\xA7\x8A\"}",
      "[1,2,3,4,5,6,7,8,9,10,11,12]",
  };
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(texts); i++) {
    bl_json *v = parse(&f, texts[i]);
    assert_string_equal(print(&f, v, false), texts[i]);
    assert_string_equal(print(&f, parse(&f, print(&f, v, true)), false), texts[i]);
    assert_string_equal(print(&f, bl_json_copy(f.a, v), false), texts[i]);
    assert_sound(v);
  }
  fixture_close(&f);
}

static void test_json_write__pretty_text_has_two_spaces_a_level(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  assert_string_equal(print(&f, parse(&f, "{\"a\":[1,{\"b\":[]}],\"c\":{}}"), true),
                      "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}");
  fixture_close(&f);
}

static void test_json_write__control_characters_are_escaped(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *v = bl_json_new_str(f.a, (bl_str){"a\0b\x1f\n", 5});
  const char *text = print(&f, v, false);
  bl_json *again = parse(&f, text);
  assert_int_equal(again->text.n, 5);
  assert_memory_equal(again->text.p, "a\0b\x1f\n", 5);
  fixture_close(&f);
}

static void test_json_write__a_part_is_printed_without_its_name(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *v = parse(&f, "{\"a\":[{\"k\":1},2],\"b\":3}");
  assert_string_equal(print(&f, bl_json_get(v, "a"), false), "[{\"k\":1},2]");
  assert_string_equal(print(&f, bl_json_get(v, "b"), false), "3");
  assert_string_equal(print(&f, bl_json_at(bl_json_get(v, "a"), 0), false), "{\"k\":1}");
  fixture_close(&f);
}

static void test_json_write__documents_are_built_from_nothing(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *o = bl_json_new(f.a, BL_J_OBJECT), *arr = bl_json_new(f.a, BL_J_ARRAY);
  assert_true(bl_json_push(arr, bl_json_new_i64(f.a, INT64_MIN)));
  assert_true(bl_json_push(arr, bl_json_new_bool(f.a, true)));
  assert_true(bl_json_push(arr, bl_json_new(f.a, BL_J_NULL)));
  assert_true(bl_json_push(arr, bl_json_new_number(f.a, BL_STR("1.10"))));
  assert_true(bl_json_set(f.a, o, "list", arr));
  assert_true(bl_json_set(f.a, o, "s", bl_json_new_str(f.a, BL_STR("x"))));
  assert_false(bl_json_set(f.a, o, "none", NULL));
  assert_false(bl_json_push(arr, NULL));
  assert_string_equal(print(&f, o, false), "{\"list\":[-9223372036854775808,true,null,1.10],\"s\":\"x\"}");
  assert_sound(o);
  fixture_close(&f);
}

static void test_json_write__setting_keeps_the_place_of_a_name(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *o = parse(&f, "{\"a\":1,\"b\":2,\"c\":3}");
  assert_true(bl_json_set(f.a, o, "b", bl_json_new_i64(f.a, 20)));
  assert_true(bl_json_set(f.a, o, "c", bl_json_new_i64(f.a, 30)));
  assert_true(bl_json_set(f.a, o, "a", bl_json_new_i64(f.a, 10)));
  assert_true(bl_json_set(f.a, o, "d", bl_json_new_i64(f.a, 40)));
  assert_true(bl_json_set(f.a, o, "d", (bl_json *)bl_json_get(o, "d")));
  assert_string_equal(print(&f, o, false), "{\"a\":10,\"b\":20,\"c\":30,\"d\":40}");
  assert_sound(o);
  fixture_close(&f);
}

static void test_json_write__removing_takes_first_middle_and_last(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *o = parse(&f, "{\"a\":1,\"b\":2,\"c\":[1,2,3],\"d\":4}");
  bl_json_remove(o, "b");
  bl_json_remove(o, "d");
  bl_json_remove(o, "absent");
  bl_json *arr = (bl_json *)bl_json_get(o, "c");
  bl_json_remove_child(arr, arr->first);
  bl_json_remove_child(arr, arr->last);
  bl_json_remove_child(arr, o);
  assert_string_equal(print(&f, o, false), "{\"a\":1,\"c\":[2]}");
  assert_sound(o);
  bl_json_remove(o, "a");
  bl_json_remove(o, "c");
  assert_string_equal(print(&f, o, false), "{}");
  assert_sound(o);
  fixture_close(&f);
}

static void test_json_write__big_objects_stay_sound_through_edits(void **state) {
  (void)state;
  enum { N = 300 };
  fixture f;
  char key[16];
  fixture_open(&f);
  bl_json *o = bl_json_new(f.a, BL_J_OBJECT);
  for (int i = 0; i < N; i++) {
    snprintf(key, sizeof key, "k%d", i);
    assert_true(bl_json_set(f.a, o, key, bl_json_new_i64(f.a, i)));
  }
  assert_sound(o);
  for (int i = 0; i < N; i += 3) {
    snprintf(key, sizeof key, "k%d", i);
    assert_true(bl_json_set(f.a, o, key, bl_json_new_i64(f.a, -i)));
  }
  for (int i = 1; i < N; i += 3) {
    snprintf(key, sizeof key, "k%d", i);
    bl_json_remove(o, key);
    assert_null(bl_json_get(o, key));
  }
  assert_true(bl_json_set(f.a, o, "more", bl_json_new_bool(f.a, false)));
  assert_int_equal(o->n, N - N / 3 + 1);
  assert_sound(o);
  assert_string_equal(bl_json_get(o, "k297")->text.p, "-297");
  assert_sound(bl_json_copy(f.a, o));
  fixture_close(&f);
}

static void test_json_write__a_copy_is_independent(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *v = parse(&f, "{\"a\":{\"b\":[1,2]}}");
  bl_json *w = bl_json_copy(f.a, v);
  bl_json *list = (bl_json *)bl_json_get(bl_json_get(w, "a"), "b");
  assert_true(bl_json_push(list, bl_json_new_i64(f.a, 3)));
  bl_json_remove(v, "a");
  assert_string_equal(print(&f, v, false), "{}");
  assert_string_equal(print(&f, w, false), "{\"a\":{\"b\":[1,2,3]}}");
  fixture_close(&f);
}

static const char *const shared[] = {"list", "log"};

static void test_json_write__a_copy_that_shares_says_the_same_and_leaves_the_original_alone(void **state) {
  (void)state;
  static const char text[] =
      "{\"n\":1,\"list\":[{\"a\":[1,{\"b\":[]}]},{},3,\"s\",[4,[5]]],\"o\":{\"list\":[{\"k\":1}]},"
      "\"log\":{\"x\":[1]}}";
  fixture f;
  fixture_open(&f);
  bl_json *v = parse(&f, text), *w = bl_json_copy_sharing(f.a, v, shared, BL_LEN(shared));
  assert_string_equal(print(&f, w, false), text);
  assert_string_equal(print(&f, w, true), print(&f, v, true));
  assert_string_equal(print(&f, bl_json_at(bl_json_get(w, "list"), 0), false), "{\"a\":[1,{\"b\":[]}]}");
  assert_string_equal(print(&f, bl_json_copy(f.a, w), true), print(&f, v, true));
  bl_json *list = (bl_json *)bl_json_get(w, "list");
  bl_json_remove_child(list, list->first);
  bl_json_remove_child(list, list->last);
  assert_true(bl_json_push(list, bl_json_new_i64(f.a, 9)));
  assert_true(bl_json_set(f.a, w, "n", bl_json_new_bool(f.a, true)));
  bl_json_remove((bl_json *)bl_json_get(w, "o"), "list");
  assert_true(bl_json_push((bl_json *)bl_json_get(bl_json_get(w, "log"), "x"), bl_json_new_i64(f.a, 2)));
  assert_string_equal(print(&f, w, false), "{\"n\":true,\"list\":[{},3,\"s\",9],\"o\":{},\"log\":{\"x\":[1,2]}}");
  assert_string_equal(print(&f, v, false), text);
  assert_sound(v);
  fixture_close(&f);
}

static void test_json_write__a_copy_that_shares_takes_memory_for_its_elements_alone(void **state) {
  (void)state;
  fixture f;
  bl_arena *a;
  fixture_open(&f);
  bl_json *v = parse(&f, "{\"list\":[]}"), *list = (bl_json *)bl_json_get(v, "list");
  for (int i = 0; i < 100; i++) {
    bl_json *o = bl_json_new(f.a, BL_J_OBJECT);
    for (char key[2] = "a"; *key <= 'z'; (*key)++) assert_true(bl_json_set(f.a, o, key, bl_json_new_i64(f.a, i)));
    assert_true(bl_json_push(list, o));
  }
  test_ok(bl_arena_new(f.ctx, &a, &f.err), &f.err);
  assert_non_null(bl_json_copy_sharing(a, v, shared, BL_LEN(shared)));
  assert_true(bl_arena_bytes(a) < 200 * sizeof *v);
  bl_arena_free(a);
  fixture_close(&f);
}

static bl_status copy_sharing(bl_ctx *ctx, void *user, bl_error *err) {
  bl_arena *a;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_status st = bl_json_copy_sharing(a, user, shared, BL_LEN(shared)) ? BL_OK : bl_nomem(err);
  bl_arena_free(a);
  return st;
}

static void test_json_write__copying_without_memory_says_so(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_buf b;
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  bl_buf_cstr(&b, "{\"o\":{\"k\":\"v\"},\"list\":[0");
  for (int i = 0; i < 300; i++) bl_buf_cstr(&b, ",{\"k\":1}");
  bl_buf_cstr(&b, "]}");
  bl_buf_byte(&b, 0);
  test_fail_each(copy_sharing, parse(&f, (const char *)b.p));
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_json_write__building_without_memory_says_so(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *o = bl_json_new(f.a, BL_J_OBJECT);
  assert_non_null(o);
  char big[8000];
  memset(big, 'x', sizeof big);
  f.heap.fail_at = f.heap.allocations + 1;
  f.heap.fail_onwards = true;
  bl_json *v = bl_json_new_str(f.a, (bl_str){big, sizeof big});
  assert_null(v);
  assert_false(bl_json_set(f.a, o, "k", v));
  f.heap.fail_at = 0;
  assert_string_equal(print(&f, o, false), "{}");
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_json_write__compact_text_is_read_back_the_same),
      cmocka_unit_test(test_json_write__pretty_text_has_two_spaces_a_level),
      cmocka_unit_test(test_json_write__control_characters_are_escaped),
      cmocka_unit_test(test_json_write__a_part_is_printed_without_its_name),
      cmocka_unit_test(test_json_write__documents_are_built_from_nothing),
      cmocka_unit_test(test_json_write__setting_keeps_the_place_of_a_name),
      cmocka_unit_test(test_json_write__removing_takes_first_middle_and_last),
      cmocka_unit_test(test_json_write__big_objects_stay_sound_through_edits),
      cmocka_unit_test(test_json_write__a_copy_is_independent),
      cmocka_unit_test(test_json_write__a_copy_that_shares_says_the_same_and_leaves_the_original_alone),
      cmocka_unit_test(test_json_write__a_copy_that_shares_takes_memory_for_its_elements_alone),
      cmocka_unit_test(test_json_write__copying_without_memory_says_so),
      cmocka_unit_test(test_json_write__building_without_memory_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
