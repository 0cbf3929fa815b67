/* parquet_write.cc: a Parquet file with Iceberg's schema conventions (spec, appendix A, Parquet).
 *
 * 1. The Parquet schema is built here from the Arrow schema: names "list"/"element" and "key_value"/"key"/"value", a
 *    field id wherever the Arrow field has one, required where it is not nullable, logical types by kind and extension.
 * 2. A row group ends where its encoded bytes (or its rows) reach the target: a batch that would bring it well beyond
 *    is written in pieces, by what bytes before it became.
 * 3. A required field holds no null: one below a null struct is only a slot, a real one is refused.
 * 4. Columns are encoded beside each other, some batches ahead of what the caller waits for. What is asked about sizes
 *    is answered from the batches that were taken back, and that depends on their rows and bytes alone: so the same
 *    rows make the same file on any number of threads. What is not taken back counts by what bytes before it
 *    became; where these are less than half of all, it is waited for. What is in no page yet counts by what such bytes
 *    became when the row group before ended; in the first one they are as large as they are, for its end, and half as
 *    large, for that of the file.
 * 5. The sink is called on the caller's thread alone.
 * 6. A column whose dictionary grew too large in the first quarter of a row group has none in the next ones. */
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <arrow/array.h>
#include <arrow/config.h>
#include <arrow/extension_type.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/byte_size.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/writer.h>
#include <parquet/column_writer.h>
#include <parquet/encryption/encryption.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>

extern "C" {
#include "base/text.h"
#include "format/json.h"
#include "model/type.h"
}
#include "bridge.h"
#include "guard.h"
#include "lanes.h"
#include "pool.h"
#include "writer.h"

namespace bl {
namespace {

using parquet::LogicalType;
using parquet::Repetition;
using parquet::Type;
using parquet::schema::GroupNode;
using parquet::schema::NodePtr;
using parquet::schema::NodeVector;
using parquet::schema::PrimitiveNode;

constexpr int64_t kGroupBytes = 64 << 20;
constexpr int64_t kAheadSteps = 8, kAheadBytes = 32 << 20; /* that columns may be behind the caller */
constexpr int64_t kWorthThreads = 256 << 10;
constexpr int64_t kSteps = 32;            /* at most so many to the target of a row group */
constexpr int64_t kLeastGroup = 64 << 10; /* a batch is cut for none that is smaller */

/* ---- schema ---- */

struct Extension {
  std::string name, meta;
};

std::string meta_of(const arrow::Field &f, const char *key) {
  if (!f.metadata()) return {};
  int i = f.metadata()->FindKey(key);
  return i < 0 ? std::string() : f.metadata()->value(i);
}

Extension extension_of(const arrow::Field &f) {
  if (f.type()->id() != arrow::Type::EXTENSION)
    return {meta_of(f, "ARROW:extension:name"), meta_of(f, "ARROW:extension:metadata")};
  const auto &e = static_cast<const arrow::ExtensionType &>(*f.type());
  return {e.extension_name(), e.Serialize()};
}

int id_of(const arrow::Field &f) {
  std::string text = meta_of(f, "PARQUET:field_id");
  int64_t id = -1;
  if (!text.empty() && !bl_parse_i64(bl_str{text.data(), text.size()}, &id))
    throw Fail(BL_USAGE, "field " + f.name() + ": its field id is not a number: " + text);
  return static_cast<int>(id);
}

class SchemaBuilder {
public:
  explicit SchemaBuilder(bl_ctx *ctx) : ctx_(ctx) {}

  std::shared_ptr<GroupNode> root(const arrow::Schema &schema) {
    NodeVector fields;
    for (const auto &f : schema.fields()) fields.push_back(node(*f, f->name()));
    if (fields.empty()) unsupported("a Parquet file needs at least one column");
    return std::static_pointer_cast<GroupNode>(GroupNode::Make("table", Repetition::REQUIRED, fields));
  }

private:
  bl_ctx *ctx_;

  static Repetition::type repetition(const arrow::Field &f) {
    return f.nullable() ? Repetition::OPTIONAL : Repetition::REQUIRED;
  }

  NodePtr node(const arrow::Field &f, const std::string &name) {
    auto type = layout_of(f);
    switch (type->id()) {
    case arrow::Type::STRUCT: return structure(f, *type, name);
    case arrow::Type::LIST: return list(f, *type, name);
    case arrow::Type::MAP: return map(f, *type, name);
    default: return leaf(f, *type, name);
    }
  }

  /* Of this field alone: what is below it has extensions of its own. */
  static std::shared_ptr<arrow::DataType> layout_of(const arrow::Field &f) {
    if (f.type()->id() != arrow::Type::EXTENSION) return f.type();
    return static_cast<const arrow::ExtensionType &>(*f.type()).storage_type();
  }

