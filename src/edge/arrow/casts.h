/* casts.h: arrays of one type as those of another, for columns that come from outside. */
#ifndef BL_EDGE_ARROW_CASTS_H
#define BL_EDGE_ARROW_CASTS_H

#include <memory>

#include <arrow/array.h>
#include <arrow/compute/type_fwd.h>
#include <arrow/result.h>
#include <arrow/type.h>

namespace bl {

/* What Arrow's kernels get: our pool, Arrow's threads. */
arrow::compute::ExecContext *kernels();

/* Values stay what they are, or it fails. */
arrow::Result<std::shared_ptr<arrow::Array>> cast_array(const arrow::Array &in, const arrow::TypeHolder &to);
/* The first row that cannot be cast, where the whole cannot. */
int64_t first_misfit(const arrow::Array &in, const arrow::TypeHolder &to);

/* Layouts that no cast takes, or takes wrong, replaced at every level: runs by their values, views of lists by lists
 * (Arrow's own cast of these leaves the last offset out), views of bytes by bytes, extension types by their storage.
 * Throws. */
std::shared_ptr<arrow::Array> plain_layout(const std::shared_ptr<arrow::Array> &a);

} // namespace bl
#endif
