/* bridge.cc: see bridge.h. */
#include "bridge.h"

#include <arrow/c/bridge.h>
#include <arrow/extension_type.h>

#include "guard.h"

namespace bl {
namespace {

void let_go(ArrowSchema *s) {
  s->release = nullptr;
}

void let_go(ArrowArray *a) {
  a->release = nullptr;
}

ArrowSchema lent(const ArrowSchema *schema) {
  ArrowSchema copy = *schema;
  copy.release = let_go;
  return copy;
}

ArrowArray lent(const ArrowArray *array) {
  ArrowArray copy = *array;
  copy.release = let_go;
  return copy;
}

std::shared_ptr<arrow::Field> storage_field(const std::shared_ptr<arrow::Field> &f) {
  return f->WithType(storage_type(f->type()));
}

} // namespace

std::shared_ptr<arrow::Schema> borrow_schema(const ArrowSchema *schema) {
  ArrowSchema copy = lent(schema);
  return ok(arrow::ImportSchema(&copy));
}

std::shared_ptr<arrow::DataType> borrow_type(const ArrowSchema *schema) {
  ArrowSchema copy = lent(schema);
  return storage_type(ok(arrow::ImportType(&copy)));
}

std::shared_ptr<arrow::DataType> storage_type(const std::shared_ptr<arrow::DataType> &type) {
  switch (type->id()) {
  case arrow::Type::EXTENSION: return storage_type(static_cast<const arrow::ExtensionType &>(*type).storage_type());
  case arrow::Type::STRUCT: {
    arrow::FieldVector fields;
    for (const auto &f : type->fields()) fields.push_back(storage_field(f));
    return arrow::struct_(fields);
  }
  case arrow::Type::LIST: return arrow::list(storage_field(type->field(0)));
  case arrow::Type::LARGE_LIST: return arrow::large_list(storage_field(type->field(0)));
  case arrow::Type::MAP: {
    const auto &map = static_cast<const arrow::MapType &>(*type);
    return std::make_shared<arrow::MapType>(storage_field(type->field(0)), map.keys_sorted());
  }
  default: return type;
  }
}

std::shared_ptr<arrow::Schema> storage_schema(const std::shared_ptr<arrow::Schema> &schema) {
  arrow::FieldVector fields;
  for (const auto &f : schema->fields()) fields.push_back(storage_field(f));
  return arrow::schema(fields, schema->metadata());
}

std::shared_ptr<arrow::RecordBatch> Owned::take(const std::shared_ptr<arrow::Schema> &schema) {
  return ok(arrow::ImportRecordBatch(array_, schema));
}

std::shared_ptr<arrow::Array> Owned::take(const std::shared_ptr<arrow::DataType> &type) {
  return ok(arrow::ImportArray(array_, type));
}

std::shared_ptr<arrow::RecordBatch> borrow_batch(const ArrowArray *array,
                                                 const std::shared_ptr<arrow::Schema> &schema) {
  ArrowArray copy = lent(array);
  return ok(arrow::ImportRecordBatch(&copy, schema));
}

std::shared_ptr<arrow::Array> borrow_array(const ArrowArray *array, const std::shared_ptr<arrow::DataType> &type) {
  ArrowArray copy = lent(array);
  return ok(arrow::ImportArray(&copy, type));
}

} // namespace bl
