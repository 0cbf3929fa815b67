/* parquet_pick.cc: see parquet_pick.h.
 *
 * 1. Nothing of a page is believed: every read is checked against its end, every index against the dictionary.
 * 2. Rows of a page come in ascending order; levels and packed indices are walked run by run, once. */
#include "parquet_pick.h"

#include <algorithm>
#include <cstring>

#include <arrow/util/bit_util.h>

#include "guard.h"

namespace bl {
namespace {

using arrow::Buffer;
using parquet::Encoding;

int width_of(const parquet::ColumnDescriptor &column) {
  switch (column.physical_type()) {
  case parquet::Type::BOOLEAN: return 1;
  case parquet::Type::INT32:
  case parquet::Type::FLOAT: return 4;
  case parquet::Type::INT64:
  case parquet::Type::DOUBLE: return 8;
  case parquet::Type::INT96: return 12;
  case parquet::Type::FIXED_LEN_BYTE_ARRAY: return column.type_length();
  default: return 0;
  }
}

uint32_t word_at(const uint8_t *p) {
  uint32_t n;
  std::memcpy(&n, p, sizeof n);
  return n;
}

} // namespace

/* ---- runs ---- */

bool Hybrid::next_run() {
  uint64_t header = 0;
  int shift = 0;
  do {
    if (p_ == end_ || shift > 28) return false;
    header |= uint64_t{*p_ & 0x7fu} << shift;
    shift += 7;
  } while (*p_++ & 0x80);
  auto n = static_cast<int64_t>(header >> 1);
  begin_ = stop_;
  if (header & 1) { /* groups of eight; the last ones may be cut off */
    int64_t left = end_ - p_, size = n * width_;
    run_ = p_;
    stop_ += width_ == 0 ? n * 8 : std::min(n * 8, left * 8 / width_);
    p_ += std::min(size, left);
    return true;
  }
  int bytes = (width_ + 7) / 8;
  if (end_ - p_ < bytes) return false;
  value_ = 0;
  for (int i = 0; i < bytes; i++) value_ |= uint32_t{p_[i]} << (8 * i);
  p_ += bytes;
  run_ = nullptr;
  stop_ += n;
  return true;
}

bool Hybrid::at(int64_t index, uint32_t *out) {
  while (index >= stop_)
    if (!next_run()) return false;
  if (!run_) {
    *out = value_;
    return true;
  }
  int64_t bit = (index - begin_) * width_;
  const uint8_t *p = run_ + bit / 8;
  uint64_t word = 0;
  std::memcpy(&word, p, static_cast<size_t>(std::min<int64_t>(end_ - p, 8)));
  *out = static_cast<uint32_t>(word >> (bit % 8) & ((uint64_t{1} << width_) - 1));
  return true;
}

bool Hybrid::all_ones(int64_t n) {
  if (stop_ == 0 && !next_run()) return false;
  return !run_ && value_ == 1 && begin_ == 0 && stop_ >= n;
}

/* ---- pages ---- */

Picker::Picker(const parquet::ColumnDescriptor &column, std::unique_ptr<parquet::PageReader> pages,
               const std::vector<KeptPages> *kept, std::string where)
    : pages_(std::move(pages)), kept_(kept), where_(std::move(where)), type_(column.physical_type()),
      width_(width_of(column)), optional_(column.max_definition_level() > 0) {}

void Picker::broken(const char *what) const {
  damaged(where_ + ": " + what);
}

/* Of fixed values the bytes are the dictionary. */
void Picker::keep_dictionary(const parquet::DictionaryPage &page) {
  dictionary_ = ok(page.buffer()->CopySlice(0, page.size(), pool()));
  const uint8_t *p = dictionary_->data(), *end = p + dictionary_->size();
  n_words_ = page.num_values();
  words_.clear();
  if (n_words_ < 0) broken("a dictionary of a negative size");
  if (width_ > 0 && n_words_ > dictionary_->size() / width_) broken("a dictionary is shorter than it says");
  for (int64_t i = 0; width_ == 0 && i < n_words_; i++) {
    if (end - p < 4 || word_at(p) > static_cast<uint64_t>(end - p - 4)) broken("a dictionary is shorter than it says");
    words_.push_back({p + 4, word_at(p)});
    p += 4 + word_at(p);
  }
}

/* Rows of an optional column have a level each, 1 where there is a value. */
bool Picker::open_levels(const parquet::DataPage &page, const uint8_t **p, const uint8_t *end) {
  all_defined_ = true;
  level_row_ = level_values_ = 0;
  int64_t rep = 0, def = 0;
  if (page.type() == parquet::PageType::DATA_PAGE_V2) {
    const auto &v2 = static_cast<const parquet::DataPageV2 &>(page);
    rep = v2.repetition_levels_byte_length();
    def = v2.definition_levels_byte_length();
    if (rep < 0 || def < 0 || rep + def > end - *p) broken("levels of a page are longer than the page");
    *p += rep;
  } else if (optional_) {
    if (static_cast<const parquet::DataPageV1 &>(page).definition_level_encoding() != Encoding::RLE) return false;
    if (end - *p < 4) broken("levels of a page are longer than the page");
    def = word_at(*p);
    *p += 4;
    if (def > end - *p) broken("levels of a page are longer than the page");
  }
  if (optional_) {
    levels_ = Hybrid(*p, *p + def, 1);
    all_defined_ = levels_.all_ones(page.num_values());
  }
  *p += def;
  return true;
}

bool Picker::open_values(Encoding::type encoding, const uint8_t *p, const uint8_t *end) {
  indexed_ = is_by_dictionary(encoding);
  if (!indexed_) {
    plain_ = bytes_at_ = p;
    plain_end_ = end;
    bytes_value_ = 0;
    return encoding == Encoding::PLAIN;
  }
  if (!dictionary_) broken("a page refers to a dictionary that is not there");
  int width = p < end ? *p : 0; /* a page of nulls has no values at all */
  if (width > 32) broken("indices of a page are wider than 32 bits");
  indices_ = Hybrid(p < end ? p + 1 : p, end, width);
  return type_ != parquet::Type::BOOLEAN;
}

bool Picker::open_page(const parquet::DataPage &page) {
  const uint8_t *p = page.data(), *end = p + page.size();
  if (n_pages_ >= kept_->size() || page.num_values() != (*kept_)[n_pages_].rows)
    broken("a page has another number of rows than was promised");
  page_begin_ = (*kept_)[n_pages_].row;
  page_end_ = page_begin_ + page.num_values();
  n_pages_++;
  return open_levels(page, &p, end) && open_values(page.encoding(), p, end);
}

/* The page of a row. */
bool Picker::load(int64_t row) {
  while (row >= page_end_) {
    page_ = pages_->NextPage();
    if (!page_) damaged(where_ + ": ends before row " + std::to_string(row));
    if (page_->type() == parquet::PageType::DICTIONARY_PAGE) {
      keep_dictionary(static_cast<const parquet::DictionaryPage &>(*page_));
      continue;
    }
    if (!open_page(static_cast<const parquet::DataPage &>(*page_))) return false;
  }
  if (row < page_begin_) damaged(where_ + ": row " + std::to_string(row) + " is in no page");
  return true;
}

/* ---- values of the page in hand, by their number ---- */

/* How many rows before `row` have a value. */
int64_t Picker::values_before(int64_t row) {
  for (; level_row_ < row; level_row_++) {
    uint32_t level;
    if (!levels_.at(level_row_, &level)) broken("a page has fewer levels than rows");
    level_values_ += level;
  }
  return level_values_;
}

uint32_t Picker::index_at(int64_t value) {
  uint32_t i;
  if (!indices_.at(value, &i)) broken("a page has fewer indices than values");
  if (i >= n_words_) broken("an index is not in the dictionary");
  return i;
}

Picker::Bytes Picker::plain_bytes_at(int64_t value) {
  for (;; bytes_value_++) {
    int64_t left = plain_end_ - bytes_at_;
    if (left < 4 || word_at(bytes_at_) > static_cast<uint64_t>(left - 4)) broken("a page is shorter than its values");
    if (bytes_value_ == value) return {bytes_at_ + 4, word_at(bytes_at_)};
    bytes_at_ += 4 + word_at(bytes_at_);
  }
}

void Picker::append(Bytes b) {
  if (b.n > INT32_MAX - bytes_.length()) unsupported(where_ + ": one batch holds more than 2 GiB of bytes");
  ok(bytes_.Append(b.p, b.n));
  reinterpret_cast<int32_t *>(fixed_->mutable_data())[++n_] = static_cast<int32_t>(bytes_.length());
}

void Picker::take_bytes(int64_t begin, int64_t n) {
  for (int64_t v = begin; v < begin + n; v++) append(indexed_ ? words_[index_at(v)] : plain_bytes_at(v));
}

void Picker::take_bools(int64_t begin, int64_t n) {
  if (begin + n > (plain_end_ - plain_) * 8) broken("a page is shorter than its values");
  uint8_t *to = fixed_->mutable_data();
  for (int64_t v = begin; v < begin + n; v++) to[n_++] = arrow::bit_util::GetBit(plain_, v);
}

/* W: of a value; 0: whatever width_ is. */
template <int W> void Picker::take_fixed(int64_t begin, int64_t n) {
  const auto w = static_cast<size_t>(W ? W : width_);
  uint8_t *to = fixed_->mutable_data() + static_cast<size_t>(n_) * w;
  n_ += n;
  if (!indexed_) {
    if (begin + n > (plain_end_ - plain_) / static_cast<int64_t>(w)) broken("a page is shorter than its values");
    const uint8_t *from = plain_ + static_cast<size_t>(begin) * w;
    if (n == 1) std::memcpy(to, from, w); /* of a length that the compiler knows */
    else std::memcpy(to, from, static_cast<size_t>(n) * w);
    return;
  }
  for (int64_t v = begin; v < begin + n; v++, to += w) std::memcpy(to, dictionary_->data() + index_at(v) * w, w);
}

void Picker::take_defined(int64_t begin, int64_t n) {
  if (type_ == parquet::Type::BOOLEAN) return take_bools(begin, n);
  switch (width_) {
  case 0: return take_bytes(begin, n);
  case 4: return take_fixed<4>(begin, n);
  case 8: return take_fixed<8>(begin, n);
  default: return take_fixed<0>(begin, n);
  }
}

void Picker::take_null() {
  if (!valid_) {
    valid_ = allocate(arrow::bit_util::BytesForBits(rows_));
    std::memset(valid_->mutable_data(), 0xff, static_cast<size_t>(valid_->size()));
  }
  arrow::bit_util::ClearBit(valid_->mutable_data(), n_);
  nulls_++;
  if (width_ == 0) return append({fixed_->data(), 0});
  std::memset(fixed_->mutable_data() + n_++ * width_, 0, static_cast<size_t>(width_));
}

/* Rows of the page in hand, counted from its first. */
void Picker::take(int64_t begin, int64_t end) {
  if (all_defined_) return take_defined(begin, end - begin);
  for (int64_t row = begin; row < end; row++) {
    int64_t value = values_before(row);
    if (values_before(row + 1) > value) take_defined(value, 1);
    else take_null();
  }
}

/* ---- batches ---- */

void Picker::begin(int64_t rows) {
  n_ = nulls_ = 0;
  rows_ = rows;
  valid_ = nullptr;
  fixed_ = allocate(width_ ? rows * width_ : (rows + 1) * 4);
  if (width_ == 0) *reinterpret_cast<int32_t *>(fixed_->mutable_data()) = 0;
  bytes_.Reset();
}

bool Picker::pick(const std::vector<bl_row_range> &ranges, int64_t rows, Values *out) {
  begin(rows);
  for (const bl_row_range &r : ranges)
    for (int64_t row = r.begin, end; row < r.end; row = end) {
      if (!load(row)) return false;
      end = std::min(r.end, page_end_);
      take(row - page_begin_, end - page_begin_);
    }
  *out = {n_, nulls_, std::move(valid_), std::move(fixed_), nullptr};
  if (width_ == 0) out->bytes = ok(bytes_.Finish(false));
  return true;
}

} // namespace bl
