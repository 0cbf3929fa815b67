/* predicate.h: a bound expression as a program for Arrow compute over batches of wanted columns. */
#ifndef BL_SCAN_PREDICATE_H
#define BL_SCAN_PREDICATE_H

#include "bergline/arrow_c.h"
#include "model/expr.h"

typedef struct bl_predicate bl_predicate;
/* wanted: the struct type of the batches; it must hold the expression's fields. Borrows both. */
bl_status bl_predicate_new(bl_ctx *ctx, const bl_expr *bound, const bl_type *wanted, bl_predicate **out,
                           bl_error *err) BL_CHECKED;
void bl_predicate_free(bl_predicate *p); /* NULL allowed */
/* keep[i] = 1 where the predicate is true of row i of the batch (borrowed). Thread-safe. */
bl_status bl_predicate_run(const bl_predicate *p, const struct ArrowArray *batch, uint8_t *keep,
                           bl_error *err) BL_CHECKED;

#endif
