/* debezium_value.c: see debezium_value.h.
 *
 * 1. A date goes into a date, or as its midnight (of UTC, where there is a zone) into a timestamp.
 * 2. A time goes into a time, if it is one of a day.
 * 3. A timestamp goes into a timestamp, at midnight into a date.
 * 4. Years and durations go into numbers.
 *    Times that are texts (isostring) are in UTC.
 * 5. The number itself goes into columns of integers and strings. */
#include "write/debezium_value.h"

#include <stdio.h>

/* ---- what schemas say ---- */

typedef enum meaning {
  NOTHING,
  A_DATE,
  A_TIME,
  A_TIMESTAMP,
  A_NUMBER,
  A_DECIMAL,
  A_SCALED_DECIMAL,
  BITS,
  NAMES
} meaning;

enum { WRITTEN = -1 };

typedef struct logical {
  const char *name;
  meaning is;
  int64_t parts; /* of a second, in one of which it counts; WRITTEN: it is a text */
} logical;

static const logical logicals[] = {
    {"io.debezium.time.Date", A_DATE, 0},
    {"io.debezium.time.Time", A_TIME, 1000},
    {"io.debezium.time.MicroTime", A_TIME, 1000000},
    {"io.debezium.time.NanoTime", A_TIME, 1000000000},
    {"io.debezium.time.Timestamp", A_TIMESTAMP, 1000},
    {"io.debezium.time.MicroTimestamp", A_TIMESTAMP, 1000000},
    {"io.debezium.time.NanoTimestamp", A_TIMESTAMP, 1000000000},
    {"io.debezium.time.IsoDate", A_DATE, WRITTEN},
    {"io.debezium.time.IsoTime", A_TIME, WRITTEN},
    {"io.debezium.time.ZonedTime", A_TIME, WRITTEN},
    {"io.debezium.time.IsoTimestamp", A_TIMESTAMP, WRITTEN},
    {"io.debezium.time.Year", A_NUMBER, 0},
    {"io.debezium.time.MicroDuration", A_NUMBER, 0},
    {"io.debezium.time.NanoDuration", A_NUMBER, 0},
    {"io.debezium.data.VariableScaleDecimal", A_SCALED_DECIMAL, 0},
    {"io.debezium.data.Bits", BITS, 0},
    {"io.debezium.data.EnumSet", NAMES, 0},
    {"org.apache.kafka.connect.data.Date", A_DATE, 0},
    {"org.apache.kafka.connect.data.Time", A_TIME, 1000},
    {"org.apache.kafka.connect.data.Timestamp", A_TIMESTAMP, 1000},
    {"org.apache.kafka.connect.data.Decimal", A_DECIMAL, 0},
};

static const logical nothing = {"a number", NOTHING, 0};

static const logical *logical_of(const bl_json *said) {
  const bl_json *name = said ? bl_json_get(said, "name") : NULL;
  if (!name || name->kind != BL_J_STRING) return &nothing;
  for (size_t i = 0; i < BL_LEN(logicals); i++)
    if (bl_str_is(name->text, logicals[i].name)) return &logicals[i];
  return &nothing;
}

const bl_json *bl_connect_field(const bl_json *fields, bl_str name) {
  for (const bl_json *t = fields && fields->kind == BL_J_ARRAY ? fields->first : NULL; t; t = t->next) {
    const bl_json *f = t->kind == BL_J_OBJECT ? bl_json_get(t, "field") : NULL;
    if (f && f->kind == BL_J_STRING && bl_str_eq(f->text, name)) return t;
  }
  return NULL;
}

/* ---- times ---- */

static bool is_timestamp(bl_kind k) {
  return k >= BL_TIMESTAMP && k <= BL_TIMESTAMPTZ_NS;
}

static bool is_number(bl_kind k) {
  return k == BL_INT || k == BL_LONG || k == BL_FLOAT || k == BL_DOUBLE || k == BL_DECIMAL;
}

/* What a number in a column of times is where nothing is said. */
static logical of_column(bl_kind k) {
  if (k == BL_DATE) return (logical){nothing.name, A_DATE, 0};
  if (k == BL_TIME) return (logical){nothing.name, A_TIME, 1000000};
  return (logical){nothing.name, A_TIMESTAMP, k == BL_TIMESTAMP || k == BL_TIMESTAMPTZ ? 1000000 : 1000000000};
}

static bool goes_into(meaning is, bl_kind k) {
  switch (is) {
  case A_DATE:
  case A_TIMESTAMP: return k == BL_DATE || is_timestamp(k);
  case A_TIME: return k == BL_TIME;
  default: return is_number(k);
  }
}

