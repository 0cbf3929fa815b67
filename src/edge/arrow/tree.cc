/* tree.cc: see tree.h. */
#include "tree.h"

#include <algorithm>

#include <arrow/util/key_value_metadata.h>

#include "guard.h"

namespace bl {

const char *Tree::keep(const std::string &s) {
  text_.push_back(s);
  return text_.back().c_str();
}

int32_t Tree::add(int32_t parent, const std::string &name, int32_t field_id, bool required, bl_data_kind kind) {
  auto index = static_cast<int32_t>(nodes.size());
  bl_data_node n{};
  n.parent = parent;
  n.leaf = -1;
  n.field_id = field_id >= 0 ? field_id : -1;
  n.name = keep(name);
  n.required = required;
  n.kind = kind;
  nodes.push_back(n);
  children.emplace_back();
  if (parent >= 0) children[static_cast<size_t>(parent)].push_back(index);
  has_field_ids |= n.field_id >= 0;
  return index;
}

void Tree::set_leaf(int32_t node, int32_t leaf) {
  if (leaf_node.size() <= static_cast<size_t>(leaf)) leaf_node.resize(static_cast<size_t>(leaf) + 1, -1);
  leaf_node[static_cast<size_t>(leaf)] = node;
  at(node).leaf = leaf;
}

void Tree::set_other(int32_t node, const std::string &note) {
  at(node).kind = BL_D_OTHER;
  at(node).note = keep(note);
}

std::string Tree::path(int32_t node) const {
  std::string out;
  for (int32_t i = node; i > 0; i = at(i).parent) out = out.empty() ? at(i).name : std::string(at(i).name) + "." + out;
  return out;
}

namespace {

/* Mark everything below a node; its leaves go to `leaves`. */
void take_all(const Tree &tree, int32_t node, Choice *c) {
  const bl_data_node &n = tree.at(node);
  if (n.kind == BL_D_OTHER) unsupported("column " + tree.path(node) + ": cannot read a value of type " + n.note);
  c->on[static_cast<size_t>(node)] = 1;
  if (n.leaf >= 0) c->leaves.push_back(n.leaf);
  for (int32_t kid : tree.kids(node)) take_all(tree, kid, c);
}

} // namespace

Choice choose(const Tree &tree, const int32_t *leaves, size_t n) {
  Choice c;
  c.on.assign(tree.nodes.size(), 0);
  c.on[0] = 1;
  for (size_t i = 0; i < n; i++) {
    if (leaves[i] < 0 || static_cast<size_t>(leaves[i]) >= tree.leaf_node.size() ||
        tree.leaf_node[static_cast<size_t>(leaves[i])] < 0)
      throw Fail(BL_USAGE, "there is no leaf column " + std::to_string(leaves[i]));
    int32_t node = tree.leaf_node[static_cast<size_t>(leaves[i])], top = node;
    for (int32_t up = node; up > 0; up = tree.at(up).parent) {
      c.on[static_cast<size_t>(up)] = 1;
      if (tree.at(up).kind == BL_D_MAP) top = up;
    }
    take_all(tree, top, &c);
  }
  std::sort(c.leaves.begin(), c.leaves.end());
  c.leaves.erase(std::unique(c.leaves.begin(), c.leaves.end()), c.leaves.end());
  return c;
}

std::vector<bl_row_range> checked_ranges(const bl_row_range *ranges, size_t n, int64_t rows) {
  std::vector<bl_row_range> out;
  if (!ranges) {
    if (rows > 0) out.push_back({0, rows});
    return out;
  }
  int64_t at = 0;
  for (size_t i = 0; i < n; i++) {
    if (ranges[i].begin < at || ranges[i].end < ranges[i].begin || ranges[i].end > rows)
      throw Fail(BL_USAGE, "row ranges must be ascending and inside the row group of " + std::to_string(rows) +
                               " rows: range " + std::to_string(i));
    at = ranges[i].end;
    if (ranges[i].begin == ranges[i].end) continue;
    if (!out.empty() && out.back().end == ranges[i].begin) out.back().end = ranges[i].end;
    else out.push_back(ranges[i]);
  }
  return out;
}

std::shared_ptr<arrow::DataType> leaf_type(const bl_data_node &n) {
  switch (n.kind) {
  case BL_D_BOOL: return arrow::boolean();
  case BL_D_INT32: return arrow::int32();
  case BL_D_INT64: return arrow::int64();
  case BL_D_FLOAT: return arrow::float32();
  case BL_D_DOUBLE: return arrow::float64();
  case BL_D_DECIMAL: return arrow::decimal128(n.precision, n.scale);
  case BL_D_DATE32: return arrow::date32();
  case BL_D_TIME_US: return arrow::time64(arrow::TimeUnit::MICRO);
  case BL_D_TIMESTAMP_US: return arrow::timestamp(arrow::TimeUnit::MICRO, n.utc ? "UTC" : "");
  case BL_D_TIMESTAMP_NS: return arrow::timestamp(arrow::TimeUnit::NANO, n.utc ? "UTC" : "");
  case BL_D_STRING: return arrow::utf8();
  case BL_D_BINARY: return arrow::binary();
  case BL_D_FIXED: return arrow::fixed_size_binary(n.length);
  default: break;
  }
  unsupported(std::string("cannot read a value of type ") + (n.note ? n.note : "nested"));
}

namespace {

arrow::FieldVector child_fields(const Tree &tree, const Choice &choice, int32_t node) {
  arrow::FieldVector out;
  for (int32_t kid : tree.kids(node))
    if (choice.has(kid)) out.push_back(field_of(tree, choice, kid));
  return out;
}

} // namespace

std::shared_ptr<arrow::Field> field_of(const Tree &tree, const Choice &choice, int32_t node) {
  const bl_data_node &n = tree.at(node);
  std::shared_ptr<arrow::DataType> type;
  if (n.kind == BL_D_STRUCT) {
    type = arrow::struct_(child_fields(tree, choice, node));
  } else if (n.kind == BL_D_LIST) {
    type = arrow::list(field_of(tree, choice, tree.kids(node)[0]));
  } else if (n.kind == BL_D_MAP) {
    auto key = field_of(tree, choice, tree.kids(node)[0])->WithNullable(false);
    auto entries = arrow::struct_({key, field_of(tree, choice, tree.kids(node)[1])});
    type = std::make_shared<arrow::MapType>(arrow::field("entries", entries, false));
  } else {
    type = leaf_type(n);
  }
  std::shared_ptr<const arrow::KeyValueMetadata> meta;
  if (n.field_id >= 0) meta = arrow::key_value_metadata({"PARQUET:field_id"}, {std::to_string(n.field_id)});
  return arrow::field(n.name, type, !n.required, meta);
}

std::shared_ptr<arrow::Schema> schema_of(const Tree &tree, const Choice &choice) {
  return arrow::schema(child_fields(tree, choice, 0));
}

} // namespace bl
