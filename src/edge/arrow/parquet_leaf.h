/* parquet_leaf.h: one leaf column of a row group, read in steps of rows and turned into the canonical layout. */
#ifndef BL_EDGE_ARROW_PARQUET_LEAF_H
#define BL_EDGE_ARROW_PARQUET_LEAF_H

#include <memory>

#include <arrow/array/data.h>
#include <parquet/column_reader.h>

#include "parquet_file.h"
#include "parquet_pick.h"

namespace bl {

/* A batch is read(), then finish(). The levels hold from the one to the next read(). */
class Leaf {
public:
  /* ranges: all rows that will ever be read; they outlive the leaf. */
  Leaf(std::shared_ptr<ParquetFile> file, size_t group, int32_t leaf, PagePlan plan,
       const std::vector<bl_row_range> &ranges);
  Leaf(const Leaf &) = delete; /* the page reader points into plan_ */
  Leaf &operator=(const Leaf &) = delete;

  /* Rows of ascending ranges, `rows` in all. */
  void read(const std::vector<bl_row_range> &step, int64_t rows);
  /* Values (with a slot for each null of the leaf itself or of a struct above it). */
  std::shared_ptr<arrow::ArrayData> finish();

  /* Of a leaf below a struct, list or map. */
  const int16_t *def() const { return reader_->def_levels(); }
  const int16_t *rep() const { return reader_->rep_levels(); }
  int64_t n_levels() const { return reader_->levels_position(); }
  int32_t node() const { return node_; }

private:
  bool can_be_picked() const;
  std::unique_ptr<parquet::PageReader> pages();
  void open_reader();
  void take(int64_t begin, int64_t end);
  int64_t place_of(int64_t row);
  bool covered(int64_t row) const;
  void skip(int64_t rows, int64_t row);
  Values decoded();
  std::shared_ptr<arrow::ArrayData> finish_values(Values v);
  std::shared_ptr<arrow::ArrayData> finish_bytes(Values v);

  std::shared_ptr<ParquetFile> file_;
  size_t group_;
  int32_t leaf_, node_;
  const parquet::ColumnDescriptor *column_;
  PagePlan plan_;
  const std::vector<bl_row_range> &ranges_;
  size_t kept_ = 0;   /* index into plan_.kept */
  int64_t place_ = 0; /* in the rows of the pages that are read */
  std::shared_ptr<arrow::DataType> type_;
  std::unique_ptr<Picker> picker_; /* as long as all pages suit it */
  Values picked_;
  LookAhead *ahead_ = nullptr; /* inside reader_ */
  std::shared_ptr<parquet::internal::RecordReader> reader_;
};

} // namespace bl
#endif
