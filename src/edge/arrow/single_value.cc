/* single_value.cc: see single_value.h. */
#include "single_value.h"

#include <cmath>
#include <cstring>

#include <arrow/util/decimal.h>
#include <parquet/bloom_filter.h>
#include <parquet/xxhasher.h>

#include "guard.h"

namespace bl {
namespace {

using arrow::Decimal128;
using std::optional;
using std::string;
using std::string_view;

template <class T> optional<T> load(string_view s) {
  if (s.size() != sizeof(T)) return {};
  T v;
  std::memcpy(&v, s.data(), sizeof v);
  return v;
}

template <class T> string bytes_of(T v) {
  return string(reinterpret_cast<const char *>(&v), sizeof v);
}

/* Big-endian two's complement of any length that fits 128 bits. */
optional<Decimal128> load_decimal(string_view s) {
  if (s.empty()) return {};
  while (s.size() > 16) {
    unsigned char sign = static_cast<unsigned char>(s[1]) & 0x80 ? 0xff : 0;
    if (static_cast<unsigned char>(s[0]) != sign) return {};
    s.remove_prefix(1);
  }
  auto d = Decimal128::FromBigEndian(reinterpret_cast<const uint8_t *>(s.data()), static_cast<int32_t>(s.size()));
  if (!d.ok()) return {};
  return *d;
}

/* Big-endian in `size` bytes (0: as few as will do). */
optional<string> store_decimal(const Decimal128 &d, size_t size) {
  char all[16];
  uint64_t hi = static_cast<uint64_t>(d.high_bits()), lo = d.low_bits();
  for (int i = 0; i < 8; i++) {
    all[i] = static_cast<char>(hi >> (56 - 8 * i));
    all[8 + i] = static_cast<char>(lo >> (56 - 8 * i));
  }
  const char fill = d.high_bits() < 0 ? '\xff' : '\0';
  size_t skip = 0;
  while (skip < 15 && all[skip] == fill && ((all[skip + 1] ^ fill) & 0x80) == 0) skip++;
  string out(all + skip, 16 - skip);
  if (size == 0) return out;
  if (out.size() > size) return {};
  return string(size - out.size(), fill) + out;
}

template <class T> optional<string> real(string_view s, bool upper) {
  optional<T> v = load<T>(s);
  if (!v || std::isnan(*v)) return {};
  return bytes_of<T>(*v == 0 ? (upper ? T(0.0) : -T(0.0)) : *v);
}

optional<string> decimal_of(optional<Decimal128> d) {
  return d ? store_decimal(*d, 0) : optional<string>();
}

template <class T, class F> optional<string> mapped(string_view s, F &&f) {
  optional<T> v = load<T>(s);
  return v ? f(*v) : optional<string>();
}

optional<string> millis(int64_t v) {
  int64_t out;
  if (__builtin_mul_overflow(v, 1000, &out)) return {};
  return bytes_of(out);
}

optional<string> same(string_view s, size_t size) {
  return s.size() == size ? optional<string>(string(s)) : optional<string>();
}

optional<string> unconverted(const bl_data_node &n, string_view s, bool upper) {
  switch (n.kind) {
  case BL_D_INT32:
  case BL_D_DATE32: return same(s, 4);
  case BL_D_INT64:
  case BL_D_TIME_US:
  case BL_D_TIMESTAMP_US:
  case BL_D_TIMESTAMP_NS: return same(s, 8);
  case BL_D_FLOAT: return real<float>(s, upper);
  case BL_D_DOUBLE: return real<double>(s, upper);
  case BL_D_STRING:
  case BL_D_BINARY: return string(s);
  case BL_D_FIXED: return same(s, static_cast<size_t>(n.length));
  default: return {};
  }
}

int order(int64_t a, int64_t b) {
  return (a > b) - (a < b);
}

template <class T> optional<int> compare_as(string_view a, string_view b) {
  optional<T> x = load<T>(a), y = load<T>(b);
  if (!x || !y || *x != *x || *y != *y) return {};
  return (*x > *y) - (*x < *y);
}

} // namespace

optional<string> single_of_plain(const ParquetFile &file, int32_t leaf, string_view s, bool upper) {
  int32_t node = file.tree.leaf_node[static_cast<size_t>(leaf)];
  switch (file.tree.convert[static_cast<size_t>(node)]) {
  case Convert::None: return unconverted(file.tree.at(node), s, upper);
  case Convert::Bool: return same(s, 1);
  case Convert::Unsigned: return mapped<uint32_t>(s, [](uint32_t v) { return bytes_of(int64_t{v}); });
  case Convert::Millis32: return mapped<int32_t>(s, [](int32_t v) { return millis(v); });
  case Convert::Millis64: return mapped<int64_t>(s, [](int64_t v) { return millis(v); });
  case Convert::Decimal32: return mapped<int32_t>(s, [](int32_t v) { return store_decimal(Decimal128(v), 0); });
  case Convert::Decimal64: return mapped<int64_t>(s, [](int64_t v) { return store_decimal(Decimal128(v), 0); });
  case Convert::DecimalU64: return mapped<uint64_t>(s, [](uint64_t v) { return store_decimal(Decimal128(0, v), 0); });
  case Convert::DecimalFixed:
  case Convert::DecimalBinary: return decimal_of(load_decimal(s));
  case Convert::Int96: return {};
  }
  return {};
}

optional<int> compare_single(const bl_data_node &n, string_view a, string_view b) {
  switch (n.kind) {
  case BL_D_BOOL:
    if (a.size() != 1 || b.size() != 1) return {};
    return order(a[0] != 0, b[0] != 0);
  case BL_D_INT32:
  case BL_D_DATE32: return compare_as<int32_t>(a, b);
  case BL_D_INT64:
  case BL_D_TIME_US:
  case BL_D_TIMESTAMP_US:
  case BL_D_TIMESTAMP_NS: return compare_as<int64_t>(a, b);
  case BL_D_FLOAT: return compare_as<float>(a, b);
  case BL_D_DOUBLE: return compare_as<double>(a, b);
  case BL_D_DECIMAL: {
    auto x = load_decimal(a), y = load_decimal(b);
    if (!x || !y) return {};
    return (*x > *y) - (*x < *y);
  }
  case BL_D_STRING:
  case BL_D_BINARY:
  case BL_D_FIXED: {
    int c = a.compare(b); /* char_traits<char> compares as unsigned bytes */
    return (c > 0) - (c < 0);
  }
  default: return {};
  }
}

namespace {

const parquet::XxHasher &hasher() {
  static const parquet::XxHasher h;
  return h;
}

optional<uint64_t> hash_int32(optional<int64_t> v, bool *absent) {
  if (!v) return {};
  *absent = *v < INT32_MIN || *v > INT32_MAX;
  return hasher().Hash(static_cast<int32_t>(*v));
}

optional<uint64_t> hash_millis(string_view s, bool narrow, bool *absent) {
  optional<int64_t> v = load<int64_t>(s);
  if (!v) return {};
  if (narrow) {
    auto h = hash_int32(*v / 1000, absent);
    *absent |= *v % 1000 != 0;
    return h;
  }
  *absent = *v % 1000 != 0;
  return hasher().Hash(*v / 1000);
}

optional<uint64_t> hash_decimal(string_view s, Convert c, int32_t length, bool *absent) {
  optional<Decimal128> d = load_decimal(s);
  if (!d) return {};
  bool small = (d->high_bits() == 0 && d->low_bits() <= INT64_MAX) ||
               (d->high_bits() == -1 && static_cast<int64_t>(d->low_bits()) < 0);
  if (c == Convert::DecimalFixed) {
    auto bytes = store_decimal(*d, static_cast<size_t>(length));
    *absent = !bytes;
    if (!bytes) return 0;
    parquet::FLBA value(reinterpret_cast<const uint8_t *>(bytes->data()));
    return hasher().Hash(&value, static_cast<uint32_t>(length));
  }
  *absent = !small;
  auto v = static_cast<int64_t>(d->low_bits());
  if (c == Convert::Decimal64) return hasher().Hash(v);
  return *absent ? 0 : hash_int32(v, absent);
}

template <class T> optional<uint64_t> hash_real(string_view s) {
  optional<T> v = load<T>(s);
  if (!v || std::isnan(*v) || *v == 0) return {}; /* equal values with different bits */
  return hasher().Hash(*v);
}

optional<uint64_t> hash_bytes(string_view s) {
  return hasher().Hash(s);
}

template <class T> optional<uint64_t> hash_same(string_view s) {
  optional<T> v = load<T>(s);
  return v ? hasher().Hash(*v) : optional<uint64_t>();
}

optional<uint64_t> hash_fixed(const bl_data_node &n, string_view s, bool *absent) {
  *absent = s.size() != static_cast<size_t>(n.length);
  if (*absent) return 0;
  parquet::FLBA value(reinterpret_cast<const uint8_t *>(s.data()));
  return hasher().Hash(&value, static_cast<uint32_t>(n.length));
}

optional<uint64_t> hash_unconverted(const bl_data_node &n, string_view s, bool *absent) {
  switch (n.kind) {
  case BL_D_INT32:
  case BL_D_DATE32: return hash_same<int32_t>(s);
  case BL_D_INT64:
  case BL_D_TIME_US:
  case BL_D_TIMESTAMP_US:
  case BL_D_TIMESTAMP_NS: return hash_same<int64_t>(s);
  case BL_D_FLOAT: return hash_real<float>(s);
  case BL_D_DOUBLE: return hash_real<double>(s);
  case BL_D_STRING:
  case BL_D_BINARY: return hash_bytes(s);
  case BL_D_FIXED: return hash_fixed(n, s, absent);
  default: return {};
  }
}

} // namespace

optional<uint64_t> bloom_hash(const ParquetFile &file, int32_t leaf, string_view s, bool *absent) {
  int32_t node = file.tree.leaf_node[static_cast<size_t>(leaf)];
  Convert c = file.tree.convert[static_cast<size_t>(node)];
  *absent = false;
  switch (c) {
  case Convert::None: return hash_unconverted(file.tree.at(node), s, absent);
  case Convert::Millis32: return hash_millis(s, true, absent);
  case Convert::Millis64: return hash_millis(s, false, absent);
  case Convert::Decimal32:
  case Convert::Decimal64:
  case Convert::DecimalFixed: return hash_decimal(s, c, file.footer->schema()->Column(leaf)->type_length(), absent);
  default: return {}; /* one value may be written in several ways */
  }
}

} // namespace bl
