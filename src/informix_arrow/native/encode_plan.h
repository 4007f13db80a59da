/* Set up a column of the encoder from its op. */
#ifndef INFORMIX_ARROW_ENCODE_PLAN_H
#define INFORMIX_ARROW_ENCODE_PLAN_H

#include <stdint.h>
#include <string.h>

#include "encode_bind.h"
#include "encode_column.h"
#include "encode_datetime.h"
#include "encode_decimal.h"
#include "encode_interval.h"
#include "encode_text.h"
#include "plan.h"

static inline void ia_enc_packed_bounds(struct ia_enc_col *c)
{
    c->bound = (size_t)c->width;
    c->bind_bound = IA_BIND_HEAD + 2 + (size_t)c->width + 1;
}

/* What the integers, floats, dates and booleans take; the width is fixed, whatever the op says. */
static inline void ia_enc_init_fixed(struct ia_enc_col *c, size_t bound, size_t bind_bound, int64_t int_max)
{
    c->bound = bound;
    c->bind_bound = bind_bound;
    c->int_max = int_max;
    c->width = (int32_t)bound;
}

static inline const char *ia_enc_init_text(struct ia_enc_col *c, const struct ia_op *op)
{
    switch (op->kind) {
    case IA_CHAR:
        if (op->width < 1 || op->width > 32767) return "CHAR needs a width of 1..32767";
        c->bound = (size_t)op->width;
        c->bind_bound = IA_BIND_HEAD + 2 + (size_t)op->width + 1;
        return NULL;
    case IA_VARCHAR:
        if (op->width < 1 || op->width > 255) return "VARCHAR needs a maximum of 1..255";
        c->bound = 1 + (size_t)op->width;
        c->bind_bound = IA_BIND_HEAD + 2 + (size_t)op->width + 1;
        return NULL;
    case IA_LVARCHAR:
        if (op->width < 0) return "LVARCHAR needs a maximum that is not negative";
        c->bind_bound = IA_BIND_LVARCHAR_HEAD + 1;
        break;
    default: /* IA_OPAQUE */
        if (op->width < 0) return "an opaque type needs a maximum that is not negative";
        c->bind_bound = op->arg == IA_BSON_ID ? IA_BIND_BSON_HEAD + 1 : IA_BIND_HEAD; /* NULL only */
        break;
    }
    if (op->width == 0) c->width = IA_ENC_MAX_TEXT;
    c->bound = 5;
    return NULL;
}

static inline const char *ia_enc_init_lob(struct ia_enc_col *c, const struct ia_op *op)
{
    if (op->width <= IA_LOB_FLAGS || op->width > 1024) return "BYTE and TEXT need a descriptor of 40..1024 bytes";
    if (op->arg != 0 && op->arg != 11 && op->arg != 12) return "BYTE and TEXT need 11, 12 or 0 for 11";
    if (op->arg == 0) c->arg = 11;
    c->bound = (size_t)op->width;
    c->bind_bound = IA_BIND_HEAD + (size_t)op->width;
    return NULL;
}

/* A DECIMAL(p, s), p to 38. */
static inline const char *ia_enc_init_decimal128(struct ia_enc_col *c, const struct ia_op *op)
{
    c->decimal.width = op->width;
    c->decimal.precision = op->arg >> 8;
    c->decimal.scale = op->arg & 255;
    if (op->arg < 0 || c->decimal.precision < 1 || c->decimal.precision > 38 || c->decimal.scale > c->decimal.precision)
        return "decimal128 needs precision << 8 | scale, precision 1..38, scale 0..precision";
    if (op->width < 2 || op->width > IA_DECIMAL_MAX_WIDTH) return "DECIMAL needs a width of 2..18";
    c->limit = ia_pow10_u128(c->decimal.precision);
    if (op->width != (c->decimal.precision + (c->decimal.scale & 1) + 3) / 2) {
        /* a floating DECIMAL(p) seen through a decimal128: its width says p, or p + 1 where p is odd */
        const int32_t p = 2 * op->width - 3 < 32 ? 2 * op->width - 3 : 32;
        c->precision_word = p << 8 | 255;
    }
    ia_enc_packed_bounds(c);
    return NULL;
}

