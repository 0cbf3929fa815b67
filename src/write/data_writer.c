/* data_writer.c: see data_writer.h.
 *
 * 1. A slot is a partition and its file in hand. Unpartitioned tables have slot 0.
 * 2. Without a sort order rows go to their slots batch by batch, slots in parallel. At most max_open slots ever have a
 *    file while rows come in; rows of further partitions go through the sorter and are written at the end, one
 *    partition after the other. So a partition's rows are all in fan-out or all in the sorter, in the order they came.
 * 3. With a sort order all rows go through the sorter: by slot, then by the order.
 * 4. When the files in hand hold more than half of the memory budget, those that hold most end their row groups.
 * 5. A part that would make a file larger than its target is written in pieces, by what rows before it took.
 * 6. What is in `into` was finished and published; a path is noted there before its file is begun. */
#include "write/data_writer.h"

#include <pthread.h>
#include <stdio.h>

#include "base/pool.h"
#include "write/file_writer.h"
#include "write/partition_path.h"
#include "write/partitioner.h"
#include "write/paths.h"
#include "write/row_sorter.h"
#include "write/sort_key.h"

enum {
  PART_ROWS = 65536,
  MOST_OPEN = 100,
  LEAST_OPEN = 2,
  OTHER_FILES = 26 /* that the process opens beside those of a writer: runs of the sorter, what rows are read from */,
  FEW_OPEN = 4 /* files with threads of their own */,
  MOST_STEPS = 32 /* to the target of a file */,
  COLUMN_BYTES = 128 << 10 /* that an open file takes for a column */
};

typedef struct finished {
  bl_arena *arena;
  bl_data_file file;
} finished;

typedef struct slot {
  uint32_t number;
  bl_file_writer *file;
  char *path;
  unsigned columns; /* lineage columns that its files store: never fewer again */
  int64_t bytes;    /* of the file, and in_memory: of what was given to it */
  int64_t in_memory;
  double shrunk;  /* what became of a byte in the file before; 0: there was none */
  bool fan_out;   /* 2. */
  finished *done; /* not in `into` yet */
  size_t n_done, cap_done;
  int64_t *rows; /* of the part in hand: a piece of `order_of_rows` */
  int64_t n_rows;
} slot;

struct bl_data_writer {
  bl_table *t;
  bl_ctx *ctx;
  bl_staged *into;
  bl_file_env env;
  const bl_partition_spec *spec;
  bl_type *spec_types;
  struct ArrowSchema batch_schema;
  bl_view *view;               /* of batches; not used by several threads */
  bl_partitioner *partitioner; /* NULL: slot 0 takes all */
  bl_sort_columns order;
  int32_t order_id; /* that files say; -1: none */
  bool sorts;       /* else rows stay in their order */
  int64_t budget;   /* of memory, for sorting */
  bl_row_sorter *sorter;
  slot **slots;
  size_t n_slots, cap_slots;
  size_t n_open, max_open; /* slots of fan-out */
  bl_uuid_text uuid;
  pthread_mutex_t lock; /* of counter and into->files */
  int64_t counter;
  /* the part in hand */
  uint32_t *numbers;
  int64_t *rows; /* the part's, by slot */
  slot **touched;
  size_t n_touched, cap_touched;
  bl_shared *part;
  int64_t part_begin, part_rows;
};

/* ---- slots ---- */

static bl_status slot_at(bl_data_writer *w, uint32_t number, slot **out, bl_error *err) {
  while (w->n_slots <= number) {
    BL_TRY(bl_grow(w->ctx, &w->slots, &w->cap_slots, w->n_slots, sizeof *w->slots, err));
    slot *s = bl_calloc(w->ctx, 1, sizeof *s);
    if (!s) return bl_nomem(err);
    s->number = (uint32_t)w->n_slots;
    w->slots[w->n_slots++] = s;
  }
  *out = w->slots[number];
  return BL_OK;
}

static void slot_free(bl_data_writer *w, slot *s) {
  bl_file_writer_abort(s->file);
  for (size_t i = 0; i < s->n_done; i++) bl_arena_free(s->done[i].arena);
  bl_free(w->ctx, s->done);
  bl_free(w->ctx, s->path);
  bl_free(w->ctx, s);
}

