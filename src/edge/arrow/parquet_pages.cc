/* parquet_pages.cc: pages of a column chunk, unpacked. Arrow makes a new zstd context for each page; here one serves
 * all pages of a chunk. Other codecs are left to Arrow. */
#include <algorithm>
#include <cstring>

#include <arrow/buffer.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <zstd.h>

#include "guard.h"
#include "parquet_file.h"

namespace bl {
namespace {

constexpr int64_t kBlock = 1 << 20;           /* bytes read at once */
constexpr int64_t kDictionaryStep = 64 << 10; /* its size is not told by what Arrow gives */

struct FreeContext {
  void operator()(ZSTD_DCtx *c) const { ZSTD_freeDCtx(c); }
};

/* The pages of `packed`, which leaves their bytes as they are in the file. A page lives until the next one is asked
 * for, a dictionary longer. */
class Unpacker final : public parquet::PageReader {
public:
  Unpacker(std::unique_ptr<parquet::PageReader> packed, std::string where)
      : packed_(std::move(packed)), where_(std::move(where)) {
    packed_->set_data_page_filter(
        [this](const parquet::DataPageStats &page) { return data_page_filter_ && data_page_filter_(page); });
  }

  void set_max_page_header_size(uint32_t size) override { packed_->set_max_page_header_size(size); }

  std::shared_ptr<parquet::Page> NextPage() override {
    auto page = packed_->NextPage();
    if (!page) return page;
    switch (page->type()) {
    case parquet::PageType::DATA_PAGE: return unpacked(static_cast<const parquet::DataPageV1 &>(*page));
    case parquet::PageType::DATA_PAGE_V2: return unpacked(page, static_cast<const parquet::DataPageV2 &>(*page));
    case parquet::PageType::DICTIONARY_PAGE: return unpacked(static_cast<const parquet::DictionaryPage &>(*page));
    default: return page;
    }
  }

private:
  std::unique_ptr<parquet::PageReader> packed_;
  std::string where_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  std::shared_ptr<arrow::ResizableBuffer> room_; /* of the data page in hand */

  [[noreturn]] void broken() const { damaged(where_ + ": a page cannot be unpacked"); }

  ZSTD_DCtx *context() {
    if (!context_) context_.reset(ZSTD_createDCtx());
    if (!context_) throw std::bad_alloc();
    return context_.get();
  }

  void unpack(const uint8_t *from, int64_t n, uint8_t *to, int64_t size) {
    if (size == 0) return;
    size_t got = ZSTD_decompressDCtx(context(), to, static_cast<size_t>(size), from, static_cast<size_t>(n));
    if (ZSTD_isError(got) || got != static_cast<size_t>(size)) broken();
  }

  uint8_t *room(int64_t n) {
    if (!room_) room_ = ok(arrow::AllocateResizableBuffer(0, pool()));
    ok(room_->Resize(n, false));
    return room_->mutable_data();
  }

  std::shared_ptr<parquet::Page> unpacked(const parquet::DataPageV1 &p) {
    unpack(p.data(), p.size(), room(p.uncompressed_size()), p.uncompressed_size());
    return std::make_shared<parquet::DataPageV1>(room_, p.num_values(), p.encoding(), p.definition_level_encoding(),
                                                 p.repetition_level_encoding(), p.uncompressed_size(), p.statistics());
  }

  /* Levels of the second version are not packed. */
  std::shared_ptr<parquet::Page> unpacked(std::shared_ptr<parquet::Page> page, const parquet::DataPageV2 &p) {
    if (!p.is_compressed()) return page;
    int64_t def = p.definition_levels_byte_length(), rep = p.repetition_levels_byte_length(), levels = def + rep;
    if (def < 0 || rep < 0 || levels > p.size() || levels > p.uncompressed_size()) broken();
    uint8_t *to = room(p.uncompressed_size());
    if (levels > 0) std::memcpy(to, p.data(), static_cast<size_t>(levels));
    unpack(p.data() + levels, p.size() - levels, to + levels, p.uncompressed_size() - levels);
    return std::make_shared<parquet::DataPageV2>(room_, p.num_values(), p.num_nulls(), p.num_rows(), p.encoding(),
                                                 static_cast<int32_t>(def), static_cast<int32_t>(rep),
                                                 p.uncompressed_size(), false, p.statistics());
  }

  std::shared_ptr<parquet::Page> unpacked(const parquet::DictionaryPage &p) {
    std::shared_ptr<arrow::ResizableBuffer> out = ok(arrow::AllocateResizableBuffer(0, pool()));
    ZSTD_DCtx_reset(context(), ZSTD_reset_session_only);
    ZSTD_inBuffer in = {p.data(), static_cast<size_t>(p.size()), 0};
    size_t n = 0, left = 0;
    while (in.pos < in.size || left != 0) {
      if (n == static_cast<size_t>(out->size())) ok(out->Resize(std::max(out->size() * 2, kDictionaryStep), false));
      ZSTD_outBuffer to = {out->mutable_data(), static_cast<size_t>(out->size()), n};
      size_t before = in.pos;
      left = ZSTD_decompressStream(context(), &to, &in);
      if (ZSTD_isError(left) || to.pos > INT32_MAX || (in.pos == before && to.pos == n)) broken();
      n = to.pos;
    }
    ok(out->Resize(static_cast<int64_t>(n), false));
    return std::make_shared<parquet::DictionaryPage>(out, p.num_values(), p.encoding(), p.is_sorted());
  }
};

} // namespace

std::unique_ptr<parquet::PageReader> open_pages(const ParquetFile &file, size_t group, int32_t leaf,
                                                const PagePlan &plan) {
  if (file.encrypted) return file.reader->RowGroup(static_cast<int>(group))->GetColumnPageReader(leaf);
  auto chunk = file.footer->RowGroup(static_cast<int>(group))->ColumnChunk(leaf);
  const parquet::ColumnDescriptor *descr = file.footer->schema()->Column(leaf);
  bool always_compressed =
      file.footer->writer_version().VersionLt(parquet::ApplicationVersion::PARQUET_CPP_10353_FIXED_VERSION());
  auto stream = std::make_shared<SpanStream>(file.input, plan.spans, kBlock);
  bool zstd = chunk->compression() == parquet::Compression::ZSTD;
  auto pages = parquet::PageReader::Open(stream, chunk->num_values(),
                                         zstd ? parquet::Compression::UNCOMPRESSED : chunk->compression(),
                                         file.properties, *descr, always_compressed);
  if (zstd) pages = std::make_unique<Unpacker>(std::move(pages), leaf_where(file, group, leaf));
  if (!plan.checked) return pages;
  bool flat = descr->max_repetition_level() == 0;
  pages->set_data_page_filter([kept = plan.kept, flat, next = size_t{0}](const parquet::DataPageStats &page) mutable {
    int64_t rows = page.num_rows ? *page.num_rows : flat ? page.num_values : -1;
    if (next >= kept.size() || (rows >= 0 && rows != kept[next].rows))
      damaged("the offset index does not agree with the pages");
    next++;
    return false;
  });
  return pages;
}

} // namespace bl
