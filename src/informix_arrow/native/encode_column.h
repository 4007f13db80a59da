/* One column of the encoder: its op, the layout of its Arrow values, and the reading of single values. No Python.h, no
 * allocation. */
#ifndef INFORMIX_ARROW_ENCODE_COLUMN_H
#define INFORMIX_ARROW_ENCODE_COLUMN_H

#include <stdint.h>
#include <string.h>

#include "encode_datetime.h"
#include "encode_decimal.h"
#include "encode_interval.h"
#include "encode_status.h"
#include "plan.h"

/* How Arrow values lie in their buffers. */
enum ia_source {
    IA_SRC_NONE = 0,
    IA_SRC_I8, IA_SRC_I16, IA_SRC_I32, IA_SRC_I64,
    IA_SRC_U8, IA_SRC_U16, IA_SRC_U32, IA_SRC_U64,
    IA_SRC_F32, IA_SRC_F64,
    IA_SRC_BIT,                             /* bool */
    IA_SRC_D32, IA_SRC_D64, IA_SRC_D128, IA_SRC_D256,
    IA_SRC_DAY,                             /* date32 */
    IA_SRC_DAY_MILLIS,                      /* date64 */
    IA_SRC_TIMESTAMP, IA_SRC_TIME32, IA_SRC_TIME64, IA_SRC_DURATION,
    IA_SRC_MDN,                             /* month_day_nano */
    IA_SRC_BYTES32, IA_SRC_BYTES64,         /* text and binary: offsets of 32 or 64 bits */
    IA_SRC_VIEW,                            /* string_view, binary_view */
    IA_SRC_FIXED                            /* fixed_size_binary */
};

/* Instead of the kind: an integer, FLOAT or DATE comes from another Arrow type than its own. */
#define IA_CONVERTED 0

struct ia_enc_col;
struct ia_enc_fault;

/* Write value i of a column at p; an ia_enc_status. */
typedef int ia_enc_put(const struct ia_enc_col *c, int64_t i, uint8_t *p, struct ia_enc_fault *fault);

/* One column: the plan's side is fixed, the batch's side is bound anew by every load. */
struct ia_enc_col {
    int32_t kind;
    int32_t width;
    int32_t arg;
    int32_t flags;
    int32_t precision_word;         /* of a DECIMAL, DATETIME or INTERVAL parameter */
    struct ia_decimal_spec decimal;
    unsigned __int128 limit;        /* DECIMAL with a scale: 10^precision */
    struct ia_qualifier qualifier;
    uint64_t int_max;               /* integer kinds: the largest magnitude */
    size_t bound;                   /* most bytes of one value in a tuple; without its content where that varies */
    size_t bind_bound;              /* the same of a parameter's record */

    int32_t route;                  /* the kind, or IA_CONVERTED */
    int32_t source;                 /* enum ia_source */
    int32_t all_null;               /* Arrow's null type: no buffers */
    int32_t has_hidden_nulls;               /* NULLs that validity does not show: all_null, or some in the dictionary */
    int32_t utf8;                   /* text, which goes through the code page, and not binary */
    int32_t places;                 /* digits behind the point of a decimal source */
    int32_t item;                   /* bytes of a fixed_size_binary */
    int64_t per_second;             /* ticks of a timestamp, time or duration */
    int64_t base;                   /* index of the batch's row 0 in the buffers */
    const uint8_t *validity;        /* NULL: no nulls */
    const uint8_t *values;          /* values, bits of a bool, string offsets, views */
    const uint8_t *text;            /* string bytes */
    int64_t text_end;               /* bytes of text, or of the views, that may be read */
    const void *const *pieces;      /* the buffers that views point into */
    const int64_t *piece_sizes;
    int64_t n_pieces;

    int32_t index_source;           /* a dictionary's indices: enum ia_source; 0: no dictionary */
    const uint8_t *indices;
    int64_t dictionary_base;        /* index of its value 0 in the buffers above */
    int64_t dictionary_length;
    const uint8_t *dictionary_validity;

    ia_enc_put *put;                /* of a packed kind */
    int32_t plain_text;             /* text or binary with offsets of 32 bits that is copied as it is */
    int32_t block_role;             /* what the column is to a block (encode_block.h) */
    int32_t group;                  /* of a strided column: which others are written with it (encode_block.h) */
    int32_t segment, place;         /* of a strided column: the variable columns before it, bytes behind the last of them */
    int32_t gap;                    /* of another: bytes of strided columns between the one before and it */
    int32_t next;                   /* of another: the index of the next of its sort, or the number of columns */
};

