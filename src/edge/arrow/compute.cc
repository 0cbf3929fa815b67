/* compute.cc: filter, take, concat, cast and predicates on imported C arrays. Extension types are worked on as their
 * storage: the C arrays are the same. */
#include <algorithm>
#include <cstring>

#include <arrow/array/concatenate.h>
#include <arrow/c/bridge.h>
#include <arrow/compute/api.h>
#include <arrow/scalar.h>
#include <arrow/util/bit_util.h>

#include "bridge.h"
#include "casts.h"
#include "gather.h"
#include "guard.h"
#include "pool.h"
#include "runs.h"

namespace bl {
namespace {

namespace ac = arrow::compute;

void give(const std::shared_ptr<arrow::RecordBatch> &batch, ArrowArray *out) {
  ok(arrow::ExportRecordBatch(*batch, out));
}

std::shared_ptr<arrow::Array> bits_of(const uint8_t *keep, int64_t n) {
  std::shared_ptr<arrow::Buffer> bits = ok(arrow::AllocateEmptyBitmap(n, pool()));
  uint8_t *p = bits->mutable_data();
  for (int64_t i = 0; i < n; i++) p[i >> 3] |= static_cast<uint8_t>((keep[i] != 0) << (i & 7));
  return std::make_shared<arrow::BooleanArray>(n, std::move(bits));
}

/* Runs shorter than this are picked row by row. */
constexpr int64_t kLeastRun = 8;

void filter(ArrowArray *in, const ArrowSchema *schema, const uint8_t *keep, ArrowArray *out) {
  Owned owned(in);
  auto batch = owned.take(storage_schema(borrow_schema(schema)));
  auto runs = runs_of(keep, batch->num_rows());
  int64_t rows = 0;
  for (const RowRun &r : runs) rows += r.end - r.begin;
  bool copy = rows > 0 && rows / kLeastRun >= static_cast<int64_t>(runs.size());
  std::shared_ptr<arrow::Array> mask;
  std::vector<std::shared_ptr<arrow::ArrayData>> columns;
  for (const auto &column : batch->columns()) {
    if (copy && can_copy_runs(*column->type())) {
      columns.push_back(copy_runs(*column->data(), runs, rows));
      continue;
    }
    if (!mask) mask = bits_of(keep, batch->num_rows());
    columns.push_back(ok(ac::Filter(column, mask, ac::FilterOptions::Defaults(), kernels())).array());
  }
  give(arrow::RecordBatch::Make(batch->schema(), rows, std::move(columns)), out);
}

void take(ArrowArray *in, const ArrowSchema *schema, const int64_t *rows, int64_t n, ArrowArray *out) {
  Owned owned(in);
  give(gather(in, 1, storage_schema(borrow_schema(schema)), rows, n), out);
}

void concat(ArrowArray *in, size_t n, const ArrowSchema *schema, ArrowArray *out) {
  std::vector<std::unique_ptr<Owned>> owned;
  for (size_t i = 0; i < n; i++) owned.push_back(std::make_unique<Owned>(&in[i]));
  auto type = storage_schema(borrow_schema(schema));
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  for (auto &o : owned) batches.push_back(o->take(type));
  if (batches.empty()) return give(ok(arrow::RecordBatch::MakeEmpty(type)), out);
  give(batches.size() == 1 ? batches[0] : ok(arrow::ConcatenateRecordBatches(batches, pool())), out);
}

/* ---- cast ---- */

void cast(ArrowArray *in, const ArrowSchema *in_type, const ArrowSchema *out_type, ArrowArray *out) {
  Owned owned(in);
  auto to = borrow_type(out_type);
  auto array = plain_layout(owned.take(borrow_type(in_type)));
  auto result = cast_array(*array, to);
  if (!result.ok()) {
    const arrow::Status &st = result.status();
    if (st.IsNotImplemented() || st.IsTypeError())
      unsupported("cannot cast " + array->type()->ToString() + " to " + to->ToString());
    if (!st.IsInvalid()) ok(st);
    bl_error e = BL_ERROR_INIT;
    int64_t row = first_misfit(*array, to);
    bl_fail_at(&e, BL_USAGE, row, "row %lld does not fit %s: %s", static_cast<long long>(row), to->ToString().c_str(),
               st.message().c_str());
    throw Fail(e);
  }
  ok(arrow::ExportArray(**result, out));
}

/* ---- predicates ---- */

using arrow::Datum;

class Predicate {
public:
  explicit Predicate(std::shared_ptr<arrow::RecordBatch> batch) : batch_(std::move(batch)) {}

