/* arrow_edge.h: the C face of the Arrow C++ adapter. Only plain structs, byte spans and Arrow C Data Interface structs
 * pass; every exception becomes a bl_error in one guard. Nothing else in the project includes an Arrow C++ header. */
#ifndef BL_EDGE_ARROW_EDGE_H
#define BL_EDGE_ARROW_EDGE_H

#include "bergline/sys/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Once per process, thread-safe, idempotent (compute kernels registered; the memory pool chosen by
 * ARROW_DEFAULT_MEMORY_POOL stays). */
bl_status bl_arrow_init(bl_error *err) BL_CHECKED;
const char *bl_arrow_version(void); /* "25.0.1" */

extern const bl_data_format bl_format_parquet;
extern const bl_data_format bl_format_orc; /* open gives BL_UNSUPPORTED where the Arrow build has no ORC */

/* ---- compute on record batches (struct arrays with their schema). Inputs are consumed (released) also on failure,
 * unless said otherwise; outputs are owned by the caller. ---- */

/* Keep the rows whose byte in keep[] is 1 (in->length of them). */
bl_status bl_arrow_filter(struct ArrowArray *in, const struct ArrowSchema *schema, const uint8_t *keep,
                          struct ArrowArray *out, bl_error *err) BL_CHECKED;
/* Rows by index, any order, repeats allowed. */
bl_status bl_arrow_take(struct ArrowArray *in, const struct ArrowSchema *schema, const int64_t *rows, int64_t n,
                        struct ArrowArray *out, bl_error *err) BL_CHECKED;
/* The same out of n_in batches (borrowed), whose rows are counted through. */
bl_status bl_arrow_gather(const struct ArrowArray *in, size_t n_in, const struct ArrowSchema *schema,
                          const int64_t *rows, int64_t n, struct ArrowArray *out, bl_error *err) BL_CHECKED;
/* Concatenate batches (all consumed) of one schema. */
bl_status bl_arrow_concat(struct ArrowArray *in, size_t n, const struct ArrowSchema *schema, struct ArrowArray *out,
                          bl_error *err) BL_CHECKED;
/* Cast one column (array of in_type, consumed) to another type; safe: a value that does not fit is BL_USAGE naming its
 * row in err->position. */
bl_status bl_arrow_cast(struct ArrowArray *in, const struct ArrowSchema *in_type, const struct ArrowSchema *out_type,
                        struct ArrowArray *out, bl_error *err) BL_CHECKED;

/* A predicate in postfix form for compute: Arrow's kernels with SQL three-valued (Kleene) logic. */
typedef enum bl_pred_op {
  BL_P_COLUMN,  /* push column `column` (path of child indexes into the batch) */
  BL_P_LITERAL, /* push scalar: element 0 of `literal` (array of length 1, or NULL type for null) */
  BL_P_AND,
  BL_P_OR,
  BL_P_NOT, /* Kleene */
  BL_P_EQ,
  BL_P_NE,
  BL_P_LT,
  BL_P_LE,
  BL_P_GT,
  BL_P_GE,
  BL_P_IS_NULL,
  BL_P_IS_NAN /* null stays null */,
  BL_P_IN,          /* pop 1; membership in `literal` (array of length >= 0, no nulls): null input gives null */
  BL_P_STARTS_WITH, /* pop 1; prefix bytes in `prefix` */
  BL_P_TRUE,
  BL_P_FALSE,
  BL_P_NULL /* push a constant truth value */
} bl_pred_op;
typedef struct bl_pred_step {
  bl_pred_op op;
  const int32_t *path;
  size_t n_path;
  const struct ArrowSchema *literal_type;
  const struct ArrowArray *literal; /* borrowed */
  const char *prefix;
  size_t n_prefix;
} bl_pred_step;
/* Evaluate on a batch (borrowed); keep[i] = 1 where the predicate is true (not false, not null). */
bl_status bl_arrow_predicate(const struct ArrowArray *batch, const struct ArrowSchema *schema,
                             const bl_pred_step *steps, size_t n, uint8_t *keep, bl_error *err) BL_CHECKED;

