/* background.h: threads that are kept, for work that waits for something else than a processor (the disk).
 *
 *   bl_errand t = {.run = run, .user = user};
 *   bl_background_begin(b, &t);     soon, on a thread of b
 *   st = bl_background_end(b, &t);  waits for it, and says how it went
 *
 * 1. A errand is its caller's; from begin until it was waited for it stays where it is.
 * 2. Who waits for an errand that no thread has begun does it: nothing depends on a thread that the system did not
 * give, or that was left behind by a fork. */
#ifndef BL_BASE_BACKGROUND_H
#define BL_BASE_BACKGROUND_H

#include "base/alloc.h"

typedef struct bl_background bl_background;

typedef enum bl_errand_state { BL_ERRAND_NEW, BL_ERRAND_QUEUED, BL_ERRAND_RUNS, BL_ERRAND_DONE } bl_errand_state;

typedef struct bl_errand {
  bl_status (*run)(void *user);
  void *user;
  /* private */
  struct bl_errand *next;
  bl_errand_state state;
  bl_status status;
} bl_errand;

/* most: threads, of which each is started when it is missed. None where ctx has a single one: errands are then done by
 * who waits for them, in that order. */
bl_status bl_background_new(bl_ctx *ctx, size_t most, bl_background **out, bl_error *err) BL_CHECKED;
void bl_background_free(bl_background *b); /* all errands were waited for; NULL allowed */

void bl_background_begin(bl_background *b, bl_errand *t);
/* Wait for what was begun: it may then be ended later, and says the same however often it is. */
void bl_background_wait(bl_background *b, bl_errand *t);
bl_status bl_background_end(bl_background *b, bl_errand *t) BL_CHECKED;

#endif
