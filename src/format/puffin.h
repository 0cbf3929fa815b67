/* puffin.h: Puffin files (puffin-spec.md) and deletion vectors (spec "Deletion Vectors"; W8), bytes only. */
#ifndef BL_FORMAT_PUFFIN_H
#define BL_FORMAT_PUFFIN_H

#include "base/buf.h"
#include "format/json.h"
#include "model/metadata.h"

/* A set of row positions (64-bit Roaring, one 32-bit bitmap per high word). */
typedef struct bl_posset bl_posset;
bl_status bl_posset_new(bl_ctx *ctx, bl_posset **out, bl_error *err) BL_CHECKED;
void bl_posset_free(bl_posset *s);
bl_status bl_posset_add(bl_posset *s, int64_t pos, bl_error *err) BL_CHECKED;
bl_status bl_posset_add_range(bl_posset *s, int64_t begin, int64_t end, bl_error *err) BL_CHECKED;
bl_status bl_posset_or(bl_posset *into, const bl_posset *s, bl_error *err) BL_CHECKED;
bl_status bl_posset_andnot(bl_posset *into, const bl_posset *s, bl_error *err) BL_CHECKED; /* into \ s */
bl_status bl_posset_copy(bl_ctx *ctx, const bl_posset *s, bl_posset **out, bl_error *err) BL_CHECKED;
bool bl_posset_has(const bl_posset *s, int64_t pos);
bool bl_posset_equal(const bl_posset *a, const bl_posset *b);
int64_t bl_posset_count(const bl_posset *s);
int64_t bl_posset_count_range(const bl_posset *s, int64_t begin, int64_t end);
int64_t bl_posset_max(const bl_posset *s); /* -1 when empty */
/* Positions >= from in ascending order, at most max of them; returns how many. */
size_t bl_posset_next(const bl_posset *s, int64_t from, int64_t *out, size_t max);
/* keep[i] = 0 for each position begin + i that is in s (others untouched). */
void bl_posset_clear_bytes(const bl_posset *s, int64_t begin, int64_t end, uint8_t *keep);

/* A vector blob (length, magic, bitmap, CRC) -> set. Length, magic, CRC and container bytes are checked before
 * decoding; cardinality must equal `cardinality` unless that is -1. Positions relative to the blob in errors. */
bl_status bl_dv_decode(bl_ctx *ctx, const void *p, size_t n, int64_t cardinality, bl_posset **out,
                       bl_error *err) BL_CHECKED;
bl_status bl_dv_encode(const bl_posset *s, bl_buf *out, bl_error *err) BL_CHECKED;

typedef struct bl_puffin_blob {
  bl_str type;
  int32_t *fields;
  size_t n_fields;
  int64_t snapshot_id, sequence_number, offset, length;
  bl_str codec; /* p NULL */
  bl_pairs properties;
} bl_puffin_blob;
typedef struct bl_puffin {
  bl_puffin_blob *blobs;
  size_t n_blobs;
  bl_pairs properties;
} bl_puffin;
/* Footer from the file's last bytes: tail holds the last n bytes of a file of file_size bytes. *need > n: call again
 * with that many. */
bl_status bl_puffin_footer(bl_ctx *ctx, bl_arena *a, const void *tail, size_t n, int64_t file_size, size_t *need,
                           bl_puffin *out, bl_error *err) BL_CHECKED;

typedef struct bl_puffin_writer bl_puffin_writer;
bl_status bl_puffin_writer_new(bl_ctx *ctx, bl_puffin_writer **out, bl_error *err) BL_CHECKED;
/* Adds a vector blob; *offset and *length for the manifest entry. */
bl_status bl_puffin_writer_add_dv(bl_puffin_writer *w, const bl_posset *s, bl_str referenced, int64_t *offset,
                                  int64_t *length, bl_error *err) BL_CHECKED;
bl_status bl_puffin_writer_finish(bl_puffin_writer *w, bl_buf *out, bl_error *err) BL_CHECKED;
void bl_puffin_writer_free(bl_puffin_writer *w);

#endif
