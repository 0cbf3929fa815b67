/* writer.h: what a bl_arrow_writer is. */
#ifndef BL_EDGE_ARROW_WRITER_H
#define BL_EDGE_ARROW_WRITER_H

#include "input.h"

struct bl_arrow_writer {
  virtual ~bl_arrow_writer() = default; /* without finish: abandoned */
  virtual const char *name() const { return "Arrow IPC"; }
  virtual int64_t bytes(int64_t enough) = 0;  /* throws */
  virtual int64_t held(int64_t) { return 0; } /* throws */
  virtual void end_group() {}                 /* throws */
  virtual void spread(bool) {}
  virtual void write(struct ArrowArray *batch) = 0; /* consumes; throws */
  virtual void finish() = 0;
};

#endif
