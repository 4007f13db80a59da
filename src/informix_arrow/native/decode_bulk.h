/* Decode rows that a client sends into a table, without Python: the longest run of whole, plain rows at the beginning of the
 * received bytes becomes Arrow columns of the kinds of the target's columns.
 *
 * There are two forms (SQLI section 11, JDBC section 8):
 *   - SQ_PUT messages of an insert cursor, whose tuples the row loop of decode_core.h reads;
 *   - bound rows: [SQ_ID] SQ_BIND [SQ_ID] SQ_EXECUTE, each followed by SQ_EOT ("groups") or all in one group.
 *
 * A bound value carries its own type (SQLI section 9, JDBC section 6). It is plain if converting it to its column's kind
 * loses only what the server's own conversion loses: trailing blanks of CHAR, fields of a DATETIME that the column lacks, and
 * digits of a DECIMAL, which is rounded half up. INTERVALs become month_day_nano.
 *
 * A run ends before the first row that is not plain or incomplete. That is no error here: the caller handles the row. So a run
 * never contains a part of a row, and the rest can be fed again. */
#ifndef INFORMIX_ARROW_DECODE_BULK_H
#define INFORMIX_ARROW_DECODE_BULK_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base100.h"
#include "decode_batch.h"
#include "decode_core.h"
#include "decode_datetime.h"
#include "decode_fields.h"
#include "decode_interval.h"
#include "decode_fixed.h"
#include "decode_text.h"
#include "decode_value.h"
#include "plan.h"
#include "wire_bytes.h"

enum { IA_SQ_ID = 4, IA_SQ_BIND = 5, IA_SQ_EXECUTE = 7, IA_SQ_EOT = 12 };

/* How executes lie: not known until the first has been seen with what follows it. */
enum ia_shape { IA_SHAPE_UNKNOWN = 0, IA_SHAPE_GROUPS = 1, IA_SHAPE_ONE_GROUP = 2 };

/* Type codes of bound values (TYPES section 2). */
enum {
    IA_BOUND_CHAR = 0,
    IA_BOUND_SMALLINT = 1,
    IA_BOUND_INTEGER = 2,
    IA_BOUND_FLOAT = 3,
    IA_BOUND_SMALLFLOAT = 4,
    IA_BOUND_DECIMAL = 5,
    IA_BOUND_SERIAL = 6,
    IA_BOUND_DATE = 7,
    IA_BOUND_MONEY = 8,
    IA_BOUND_DATETIME = 10,
    IA_BOUND_VARCHAR = 13,
    IA_BOUND_INTERVAL = 14,
    IA_BOUND_NCHAR = 15,
    IA_BOUND_NVARCHAR = 16,
    IA_BOUND_INT8 = 17,
    IA_BOUND_SERIAL8 = 18,
    IA_BOUND_LVARCHAR = 43,
    IA_BOUND_BOOL = 45,
    IA_BOUND_BIGINT = 52,
    IA_BOUND_BIGSERIAL = 53
};

/* One bound value, taken apart but not converted. `data` is its data part without the inner length. */
struct ia_bound {
    const uint8_t *data;
    int64_t size;
    int64_t room; /* bytes that may be read from data on */
    int type;
    int precision;
};

/* ---- runs ---------------------------------------------------------------------------------------------------- */

/* Forget what an unfinished row has left in the columns. */
static void ia_bulk_retract(struct ia_decoder *d)
{
    const uint64_t kept = (1ull << (d->rows & 63)) - 1;
    for (struct ia_column *c = d->columns; c < d->columns + d->count; c++) {
        c->word &= kept;
        c->bits &= kept;
        if (!c->item && c->kind != IA_BOOL && c->offsets)
            c->length = c->flags & IA_FLAG_LARGE ? ((const int64_t *)c->offsets)[d->rows]
                                                 : ((const int32_t *)c->offsets)[d->rows];
    }
    d->error.status = IA_NEED_MORE;
}

/* Decode the SQ_PUTs at the front; *stop is the end of the last one taken. IA_NEED_MORE, IA_OTHER (another message, or a
 * row that is not plain), IA_FULL or IA_NO_MEMORY. */