/* "what: " it cannot be, in words of its own with the names of both types. */
static bl_status unfit(const bl_putter *p, const bl_field *f, bl_str what, const char *before, const char *between,
                       const char *after, bl_error *err) {
  bl_buf why;
  bl_buf_init(&why, p->ctx, BL_BUF_MAX);
  bl_buf_cstr(&why, before);
  bl_buf_cstr(&why, between);
  bl_type_print(&why, &f->type);
  bl_buf_cstr(&why, after);
  bl_buf_byte(&why, 0);
  bl_status st = bl_buf_ok(&why, err);
  if (st == BL_OK) st = bl_put_misfit(p, f, what, (const char *)why.p, err);
  bl_buf_free(&why);
  return st;
}

static bl_i128 nanoseconds_of(int64_t n, const logical *l) {
  return (bl_i128)n * (l->is == A_DATE ? INT64_C(86400000000000) : INT64_C(1000000000) / l->parts);
}

static const bl_i128 ns_of_day = INT64_C(86400000000000);

static bl_status put_day(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, const logical *l, bl_i128 ns,
                         bl_error *err) {
  bl_i128 days = ns / ns_of_day;
  if (ns % ns_of_day != 0) return unfit(p, f, text, l->name, " goes into ", " at midnight alone", err);
  if (days != (int32_t)days) return unfit(p, f, text, "it is out of the range of ", "", "", err);
  return bl_builder_int(b, (int64_t)days, err);
}

static bl_status no_time_of_day(const bl_putter *p, const bl_field *f, bl_str text, const logical *l, bl_error *err) {
  char why[100];
  snprintf(why, sizeof why, "it is no time of a day (%s)", l->name);
  return bl_put_misfit(p, f, text, why, err);
}

/* ns: since the epoch, or of a time since midnight. */
static bl_status put_moment(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, const logical *l, bl_i128 ns,
                            bl_error *err) {
  bl_kind k = f->type.kind;
  if (k == BL_DATE) return put_day(p, b, f, text, l, ns, err);
  if (k == BL_TIME && (ns < 0 || ns >= ns_of_day)) return no_time_of_day(p, f, text, l, err);
  bl_i128 unit = k == BL_TIMESTAMP_NS || k == BL_TIMESTAMPTZ_NS ? 1 : 1000, v = ns / unit;
  if (ns % unit != 0) return unfit(p, f, text, "it has parts of a second that ", "", " does not hold", err);
  if (v != (int64_t)v) return unfit(p, f, text, "it is out of the range of ", "", "", err);
  return bl_builder_int(b, (int64_t)v, err);
}

/* A number that counts days or parts of a second, or is a year or a duration. */
static bl_status put_counted(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, const logical *l,
                             bl_error *err) {
  bl_kind k = f->type.kind;
  int64_t n;
  if (k == BL_INT || k == BL_LONG || k == BL_STRING || (l->is == A_NUMBER && is_number(k)))
    return bl_put_text(p, b, f, v->text, err);
  if (k == BL_VARIANT) return bl_put_json(p, b, f, v, err);
  if (!goes_into(l->is, k)) return unfit(p, f, v->text, l->name, " does not go into ", "", err);
  if (!bl_parse_i64(v->text, &n)) return bl_put_misfit(p, f, v->text, "it is no whole number of 64 bits", err);
  return put_moment(p, b, f, v->text, l, nanoseconds_of(n, l), err);
}

/* Without the zone, where that is UTC. */
static bl_str of_utc(bl_str s) {
  static const char *const zones[] = {"Z", "z", "+00:00", "-00:00"};
  for (size_t i = 0; i < BL_LEN(zones); i++) {
    size_t n = strlen(zones[i]);
    if (s.n > n && memcmp(s.p + s.n - n, zones[i], n) == 0) return (bl_str){s.p, s.n - n};
  }
  return s;
}

static bool read_written(bl_str text, meaning is, bl_i128 *ns) {
  int32_t days = 0;
  int64_t v = 0;
  bool zone, ok;
  if (is == A_DATE) {
    ok = bl_parse_date(of_utc(text), &days);
    *ns = days * ns_of_day;
  } else if (is == A_TIME) {
    ok = bl_parse_time(of_utc(text), 1000000000, &v);
    *ns = v;
  } else { /* microseconds reach further */
    bool micros = ok = bl_read_timestamp(text, 1000000, &v, &zone);
    if (!ok) ok = bl_read_timestamp(text, 1000000000, &v, &zone);
    *ns = (bl_i128)v * (micros ? 1000 : 1);
  }
  return ok;
}