  NodePtr structure(const arrow::Field &f, const arrow::DataType &type, const std::string &name) {
    NodeVector fields;
    for (const auto &kid : type.fields()) fields.push_back(node(*kid, kid->name()));
    if (fields.empty()) unsupported("field " + name + ": Parquet has no struct without fields");
    bool variant = extension_of(f).name == "arrow.parquet.variant";
    return GroupNode::Make(name, repetition(f), fields, variant ? LogicalType::Variant() : nullptr, id_of(f));
  }

  NodePtr list(const arrow::Field &f, const arrow::DataType &type, const std::string &name) {
    NodePtr repeated = GroupNode::Make("list", Repetition::REPEATED, {node(*type.field(0), "element")});
    return GroupNode::Make(name, repetition(f), {repeated}, LogicalType::List(), id_of(f));
  }

  NodePtr map(const arrow::Field &f, const arrow::DataType &type, const std::string &name) {
    const auto &m = static_cast<const arrow::MapType &>(type);
    auto key = m.key_field()->WithNullable(false);
    NodePtr entries =
        GroupNode::Make("key_value", Repetition::REPEATED, {node(*key, "key"), node(*m.item_field(), "value")});
    return GroupNode::Make(name, repetition(f), {entries}, LogicalType::Map(), id_of(f));
  }

  NodePtr leaf(const arrow::Field &f, const arrow::DataType &type, const std::string &name) {
    auto make = [&](Type::type physical, std::shared_ptr<const LogicalType> logical = LogicalType::None(),
                    int length = -1) {
      return PrimitiveNode::Make(name, repetition(f), std::move(logical), physical, length, id_of(f));
    };
    switch (type.id()) {
    case arrow::Type::NA: return make(Type::INT32, LogicalType::Null());
    case arrow::Type::BOOL: return make(Type::BOOLEAN);
    case arrow::Type::INT32: return make(Type::INT32);
    case arrow::Type::INT64: return make(Type::INT64);
    case arrow::Type::FLOAT: return make(Type::FLOAT);
    case arrow::Type::DOUBLE: return make(Type::DOUBLE);
    case arrow::Type::DATE32: return make(Type::INT32, LogicalType::Date());
    case arrow::Type::TIME64: return make(Type::INT64, LogicalType::Time(false, LogicalType::TimeUnit::MICROS));
    case arrow::Type::TIMESTAMP: {
      const auto &t = static_cast<const arrow::TimestampType &>(type);
      bool nanos = t.unit() == arrow::TimeUnit::NANO;
      if (!nanos && t.unit() != arrow::TimeUnit::MICRO) break;
      return make(Type::INT64, LogicalType::Timestamp(!t.timezone().empty(), nanos ? LogicalType::TimeUnit::NANOS
                                                                                   : LogicalType::TimeUnit::MICROS));
    }
    case arrow::Type::DECIMAL128: {
      const auto &d = static_cast<const arrow::DecimalType &>(type);
      auto logical = LogicalType::Decimal(d.precision(), d.scale());
      if (d.precision() <= 9) return make(Type::INT32, logical);
      if (d.precision() <= 18) return make(Type::INT64, logical);
      return make(Type::FIXED_LEN_BYTE_ARRAY, logical, arrow::DecimalType::DecimalSize(d.precision()));
    }
    case arrow::Type::STRING: return make(Type::BYTE_ARRAY, LogicalType::String());
    case arrow::Type::BINARY: return make(Type::BYTE_ARRAY, binary_type(f));
    case arrow::Type::FIXED_SIZE_BINARY: {
      int length = static_cast<const arrow::FixedSizeBinaryType &>(type).byte_width();
      bool uuid = length == 16 && extension_of(f).name == "arrow.uuid";
      return make(Type::FIXED_LEN_BYTE_ARRAY, uuid ? LogicalType::UUID() : LogicalType::None(), length);
    }
    default: break;
    }
    unsupported("field " + name + ": cannot write a value of type " + type.ToString());
  }

  /* geoarrow.wkb: its metadata is {"crs": …, "edges": …}; edges make it a geography. */
  std::shared_ptr<const LogicalType> binary_type(const arrow::Field &f) {
    Extension e = extension_of(f);
    if (e.name != "geoarrow.wkb" && e.name != "ogc.wkb") return LogicalType::None();
    std::string crs, edges;
    read_geo(e.meta, &crs, &edges);
    if (crs == "OGC:CRS84") crs.clear(); /* the default */
    if (edges.empty() || edges == "planar") return LogicalType::Geometry(crs);
    return LogicalType::Geography(crs, algorithm(f, edges));
  }

