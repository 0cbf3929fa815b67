/* stream.h: batches made in C++ handed out as an ArrowArrayStream. The errno of a failed call tells the bl_status
 * (bergline/sys/data.h). */
#ifndef BL_EDGE_ARROW_STREAM_H
#define BL_EDGE_ARROW_STREAM_H

#include <memory>
#include <string>

#include <arrow/record_batch.h>

#include "bergline/sys/data.h"

namespace bl {

class Batches {
public:
  virtual ~Batches() = default;
  virtual std::shared_ptr<arrow::Schema> schema() = 0;
  virtual std::shared_ptr<arrow::RecordBatch> next() = 0; /* NULL at the end; throws */
  virtual std::string where() = 0;                        /* in front of an error's message */
  /* The error of the input behind an exception that lost it; BL_OK: none. */
  virtual bl_error hidden_error() { return BL_ERROR_INIT; }
};

/* `otherwise`: see guard.h. After a failure every further call fails the same way. */
void export_batches(std::unique_ptr<Batches> batches, bl_status otherwise, struct ArrowArrayStream *out);

} // namespace bl
#endif
