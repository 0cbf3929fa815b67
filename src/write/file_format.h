/* file_format.h: which format a file has, by its first bytes. */
#ifndef BL_WRITE_FILE_FORMAT_H
#define BL_WRITE_FILE_FORMAT_H

#include "bergline/sys/io.h"
#include "model/manifest.h"

/* BL_USAGE: none of Parquet, Avro, ORC; path is for the message. */
bl_status bl_file_format_by_bytes(bl_input *in, const char *path, bl_file_format *out, bl_error *err) BL_CHECKED;

#endif