/* NNNNN-0-UUID.parquet, where locations.h puts it */
static bl_status new_path(bl_data_writer *w, slot *s, bl_error *err) {
  bl_buf b, partition;
  char name[80];
  bl_buf_init(&b, w->ctx, 1 << 20);
  bl_buf_init(&partition, w->ctx, 1 << 20);
  pthread_mutex_lock(&w->lock);
  if (w->partitioner && !bl_spec_is_unpartitioned(w->spec))
    bl_partition_path(&partition, w->spec, w->spec_types, bl_partitioner_tuple(w->partitioner, s->number));
  snprintf(name, sizeof name, "%05lld-0-%s.parquet", (long long)w->counter++, w->uuid.s);
  bl_location_print(&b, &w->env.settings.locations, (bl_str){(const char *)partition.p, partition.n}, bl_str_of(name));
  if (partition.failed) b.failed = true;
  bl_status st = bl_buf_ok(&b, err);
  if (st == BL_OK) st = bl_staged_file_written(w->into, (bl_str){(const char *)b.p, b.n}, err);
  pthread_mutex_unlock(&w->lock);
  bl_free(w->ctx, s->path);
  s->path = st == BL_OK ? bl_asprintf(w->ctx, "%.*s", (int)b.n, (const char *)b.p) : NULL;
  bl_buf_free(&b);
  bl_buf_free(&partition);
  if (st == BL_OK && !s->path) st = bl_nomem(err);
  return st;
}

/* What becomes of a byte in memory, as far as the file tells, or the one before. */
static double shrinks(const slot *s) {
  if (s->bytes > 0 && s->in_memory > 0) return (double)s->bytes / (double)s->in_memory;
  return s->shrunk > 0 ? s->shrunk : 1;
}

/* The slot's file is published; its entry waits in `done`. */
static bl_status finish_file(bl_data_writer *w, slot *s, bl_error *err) {
  if (!s->file) return BL_OK;
  BL_TRY(bl_grow(w->ctx, &s->done, &s->cap_done, s->n_done, sizeof *s->done, err));
  finished f = {0};
  BL_TRY(bl_arena_new(w->ctx, &f.arena, err));
  bl_file_writer *file = s->file;
  s->file = NULL;
  s->shrunk = shrinks(s);
  s->bytes = 0;
  s->in_memory = 0;
  bl_status st = bl_file_writer_finish(file, f.arena, &f.file, err);
  if (st == BL_OK) s->done[s->n_done++] = f;
  else bl_arena_free(f.arena);
  return st;
}

/* Into the staged change, in the order of slots. */
static bl_status hand_over(bl_data_writer *w, slot *s, bl_error *err) {
  bl_status st = BL_OK;
  for (size_t i = 0; i < s->n_done; i++) {
    bl_data_file *f = &s->done[i].file;
    f->spec_id = w->spec->id;
    f->sort_order_id = w->order_id;
    if (w->partitioner) {
      f->partition = (bl_value *)(uintptr_t)bl_partitioner_tuple(w->partitioner, s->number);
      f->n_partition = w->spec->n_fields;
    }
    if (st == BL_OK) st = bl_staged_add_data(w->into, f, err);
    bl_arena_free(s->done[i].arena);
  }
  s->n_done = 0;
  return st;
}

/* ---- rows into the file of a slot ---- */

static bl_status begin_file(bl_data_writer *w, slot *s, bl_error *err) {
  if (s->file) return BL_OK;
  BL_TRY(new_path(w, s, err));
  return bl_file_writer_new(&w->env, s->path, s->columns, w->ctx->o.threads, &s->file, err);
}

/* How many of n rows bring the file to its target, as far as those before them tell: not so few that it takes many
 * steps to get there, nor so many that it is far beyond where these do not get smaller. */
static int64_t rows_that_fit(const bl_data_writer *w, const slot *s, const struct ArrowArray *batch, int64_t begin,
                             int64_t n, int64_t *in_memory) {
  double target = (double)w->env.settings.target_bytes, least = target / MOST_STEPS, room = target - (double)s->bytes;
  double most = (room > least ? room : least) / shrinks(s);
  if (most > target) most = target;
  *in_memory = bl_array_part_bytes(&w->batch_schema, batch, begin, n);
  if ((double)*in_memory <= most) return n;
  int64_t fit = 1; /* the most rows of which that is true */
  for (int64_t beyond = n; beyond - fit > 1;) {
    int64_t middle = fit + (beyond - fit) / 2;
    if ((double)bl_array_part_bytes(&w->batch_schema, batch, begin, middle) <= most) fit = middle;
    else beyond = middle;
  }
  *in_memory = bl_array_part_bytes(&w->batch_schema, batch, begin, fit);
  return fit;
}

