/* parquet_leaf.cc: see parquet_leaf.h. */
#include "parquet_leaf.h"

#include <algorithm>
#include <cstring>

#include <arrow/array.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/decimal.h>

#include "guard.h"
#include "pool.h"

namespace bl {
namespace {

using arrow::ArrayData;
using arrow::Buffer;

constexpr int64_t kJulianEpoch = 2440588; /* Julian day of 1970-01-01 */
constexpr int64_t kMicrosPerDay = 86400000000;

bool valid_at(const uint8_t *valid, int64_t i) {
  return !valid || arrow::bit_util::GetBit(valid, i);
}

/* n values In -> Out; f is not called for nulls, which become zero. */
template <class In, class Out, class F>
std::shared_ptr<Buffer> map_values(const Buffer &in, int64_t n, const uint8_t *valid, F &&f) {
  auto out = allocate(n * static_cast<int64_t>(sizeof(Out)));
  const In *from = reinterpret_cast<const In *>(in.data());
  Out *to = reinterpret_cast<Out *>(out->mutable_data());
  for (int64_t i = 0; i < n; i++) to[i] = valid_at(valid, i) ? f(from[i]) : Out();
  return out;
}

int64_t millis_to_micros(int64_t v) {
  int64_t out;
  if (__builtin_mul_overflow(v, 1000, &out)) damaged("a time of " + std::to_string(v) + " ms is out of range");
  return out;
}

int64_t int96_to_micros(const parquet::Int96 &v) {
  int64_t nanos, out;
  std::memcpy(&nanos, &v.value[0], sizeof nanos);
  int64_t day = static_cast<int64_t>(static_cast<int32_t>(v.value[2])) - kJulianEpoch;
  int64_t micros = nanos / 1000 - (nanos % 1000 < 0 ? 1 : 0);
  if (__builtin_mul_overflow(day, kMicrosPerDay, &out) || __builtin_add_overflow(out, micros, &out))
    damaged("an INT96 time is out of range");
  return out;
}

std::shared_ptr<Buffer> bools_to_bits(const Buffer &in, int64_t n) {
  auto out = allocate(arrow::bit_util::BytesForBits(n));
  const uint8_t *from = in.data();
  uint8_t *to = out->mutable_data();
  for (int64_t i = 0; i + 8 <= n; i += 8, from += 8) {
    uint8_t b = 0;
    for (int k = 0; k < 8; k++) b |= static_cast<uint8_t>((from[k] != 0) << k);
    *to++ = b;
  }
  if (n % 8) {
    *to = 0;
    for (int k = 0; k < n % 8; k++) *to |= static_cast<uint8_t>((from[k] != 0) << k);
  }
  return out;
}

std::shared_ptr<Buffer> convert_values(Convert c, std::shared_ptr<Buffer> in, int64_t n, const uint8_t *valid) {
  using arrow::Decimal128;
  switch (c) {
  case Convert::Bool: return bools_to_bits(*in, n);
  case Convert::Unsigned: return map_values<uint32_t, int64_t>(*in, n, valid, [](uint32_t v) { return int64_t{v}; });
  case Convert::Millis32:
    return map_values<int32_t, int64_t>(*in, n, valid, [](int32_t v) { return int64_t{v} * 1000; });
  case Convert::Millis64: return map_values<int64_t, int64_t>(*in, n, valid, millis_to_micros);
  case Convert::Decimal32:
    return map_values<int32_t, Decimal128>(*in, n, valid, [](int32_t v) { return Decimal128(v); });
  case Convert::Decimal64:
    return map_values<int64_t, Decimal128>(*in, n, valid, [](int64_t v) { return Decimal128(v); });
  case Convert::DecimalU64:
    return map_values<uint64_t, Decimal128>(*in, n, valid, [](uint64_t v) { return Decimal128(0, v); });
  case Convert::Int96: return map_values<parquet::Int96, int64_t>(*in, n, valid, int96_to_micros);
  default: return in;
  }
}

/* A big-endian two's complement number of any length; bytes beyond 16 must only repeat the sign. */
arrow::Decimal128 big_endian(const uint8_t *p, int64_t n) {
  if (n == 0) return {};
  for (; n > 16; p++, n--)
    if (p[0] != (p[1] & 0x80 ? 0xff : 0)) damaged("a decimal has more than 128 bits");
  return ok(arrow::Decimal128::FromBigEndian(p, static_cast<int32_t>(n)));
}

/* at(i) gives a value's bytes. */
template <class F> std::shared_ptr<Buffer> decimals_of(int64_t n, const uint8_t *valid, F &&at) {
  auto out = allocate(n * 16);
  auto *to = reinterpret_cast<arrow::Decimal128 *>(out->mutable_data());
  for (int64_t i = 0; i < n; i++) {
    to[i] = arrow::Decimal128();
    if (!valid_at(valid, i)) continue;
    auto [p, length] = at(i);
    to[i] = big_endian(p, length);
  }
  return out;
}

/* Clear the slots of nulls: a required leaf below a null struct carries no validity, and no stale bytes either. */
void clear_nulls(Buffer *values, int64_t width, int64_t n, const uint8_t *valid) {
  uint8_t *p = values->mutable_data();
  for (int64_t i = 0; i < n; i++)
    if (!valid_at(valid, i)) std::memset(p + i * width, 0, static_cast<size_t>(width));
}

} // namespace

Leaf::Leaf(std::shared_ptr<ParquetFile> file, size_t group, int32_t leaf, PagePlan plan,
           const std::vector<bl_row_range> &ranges)
    : file_(std::move(file)), group_(group), leaf_(leaf), node_(file_->tree.leaf_node[static_cast<size_t>(leaf)]),
      column_(file_->footer->schema()->Column(leaf)), plan_(std::move(plan)), ranges_(ranges),
      type_(leaf_type(file_->tree.at(node_))) {
  if (can_be_picked())
    picker_ = std::make_unique<Picker>(*column_, pages(), &plan_.kept, leaf_where(*file_, group_, leaf_));
  else open_reader();
}

/* Rows in one stretch are decoded, not picked; levels are asked for below structs, lists and maps only. */
bool Leaf::can_be_picked() const {
  if (ranges_.size() == 1) return false;
  if (file_->tree.at(node_).parent != 0 || column_->max_repetition_level() > 0 || column_->max_definition_level() > 1)
    return false;
  if (column_->physical_type() == parquet::Type::FIXED_LEN_BYTE_ARRAY && column_->type_length() <= 0) return false;
  return plan_.checked || plan_.look_ahead;
}

std::unique_ptr<parquet::PageReader> Leaf::pages() {
  auto pages = open_pages(*file_, group_, leaf_, plan_);
  if (!plan_.look_ahead) return pages;
  plan_.kept.clear();
  auto ahead = std::make_unique<LookAhead>(std::move(pages), ranges_, &plan_.kept);
  ahead_ = ahead.get();
  return ahead;
}

void Leaf::open_reader() {
  reader_ =
      parquet::internal::RecordReader::Make(column_, parquet::internal::LevelInfo::ComputeLevelInfo(column_), pool());
  reader_->SetPageReader(pages());
}

void Leaf::read(const std::vector<bl_row_range> &step, int64_t rows) {
  if (picker_ && picker_->pick(step, rows, &picked_)) return;
  if (picker_) {
    picker_.reset();
    open_reader();
  }
  reader_->Reset();
  reader_->Reserve(rows);
  for (const bl_row_range &r : step) take(r.begin, r.end);
}

void Leaf::skip(int64_t rows, int64_t row) {
  if (rows > 0 && reader_->SkipRecords(rows) != rows)
    damaged(leaf_where(*file_, group_, leaf_) + ": ends before row " + std::to_string(row));
  place_ += rows;
}

bool Leaf::covered(int64_t row) const {
  return !plan_.kept.empty() && row < plan_.kept.back().row + plan_.kept.back().rows;
}

/* Where a row stands among those of the pages that are read. Rows come in ascending order. */
int64_t Leaf::place_of(int64_t row) {
  while (ahead_ && !covered(row)) {
    if (!plan_.kept.empty()) skip(plan_.kept.back().at + plan_.kept.back().rows - place_, row);
    if (!ahead_->find()) damaged(leaf_where(*file_, group_, leaf_) + ": ends before row " + std::to_string(row));
  }
  while (kept_ + 1 < plan_.kept.size() && plan_.kept[kept_ + 1].row <= row) kept_++;
  const KeptPages &k = plan_.kept[kept_];
  return k.at + (row - k.row);
}

void Leaf::take(int64_t begin, int64_t end) {
  skip(place_of(begin) - place_, begin);
  if (reader_->ReadRecords(end - begin) != end - begin)
    damaged(leaf_where(*file_, group_, leaf_) + ": ends before row " + std::to_string(end));
  place_ += end - begin;
}

/* What the reader has of the batch. */
Values Leaf::decoded() {
  Values v;
  v.n = reader_->values_written();
  v.nulls = reader_->nullable_values() ? reader_->null_count() : 0;
  auto *bytes = dynamic_cast<parquet::internal::BinaryRecordReader *>(reader_.get());
  if (bytes) {
    auto chunks = bytes->GetBuilderChunks();
    if (chunks.size() != 1)
      unsupported(leaf_where(*file_, group_, leaf_) + ": one batch holds more than 2 GiB of bytes");
    const ArrayData &data = *chunks[0]->data();
    v.n = data.length;
    v.nulls = data.GetNullCount();
    v.valid = data.buffers[0];
    v.fixed = data.buffers[1];
    if (data.buffers.size() > 2) v.bytes = data.buffers[2];
  } else {
    v.fixed = reader_->ReleaseValues();
    if (reader_->nullable_values()) v.valid = reader_->ReleaseIsValid();
  }
  if (v.nulls == 0) v.valid = nullptr;
  return v;
}

std::shared_ptr<ArrayData> Leaf::finish() {
  Values v = picker_ ? std::move(picked_) : decoded();
  auto physical = column_->physical_type();
  bool bytes = physical == parquet::Type::BYTE_ARRAY || physical == parquet::Type::FIXED_LEN_BYTE_ARRAY;
  return bytes ? finish_bytes(std::move(v)) : finish_values(std::move(v));
}

std::shared_ptr<ArrayData> Leaf::finish_values(Values v) {
  const uint8_t *bits = v.valid ? v.valid->data() : nullptr;
  auto out = convert_values(file_->tree.convert[static_cast<size_t>(node_)], v.fixed, v.n, bits);
  if (file_->tree.at(node_).required && v.valid) {
    if (type_->bit_width() >= 8) clear_nulls(out.get(), type_->bit_width() / 8, v.n, bits);
    v.valid = nullptr;
    v.nulls = 0;
  }
  return ArrayData::Make(type_, v.n, {v.valid, out}, v.nulls);
}

std::shared_ptr<ArrayData> Leaf::finish_bytes(Values v) {
  Convert c = file_->tree.convert[static_cast<size_t>(node_)];
  const uint8_t *bits = v.valid ? v.valid->data() : nullptr, *fixed = v.fixed->data();
  std::vector<std::shared_ptr<Buffer>> buffers = {v.valid, v.fixed};
  if (c == Convert::DecimalFixed) {
    int64_t width = column_->type_length();
    buffers[1] = decimals_of(v.n, bits, [=](int64_t i) { return std::pair(fixed + i * width, width); });
  } else if (c == Convert::DecimalBinary) {
    const auto *offsets = reinterpret_cast<const int32_t *>(fixed);
    const uint8_t *bytes = v.bytes ? v.bytes->data() : nullptr;
    buffers[1] = decimals_of(
        v.n, bits, [=](int64_t i) { return std::pair(bytes + offsets[i], int64_t{offsets[i + 1]} - offsets[i]); });
  } else if (column_->physical_type() == parquet::Type::BYTE_ARRAY) {
    buffers.push_back(v.bytes);
  }
  if (file_->tree.at(node_).required && v.valid) {
    if (c == Convert::None && type_->id() == arrow::Type::FIXED_SIZE_BINARY)
      clear_nulls(buffers[1].get(), type_->byte_width(), v.n, bits);
    buffers[0] = nullptr;
    v.nulls = 0;
  }
  return ArrayData::Make(type_, v.n, std::move(buffers), v.nulls);
}

} // namespace bl