  static LogicalType::EdgeInterpolationAlgorithm algorithm(const arrow::Field &f, const std::string &edges) {
    using A = LogicalType::EdgeInterpolationAlgorithm;
    if (edges == "spherical") return A::SPHERICAL;
    if (edges == "vincenty") return A::VINCENTY;
    if (edges == "thomas") return A::THOMAS;
    if (edges == "andoyer") return A::ANDOYER;
    if (edges == "karney") return A::KARNEY;
    unsupported("field " + f.name() + ": unknown edges of a geography: " + edges);
  }

  void read_geo(const std::string &meta, std::string *crs, std::string *edges) {
    if (meta.empty()) return;
    bl_error err = BL_ERROR_INIT;
    bl_arena *arena = nullptr;
    bl_json *doc = nullptr;
    bl_status st = bl_arena_new(ctx_, &arena, &err);
    if (st == BL_OK) st = bl_json_parse(arena, meta.data(), meta.size(), &doc, &err);
    if (st == BL_OK) {
      *crs = text_of(bl_json_get(doc, "crs"), meta);
      *edges = text_of(bl_json_get(doc, "edges"), meta);
    }
    bl_arena_free(arena);
    if (st != BL_OK) throw Fail(err);
  }

  /* A string, or an object (PROJJSON) as its text. */
  static std::string text_of(const bl_json *v, const std::string &meta) {
    if (!v || v->kind == BL_J_NULL) return {};
    if (v->kind == BL_J_STRING) return std::string(v->text.p, v->text.n);
    size_t begin = v->at, depth = 0, end = begin;
    bool quoted = false;
    for (; end < meta.size(); end++) {
      char c = meta[end];
      if (quoted && c == '\\') {
        end++;
        continue;
      }
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      if (c == '{' || c == '[') depth++;
      if ((c == '}' || c == ']') && --depth == 0) return meta.substr(begin, end + 1 - begin);
    }
    return {};
  }
};

/* ---- nulls of required fields (3) ---- */

class Required {
public:
  static std::shared_ptr<arrow::Array> column(const std::shared_ptr<arrow::Array> &a, const arrow::Field &f) {
    if (!f.nullable() && a->null_count() > 0) refuse(f.name(), *a, nullptr);
    return inside(a, f.name());
  }

private:
  /* The first row that is null where its parent is not. */
  [[noreturn]] static void refuse(const std::string &path, const arrow::Array &a, const arrow::Array *parent) {
    int64_t row = 0;
    while (row < a.length() && (a.IsValid(row) || (parent && parent->IsNull(row)))) row++;
    bl_error e = BL_ERROR_INIT;
    bl_fail_at(&e, BL_USAGE, row, "column %s is required but row %lld is null", path.c_str(),
               static_cast<long long>(row));
    throw Fail(e);
  }

  static bool has_null_below(const arrow::Array &child, const arrow::Array &parent) {
    for (int64_t i = 0; i < child.length(); i++)
      if (child.IsNull(i) && parent.IsValid(i)) return true;
    return false;
  }

  static std::shared_ptr<arrow::Array> inside(const std::shared_ptr<arrow::Array> &a, const std::string &path) {
    if (a->type_id() == arrow::Type::STRUCT) return structure(std::static_pointer_cast<arrow::StructArray>(a), path);
    if (a->type_id() == arrow::Type::LIST) {
      const auto &l = static_cast<const arrow::ListArray &>(*a);
      return elements(a, l.values(), a->type()->field(0), path);
    }
    if (a->type_id() == arrow::Type::MAP) {
      const auto &m = static_cast<const arrow::MapArray &>(*a);
      auto entries = arrow::MakeArray(m.data()->child_data[0]);
      return elements(a, entries, nullptr, path);
    }
    return a;
  }

  static std::shared_ptr<arrow::Array> elements(const std::shared_ptr<arrow::Array> &a,
                                                const std::shared_ptr<arrow::Array> &values,
                                                const std::shared_ptr<arrow::Field> &field, const std::string &path) {
    if (field && !field->nullable() && values->null_count() > 0) refuse(path + ".element", *values, nullptr);
    auto clean = inside(values, path + ".element");
    if (clean == values) return a;
    auto data = a->data()->Copy();
    data->child_data[0] = clean->data();
    return arrow::MakeArray(data);
  }

