/* parquet_read.cc: open a file; rows of one row group as batches.
 *
 * 1. Each chosen leaf is read by itself (parquet_leaf.h) for the rows of a batch; lists, maps and structs are then put
 *    together from the leaves' levels by the node tree. Files that say otherwise about their layout (ARROW:schema) are
 *    not listened to.
 * 2. Lengths are known from above (rows of the batch, offsets of the list): every node must come out with the length
 *    that its parent expects, else the file is damaged. */
#include <algorithm>
#include <cstring>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/encryption/encryption.h>
#include <parquet/level_conversion.h>

#include "base/alloc.h"
#include "edge/parquet_footer.h"
#include "guard.h"
#include "parquet_leaf.h"
#include "pool.h"
#include "stream.h"

namespace bl {
namespace {

using arrow::ArrayData;

constexpr int64_t kFirstTail = 64 << 10;      /* bytes read from the end to begin with */
constexpr int64_t kMaxBatchBytes = 128 << 20; /* of decoded values, estimated */
constexpr int64_t kDefaultBatchRows = 64 << 10;

/* ---- assembly ---- */

class Assembler {
public:
  Assembler(const ParquetTree &tree, const Choice &choice, const std::vector<std::unique_ptr<Leaf>> &leaves)
      : tree_(tree), choice_(choice), witness_(tree.nodes.size(), nullptr), types_(tree.nodes.size()) {
    for (const auto &leaf : leaves)
      for (int32_t i = leaf->node(); i > 0; i = tree.at(i).parent) consider(i, leaf.get());
    for (size_t i = 1; i < tree.nodes.size(); i++)
      if (choice.on[i] && tree.nodes[i].leaf < 0) types_[i] = field_of(tree, choice, static_cast<int32_t>(i))->type();
  }

  std::shared_ptr<ArrayData> build(int32_t node, int64_t length) const {
    std::shared_ptr<ArrayData> out;
    switch (tree_.at(node).kind) {
    case BL_D_STRUCT: out = structure(node, length); break;
    case BL_D_LIST:
    case BL_D_MAP: out = list(node, length); break;
    default: out = witness(node).finish(); break;
    }
    if (out->length != length)
      damaged("column " + tree_.path(node) + ": " + std::to_string(out->length) + " values where " +
              std::to_string(length) + " belong");
    return out;
  }

private:
  const ParquetTree &tree_;
  const Choice &choice_;
  std::vector<Leaf *> witness_; /* by node: the leaf whose levels are looked at, with as few repetitions as can be */
  std::vector<std::shared_ptr<arrow::DataType>> types_; /* by node; nested ones */

  int16_t rep_of(const Leaf &leaf) const { return tree_.levels[static_cast<size_t>(leaf.node())].rep; }
  const std::shared_ptr<arrow::DataType> &type(int32_t node) const { return types_[static_cast<size_t>(node)]; }
  Leaf &witness(int32_t node) const { return *witness_[static_cast<size_t>(node)]; }

  void consider(int32_t node, Leaf *leaf) {
    Leaf *&w = witness_[static_cast<size_t>(node)];
    if (!w || rep_of(*leaf) < rep_of(*w)) w = leaf;
  }

  static parquet::internal::LevelInfo info(const Levels &l) {
    parquet::internal::LevelInfo out;
    out.def_level = l.def;
    out.rep_level = l.rep;
    out.repeated_ancestor_def_level = l.anc_def;
    return out;
  }

  /* Room for the validity of `length` slots; the levels decide how many there really are. */
  static std::shared_ptr<arrow::Buffer> bitmap(int64_t length, parquet::internal::ValidityBitmapInputOutput *io) {
    auto bits = ok(arrow::AllocateEmptyBitmap(length, pool()));
    io->values_read_upper_bound = length;
    io->valid_bits = bits->mutable_data();
    return bits;
  }

