/* diff_run.h: private to diff*.c: one run of a differ, and its steps in the order of diff.c's head. */
#ifndef BL_CHANGES_DIFF_RUN_H
#define BL_CHANGES_DIFF_RUN_H

#include "changes/diff.h"
#include "changes/given.h"
#include "changes/live_files.h"
#include "changes/manifest_cache.h"
#include "changes/reach.h"

/* What the items of one diff live in. */
struct bl_diff_memory {
  bl_arena **arenas; /* one at first; more where several threads make items */
  size_t n, cap;
};

struct bl_differ {
  bl_table *t;
  bl_ctx *ctx;
  bl_arena *arena; /* of the specs */
  bl_typed_specs specs;
  bl_manifest_cache *cache;
  bl_given *given;
  bl_manifest_note note; /* NULL */
  void *note_user;
  bl_diff_memory **diffs; /* not released yet */
  size_t n_diffs, cap_diffs;
};

/* A manifest of one list. */
typedef struct bl_diff_slot {
  size_t common;   /* index + 1 in the other list, 0 = in this one only */
  bl_opened *open; /* NULL: not opened, or searched in vain */
  bool opened;     /* for the counts; of a common one on the newer side */
} bl_diff_slot;

/* One of the two snapshots. */
typedef struct bl_diff_half {
  const bl_manifest_file *list;
  size_t n;
  bl_diff_slot *slots;
  bl_live_set data, deletes; /* of the manifests that are in this list only */
  bl_delete_index *changed;  /* deletes that are live here only */
  bl_delete_index *all;      /* whatever can apply to touched files */
} bl_diff_half;

/* A file that is touched, or may be. Arrays of two: BL_OLDER, BL_NEWER. */
typedef struct bl_candidate {
  const bl_manifest_entry *entry[2];
  size_t manifest, at; /* where it stands: in the older list, or an added file in the newer */
  bool common;         /* of a common manifest */
  bl_file_deletes deletes[2];
} bl_candidate;

typedef struct bl_diff_run {
  bl_differ *d;
  bl_ctx *ctx;
  bl_diff_memory *memory; /* of the result */
  bl_diff_half s[2];
  bl_reach *reach;
  bl_candidate *items;
  size_t n, cap;
  bool ids_differ;
  bool equality; /* an equality delete may apply: then metrics matter */
  size_t n_live; /* data files seen, those that are live on both sides once */
} bl_diff_run;

/* Manifests to be opened, and where they stand. */
typedef struct bl_diff_requests {
  bl_open_request *items;
  size_t *at;
  int *side;
  size_t n;
} bl_diff_requests;

/* Room for every manifest of both lists. */
bl_status bl_diff_requests_init(bl_diff_run *r, bl_diff_requests *q, bl_error *err) BL_CHECKED;
void bl_diff_requests_dispose(bl_diff_run *r, bl_diff_requests *q);
void bl_diff_request(bl_diff_run *r, bl_diff_requests *q, int side, size_t at);
bl_status bl_diff_open_requests(bl_diff_run *r, bl_diff_requests *q, size_t from, size_t n, bool metrics,
                                bl_error *err) BL_CHECKED;
bl_status bl_diff_add_candidate(bl_diff_run *r, const bl_candidate *c, bl_error *err) BL_CHECKED;
/* A live delete of side s that may apply to touched files. */
bl_status bl_diff_index_delete(bl_diff_run *r, int s, const bl_manifest_entry *e, bl_error *err) BL_CHECKED;
bool bl_diff_any_changed(const bl_diff_run *r);
/* Does a changed delete apply to a kept file, on the side where it is live? */
bl_status bl_diff_is_reached(const bl_diff_run *r, bl_arena *scratch, const bl_manifest_entry *e, bool *out,
                             bl_error *err) BL_CHECKED;

/* The steps. */
bl_status bl_diff_pair(bl_diff_run *r, const bl_snapshot *from, const bl_snapshot *to, bl_error *err) BL_CHECKED;
bl_status bl_diff_open(bl_diff_run *r, bl_error *err) BL_CHECKED;
bl_status bl_diff_changed(bl_diff_run *r, bl_error *err) BL_CHECKED;
bl_status bl_diff_compare(bl_diff_run *r, bl_error *err) BL_CHECKED;
bl_status bl_diff_search(bl_diff_run *r, bl_error *err) BL_CHECKED;
bl_status bl_diff_cover(bl_diff_run *r, bl_error *err) BL_CHECKED;
bl_status bl_diff_fill(bl_diff_run *r, bl_error *err) BL_CHECKED;
bl_status bl_diff_give(bl_diff_run *r, bl_error *err) BL_CHECKED;

/* Visit every delete entry that a file carries; the visitor may put another one in its place. */
typedef bl_status (*bl_visit_entry)(void *user, const bl_manifest_entry **e, bl_error *err);
bl_status bl_each_delete(bl_file_deletes *d, bl_visit_entry visit, void *user, bl_error *err) BL_CHECKED;

#endif