  static std::shared_ptr<arrow::Array> structure(const std::shared_ptr<arrow::StructArray> &a,
                                                 const std::string &path) {
    arrow::ArrayVector kids;
    bool changed = false;
    for (int i = 0; i < a->num_fields(); i++) {
      const auto &f = a->struct_type()->field(i);
      auto kid = a->field(i), clean = kid;
      if (!f->nullable() && kid->null_count() > 0) {
        if (has_null_below(*kid, *a)) refuse(path + "." + f->name(), *kid, a.get());
        auto data = kid->data()->Copy();
        data->buffers[0] = nullptr;
        data->null_count = 0;
        clean = arrow::MakeArray(data);
      }
      clean = inside(clean, path + "." + f->name());
      changed |= clean != kid;
      kids.push_back(clean);
    }
    if (!changed) return a;
    std::shared_ptr<arrow::Buffer> valid;
    if (a->null_count() > 0)
      valid = ok(arrow::internal::CopyBitmap(pool(), a->null_bitmap_data(), a->offset(), a->length()));
    return std::make_shared<arrow::StructArray>(a->type(), a->length(), kids, valid, a->null_count());
  }
};

/* ---- writer ---- */

parquet::Compression::type codec_of(const char *name) {
  std::string c = name ? name : "zstd";
  if (c == "zstd") return parquet::Compression::ZSTD;
  if (c == "snappy") return parquet::Compression::SNAPPY;
  if (c == "gzip") return parquet::Compression::GZIP;
  if (c == "lz4" || c == "lz4_raw") return parquet::Compression::LZ4;
  if (c == "brotli") return parquet::Compression::BROTLI;
  if (c == "none" || c == "uncompressed") return parquet::Compression::UNCOMPRESSED;
  unsupported("unknown compression codec: " + c);
}

/* Below, the library has one writer of a column each, all with the same row group: its own writer of all columns lets
 * no column begin a batch before all are done with the one before. What it takes for a file is such a part of ours. */
class PartOfGroup final : public parquet::RowGroupWriter::Contents {
public:
  PartOfGroup(parquet::RowGroupWriter *const *group, int first, int n) : group_(group), first_(first), n_(n) {}
  int num_columns() const override { return n_; }
  int64_t num_rows() const override { return 0; }
  parquet::ColumnWriter *NextColumn() override { return nullptr; }
  parquet::ColumnWriter *column(int i) override { return (*group_)->column(first_ + i); }
  int current_column() const override { return -1; }
  void Close() override {}
  int64_t total_bytes_written() const override { return 0; }
  int64_t total_compressed_bytes() const override { return 0; }
  int64_t total_compressed_bytes_written() const override { return 0; }
  parquet::RowGroupWriter::BufferedStats EstimatedBufferedStats() const override { return {}; }
  bool buffered() const override { return true; }

private:
  parquet::RowGroupWriter *const *group_;
  int first_, n_;
};

class PartOfFile final : public parquet::ParquetFileWriter::Contents {
public:
  PartOfFile(std::shared_ptr<GroupNode> root, std::shared_ptr<parquet::WriterProperties> properties,
             parquet::RowGroupWriter *const *group, int first)
      : Contents(std::move(root), nullptr), properties_(std::move(properties)),
        part_(std::make_unique<PartOfGroup>(group, first, schema_.num_columns())) {}
  void Close() override {}
  parquet::RowGroupWriter *AppendRowGroup() override { return &part_; }
  parquet::RowGroupWriter *AppendBufferedRowGroup() override { return &part_; }
  int64_t num_rows() const override { return 0; }
  int num_columns() const override { return schema_.num_columns(); }
  int num_row_groups() const override { return 1; }
  const std::shared_ptr<parquet::WriterProperties> &properties() const override { return properties_; }
  void AddKeyValueMetadata(const std::shared_ptr<const arrow::KeyValueMetadata> &) override {}

private:
  std::shared_ptr<parquet::WriterProperties> properties_;
  parquet::RowGroupWriter part_;
};

/* What values take: in pages, and before they are in one. */
struct Sizes {
  int64_t pages = 0, loose = 0;
};

/* The columns of a file and the row group in hand; a column is a top-level one with all its leaves. */
class Columns {
public:
  Columns(bl_ctx *ctx, const arrow::Schema &schema, std::unique_ptr<parquet::ParquetFileWriter> file)
      : file_(std::move(file)) {
    int first = 0;
    for (const auto &f : schema.fields()) {
      auto root = SchemaBuilder(ctx).root(*arrow::schema({f}));
      auto part = std::make_unique<PartOfFile>(root, file_->properties(), &group_, first);
      Column c{first, part->num_columns(), storage_schema(arrow::schema({f})), nullptr};
      auto outer = std::make_unique<parquet::ParquetFileWriter>();
      outer->Open(std::move(part));
      ok(parquet::arrow::FileWriter::Make(pool(), std::move(outer), c.schema,
                                          parquet::default_arrow_writer_properties(), &c.writer));
      first += c.n_leaves;
      columns_.push_back(std::move(c));
    }
    for (int i = 0; i < first; i++) leaves_.push_back({properties_of(*file_->schema()->Column(i))});
  }