static bl_status write_rows(bl_data_writer *w, slot *s, bl_shared *batch, int64_t begin, int64_t n, bool spread,
                            bl_error *err) {
  const struct ArrowArray *all = bl_shared_array(batch);
  int64_t target = w->env.settings.target_bytes, in_memory;
  unsigned bits = bl_lineage_bits(&w->env, all);
  if (s->file && (bits & ~s->columns)) BL_TRY(finish_file(w, s, err));
  s->columns |= bits;
  for (int64_t end = begin + n, fit; begin < end; begin += fit) {
    BL_TRY(begin_file(w, s, err));
    fit = rows_that_fit(w, s, all, begin, end - begin, &in_memory);
    BL_TRY(bl_file_writer_write(s->file, batch, begin, fit, spread, err));
    s->in_memory += in_memory;
    s->bytes = bl_file_writer_bytes(s->file, target);
    if (s->bytes >= target) BL_TRY(finish_file(w, s, err));
  }
  return BL_OK;
}

/* The rows of the part that are listed in s, as a batch. */
static bl_status take_rows(bl_data_writer *w, const int64_t *rows, int64_t n, struct ArrowArray *out, bl_error *err) {
  struct ArrowArray part;
  BL_TRY(bl_shared_part(w->part, w->part_begin, w->part_rows, NULL, &part, err));
  return bl_arrow_take(&part, &w->batch_schema, rows, n, out, err);
}

static bl_status run_slot(void *user, size_t i, bl_error *err) {
  bl_data_writer *w = user;
  slot *s = w->touched[i];
  struct ArrowArray taken;
  bl_shared *rows;
  BL_TRY(take_rows(w, s->rows, s->n_rows, &taken, err));
  BL_TRY(bl_shared_new(w->ctx, &taken, &rows, err));
  bl_status st = write_rows(w, s, rows, 0, s->n_rows, false, err);
  bl_shared_unref(rows);
  return st;
}

/* One more row of the part goes to a slot: a slot of fan-out is then among the touched ones. */
static bl_status touch(bl_data_writer *w, uint32_t number, slot **out, bl_error *err) {
  slot *s;
  BL_TRY(slot_at(w, number, &s, err));
  if (!s->fan_out && w->n_open < w->max_open) {
    s->fan_out = true;
    w->n_open++;
  }
  *out = s;
  if (!s->fan_out || s->n_rows++ > 0) return BL_OK;
  BL_TRY(bl_grow(w->ctx, &w->touched, &w->cap_touched, w->n_touched, sizeof *w->touched, err));
  w->touched[w->n_touched++] = s;
  return BL_OK;
}

/* The part's rows in w->rows: those of each touched slot together, then those for the sorter. */
static bl_status list_rows(bl_data_writer *w, int64_t *n_over, bl_error *err) {
  slot *s;
  for (int64_t i = 0; i < w->part_rows; i++) BL_TRY(touch(w, w->numbers[i], &s, err));
  int64_t at = 0;
  for (size_t i = 0; i < w->n_touched; i++) {
    w->touched[i]->rows = w->rows + at;
    at += w->touched[i]->n_rows;
    w->touched[i]->n_rows = 0;
  }
  *n_over = 0;
  for (int64_t i = 0; i < w->part_rows; i++) {
    s = w->slots[w->numbers[i]];
    if (s->fan_out) s->rows[s->n_rows++] = i;
    else w->rows[at + (*n_over)++] = i;
  }
  return BL_OK;
}

static bl_status row_keys(void *user, const struct ArrowArray *batch, bl_buf *out, uint32_t *ends, bl_error *err);

static bl_status sort_rows(bl_data_writer *w, struct ArrowArray *batch, bl_error *err) {
  bl_status st = BL_OK;
  if (!w->sorter) st = bl_row_sorter_new(w->ctx, &w->batch_schema, w->budget / 2, row_keys, w, &w->sorter, err);
  if (st == BL_OK) return bl_row_sorter_add(w->sorter, batch, err);
  bl_array_release(batch);
  return st;
}

static bl_status end_groups(bl_data_writer *w, bl_error *err);