  void step(const bl_pred_step &s) {
    switch (s.op) {
    case BL_P_COLUMN: return push(column(s));
    case BL_P_LITERAL: return push(literal(s));
    case BL_P_AND: return binary("and_kleene");
    case BL_P_OR: return binary("or_kleene");
    case BL_P_NOT: return unary("invert");
    case BL_P_EQ: return compare("equal");
    case BL_P_NE: return compare("not_equal");
    case BL_P_LT: return compare("less");
    case BL_P_LE: return compare("less_equal");
    case BL_P_GT: return compare("greater");
    case BL_P_GE: return compare("greater_equal");
    case BL_P_IS_NULL: return unary("is_null");
    case BL_P_IS_NAN: return unary("is_nan");
    case BL_P_IN: return in(s);
    case BL_P_STARTS_WITH: {
      ac::MatchSubstringOptions options(std::string(s.prefix, s.n_prefix));
      return push(ok(ac::CallFunction("starts_with", {pop()}, &options)));
    }
    case BL_P_TRUE: return push(Datum(true));
    case BL_P_FALSE: return push(Datum(false));
    case BL_P_NULL: return push(Datum(arrow::MakeNullScalar(arrow::boolean())));
    }
    throw Fail(BL_USAGE, "unknown step in a predicate");
  }

  void finish(uint8_t *keep) {
    Datum d = pop();
    if (!stack_.empty() || d.type()->id() != arrow::Type::BOOL)
      throw Fail(BL_USAGE, "a predicate must leave one truth value");
    auto n = static_cast<size_t>(batch_->num_rows());
    if (d.is_scalar()) {
      const auto &s = d.scalar_as<arrow::BooleanScalar>();
      std::memset(keep, s.is_valid && s.value, n);
      return;
    }
    arrow::BooleanArray a(d.array());
    for (size_t i = 0; i < n; i++) {
      auto row = static_cast<int64_t>(i);
      keep[i] = a.Value(row) && a.IsValid(row);
    }
  }

private:
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::vector<Datum> stack_;

  void push(Datum d) { stack_.push_back(std::move(d)); }

  Datum pop() {
    if (stack_.empty()) throw Fail(BL_USAGE, "a predicate takes more than there is");
    Datum d = std::move(stack_.back());
    stack_.pop_back();
    return d;
  }

  void unary(const char *function) { push(ok(ac::CallFunction(function, {pop()}))); }

  void binary(const char *function) {
    Datum right = pop(), left = pop();
    push(ok(ac::CallFunction(function, {left, right})));
  }

  /* A null of no type compares to nothing. */
  void compare(const char *function) {
    Datum right = pop(), left = pop();
    bool nothing = left.type()->id() == arrow::Type::NA || right.type()->id() == arrow::Type::NA;
    push(nothing ? Datum(arrow::MakeNullScalar(arrow::boolean())) : ok(ac::CallFunction(function, {left, right})));
  }

  /* A child is null where its parent is. */
  Datum column(const bl_pred_step &s) {
    if (s.n_path == 0) throw Fail(BL_USAGE, "a predicate names no column");
    std::shared_ptr<arrow::Array> a;
    for (size_t i = 0; i < s.n_path; i++) {
      int32_t child = s.path[i];
      int fields = a ? a->type()->num_fields() : batch_->num_columns();
      if (child < 0 || child >= fields || (a && a->type_id() != arrow::Type::STRUCT))
        throw Fail(BL_USAGE, "a predicate names a column that is not there");
      a = a ? ok(static_cast<const arrow::StructArray &>(*a).GetFlattenedField(child)) : batch_->column(child);
    }
    return a;
  }

  static std::shared_ptr<arrow::Array> literals(const bl_pred_step &s) {
    if (!s.literal_type || !s.literal) throw Fail(BL_USAGE, "a predicate has a literal without value");
    return borrow_array(s.literal, borrow_type(s.literal_type));
  }

