/* stream.cc: see stream.h. */
#include "stream.h"

#include <arrow/c/bridge.h>

#include "guard.h"

extern "C" {
#include "rows/stream.h"
}

namespace bl {
namespace {

struct Stream {
  std::unique_ptr<Batches> batches;
  bl_status otherwise;
  bl_error error = BL_ERROR_INIT;
};

Stream &stream_of(ArrowArrayStream *s) {
  return *static_cast<Stream *>(s->private_data);
}

template <class F> int run(Stream &s, F &&f) noexcept {
  if (s.error.status != BL_OK) return bl_stream_errno(s.error.status);
  try {
    f();
    return 0;
  } catch (...) {
    bl_error e = error_of_exception(s.otherwise);
    bl_error hidden = s.batches->hidden_error();
    if (hidden.status != BL_OK) e = hidden;
    std::string where;
    try {
      where = s.batches->where();
    } catch (...) {
    }
    return bl_stream_errno(report(&s.error, e, where.empty() ? nullptr : where.c_str()));
  }
}

int get_schema(ArrowArrayStream *in, ArrowSchema *out) {
  out->release = nullptr;
  Stream &s = stream_of(in);
  return run(s, [&] { ok(arrow::ExportSchema(*s.batches->schema(), out)); });
}

int get_next(ArrowArrayStream *in, ArrowArray *out) {
  out->release = nullptr;
  Stream &s = stream_of(in);
  return run(s, [&] {
    auto batch = s.batches->next();
    if (batch) ok(arrow::ExportRecordBatch(*batch, out));
  });
}

const char *get_last_error(ArrowArrayStream *in) {
  return stream_of(in).error.status == BL_OK ? nullptr : stream_of(in).error.message;
}

void release(ArrowArrayStream *in) {
  delete &stream_of(in);
  in->private_data = nullptr;
  in->release = nullptr;
}

} // namespace

void export_batches(std::unique_ptr<Batches> batches, bl_status otherwise, ArrowArrayStream *out) {
  auto s = std::make_unique<Stream>();
  s->batches = std::move(batches);
  s->otherwise = otherwise;
  out->get_schema = get_schema;
  out->get_next = get_next;
  out->get_last_error = get_last_error;
  out->release = release;
  out->private_data = s.release();
}

} // namespace bl