static bl_status split_part(bl_data_writer *w, bl_error *err) {
  int64_t n_over = 0;
  bl_status st = list_rows(w, &n_over, err);
  if (st == BL_OK) st = bl_parallel(w->ctx, w->n_touched, run_slot, w, err);
  for (size_t i = 0; i < w->n_touched; i++) {
    w->touched[i]->n_rows = 0;
    if (st == BL_OK) st = hand_over(w, w->touched[i], err);
  }
  w->n_touched = 0;
  if (st != BL_OK) return st;
  struct ArrowArray rest;
  if (n_over > 0) {
    BL_TRY(take_rows(w, w->rows + w->part_rows - n_over, n_over, &rest, err));
    BL_TRY(sort_rows(w, &rest, err));
  }
  return end_groups(w, err);
}

static bool one_partition(const uint32_t *numbers, int64_t n) {
  for (int64_t i = 1; i < n; i++)
    if (numbers[i] != numbers[0]) return false;
  return true;
}

/* A part whose rows all go to one slot. */
static bl_status write_whole(bl_data_writer *w, slot *s, bl_error *err) {
  BL_TRY(write_rows(w, s, w->part, w->part_begin, w->part_rows, w->n_open <= FEW_OPEN, err));
  return hand_over(w, s, err);
}

static bl_status number_rows(bl_data_writer *w, bl_error *err) {
  struct ArrowArray part;
  BL_TRY(bl_shared_part(w->part, w->part_begin, w->part_rows, NULL, &part, err));
  bl_status st = bl_view_set(w->view, &part, err);
  if (st == BL_OK) st = bl_partitioner_rows(w->partitioner, part.length, w->numbers, err);
  bl_array_release(&part);
  return st;
}

static bl_status fan_out(bl_data_writer *w, bl_error *err) {
  slot *s;
  if (!w->partitioner) {
    BL_TRY(slot_at(w, 0, &s, err));
    return write_whole(w, s, err);
  }
  BL_TRY(number_rows(w, err));
  if (!one_partition(w->numbers, w->part_rows)) return split_part(w, err);
  BL_TRY(touch(w, w->numbers[0], &s, err));
  s->n_rows = 0;
  w->n_touched = 0;
  if (!s->fan_out) return split_part(w, err);
  BL_TRY(write_whole(w, s, err));
  return end_groups(w, err);
}

/* 4. */
static int64_t held_by_files(const bl_data_writer *w, int64_t enough) {
  int64_t held = 0;
  for (size_t i = 0; i < w->n_slots; i++)
    if (w->slots[i]->file) held += bl_file_writer_held(w->slots[i]->file, enough);
  return held;
}

static bl_status end_groups(bl_data_writer *w, bl_error *err) {
  int64_t held = 0, most = w->ctx->o.memory_budget / 2;
  if (w->n_open <= 1 || held_by_files(w, INT64_MAX) <= most) return BL_OK;
  held = held_by_files(w, 0);
  while (held > most / 2) {
    slot *biggest = NULL;
    int64_t bytes = 0;
    for (size_t i = 0; i < w->n_slots; i++) {
      int64_t n = w->slots[i]->file ? bl_file_writer_held(w->slots[i]->file, 0) : 0;
      if (n > bytes) bytes = n, biggest = w->slots[i];
    }
    if (!biggest) return BL_OK;
    BL_TRY(bl_file_writer_end_group(biggest->file, err));
    held -= bytes;
  }
  return BL_OK;
}

/* ---- sorted rows ---- */

static bl_status row_keys(void *user, const struct ArrowArray *batch, bl_buf *out, uint32_t *ends, bl_error *err) {
  bl_data_writer *w = user;
  uint32_t *numbers = NULL;
  bl_status st = bl_view_set(w->view, batch, err);
  if (st == BL_OK && w->partitioner) {
    numbers = bl_alloc(w->ctx, (size_t)batch->length, sizeof *numbers);
    st = numbers ? bl_partitioner_rows(w->partitioner, batch->length, numbers, err) : bl_nomem(err);
  }
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++) {
    uint32_t g = numbers ? numbers[i] : 0;
    uint8_t group[4] = {(uint8_t)(g >> 24), (uint8_t)(g >> 16), (uint8_t)(g >> 8), (uint8_t)g};
    bl_buf_add(out, group, sizeof group);
    bl_sort_key_add(&w->order, i, out);
    ends[i] = (uint32_t)out->n;
  }
  bl_free(w->ctx, numbers);
  return st;
}