  std::shared_ptr<ArrayData> structure(int32_t node, int64_t length) const {
    const bl_data_node &n = tree_.at(node);
    std::shared_ptr<arrow::Buffer> bits;
    int64_t nulls = 0;
    if (!n.required) {
      parquet::internal::ValidityBitmapInputOutput io;
      bits = bitmap(length, &io);
      const Leaf &w = witness(node);
      const Levels &l = tree_.levels[static_cast<size_t>(node)];
      if (rep_of(w) > l.rep) parquet::internal::DefRepLevelsToBitmap(w.def(), w.rep(), w.n_levels(), info(l), &io);
      else parquet::internal::DefLevelsToBitmap(w.def(), w.n_levels(), info(l), &io);
      if (io.values_read != length) damaged("column " + tree_.path(node) + ": its levels do not add up");
      nulls = io.null_count;
    }
    std::vector<std::shared_ptr<ArrayData>> kids;
    for (int32_t kid : tree_.kids(node))
      if (choice_.has(kid)) kids.push_back(build(kid, length));
    if (nulls == 0) bits = nullptr;
    return ArrayData::Make(type(node), length, {bits}, std::move(kids), nulls);
  }

  std::shared_ptr<ArrayData> list(int32_t node, int64_t length) const {
    const bl_data_node &n = tree_.at(node);
    const Leaf &w = witness(node);
    Levels l = tree_.levels[static_cast<size_t>(node)];
    l.anc_def = ancestor_def(node);
    parquet::internal::ValidityBitmapInputOutput io;
    auto bits = bitmap(length, &io);
    std::shared_ptr<arrow::Buffer> offsets = ok(arrow::AllocateBuffer((length + 1) * 4, pool()));
    auto *at = reinterpret_cast<int32_t *>(offsets->mutable_data());
    at[0] = 0;
    parquet::internal::DefRepLevelsToList(w.def(), w.rep(), w.n_levels(), info(l), &io, at);
    if (io.values_read != length) damaged("column " + tree_.path(node) + ": its levels do not add up");
    if (io.null_count == 0 || n.required) bits = nullptr;
    auto items = n.kind == BL_D_MAP ? entries(node, at[length]) : build(tree_.kids(node)[0], at[length]);
    return ArrayData::Make(type(node), length, {bits, offsets}, {items}, bits ? io.null_count : 0);
  }

  /* The level at which the repeated group above this list is not empty. */
  int16_t ancestor_def(int32_t node) const {
    for (int32_t up = tree_.at(node).parent; up > 0; up = tree_.at(up).parent)
      if (tree_.at(up).kind == BL_D_LIST || tree_.at(up).kind == BL_D_MAP)
        return tree_.levels[static_cast<size_t>(up)].def;
    return 0;
  }

  std::shared_ptr<ArrayData> entries(int32_t node, int64_t length) const {
    auto key = build(tree_.kids(node)[0], length), value = build(tree_.kids(node)[1], length);
    if (key->GetNullCount() > 0) damaged("column " + tree_.path(node) + ": a key of the map is null");
    key->buffers[0] = nullptr;
    key->null_count = 0;
    const auto &map = static_cast<const arrow::MapType &>(*type(node));
    return ArrayData::Make(map.value_type(), length, {nullptr}, {key, value}, 0);
  }
};

/* ---- batches of a row group ---- */

class GroupBatches final : public Batches {
public:
  GroupBatches(std::shared_ptr<ParquetFile> file, size_t group, Choice choice, std::vector<bl_row_range> ranges,
               int64_t batch_rows)
      : file_(std::move(file)), group_(group), choice_(std::move(choice)), ranges_(std::move(ranges)),
        batch_rows_(batch_rows), schema_(schema_of(file_->tree, choice_)) {}

  std::shared_ptr<arrow::Schema> schema() override { return schema_; }
  std::string where() override { return file_->path; }

