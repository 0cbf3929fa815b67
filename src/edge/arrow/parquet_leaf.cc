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

std::shared_ptr<Buffer> allocate(int64_t n) {
  return ok(arrow::AllocateBuffer(n, pool()));
}

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

template <class A> std::shared_ptr<Buffer> decimals_of(const A &array) {
  int64_t n = array.length();
  auto out = allocate(n * 16);
  auto *to = reinterpret_cast<arrow::Decimal128 *>(out->mutable_data());
  for (int64_t i = 0; i < n; i++) {
    to[i] = arrow::Decimal128();
    if (array.IsNull(i)) continue;
    std::string_view v = array.GetView(i);
    to[i] = big_endian(reinterpret_cast<const uint8_t *>(v.data()), static_cast<int64_t>(v.size()));
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
      plan_(std::move(plan)), type_(leaf_type(file_->tree.at(node_))) {
  const parquet::ColumnDescriptor *descr = file_->footer->schema()->Column(leaf);
  reader_ = parquet::internal::RecordReader::Make(descr, parquet::internal::LevelInfo::ComputeLevelInfo(descr), pool());
  auto pages = open_pages(*file_, group, leaf, plan_);
  if (plan_.look_ahead) {
    auto ahead = std::make_unique<LookAhead>(std::move(pages), ranges, &plan_.kept);
    ahead_ = ahead.get();
    pages = std::move(ahead);
  }
  reader_->SetPageReader(std::move(pages));
}

void Leaf::begin(int64_t rows) {
  reader_->Reset();
  reader_->Reserve(rows);
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

std::shared_ptr<ArrayData> Leaf::finish() {
  auto physical = file_->footer->schema()->Column(leaf_)->physical_type();
  bool bytes = physical == parquet::Type::BYTE_ARRAY || physical == parquet::Type::FIXED_LEN_BYTE_ARRAY;
  return bytes ? finish_bytes() : finish_values();
}

std::shared_ptr<ArrayData> Leaf::finish_values() {
  int64_t n = reader_->values_written(), nulls = reader_->nullable_values() ? reader_->null_count() : 0;
  std::shared_ptr<Buffer> values = reader_->ReleaseValues(), valid;
  if (reader_->nullable_values()) valid = reader_->ReleaseIsValid();
  if (nulls == 0) valid = nullptr;
  const uint8_t *bits = valid ? valid->data() : nullptr;
  auto out = convert_values(file_->tree.convert[static_cast<size_t>(node_)], values, n, bits);
  if (file_->tree.at(node_).required && valid) {
    if (type_->bit_width() >= 8) clear_nulls(out.get(), type_->bit_width() / 8, n, bits);
    valid = nullptr;
    nulls = 0;
  }
  return ArrayData::Make(type_, n, {valid, out}, nulls);
}

std::shared_ptr<ArrayData> Leaf::finish_bytes() {
  auto chunks = dynamic_cast<parquet::internal::BinaryRecordReader &>(*reader_).GetBuilderChunks();
  if (chunks.size() != 1) unsupported(leaf_where(*file_, group_, leaf_) + ": one batch holds more than 2 GiB of bytes");
  std::shared_ptr<ArrayData> data = chunks[0]->data()->Copy();
  Convert c = file_->tree.convert[static_cast<size_t>(node_)];
  if (c == Convert::DecimalFixed)
    data->buffers = {data->buffers[0], decimals_of(static_cast<const arrow::FixedSizeBinaryArray &>(*chunks[0]))};
  if (c == Convert::DecimalBinary)
    data->buffers = {data->buffers[0], decimals_of(static_cast<const arrow::BinaryArray &>(*chunks[0]))};
  if (file_->tree.at(node_).required && data->buffers[0]) {
    if (c == Convert::None && type_->id() == arrow::Type::FIXED_SIZE_BINARY)
      clear_nulls(data->buffers[1].get(), type_->byte_width(), data->length, data->buffers[0]->data());
    data->buffers[0] = nullptr;
  }
  if (!data->buffers[0]) data->null_count = 0;
  data->type = type_;
  return data;
}

} // namespace bl
