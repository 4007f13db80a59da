/* From an op to the plan's side of a column. */
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
    case IA_INT16: c->bound = 2, c->bind_bound = 10, c->int_max = INT16_MAX; break;
    case IA_INT32: c->bound = 4, c->bind_bound = 10, c->int_max = INT32_MAX; break;
    case IA_INT64: c->bound = 8, c->bind_bound = 14, c->int_max = INT64_MAX; break;
    case IA_INT8: c->bound = 10, c->bind_bound = 14, c->int_max = INT64_MAX; break;
    case IA_FLOAT32: c->bound = 4, c->bind_bound = 14; break;
    case IA_FLOAT64: c->bound = 8, c->bind_bound = 14; break;
    case IA_DATE: c->bound = 4, c->bind_bound = 10; break;
    case IA_BOOL: c->bound = 6, c->bind_bound = 10; break;
    case IA_CHAR:
        if (op->width < 1 || op->width > 32767) return "CHAR needs a width of 1..32767";
        c->bound = (size_t)op->width;
        c->bind_bound = IA_BIND_HEAD + 2 + (size_t)op->width + 1;
        break;
    case IA_VARCHAR:
        if (op->width < 1 || op->width > 255) return "VARCHAR needs a maximum of 1..255";
        c->bound = 1 + (size_t)op->width;
        c->bind_bound = IA_BIND_HEAD + 2 + (size_t)op->width + 1;
        break;
    case IA_LVARCHAR:
        if (op->width < 0) return "LVARCHAR needs a maximum that is not negative";
        if (op->width == 0) c->width = IA_ENC_MAX_TEXT;
        c->bound = 5;
        c->bind_bound = IA_BIND_LVARCHAR_HEAD + 1;
        break;
    case IA_OPAQUE:
        if (op->width < 0) return "an opaque type needs a maximum that is not negative";
        if (op->width == 0) c->width = IA_ENC_MAX_TEXT;
        c->bound = 5;
        c->bind_bound = op->arg == IA_BSON_ID ? IA_BIND_BSON_HEAD + 1 : IA_BIND_HEAD; /* NULL only */
        break;
    case IA_LOB:
        if (op->width <= IA_LOB_FLAGS || op->width > 1024) return "BYTE and TEXT need a descriptor of 40..1024 bytes";
        if (op->arg != 0 && op->arg != 11 && op->arg != 12) return "BYTE and TEXT need 11, 12 or 0 for 11";
        if (op->arg == 0) c->arg = 11;
        c->bound = (size_t)op->width;
        c->bind_bound = IA_BIND_HEAD + (size_t)op->width;
        break;
    case IA_DECIMAL128:
        c->decimal.width = op->width;
        c->decimal.precision = op->arg >> 8;
        c->decimal.scale = op->arg & 255;
        if (op->arg < 0 || c->decimal.precision < 1 || c->decimal.precision > 38 ||
            c->decimal.scale > c->decimal.precision)
            return "decimal128 needs precision << 8 | scale, precision 1..38, scale 0..precision";
        if (op->width < 2 || op->width > IA_DECIMAL_MAX_WIDTH) return "DECIMAL needs a width of 2..18";
        c->limit = ia_pow10_u128(c->decimal.precision);
        if (op->width != (c->decimal.precision + (c->decimal.scale & 1) + 3) / 2) {
            /* a floating DECIMAL(p) seen through a decimal128: its width says p, or p + 1 where p is odd */
            const int32_t p = 2 * op->width - 3 < 32 ? 2 * op->width - 3 : 32;
            c->precision_word = p << 8 | 255;
        }
        ia_enc_packed_bounds(c);
        break;
    case IA_DECIMAL_FLOAT64:
    case IA_DECIMAL_STRING:
    case IA_DECIMAL_INT64: {
        const int32_t scale = op->arg & 255;
        c->decimal.width = op->width;
        c->decimal.precision = op->arg >> 8;
        c->decimal.scale = scale == 255 ? -1 : scale;
        if (op->arg < 0 || c->decimal.precision < 1 || c->decimal.precision > 32 ||
            c->decimal.scale > c->decimal.precision)
            return "DECIMAL needs its encoded length: precision 1..32, scale 0..precision or 255";
        if (op->width != (c->decimal.precision + (scale & 1) + 3) / 2)
            return "the width is not that of the DECIMAL's encoded length";
        if (op->kind == IA_DECIMAL_INT64 && scale != 0) return "int64 needs a DECIMAL of scale 0";
        if (c->decimal.scale >= 0) c->limit = ia_pow10_u128(c->decimal.precision);
        ia_enc_packed_bounds(c);
        break;
    }
    case IA_DATETIME_DATE32:
    case IA_DATETIME_TIMESTAMP:
    case IA_DATETIME_TIME32:
    case IA_DATETIME_TIME64:
    case IA_DATETIME_TEXT:
        if (ia_qualifier_parse(&c->qualifier, op->arg)) return "the argument is not a DATETIME qualifier";
        if (op->width != c->qualifier.width) return "the width is not that of the DATETIME qualifier";
        if ((op->kind == IA_DATETIME_DATE32 || op->kind == IA_DATETIME_TIMESTAMP) && c->qualifier.start != 0)
            return "a date or timestamp needs a qualifier that starts with YEAR";
        if ((op->kind == IA_DATETIME_TIME32 || op->kind == IA_DATETIME_TIME64) && c->qualifier.start != 6)
            return "a time needs a qualifier that starts with HOUR";
        c->qualifier.inexact = c->decimal.inexact;
        ia_enc_packed_bounds(c);
        break;
    case IA_INTERVAL_MONTHS:
    case IA_INTERVAL_DURATION:
    case IA_INTERVAL_MDN:
        if (ia_interval_parse(&c->qualifier, op->arg)) return "the argument is not an INTERVAL qualifier";
        if (op->width != c->qualifier.width) return "the width is not that of the INTERVAL qualifier";
        if (op->kind == IA_INTERVAL_MONTHS && !ia_interval_of_months(&c->qualifier))
            return "months need a qualifier of YEAR and MONTH";
        if (op->kind == IA_INTERVAL_DURATION && ia_interval_of_months(&c->qualifier))
            return "a duration needs a qualifier of DAY .. FRACTION";
        c->qualifier.inexact = c->decimal.inexact;
        ia_enc_packed_bounds(c);
        break;
    default: return "unknown kind";
    }
    if (op->kind <= IA_BOOL) c->width = (int32_t)c->bound; /* whatever the op says: it is fixed */
    return NULL;
}

#endif