/* A time that is a text. */
static bl_status put_written(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, const logical *l,
                             bl_error *err) {
  bl_i128 ns;
  if (f->type.kind == BL_STRING) return bl_put_text(p, b, f, v->text, err);
  if (!goes_into(l->is, f->type.kind)) return unfit(p, f, v->text, l->name, " does not go into ", "", err);
  if (read_written(v->text, l->is, &ns)) return put_moment(p, b, f, v->text, l, ns, err);
  if (l->is == A_TIME) return no_time_of_day(p, f, v->text, l, err);
  return bl_put_misfit(p, f, v->text, l->is == A_DATE ? "it is no date of UTC" : "it is no timestamp", err);
}

/* ---- decimals ---- */

/* Two's complement, big-endian. */
static bool number_of_bytes(const bl_buf *bytes, bl_i128 *out) {
  if (bytes->n == 0 || bytes->n > 16) return false;
  bl_i128 v = bytes->p[0] & 0x80 ? -1 : 0;
  for (size_t i = 0; i < bytes->n; i++) v = (bl_i128)((bl_u128)v << 8 | bytes->p[i]);
  *out = v;
  return true;
}

static bl_status put_unscaled(bl_putter *p, bl_builder *b, const bl_field *f, bl_str base64, int64_t scale,
                              bl_error *err) {
  bl_buf bytes;
  bl_i128 v;
  bool is_text = f->type.kind == BL_STRING;
  bl_buf_init(&bytes, p->ctx, BL_BUF_MAX);
  bool ok = bl_parse_base64(base64, &bytes) && number_of_bytes(&bytes, &v) && scale >= -100 && scale <= 100;
  bl_buf_free(&bytes);
  if (!ok) return bl_put_misfit(p, f, base64, "it is no decimal of 16 bytes at most in base64", err);
  if (!is_text && f->type.kind != BL_FLOAT && f->type.kind != BL_DOUBLE)
    return bl_put_number(p, b, f, v, (int)scale, err);
  bl_buf text;
  bl_buf_init(&text, p->ctx, 256);
  bl_print_decimal(&text, v, is_text && scale < 0 ? 0 : (int)scale);
  for (int64_t i = scale; is_text && v != 0 && i < 0; i++) bl_buf_byte(&text, '0');
  bl_status st = bl_buf_ok(&text, err);
  if (st == BL_OK) st = bl_put_text(p, b, f, (bl_str){(const char *)text.p, text.n}, err);
  bl_buf_free(&text);
  return st;
}

static bl_status put_decimal(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, const bl_json *said,
                             bl_error *err) {
  int64_t scale = 0;
  const bl_json *parameters = bl_json_get(said, "parameters");
  const bl_json *s = parameters && parameters->kind == BL_J_OBJECT ? bl_json_get(parameters, "scale") : NULL;
  if (s && !bl_parse_i64(s->text, &scale)) scale = INT64_MAX;
  return put_unscaled(p, b, f, v->text, scale, err);
}

/* {"scale": 2, "value": "…"} */
static bl_status put_scaled_decimal(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, bl_error *err) {
  int64_t scale;
  bl_str value;
  BL_TRY(bl_json_get_i64(v, "scale", &scale, err));
  BL_TRY(bl_json_get_str(v, "value", &value, err));
  return put_unscaled(p, b, f, value, scale, err);
}

/* A text that is no number: of bytes one cannot tell what they are without a schema. */
static bl_status put_bare_decimal(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, bl_error *err) {
  bl_i128 v;
  bl_buf_clear(&p->bytes);
  bool bytes = text.n > 0 && !bl_parse_decimal(text, 38, &v) && bl_parse_base64(text, &p->bytes);
  BL_TRY(bl_buf_ok(&p->bytes, err));
  if (!bytes) return bl_put_text(p, b, f, text, err);
  return unfit(p, f, text, "does not fit ", "",
               ": bytes in base64 need the event's schema (schemas.enable=true), or decimal.handling.mode=string", err);
}

/* ---- bits and names ---- */

