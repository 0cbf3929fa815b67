/* ipc.cc: the Arrow IPC formats. Writing and reading: stream or file, whose bytes nobody vouches for:
 * every batch is validated in full, and brought into the canonical layouts of bergline/sys/data.h. */
#include <cstring>

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/ipc/api.h>

#include "bridge.h"
#include "casts.h"
#include "guard.h"
#include "stream.h"
#include "writer.h"

namespace bl {
namespace {

class IpcWriter final : public bl_arrow_writer {
public:
  IpcWriter(const bl_sink &sink, const ArrowSchema *schema, bool file)
      : schema_(borrow_schema(schema)), out_(std::make_shared<SinkStream>(sink)) {
    auto options = arrow::ipc::IpcWriteOptions::Defaults();
    options.use_threads = false;
    writer_ = ok(file ? arrow::ipc::MakeFileWriter(out_, schema_, options)
                      : arrow::ipc::MakeStreamWriter(out_, schema_, options));
  }
  int64_t bytes(int64_t) override { return ok(out_->Tell()); }
  void write(ArrowArray *batch) override {
    Owned owned(batch);
    ok(writer_->WriteRecordBatch(*owned.take(schema_)));
  }
  void finish() override {
    ok(writer_->Close());
    ok(out_->Close());
  }

private:
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<SinkStream> out_;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
};

/* ---- reading ---- */

std::shared_ptr<arrow::DataType> canonical(const std::shared_ptr<arrow::DataType> &t);

std::shared_ptr<arrow::Field> canonical_field(const std::shared_ptr<arrow::Field> &f) {
  return f->WithType(canonical(f->type()));
}

std::shared_ptr<arrow::DataType> canonical_nested(const std::shared_ptr<arrow::DataType> &t) {
  if (t->id() == arrow::Type::MAP) return std::make_shared<arrow::MapType>(canonical_field(t->field(0)));
  if (t->id() != arrow::Type::STRUCT) return arrow::list(canonical_field(t->field(0)));
  arrow::FieldVector fields;
  for (const auto &f : t->fields()) fields.push_back(canonical_field(f));
  return arrow::struct_(fields);
}

std::shared_ptr<arrow::DataType> canonical_timestamp(const arrow::TimestampType &t) {
  auto unit = t.unit() == arrow::TimeUnit::NANO ? arrow::TimeUnit::NANO : arrow::TimeUnit::MICRO;
  return arrow::timestamp(unit, t.timezone().empty() ? "" : "UTC");
}

std::shared_ptr<arrow::DataType> canonical(const std::shared_ptr<arrow::DataType> &t) {
  using arrow::Type;
  switch (t->id()) {
  case Type::EXTENSION: return canonical(static_cast<const arrow::ExtensionType &>(*t).storage_type());
  case Type::DICTIONARY: return canonical(static_cast<const arrow::DictionaryType &>(*t).value_type());
  case Type::RUN_END_ENCODED: return canonical(static_cast<const arrow::RunEndEncodedType &>(*t).value_type());
  case Type::INT8:
  case Type::INT16:
  case Type::UINT8:
  case Type::UINT16: return arrow::int32();
  case Type::UINT32: return arrow::int64();
  case Type::UINT64: return arrow::decimal128(20, 0);
  case Type::HALF_FLOAT: return arrow::float32();
  case Type::DECIMAL32:
  case Type::DECIMAL64: {
    const auto &d = static_cast<const arrow::DecimalType &>(*t);
    return arrow::decimal128(d.precision(), d.scale());
  }
  case Type::DATE64: return arrow::date32();
  case Type::TIME32: return arrow::time64(arrow::TimeUnit::MICRO);
  case Type::TIME64: return arrow::time64(arrow::TimeUnit::MICRO);
  case Type::TIMESTAMP: return canonical_timestamp(static_cast<const arrow::TimestampType &>(*t));
  case Type::LARGE_STRING:
  case Type::STRING_VIEW: return arrow::utf8();
  case Type::LARGE_BINARY:
  case Type::BINARY_VIEW: return arrow::binary();
  case Type::STRUCT:
  case Type::LIST:
  case Type::LARGE_LIST:
  case Type::LIST_VIEW:
  case Type::LARGE_LIST_VIEW:
  case Type::FIXED_SIZE_LIST:
  case Type::MAP: return canonical_nested(t);
  default: return t;
  }
}

/* ---- what bytes of others may hold ---- */

bool is_ascii(const uint8_t *p, size_t n) {
  uint64_t any = 0, word;
  for (; n >= sizeof word; p += sizeof word, n -= sizeof word) {
    std::memcpy(&word, p, sizeof word);
    any |= word;
  }
  while (n--) any |= *p++;
  return (any & UINT64_C(0x8080808080808080)) == 0;
}

/* Do all numbers of 128 bits lie between -limit and limit, both excluded? */
bool are_below(const uint8_t *p, int64_t n, int64_t limit) {
  uint64_t beyond = 0;
  for (int64_t i = 0; i < n; i++, p += 16) {
    int64_t low, high;
    std::memcpy(&low, p, sizeof low);
    std::memcpy(&high, p + 8, sizeof high);
    beyond |= static_cast<uint64_t>(high ^ (low >> 63)) | (low >= limit) | (low <= -limit);
  }
  return beyond == 0;
}

bool is_sound_as(const arrow::Array &a, const std::shared_ptr<arrow::DataType> &type) {
  auto data = a.data()->Copy();
  data->type = type;
  return arrow::MakeArray(data)->ValidateFull().ok();
}

/* As ValidateFull says, but without a look at each value of those types that most columns have; false may only mean
 * that this was not enough. */
bool is_sound(const arrow::Array &a) {
  if (a.type_id() == arrow::Type::STRING) {
    if (!is_sound_as(a, arrow::binary())) return false;
    const auto &s = static_cast<const arrow::StringArray &>(a);
    return s.total_values_length() == 0 ||
           is_ascii(s.raw_data() + s.value_offset(0), static_cast<size_t>(s.total_values_length()));
  }
  if (a.type_id() == arrow::Type::DECIMAL128) {
    int32_t precision = static_cast<const arrow::DecimalType &>(*a.type()).precision();
    int64_t limit = 1;
    if (precision > 18 || !is_sound_as(a, arrow::fixed_size_binary(16))) return false;
    for (int32_t i = 0; i < precision; i++) limit *= 10;
    return a.length() == 0 ||
           are_below(static_cast<const arrow::FixedSizeBinaryArray &>(a).raw_values(), a.length(), limit);
  }
  return a.ValidateFull().ok();
}

void check(const arrow::RecordBatch &batch) {
  ok(batch.Validate());
  for (const auto &column : batch.columns())
    if (!is_sound(*column)) return ok(batch.ValidateFull());
}

class IpcBatches final : public Batches {
public:
  explicit IpcBatches(bl_input *in) : file_(std::make_shared<InputFile>(in)) {
    char magic[6] = {0};
    if (in->size >= 6) file_->read(0, 6, magic);
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.use_threads = false;
    if (std::string_view(magic, 6) == "ARROW1") random_ = ok(arrow::ipc::RecordBatchFileReader::Open(file_, options));
    else stream_ = ok(arrow::ipc::RecordBatchStreamReader::Open(file_, options));
    auto schema = random_ ? random_->schema() : stream_->schema();
    arrow::FieldVector fields;
    for (const auto &f : schema->fields()) fields.push_back(canonical_field(f));
    schema_ = arrow::schema(fields, schema->metadata());
  }

