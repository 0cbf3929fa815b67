/* parquet_pick.h: values of single rows taken straight out of the pages of a flat column, where they lie.
 *
 * A reader of columns decodes every value of a page, or skips them one stretch at a time. Of a plain page of numbers, a
 * value's place is known; a packed index of a dictionary too; so picking costs by the rows that are picked. */
#ifndef BL_EDGE_ARROW_PARQUET_PICK_H
#define BL_EDGE_ARROW_PARQUET_PICK_H

#include <memory>
#include <vector>

#include <arrow/buffer_builder.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>

#include "parquet_file.h"

namespace bl {

/* Values as they are in the file: fixed ones side by side (booleans a byte each), bytes with offsets. */
struct Values {
  int64_t n = 0, nulls = 0;
  std::shared_ptr<arrow::Buffer> valid; /* NULL: there are no nulls */
  std::shared_ptr<arrow::Buffer> fixed; /* or the offsets */
  std::shared_ptr<arrow::Buffer> bytes;
};

/* Levels, dictionary indices: RLE / bit-packed hybrid (parquet-format Encodings.md). */
class Hybrid {
public:
  Hybrid() = default;
  Hybrid(const uint8_t *p, const uint8_t *end, int width) : p_(p), end_(end), width_(width) {}
  /* The value at an index; indices ascend. false: there is none. */
  bool at(int64_t index, uint32_t *out);
  /* Do values [0, n) lie in one run of ones? */
  bool all_ones(int64_t n);

private:
  bool next_run();
  const uint8_t *p_ = nullptr, *end_ = nullptr; /* of what follows the run */
  int width_ = 0;
  const uint8_t *run_ = nullptr; /* packed values; NULL: all are value_ */
  uint32_t value_ = 0;
  int64_t begin_ = 0, stop_ = 0; /* indices of the run */
};

class Picker {
public:
  /* A leaf right below the root that repeats nothing. kept: of the pages that come, one each. */
  Picker(const parquet::ColumnDescriptor &column, std::unique_ptr<parquet::PageReader> pages,
         const std::vector<KeptPages> *kept, std::string where);

  /* Rows of ascending ranges, `rows` in all. false: a page is laid out in another way; read it all anew then. */
  bool pick(const std::vector<bl_row_range> &ranges, int64_t rows, Values *out);

private:
  struct Bytes {
    const uint8_t *p;
    uint32_t n;
  };

  [[noreturn]] void broken(const char *what) const;
  void begin(int64_t rows);
  bool load(int64_t row);
  bool open_page(const parquet::DataPage &page);
  bool open_levels(const parquet::DataPage &page, const uint8_t **p, const uint8_t *end);
  bool open_values(parquet::Encoding::type encoding, const uint8_t *p, const uint8_t *end);
  void keep_dictionary(const parquet::DictionaryPage &page);
  void take(int64_t begin, int64_t end);
  void take_defined(int64_t begin, int64_t n);
  template <int W> void take_fixed(int64_t begin, int64_t n);
  void take_bools(int64_t begin, int64_t n);
  void take_bytes(int64_t begin, int64_t n);
  void take_null();
  int64_t values_before(int64_t row);
  uint32_t index_at(int64_t value);
  Bytes plain_bytes_at(int64_t value);
  void append(Bytes b);

  std::unique_ptr<parquet::PageReader> pages_;
  const std::vector<KeptPages> *kept_;
  std::string where_;
  parquet::Type::type type_;
  int width_; /* of a value; 0: bytes */
  bool optional_;

  /* the dictionary */
  std::shared_ptr<arrow::Buffer> dictionary_;
  std::vector<Bytes> words_;
  int64_t n_words_ = 0;

  /* the page in hand */
  std::shared_ptr<parquet::Page> page_;
  size_t n_pages_ = 0;
  int64_t page_begin_ = 0, page_end_ = 0; /* rows of the group */
  bool indexed_ = false;
  Hybrid levels_, indices_;
  bool all_defined_ = true;
  int64_t level_row_ = 0, level_values_ = 0; /* values before a row of the page, as far as it was looked at */
  const uint8_t *plain_ = nullptr, *plain_end_ = nullptr;
  int64_t bytes_value_ = 0; /* plain bytes: which value begins at bytes_at_ */
  const uint8_t *bytes_at_ = nullptr;

  /* the batch in hand */
  int64_t n_ = 0, nulls_ = 0, rows_ = 0;
  std::shared_ptr<arrow::Buffer> fixed_, valid_;
  arrow::BufferBuilder bytes_{pool()};
};

} // namespace bl
#endif
