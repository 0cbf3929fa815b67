/* gather.cc: see gather.h. It works on the C structs as they are: to import them costs more than to copy a short slice.
 *
 * 1. A part is one batch's array of the column at hand; a Row names one of its values, the array's offset included.
 * 2. What lies under a null is zeros, or nothing, as builders and kernels leave it. Children of a struct are copied as
 *    they are. */
#include "gather.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "guard.h"
#include "pool.h"

namespace bl {
namespace {

using arrow::ArrayData;
using Parts = std::vector<const ArrowArray *>;

struct Row {
  size_t part;
  int64_t at;
};
using Rows = std::vector<Row>;

std::shared_ptr<ArrayData> pick(const std::shared_ptr<arrow::DataType> &type, const Parts &parts, const Rows &rows);

/* ---- which rows ---- */

/* Where each batch begins, and behind the last one. */
std::vector<int64_t> begins_of(const ArrowArray *batches, size_t n) {
  std::vector<int64_t> begins(n + 1, 0);
  for (size_t i = 0; i < n; i++) begins[i + 1] = begins[i] + batches[i].length;
  return begins;
}

/* Rows come from two places in turn more often than not: the images of an update. */
Rows find_rows(const std::vector<int64_t> &begins, const int64_t *rows, int64_t n) {
  Rows found(static_cast<size_t>(n));
  std::array<size_t, 2> last{0, 0};
  auto is_in = [&](size_t part, int64_t row) { return row >= begins[part] && row < begins[part + 1]; };
  for (size_t i = 0; i < found.size(); i++) {
    int64_t row = rows[i];
    if (row < 0 || row >= begins.back())
      throw Fail(BL_USAGE, "row " + std::to_string(row) + " of " + std::to_string(begins.back()));
    if (!is_in(last[0], row)) {
      std::swap(last[0], last[1]);
      if (!is_in(last[0], row))
        last[0] = static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), row) - begins.begin()) - 1;
    }
    found[i] = {last[0], row - begins[last[0]]};
  }
  return found;
}

Parts children_of(const Parts &parts, size_t child) {
  Parts children(parts.size());
  std::transform(parts.begin(), parts.end(), children.begin(), [=](auto *p) { return p->children[child]; });
  return children;
}

/* The same rows of children: behind their own offsets. */
std::shared_ptr<ArrayData> pick_below(const std::shared_ptr<arrow::DataType> &type, const Parts &children,
                                      const Rows &rows) {
  if (std::all_of(children.begin(), children.end(), [](auto *c) { return c->offset == 0; }))
    return pick(type, children, rows);
  Rows moved = rows;
  for (Row &r : moved) r.at += children[r.part]->offset;
  return pick(type, children, moved);
}

/* ---- the parts of an array ---- */

template <class T> std::vector<const T *> buffers_of(const Parts &parts, int64_t i) {
  std::vector<const T *> buffers(parts.size());
  std::transform(parts.begin(), parts.end(), buffers.begin(),
                 [=](auto *p) { return static_cast<const T *>(p->buffers[i]); });
  return buffers;
}

bool is_set(const uint8_t *bits, int64_t i) {
  return !bits || arrow::bit_util::GetBit(bits, i);
}

std::shared_ptr<arrow::Buffer> pick_bits(const std::vector<const uint8_t *> &from, const Rows &rows) {
  auto out = ok(arrow::AllocateEmptyBitmap(static_cast<int64_t>(rows.size()), pool()));
  uint8_t *to = out->mutable_data();
  for (size_t i = 0; i < rows.size(); i++)
    to[i >> 3] |= static_cast<uint8_t>(is_set(from[rows[i].part], rows[i].at) << (i & 7));
  return out;
}

/* out->buffers[0] and the number of nulls; no buffer where there are none. */
void pick_validity(const Parts &parts, const Rows &rows, ArrayData *out) {
  out->buffers.push_back(nullptr);
  out->null_count = 0;
  if (std::none_of(parts.begin(), parts.end(), [](auto *p) { return p->buffers[0] && p->null_count != 0; })) return;
  auto bits = pick_bits(buffers_of<uint8_t>(parts, 0), rows);
  out->null_count = out->length - arrow::internal::CountSetBits(bits->data(), 0, out->length);
  if (out->null_count) out->buffers[0] = std::move(bits);
}

