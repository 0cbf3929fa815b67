/* orc.cc: ORC files through Arrow's adapter (spec, appendix A, ORC).
 *
 * 1. A stripe is a row group. Each stream opens the file anew: the library's reader is not for several threads.
 * 2. The column tree comes from the types and their attributes ("iceberg.id", …). "iceberg.required" is believed for
 * the fields of structs only: writers give it to elements of lists that do hold nulls. Nulls are always kept.
 * 3. Only whole top-level columns can be chosen in the library; what was not asked for inside them is dropped here.
 * 4. Times are nanoseconds in the library: one outside of the years 1677 to 2262 is BL_UNSUPPORTED. */
#include "arrow_edge.h"
#include "guard.h"
#include "pool.h"

#if __has_include(<arrow/adapters/orc/adapter.h>)

#include <algorithm>
#include <string_view>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/util/key_value_metadata.h>

#include "input.h"
#include "stream.h"
#include "tree.h"

namespace bl {
namespace {

namespace orc = arrow::adapters::orc;
using arrow::ArrayData;

struct OrcFile {
  std::string path;
  bl_input *in = nullptr;
  Tree tree;
  std::vector<bl_data_group> groups;
  bl_data_meta meta{};
  std::string created_by, schema_text;
};

std::unique_ptr<orc::ORCFileReader> open_orc(const std::shared_ptr<InputFile> &input) {
  return ok(orc::ORCFileReader::Open(input, pool()));
}

/* ---- the tree ---- */

class Builder {
public:
  explicit Builder(Tree *tree) : tree_(tree) {}

  void run(const arrow::Schema &schema) {
    int32_t root = tree_->add(-1, "root", -1, true, BL_D_STRUCT);
    for (const auto &f : schema.fields()) field(root, *f, f->name(), attribute(*f, "iceberg.required") == "true", 1);
  }

private:
  Tree *tree_;
  int32_t leaves_ = 0;

  static std::string attribute(const arrow::Field &f, const char *key) {
    int i = f.metadata() ? f.metadata()->FindKey(key) : -1;
    return i < 0 ? std::string() : f.metadata()->value(i);
  }

  static int32_t number(const std::string &text, int32_t otherwise) {
    int32_t v = 0;
    if (text.empty() || text.size() > 10) return otherwise;
    for (char c : text) {
      if (c < '0' || c > '9' || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, c - '0', &v))
        return otherwise;
    }
    return v;
  }

  void field(int32_t parent, const arrow::Field &f, const std::string &name, bool required, int depth) {
    if (depth > 200) unsupported("the schema is nested more than 200 levels deep");
    int32_t i = tree_->add(parent, name, number(attribute(f, "iceberg.id"), -1), required, BL_D_OTHER);
    switch (f.type()->id()) {
    case arrow::Type::STRUCT:
      tree_->at(i).kind = BL_D_STRUCT;
      if (attribute(f, "iceberg.struct-type") == "VARIANT") tree_->at(i).hint = BL_H_VARIANT;
      for (const auto &kid : f.type()->fields())
        field(i, *kid, kid->name(), attribute(*kid, "iceberg.required") == "true", depth + 1);
      return;
    case arrow::Type::LIST:
      tree_->at(i).kind = BL_D_LIST;
      return field(i, *f.type()->field(0), "element", false, depth + 1);
    case arrow::Type::MAP: {
      const auto &m = static_cast<const arrow::MapType &>(*f.type());
      tree_->at(i).kind = BL_D_MAP;
      field(i, *m.key_field(), "key", true, depth + 1);
      return field(i, *m.item_field(), "value", false, depth + 1);
    }
    default: tree_->set_leaf(i, leaves_++); return leaf(i, f);
    }
  }

  void leaf(int32_t i, const arrow::Field &f) {
    bl_data_node &n = tree_->at(i);
    switch (f.type()->id()) {
    case arrow::Type::BOOL: n.kind = BL_D_BOOL; return;
    case arrow::Type::INT8:
    case arrow::Type::INT16:
    case arrow::Type::INT32: n.kind = BL_D_INT32; return;
    case arrow::Type::INT64: n.kind = attribute(f, "iceberg.long-type") == "TIME" ? BL_D_TIME_US : BL_D_INT64; return;
    case arrow::Type::FLOAT: n.kind = BL_D_FLOAT; return;
    case arrow::Type::DOUBLE: n.kind = BL_D_DOUBLE; return;
    case arrow::Type::DATE32: n.kind = BL_D_DATE32; return;
    case arrow::Type::STRING: n.kind = BL_D_STRING; return;
    case arrow::Type::BINARY: return binary(i, f);
    case arrow::Type::TIMESTAMP:
      n.kind = attribute(f, "iceberg.timestamp-unit") == "NANOS" ? BL_D_TIMESTAMP_NS : BL_D_TIMESTAMP_US;
      n.utc = !static_cast<const arrow::TimestampType &>(*f.type()).timezone().empty();
      return;
    case arrow::Type::DECIMAL128: {
      const auto &d = static_cast<const arrow::DecimalType &>(*f.type());
      n.kind = BL_D_DECIMAL;
      n.precision = d.precision();
      n.scale = d.scale();
      return;
    }
    default: tree_->set_other(i, f.type()->ToString());
    }
  }