static enum ia_status ia_bulk_puts(struct ia_decoder *d, const uint8_t *data, const uint8_t *end, const uint8_t **stop)
{
    const enum ia_status status = ia_decoder_feed(d, data, end, stop);
    if (status >= 0)
        return status;
    ia_bulk_retract(d);
    return status == IA_NO_MEMORY ? status : IA_OTHER;
}

/* ---- values -------------------------------------------------------------------------------------------------- */

/* A bound value, and the bytes behind it in *next. IA_VALUE, IA_NULL, or how the row ends the run (negative:
 * -1 - ia_status). */
#define IA_ENDS(status) (-1 - (int)(status))

static inline __attribute__((always_inline)) int ia_bound_from(const uint8_t *q, const uint8_t *end,
                                                               const uint8_t **next, struct ia_bound *out)
{
    const uint8_t *p = q + 2;
    int64_t size;
    int prefix = 0;
    if (end - q < 6)
        return IA_ENDS(IA_NEED_MORE);
    const int type = out->type = q[1]; /* the high byte holds flags (SQLI section 8) */
    if (type > IA_BOUND_SERIAL8 && type != IA_BOUND_BIGINT && type != IA_BOUND_BIGSERIAL) {
        for (int i = 0; i < 2; i++) { /* owner and name of the type: passed over */
            if (end - p < 2)
                return IA_ENDS(IA_NEED_MORE);
            const int length = ia_load_be16(p);
            if (length > 0x7fff)
                return IA_ENDS(IA_OTHER);
            p += 2;
            if (end - p < length + (length & 1))
                return IA_ENDS(IA_NEED_MORE);
            p += length + (length & 1);
        }
        if (end - p < 4)
            return IA_ENDS(IA_NEED_MORE);
    }
    out->precision = ia_load_be16(p + 2);
    const int null = p[0] & 0x80; /* any indicator below 0 */
    p += 4;
    if (null) {
        *next = p;
        return IA_NULL;
    }
    switch (type) {
    case IA_BOUND_SMALLINT:
        size = 2;
        break;
    case IA_BOUND_INTEGER:
    case IA_BOUND_SERIAL:
    case IA_BOUND_SMALLFLOAT:
    case IA_BOUND_DATE:
        size = 4;
        break;
    case IA_BOUND_BIGINT:
    case IA_BOUND_BIGSERIAL:
    case IA_BOUND_FLOAT:
        size = 8;
        break;
    case IA_BOUND_INT8:
    case IA_BOUND_SERIAL8:
        size = 10;
        break;
    case IA_BOUND_CHAR:
    case IA_BOUND_VARCHAR:
    case IA_BOUND_NCHAR:
    case IA_BOUND_NVARCHAR:
    case IA_BOUND_DECIMAL:
    case IA_BOUND_MONEY:
    case IA_BOUND_DATETIME:
    case IA_BOUND_INTERVAL:
        prefix = 2;
        if (end - p < prefix)
            return IA_ENDS(IA_NEED_MORE);
        size = ia_load_be16(p); /* unsigned: JDBC binds up to 65534 bytes as CHAR */
        break;
    case IA_BOUND_LVARCHAR:
    case IA_BOUND_BOOL:
        prefix = 4;
        if (end - p < prefix)
            return IA_ENDS(IA_NEED_MORE);
        size = (int32_t)ia_load_be32(p);
        if (size < 0)
            return IA_ENDS(IA_OTHER);
        break;
    default:
        return IA_ENDS(IA_OTHER);
    }
    p += prefix;
    if (end - p < size + (size & 1))
        return IA_ENDS(IA_NEED_MORE);
    out->data = p;
    out->size = size;
    out->room = end - p;
    *next = p + size + (size & 1);
    return IA_VALUE;
}

