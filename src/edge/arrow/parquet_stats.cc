/* parquet_stats.cc: what the footer, the page index and bloom filters say about the values of a leaf. Bounds are given
 * only where the format defines their order and they are in order themselves. */
#include <algorithm>

#include <parquet/bloom_filter.h>
#include <parquet/bloom_filter_reader.h>
#include <parquet/size_statistics.h>
#include <parquet/statistics.h>

#include "guard.h"
#include "single_value.h"

namespace bl {
namespace {

std::string_view view(const void *p, size_t n) {
  return {static_cast<const char *>(p), n};
}

bool leaf_exists(const ParquetFile &file, size_t group, int32_t leaf) {
  return group < file.groups.size() && leaf >= 0 && static_cast<size_t>(leaf) < file.tree.leaf_node.size() &&
         file.tree.leaf_node[static_cast<size_t>(leaf)] >= 0;
}

bool is_bytes(const parquet::ColumnDescriptor &d) {
  return d.physical_type() == parquet::Type::BYTE_ARRAY || d.physical_type() == parquet::Type::FIXED_LEN_BYTE_ARRAY;
}

/* Before column orders were written down, min and max of bytes were compared in more than one way. */
bool order_is_known(const parquet::ColumnDescriptor &d) {
  if (!d.can_use_min_max()) return false;
  return !is_bytes(d) || d.column_order().get_order() == parquet::ColumnOrder::TYPE_DEFINED_ORDER;
}

/* Nulls by the histogram of definition levels: everything below the highest one. */
int64_t nulls_of_levels(const parquet::ColumnChunkMetaData &chunk, const parquet::ColumnDescriptor &d) {
  auto sizes = chunk.size_statistics();
  auto top = static_cast<size_t>(d.max_definition_level());
  if (top == 0) return 0;
  if (!sizes || sizes->definition_level_histogram.size() != top + 1) return -1;
  return chunk.num_values() - sizes->definition_level_histogram[top];
}

int64_t nulls_of(const parquet::ColumnChunkMetaData &chunk, const parquet::ColumnDescriptor &d,
                 const parquet::EncodedStatistics *s) {
  int64_t n = s && s->has_null_count ? s->null_count : nulls_of_levels(chunk, d);
  return n < 0 || n > chunk.num_values() ? -1 : n;
}

void set_bounds(const ParquetFile &file, int32_t leaf, const parquet::ColumnDescriptor &d,
                const parquet::EncodedStatistics &s, CachedStats *out) {
  if (!order_is_known(d)) return;
  auto lower = s.has_min ? single_of_plain(file, leaf, s.min(), false) : std::nullopt;
  auto upper = s.has_max ? single_of_plain(file, leaf, s.max(), true) : std::nullopt;
  bool broken = (s.has_min && !lower) || (s.has_max && !upper); /* NaN: the other one is not to be trusted either */
  const bl_data_node &node = file.tree.at(file.tree.leaf_node[static_cast<size_t>(leaf)]);
  if (lower && upper) broken |= compare_single(node, *lower, *upper).value_or(1) > 0;
  if (broken) return;
  bool unsaid = !is_bytes(d);
  if (lower) {
    out->lower = *lower;
    out->stats.lower = out->lower.data();
    out->stats.lower_size = out->lower.size();
    out->stats.lower_exact = s.is_min_value_exact.value_or(unsaid);
  }
  if (upper) {
    out->upper = *upper;
    out->stats.upper = out->upper.data();
    out->stats.upper_size = out->upper.size();
    out->stats.upper_exact = s.is_max_value_exact.value_or(unsaid);
  }
}

bool has_dictionary(const parquet::ColumnChunkMetaData &chunk) {
  return std::any_of(chunk.encodings().begin(), chunk.encodings().end(), is_by_dictionary);
}

/* Less than a quarter of the pages by a dictionary, which some column of the group has. */
bool is_plain(const parquet::RowGroupMetaData &group, const parquet::ColumnChunkMetaData &chunk) {
  int64_t by_dictionary = 0, all = 0;
  for (const auto &s : chunk.encoding_stats()) {
    if (s.page_type != parquet::PageType::DATA_PAGE && s.page_type != parquet::PageType::DATA_PAGE_V2) continue;
    all += s.count;
    if (is_by_dictionary(s.encoding)) by_dictionary += s.count;
  }
  if (all > 0 ? by_dictionary >= (all + 3) / 4 : has_dictionary(chunk)) return false;
  for (int i = 0; i < group.num_columns(); i++)
    if (has_dictionary(*group.ColumnChunk(i))) return true;
  return false;
}

void load_stats(const ParquetFile &file, size_t group, int32_t leaf, CachedStats *out) {
  const parquet::ColumnDescriptor &d = *file.footer->schema()->Column(leaf);
  auto row_group = file.footer->RowGroup(static_cast<int>(group));
  auto chunk = row_group->ColumnChunk(leaf);
  auto encoded = chunk->encoded_statistics();
  out->stats.values = chunk->num_values() >= 0 ? chunk->num_values() : -1;
  out->stats.nulls = nulls_of(*chunk, d, encoded.get());
  out->stats.compressed_bytes = chunk->total_compressed_size();
  out->stats.uncompressed_bytes = chunk->total_uncompressed_size();
  out->stats.plain = is_plain(*row_group, *chunk);
  if (encoded) set_bounds(file, leaf, d, *encoded, out);
  out->known = true;
}

/* May the page hold a value within [lo, hi]? true where it cannot be told. */
bool page_may_hold(const ParquetFile &file, int32_t leaf, const std::string &min, const std::string &max,
                   std::optional<std::string_view> lo, std::optional<std::string_view> hi) {
  const bl_data_node &node = file.tree.at(file.tree.leaf_node[static_cast<size_t>(leaf)]);
  auto lower = single_of_plain(file, leaf, min, false), upper = single_of_plain(file, leaf, max, true);
  if (!lower || !upper || compare_single(node, *lower, *upper).value_or(1) > 0) return true;
  if (lo && compare_single(node, *upper, *lo).value_or(0) < 0) return false;
  return !(hi && compare_single(node, *lower, *hi).value_or(0) > 0);
}

void add_range(std::vector<bl_row_range> *out, int64_t begin, int64_t end) {
  if (!out->empty() && out->back().end == begin) out->back().end = end;
  else out->push_back({begin, end});
}

} // namespace

bool parquet_stats(ParquetFile &file, size_t group, int32_t leaf, bl_data_stats *out) {
  if (!leaf_exists(file, group, leaf)) return false;
  std::lock_guard<std::mutex> hold(file.lock);
  CachedStats &c = file.stats[{group, leaf}];
  if (!c.known) load_stats(file, group, leaf, &c);
  *out = c.stats;
  return true;
}

bool parquet_bloom(ParquetFile &file, size_t group, int32_t leaf, const void *value, size_t n) {
  if (!leaf_exists(file, group, leaf)) return true;
  if (!file.footer->RowGroup(static_cast<int>(group))->ColumnChunk(leaf)->bloom_filter_offset()) return true;
  bool absent;
  auto hash = bloom_hash(file, leaf, view(value, n), &absent);
  if (absent) return false;
  if (!hash) return true;
  std::lock_guard<std::mutex> hold(file.lock);
  if (!file.filter || file.filter_of != std::make_pair(group, leaf)) {
    auto reader =
        parquet::BloomFilterReader::Make(file.input, file.footer, file.properties)->RowGroup(static_cast<int>(group));
    file.filter = reader ? reader->GetColumnBloomFilter(leaf) : nullptr;
    file.filter_of = {group, leaf};
  }
  return !file.filter || file.filter->FindHash(*hash);
}

bool parquet_page_ranges(ParquetFile &file, size_t group, int32_t leaf, const void *lo, size_t n_lo, const void *hi,
                         size_t n_hi, std::vector<bl_row_range> *out) {
  if (!leaf_exists(file, group, leaf)) throw Fail(BL_USAGE, "there is no leaf column " + std::to_string(leaf));
  const parquet::ColumnDescriptor &d = *file.footer->schema()->Column(leaf);
  if (!order_is_known(d)) return false;
  PageIndex index(file, group);
  auto chunk = file.footer->RowGroup(static_cast<int>(group))->ColumnChunk(leaf);
  auto pages = index.locations(leaf, *chunk);
  auto bounds = pages.empty() ? nullptr : index.columns(leaf);
  if (!bounds || bounds->null_pages().size() != pages.size() || bounds->encoded_min_values().size() != pages.size() ||
      bounds->encoded_max_values().size() != pages.size())
    return false;
  auto low = lo ? std::optional(view(lo, n_lo)) : std::nullopt,
       high = hi ? std::optional(view(hi, n_hi)) : std::nullopt;
  for (size_t i = 0; i < pages.size(); i++) {
    if (bounds->null_pages()[i]) continue;
    if (!page_may_hold(file, leaf, bounds->encoded_min_values()[i], bounds->encoded_max_values()[i], low, high))
      continue;
    int64_t end = i + 1 < pages.size() ? pages[i + 1].first_row_index : file.groups[group].rows;
    add_range(out, pages[i].first_row_index, end);
  }
  return true;
}

} // namespace bl
