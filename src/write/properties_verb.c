/* properties_verb.c: table properties set and unset. */
#include "write/commit.h"
#include "write/properties.h"

typedef struct property_change {
  const bl_table *t;
  const char *const *set, *const *unset;
  size_t n_set, n_unset;
} property_change;

static bl_status check_key(const property_change *c, bl_str key, bl_str value, bl_error *err) {
  BL_TRY(bl_property_allowed(key, value, err));
  return value.p && c->t->form == BL_FORM_HADOOP ? bl_property_of_folders(key, err) : BL_OK;
}

static bl_status check_change(const property_change *c, bl_error *err) {
  for (size_t i = 0; i < c->n_set; i++) {
    bl_pair p, q;
    BL_TRY(bl_key_value(c->set[i], &p, err));
    BL_TRY(check_key(c, p.key, p.value, err));
    for (size_t k = 0; k < i; k++) {
      BL_TRY(bl_key_value(c->set[k], &q, err));
      if (bl_str_eq(p.key, q.key)) return bl_fail(err, BL_USAGE, "%.*s is set twice", BL_STR_ARG(p.key));
    }
    for (size_t k = 0; k < c->n_unset; k++)
      if (bl_str_is(p.key, c->unset[k])) return bl_fail(err, BL_USAGE, "%s is set and unset", c->unset[k]);
  }
  for (size_t i = 0; i < c->n_unset; i++) BL_TRY(check_key(c, bl_str_of(c->unset[i]), BL_STR_NONE, err));
  return BL_OK;
}

static bl_status edit(void *user, bl_edit *e, bl_error *err) {
  const property_change *c = user;
  const bl_schema *schema = bl_metadata_current_schema(e->base);
  for (size_t i = 0; i < c->n_set; i++) {
    bl_pair p;
    BL_TRY(bl_key_value(c->set[i], &p, err));
    BL_TRY(bl_property_names_column(schema, p.key, err));
    BL_TRY(bl_edit_property(e, p.key, p.value, err));
  }
  for (size_t i = 0; i < c->n_unset; i++) bl_edit_unset_property(e, c->unset[i]);
  return BL_OK;
}

bl_status bl_set_properties(bl_table *t, const char *const *set, size_t n_set, const char *const *unset, size_t n_unset,
                            const bl_write_options *o, bl_error *err) {
  property_change c = {t, set, unset, n_set, n_unset};
  BL_TRY(check_change(&c, err));
  return bl_commit_metadata(t, n_unset && !n_set ? "unset" : "set", edit, &c, o, err);
}
