/* parquet_meta.cc: the file's schema as a node tree (parquet-format LogicalTypes.md, with its rules for old lists and
 * maps). What cannot be read becomes BL_D_OTHER with the file's own type name and does no harm until asked for. */
#include <parquet/types.h>

#include "guard.h"
#include "parquet_file.h"

namespace bl {
namespace {

using parquet::LogicalType;
using parquet::Type;
using parquet::schema::GroupNode;
using parquet::schema::Node;
using parquet::schema::PrimitiveNode;

/* Field ids are small where they are meant; the node tree keeps -1 for "none". */
int32_t id_of(const Node &n) {
  return n.field_id();
}

class Builder {
public:
  Builder(const parquet::SchemaDescriptor &schema, ParquetTree *tree) : schema_(schema), tree_(tree) {}

  void run() {
    int32_t root = add(-1, schema_.name(), *schema_.group_node(), true, BL_D_STRUCT, {});
    for (int i = 0; i < schema_.group_node()->field_count(); i++)
      field(root, *schema_.group_node()->field(i), {}, nullptr);
    tree_->leaf_node.resize(static_cast<size_t>(schema_.num_columns()), -1);
  }

private:
  const parquet::SchemaDescriptor &schema_;
  ParquetTree *tree_;

  int32_t add(int32_t parent, const std::string &name, const Node &n, bool required, bl_data_kind kind, Levels levels) {
    int32_t i = tree_->add(parent, name, id_of(n), required, kind);
    tree_->levels.push_back(levels);
    tree_->convert.push_back(Convert::None);
    return i;
  }

  static Levels repeated(Levels l) {
    l.rep++;
    l.def++;
    l.anc_def = l.def;
    return l;
  }

  /* A field of a group. name: instead of the file's own (elements, keys and values). */
  void field(int32_t parent, const Node &n, Levels l, const char *name) {
    if (n.is_repeated()) return bare_list(parent, n, l, name);
    if (n.is_optional()) l.def++;
    value(parent, n, n.is_required(), l, name);
  }

  /* The node itself, its repetition already counted. */
  void value(int32_t parent, const Node &n, bool required, Levels l, const char *name) {
    std::string own = name ? name : n.name();
    if (n.is_primitive()) return leaf(parent, static_cast<const PrimitiveNode &>(n), own, required, l);
    const auto &g = static_cast<const GroupNode &>(n);
    const LogicalType *type = n.logical_type().get();
    if (type && type->is_list()) return list(parent, g, own, required, l);
    if ((type && type->is_map()) || n.converted_type() == parquet::ConvertedType::MAP_KEY_VALUE)
      return map(parent, g, own, required, l);
    int32_t i = add(parent, own, n, required, BL_D_STRUCT, l);
    if (type && type->is_variant()) tree_->at(i).hint = BL_H_VARIANT;
    for (int k = 0; k < g.field_count(); k++) field(i, *g.field(k), l, nullptr);
  }

  /* A repeated field outside of any list: a required list of required elements. */
  void bare_list(int32_t parent, const Node &n, Levels l, const char *name) {
    l = repeated(l);
    int32_t i = add(parent, name ? name : n.name(), n, true, BL_D_LIST, l);
    value(i, n, true, l, "element");
    /* the id belongs to the list */
    tree_->at(tree_->kids(i)[0]).field_id = -1;
  }

  void other(int32_t parent, const Node &n, const std::string &name, bool required, Levels l, const std::string &note) {
    int32_t i = add(parent, name, n, required, BL_D_OTHER, l);
    tree_->set_other(i, note);
  }

  /* Is the repeated group itself the element (a list of two levels)? */
  static bool is_element(const GroupNode &list, const GroupNode &rep) {
    if (rep.field_count() != 1 || rep.field(0)->is_repeated()) return true;
    return rep.name() == "array" || rep.name() == list.name() + "_tuple";
  }

  void list(int32_t parent, const GroupNode &g, const std::string &name, bool required, Levels l) {
    if (g.field_count() != 1 || !g.field(0)->is_repeated())
      return other(parent, g, name, required, l, "list without one repeated field");
    const Node &rep = *g.field(0);
    l = repeated(l);
    int32_t i = add(parent, name, g, required, BL_D_LIST, l);
    if (rep.is_primitive() || is_element(g, static_cast<const GroupNode &>(rep))) {
      value(i, rep, true, l, "element");
    } else {
      field(i, *static_cast<const GroupNode &>(rep).field(0), l, "element");
    }
  }

  void map(int32_t parent, const GroupNode &g, const std::string &name, bool required, Levels l) {
    if (g.field_count() != 1 || !g.field(0)->is_repeated() || !g.field(0)->is_group())
      return other(parent, g, name, required, l, "map without a repeated group");
    const auto &rep = static_cast<const GroupNode &>(*g.field(0));
    if (rep.field_count() != 2 || rep.field(0)->is_repeated())
      return other(parent, g, name, required, l, "map without key and value");
    l = repeated(l);
    int32_t i = add(parent, name, g, required, BL_D_MAP, l);
    field(i, *rep.field(0), l, "key");
    field(i, *rep.field(1), l, "value");
  }