  static Datum literal(const bl_pred_step &s) {
    if (!s.literal_type) return Datum(arrow::MakeNullScalar(arrow::null()));
    auto a = literals(s);
    if (a->length() < 1) throw Fail(BL_USAGE, "a predicate has a literal without value");
    return ok(a->GetScalar(0));
  }

  void in(const bl_pred_step &s) {
    Datum value = pop();
    auto set = literals(s);
    if (value.type()->id() == arrow::Type::FLOAT || value.type()->id() == arrow::Type::DOUBLE)
      return in_reals(value, *set);
    if (!set->type()->Equals(*value.type())) set = ok(cast_array(*set, value.type()));
    ac::SetLookupOptions options(set, ac::SetLookupOptions::INCONCLUSIVE);
    push(ok(ac::CallFunction("is_in", {value}, &options)));
  }

  /* Lookup is by bits, equality is not: 0.0 and -0.0, NaN. */
  void in_reals(const Datum &value, const arrow::Array &set) {
    Datum valid = ok(ac::CallFunction("is_valid", {value}));
    Datum any = ok(ac::CallFunction("if_else", {valid, Datum(false), Datum(arrow::MakeNullScalar(arrow::boolean()))}));
    for (int64_t i = 0; i < set.length(); i++)
      any = ok(ac::CallFunction("or_kleene", {any, ok(ac::CallFunction("equal", {value, ok(set.GetScalar(i))}))}));
    push(any);
  }
};

void predicate(const ArrowArray *batch, const ArrowSchema *schema, const bl_pred_step *steps, size_t n, uint8_t *keep) {
  Predicate p(borrow_batch(batch, storage_schema(borrow_schema(schema))));
  for (size_t i = 0; i < n; i++) p.step(steps[i]);
  p.finish(keep);
}

/* What calls kernels: they are registered once, before the first call. */
template <typename F> bl_status run(bl_error *err, const char *what, F &&body) {
  bl_status st = bl_arrow_init(err);
  return st == BL_OK ? guard(err, what, BL_USAGE, std::forward<F>(body)) : st;
}

} // namespace
} // namespace bl

extern "C" {

bl_status bl_arrow_filter(struct ArrowArray *in, const struct ArrowSchema *schema, const uint8_t *keep,
                          struct ArrowArray *out, bl_error *err) {
  out->release = nullptr;
  return bl::run(err, "filter", [&] { bl::filter(in, schema, keep, out); });
}

bl_status bl_arrow_take(struct ArrowArray *in, const struct ArrowSchema *schema, const int64_t *rows, int64_t n,
                        struct ArrowArray *out, bl_error *err) {
  out->release = nullptr;
  return bl::guard(err, "take", BL_USAGE, [&] { bl::take(in, schema, rows, n, out); });
}

bl_status bl_arrow_gather(const struct ArrowArray *in, size_t n_in, const struct ArrowSchema *schema,
                          const int64_t *rows, int64_t n, struct ArrowArray *out, bl_error *err) {
  out->release = nullptr;
  return bl::guard(err, "take", BL_USAGE, [&] {
    bl::give(bl::gather(in, n_in, bl::storage_schema(bl::borrow_schema(schema)), rows, n), out);
  });
}

bl_status bl_arrow_concat(struct ArrowArray *in, size_t n, const struct ArrowSchema *schema, struct ArrowArray *out,
                          bl_error *err) {
  out->release = nullptr;
  return bl::guard(err, "concat", BL_USAGE, [&] { bl::concat(in, n, schema, out); });
}

bl_status bl_arrow_cast(struct ArrowArray *in, const struct ArrowSchema *in_type, const struct ArrowSchema *out_type,
                        struct ArrowArray *out, bl_error *err) {
  out->release = nullptr;
  return bl::run(err, "cast", [&] { bl::cast(in, in_type, out_type, out); });
}

bl_status bl_arrow_predicate(const struct ArrowArray *batch, const struct ArrowSchema *schema,
                             const bl_pred_step *steps, size_t n, uint8_t *keep, bl_error *err) {
  return bl::run(err, "filter expression", [&] { bl::predicate(batch, schema, steps, n, keep); });
}

} // extern "C"