/* A bound integer; IA_NULL for the patterns that stand for NULL (TYPES section 3), negative if it is none. */
static inline int ia_bound_integer(const struct ia_bound *b, int64_t *out)
{
    switch (b->type) {
    case IA_BOUND_SMALLINT: {
        const uint16_t v = ia_load_be16(b->data);
        *out = (int16_t)v;
        return v != 0x8000;
    }
    case IA_BOUND_INTEGER:
    case IA_BOUND_SERIAL: {
        const uint32_t v = ia_load_be32(b->data);
        *out = (int32_t)v;
        return v != 0x80000000u;
    }
    case IA_BOUND_BIGINT:
    case IA_BOUND_BIGSERIAL:
        *out = (int64_t)ia_load_be64(b->data);
        return *out != INT64_MIN;
    case IA_BOUND_INT8:
    case IA_BOUND_SERIAL8: {
        const uint32_t sign = ia_load_be16(b->data);
        const uint64_t v = (uint64_t)ia_load_be32(b->data + 6) << 32 | ia_load_be32(b->data + 2);
        *out = sign == 1 ? (int64_t)v : (int64_t)(0 - v);
        if (sign == 0)
            return IA_NULL;
        return (sign == 1 || sign == 0xffff) && v <= INT64_MAX ? IA_VALUE : -1;
    }
    default:
        return -1;
    }
}

static inline int ia_bound_is_text(const struct ia_bound *b)
{
    return b->type == IA_BOUND_CHAR || b->type == IA_BOUND_VARCHAR || b->type == IA_BOUND_NCHAR ||
           b->type == IA_BOUND_NVARCHAR || b->type == IA_BOUND_LVARCHAR;
}

/* Whether it is a DECIMAL or MONEY. What begins like a NULL is left to others: it has no place in a bind. */
static inline int ia_bound_is_decimal(const struct ia_bound *b)
{
    return (b->type == IA_BOUND_DECIMAL || b->type == IA_BOUND_MONEY) && b->size >= 2 &&
           b->size <= 1 + IA_B100_MAX_PAIRS && !(b->data[0] == 0 && b->data[1] == 0);
}

static inline int ia_bound_decimal(const struct ia_bound *b, struct ia_base100 *out)
{
    if (!ia_bound_is_decimal(b))
        return -1;
    return ia_b100_unpack(b->data, (int)b->size, b->room, out) == IA_B100_VALUE ? IA_VALUE : -1;
}

/* Integer columns: integers in range, and decimals that are integers. `limit` is the column's largest value. */
static inline int ia_bulk_integer(const struct ia_bound *b, int64_t limit, int64_t *out)
{
    int rc = ia_bound_integer(b, out);
    if (rc < 0) {
        struct ia_base100 number;
        ia_i128 wide;
        if (ia_bound_decimal(b, &number) < 0 || ia_b100_to_decimal128(&number, 19, 0, &wide) != IA_FIT ||
            wide > INT64_MAX || wide < -INT64_MAX)
            return -1;
        *out = (int64_t)wide;
        rc = IA_VALUE;
    }
    return rc == IA_NULL || (*out <= limit && *out >= -limit) ? rc : -1;
}

static inline int ia_bulk_float(const struct ia_bound *b, double *out)
{
    int64_t whole;
    uint64_t bits;
    uint32_t half;
    float narrow;
    struct ia_error ignored;
    switch (b->type) {
    case IA_BOUND_FLOAT:
        bits = ia_load_be64(b->data);
        memcpy(out, &bits, sizeof bits);
        return bits != UINT64_MAX;
    case IA_BOUND_SMALLFLOAT:
        half = ia_load_be32(b->data);
        memcpy(&narrow, &half, sizeof half);
        *out = (double)narrow;
        return half != UINT32_MAX;
    case IA_BOUND_DECIMAL:
    case IA_BOUND_MONEY:
        if (!ia_bound_is_decimal(b))
            return -1;
        return ia_decode_decimal_float64(b->data, (int)b->size, b->room, out, &ignored);
    default: {
        const int rc = ia_bound_integer(b, &whole);
        *out = rc == IA_VALUE ? (double)whole : 0.0;
        return rc;
    }
    }
}

/* SMALLFLOAT columns: a finite number that would become infinite is refused. */
static inline int ia_bulk_smallfloat(const struct ia_bound *b, float *out)
{
    double v = 0.0;
    const int rc = ia_bulk_float(b, &v);
    *out = (float)v;
    return rc == IA_VALUE && v - v == 0.0 && !(*out - *out == 0.0F) ? -1 : rc;
}

