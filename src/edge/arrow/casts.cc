/* casts.cc: see casts.h. */
#include "casts.h"

#include <cstdint>

#include <arrow/array/builder_primitive.h>
#include <arrow/compute/api.h>
#include <arrow/extension_type.h>

#include "guard.h"
#include "pool.h"

namespace bl {
namespace {

namespace ac = arrow::compute;

/* Where each row's value lies among the values of the runs. */
template <class Ends> std::shared_ptr<arrow::Array> places(const Ends &ends, int64_t rows) {
  arrow::Int64Builder out(pool());
  ok(out.Reserve(rows));
  for (int64_t run = 0, row = 0; run < ends.length(); run++)
    for (; row < ends.Value(run) && row < rows; row++) out.UnsafeAppend(run);
  return ok(out.Finish());
}

std::shared_ptr<arrow::Array> places_of_runs(const arrow::Array &ends, int64_t rows) {
  switch (ends.type_id()) {
  case arrow::Type::INT16: return places(static_cast<const arrow::Int16Array &>(ends), rows);
  case arrow::Type::INT32: return places(static_cast<const arrow::Int32Array &>(ends), rows);
  default: return places(static_cast<const arrow::Int64Array &>(ends), rows);
  }
}

std::shared_ptr<arrow::Array> without_runs(const arrow::RunEndEncodedArray &a) {
  auto ends = ok(a.LogicalRunEnds(pool()));
  auto values = plain_layout(a.LogicalValues());
  return ok(ac::Take(*values, *places_of_runs(*ends, a.length()), ac::TakeOptions::NoBoundsCheck(), kernels()));
}

/* Arrow's own conversions go wrong: a cast leaves the last offset out, FromListView takes the nulls of a slice from the
 * array that it is a slice of. */
template <class Views> std::shared_ptr<arrow::Array> without_views(const Views &a) {
  arrow::Int32Builder ends(pool());
  arrow::Int64Builder at(pool());
  ok(ends.Reserve(a.length() + 1));
  for (int64_t row = 0; row < a.length(); row++) {
    if (a.IsNull(row)) ends.UnsafeAppendNull();
    else ends.UnsafeAppend(static_cast<int32_t>(at.length()));
    if (a.IsNull(row)) continue;
    if (at.length() + a.value_length(row) > INT32_MAX) unsupported("lists with more than 2147483647 elements together");
    for (int64_t i = 0; i < a.value_length(row); i++) ok(at.Append(a.value_offset(row) + i));
  }
  ends.UnsafeAppend(static_cast<int32_t>(at.length()));
  auto values = ok(ac::Take(*plain_layout(a.values()), *ok(at.Finish()), ac::TakeOptions::NoBoundsCheck(), kernels()));
  return ok(arrow::ListArray::FromArrays(*ok(ends.Finish()), *values, pool()));
}

std::shared_ptr<arrow::DataType> nested_type(const arrow::DataType &t, arrow::FieldVector fields) {
  switch (t.id()) {
  case arrow::Type::STRUCT: return arrow::struct_(fields);
  case arrow::Type::LIST: return arrow::list(fields[0]);
  case arrow::Type::LARGE_LIST: return arrow::large_list(fields[0]);
  case arrow::Type::MAP: return std::make_shared<arrow::MapType>(fields[0]);
  default: return arrow::fixed_size_list(fields[0], static_cast<const arrow::FixedSizeListType &>(t).list_size());
  }
}

std::shared_ptr<arrow::Array> plain_below(const std::shared_ptr<arrow::Array> &a) {
  auto data = a->data()->Copy();
  auto fields = a->type()->fields();
  bool same = true;
  for (size_t i = 0; i < data->child_data.size(); i++) {
    auto child = plain_layout(arrow::MakeArray(data->child_data[i]));
    same &= child->type()->Equals(*fields[i]->type());
    data->child_data[i] = child->data();
    fields[i] = fields[i]->WithType(child->type());
  }
  if (same) return a;
  data->type = nested_type(*a->type(), std::move(fields));
  return arrow::MakeArray(data);
}

} // namespace

ac::ExecContext *kernels() {
  static ac::ExecContext one(pool());
  return &one;
}

arrow::Result<std::shared_ptr<arrow::Array>> cast_array(const arrow::Array &in, const arrow::TypeHolder &to) {
  return ac::Cast(in, to, ac::CastOptions::Safe(), kernels());
}

int64_t first_misfit(const arrow::Array &in, const arrow::TypeHolder &to) {
  int64_t begin = 0, end = in.length();
  while (end - begin > 1) {
    int64_t middle = begin + (end - begin) / 2;
    if (cast_array(*in.Slice(begin, middle - begin), to).ok()) begin = middle;
    else end = middle;
  }
  return begin;
}

std::shared_ptr<arrow::Array> plain_layout(const std::shared_ptr<arrow::Array> &a) {
  using arrow::Type;
  switch (a->type_id()) {
  case Type::EXTENSION: return plain_layout(static_cast<const arrow::ExtensionArray &>(*a).storage());
  case Type::RUN_END_ENCODED: return without_runs(static_cast<const arrow::RunEndEncodedArray &>(*a));
  case Type::STRING_VIEW: return ok(cast_array(*a, arrow::utf8())); /* nothing picks rows of these */
  case Type::BINARY_VIEW: return ok(cast_array(*a, arrow::binary()));
  case Type::LIST_VIEW: return without_views(static_cast<const arrow::ListViewArray &>(*a));
  case Type::LARGE_LIST_VIEW: return without_views(static_cast<const arrow::LargeListViewArray &>(*a));
  case Type::STRUCT:
  case Type::LIST:
  case Type::LARGE_LIST:
  case Type::FIXED_SIZE_LIST:
  case Type::MAP: return plain_below(a);
  default: return a;
  }
}

} // namespace bl