  size_t n() const { return columns_.size(); }

  /* Thread-safe for different columns. */
  Sizes write(size_t i, const std::shared_ptr<arrow::Array> &values) {
    Column &c = columns_[i];
    ok(c.writer->WriteRecordBatch(*arrow::RecordBatch::Make(c.schema, values->length(), {values})));
    Sizes s;
    for (int k = 0; k < c.n_leaves; k++) {
      parquet::ColumnWriter &leaf = *group_->column(c.first_leaf + k);
      leaves_[static_cast<size_t>(c.first_leaf + k)].count(values->length(), leaf);
      s.pages += leaf.total_compressed_bytes() + leaf.total_compressed_bytes_written();
      s.loose += leaf.estimated_buffered_value_bytes() + leaf.estimated_buffered_dict_bytes() +
                 leaf.estimated_buffered_def_level_bytes() + leaf.estimated_buffered_rep_level_bytes();
    }
    return s;
  }

  void begin_group() { group_ = file_->AppendBufferedRowGroup(); }
  void end_group() {
    if (group_) group_->Close();
    group_ = nullptr;
    for (Leaf &l : leaves_) l.end_group();
  }
  void finish() { file_->Close(); }

private:
  /* 6. */
  struct Leaf {
    parquet::ColumnProperties *properties; /* nullptr: not to be changed */
    int64_t rows = 0, by_dictionary = 0;   /* of the group */

    void count(int64_t n, const parquet::ColumnWriter &w) {
      rows += n;
      if (w.total_compressed_bytes_written() == 0) by_dictionary = rows; /* pages are held as long as it grows */
    }
    void end_group() {
      if (properties && rows > 0 && by_dictionary < rows / 4) properties->set_dictionary_enabled(false);
      rows = by_dictionary = 0;
    }
  };
  struct Column {
    int first_leaf, n_leaves;
    std::shared_ptr<arrow::Schema> schema;
    std::unique_ptr<parquet::arrow::FileWriter> writer;
  };
  std::unique_ptr<parquet::ParquetFileWriter> file_;
  parquet::RowGroupWriter *group_ = nullptr; /* file_'s; columns_ have its address */
  std::vector<Column> columns_;
  std::vector<Leaf> leaves_;

  /* The library looks at them whenever a row group begins. */
  parquet::ColumnProperties *properties_of(const parquet::ColumnDescriptor &leaf) {
    const auto &all = *file_->properties();
    const auto &own = all.column_properties(leaf.path());
    return &own == &all.default_column_properties() ? nullptr : const_cast<parquet::ColumnProperties *>(&own);
  }
};

/* ---- steps of the columns (lanes.h) ---- */

class FileStep : public Step {
public:
  using Step::Step;
  virtual bool is_rows() const { return false; }
};

class Rows final : public FileStep {
public:
  Rows(Columns &columns, std::shared_ptr<arrow::RecordBatch> batch, int64_t raw)
      : FileStep(false), raw(raw), columns_(columns), batch_(std::move(batch)), sizes_(columns.n()) {}
  bool is_rows() const override { return true; }
  void run(size_t lane) override { sizes_[lane] = columns_.write(lane, batch_->column(static_cast<int>(lane))); }
  void forget() { batch_ = nullptr; }
  Sizes sizes() const {
    Sizes all;
    for (const Sizes &s : sizes_) all = {all.pages + s.pages, all.loose + s.loose};
    return all;
  }
  const int64_t raw;

private:
  Columns &columns_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::vector<Sizes> sizes_; /* a column each */
};

/* The row group in hand ends; another begins. */
class Turn final : public FileStep {
public:
  Turn(Columns &columns, LateSink &out, bool begins) : FileStep(true), columns_(columns), out_(out), begins_(begins) {}
  void join() override {
    columns_.end_group();
    position = ok(out_.Tell());
    if (begins_) columns_.begin_group();
  }
  int64_t position = 0; /* before the new one */

private:
  Columns &columns_;
  LateSink &out_;
  bool begins_;
};

class ParquetWriter final : public bl_arrow_writer {
public:
  ParquetWriter(bl_ctx *ctx, const bl_sink &sink, const ArrowSchema *schema, const bl_parquet_options &o)
      : group_bytes_(o.group_bytes > 0 ? o.group_bytes : kGroupBytes), out_(std::make_shared<LateSink>(sink)) {
    if (codec_of(o.codec) == parquet::Compression::UNCOMPRESSED) known_.shrinks = 1;
    auto full = borrow_schema(schema);
    schema_ = storage_schema(full);
    auto root = SchemaBuilder(ctx).root(*full);
    auto file = parquet::ParquetFileWriter::Open(out_, root, properties(o, root), key_values(o));
    columns_ = std::make_unique<Columns>(ctx, *full, std::move(file));
    lanes_ = std::make_unique<Lanes>(columns_->n(), o.threads);
  }