static bl_status write_sorted(bl_data_writer *w, bl_error *err) {
  slot *now = NULL;
  BL_TRY(bl_row_sorter_finish(w->sorter, false, err));
  for (;;) {
    struct ArrowArray batch;
    uint32_t group = 0;
    slot *s;
    BL_TRY(bl_row_sorter_next(w->sorter, &batch, &group, err));
    if (!batch.release) return BL_OK;
    int64_t n = batch.length;
    bl_shared *rows;
    BL_TRY(bl_shared_new(w->ctx, &batch, &rows, err));
    bl_status st = slot_at(w, group, &s, err);
    if (st == BL_OK && now && now != s) {
      st = finish_file(w, now, err);
      if (st == BL_OK) st = hand_over(w, now, err);
    }
    now = s;
    if (st == BL_OK) st = write_rows(w, s, rows, 0, n, true, err);
    if (st == BL_OK) st = hand_over(w, s, err);
    bl_shared_unref(rows);
    if (st != BL_OK) return st;
  }
}

/* ---- the writer ---- */

static bl_status batch_schema(bl_data_writer *w, bool lineage, bl_error *err) {
  static const bl_field columns[2] = {
      {.id = BL_ID_ROW_ID, .name = {"_row_id", 7}, .type = {.kind = BL_LONG}},
      {.id = BL_ID_LAST_UPDATED, .name = {"_last_updated_sequence_number", 29}, .type = {.kind = BL_LONG}}};
  bl_type root = w->env.schema->root;
  bl_field *fields = bl_arena_alloc(w->env.arena, root.n_fields + 2, sizeof *fields);
  if (!fields) return bl_nomem(err);
  if (root.n_fields) memcpy(fields, root.fields, root.n_fields * sizeof *fields);
  memcpy(fields + root.n_fields, columns, sizeof columns);
  root.fields = fields;
  root.n_fields += lineage ? 2 : 0;
  BL_TRY(bl_aschema_of_struct(w->ctx, &root, &w->batch_schema, err));
  return bl_view_new(w->ctx, &w->batch_schema, &w->view, err);
}

static bl_status set_partitions(bl_data_writer *w, int32_t spec_id, bl_error *err) {
  const bl_metadata *m = w->t->metadata;
  int32_t id = spec_id < 0 ? m->default_spec_id : spec_id;
  w->spec = bl_metadata_spec(m, id);
  if (!w->spec) return bl_fail(err, BL_USAGE, "partition spec %d: the table has none of this id", (int)id);
  w->spec_types = bl_arena_calloc(w->env.arena, w->spec->n_fields, sizeof *w->spec_types);
  const bl_schema **others = bl_arena_alloc(w->env.arena, m->n_schemas, sizeof *others);
  if (!w->spec_types || !others) return bl_nomem(err);
  for (size_t i = 0; i < m->n_schemas; i++) others[i] = &m->schemas[m->n_schemas - 1 - i];
  bl_spec_types(w->spec, w->env.schema, others, m->n_schemas, w->spec_types);
  if (w->spec->n_fields == 0) return BL_OK;
  return bl_partitioner_new(w->ctx, w->spec, w->env.schema, w->view, &w->partitioner, err);
}

static bl_status set_order(bl_data_writer *w, const bl_data_writer_options *wo, bl_error *err) {
  const bl_sort_order *o = wo->keep_order ? NULL : bl_metadata_default_order(w->t->metadata);
  w->order_id = wo->keep_order && wo->kept_order > 0 ? wo->kept_order : -1;
  if (!o || o->n_fields == 0) return BL_OK;
  w->order_id = o->id;
  w->sorts = true;
  return bl_sort_columns_new(w->env.arena, o, w->env.schema, w->view, &w->order, err);
}

/* Of the files that the process may still open this writer's share, but for what else it opens meanwhile. */
static int64_t files_that_fit(const bl_data_writer *w, size_t beside) {
  int64_t writers = beside > 1 ? (int64_t)beside : 1;
  bl_io *io = w->t->io;
  if (!io->room || !w->partitioner || w->sorts) return MOST_OPEN;
  int64_t share = io->room(io, writers * (MOST_OPEN + OTHER_FILES)) / writers;
  return share - (share < 2 * OTHER_FILES ? share / 2 : OTHER_FILES);
}

/* How many partitions may have a file in hand (2). */
static size_t most_open(const bl_data_writer *w, size_t beside) {
  int64_t columns = (int64_t)w->env.settings.metrics.n + 2;
  int64_t fit = w->ctx->o.memory_budget / (columns * COLUMN_BYTES), files = files_that_fit(w, beside);
  if (fit > files) fit = files;
  return fit < LEAST_OPEN ? LEAST_OPEN : fit > MOST_OPEN ? MOST_OPEN : (size_t)fit;
}