  std::shared_ptr<arrow::Schema> schema() override { return schema_; }
  std::string where() override { return "Arrow IPC"; }
  bl_error hidden_error() override { return file_->first_error(); }

  std::shared_ptr<arrow::RecordBatch> next() override {
    auto batch = read();
    if (!batch) return nullptr;
    check(*batch);
    arrow::ArrayVector columns;
    for (int i = 0; i < batch->num_columns(); i++) columns.push_back(converted(batch->column(i), i));
    rows_ += batch->num_rows();
    return arrow::RecordBatch::Make(schema_, batch->num_rows(), std::move(columns));
  }

private:
  std::shared_ptr<InputFile> file_;
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> random_;
  std::shared_ptr<arrow::ipc::RecordBatchStreamReader> stream_;
  std::shared_ptr<arrow::Schema> schema_;
  int next_ = 0;
  int64_t rows_ = 0; /* of the batches before the one in hand */

  std::shared_ptr<arrow::RecordBatch> read() {
    if (!random_) return ok(stream_->Next());
    if (next_ >= random_->num_record_batches()) return nullptr;
    return ok(random_->ReadRecordBatch(next_++));
  }

  std::shared_ptr<arrow::Array> converted(std::shared_ptr<arrow::Array> a, int i) {
    const auto &to = schema_->field(i)->type();
    if (a->type()->Equals(*to)) return a;
    a = plain_layout(a);
    if (a->type()->Equals(*to)) return a;
    auto result = cast_array(*a, to);
    if (!result.ok()) refuse(*a, i, result.status());
    return *result;
  }

  [[noreturn]] void refuse(const arrow::Array &a, int i, const arrow::Status &why) {
    std::string column = "column " + schema_->field(i)->name() + ": ";
    if (why.IsNotImplemented() || why.IsTypeError()) throw Fail(BL_UNSUPPORTED, column + why.message());
    int64_t row = rows_ + first_misfit(a, schema_->field(i)->type()) + 1;
    if (why.IsInvalid()) throw Fail(BL_USAGE, "row " + std::to_string(row) + ": " + column + why.message());
    throw Fail(error_of(why, BL_DAMAGED));
  }
};

} // namespace
} // namespace bl

extern "C" {

bl_status bl_arrow_ipc_writer(bl_ctx *, const bl_sink *sink, const struct ArrowSchema *schema, bl_arrow_writer **out,
                              bl_error *err) {
  *out = nullptr;
  return bl::guard(err, "Arrow IPC", BL_USAGE, [&] { *out = new bl::IpcWriter(*sink, schema, false); });
}

bl_status bl_arrow_ipc_file_writer(bl_ctx *, const bl_sink *sink, const struct ArrowSchema *schema,
                                   bl_arrow_writer **out, bl_error *err) {
  *out = nullptr;
  return bl::guard(err, "Arrow IPC", BL_USAGE, [&] { *out = new bl::IpcWriter(*sink, schema, true); });
}

bl_status bl_arrow_writer_write(bl_arrow_writer *w, struct ArrowArray *batch, bl_error *err) {
  return bl::guard(err, w->name(), BL_USAGE, [&] { w->write(batch); });
}

bl_status bl_arrow_writer_finish(bl_arrow_writer *w, bl_error *err) {
  bl_status st = bl::guard(err, w->name(), BL_USAGE, [&] { w->finish(); });
  bl_arrow_writer_abort(w);
  return st;
}

void bl_arrow_writer_abort(bl_arrow_writer *w) {
  delete w;
}

bl_status bl_arrow_ipc_reader(bl_ctx *, bl_input *in, struct ArrowArrayStream *out, bl_error *err) {
  out->release = nullptr;
  return bl::guard(err, "Arrow IPC", BL_DAMAGED,
                   [&] { bl::export_batches(std::make_unique<bl::IpcBatches>(in), BL_DAMAGED, out); });
}

} // extern "C"
