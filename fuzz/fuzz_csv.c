/* fuzz_csv.c: CSV into a table's columns: rows or an error, nothing else. */
#include "bytes_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  return fuzz_rows(p, n, bl_read_csv);
}