  std::shared_ptr<arrow::RecordBatch> next() override {
    if (range_ == ranges_.size()) {
      leaves_.clear();
      return nullptr;
    }
    if (!assembler_) open();
    int64_t rows = step();
    for (auto &leaf : leaves_) leaf->read(step_, rows);
    std::vector<std::shared_ptr<ArrayData>> columns;
    for (int32_t kid : file_->tree.kids(0))
      if (choice_.has(kid)) columns.push_back(assembler_->build(kid, rows));
    return arrow::RecordBatch::Make(schema_, rows, std::move(columns));
  }

private:
  std::shared_ptr<ParquetFile> file_;
  size_t group_;
  Choice choice_;
  std::vector<bl_row_range> ranges_;
  int64_t batch_rows_;
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<std::unique_ptr<Leaf>> leaves_;
  std::unique_ptr<Assembler> assembler_;
  std::vector<bl_row_range> step_; /* rows of the batch in hand */
  size_t range_ = 0;
  int64_t done_ = 0; /* of ranges_[range_] */

  /* The next rows of the ranges, at most a batch of them. */
  int64_t step() {
    int64_t rows = 0;
    step_.clear();
    while (range_ < ranges_.size() && rows < batch_rows_) {
      const bl_row_range &r = ranges_[range_];
      int64_t begin = r.begin + done_, n = std::min(r.end - begin, batch_rows_ - rows);
      step_.push_back({begin, begin + n});
      rows += n;
      done_ += n;
      if (r.begin + done_ < r.end) continue;
      range_++;
      done_ = 0;
    }
    return rows;
  }

