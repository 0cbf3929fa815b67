/* upsert.h: rows that came in by key (source.h) put into a table: upsert, sync and apply. */
#ifndef BL_WRITE_UPSERT_H
#define BL_WRITE_UPSERT_H

#include "write/change.h"
#include "write/source.h"

typedef struct bl_upsert_rules {
  const char *verb;    /* for messages */
  int32_t schema_id;   /* that the source was read by */
  bool touch;          /* rows that were met are written although nothing differs */
  bool delete_missing; /* rows of the table whose key did not come are deleted; a key it has twice is BL_USAGE */
  /* May be NULL: called once a staging, for its summary. */
  bl_status (*note)(void *user, bl_change *c, bl_error *err);
  void *user;
} bl_upsert_rules;

/* source: sealed. */
bl_status bl_upsert_source(bl_table *t, bl_source *source, const bl_upsert_rules *rules, const bl_write_options *o,
                           bl_write_result *r, bl_error *err) BL_CHECKED;

#endif