  ~ParquetWriter() override { out_->abandon(); /* the library would end the file */ }

  const char *name() const override { return "Parquet"; }

  int64_t bytes(int64_t enough) override {
    int64_t most = known_.bytes() + known_.sizes.loose + waiting_.raw;
    if (2 * known_.raw >= all_.raw) return scaled(known_.bytes(), all_.raw, known_.raw);
    if (most < enough) return most;
    settle();
    return known_.bytes();
  }

  int64_t held(int64_t enough) override {
    int64_t most = known_.sizes.pages + known_.sizes.loose + waiting_.raw;
    if (most < enough || waiting_.steps == 0) return most;
    settle();
    return known_.sizes.pages + known_.sizes.loose;
  }

  void spread(bool yes) override { spread_ = yes; }

  void end_group() override {
    if (!open_) return;
    turn(false);
    settle();
    out_->flush();
  }

  void write(ArrowArray *batch) override {
    Owned owned(batch);
    out_->flush();
    auto in = owned.take(schema_);
    if (in->num_rows() == 0) return;
    arrow::ArrayVector columns;
    for (int i = 0; i < in->num_columns(); i++) columns.push_back(Required::column(in->column(i), *schema_->field(i)));
    auto rows = arrow::RecordBatch::Make(schema_, in->num_rows(), columns);
    for (int64_t begin = 0; begin < rows->num_rows();) {
      if (!open_ || group_is_full()) turn(true);
      auto part = part_that_fits(begin ? rows->Slice(begin) : rows);
      begin += part->num_rows();
      add(std::move(part));
    }
  }

  void finish() override {
    settle();
    columns_->finish();
    out_->flush();
  }

private:
  struct Known {                                 /* what was taken back from the lanes */
    int64_t raw = 0, group = 0, ended_bytes = 0; /* raw: bytes of what was written, in memory */
    int64_t group_raw = 0, group_rows = 0;
    Sizes sizes;         /* of the group */
    double shrinks = -1; /* what became of a byte that was in no page yet; < 0: no row group ended */
    int64_t group_bytes(double otherwise = 1) const {
      return sizes.pages + static_cast<int64_t>(static_cast<double>(sizes.loose) * (shrinks < 0 ? otherwise : shrinks));
    }
    int64_t bytes() const { return ended_bytes + group_bytes(0.5); }
    void end_group(int64_t position) {
      int64_t more = position - ended_bytes - sizes.pages;
      if (more > 0 && sizes.loose > (position - ended_bytes) / 16)
        shrinks = std::min(1.0, static_cast<double>(more) / static_cast<double>(sizes.loose));
      ended_bytes = position;
      sizes = {};
      group_raw = 0;
      group++;
    }
  };
  struct Waiting { /* what was not */
    int64_t steps = 0, raw = 0;
  };

  int64_t group_bytes_;
  std::shared_ptr<LateSink> out_;
  std::shared_ptr<arrow::Schema> schema_;
  std::unique_ptr<Columns> columns_;
  std::unique_ptr<Lanes> lanes_; /* goes first: its threads use the others */
  bool spread_ = true, open_ = false;
  Known known_, all_; /* all_: raw, rows and groups of what was written */
  Waiting waiting_;

  static int64_t scaled(int64_t bytes, int64_t raw, int64_t known) {
    if (raw == known) return bytes;
    return static_cast<int64_t>(static_cast<double>(bytes) * static_cast<double>(raw) / static_cast<double>(known));
  }

  /* As in bytes(): 4. */
  int64_t group_bytes(int64_t enough) {
    bool same = known_.group == all_.group;
    int64_t most = (same ? known_.sizes.pages + known_.sizes.loose : 0) + waiting_.raw;
    if (most < enough) return most;
    if (same && 2 * known_.group_raw >= all_.group_raw)
      return scaled(known_.group_bytes(), all_.group_raw, known_.group_raw);
    settle();
    return known_.group_bytes();
  }

  bool group_is_full() {
    if (all_.group_rows >= group_bytes_) return true;
    int64_t enough = group_bytes_ - group_bytes_ / kSteps;
    return group_bytes(enough) >= enough;
  }

  static int64_t raw_of(const arrow::RecordBatch &batch) { return ok(arrow::util::ReferencedBufferSize(batch)); }