  void binary(int32_t i, const arrow::Field &f) {
    bl_data_node &n = tree_->at(i);
    std::string what = attribute(f, "iceberg.binary-type");
    n.kind = BL_D_BINARY;
    if (what == "GEOMETRY") n.hint = BL_H_GEOMETRY;
    if (what == "GEOGRAPHY") n.hint = BL_H_GEOGRAPHY;
    if (what == "UUID") n.hint = BL_H_UUID;
    n.length = what == "UUID" ? 16 : what == "FIXED" ? number(attribute(f, "iceberg.length"), 0) : 0;
    if (n.length > 0) n.kind = BL_D_FIXED;
  }
};

/* ---- values ---- */

class Canonical {
public:
  Canonical(const Tree &tree, const Choice &choice) : tree_(tree), choice_(choice) {}

  std::shared_ptr<ArrayData> node(int32_t i, const std::shared_ptr<arrow::Array> &a) const {
    switch (tree_.at(i).kind) {
    case BL_D_STRUCT: return structure(i, static_cast<const arrow::StructArray &>(*a));
    case BL_D_LIST: {
      const auto &l = static_cast<const arrow::ListArray &>(*a);
      return list(i, l, node(tree_.kids(i)[0], l.values()));
    }
    case BL_D_MAP: return map(i, static_cast<const arrow::MapArray &>(*a));
    case BL_D_FIXED: return fixed(i, static_cast<const arrow::BinaryArray &>(*a));
    case BL_D_TIMESTAMP_US: return micros(i, *a);
    case BL_D_INT32:
      return a->type_id() == arrow::Type::INT32 ? a->data() : ok(arrow::compute::Cast(*a, arrow::int32()))->data();
    default: {
      auto data = a->data()->Copy();
      data->type = leaf_type(tree_.at(i));
      return data;
    }
    }
  }

  /* A required field carries no validity: its nulls may only be those of the struct around it. */
  std::shared_ptr<ArrayData> required(int32_t i, const std::shared_ptr<ArrayData> &data,
                                      const arrow::Array *parent) const {
    if (!tree_.at(i).required || data->GetNullCount() == 0) return data;
    auto a = arrow::MakeArray(data);
    for (int64_t k = 0; k < a->length(); k++)
      if (a->IsNull(k) && (!parent || parent->IsValid(k)))
        damaged("column " + tree_.path(i) + " is required but holds a null");
    auto out = data->Copy();
    out->buffers[0] = nullptr;
    out->null_count = 0;
    return out;
  }

private:
  const Tree &tree_;
  const Choice &choice_;

  std::shared_ptr<ArrayData> structure(int32_t i, const arrow::StructArray &a) const {
    std::vector<std::shared_ptr<ArrayData>> kids;
    for (size_t k = 0; k < tree_.kids(i).size(); k++) {
      int32_t kid = tree_.kids(i)[k];
      if (choice_.has(kid)) kids.push_back(required(kid, node(kid, a.field(static_cast<int>(k))), &a));
    }
    return ArrayData::Make(type_of(i), a.length(), {a.null_bitmap()}, std::move(kids), a.null_count());
  }

  std::shared_ptr<ArrayData> list(int32_t i, const arrow::ListArray &a, std::shared_ptr<ArrayData> items) const {
    return ArrayData::Make(type_of(i), a.length(), {a.null_bitmap(), a.value_offsets()}, {std::move(items)},
                           a.null_count());
  }

  std::shared_ptr<ArrayData> map(int32_t i, const arrow::MapArray &a) const {
    auto key = node(tree_.kids(i)[0], a.keys()), value = node(tree_.kids(i)[1], a.items());
    if (key->GetNullCount() > 0) damaged("column " + tree_.path(i) + ": a key of the map is null");
    const auto type = type_of(i);
    auto entries = ArrayData::Make(static_cast<const arrow::MapType &>(*type).value_type(), key->length, {nullptr},
                                   {key, value}, 0);
    return ArrayData::Make(type, a.length(), {a.null_bitmap(), a.value_offsets()}, {entries}, a.null_count());
  }