  void open() {
    auto meta = file_->footer->RowGroup(static_cast<int>(group_));
    if (meta->num_columns() != file_->footer->num_columns())
      damaged("row group " + std::to_string(group_) + " has " + std::to_string(meta->num_columns()) +
              " columns where the schema has " + std::to_string(file_->footer->num_columns()));
    int64_t rows = file_->groups[group_].rows, bytes = 0;
    bool all = ranges_.size() == 1 && ranges_[0].begin == 0 && ranges_[0].end == rows;
    PageIndex index(*file_, group_);
    for (int32_t leaf : choice_.leaves) {
      auto chunk = meta->ColumnChunk(leaf);
      if (file_->footer->schema()->Column(leaf)->max_repetition_level() == 0 && chunk->num_values() != rows)
        damaged(leaf_where(*file_, group_, leaf) + ": " + std::to_string(chunk->num_values()) +
                " values where the row group has " + std::to_string(rows) + " rows");
      if (!chunk->file_path().empty()) unsupported(leaf_where(*file_, group_, leaf) + ": lies in another file");
      auto plan = all ? whole_chunk(*file_, *chunk, rows) : plan_pages(index, leaf, *chunk, ranges_);
      leaves_.push_back(std::make_unique<Leaf>(file_, group_, leaf, std::move(plan), ranges_));
      bytes = std::max(bytes, chunk->total_uncompressed_size());
    }
    if (bytes / rows > kMaxBatchBytes / batch_rows_)
      batch_rows_ = std::max<int64_t>(kMaxBatchBytes / (bytes / rows), 1);
    assembler_ = std::make_unique<Assembler>(file_->tree, choice_, leaves_);
  }
};

/* ---- opening ---- */

/* Footer length and magic from the last 8 bytes; the whole footer is then in memory and has been walked over once. */
void load_footer(ParquetFile &f, int max_depth) {
  int64_t size = f.input->size();
  if (size < 12) damaged("too short to be a Parquet file: " + std::to_string(size) + " bytes");
  f.input->keep_tail(size - kFirstTail);
  const uint8_t *end = f.input->tail() + (size - f.input->tail_start());
  f.encrypted = std::memcmp(end - 4, "PARE", 4) == 0;
  if (!f.encrypted && std::memcmp(end - 4, "PAR1", 4) != 0)
    damaged("not a Parquet file, or its end is missing: the last four bytes are not PAR1");
  uint32_t length;
  std::memcpy(&length, end - 8, sizeof length);
  if (int64_t{length} > size - 12)
    damaged("the footer claims " + std::to_string(length) + " bytes of a file of " + std::to_string(size));
  f.input->keep_tail(size - 8 - int64_t{length});
  if (f.encrypted) return;
  bl_error err = BL_ERROR_INIT;
  const uint8_t *footer = f.input->tail() + (size - 8 - int64_t{length} - f.input->tail_start());
  if (bl_parquet_footer_check(footer, length, max_depth, &err) != BL_OK) throw Fail(err);
}

void set_key(ParquetFile &f, const bl_data_open_options *o) {
  if (!o || !o->key) {
    if (f.encrypted) unsupported("the file is encrypted and no key was given");
    return;
  }
  parquet::FileDecryptionProperties::Builder b;
  b.footer_key(arrow::util::SecureString(std::string(static_cast<const char *>(o->key), o->n_key)));
  if (o->n_aad) b.aad_prefix(std::string(static_cast<const char *>(o->aad_prefix), o->n_aad));
  f.properties.file_decryption_properties(b.build());
  f.encrypted = true;
}

bl_data_group group_of(const parquet::RowGroupMetaData &g, int index, int64_t first_row) {
  bl_data_group out{};
  out.first_row = first_row;
  out.rows = g.num_rows();
  if (out.rows < 0) damaged("row group " + std::to_string(index) + " has a negative number of rows");
  if (g.num_columns() > 0) {
    auto chunk = g.ColumnChunk(0);
    out.offset = chunk->data_page_offset();
    if (chunk->has_dictionary_page() && chunk->dictionary_page_offset() > 0)
      out.offset = std::min(out.offset, chunk->dictionary_page_offset());
  }
  out.bytes = g.total_compressed_size(); /* optional in the footer */
  if (out.bytes > 0) return out;
  for (int i = 0; i < g.num_columns(); i++)
    if (__builtin_add_overflow(out.bytes, std::max<int64_t>(g.ColumnChunk(i)->total_compressed_size(), 0), &out.bytes))
      damaged("row group " + std::to_string(index) + " claims more bytes than can be counted");
  return out;
}

void load_groups(ParquetFile &f) {
  int64_t rows = 0;
  for (int i = 0; i < f.footer->num_row_groups(); i++) {
    f.groups.push_back(group_of(*f.footer->RowGroup(i), i, rows));
    if (__builtin_add_overflow(rows, f.groups.back().rows, &rows)) damaged("too many rows to be counted");
  }
  if (rows != f.footer->num_rows())
    damaged("the row groups have " + std::to_string(rows) + " rows, the file claims " +
            std::to_string(f.footer->num_rows()));
  f.meta.rows = rows;
}

void load_meta(ParquetFile &f) {
  read_schema(*f.footer->schema(), &f.tree);
  load_groups(f);
  f.created_by = f.footer->created_by();
  const auto &kv = f.footer->key_value_metadata();
  int at = kv ? kv->FindKey("iceberg.schema") : -1;
  if (at >= 0) f.schema_text = kv->value(at);
  f.meta.nodes = f.tree.nodes.data();
  f.meta.n_nodes = f.tree.nodes.size();
  f.meta.groups = f.groups.data();
  f.meta.n_groups = f.groups.size();
  f.meta.has_field_ids = f.tree.has_field_ids;
  f.meta.created_by = f.created_by.empty() ? nullptr : f.created_by.c_str();
  f.meta.schema_text = at >= 0 ? f.schema_text.c_str() : nullptr;
}

std::shared_ptr<ParquetFile> open_file(bl_ctx *ctx, bl_input *in, const char *path, const bl_data_open_options *o) {
  auto f = std::make_shared<ParquetFile>();
  f->path = path;
  f->input = std::make_shared<InputFile>(in);
  load_footer(*f, ctx->o.max_nesting);
  set_key(*f, o);
  f->properties.set_page_checksum_verification(o && o->check_pages);
  f->properties.enable_buffered_stream();
  f->properties.set_buffer_size(1 << 20);
  f->reader = parquet::ParquetFileReader::Open(f->input, f->properties);
  f->footer = f->reader->metadata();
  f->input->drop_tail();
  load_meta(*f);
  return f;
}

/* ---- the C interface ---- */

struct Reader : bl_data_reader {
  std::shared_ptr<ParquetFile> file;
};

ParquetFile &file_of(bl_data_reader *r) {
  return *static_cast<Reader *>(r)->file;
}

bl_status read(bl_data_reader *r, size_t group, const int32_t *leaves, size_t n_leaves, const bl_row_range *ranges,
               size_t n_ranges, int64_t batch_rows, struct ArrowArrayStream *out, bl_error *err) {
  return guard(err, file_of(r).path.c_str(), BL_DAMAGED, [&] {
    parquet_read(static_cast<Reader *>(r)->file, group, leaves, n_leaves, ranges, n_ranges, batch_rows, out);
  });
}

bool stats(bl_data_reader *r, size_t group, int32_t leaf, bl_data_stats *out) {
  try {
    return parquet_stats(file_of(r), group, leaf, out);
  } catch (...) {
    return false; /* nothing is known */
  }
}

bool bloom(bl_data_reader *r, size_t group, int32_t leaf, const void *value, size_t n) {
  try {
    return parquet_bloom(file_of(r), group, leaf, value, n);
  } catch (...) {
    return true; /* it may be there */
  }
}

bl_status page_ranges(bl_data_reader *r, size_t group, int32_t leaf, const void *lo, size_t n_lo, const void *hi,
                      size_t n_hi, bl_row_range **out, size_t *n_out, bl_error *err) {
  *out = nullptr;
  *n_out = SIZE_MAX;
  return guard(err, file_of(r).path.c_str(), BL_DAMAGED, [&] {
    std::vector<bl_row_range> found;
    if (!parquet_page_ranges(file_of(r), group, leaf, lo, n_lo, hi, n_hi, &found)) return;
    *out = new bl_row_range[found.size() + 1];
    std::copy(found.begin(), found.end(), *out);
    *n_out = found.size();
  });
}

void free_ranges(bl_data_reader *, bl_row_range *ranges) {
  delete[] ranges;
}

void free_reader(bl_data_reader *r) {
  delete static_cast<Reader *>(r);
}

bl_status open(bl_ctx *ctx, bl_input *in, const char *path, const bl_data_open_options *o, bl_data_reader **out,
               bl_error *err) {
  *out = nullptr;
  return guard(err, path, BL_DAMAGED, [&] {
    auto r = std::make_unique<Reader>();
    r->file = open_file(ctx, in, path, o);
    r->meta = &r->file->meta;
    r->read = read;
    r->stats = stats;
    r->bloom = bloom;
    r->page_ranges = page_ranges;
    r->free_ranges = free_ranges;
    r->free = free_reader;
    *out = r.release();
  });
}

} // namespace

void parquet_read(const std::shared_ptr<ParquetFile> &file, size_t group, const int32_t *leaves, size_t n_leaves,
                  const bl_row_range *ranges, size_t n_ranges, int64_t batch_rows, struct ArrowArrayStream *out) {
  if (group >= file->groups.size()) throw Fail(BL_USAGE, "there is no row group " + std::to_string(group));
  Choice choice = choose(file->tree, leaves, n_leaves);
  auto wanted = checked_ranges(ranges, n_ranges, file->groups[group].rows);
  export_batches(std::make_unique<GroupBatches>(file, group, std::move(choice), std::move(wanted),
                                                batch_rows > 0 ? batch_rows : kDefaultBatchRows),
                 BL_DAMAGED, out);
}

} // namespace bl

extern "C" const bl_data_format bl_format_parquet = {BL_DATA_VERSION, "parquet", bl::open};