/* DECIMAL(p, s) columns: decimals, rounded half up where they have more than s digits, and integers. */
static inline int ia_bulk_decimal128(const struct ia_bound *b, int precision, int scale, ia_i128 *out)
{
    struct ia_base100 number;
    int64_t whole;
    int rc = ia_bound_integer(b, &whole);
    if (rc == IA_NULL)
        return rc;
    if (rc == IA_VALUE) {
        const ia_u128 magnitude = whole < 0 ? 0 - (ia_u128)whole : (ia_u128)whole;
        if (magnitude >= ia_pow10(precision - scale))
            return -1;
        *out = (ia_i128)whole * (ia_i128)ia_pow10(scale);
        return IA_VALUE;
    }
    if (ia_bound_decimal(b, &number) < 0)
        return -1;
    rc = ia_b100_to_decimal128(&number, precision, scale, out);
    if (rc != IA_FIT_SCALE)
        return rc == IA_FIT ? IA_VALUE : -1;
    const int shift = -(2 * number.exponent + scale); /* digits to drop: at least one, or it had fitted */
    ia_u128 kept = 0;
    if (shift <= 38) {
        const ia_u128 unit = ia_pow10(shift), rest = number.magnitude % unit;
        kept = number.magnitude / unit + (rest >= unit - rest);
    }
    if (kept >= ia_pow10(precision))
        return -1;
    *out = number.negative ? -(ia_i128)kept : (ia_i128)kept;
    return IA_VALUE;
}

static inline int ia_bulk_bool(const struct ia_bound *b, int *out)
{
    int64_t whole;
    if (b->type == IA_BOUND_BOOL || ia_bound_is_text(b)) {
        const int binary = b->type == IA_BOUND_BOOL;
        if (b->size != 1)
            return -1;
        *out = (b->data[0] | 0x20) == 't' || (binary && b->data[0] == 1);
        return *out || (b->data[0] | 0x20) == 'f' || (binary && b->data[0] == 0) ? IA_VALUE : -1;
    }
    const int rc = ia_bound_integer(b, &whole);
    *out = rc == IA_VALUE && whole == 1;
    return rc == IA_VALUE && whole != 0 && whole != 1 ? -1 : rc;
}

/* A bound DATETIME as its fields; *q is its own qualifier. It may be longer than that says, filled with zeros, or
 * normalised; a sixth fraction digit is dropped (informix-driver sends it). */
static inline int ia_bulk_moment(const struct ia_bound *b, struct ia_qualifier *q, struct ia_moment *m)
{
    uint8_t packed[1 + IA_DATETIME_MAX_PAIRS] = {0};
    struct ia_error ignored;
    if (b->type != IA_BOUND_DATETIME || b->size < 2 || b->data[0] < 0x80)
        return -1;
    q->pairs = 0;
    (void)ia_qualifier_from(b->precision, 0, q); /* the width follows from the qualifier */
    if (q->pairs < 1 || q->pairs > IA_DATETIME_MAX_PAIRS || ia_qualifier_from(b->precision, q->pairs + 1, q))
        return -1;
    const int shift = q->exponent - ((b->data[0] & 0x7f) - 64); /* leading pairs that were left out */
    if (shift < 0)
        return -1;
    for (int64_t i = 1; i < b->size; i++) {
        if (b->data[i] > 99 || (b->data[i] && shift + i > q->pairs))
            return -1;
        if (shift + i <= q->pairs)
            packed[shift + i] = b->data[i];
    }
    packed[0] = (uint8_t)(0x80 + q->exponent + 64);
    if (q->fraction & 1)
        packed[q->pairs] -= packed[q->pairs] % 10;
    return ia_decode_moment(packed, q, m, &ignored);
}

/* Days from 1970-01-01 of a bound DATE, or of a DATETIME that has a year. */
static inline int ia_bulk_days(const struct ia_bound *b, int32_t *out)
{
    struct ia_qualifier q;
    struct ia_moment m;
    if (b->type == IA_BOUND_DATE) {
        const int32_t v = (int32_t)ia_load_be32(b->data);
        if (v == INT32_MIN)
            return IA_NULL;
        if (v < IA_FIRST_DAY || v > IA_LAST_DAY)
            return -1;
        *out = v - IA_EPOCH; /* 1899-12-31 to 1970-01-01 */
        return IA_VALUE;
    }
    if (ia_bulk_moment(b, &q, &m) != IA_VALUE || q.start != IA_YEAR)
        return -1;
    *out = (int32_t)ia_days_from_civil(m.year, m.month, m.day);
    return IA_VALUE;
}