  std::shared_ptr<arrow::DataType> type_of(int32_t i) const { return field_of(tree_, choice_, i)->type(); }

  /* Nanoseconds are cut, as writers must have done. */
  std::shared_ptr<ArrayData> micros(int32_t i, const arrow::Array &a) const {
    std::shared_ptr<arrow::Buffer> out = ok(arrow::AllocateBuffer(a.length() * 8, pool()));
    const auto &in = static_cast<const arrow::TimestampArray &>(a);
    auto *to = reinterpret_cast<int64_t *>(out->mutable_data());
    for (int64_t k = 0; k < a.length(); k++) {
      int64_t v = in.IsNull(k) ? 0 : in.Value(k);
      to[k] = v / 1000 - (v % 1000 < 0);
    }
    return ArrayData::Make(leaf_type(tree_.at(i)), a.length(), {a.null_bitmap(), out}, a.null_count());
  }

  /* The library does not check lengths. */
  std::shared_ptr<ArrayData> fixed(int32_t i, const arrow::BinaryArray &a) const {
    const bl_data_node &n = tree_.at(i);
    std::shared_ptr<arrow::Buffer> out = ok(arrow::AllocateBuffer(a.length() * n.length, pool()));
    uint8_t *to = out->mutable_data();
    for (int64_t k = 0; k < a.length(); k++, to += n.length) {
      std::string_view v = a.IsNull(k) ? std::string_view() : a.GetView(k);
      if (!a.IsNull(k) && v.size() != static_cast<size_t>(n.length))
        damaged("column " + tree_.path(i) + ": a value of " + std::to_string(v.size()) + " bytes where " +
                std::to_string(n.length) + " belong");
      std::fill(std::copy(v.begin(), v.end(), to), to + n.length, uint8_t{0});
    }
    return ArrayData::Make(leaf_type(n), a.length(), {a.null_bitmap(), out}, a.null_count());
  }
};

/* ---- batches of a stripe ---- */

class StripeBatches final : public Batches {
public:
  StripeBatches(std::shared_ptr<OrcFile> file, size_t group, Choice choice, std::vector<bl_row_range> ranges,
                int64_t batch_rows)
      : file_(std::move(file)), group_(group), choice_(std::move(choice)), ranges_(std::move(ranges)),
        batch_rows_(batch_rows), input_(std::make_shared<InputFile>(file_->in)) {
    schema_ = schema_of(file_->tree, choice_);
    for (size_t k = 0; k < file_->tree.kids(0).size(); k++)
      if (choice_.has(file_->tree.kids(0)[k])) columns_.push_back(static_cast<int>(k));
  }

  std::shared_ptr<arrow::Schema> schema() override { return schema_; }
  std::string where() override { return file_->path; }
  bl_error hidden_error() override { return input_->first_error(); }

  std::shared_ptr<arrow::RecordBatch> next() override {
    while (range_ < ranges_.size()) {
      if (columns_.empty()) return empty();
      auto batch = read();
      if (batch) return batch;
    }
    return nullptr;
  }

private:
  std::shared_ptr<OrcFile> file_;
  size_t group_;
  Choice choice_;
  std::vector<bl_row_range> ranges_;
  int64_t batch_rows_;
  std::shared_ptr<InputFile> input_;
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<int> columns_; /* top-level, as the library counts them */
  std::unique_ptr<orc::ORCFileReader> reader_;
  std::shared_ptr<arrow::RecordBatchReader> rows_;
  int64_t at_ = 0;   /* next row that the library gives, in the stripe */
  size_t range_ = 0; /* first range that is not done */

  /* No column: only lengths. */
  std::shared_ptr<arrow::RecordBatch> empty() {
    bl_row_range &r = ranges_[range_];
    int64_t n = std::min(r.end - r.begin, batch_rows_);
    r.begin += n;
    if (r.begin == r.end) range_++;
    return arrow::RecordBatch::Make(schema_, n, arrow::ArrayVector());
  }

  /* Only to the beginning of the stripe: seeking inside fails in some columns of the library. */
  void begin() {
    reader_ = open_orc(input_);
    ok(reader_->Seek(file_->groups[group_].first_row));
    rows_ = ok(reader_->NextStripeReader(batch_rows_, columns_));
    if (!rows_) damaged("stripe " + std::to_string(group_) + " is not there");
  }

