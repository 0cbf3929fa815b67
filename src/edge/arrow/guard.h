/* guard.h: the one place where exceptions and arrow::Status become a bl_error.
 *
 * 1. Every extern "C" function of this folder runs its body inside guard(); nothing is thrown past it.
 * 2. An error raised by a bl_input (or any other C callback) is carried through Arrow as a StatusDetail and comes out
 *    as the same bl_error.
 * 3. std::bad_alloc and arrow's OutOfMemory give BL_NOMEM, NotImplemented gives BL_UNSUPPORTED, BL_CANCELLED is kept;
 *    everything else that a decoder says is `otherwise` (BL_DAMAGED for readers), since true I/O errors carry (2). */
#ifndef BL_EDGE_ARROW_GUARD_H
#define BL_EDGE_ARROW_GUARD_H

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>

#include "bergline/error.h"

namespace bl {

/* An error of ours, thrown. */
class Fail : public std::exception {
public:
  explicit Fail(const bl_error &e) : error(e) {}
  Fail(bl_status st, const std::string &text);
  const char *what() const noexcept override { return error.message; }
  bl_error error;
};

[[noreturn]] void damaged(const std::string &text);
[[noreturn]] void unsupported(const std::string &text);

/* A Status which carries err (see 2). */
arrow::Status status_of(const bl_error &err);

void ok(const arrow::Status &st); /* throws */
template <class T> T ok(arrow::Result<T> &&r) {
  ok(r.status());
  return std::move(r).ValueUnsafe();
}

/* The bl_error of an arrow::Status that failed. */
bl_error error_of(const arrow::Status &st, bl_status otherwise);
/* The bl_error of the exception being handled. */
bl_error error_of_exception(bl_status otherwise) noexcept;
/* Put it in *err (the first error wins) with "<where>: " in front. */
bl_status report(bl_error *err, const bl_error &e, const char *where) noexcept;

/* Run f. `where` (NULL: none) names the file in front of the message of a decoder; errors of I/O name it already. */
template <class F> bl_status guard(bl_error *err, const char *where, bl_status otherwise, F &&f) noexcept {
  try {
    f();
    return BL_OK;
  } catch (...) {
    return report(err, error_of_exception(otherwise), where);
  }
}

} // namespace bl
#endif