  /* 2. Not so few rows that it takes many steps to the target, nor so many that they are far beyond it where they do
   * not get smaller. */
  std::shared_ptr<arrow::RecordBatch> part_that_fits(std::shared_ptr<arrow::RecordBatch> batch) {
    int64_t enough = std::max(group_bytes_, kLeastGroup), raw = raw_of(*batch), bytes = group_bytes(enough - raw);
    if (bytes + raw <= enough) return batch;
    bool same = known_.group == all_.group && bytes > enough / 4;
    double shrinks = 1;
    if (same) shrinks = static_cast<double>(bytes) / static_cast<double>(all_.group_raw);
    else if (known_.raw > 0) shrinks = static_cast<double>(known_.bytes()) / static_cast<double>(known_.raw);
    auto target = static_cast<double>(enough), room = target - static_cast<double>(bytes);
    if (static_cast<double>(raw) * shrinks <= room + target / 8) return batch;
    double most = std::min(std::max(room, target / kSteps) / shrinks, target);
    return batch->Slice(0, rows_within(*batch, raw, most));
  }

  /* So many rows of a batch of `raw` bytes that they have about `most`, rather a little less. */
  static int64_t rows_within(const arrow::RecordBatch &batch, int64_t raw, double most) {
    int64_t fit = 1, beyond = batch.num_rows();
    auto middle = static_cast<int64_t>(static_cast<double>(beyond) * most / static_cast<double>(raw));
    while (beyond - fit > 1) {
      middle = std::min(std::max(middle, fit + 1), beyond - 1);
      auto bytes = static_cast<double>(raw_of(*batch.Slice(0, middle)));
      if (bytes > most * 0.9 && bytes < most * 1.05) return middle;
      if (bytes <= most) fit = middle;
      else beyond = middle;
      middle = fit + (beyond - fit) / 2;
    }
    return fit;
  }

  void turn(bool begins) {
    lanes_->add(std::make_unique<Turn>(*columns_, *out_, begins), spread_ && lanes_->started());
    waiting_.steps++;
    open_ = begins;
    all_.group++;
    all_.group_raw = all_.group_rows = 0;
  }

  void add(std::shared_ptr<arrow::RecordBatch> batch) {
    int64_t raw = ok(arrow::util::ReferencedBufferSize(*batch)), n = batch->num_rows();
    /* Nothing starts threads for the few rows of a small file. */
    bool spread = spread_ && (lanes_->started() || all_.raw > 0 || raw >= kWorthThreads);
    while (waiting_.raw > 0 && (waiting_.steps >= kAheadSteps || waiting_.raw + raw > kAheadBytes)) take();
    auto step = std::make_unique<Rows>(*columns_, std::move(batch), raw);
    Rows &rows = *step;
    lanes_->add(std::move(step), spread);
    if (!spread) rows.forget();
    waiting_.steps++;
    waiting_.raw += raw;
    all_.raw += raw;
    all_.group_raw += raw;
    all_.group_rows += n;
  }

  void take() {
    auto step = lanes_->take();
    waiting_.steps--;
    if (!static_cast<FileStep &>(*step).is_rows()) {
      known_.end_group(static_cast<Turn &>(*step).position);
      return;
    }
    auto &rows = static_cast<Rows &>(*step);
    known_.sizes = rows.sizes();
    known_.raw += rows.raw;
    known_.group_raw += rows.raw;
    waiting_.raw -= rows.raw;
  }

  void settle() {
    while (waiting_.steps > 0) take();
  }

  /* The library takes a number of distinct values, we know the size that its filter may have: it makes it a power of
   * two, the largest below. */
  static void blooms(const bl_parquet_options &o, const std::shared_ptr<GroupNode> &root,
                     parquet::WriterProperties::Builder *b) {
    parquet::SchemaDescriptor schema;
    schema.Init(root);
    for (size_t i = 0; i < o.n_blooms; i++)
      for (int c = 0; c < schema.num_columns(); c++) {
        const parquet::ColumnDescriptor &d = *schema.Column(c);
        if (d.schema_node()->field_id() != o.blooms[i].field_id || d.physical_type() == Type::BOOLEAN) continue;
        double bits = 8.0 * static_cast<double>(std::bit_floor(static_cast<uint64_t>(o.blooms[i].max_bytes)));
        parquet::BloomFilterOptions f;
        f.fpp = o.blooms[i].fpp;
        f.ndv = static_cast<int64_t>(-bits * std::log(1 - std::pow(f.fpp, 1.0 / 8)) / 8 * 0.99);
        b->enable_bloom_filter(d.path(), f);
      }
  }

