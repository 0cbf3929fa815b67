/* parquet_stats.cc */
#include "parquet_file.h"
namespace bl {
bool parquet_stats(ParquetFile &, size_t, int32_t, bl_data_stats *) { return false; }
bool parquet_bloom(ParquetFile &, size_t, int32_t, const void *, size_t) { return true; }
bool parquet_page_ranges(ParquetFile &, size_t, int32_t, const void *, size_t, const void *, size_t, std::vector<bl_row_range> *) { return false; }
} // namespace bl