/* ---- output and input of streams ---- */
typedef struct bl_arrow_writer bl_arrow_writer;
/* IPC stream format. */
bl_status bl_arrow_ipc_writer(bl_ctx *ctx, const bl_sink *sink, const struct ArrowSchema *schema, bl_arrow_writer **out,
                              bl_error *err) BL_CHECKED;
/* IPC file format: the same, with the places of its batches at its end. */
bl_status bl_arrow_ipc_file_writer(bl_ctx *ctx, const bl_sink *sink, const struct ArrowSchema *schema,
                                   bl_arrow_writer **out, bl_error *err) BL_CHECKED;
/* Parquet with field ids from PARQUET:field_id, Iceberg's names and types (list "element", map "key_value/key/value",
 * uuid, decimals as integers, …), zstd. Extension metadata on variant / geometry / geography fields gives the logical
 * types. */
bl_status bl_arrow_parquet_writer(bl_ctx *ctx, const bl_sink *sink, const struct ArrowSchema *schema,
                                  bl_arrow_writer **out, bl_error *err) BL_CHECKED;
typedef struct bl_parquet_bloom { /* a bloom filter for the leaf of this field id */
  int32_t field_id;
  double fpp;        /* wanted rate of false positives, above 0 and below 1 */
  int64_t max_bytes; /* of a row group's filter; smaller where few values are distinct */
} bl_parquet_bloom;
typedef struct bl_parquet_options { /* zero: the defaults */
  int64_t group_bytes;      /* a row group ends when it has this many (encoded), or as many rows; default 64 MiB */
  const char *codec;        /* zstd (default), snappy, gzip, lz4, brotli, none */
  int level;                /* of the codec; 0: its own default */
  int64_t page_rows;        /* most rows of a page; default 20,000 */
  int64_t page_bytes;       /* of a page's values, encoded; default 1 MiB */
  int64_t dictionary_bytes; /* of a dictionary: beyond, values are written plain; default 1 MiB; -1: none */
  const int32_t *plain;     /* field ids of columns without a dictionary */
  size_t n_plain;
  const int32_t *no_stats; /* field ids of leaves without statistics */
  size_t n_no_stats;
  int threads; /* columns are encoded on this many; 0, 1: on the caller's thread */
  const bl_parquet_bloom *blooms;
  size_t n_blooms;
  const char *const *pairs; /* key-value metadata: key, value, key, value … */
  size_t n_pairs;
  const void *key; /* encryption: of the footer and all columns */
  size_t n_key;
  const void *aad_prefix; /* not stored in the file */
  size_t n_aad;
} bl_parquet_options;
bl_status bl_arrow_parquet_writer_with(bl_ctx *ctx, const bl_sink *sink, const struct ArrowSchema *schema,
                                       const bl_parquet_options *o, bl_arrow_writer **out, bl_error *err) BL_CHECKED;
/* About how large the file would be if it were finished now. A number below `enough` may be too large: nothing was
 * waited for to learn more. The same rows give the same number on any number of threads. */
int64_t bl_arrow_writer_bytes(bl_arrow_writer *w, int64_t enough);
/* Bytes that it holds in memory until its row group ends, about; `enough` as above. */
int64_t bl_arrow_writer_held(bl_arrow_writer *w, int64_t enough);
/* End the row group in hand: what is held is written. */
bl_status bl_arrow_writer_end_group(bl_arrow_writer *w, bl_error *err) BL_CHECKED;
/* May the next writes use the writer's threads? Yes, unless told otherwise. */
void bl_arrow_writer_spread(bl_arrow_writer *w, bool yes);
/* Parquet with threads: a failure may come out of a later call. */
bl_status bl_arrow_writer_write(bl_arrow_writer *w, struct ArrowArray *batch /* consumed */, bl_error *err) BL_CHECKED;
bl_status bl_arrow_writer_finish(bl_arrow_writer *w, bl_error *err) BL_CHECKED; /* frees w, also on failure */
void bl_arrow_writer_abort(bl_arrow_writer *w);
/* Read an IPC stream or file from `in` (borrowed, must outlive the stream). */
bl_status bl_arrow_ipc_reader(bl_ctx *ctx, bl_input *in, struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
