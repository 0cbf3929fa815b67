/* gather.h: rows of several batches, in any order, as one: each value is copied once. To put the batches together and
 * then to take rows out of the whole would copy it twice, into memory that is touched for the first time. */
#ifndef BL_EDGE_ARROW_GATHER_H
#define BL_EDGE_ARROW_GATHER_H

#include <cstdint>
#include <memory>

#include <arrow/record_batch.h>
#include <arrow/type_fwd.h>

#include "bergline/arrow_c.h"

namespace bl {

/* Row rows[i] counts through all batches (struct arrays, borrowed), one after the other. schema: without extension
 * types. A row that is in none of them throws. */
std::shared_ptr<arrow::RecordBatch> gather(const ArrowArray *batches, size_t n_batches,
                                           const std::shared_ptr<arrow::Schema> &schema, const int64_t *rows,
                                           int64_t n);

} // namespace bl
#endif
