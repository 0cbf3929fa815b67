/* fault_world.h: a small table in a catalog, every verb that can change it, and what readers see afterwards: for tests
 * in which a verb fails somewhere.
 *
 *   ground g;
 *   ground_begin(&g, true);                    a SQLite catalog; false: a warehouse of folders
 *   for (size_t i = 0; i < n_verbs; i++) {
 *     trial x;
 *     if (!trial_begin(&x, &g, &verbs[i])) continue;      the verb does not exist there; else it was run once
 *     ground_restore(&g);
 *     …run x.verb->run with something that fails…
 *     judge(&x, "I/O call", n, st, &err);      the table is before or after, and the next command works
 *     trial_end(&x);
 *   }
 *   ground_end(&g); */
#ifndef BL_TESTS_FAULT_WORLD_H
#define BL_TESTS_FAULT_WORLD_H

#include "bergline/catalog.h"
#include "bergline/changes.h"
#include "bergline/input.h"
#include "bergline/write.h"
#include "support/fault_sys.h"
#include "support/rows.h"
#include "support/tree.h"

/* work holds the catalog and its tables; saved is its copy. */
typedef struct ground {
  char *dir, *work, *saved, *foreign; /* foreign: a data file outside the table that may be added to it */
  bool sqlite;
  char uri[300];
  size_t files;
} ground;

/* What a command runs with. */
typedef struct place {
  const ground *g;
  bl_ctx *ctx;
  bl_drivers drivers;
  bl_table_options o;
} place;

bl_status place_open(place *p, const ground *g, bl_ctx *ctx, bl_error *err);
void place_close(place *p);
/* What the first verb does, to an open table. */
bl_status place_append(const place *p, bl_table *t, bl_error *err);

typedef struct verb {
  const char *name;
  bl_status (*run)(const place *p, bl_error *err);
  bool only_sqlite;
  bool twice; /* done again, it has nothing to do or is refused: no failure */
} verb;
extern const verb verbs[];
extern const size_t n_verbs;
/* What reads the table, and changes nothing. */
extern const verb reads[];
extern const size_t n_reads;

void ground_begin(ground *g, bool sqlite);
void ground_restore(const ground *g);
void ground_end(ground *g);

typedef struct trial {
  const ground *g;
  const verb *verb;
  char *before, *after;
} trial;
bool trial_begin(trial *x, const ground *g, const verb *v);
void trial_end(trial *x);

/* st: what was reported; -1: nothing, the process died. Afterwards the ground has to be restored. */
void judge(const trial *x, const char *what, long n, int st, const bl_error *err);

/* Numbers from 1 to n: all of them where BL_FAULTS=all, else about `some`, the first ones and the last among them. */
long next_number(long n, long all, long some);
/* How many calls the verb makes; changes: of those that change something. */
long trial_calls(const trial *x, bool changes);

#endif
