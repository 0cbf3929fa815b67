/* runs.h: the rows of a batch that stay, copied run by run. Deleted rows are few and far between: what is left of a
 * batch is a few hundred long runs, and copying those costs a fraction of what picking row by row does. */
#ifndef BL_EDGE_ARROW_RUNS_H
#define BL_EDGE_ARROW_RUNS_H

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/type_fwd.h>

namespace bl {

struct RowRun {
  int64_t begin, end; /* rows [begin, end) */
};

/* The runs of rows whose byte in keep is not 0. */
std::vector<RowRun> runs_of(const uint8_t *keep, int64_t n);

/* Can copy_runs be used on arrays of this type? Of numbers, bytes, and structs of these. */
bool can_copy_runs(const arrow::DataType &type);
/* The rows of the runs, one after the other, in fresh memory; `rows` is the sum of their lengths. */
std::shared_ptr<arrow::ArrayData> copy_runs(const arrow::ArrayData &in, const std::vector<RowRun> &runs, int64_t rows);

} // namespace bl
#endif