/* Little-endian. */
static bl_status put_bits(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, bl_error *err) {
  if (!is_number(f->type.kind) && f->type.kind != BL_BOOLEAN) return bl_put_json(p, b, f, v, err);
  uint64_t bits = 0;
  bl_buf_clear(&p->bytes);
  bool ok = bl_parse_base64(v->text, &p->bytes);
  BL_TRY(bl_buf_ok(&p->bytes, err));
  for (size_t i = p->bytes.n; ok && i-- > 0;) {
    ok = bits >> 56 == 0;
    bits = bits << 8 | p->bytes.p[i];
  }
  if (ok && f->type.kind == BL_BOOLEAN && bits <= 1) return bl_builder_bool(b, bits == 1, err);
  if (ok && is_number(f->type.kind)) return bl_put_number(p, b, f, bits, 0, err);
  return unfit(p, f, v->text, "these bits do not fit ", "", "", err);
}

/* "a,b" */
static bl_status put_names(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, bl_error *err) {
  for (size_t at = 0; text.n > 0 && at <= text.n;) {
    const char *comma = at < text.n ? memchr(text.p + at, ',', text.n - at) : NULL;
    size_t end = comma ? (size_t)(comma - text.p) : text.n;
    BL_TRY(bl_put_text(p, bl_builder_child(b, 0), &f->type.fields[0], (bl_str){text.p + at, end - at}, err));
    at = end + 1;
  }
  return bl_builder_close(b, err);
}

/* ---- values ---- */

static const bl_json *said_of_part(const bl_json *said, const bl_field *f, size_t i) {
  bl_kind k = f->type.kind;
  const char *of = k == BL_LIST ? "items" : k == BL_STRUCT ? "fields" : i == 0 ? "keys" : "values";
  const bl_json *v = said ? bl_json_get(said, of) : NULL;
  if (k == BL_STRUCT) return bl_connect_field(v, f->type.fields[i].name);
  return v && v->kind == BL_J_OBJECT ? v : NULL;
}

static const bl_sayings connect = {bl_put_debezium, said_of_part};

static bl_status put_number(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, const logical *l,
                            bl_error *err) {
  bl_kind k = f->type.kind;
  int64_t n;
  if (l->is >= A_DATE && l->is <= A_NUMBER && l->parts != WRITTEN) return put_counted(p, b, f, v, l, err);
  logical unsaid = of_column(k);
  if (goes_into(unsaid.is, k)) return put_counted(p, b, f, v, &unsaid, err);
  if (k == BL_BOOLEAN && bl_parse_i64(v->text, &n) && (n == 0 || n == 1)) return bl_builder_bool(b, n == 1, err);
  return bl_put_json(p, b, f, v, err);
}

static bl_status put_string(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, const bl_json *said,
                            const logical *l, bl_error *err) {
  const bl_type *t = &f->type;
  if (l->parts == WRITTEN) return put_written(p, b, f, v, l, err);
  if (l->is == A_DECIMAL) return put_decimal(p, b, f, v, said, err);
  if (l->is == BITS) return put_bits(p, b, f, v, err);
  if (l->is == NAMES && t->kind == BL_LIST && t->fields[0].type.kind == BL_STRING)
    return put_names(p, b, f, v->text, err);
  if (!said && t->kind == BL_DECIMAL) return put_bare_decimal(p, b, f, v->text, err);
  if (bl_kind_is_nested(t->kind) || t->kind == BL_VARIANT) return bl_put_text(p, b, f, v->text, err);
  return bl_put_json(p, b, f, v, err);
}

/* {"scale": 2, "value": "…"}, which nothing else looks like in a column of numbers. */
static bool is_scaled_decimal(const bl_field *f, const bl_json *v, const bl_json *said, const logical *l) {
  if (l->is == A_SCALED_DECIMAL) return true;
  return !said && is_number(f->type.kind) && v->n == 2 && bl_json_get(v, "scale") && bl_json_get(v, "value");
}

bl_status bl_put_debezium(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, const bl_json *said,
                          bl_error *err) {
  const logical *l = logical_of(said);
  bl_kind k = f->type.kind;
  if (v->kind == BL_J_NUMBER) return put_number(p, b, f, v, l, err);
  if (v->kind == BL_J_STRING) return put_string(p, b, f, v, said, l, err);
  if (v->kind == BL_J_OBJECT && is_scaled_decimal(f, v, said, l)) return put_scaled_decimal(p, b, f, v, err);
  if (v->kind == BL_J_OBJECT && (k == BL_GEOMETRY || k == BL_GEOGRAPHY) && bl_json_get(v, "wkb"))
    return bl_put_json(p, b, f, bl_json_get(v, "wkb"), err);
  return bl_put_parts(p, b, f, v, &connect, said, err);
}