bl_status bl_data_writer_new(bl_table *t, const bl_data_writer_options *o, bl_staged *into, bl_data_writer **out,
                             bl_error *err) {
  bl_status st;
  *out = NULL;
  bl_data_writer *w = bl_calloc(t->ctx, 1, sizeof *w);
  if (!w) return bl_nomem(err);
  w->t = t;
  w->ctx = t->ctx;
  w->into = into;
  w->budget = t->ctx->o.memory_budget / (o->beside > 1 ? (int64_t)o->beside : 1);
  pthread_mutex_init(&w->lock, NULL);
  const bl_schema *schema = o->schema ? o->schema : bl_metadata_current_schema(t->metadata);
  /* Before v3 there is no lineage to keep. */
  bool lineage = o->lineage && t->metadata->format_version >= 3;
  BL_GO(bl_file_env_init(&w->env, t, schema, lineage, o->settings, err));
  w->env.settings.parquet.plain = o->plain;
  w->env.settings.parquet.n_plain = o->n_plain;
  BL_GO(batch_schema(w, o->lineage, err));
  BL_GO(set_partitions(w, o->spec_id, err));
  BL_GO(set_order(w, o, err));
  w->uuid = bl_new_uuid(w->ctx);
  w->numbers = bl_alloc(w->ctx, PART_ROWS, sizeof *w->numbers);
  w->rows = bl_alloc(w->ctx, PART_ROWS, sizeof *w->rows);
  if (!w->numbers || !w->rows) BL_GO(bl_nomem(err));
  w->max_open = most_open(w, o->beside);
  *out = w;
done:
  if (st != BL_OK) bl_data_writer_abort(w);
  return st;
}

static bl_status write_part(bl_data_writer *w, bl_error *err) {
  if (!w->sorts) return fan_out(w, err);
  struct ArrowArray part;
  BL_TRY(bl_shared_part(w->part, w->part_begin, w->part_rows, NULL, &part, err));
  return sort_rows(w, &part, err);
}

bl_status bl_data_writer_write(bl_data_writer *w, struct ArrowArray *batch, bl_error *err) {
  int64_t n = batch->length;
  if (batch->n_children != w->batch_schema.n_children) {
    bl_status st = bl_fail(err, BL_USAGE, "data writer: a batch of %lld columns, %lld are expected",
                           (long long)batch->n_children, (long long)w->batch_schema.n_children);
    bl_array_release(batch);
    return st;
  }
  BL_TRY(bl_shared_new(w->ctx, batch, &w->part, err));
  bl_status st = BL_OK;
  for (int64_t i = 0; st == BL_OK && i < n; i += PART_ROWS) {
    w->part_begin = i;
    w->part_rows = n - i < PART_ROWS ? n - i : PART_ROWS;
    st = write_part(w, err);
  }
  bl_shared_unref(w->part);
  w->part = NULL;
  return st;
}

static bl_status finish_slot(void *user, size_t i, bl_error *err) {
  bl_data_writer *w = user;
  return finish_file(w, w->slots[i], err);
}

bl_status bl_data_writer_finish(bl_data_writer *w, bl_error *err) {
  bl_status st = bl_parallel(w->ctx, w->n_slots, finish_slot, w, err);
  if (st == BL_OK && w->sorter) st = write_sorted(w, err);
  if (st == BL_OK) st = bl_parallel(w->ctx, w->n_slots, finish_slot, w, err);
  for (size_t i = 0; st == BL_OK && i < w->n_slots; i++) st = hand_over(w, w->slots[i], err);
  bl_data_writer_abort(w);
  return st;
}

void bl_data_writer_abort(bl_data_writer *w) {
  if (!w) return;
  bl_ctx *ctx = w->ctx;
  for (size_t i = 0; i < w->n_slots; i++) slot_free(w, w->slots[i]);
  bl_free(ctx, w->slots);
  bl_free(ctx, w->touched);
  bl_free(ctx, w->numbers);
  bl_free(ctx, w->rows);
  bl_row_sorter_free(w->sorter);
  bl_partitioner_free(w->partitioner);
  bl_view_free(w->view);
  bl_aschema_release(&w->batch_schema);
  bl_file_env_dispose(&w->env);
  pthread_mutex_destroy(&w->lock);
  bl_free(ctx, w);
}
