/* parquet_footer.h: a look at a Parquet footer before it is handed to a decoder which trusts it.
 *
 * The footer is a Thrift struct in the compact protocol. Walked here without building anything: every list must hold as
 * many elements as it claims, nothing may be nested deeper than the limit, and the schema (a preorder list of elements
 * with child counts) may not be deeper either. What the fields mean is left to the decoder. */
#ifndef BL_EDGE_PARQUET_FOOTER_H
#define BL_EDGE_PARQUET_FOOTER_H

#include <stddef.h>

#include "bergline/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* BL_DAMAGED with the byte position inside the footer; BL_UNSUPPORTED for a schema nested deeper than max_depth. */
bl_status bl_parquet_footer_check(const uint8_t *p, size_t n, int max_depth, bl_error *err) BL_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
