/* fuzz_parquet_footer.c: any bytes as a Parquet footer; an error names a byte inside of it. */
#include <stdlib.h>

#include "edge/parquet_footer.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_error err = BL_ERROR_INIT;
  bl_status st = bl_parquet_footer_check(p, n, 200, &err);
  if (st != err.status || (st != BL_OK && !err.message[0])) abort();
  if (st == BL_DAMAGED && (err.position < 0 || err.position > (int64_t)n)) abort();
  return 0;
}