/* DATETIME columns from YEAR or from HOUR: fields that the column has not got are dropped, those that the value has not
 * got at its end are the first (EXTEND); a value without the column's first field is left to others. */
static inline int ia_bulk_units(const struct ia_bound *b, const struct ia_qualifier *to, int64_t *out)
{
    struct ia_qualifier q;
    struct ia_moment m;
    if (b->type == IA_BOUND_DATE) {
        int32_t days = 0;
        const int rc = to->start == IA_YEAR ? ia_bulk_days(b, &days) : -1;
        if (rc == IA_VALUE)
            *out = (int64_t)days * 86400 * to->unit;
        return rc;
    }
    if (ia_bulk_moment(b, &q, &m) != IA_VALUE || q.start > to->start || q.end < to->start ||
        (to->start == IA_YEAR && q.start != IA_YEAR))
        return -1;
    const int64_t days = to->start == IA_YEAR ? ia_days_from_civil(m.year, m.month, m.day) : 0;
    int64_t seconds = days * 86400 + m.hour * 3600;
    if (to->end >= IA_MINUTE)
        seconds += m.minute * 60;
    if (to->end >= IA_SECOND)
        seconds += m.second;
    *out = seconds * to->unit;
    if (to->fraction) {
        static const int below_last[6] = {1000000, 100000, 10000, 1000, 100, 10};
        *out += (m.micros - m.micros % below_last[to->fraction]) / (1000000 / to->unit);
    }
    return IA_VALUE;
}

/* A bound INTERVAL of the column's class, whatever its own qualifier: the column's is looked at when it is stored. */
static inline int ia_bulk_interval(const struct ia_bound *b, const struct ia_qualifier *to,
                                   struct ia_month_day_nano *out)
{
    uint8_t packed[32] = {0}; /* one load may take 16 bytes behind the first */
    struct ia_qualifier q = {0};
    struct ia_error ignored;
    if (b->type != IA_BOUND_INTERVAL || b->size < 2 || (b->data[0] == 0 && b->data[1] == 0))
        return -1;
    (void)ia_interval_qualifier_from(b->precision, 0, &q); /* the width follows from the qualifier */
    if (q.pairs < 1 || q.pairs > IA_INTERVAL_MAX_PAIRS || ia_interval_qualifier_from(b->precision, q.pairs + 1, &q) ||
        ia_counts_months(&q) != ia_counts_months(to))
        return -1;
    for (int64_t i = 0; i < b->size; i++) {
        if (i > q.pairs && b->data[i])
            return -1;
        if (i <= q.pairs)
            packed[i] = b->data[i];
    }
    ia_fields_prepare(&q, 1);
    return ia_decode_interval_mdn(packed, &q, sizeof packed, out, &ignored) == IA_VALUE ? IA_VALUE : -1;
}

/* ---- bound rows ---------------------------------------------------------------------------------------------- */

/* A number of a DECIMAL column without a scale, as text into row r; `bytes` grows by it. */
static inline int ia_bulk_decimal_text(struct ia_decoder *d, struct ia_column *c, int64_t r, const struct ia_bound *b,
                                       int64_t *bytes)
{
    char made[IA_DECIMAL_TEXT];
    int64_t whole;
    int length = 0, rc = ia_bound_integer(b, &whole);
    if (rc == IA_VALUE)
        length = snprintf(made, sizeof made, "%lld", (long long)whole);
    else if (rc < 0 && !ia_bound_is_decimal(b))
        return -1;
    else if (rc < 0)
        rc = ia_decode_decimal_text(b->data, (int)b->size, b->room, made, &length, &d->error);
    if (rc < 0)
        return rc;
    const int64_t n = ia_append_text(d, c, r, (const uint8_t *)made, rc == IA_VALUE ? length : 0, sizeof made, &d->error);
    if (n < 0)
        return (int)n;
    *bytes += n;
    return rc;
}

/* A text into row r; `bytes` grows by it. */
static inline __attribute__((always_inline)) int ia_bulk_text(struct ia_decoder *d, struct ia_column *c, int64_t r,
                                                              const struct ia_bound *b, int64_t *bytes)
{
    if (!ia_bound_is_text(b))
        return -1;
    int64_t n = c->kind == IA_CHAR && c->flags & IA_FLAG_TRIM ? ia_trimmed_length(b->data, b->size) : b->size;
    /* 8 bytes stand before every text: type, indicator, precision and length. */
    n = ia_append_text(d, c, r, b->data, n, b->room, &d->error);
    if (n < 0)
        return (int)n;
    *bytes += n;
    return IA_VALUE;
}

