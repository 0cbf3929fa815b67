/* runs.cc: see runs.h. */
#include "runs.h"

#include <cstring>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bitmap_ops.h>

#include "guard.h"
#include "pool.h"

namespace bl {
namespace {

using arrow::ArrayData;
using arrow::Buffer;
using Runs = std::vector<RowRun>;

std::shared_ptr<Buffer> copy_bits(const Buffer &in, int64_t offset, const Runs &runs, int64_t rows) {
  auto out = ok(arrow::AllocateEmptyBitmap(rows, pool()));
  int64_t at = 0;
  for (const RowRun &r : runs) {
    arrow::internal::CopyBitmap(in.data(), offset + r.begin, r.end - r.begin, out->mutable_data(), at);
    at += r.end - r.begin;
  }
  return out;
}

std::shared_ptr<Buffer> copy_values(const Buffer &in, int64_t offset, int64_t width, const Runs &runs, int64_t rows) {
  auto out = allocate(rows * width);
  uint8_t *to = out->mutable_data();
  for (const RowRun &r : runs) {
    auto bytes = static_cast<size_t>((r.end - r.begin) * width);
    if (bytes) std::memcpy(to, in.data() + (offset + r.begin) * width, bytes);
    to += bytes;
  }
  return out;
}

/* Offsets and bytes of strings; they get smaller only, so that offsets fit as before. */
template <class Offset> void copy_bytes(const ArrayData &in, const Runs &runs, int64_t rows, ArrayData *out) {
  const auto *from = in.GetValues<Offset>(1);
  int64_t total = 0;
  for (const RowRun &r : runs) total += from[r.end] - from[r.begin];
  auto offsets = allocate((rows + 1) * static_cast<int64_t>(sizeof(Offset))), bytes = allocate(total);
  auto *to = reinterpret_cast<Offset *>(offsets->mutable_data());
  Offset at = 0;
  for (const RowRun &r : runs) {
    Offset shift = at - from[r.begin];
    for (int64_t i = r.begin; i < r.end; i++) *to++ = from[i] + shift;
    auto n = static_cast<size_t>(from[r.end] - from[r.begin]);
    if (n) std::memcpy(bytes->mutable_data() + at, in.buffers[2]->data() + from[r.begin], n);
    at += static_cast<Offset>(n);
  }
  *to = at;
  out->buffers.push_back(std::move(offsets));
  out->buffers.push_back(std::move(bytes));
}

/* A struct's children are cut as the struct is. */
void copy_children(const ArrayData &in, const Runs &runs, int64_t rows, ArrayData *out) {
  for (const auto &child : in.child_data)
    out->child_data.push_back(copy_runs(in.offset ? *child->Slice(in.offset, in.length) : *child, runs, rows));
}

} // namespace

std::vector<RowRun> runs_of(const uint8_t *keep, int64_t n) {
  Runs runs;
  for (int64_t i = 0; i < n;) {
    if (!keep[i]) {
      i++;
      continue;
    }
    const void *end = std::memchr(keep + i, 0, static_cast<size_t>(n - i));
    int64_t stop = end ? static_cast<const uint8_t *>(end) - keep : n;
    runs.push_back({i, stop});
    i = stop;
  }
  return runs;
}

bool can_copy_runs(const arrow::DataType &type) {
  switch (type.id()) {
  case arrow::Type::STRUCT:
    for (const auto &field : type.fields())
      if (!can_copy_runs(*field->type())) return false;
    return true;
  case arrow::Type::BINARY:
  case arrow::Type::STRING:
  case arrow::Type::LARGE_BINARY:
  case arrow::Type::LARGE_STRING:
  case arrow::Type::BOOL: return true;
  default: return arrow::is_primitive(type.id()) || arrow::is_fixed_size_binary(type.id());
  }
}

std::shared_ptr<ArrayData> copy_runs(const ArrayData &in, const Runs &runs, int64_t rows) {
  auto out = std::make_shared<ArrayData>(in.type, rows, 0);
  bool nulls = in.buffers[0] && in.GetNullCount() > 0;
  out->buffers.push_back(nulls ? copy_bits(*in.buffers[0], in.offset, runs, rows) : nullptr);
  out->null_count = nulls ? arrow::kUnknownNullCount : 0;
  switch (in.type->id()) {
  case arrow::Type::STRUCT: copy_children(in, runs, rows, out.get()); break;
  case arrow::Type::BOOL: out->buffers.push_back(copy_bits(*in.buffers[1], in.offset, runs, rows)); break;
  case arrow::Type::BINARY:
  case arrow::Type::STRING: copy_bytes<int32_t>(in, runs, rows, out.get()); break;
  case arrow::Type::LARGE_BINARY:
  case arrow::Type::LARGE_STRING: copy_bytes<int64_t>(in, runs, rows, out.get()); break;
  default: out->buffers.push_back(copy_values(*in.buffers[1], in.offset, in.type->byte_width(), runs, rows)); break;
  }
  return out;
}

} // namespace bl