const uint8_t *validity(const ArrayData &out) {
  return out.buffers[0] ? out.buffers[0]->data() : nullptr;
}

template <class T> void pick_values(const Parts &parts, const Rows &rows, ArrayData *out) {
  auto from = buffers_of<T>(parts, 1);
  auto values = allocate(out->length * static_cast<int64_t>(sizeof(T)));
  auto *to = reinterpret_cast<T *>(values->mutable_data());
  for (size_t i = 0; i < rows.size(); i++) to[i] = from[rows[i].part][rows[i].at];
  if (const uint8_t *valid = validity(*out))
    for (int64_t i = 0; i < out->length; i++)
      if (!is_set(valid, i)) to[i] = T{};
  out->buffers.push_back(std::move(values));
}

void pick_wide(const Parts &parts, const Rows &rows, size_t width, ArrayData *out) {
  auto from = buffers_of<uint8_t>(parts, 1);
  auto values = allocate(out->length * static_cast<int64_t>(width));
  uint8_t *to = values->mutable_data();
  const uint8_t *valid = validity(*out);
  for (size_t i = 0; width && i < rows.size(); i++, to += width)
    if (is_set(valid, static_cast<int64_t>(i)))
      std::memcpy(to, from[rows[i].part] + static_cast<size_t>(rows[i].at) * width, width);
    else std::memset(to, 0, width);
  out->buffers.push_back(std::move(values));
}

void pick_bools(const Parts &parts, const Rows &rows, ArrayData *out) {
  auto values = pick_bits(buffers_of<uint8_t>(parts, 1), rows);
  if (const uint8_t *valid = validity(*out))
    for (int64_t i = 0; i < out->length; i++)
      if (!is_set(valid, i)) arrow::bit_util::ClearBit(values->mutable_data(), i);
  out->buffers.push_back(std::move(values));
}

/* Offsets of what the rows hold, from 0; returns where the last one ends. */
int64_t pick_offsets(const std::vector<const int32_t *> &from, const Rows &rows, ArrayData *out) {
  auto offsets = allocate((out->length + 1) * static_cast<int64_t>(sizeof(int32_t)));
  auto *to = reinterpret_cast<int32_t *>(offsets->mutable_data());
  const uint8_t *valid = validity(*out);
  int64_t end = 0;
  to[0] = 0;
  for (size_t i = 0; i < rows.size(); i++) {
    const int32_t *o = from[rows[i].part] + rows[i].at;
    if (is_set(valid, static_cast<int64_t>(i))) end += o[1] - o[0];
    to[i + 1] = static_cast<int32_t>(end);
    if (end > std::numeric_limits<int32_t>::max()) unsupported("more than 2 GiB or 2^31 items in one batch");
  }
  out->buffers.push_back(std::move(offsets));
  return end;
}

const int32_t *offsets_of(const ArrayData &out) {
  return reinterpret_cast<const int32_t *>(out.buffers[1]->data());
}

/* Most strings are of a few bytes: two copies of fixed size, which may overlap, spare a call. */
void copy_short(uint8_t *to, const uint8_t *from, size_t n) {
  auto both_ends = [=](auto word) {
    decltype(word) head, tail;
    std::memcpy(&head, from, sizeof word);
    std::memcpy(&tail, from + n - sizeof word, sizeof word);
    std::memcpy(to, &head, sizeof word);
    std::memcpy(to + n - sizeof word, &tail, sizeof word);
  };
  if (n > 16) std::memcpy(to, from, n);
  else if (n >= 8) both_ends(uint64_t{});
  else if (n >= 4) both_ends(uint32_t{});
  else
    for (size_t i = 0; i < n; i++) to[i] = from[i];
}