/* Put one value into row r of column c: IA_VALUE, IA_NULL or negative. `bytes` grows by its text. */
static inline __attribute__((always_inline)) int ia_bulk_value(struct ia_decoder *d, struct ia_column *c, int64_t r,
                                                               const struct ia_bound *b, int64_t *bytes)
{
    int64_t n = 0;
    int rc;
    switch (c->kind) {
    case IA_INT16:
        rc = ia_bulk_integer(b, INT16_MAX, &n);
        ((int16_t *)(void *)c->values)[r] = rc == IA_VALUE ? (int16_t)n : 0;
        return rc;
    case IA_INT32:
        rc = ia_bulk_integer(b, INT32_MAX, &n);
        ((int32_t *)(void *)c->values)[r] = rc == IA_VALUE ? (int32_t)n : 0;
        return rc;
    case IA_INT64:
    case IA_INT8:
        rc = ia_bulk_integer(b, INT64_MAX, &n);
        ((int64_t *)(void *)c->values)[r] = rc == IA_VALUE ? n : 0;
        return rc;
    case IA_FLOAT64: {
        double v;
        rc = ia_bulk_float(b, &v);
        ((double *)(void *)c->values)[r] = rc == IA_VALUE ? v : 0.0;
        return rc;
    }
    case IA_FLOAT32: {
        float v;
        rc = ia_bulk_smallfloat(b, &v);
        ((float *)(void *)c->values)[r] = rc == IA_VALUE ? v : 0.0F;
        return rc;
    }
    case IA_BOOL: {
        int v = 0;
        rc = ia_bulk_bool(b, &v);
        if (rc == IA_VALUE)
            c->bits |= (uint64_t)v << (r & 63);
        return rc;
    }
    case IA_DATE:
    case IA_DATETIME_DATE32: {
        int32_t days = 0;
        rc = ia_bulk_days(b, &days);
        ((int32_t *)(void *)c->values)[r] = rc == IA_VALUE ? days : 0;
        return rc;
    }
    case IA_DATETIME_TIMESTAMP:
    case IA_DATETIME_TIME32:
    case IA_DATETIME_TIME64:
        rc = ia_bulk_units(b, &c->qualifier, &n);
        if (rc != IA_VALUE)
            n = 0;
        if (c->kind == IA_DATETIME_TIME32)
            ((int32_t *)(void *)c->values)[r] = (int32_t)n;
        else
            ((int64_t *)(void *)c->values)[r] = n;
        return rc;
    case IA_DECIMAL128: {
        ia_i128 v = 0;
        rc = ia_bulk_decimal128(b, c->precision, c->scale, &v);
        if (rc != IA_VALUE)
            v = 0;
        memcpy(c->values + 16 * r, &v, sizeof v);
        return rc;
    }
    case IA_INTERVAL_MDN: {
        struct ia_month_day_nano v = {0};
        rc = ia_bulk_interval(b, &c->qualifier, &v);
        memcpy(c->values + (int64_t)sizeof v * r, &v, sizeof v);
        return rc;
    }
    case IA_DECIMAL_STRING:
        return ia_bulk_decimal_text(d, c, r, b, bytes);
    case IA_CHAR:
    case IA_VARCHAR:
    case IA_LVARCHAR:
        return ia_bulk_text(d, c, r, b, bytes);
    default:
        return -1;
    }
}

/* A NULL in row r: its item is 0, its text empty. */
static inline void ia_bulk_null(struct ia_column *c, int64_t r)
{
    if (ia_is_bits(c->kind))
        return;
    if (c->item)
        memset(c->values + r * c->item, 0, (size_t)c->item);
    else if (c->flags & IA_FLAG_LARGE)
        ((int64_t *)c->offsets)[r + 1] = c->length;
    else
        ((int32_t *)c->offsets)[r + 1] = (int32_t)c->length;
}

