/* single_value.h: values of a leaf between Parquet's plain encoding (statistics, page index, bloom filters) and
 * Iceberg's single-value form (spec, appendix D). */
#ifndef BL_EDGE_ARROW_SINGLE_VALUE_H
#define BL_EDGE_ARROW_SINGLE_VALUE_H

#include <optional>
#include <string>
#include <string_view>

#include "parquet_file.h"

namespace bl {

/* The single-value form of a plain-encoded bound; none where it cannot be had (INT96, NaN, wrong size, overflow).
 * Zeros become the smaller one for a lower and the larger one for an upper bound. */
std::optional<std::string> single_of_plain(const ParquetFile &file, int32_t leaf, std::string_view plain, bool upper);
/* Order of two single values of the node's kind: <0, 0, >0; none where one of them is malformed or NaN. */
std::optional<int> compare_single(const bl_data_node &node, std::string_view a, std::string_view b);
/* Hash of the value for the leaf's bloom filter; `absent` where the leaf cannot hold it; none where it cannot be told.
 */
std::optional<uint64_t> bloom_hash(const ParquetFile &file, int32_t leaf, std::string_view value, bool *absent);

} // namespace bl
#endif