/* Where and why a value was refused. */
struct ia_enc_fault {
    int status;                     /* enum ia_enc_status */
    int32_t column;
    int64_t row;
    int64_t a, b;
};

/* The bytes of a text or binary value, and how many may be read from there on. */
struct ia_bytes {
    const uint8_t *s;
    int64_t len;
    int64_t readable;
};

static inline int ia_source_is_integer(int source)
{
    return source >= IA_SRC_I8 && source <= IA_SRC_U64;
}

static inline int ia_source_is_decimal(int source)
{
    return source >= IA_SRC_D32 && source <= IA_SRC_D256;
}

static inline int ia_source_is_bytes(int source)
{
    return source >= IA_SRC_BYTES32 && source <= IA_SRC_FIXED;
}

/* Integer i of the values, as magnitude and sign. */
static inline uint64_t ia_enc_magnitude(int source, const uint8_t *values, int64_t i, int *negative)
{
    int64_t v = 0;
    *negative = 0;
    switch (source) {
    case IA_SRC_U8: return values[i];
    case IA_SRC_U16: { uint16_t u; memcpy(&u, values + i * 2, 2); return u; }
    case IA_SRC_U32: { uint32_t u; memcpy(&u, values + i * 4, 4); return u; }
    case IA_SRC_U64: { uint64_t u; memcpy(&u, values + i * 8, 8); return u; }
    case IA_SRC_I8: v = (int8_t)values[i]; break;
    case IA_SRC_I16: { int16_t s; memcpy(&s, values + i * 2, 2); v = s; break; }
    case IA_SRC_I32: { int32_t s; memcpy(&s, values + i * 4, 4); v = s; break; }
    default: memcpy(&v, values + i * 8, 8); break;
    }
    *negative = v < 0;
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* Why a magnitude above the column's largest has no bytes. */
static inline int ia_enc_out_of_range(const struct ia_enc_col *c, uint64_t magnitude, int negative,
                                      struct ia_enc_fault *fault)
{
    fault->a = (int64_t)magnitude;
    fault->b = negative;
    if (!negative || magnitude != c->int_max + 1) return IA_ENC_RANGE;
    return c->int_max == INT16_MAX ? IA_ENC_NULL_INT16 : c->int_max == INT32_MAX ? IA_ENC_NULL_INT32 : IA_ENC_NULL_INT64;
}

/* Integer i of a column of an integer kind, in its range. */
static inline int ia_enc_whole(const struct ia_enc_col *c, int64_t i, int64_t *v, struct ia_enc_fault *fault)
{
    int negative;
    const uint64_t magnitude = ia_enc_magnitude(c->source, c->values, i, &negative);
    if (magnitude > c->int_max) return ia_enc_out_of_range(c, magnitude, negative, fault);
    *v = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return IA_ENC_OK;
}

static inline int ia_enc_digits(const struct ia_enc_col *c, int64_t i, struct ia_digits *d, double *binary,
                                struct ia_enc_fault *fault);

/* The same of a decimal, a float or text: whole, unless the column may lose its fraction. */
static __attribute__((noinline)) int ia_enc_whole_of_digits(const struct ia_enc_col *c, int64_t i, int64_t *v,
                                                            struct ia_enc_fault *fault)
{
    struct ia_digits d;
    double binary;
    uint64_t magnitude = 0;
    const int status = ia_enc_digits(c, i, &d, &binary, fault);
    if (status) return status;
    if (c->decimal.inexact) ia_digits_cut(&d, d.point, c->decimal.inexact);
    if (d.n > d.point) return IA_ENC_FRACTION;
    if (d.point > 19) return IA_ENC_RANGE_DIGITS;
    for (int k = 0; k < d.point; k++) magnitude = magnitude * 10 + (k < d.n ? d.digit[k] : 0);
    if (magnitude > c->int_max) return ia_enc_out_of_range(c, magnitude, d.negative, fault);
    *v = d.negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return IA_ENC_OK;
}

static inline int ia_enc_integer(const struct ia_enc_col *c, int64_t i, int64_t *v, struct ia_enc_fault *fault)
{
    return ia_source_is_integer(c->source) ? ia_enc_whole(c, i, v, fault) : ia_enc_whole_of_digits(c, i, v, fault);
}

/* From a row to its value in the dictionary. */
static inline int ia_enc_dictionary(const struct ia_enc_col *c, int64_t i, int64_t *value)
{
    int negative;
    const uint64_t index = ia_enc_magnitude(c->index_source, c->indices, i, &negative);
    if (negative || index >= (uint64_t)c->dictionary_length) {
        *value = (int64_t)(negative ? 0 - index : index); /* as the producer wrote it, for the message */
        return IA_ENC_INDEX;
    }
    *value = c->dictionary_base + (int64_t)index;
    return IA_ENC_OK;
}

static inline int ia_enc_hidden_null(const struct ia_enc_col *c, int64_t i)
{
    int64_t at;
    if (c->all_null) return 1;
    if (ia_enc_dictionary(c, i, &at)) return 0; /* refused when it is read */
    return !(c->dictionary_validity[at >> 3] >> (at & 7) & 1);
}

static inline int ia_enc_is_null(const struct ia_enc_col *c, int64_t i)
{
    if (c->validity && !(c->validity[i >> 3] >> (i & 7) & 1)) return 1;
    return c->has_hidden_nulls && ia_enc_hidden_null(c, i);
}

static inline int ia_enc_view(const struct ia_enc_col *c, int64_t i, struct ia_bytes *t)
{
    int32_t view[4]; /* length, then 12 bytes; or length, 4 bytes of prefix, buffer, offset */
    memcpy(view, c->values + i * 16, sizeof view);
    t->len = view[0];
    if (view[0] >= 0 && view[0] <= 12) {
        t->s = c->values + i * 16 + 4;
        t->readable = c->text_end - (i * 16 + 4);
        return IA_ENC_OK;
    }
    if (view[0] < 0 || view[2] < 0 || view[2] >= c->n_pieces || view[3] < 0 || c->pieces[view[2]] == NULL ||
        (int64_t)view[3] + view[0] > c->piece_sizes[view[2]])
        return IA_ENC_OFFSETS;
    t->s = (const uint8_t *)c->pieces[view[2]] + view[3];
    t->readable = c->piece_sizes[view[2]] - view[3];
    return IA_ENC_OK;
}

/* The bytes of value i.  Offsets, views and indices are the producer's, and nothing may be read outside its buffers:
 * inconsistent ones are refused. */
static inline int ia_enc_bytes(const struct ia_enc_col *c, int64_t i, struct ia_bytes *t, struct ia_enc_fault *fault)
{
    int64_t from, to;
    if (c->index_source && ia_enc_dictionary(c, i, &i)) {
        fault->a = i;
        return IA_ENC_INDEX;
    }
    switch (c->source) {
    case IA_SRC_BYTES32: {
        int32_t o[2];
        memcpy(o, c->values + i * 4, 8);
        from = o[0], to = o[1];
        break;
    }
    case IA_SRC_BYTES64:
        memcpy(&from, c->values + i * 8, 8);
        memcpy(&to, c->values + i * 8 + 8, 8);
        break;
    case IA_SRC_FIXED:
        from = i * c->item, to = from + c->item;
        t->s = c->values + from;
        t->len = c->item;
        t->readable = c->text_end - from;
        return IA_ENC_OK;
    default: return ia_enc_view(c, i, t);
    }
    if (from < 0 || to < from || to > c->text_end) return IA_ENC_OFFSETS;
    t->s = c->text + from;
    t->len = to - from;
    t->readable = c->text_end - from;
    return IA_ENC_OK;
}

/* A DATE: days from 1970-01-01, in DATE's range. */
static inline int ia_enc_day(const struct ia_enc_col *c, int64_t i, int32_t *day, struct ia_enc_fault *fault)
{
    if (c->source == IA_SRC_DAY) {
        memcpy(day, c->values + i * 4, 4);
    } else { /* date64 */
        int64_t v;
        memcpy(&v, c->values + i * 8, 8);
        if (v % 86400000 != 0) return IA_ENC_PART_OF_DAY;
        v /= 86400000;
        *day = v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : (int32_t)v;
    }
    fault->a = *day;
    return *day < IA_DAY_MIN || *day > IA_DAY_MAX ? IA_ENC_DATE_RANGE : IA_ENC_OK;
}

/* The digits of a number that is no integer: a decimal's, the shortest of a float, which is *binary then, or a text's. */
static inline int ia_enc_digits(const struct ia_enc_col *c, int64_t i, struct ia_digits *d, double *binary,
                                struct ia_enc_fault *fault)
{
    const int source = c->source;
    if (ia_source_is_decimal(source)) {
        const int bytes = 4 << (source - IA_SRC_D32);
        ia_digits_wide(d, c->values + i * bytes, bytes, c->places);
        return IA_ENC_OK;
    }
    if (source == IA_SRC_F64) {
        memcpy(binary, c->values + i * 8, 8);
        if (!isfinite(*binary)) return IA_ENC_NOT_FINITE;
        ia_digits_double(d, *binary);
        return IA_ENC_OK;
    }
    if (source == IA_SRC_F32) {
        float narrow;
        memcpy(&narrow, c->values + i * 4, 4);
        *binary = (double)narrow;
        if (!isfinite(narrow)) return IA_ENC_NOT_FINITE;
        ia_digits_float(d, narrow);
        return IA_ENC_OK;
    }
    struct ia_bytes t;
    const int status = ia_enc_bytes(c, i, &t, fault);
    return status ? status : ia_digits_text(d, t.s, (size_t)t.len);
}

static inline int64_t ia_enc_tick(const struct ia_enc_col *c, int64_t i)
{
    int64_t v;
    if (c->source == IA_SRC_TIME32) {
        int32_t narrow;
        memcpy(&narrow, c->values + i * 4, 4);
        return narrow;
    }
    memcpy(&v, c->values + i * 8, 8);
    return v;
}

/* DECIMAL, DATETIME and INTERVAL, all c->width bytes wide: a function for each way that values come, chosen once for a batch
 * (ia_enc_packed), and out of line to keep the row's loop small. What they divide by is a constant to the compiler. */
#define IA_ENC_PUT(name, expression)                                                                                   \
    static __attribute__((noinline)) int name(const struct ia_enc_col *c, int64_t i, uint8_t *p,                       \
                                              struct ia_enc_fault *fault)                                              \
    {                                                                                                                  \
        (void)fault;                                                                                                   \
        return expression;                                                                                             \
    }

IA_ENC_PUT(ia_enc_put_int128, ia_pack_int128(p, &c->decimal, c->values + i * 16, c->limit))
IA_ENC_PUT(ia_enc_put_timestamp_s, ia_pack_timestamp(p, &c->qualifier, ia_enc_tick(c, i), 1))
IA_ENC_PUT(ia_enc_put_timestamp_ms, ia_pack_timestamp(p, &c->qualifier, ia_enc_tick(c, i), 1000))
IA_ENC_PUT(ia_enc_put_timestamp_us, ia_pack_timestamp(p, &c->qualifier, ia_enc_tick(c, i), 1000000))
IA_ENC_PUT(ia_enc_put_timestamp_ns, ia_pack_timestamp(p, &c->qualifier, ia_enc_tick(c, i), 1000000000))
IA_ENC_PUT(ia_enc_put_time_s, ia_pack_time(p, &c->qualifier, ia_enc_tick(c, i), 1))
IA_ENC_PUT(ia_enc_put_time_ms, ia_pack_time(p, &c->qualifier, ia_enc_tick(c, i), 1000))
IA_ENC_PUT(ia_enc_put_time_us, ia_pack_time(p, &c->qualifier, ia_enc_tick(c, i), 1000000))
IA_ENC_PUT(ia_enc_put_time_ns, ia_pack_time(p, &c->qualifier, ia_enc_tick(c, i), 1000000000))
IA_ENC_PUT(ia_enc_put_ticks_s, ia_pack_ticks(p, &c->qualifier, ia_enc_tick(c, i), 1))
IA_ENC_PUT(ia_enc_put_ticks_ms, ia_pack_ticks(p, &c->qualifier, ia_enc_tick(c, i), 1000))
IA_ENC_PUT(ia_enc_put_ticks_us, ia_pack_ticks(p, &c->qualifier, ia_enc_tick(c, i), 1000000))
IA_ENC_PUT(ia_enc_put_ticks_ns, ia_pack_ticks(p, &c->qualifier, ia_enc_tick(c, i), 1000000000))
IA_ENC_PUT(ia_enc_put_mdn, ia_pack_month_day_nano(p, &c->qualifier, c->values + i * 16))

static __attribute__((noinline)) int ia_enc_put_decimal(const struct ia_enc_col *c, int64_t i, uint8_t *p,
                                                        struct ia_enc_fault *fault)
{
    struct ia_digits d;
    const int source = c->source;
    double binary;
    if (ia_source_is_integer(source)) {
        int negative;
        const uint64_t v = ia_enc_magnitude(source, c->values, i, &negative);
        if (c->decimal.scale == 0) return ia_pack_unscaled(p, &c->decimal, v, negative, c->limit);
        ia_digits_u64(&d, v, 0);
        d.negative = negative;
        return ia_pack_digits(p, &c->decimal, &d);
    }
    const int status = ia_enc_digits(c, i, &d, &binary, fault);
    if (status) return status;
    if (source == IA_SRC_F64 || source == IA_SRC_F32) return ia_pack_float_digits(p, &c->decimal, &d, binary);
    return ia_pack_digits(p, &c->decimal, &d);
}

static __attribute__((noinline)) int ia_enc_put_day(const struct ia_enc_col *c, int64_t i, uint8_t *p,
                                                    struct ia_enc_fault *fault)
{
    int32_t day;
    const int status = ia_enc_day(c, i, &day, fault);
    return status ? status : ia_pack_datetime_day(p, &c->qualifier, day);
}

static __attribute__((noinline)) int ia_enc_put_moment_text(const struct ia_enc_col *c, int64_t i, uint8_t *p,
                                                            struct ia_enc_fault *fault)
{
    struct ia_bytes t;
    const int status = ia_enc_bytes(c, i, &t, fault);
    return status ? status : ia_pack_datetime_text(p, &c->qualifier, t.s, (size_t)t.len);
}

static __attribute__((noinline)) int ia_enc_put_months(const struct ia_enc_col *c, int64_t i, uint8_t *p,
                                                       struct ia_enc_fault *fault)
{
    int negative;
    const uint64_t months = ia_enc_magnitude(c->source, c->values, i, &negative);
    (void)fault;
    return ia_pack_months(p, &c->qualifier, months, negative);
}

/* The function of a column whose Arrow values are known. */
static inline ia_enc_put *ia_enc_packed(const struct ia_enc_col *c)
{
    static ia_enc_put *const moments[3][4] = {
        {ia_enc_put_timestamp_s, ia_enc_put_timestamp_ms, ia_enc_put_timestamp_us, ia_enc_put_timestamp_ns},
        {ia_enc_put_time_s, ia_enc_put_time_ms, ia_enc_put_time_us, ia_enc_put_time_ns},
        {ia_enc_put_ticks_s, ia_enc_put_ticks_ms, ia_enc_put_ticks_us, ia_enc_put_ticks_ns}};
    const int unit = c->per_second == 1 ? 0 : c->per_second == 1000 ? 1 : c->per_second == 1000000 ? 2 : 3;
    switch (c->kind) {
    case IA_DECIMAL128:
    case IA_DECIMAL_FLOAT64:
    case IA_DECIMAL_STRING:
    case IA_DECIMAL_INT64:
        return c->source == IA_SRC_D128 && c->places == c->decimal.scale ? ia_enc_put_int128 : ia_enc_put_decimal;
    case IA_INTERVAL_MONTHS:
    case IA_INTERVAL_DURATION:
    case IA_INTERVAL_MDN:
        return c->source == IA_SRC_MDN ? ia_enc_put_mdn : c->source == IA_SRC_DURATION ? moments[2][unit] : ia_enc_put_months;
    default:
        switch (c->source) {
        case IA_SRC_DAY:
        case IA_SRC_DAY_MILLIS: return ia_enc_put_day;
        case IA_SRC_TIMESTAMP: return moments[0][unit];
        case IA_SRC_TIME32:
        case IA_SRC_TIME64: return moments[1][unit];
        default: return ia_enc_put_moment_text;
        }
    }
}

static inline int ia_enc_put_packed(const struct ia_enc_col *c, int64_t i, uint8_t *p, struct ia_enc_fault *fault)
{
    return c->put(c, i, p, fault);
}

/* FLOAT and SMALLFLOAT from what is not a float of their own: float32, and integers that they hold exactly, or may lose
 * digits of. */
static inline int ia_enc_double(const struct ia_enc_col *c, int64_t i, double *v, struct ia_enc_fault *fault)
{
    if (c->source == IA_SRC_F64) {
        memcpy(v, c->values + i * 8, 8);
    } else if (c->source == IA_SRC_F32) {
        float narrow;
        memcpy(&narrow, c->values + i * 4, 4);
        *v = (double)narrow;
    } else {
        int negative;
        const uint64_t magnitude = ia_enc_magnitude(c->source, c->values, i, &negative);
        const int bits = c->kind == IA_FLOAT32 ? 24 : 53;
        const int spare = magnitude ? 64 - __builtin_clzll(magnitude) - bits : 0;
        const uint64_t unit = UINT64_C(1) << (spare > 0 ? spare : 0), lost = magnitude & (unit - 1);
        if (lost && !c->decimal.inexact) {
            fault->a = (int64_t)magnitude;
            fault->b = negative;
            return IA_ENC_INEXACT;
        }
        *v = (double)(magnitude - lost); /* exact, and so is the sum */
        if (lost && c->decimal.inexact == IA_ROUND && lost >= unit - lost) *v += (double)unit;
        if (negative) *v = -*v;
    }
    return IA_ENC_OK;
}

#endif
