/* file_format.c: see file_format.h. */
#include "write/file_format.h"

bl_status bl_file_format_by_bytes(bl_input *in, const char *path, bl_file_format *out, bl_error *err) {
  char p[4] = {0};
  BL_TRY(in->read_at(in, 0, p, in->size < 4 ? (size_t)in->size : 4, err));
  if (memcmp(p, "PAR1", 4) == 0) *out = BL_FORMAT_PARQUET;
  else if (memcmp(p, "Obj\1", 4) == 0) *out = BL_FORMAT_AVRO;
  else if (memcmp(p, "ORC", 3) == 0) *out = BL_FORMAT_ORC;
  else if (memcmp(p, "PARE", 4) == 0) return bl_fail(err, BL_UNSUPPORTED, "%s: it is encrypted", path);
  else return bl_fail(err, BL_USAGE, "%s: neither a Parquet nor an Avro nor an ORC file", path);
  return BL_OK;
}