/* One whole row at p: IA_VALUE with *next behind it, or how it ends the run (IA_ENDS). */
static inline __attribute__((always_inline)) int ia_bulk_row(struct ia_decoder *d, int statement, enum ia_shape *shape,
                                                             int first, const uint8_t *p, const uint8_t *end,
                                                             const uint8_t **next, int64_t *bytes)
{
    const int64_t r = d->rows;
    if (end - p < 4)
        return IA_ENDS(end - p >= 2 && ia_load_be16(p) != IA_SQ_ID && ia_load_be16(p) != IA_SQ_BIND ? IA_OTHER
                                                                                                  : IA_NEED_MORE);
    if (ia_load_be16(p) == IA_SQ_ID) {
        if (ia_load_be16(p + 2) != statement)
            return IA_ENDS(IA_OTHER);
        p += 4;
        if (end - p < 4)
            return IA_ENDS(end - p >= 2 && ia_load_be16(p) != IA_SQ_BIND ? IA_OTHER : IA_NEED_MORE);
    } else if (*shape == IA_SHAPE_GROUPS && !first) {
        return IA_ENDS(IA_OTHER); /* a new group must name its statement */
    }
    if (ia_load_be16(p) != IA_SQ_BIND || ia_load_be16(p + 2) != d->count)
        return IA_ENDS(IA_OTHER);
    p += 4;
    for (struct ia_column *c = d->columns; c < d->columns + d->count; c++) {
        struct ia_bound bound;
        int rc = ia_bound_from(p, end, &p, &bound);
        if (rc == IA_VALUE)
            rc = ia_bulk_value(d, c, r, &bound, bytes);
        else if (rc < 0)
            return rc;
        if (rc == IA_NULL)
            ia_bulk_null(c, r);
        else if (rc < 0)
            return IA_ENDS(rc == IA_NO_MEMORY ? IA_NO_MEMORY : IA_OTHER);
        c->word |= (uint64_t)rc << (r & 63);
    }
    if (end - p >= 4 && ia_load_be16(p) == IA_SQ_ID) {
        if (ia_load_be16(p + 2) != statement)
            return IA_ENDS(IA_OTHER);
        p += 4;
    }
    if (end - p < 2)
        return IA_ENDS(IA_NEED_MORE);
    if (ia_load_be16(p) != IA_SQ_EXECUTE)
        return IA_ENDS(ia_load_be16(p) == IA_SQ_ID && end - p < 4 ? IA_NEED_MORE : IA_OTHER);
    p += 2;
    if (*shape != IA_SHAPE_ONE_GROUP) {
        if (end - p < 2)
            return IA_ENDS(IA_NEED_MORE);
        const int ends = ia_load_be16(p) == IA_SQ_EOT;
        if (*shape == IA_SHAPE_GROUPS && !ends)
            return IA_ENDS(IA_OTHER);
        *shape = ends ? IA_SHAPE_GROUPS : IA_SHAPE_ONE_GROUP;
        p += ends ? 2 : 0;
    }
    *next = p;
    return IA_VALUE;
}

/* Decode the bound rows of `statement` at the front; *stop is the end of the last one taken. *shape is what is known of
 * how they lie, and is updated. IA_NEED_MORE, IA_OTHER (another message, another statement, a row that is not plain),
 * IA_FULL or IA_NO_MEMORY. */
static enum ia_status ia_bulk_binds(struct ia_decoder *d, int statement, enum ia_shape *shape, const uint8_t *data,
                                    const uint8_t *end, const uint8_t **stop)
{
    const uint8_t *p = data;
    enum ia_status status;
    for (;;) {
        int64_t bytes = d->bytes;
        if (d->rows >= d->batch_rows || bytes >= d->batch_bytes) {
            status = IA_FULL;
            break;
        }
        if (d->rows == d->row_capacity && ia_grow_rows(d, bytes)) {
            status = IA_NO_MEMORY;
            break;
        }
        const int rc = ia_bulk_row(d, statement, shape, p == data, p, end, &p, &bytes);
        if (__builtin_expect(rc != IA_VALUE, 0)) {
            status = (enum ia_status)(-1 - rc);
            break;
        }
        d->bytes = bytes + d->row_bytes;
        d->rows++;
        if ((d->rows & 63) == 0)
            ia_store_words(d, (d->rows >> 6) - 1);
    }
    if (d->row_capacity)
        ia_bulk_retract(d);
    *stop = p;
    return status;
}

#endif
