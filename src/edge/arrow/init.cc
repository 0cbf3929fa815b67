/* init.cc: the library's set-up and version. */
#include <mutex>

#include <arrow/compute/initialize.h>
#include <arrow/config.h>

#include "arrow_edge.h"
#include "guard.h"

extern "C" {

bl_status bl_arrow_init(bl_error *err) {
  return bl::guard(err, "Arrow", BL_UNSUPPORTED, [] {
    static std::once_flag once;
    std::call_once(once, [] { bl::ok(arrow::compute::Initialize()); });
  });
}

const char *bl_arrow_version(void) {
  return arrow::GetBuildInfo().version_string.c_str();
}

} // extern "C"
