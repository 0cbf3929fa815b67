/* parquet_file.h: an open Parquet file inside the adapter: what its parts (meta, read, select, stats) share. */
#ifndef BL_EDGE_ARROW_PARQUET_FILE_H
#define BL_EDGE_ARROW_PARQUET_FILE_H

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <parquet/bloom_filter.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>
#include <parquet/schema.h>

#include "input.h"
#include "pool.h"
#include "tree.h"

namespace bl {

/* How the values of a leaf become the canonical layout. */
enum class Convert {
  None,      /* the same bytes */
  Bool,      /* one byte a value -> bits */
  Unsigned,  /* uint32 -> int64 */
  Millis32,  /* int32 ms -> int64 us */
  Millis64,  /* int64 ms -> int64 us */
  Decimal32, /* int32 -> 128 bit */
  Decimal64,
  DecimalU64,   /* uint64 -> 128 bit */
  DecimalFixed, /* big-endian, fixed length */
  DecimalBinary,
  Int96 /* Julian day and nanoseconds -> us */
};

/* Definition and repetition levels of a node, counted from the root with the node itself (a list counts its repeated
 * group); anc_def is the level at which the closest repeated group above is not empty. */
struct Levels {
  int16_t def = 0, rep = 0, anc_def = 0;
};

struct ParquetTree : Tree {
  std::vector<Levels> levels;   /* by node */
  std::vector<Convert> convert; /* by node; leaves only */
};

/* Fill `tree` from the file's schema. */
void read_schema(const parquet::SchemaDescriptor &schema, ParquetTree *tree);

struct CachedStats {
  bl_data_stats stats{};
  bool known = false;
  std::string lower, upper;
};

struct ParquetFile {
  std::string path; /* for messages */
  std::shared_ptr<InputFile> input;
  std::unique_ptr<parquet::ParquetFileReader> reader;
  std::shared_ptr<parquet::FileMetaData> footer;
  parquet::ReaderProperties properties{pool()};
  bool encrypted = false;
  ParquetTree tree;
  std::vector<bl_data_group> groups;
  bl_data_meta meta{};
  std::string created_by, schema_text;

  std::mutex lock; /* of what follows */
  std::map<std::pair<size_t, int32_t>, CachedStats> stats;
  std::unique_ptr<parquet::BloomFilter> filter; /* the last one asked for */
  std::pair<size_t, int32_t> filter_of;
};

/* The bytes of a column chunk. */
Span chunk_span(const ParquetFile &file, const parquet::ColumnChunkMetaData &chunk);
/* Name of a leaf and row group, for messages. */
std::string leaf_where(const ParquetFile &file, size_t group, int32_t leaf);

/* Are values numbers of those in a dictionary? */
inline bool is_by_dictionary(parquet::Encoding::type e) {
  return e == parquet::Encoding::PLAIN_DICTIONARY || e == parquet::Encoding::RLE_DICTIONARY;
}

/* ---- parquet_select.cc ---- */

/* Pages of a leaf that are read, in order: rows [row, row + rows) of the group, found at position `at` of the rows that
 * are read. */
struct KeptPages {
  int64_t row, rows, at;
};
struct PagePlan {
  std::vector<Span> spans; /* of the file */
  std::vector<KeptPages> kept;
  bool checked = false;    /* `kept` came from the file's index: pages must hold what it says */
  bool look_ahead = false; /* no index: `kept` grows as pages are found, those without wanted rows are not unpacked */
};
/* All pages of the chunk. */
PagePlan whole_chunk(const ParquetFile &file, const parquet::ColumnChunkMetaData &chunk, int64_t rows);
/* The page index of a row group, read when it is asked for. Not thread-safe: one for each stream. */
class PageIndex {
public:
  PageIndex(const ParquetFile &file, size_t group) : file(file), group(group) {}
  /* Checked against the chunk; empty where there is none or it makes no sense. */
  std::vector<parquet::PageLocation> locations(int32_t leaf, const parquet::ColumnChunkMetaData &chunk);
  /* NULL where there is none. */
  std::shared_ptr<parquet::ColumnIndex> columns(int32_t leaf);
  const ParquetFile &file;
  const size_t group;

private:
  parquet::RowGroupPageIndexReader *reader();
  std::shared_ptr<parquet::PageIndexReader> of_file_;
  std::shared_ptr<parquet::RowGroupPageIndexReader> of_group_;
};
/* The pages that hold rows of the ranges. */
PagePlan plan_pages(PageIndex &index, int32_t leaf, const parquet::ColumnChunkMetaData &chunk,
                    const std::vector<bl_row_range> &ranges);

/* Page after page of a flat leaf, dropping those without wanted rows before they are unpacked. */
class LookAhead final : public parquet::PageReader {
public:
  LookAhead(std::unique_ptr<parquet::PageReader> pages, std::vector<bl_row_range> ranges, std::vector<KeptPages> *kept);
  std::shared_ptr<parquet::Page> NextPage() override;
  void set_max_page_header_size(uint32_t size) override { pages_->set_max_page_header_size(size); }
  /* Find the next page with wanted rows, which `kept` then ends with. The page before must be done with. */
  bool find();

private:
  bool unwanted(int64_t rows);
  std::unique_ptr<parquet::PageReader> pages_;
  std::vector<bl_row_range> ranges_;
  std::vector<KeptPages> *kept_;
  std::deque<std::shared_ptr<parquet::Page>> found_;
  size_t range_ = 0;
  int64_t row_ = 0;
};

/* ---- parquet_pages.cc ---- */
std::unique_ptr<parquet::PageReader> open_pages(const ParquetFile &file, size_t group, int32_t leaf,
                                                const PagePlan &plan);

/* ---- parquet_read.cc ---- */
void parquet_read(const std::shared_ptr<ParquetFile> &file, size_t group, const int32_t *leaves, size_t n_leaves,
                  const bl_row_range *ranges, size_t n_ranges, int64_t batch_rows, struct ArrowArrayStream *out);

/* ---- parquet_stats.cc ---- */
bool parquet_stats(ParquetFile &file, size_t group, int32_t leaf, bl_data_stats *out);
bool parquet_bloom(ParquetFile &file, size_t group, int32_t leaf, const void *value, size_t n);
/* false: no index. */
bool parquet_page_ranges(ParquetFile &file, size_t group, int32_t leaf, const void *lo, size_t n_lo, const void *hi,
                         size_t n_hi, std::vector<bl_row_range> *out);

} // namespace bl
#endif
