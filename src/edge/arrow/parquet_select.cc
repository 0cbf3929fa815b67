/* parquet_select.cc: which pages of a column chunk are read for some rows. The file's offset index tells where pages
 * begin (parquet-format PageIndex.md); it is believed only as far as it agrees with the chunk, and the pages that are
 * read must then hold the rows that it promised. */
#include <algorithm>

#include <parquet/column_page.h>
#include <parquet/column_reader.h>

#include "guard.h"
#include "parquet_file.h"

namespace bl {
namespace {

/* Offsets ascending, inside the chunk and not overlapping; rows ascending from 0. */
bool sane(const std::vector<parquet::PageLocation> &pages, Span chunk, int64_t rows) {
  int64_t at = chunk.offset, row = -1;
  for (const auto &p : pages) {
    if (p.offset < at || p.compressed_page_size <= 0) return false;
    if (p.compressed_page_size > chunk.offset + chunk.size - p.offset) return false;
    if (p.first_row_index <= row || p.first_row_index >= rows) return false;
    at = p.offset + p.compressed_page_size;
    row = p.first_row_index;
  }
  return pages.empty() || pages[0].first_row_index == 0;
}

void add_span(std::vector<Span> *spans, int64_t offset, int64_t size) {
  if (size <= 0) return;
  if (!spans->empty() && spans->back().offset + spans->back().size == offset) spans->back().size += size;
  else spans->push_back({offset, size});
}

} // namespace

std::string leaf_where(const ParquetFile &file, size_t group, int32_t leaf) {
  return "column " + file.tree.path(file.tree.leaf_node[static_cast<size_t>(leaf)]) + " of row group " +
         std::to_string(group);
}

Span chunk_span(const ParquetFile &file, const parquet::ColumnChunkMetaData &chunk) {
  int64_t begin = chunk.data_page_offset(), size = chunk.total_compressed_size(), end;
  if (chunk.has_dictionary_page() && chunk.dictionary_page_offset() > 0)
    begin = std::min(begin, chunk.dictionary_page_offset());
  if (begin < 0 || size < 0 || __builtin_add_overflow(begin, size, &end) || end > file.input->size())
    damaged("a column chunk lies outside the file");
  return {begin, size};
}

PagePlan whole_chunk(const ParquetFile &file, const parquet::ColumnChunkMetaData &chunk, int64_t rows) {
  PagePlan plan;
  plan.spans = {chunk_span(file, chunk)};
  plan.kept = {{0, rows, 0}};
  return plan;
}

parquet::RowGroupPageIndexReader *PageIndex::reader() {
  if (!of_file_) {
    of_file_ = parquet::PageIndexReader::Make(file.input.get(), file.footer, file.properties);
    of_group_ = of_file_->RowGroup(static_cast<int>(group));
  }
  return of_group_.get();
}

namespace {

/* An index that cannot be read is as good as none; an input that cannot be read is not. */
template <class F> void lenient(F &&f) {
  try {
    f();
  } catch (const parquet::ParquetStatusException &e) {
    if (error_of(e.status(), BL_DAMAGED).status != BL_DAMAGED) throw;
  } catch (const parquet::ParquetException &) {
  }
}

} // namespace

std::vector<parquet::PageLocation> PageIndex::locations(int32_t leaf, const parquet::ColumnChunkMetaData &chunk) {
  std::vector<parquet::PageLocation> out;
  if (file.encrypted || !chunk.GetOffsetIndexLocation()) return out;
  lenient([&] {
    auto index = reader() ? reader()->GetOffsetIndex(leaf) : nullptr;
    if (index && sane(index->page_locations(), chunk_span(file, chunk), file.groups[group].rows))
      out = index->page_locations();
  });
  return out;
}

std::shared_ptr<parquet::ColumnIndex> PageIndex::columns(int32_t leaf) {
  std::shared_ptr<parquet::ColumnIndex> out;
  if (file.encrypted) return out;
  lenient([&] {
    if (reader()) out = reader()->GetColumnIndex(leaf);
  });
  return out;
}

PagePlan plan_pages(PageIndex &index, int32_t leaf, const parquet::ColumnChunkMetaData &chunk,
                    const std::vector<bl_row_range> &ranges) {
  int64_t rows = index.file.groups[index.group].rows;
  PagePlan all = whole_chunk(index.file, chunk, rows);
  auto pages = index.locations(leaf, chunk);
  if (pages.empty()) {
    /* pages of an encrypted column are numbered by those that were unpacked */
    all.look_ahead = !index.file.encrypted && index.file.footer->schema()->Column(leaf)->max_repetition_level() == 0;
    if (all.look_ahead) all.kept.clear();
    return all;
  }
  PagePlan plan;
  plan.checked = true;
  add_span(&plan.spans, all.spans[0].offset, pages[0].offset - all.spans[0].offset); /* the dictionary */
  int64_t at = 0;
  size_t r = 0;
  for (size_t i = 0; i < pages.size() && r < ranges.size(); i++) {
    int64_t begin = pages[i].first_row_index, end = i + 1 < pages.size() ? pages[i + 1].first_row_index : rows;
    while (r < ranges.size() && ranges[r].end <= begin) r++;
    if (r == ranges.size() || ranges[r].begin >= end) continue;
    add_span(&plan.spans, pages[i].offset, pages[i].compressed_page_size);
    plan.kept.push_back({begin, end - begin, at});
    at += end - begin;
  }
  return plan;
}

LookAhead::LookAhead(std::unique_ptr<parquet::PageReader> pages, std::vector<bl_row_range> ranges,
                     std::vector<KeptPages> *kept)
    : pages_(std::move(pages)), ranges_(std::move(ranges)), kept_(kept) {
  pages_->set_data_page_filter([this](const parquet::DataPageStats &page) {
    return unwanted(page.num_rows ? *page.num_rows : page.num_values);
  });
}

bool LookAhead::unwanted(int64_t rows) {
  int64_t begin = row_, end = row_ + rows;
  if (rows == 0) return true; /* a reader takes it for the end */
  row_ = end;
  while (range_ < ranges_.size() && ranges_[range_].end <= begin) range_++;
  if (range_ == ranges_.size() || ranges_[range_].begin >= end) return true;
  int64_t at = kept_->empty() ? 0 : kept_->back().at + kept_->back().rows;
  kept_->push_back({begin, rows, at});
  return false;
}

std::shared_ptr<parquet::Page> LookAhead::NextPage() {
  if (found_.empty()) find();
  if (found_.empty()) return nullptr;
  auto page = std::move(found_.front());
  found_.pop_front();
  return page;
}

/* A page lives until the next one is asked for: a dictionary on the way is copied. */
bool LookAhead::find() {
  while (auto page = pages_->NextPage()) {
    if (page->type() != parquet::PageType::DICTIONARY_PAGE) {
      found_.push_back(std::move(page));
      return true;
    }
    const auto &d = static_cast<const parquet::DictionaryPage &>(*page);
    std::shared_ptr<arrow::Buffer> copy = ok(d.buffer()->CopySlice(0, d.size()));
    found_.push_back(std::make_shared<parquet::DictionaryPage>(copy, d.num_values(), d.encoding(), d.is_sorted()));
  }
  return false;
}

} // namespace bl
