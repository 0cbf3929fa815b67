/* tree.h: the column tree of a data file and a choice of its leaves; the canonical Arrow types of both
 * (bergline/sys/data.h).
 *
 * 1. Nodes are in preorder; node 0 is the root struct; a list has one child ("element"), a map two ("key", "value").
 * 2. Types and layouts of what is read come from this tree alone, never from what a library found in the file. */
#ifndef BL_EDGE_ARROW_TREE_H
#define BL_EDGE_ARROW_TREE_H

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type.h>

#include "bergline/sys/data.h"

namespace bl {

struct Tree {
  std::vector<bl_data_node> nodes;
  std::vector<std::vector<int32_t>> children;
  std::vector<int32_t> leaf_node; /* of a leaf; -1: it cannot be reached (below a BL_D_OTHER) */
  bool has_field_ids = false;

  int32_t add(int32_t parent, const std::string &name, int32_t field_id, bool required, bl_data_kind kind);
  void set_leaf(int32_t node, int32_t leaf);
  void set_other(int32_t node, const std::string &note);
  const char *keep(const std::string &s); /* a copy that lives as long as the tree */
  std::string path(int32_t node) const;   /* "a.b.element" */
  bl_data_node &at(int32_t i) { return nodes[static_cast<size_t>(i)]; }
  const bl_data_node &at(int32_t i) const { return nodes[static_cast<size_t>(i)]; }
  const std::vector<int32_t> &kids(int32_t i) const { return children[static_cast<size_t>(i)]; }

private:
  std::deque<std::string> text_;
};

/* Chosen leaves with everything above them; where one leaf of a map is chosen all of them are. */
struct Choice {
  std::vector<uint8_t> on;     /* by node */
  std::vector<int32_t> leaves; /* ascending, after maps were made whole */
  bool has(int32_t node) const { return on[static_cast<size_t>(node)] != 0; }
};
/* Throws BL_USAGE for a leaf that is not there, BL_UNSUPPORTED for one that cannot be read. */
Choice choose(const Tree &tree, const int32_t *leaves, size_t n);

/* The ranges of a read() call, empty ones dropped and neighbours joined; all rows where there are none. Throws BL_USAGE
 * for what is not ascending, disjoint and inside the group. */
std::vector<bl_row_range> checked_ranges(const bl_row_range *ranges, size_t n, int64_t rows);

std::shared_ptr<arrow::DataType> leaf_type(const bl_data_node &node);
std::shared_ptr<arrow::Field> field_of(const Tree &tree, const Choice &choice, int32_t node);
std::shared_ptr<arrow::Schema> schema_of(const Tree &tree, const Choice &choice);

} // namespace bl
#endif
