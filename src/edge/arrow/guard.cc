/* guard.cc: see guard.h. */
#include "guard.h"

#include <cstring>
#include <new>
#include <stdexcept>

#include <parquet/exception.h>

namespace bl {
namespace {

constexpr char kDetail[] = "bergline::error";

struct ErrorDetail final : arrow::StatusDetail {
  explicit ErrorDetail(const bl_error &e) : error(e) {}
  const char *type_id() const override { return kDetail; }
  std::string ToString() const override { return error.message; }
  bl_error error;
};

bl_error make(bl_status st, const char *text) noexcept {
  bl_error e = BL_ERROR_INIT;
  bl_fail(&e, st, "%s", *text ? text : "no reason given");
  return e;
}

bl_error no_memory() noexcept {
  bl_error e = BL_ERROR_INIT;
  bl_nomem(&e);
  return e;
}

/* Parquet's exceptions carry no code: these are the beginnings of what it cannot do (and ORC's times). */
bool says_unsupported(const char *text) {
  static const char *const starts[] = {"Not yet implemented", "Codec type", "Support for codec", "NotImplemented"};
  for (const char *s : starts)
    if (std::strncmp(text, s, std::strlen(s)) == 0) return true;
  return std::strstr(text, "out of range for nanosecond resolution") != nullptr;
}

} // namespace

Fail::Fail(bl_status st, const std::string &text) : error(make(st, text.c_str())) {}

void damaged(const std::string &text) {
  throw Fail(BL_DAMAGED, text);
}

void unsupported(const std::string &text) {
  throw Fail(BL_UNSUPPORTED, text);
}

arrow::Status status_of(const bl_error &err) {
  return arrow::Status(arrow::StatusCode::IOError, err.message, std::make_shared<ErrorDetail>(err));
}

void ok(const arrow::Status &st) {
  if (!st.ok()) throw parquet::ParquetStatusException(st);
}

bl_error error_of(const arrow::Status &st, bl_status otherwise) {
  const auto &detail = st.detail();
  if (detail && std::strcmp(detail->type_id(), kDetail) == 0) return static_cast<const ErrorDetail &>(*detail).error;
  if (st.IsOutOfMemory()) return no_memory();
  bl_status code = st.IsNotImplemented() ? BL_UNSUPPORTED : st.IsCancelled() ? BL_CANCELLED : otherwise;
  return make(says_unsupported(st.message().c_str()) ? BL_UNSUPPORTED : code, st.message().c_str());
}

bl_error error_of_exception(bl_status otherwise) noexcept {
  try {
    throw;
  } catch (const Fail &f) {
    return f.error;
  } catch (const parquet::ParquetStatusException &e) {
    return error_of(e.status(), otherwise);
  } catch (const std::bad_alloc &) {
    return no_memory();
  } catch (const std::exception &e) {
    return make(says_unsupported(e.what()) ? BL_UNSUPPORTED : otherwise, e.what());
  } catch (...) {
    return make(otherwise, "unknown exception");
  }
}

bl_status report(bl_error *err, const bl_error &e, const char *where) noexcept {
  if (!err) return e.status;
  if (err->status != BL_OK) return err->status;
  *err = e;
  bool named = e.status == BL_IO || e.status == BL_NOT_FOUND || e.status == BL_NOMEM || e.status == BL_CANCELLED;
  if (where && !named) bl_fail_in(err, e.status, "%s", where);
  return err->status;
}

} // namespace bl