  void leaf(int32_t parent, const PrimitiveNode &n, const std::string &name, bool required, Levels l) {
    int32_t i = add(parent, name, n, required, BL_D_OTHER, l);
    tree_->set_leaf(i, schema_.GetColumnIndex(n));
    switch (n.physical_type()) {
    case Type::BOOLEAN: set(i, BL_D_BOOL, Convert::Bool); break;
    case Type::INT32: int32(i, n); break;
    case Type::INT64: int64(i, n); break;
    case Type::INT96:
      set(i, BL_D_TIMESTAMP_US, Convert::Int96);
      tree_->at(i).utc = true;
      tree_->at(i).hint = BL_H_INT96;
      break;
    case Type::FLOAT: set(i, BL_D_FLOAT); break;
    case Type::DOUBLE: set(i, BL_D_DOUBLE); break;
    case Type::BYTE_ARRAY: bytes(i, n); break;
    case Type::FIXED_LEN_BYTE_ARRAY: fixed(i, n); break;
    default: unknown(i, n); break;
    }
    if (n.logical_type() && n.logical_type()->is_null()) unknown(i, n);
  }

  void set(int32_t i, bl_data_kind kind, Convert convert = Convert::None) {
    tree_->at(i).kind = kind;
    tree_->convert[static_cast<size_t>(i)] = convert;
  }

  void unknown(int32_t i, const PrimitiveNode &n) {
    std::string note = parquet::TypeToString(n.physical_type());
    if (n.logical_type() && !n.logical_type()->is_none()) note += " (" + n.logical_type()->ToString() + ")";
    tree_->set_other(i, note);
  }

  void decimal(int32_t i, const PrimitiveNode &n, Convert convert) {
    const auto &d = static_cast<const parquet::DecimalLogicalType &>(*n.logical_type());
    if (d.precision() < 1 || d.precision() > 38 || d.scale() < 0 || d.scale() > d.precision()) return unknown(i, n);
    set(i, BL_D_DECIMAL, convert);
    tree_->at(i).precision = d.precision();
    tree_->at(i).scale = d.scale();
  }

  void int32(int32_t i, const PrimitiveNode &n) {
    const LogicalType *t = n.logical_type().get();
    if (!t || t->is_none()) return set(i, BL_D_INT32);
    if (t->is_decimal()) return decimal(i, n, Convert::Decimal32);
    if (t->is_date()) return set(i, BL_D_DATE32);
    if (t->is_time()) return set(i, BL_D_TIME_US, Convert::Millis32); /* micros need 64 bits */
    if (!t->is_int()) return unknown(i, n);
    const auto &w = static_cast<const parquet::IntLogicalType &>(*t);
    if (!w.is_signed() && w.bit_width() == 32) return set(i, BL_D_INT64, Convert::Unsigned);
    set(i, BL_D_INT32);
  }

  void int64(int32_t i, const PrimitiveNode &n) {
    const LogicalType *t = n.logical_type().get();
    if (!t || t->is_none()) return set(i, BL_D_INT64);
    if (t->is_decimal()) return decimal(i, n, Convert::Decimal64);
    if (t->is_time()) {
      const auto &time = static_cast<const parquet::TimeLogicalType &>(*t);
      if (time.time_unit() == LogicalType::TimeUnit::MICROS) return set(i, BL_D_TIME_US);
      return unknown(i, n);
    }
    if (t->is_timestamp()) return timestamp(i, n, static_cast<const parquet::TimestampLogicalType &>(*t));
    if (!t->is_int()) return unknown(i, n);
    if (static_cast<const parquet::IntLogicalType &>(*t).is_signed()) return set(i, BL_D_INT64);
    set(i, BL_D_DECIMAL, Convert::DecimalU64);
    tree_->at(i).precision = 20;
  }

  void timestamp(int32_t i, const PrimitiveNode &n, const parquet::TimestampLogicalType &t) {
    switch (t.time_unit()) {
    case LogicalType::TimeUnit::MILLIS: set(i, BL_D_TIMESTAMP_US, Convert::Millis64); break;
    case LogicalType::TimeUnit::MICROS: set(i, BL_D_TIMESTAMP_US); break;
    case LogicalType::TimeUnit::NANOS: set(i, BL_D_TIMESTAMP_NS); break;
    default: return unknown(i, n);
    }
    tree_->at(i).utc = t.is_adjusted_to_utc();
  }

  void bytes(int32_t i, const PrimitiveNode &n) {
    const LogicalType *t = n.logical_type().get();
    if (!t || t->is_none() || t->is_BSON()) return set(i, BL_D_BINARY);
    if (t->is_decimal()) return decimal(i, n, Convert::DecimalBinary);
    if (t->is_geometry() || t->is_geography()) {
      tree_->at(i).hint = t->is_geometry() ? BL_H_GEOMETRY : BL_H_GEOGRAPHY;
      return set(i, BL_D_BINARY);
    }
    if (!t->is_string() && !t->is_JSON() && !t->is_enum()) return unknown(i, n);
    tree_->at(i).hint = t->is_JSON() ? BL_H_JSON : t->is_enum() ? BL_H_ENUM : BL_H_NONE;
    set(i, BL_D_STRING);
  }

  void fixed(int32_t i, const PrimitiveNode &n) {
    const LogicalType *t = n.logical_type().get();
    if (n.type_length() <= 0) return unknown(i, n);
    if (t && t->is_decimal()) return decimal(i, n, Convert::DecimalFixed);
    tree_->at(i).length = n.type_length();
    if (t && !t->is_none() && !t->is_UUID()) return unknown(i, n);
    if (t && t->is_UUID()) tree_->at(i).hint = BL_H_UUID;
    set(i, BL_D_FIXED);
  }
};

} // namespace

void read_schema(const parquet::SchemaDescriptor &schema, ParquetTree *tree) {
  Builder(schema, tree).run();
}

} // namespace bl