void pick_bytes(const Parts &parts, const Rows &rows, ArrayData *out) {
  auto begins = buffers_of<int32_t>(parts, 1);
  auto from = buffers_of<uint8_t>(parts, 2);
  auto bytes = allocate(pick_offsets(begins, rows, out));
  uint8_t *to = bytes->mutable_data();
  const int32_t *offsets = offsets_of(*out);
  for (size_t i = 0; i < rows.size(); i++)
    if (auto n = static_cast<size_t>(offsets[i + 1] - offsets[i]))
      copy_short(to + offsets[i], from[rows[i].part] + begins[rows[i].part][rows[i].at], n);
  out->buffers.push_back(std::move(bytes));
}

void pick_items(const Parts &parts, const Rows &rows, ArrayData *out) {
  auto begins = buffers_of<int32_t>(parts, 1);
  Rows items;
  items.reserve(static_cast<size_t>(pick_offsets(begins, rows, out)));
  const int32_t *offsets = offsets_of(*out);
  for (size_t i = 0; i < rows.size(); i++)
    for (int32_t k = 0; k < offsets[i + 1] - offsets[i]; k++)
      items.push_back({rows[i].part, begins[rows[i].part][rows[i].at] + k});
  out->child_data.push_back(pick_below(out->type->field(0)->type(), children_of(parts, 0), items));
}

void pick_fields(const Parts &parts, const Rows &rows, ArrayData *out) {
  for (int i = 0; i < out->type->num_fields(); i++)
    out->child_data.push_back(
        pick_below(out->type->field(i)->type(), children_of(parts, static_cast<size_t>(i)), rows));
}

void pick_fixed(const Parts &parts, const Rows &rows, ArrayData *out) {
  if (!arrow::is_fixed_width(out->type->id())) unsupported("rows of type " + out->type->ToString());
  switch (int width = out->type->byte_width()) {
  case 1: return pick_values<uint8_t>(parts, rows, out);
  case 2: return pick_values<uint16_t>(parts, rows, out);
  case 4: return pick_values<uint32_t>(parts, rows, out);
  case 8: return pick_values<uint64_t>(parts, rows, out);
  default: return pick_wide(parts, rows, static_cast<size_t>(width), out);
  }
}

std::shared_ptr<ArrayData> pick(const std::shared_ptr<arrow::DataType> &type, const Parts &parts, const Rows &rows) {
  auto out = std::make_shared<ArrayData>(type, static_cast<int64_t>(rows.size()));
  if (type->id() == arrow::Type::NA) {
    out->buffers.push_back(nullptr);
    out->null_count = out->length;
    return out;
  }
  pick_validity(parts, rows, out.get());
  switch (type->id()) {
  case arrow::Type::STRUCT: pick_fields(parts, rows, out.get()); break;
  case arrow::Type::LIST:
  case arrow::Type::MAP: pick_items(parts, rows, out.get()); break;
  case arrow::Type::BINARY:
  case arrow::Type::STRING: pick_bytes(parts, rows, out.get()); break;
  case arrow::Type::BOOL: pick_bools(parts, rows, out.get()); break;
  default: pick_fixed(parts, rows, out.get()); break;
  }
  return out;
}

} // namespace

std::shared_ptr<arrow::RecordBatch> gather(const ArrowArray *batches, size_t n_batches,
                                           const std::shared_ptr<arrow::Schema> &schema, const int64_t *rows,
                                           int64_t n) {
  Parts parts(n_batches);
  for (size_t i = 0; i < n_batches; i++) parts[i] = &batches[i];
  Rows found = find_rows(begins_of(batches, n_batches), rows, n);
  for (Row &r : found) r.at += parts[r.part]->offset;
  std::vector<std::shared_ptr<ArrayData>> columns;
  for (int i = 0; i < schema->num_fields(); i++)
    columns.push_back(pick_below(schema->field(i)->type(), children_of(parts, static_cast<size_t>(i)), found));
  return arrow::RecordBatch::Make(schema, n, std::move(columns));
}

} // namespace bl