  /* The next batch of the library, cut down to the rows asked for; NULL: none of them was in it. */
  std::shared_ptr<arrow::RecordBatch> read() {
    if (!rows_) begin();
    auto batch = ok(rows_->Next());
    if (!batch || batch->num_rows() == 0)
      damaged("stripe " + std::to_string(group_) + " ends at row " + std::to_string(at_));
    arrow::ArrayVector columns;
    Canonical canonical(file_->tree, choice_);
    for (size_t k = 0; k < columns_.size(); k++) {
      int32_t node = file_->tree.kids(0)[static_cast<size_t>(columns_[k])];
      auto data = canonical.node(node, batch->column(static_cast<int>(k)));
      columns.push_back(arrow::MakeArray(canonical.required(node, data, nullptr)));
    }
    int64_t begin = at_, n = batch->num_rows();
    at_ += n;
    return pick(arrow::RecordBatch::Make(schema_, n, std::move(columns)), begin);
  }

  std::shared_ptr<arrow::RecordBatch> pick(const std::shared_ptr<arrow::RecordBatch> &batch, int64_t begin) {
    int64_t end = begin + batch->num_rows();
    arrow::BooleanBuilder keep;
    int64_t at = begin;
    while (range_ < ranges_.size() && ranges_[range_].begin < end) {
      int64_t from = std::max(ranges_[range_].begin, begin), to = std::min(ranges_[range_].end, end);
      for (; at < from; at++) ok(keep.Append(false));
      for (; at < to; at++) ok(keep.Append(true));
      if (ranges_[range_].end > end) {
        ranges_[range_].begin = end;
        break;
      }
      range_++;
    }
    if (at == begin) return nullptr;
    for (; at < end; at++) ok(keep.Append(false));
    std::shared_ptr<arrow::Array> mask = ok(keep.Finish());
    if (static_cast<const arrow::BooleanArray &>(*mask).true_count() == batch->num_rows()) return batch;
    auto out = ok(arrow::compute::Filter(batch, mask)).record_batch();
    return out->num_rows() ? out : nullptr;
  }
};

/* ---- the C interface ---- */

struct Reader : bl_data_reader {
  std::shared_ptr<OrcFile> file;
};

OrcFile &file_of(bl_data_reader *r) {
  return *static_cast<Reader *>(r)->file;
}

bl_status read(bl_data_reader *r, size_t group, const int32_t *leaves, size_t n_leaves, const bl_row_range *ranges,
               size_t n_ranges, int64_t batch_rows, struct ArrowArrayStream *out, bl_error *err) {
  return guard(err, file_of(r).path.c_str(), BL_DAMAGED, [&] {
    const auto &file = static_cast<Reader *>(r)->file;
    if (group >= file->groups.size()) throw Fail(BL_USAGE, "there is no stripe " + std::to_string(group));
    auto wanted = checked_ranges(ranges, n_ranges, file->groups[group].rows);
    export_batches(std::make_unique<StripeBatches>(file, group, choose(file->tree, leaves, n_leaves), std::move(wanted),
                                                   batch_rows > 0 ? batch_rows : 64 << 10),
                   BL_DAMAGED, out);
  });
}

/* The library does not hand out statistics: only what the footer says of the stripe. */
bool stats(bl_data_reader *r, size_t group, int32_t leaf, bl_data_stats *out) {
  const OrcFile &f = file_of(r);
  if (group >= f.groups.size() || leaf < 0 || static_cast<size_t>(leaf) >= f.tree.leaf_node.size()) return false;
  *out = bl_data_stats{};
  int32_t node = f.tree.leaf_node[static_cast<size_t>(leaf)];
  out->values = f.tree.at(node).parent == 0 ? f.groups[group].rows : -1;
  out->nulls = out->compressed_bytes = out->uncompressed_bytes = -1;
  return true;
}

void free_reader(bl_data_reader *r) {
  delete static_cast<Reader *>(r);
}

/* ---- the file's tail, as the library gives it: a protobuf message ---- */

uint64_t take_varint(std::string_view *bytes) {
  uint64_t v = 0;
  for (unsigned shift = 0; !bytes->empty() && shift < 64; shift += 7) {
    auto b = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    v |= static_cast<uint64_t>(b & 127) << shift;
    if (b < 128) return v;
  }
  damaged("its tail cannot be read");
  return 0;
}

/* visit(number of the field, its number, its bytes): one of the two is there. */
template <class Visit> void each_field(std::string_view message, Visit &&visit) {
  enum { VARINT = 0, EIGHT_BYTES = 1, FOUR_BYTES = 5 };
  while (!message.empty()) {
    uint64_t key = take_varint(&message), kind = key & 7;
    uint64_t n = kind == EIGHT_BYTES ? 8 : kind == FOUR_BYTES ? 4 : take_varint(&message);
    if (kind == VARINT) {
      visit(key >> 3, n, std::string_view());
      continue;
    }
    if (n > message.size()) damaged("its tail cannot be read");
    visit(key >> 3, uint64_t{0}, message.substr(0, n));
    message.remove_prefix(n);
  }
}

void check_type(std::string_view type) {
  enum { KIND = 1, PRECISION = 5, DECIMAL = 14, MOST_DIGITS = 38 };
  uint64_t kind = 0, precision = 0;
  each_field(type, [&](uint64_t field, uint64_t n, std::string_view) {
    if (field == KIND) kind = n;
    if (field == PRECISION) precision = n;
  });
  if (kind == DECIMAL && precision > MOST_DIGITS) damaged("a decimal of " + std::to_string(precision) + " digits");
}

/* Arrow ends the process where a decimal has more digits than its own. */
void check_types(std::string_view tail) {
  enum { FOOTER = 2, TYPES = 4 };
  each_field(tail, [](uint64_t field, uint64_t, std::string_view footer) {
    if (field != FOOTER) return;
    each_field(footer, [](uint64_t inner, uint64_t, std::string_view type) {
      if (inner == TYPES) check_type(type);
    });
  });
}

void load(OrcFile &f, orc::ORCFileReader &reader) {
  check_types(reader.GetSerializedFileTail());
  auto schema = ok(reader.ReadSchema());
  Builder(&f.tree).run(*schema);
  int64_t rows = 0;
  for (int64_t i = 0; i < reader.NumberOfStripes(); i++) {
    auto s = reader.GetStripeInformation(i);
    if (s.num_rows < 0) damaged("stripe " + std::to_string(i) + " has a negative number of rows");
    f.groups.push_back({rows, s.num_rows, s.length, s.offset});
    if (__builtin_add_overflow(rows, s.num_rows, &rows)) damaged("too many rows to be counted");
  }
  if (rows != reader.NumberOfRows())
    damaged("the stripes have " + std::to_string(rows) + " rows, the file claims " +
            std::to_string(reader.NumberOfRows()));
  f.created_by = "ORC " + reader.GetSoftwareVersion();
  int at = schema->metadata() ? schema->metadata()->FindKey("iceberg.schema") : -1;
  if (at >= 0) f.schema_text = schema->metadata()->value(at);
  f.meta = {f.tree.nodes.data(),
            f.tree.nodes.size(),
            f.groups.data(),
            f.groups.size(),
            rows,
            f.tree.has_field_ids,
            f.created_by.c_str(),
            at >= 0 ? f.schema_text.c_str() : nullptr};
}

bl_status open(bl_ctx *, bl_input *in, const char *path, const bl_data_open_options *o, bl_data_reader **out,
               bl_error *err) {
  *out = nullptr;
  std::shared_ptr<InputFile> input;
  bl_error mine = BL_ERROR_INIT;
  bl_status st = guard(&mine, path, BL_DAMAGED, [&] {
    if (o && o->key) unsupported("ORC files cannot be read with a key");
    input = std::make_shared<InputFile>(in);
    auto r = std::make_unique<Reader>();
    r->file = std::make_shared<OrcFile>();
    r->file->path = path;
    r->file->in = in;
    if (in->size < 4) damaged("too short to be an ORC file: " + std::to_string(in->size) + " bytes");
    load(*r->file, *open_orc(input));
    r->meta = &r->file->meta;
    r->read = read;
    r->stats = stats;
    r->free = free_reader;
    *out = r.release();
  });
  if (st == BL_OK) return st;
  /* the library loses the input's own error */
  bl_error hidden = input ? input->first_error() : bl_error BL_ERROR_INIT;
  return report(err, hidden.status != BL_OK ? hidden : mine, nullptr);
}

} // namespace
} // namespace bl

#else

static bl_status bl_no_orc(bl_ctx *, bl_input *, const char *path, const bl_data_open_options *, bl_data_reader **out,
                           bl_error *err) {
  *out = nullptr;
  return bl_fail(err, BL_UNSUPPORTED, "ORC files: %s: this build of Arrow cannot read them", path);
}
namespace bl {
namespace {
constexpr auto open = bl_no_orc;
}
} // namespace bl

#endif

extern "C" const bl_data_format bl_format_orc = {BL_DATA_VERSION, "orc", bl::open};
