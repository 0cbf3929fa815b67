/* order.h: all events of a feed in the order in which they are given out (docs/changelog.md C12, C17). */
#ifndef BL_CHANGES_ORDER_H
#define BL_CHANGES_ORDER_H

#include "changes/events.h"

typedef struct bl_event_order bl_event_order;

typedef enum bl_order_kind {
  BL_ORDER_OUTPUT,   /* by ordinal, id (nulls last), path, position */
  BL_ORDER_BY_ROW,   /* history: by id (rows without one by place), then ordinal; runs become single rows */
  BL_ORDER_BY_PLACE, /* unordered: by file and position, as rows are read */
} bl_order_kind;

typedef struct bl_order_options {
  const uint32_t *rank; /* of the files; outlives the order */
  size_t n_ordinals;    /* ordinals of the events are below, or about */
  bl_order_kind kind;
} bl_order_options;

/* *events (of bl_event) is taken over, also on failure, and NULL then. */
bl_status bl_event_order_new(bl_ctx *ctx, bl_spool **events, const bl_order_options *o, bl_event_order **out,
                             bl_error *err) BL_CHECKED;
void bl_event_order_free(bl_event_order *o); /* NULL allowed */
/* *event NULL at the end; valid until the next call. */
bl_status bl_event_order_next(bl_event_order *o, const bl_event **event, bl_error *err) BL_CHECKED;

#endif