  /* Each leaf has properties of its own (6). No two rows of a table share an id: a dictionary of them is work for
   * nothing. */
  static void dictionaries(const bl_parquet_options &o, const std::shared_ptr<GroupNode> &root,
                           parquet::WriterProperties::Builder *b) {
    parquet::SchemaDescriptor schema;
    schema.Init(root);
    for (int c = 0; c < schema.num_columns(); c++) {
      const parquet::ColumnDescriptor &d = *schema.Column(c);
      bool plain = std::find(o.plain, o.plain + o.n_plain, d.schema_node()->field_id()) != o.plain + o.n_plain;
      if (plain) b->disable_dictionary(d.path());
      else b->enable_dictionary(d.path());
    }
    for (int i = 0; i < root->field_count(); i++)
      if (root->field(i)->field_id() == BL_ID_ROW_ID) b->disable_dictionary(root->field(i)->name());
  }

  static void statistics(const bl_parquet_options &o, const std::shared_ptr<GroupNode> &root,
                         parquet::WriterProperties::Builder *b) {
    parquet::SchemaDescriptor schema;
    schema.Init(root);
    for (int c = 0; c < schema.num_columns(); c++) {
      const parquet::ColumnDescriptor &d = *schema.Column(c);
      bool none =
          std::find(o.no_stats, o.no_stats + o.n_no_stats, d.schema_node()->field_id()) != o.no_stats + o.n_no_stats;
      if (none) b->disable_statistics(d.path());
    }
  }

  static std::shared_ptr<parquet::WriterProperties> properties(const bl_parquet_options &o,
                                                               const std::shared_ptr<GroupNode> &root) {
    parquet::WriterProperties::Builder b;
    b.memory_pool(pool());
    b.created_by(std::string("bergline version ") + BL_VERSION + " (Arrow " + arrow::GetBuildInfo().version_string +
                 ")");
    b.compression(codec_of(o.codec));
    if (o.level) b.compression_level(o.level);
    b.enable_store_decimal_as_integer();
    b.enable_page_checksum();
    b.enable_write_page_index();
    b.max_row_group_length(INT64_MAX / 2);
    if (o.page_rows > 0) b.max_rows_per_page(o.page_rows);
    if (o.page_bytes > 0) b.data_pagesize(o.page_bytes);
    if (o.dictionary_bytes > 0) b.dictionary_pagesize_limit(o.dictionary_bytes);
    if (o.dictionary_bytes < 0) b.disable_dictionary();
    else dictionaries(o, root, &b);
    blooms(o, root, &b);
    if (o.n_no_stats) statistics(o, root, &b);
    if (o.n_key) {
      parquet::FileEncryptionProperties::Builder e(
          arrow::util::SecureString(std::string(static_cast<const char *>(o.key), o.n_key)));
      if (o.n_aad)
        e.aad_prefix(std::string(static_cast<const char *>(o.aad_prefix), o.n_aad))->disable_aad_prefix_storage();
      b.encryption(e.build());
    }
    return b.build();
  }

  static std::shared_ptr<const arrow::KeyValueMetadata> key_values(const bl_parquet_options &o) {
    if (o.n_pairs == 0) return nullptr;
    auto kv = std::make_shared<arrow::KeyValueMetadata>();
    for (size_t i = 0; i < o.n_pairs; i++) kv->Append(o.pairs[2 * i], o.pairs[2 * i + 1]);
    return kv;
  }
};

} // namespace
} // namespace bl

extern "C" {

bl_status bl_arrow_parquet_writer_with(bl_ctx *ctx, const bl_sink *sink, const struct ArrowSchema *schema,
                                       const bl_parquet_options *o, bl_arrow_writer **out, bl_error *err) {
  *out = nullptr;
  return bl::guard(err, "Parquet", BL_USAGE,
                   [&] { *out = new bl::ParquetWriter(ctx, *sink, schema, o ? *o : bl_parquet_options{}); });
}

bl_status bl_arrow_parquet_writer(bl_ctx *ctx, const bl_sink *sink, const struct ArrowSchema *schema,
                                  bl_arrow_writer **out, bl_error *err) {
  return bl_arrow_parquet_writer_with(ctx, sink, schema, nullptr, out, err);
}

int64_t bl_arrow_writer_bytes(bl_arrow_writer *w, int64_t enough) {
  int64_t n = 0;
  (void)bl::guard(nullptr, nullptr, BL_USAGE, [&] { n = w->bytes(enough); });
  return n;
}

int64_t bl_arrow_writer_held(bl_arrow_writer *w, int64_t enough) {
  int64_t n = 0;
  (void)bl::guard(nullptr, nullptr, BL_USAGE, [&] { n = w->held(enough); });
  return n;
}

bl_status bl_arrow_writer_end_group(bl_arrow_writer *w, bl_error *err) {
  return bl::guard(err, w->name(), BL_USAGE, [&] { w->end_group(); });
}

void bl_arrow_writer_spread(bl_arrow_writer *w, bool yes) {
  w->spread(yes);
}

} // extern "C"
