/* data_avro.h: Avro data files (Iceberg spec, "Appendix A: Avro"). Groups are runs of Avro blocks; there are no
 * statistics and no pages. */
#ifndef BL_EDGE_DATA_AVRO_H
#define BL_EDGE_DATA_AVRO_H

#include "bergline/sys/data.h"

extern const bl_data_format bl_format_avro;

#endif