/* A DECIMAL by its encoded length on the wire; a scale of 255 is that of a floating one. */
static inline const char *ia_enc_init_decimal(struct ia_enc_col *c, const struct ia_op *op)
{
    const int32_t scale = op->arg & 255;
    c->decimal.width = op->width;
    c->decimal.precision = op->arg >> 8;
    c->decimal.scale = scale == 255 ? -1 : scale;
    if (op->arg < 0 || c->decimal.precision < 1 || c->decimal.precision > 32 || c->decimal.scale > c->decimal.precision)
        return "DECIMAL needs its encoded length: precision 1..32, scale 0..precision or 255";
    if (op->width != (c->decimal.precision + (scale & 1) + 3) / 2)
        return "the width is not that of the DECIMAL's encoded length";
    if (op->kind == IA_DECIMAL_INT64 && scale != 0) return "int64 needs a DECIMAL of scale 0";
    if (c->decimal.scale >= 0) c->limit = ia_pow10_u128(c->decimal.precision);
    ia_enc_packed_bounds(c);
    return NULL;
}

static inline const char *ia_enc_init_datetime(struct ia_enc_col *c, const struct ia_op *op)
{
    if (ia_qualifier_parse(&c->qualifier, op->arg)) return "the argument is not a DATETIME qualifier";
    if (op->width != c->qualifier.width) return "the width is not that of the DATETIME qualifier";
    if ((op->kind == IA_DATETIME_DATE32 || op->kind == IA_DATETIME_TIMESTAMP) && c->qualifier.start != 0)
        return "a date or timestamp needs a qualifier that starts with YEAR";
    if ((op->kind == IA_DATETIME_TIME32 || op->kind == IA_DATETIME_TIME64) && c->qualifier.start != 6)
        return "a time needs a qualifier that starts with HOUR";
    c->qualifier.inexact = c->decimal.inexact;
    ia_enc_packed_bounds(c);
    return NULL;
}

static inline const char *ia_enc_init_interval(struct ia_enc_col *c, const struct ia_op *op)
{
    if (ia_interval_parse(&c->qualifier, op->arg)) return "the argument is not an INTERVAL qualifier";
    if (op->width != c->qualifier.width) return "the width is not that of the INTERVAL qualifier";
    if (op->kind == IA_INTERVAL_MONTHS && !ia_interval_of_months(&c->qualifier))
        return "months need a qualifier of YEAR and MONTH";
    if (op->kind == IA_INTERVAL_DURATION && ia_interval_of_months(&c->qualifier))
        return "a duration needs a qualifier of DAY .. FRACTION";
    c->qualifier.inexact = c->decimal.inexact;
    ia_enc_packed_bounds(c);
    return NULL;
}

/* Set the plan's side of a column.  Returns NULL, or what is wrong with the op. */
static inline const char *ia_enc_col_init(struct ia_enc_col *c, const struct ia_op *op)
{
    memset(c, 0, sizeof *c);
    c->kind = c->route = op->kind;
    c->width = op->width;
    c->arg = op->arg;
    c->flags = op->flags;
    c->precision_word = op->arg & 0xffff;
    c->decimal.inexact = (op->flags & IA_FLAG_ROUND) ? IA_ROUND : (op->flags & IA_FLAG_TRUNCATE) ? IA_TRUNCATE : IA_EXACT;
    switch (op->kind) {
    case IA_INT16: ia_enc_init_fixed(c, 2, 10, INT16_MAX); return NULL;
    case IA_INT32: ia_enc_init_fixed(c, 4, 10, INT32_MAX); return NULL;
    case IA_INT64: ia_enc_init_fixed(c, 8, 14, INT64_MAX); return NULL;
    case IA_INT8: ia_enc_init_fixed(c, 10, 14, INT64_MAX); return NULL;
    case IA_FLOAT32: ia_enc_init_fixed(c, 4, 14, 0); return NULL;
    case IA_FLOAT64: ia_enc_init_fixed(c, 8, 14, 0); return NULL;
    case IA_DATE: ia_enc_init_fixed(c, 4, 10, 0); return NULL;
    case IA_BOOL: ia_enc_init_fixed(c, 6, 10, 0); return NULL;
    case IA_CHAR:
    case IA_VARCHAR:
    case IA_LVARCHAR:
    case IA_OPAQUE: return ia_enc_init_text(c, op);
    case IA_LOB: return ia_enc_init_lob(c, op);
    case IA_DECIMAL128: return ia_enc_init_decimal128(c, op);
    case IA_DECIMAL_FLOAT64:
    case IA_DECIMAL_STRING:
    case IA_DECIMAL_INT64: return ia_enc_init_decimal(c, op);
    case IA_DATETIME_DATE32:
    case IA_DATETIME_TIMESTAMP:
    case IA_DATETIME_TIME32:
    case IA_DATETIME_TIME64:
    case IA_DATETIME_TEXT: return ia_enc_init_datetime(c, op);
    case IA_INTERVAL_MONTHS:
    case IA_INTERVAL_DURATION:
    case IA_INTERVAL_MDN: return ia_enc_init_interval(c, op);
    default: return "unknown kind";
    }
}

#endif
