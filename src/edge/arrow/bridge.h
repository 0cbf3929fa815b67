/* bridge.h: Arrow C Data structs in and out of the C++ library. */
#ifndef BL_EDGE_ARROW_BRIDGE_H
#define BL_EDGE_ARROW_BRIDGE_H

#include <memory>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "arrow_edge.h"

namespace bl {

/* Schemas are borrowed: nothing is released. */
std::shared_ptr<arrow::Schema> borrow_schema(const struct ArrowSchema *schema);
std::shared_ptr<arrow::DataType> borrow_type(const struct ArrowSchema *schema);
/* The same with every extension type replaced by its storage. */
std::shared_ptr<arrow::DataType> storage_type(const std::shared_ptr<arrow::DataType> &type);
std::shared_ptr<arrow::Schema> storage_schema(const std::shared_ptr<arrow::Schema> &schema);

/* Owns a C array until it is taken; releases it otherwise. */
class Owned {
public:
  explicit Owned(struct ArrowArray *a) : array_(a) {}
  ~Owned() {
    if (array_->release) array_->release(array_);
  }
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;
  std::shared_ptr<arrow::RecordBatch> take(const std::shared_ptr<arrow::Schema> &schema);
  std::shared_ptr<arrow::Array> take(const std::shared_ptr<arrow::DataType> &type);

private:
  struct ArrowArray *array_;
};

/* A view of a C array that stays with its owner: valid as long as that. */
std::shared_ptr<arrow::RecordBatch> borrow_batch(const struct ArrowArray *array,
                                                 const std::shared_ptr<arrow::Schema> &schema);
std::shared_ptr<arrow::Array> borrow_array(const struct ArrowArray *array,
                                           const std::shared_ptr<arrow::DataType> &type);

} // namespace bl
#endif
