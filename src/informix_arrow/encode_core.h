/* The encoder's core: Arrow columns -> SQLI tuples, row by row, by a plan.  No Python.h, nothing is allocated.
 *
 * The caller describes each column once (ia_enc_col), binds a batch's buffers to it, and calls ia_encode_rows with a
 * piece of memory.  A row is written whole or not at all: before each row the largest size that it can take is
 * compared with the room left, so that the writers inside need no checks of their own. */
#ifndef INFORMIX_ARROW_ENCODE_CORE_H
#define INFORMIX_ARROW_ENCODE_CORE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "encode_datetime.h"
#include "encode_decimal.h"
#include "plan.h"
#include "wire_bytes.h"

#define IA_ENC_HEADER 8            /* both messages: short tag, and six bytes of counts */
#define IA_ENC_MAX_TUPLE 0x7fffffff
#define IA_ENC_MAX_TEXT 0x7fffffff /* of an LVARCHAR without a declared maximum */

enum ia_framing {
    IA_FRAME_TUPLE = 0, /* SQ_TUPLE: 000e, short warnings 0, int size, payload, pad to even (SQLI section 8) */
    IA_FRAME_PUT = 1    /* SQ_PUT: 0011, int size, short 1, payload, pad to even (JDBC section 8) */
};

/* One column: the plan's side is fixed, the batch's side is bound anew by every load. */
struct ia_enc_col {
    int32_t kind;
    int32_t width;
    int32_t flags;
    struct ia_decimal_spec decimal;
    unsigned __int128 limit;        /* DECIMAL128: 10^precision */
    struct ia_qualifier qualifier;
    size_t bound;                   /* most bytes of one value; LVARCHAR without its text */

    int32_t all_null;               /* Arrow's null type: no buffers */
    int32_t large;                  /* 64-bit string offsets */
    int64_t per_second;             /* ticks of a timestamp or time */
    int32_t tick_bytes;             /* 4 or 8: width of such a tick */
    int64_t base;                   /* index of the batch's row 0 in the buffers */
    const uint8_t *validity;        /* NULL: no nulls */
    const uint8_t *values;          /* values, bits of a bool, or string offsets */
    const uint8_t *text;            /* string bytes */
    int64_t text_end;               /* bytes of text that may be read */
};

struct ia_enc_plan {
    struct ia_enc_col *cols;
    int32_t n;
    int32_t has_lvarchar;
    const uint8_t *codepage;        /* NULL: UTF-8 goes through; else code point -> byte, 65536 entries */
    int32_t codepage_is_ascii;      /* 0..127 stand for themselves */
    size_t row_bound;               /* header, bounds of all columns, pad */
};

/* Where and why a value was refused. */
struct ia_enc_fault {
    int status;                     /* enum ia_enc_status */
    int32_t column;
    int64_t row;
    int64_t a, b;
};

enum ia_enc_result {
    IA_ENC_DONE = 0,                /* the rows are out, or the next one exceeds the budget */
    IA_ENC_GROW = 1,                /* the next row needs `need` bytes from `used` on */
    IA_ENC_FAULT = 2                /* the first row of the call has no encoding: see the fault */
};

static inline int ia_enc_is_text(int kind)
{
    return kind == IA_CHAR || kind == IA_VARCHAR || kind == IA_LVARCHAR || kind == IA_DECIMAL_STRING ||
           kind == IA_DATETIME_TEXT;
}

static inline int ia_enc_is_null(const struct ia_enc_col *c, int64_t i)
{
    return c->all_null || (c->validity && !(c->validity[i >> 3] >> (i & 7) & 1));
}

/* The bytes of string i.  The offsets are the producer's, and nothing may be read outside its buffer: inconsistent
 * ones are refused. */
static inline int ia_enc_text(const struct ia_enc_col *c, int64_t i, const uint8_t **s, int64_t *len)
{
    int64_t from, to;
    if (c->large) {
        memcpy(&from, c->values + i * 8, 8);
        memcpy(&to, c->values + i * 8 + 8, 8);
    } else {
        int32_t o[2];
        memcpy(o, c->values + i * 4, 8);
        from = o[0], to = o[1];
    }
    if (from < 0 || to < from || to > c->text_end) return IA_ENC_OFFSETS;
    *s = c->text + from;
    *len = to - from;
    return IA_ENC_OK;
}

/* Copy a text.  Most are short and of ever new lengths: 64 bytes at once take no branch that depends on the length,
 * where a memcpy of unknown size costs several times as much.  Reads past the text only inside the Arrow buffer, writes
 * past it only into the slack. */
static inline void ia_enc_copy(uint8_t *out, const uint8_t *s, int64_t len, int64_t readable)
{
    if (len <= 64 && readable >= 64) {
        memcpy(out, s, 64);
    } else if (len <= 256 && readable >= len + 15) {
        for (int64_t k = 0; k < len; k += 16) memcpy(out + k, s + k, 16);
    } else if (len > 0) {
        memcpy(out, s, (size_t)len);
    }
}

/* n blanks, and up to 63 more. */
static inline void ia_enc_blanks(uint8_t *out, int64_t n)
{
    if (n <= 64)
        memset(out, ' ', 64);
    else
        memset(out, ' ', (size_t)n);
}

/* UTF-8 to the code page, at most max bytes.  *written counts what the whole text needs, so that an error can name it. */
static inline int ia_enc_transcode(const struct ia_enc_plan *plan, uint8_t *out, int64_t max, const uint8_t *s,
                                   int64_t len, int64_t *written, struct ia_enc_fault *fault)
{
    const uint8_t *const page = plan->codepage;
    int64_t i = 0, n = 0;
    while (i < len) {
        if (plan->codepage_is_ascii && len - i >= 8 && max - n >= 8) {
            uint64_t eight;
            memcpy(&eight, s + i, 8);
            if ((eight & UINT64_C(0x8080808080808080)) == 0) {
                memcpy(out + n, &eight, 8);
                i += 8, n += 8;
                continue;
            }
        }
        uint32_t c = s[i++];
        if (c >= 0x80) {
            const int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
            if (c < 0xc2 || c > 0xf4 || len - i < more) return IA_ENC_UTF8;
            c &= 0x3fu >> more;
            for (int k = 0; k < more; k++) {
                if ((s[i] & 0xc0) != 0x80) return IA_ENC_UTF8;
                c = c << 6 | (s[i++] & 0x3fu);
            }
            if ((more == 2 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) ||
                (more == 3 && (c < 0x10000 || c > 0x10ffff)))
                return IA_ENC_UTF8;
        }
        const uint8_t byte = c < 0x10000 ? page[c] : 0;
        if (byte == 0 && c != 0) {
            fault->a = c;
            return IA_ENC_CODE_POINT;
        }
        if (n < max) out[n] = byte;
        n++;
    }
    *written = n;
    return IA_ENC_OK;
}

/* The text of CHAR, VARCHAR and LVARCHAR at out, at most c->width bytes. */
static inline int ia_enc_put_text(const struct ia_enc_plan *plan, const struct ia_enc_col *c, int64_t i, uint8_t *out,
                                  int64_t *len, struct ia_enc_fault *fault)
{
    const uint8_t *s;
    int status = ia_enc_text(c, i, &s, len);
    if (status) return status;
    if (plan->codepage) {
        status = ia_enc_transcode(plan, out, c->width, s, *len, len, fault);
        if (status) return status;
    }
    if (*len > c->width) {
        fault->a = *len;
        fault->b = c->width;
        return IA_ENC_TOO_LONG;
    }
    if (!plan->codepage) ia_enc_copy(out, s, *len, c->text_end - (s - c->text));
    return IA_ENC_OK;
}

/* One NULL (TYPES section 2).  Returns the end of the field. */
static inline uint8_t *ia_enc_put_null(const struct ia_enc_col *c, uint8_t *p)
{
    switch (c->kind) {
    case IA_INT16: ia_store_be16(p, 0x8000); return p + 2;
    case IA_INT32:
    case IA_DATE: ia_store_be32(p, 0x80000000u); return p + 4;
    case IA_INT64: ia_store_be64(p, UINT64_C(1) << 63); return p + 8;
    case IA_INT8: memset(p, 0, 10); return p + 10;
    case IA_FLOAT32: memset(p, 0xff, 4); return p + 4;
    case IA_FLOAT64: memset(p, 0xff, 8); return p + 8;
    case IA_BOOL:
    case IA_LVARCHAR: p[0] = 1; memset(p + 1, 0, 4); return p + 5;
    case IA_CHAR: ia_enc_blanks(p, c->width); p[0] = 0; return p + c->width;
    case IA_VARCHAR: p[0] = 1; p[1] = 0; return p + 2;
    default: memset(p, 0, 32); return p + c->width; /* DECIMAL and DATETIME: at most IA_DECIMAL_MAX_WIDTH zeros */
    }
}

static inline int64_t ia_enc_tick(const struct ia_enc_col *c, int64_t i)
{
    if (c->tick_bytes == 4) {
        int32_t v;
        memcpy(&v, c->values + i * 4, 4);
        return v;
    }
    int64_t v;
    memcpy(&v, c->values + i * 8, 8);
    return v;
}

/* The less frequent kinds, out of line to keep the loop small: DECIMAL and DATETIME, all c->width bytes wide. */
static __attribute__((noinline)) int ia_enc_put_packed(const struct ia_enc_col *c, int64_t i, uint8_t *p)
{
    const uint8_t *s;
    int64_t len;
    int status;
    switch (c->kind) {
    case IA_DECIMAL128: return ia_pack_int128(p, &c->decimal, c->values + i * 16, c->limit);
    case IA_DECIMAL_FLOAT64: {
        double v;
        memcpy(&v, c->values + i * 8, 8);
        return ia_pack_double(p, &c->decimal, v);
    }
    case IA_DATETIME_DATE32: {
        int32_t v;
        memcpy(&v, c->values + i * 4, 4);
        return ia_pack_datetime_day(p, &c->qualifier, v);
    }
    case IA_DATETIME_TIMESTAMP: {
        const int64_t v = ia_enc_tick(c, i);
        switch (c->per_second) { /* constants: the divisions become multiplications */
        case 1: return ia_pack_timestamp(p, &c->qualifier, v, 1);
        case 1000: return ia_pack_timestamp(p, &c->qualifier, v, 1000);
        case 1000000: return ia_pack_timestamp(p, &c->qualifier, v, 1000000);
        default: return ia_pack_timestamp(p, &c->qualifier, v, 1000000000);
        }
    }
    case IA_DATETIME_TIME32:
    case IA_DATETIME_TIME64: return ia_pack_time(p, &c->qualifier, ia_enc_tick(c, i), c->per_second);
    default: break;
    }
    status = ia_enc_text(c, i, &s, &len);
    if (status) return status;
    return c->kind == IA_DECIMAL_STRING ? ia_pack_decimal_text(p, &c->decimal, s, (size_t)len)
                                        : ia_pack_datetime_text(p, &c->qualifier, s, (size_t)len);
}

/* Write one row's columns at p.  The caller has made room for the largest such row.  On success *end is the end of the
 * payload; else the fault says what and which column. */
static inline int ia_enc_put_row(const struct ia_enc_plan *plan, int64_t row, uint8_t *p, uint8_t **end,
                                 struct ia_enc_fault *fault)
{
    int status = IA_ENC_OK;
    const struct ia_enc_col *c = plan->cols, *const last = c + plan->n;
    for (; c < last; c++) {
        const int64_t i = c->base + row;
        if (ia_enc_is_null(c, i)) {
            p = ia_enc_put_null(c, p);
            continue;
        }
        switch (c->kind) {
        case IA_INT16: {
            uint16_t v;
            memcpy(&v, c->values + i * 2, 2);
            if (v == 0x8000u) { fault->a = INT16_MIN; status = IA_ENC_SENTINEL; goto refused; }
            ia_store_be16(p, v);
            p += 2;
            break;
        }
        case IA_INT32: {
            uint32_t v;
            memcpy(&v, c->values + i * 4, 4);
            if (v == 0x80000000u) { fault->a = INT32_MIN; status = IA_ENC_SENTINEL; goto refused; }
            ia_store_be32(p, v);
            p += 4;
            break;
        }
        case IA_INT64: {
            uint64_t v;
            memcpy(&v, c->values + i * 8, 8);
            if (v == UINT64_C(1) << 63) { fault->a = INT64_MIN; status = IA_ENC_SENTINEL; goto refused; }
            ia_store_be64(p, v);
            p += 8;
            break;
        }
        case IA_INT8: { /* sign word 1 (also for zero) or -1, then the magnitude, low word first (TYPES section 3) */
            uint64_t v;
            memcpy(&v, c->values + i * 8, 8);
            const int negative = v >> 63 != 0;
            const uint64_t magnitude = negative ? 0 - v : v;
            if (magnitude >> 63) { fault->a = INT64_MIN; status = IA_ENC_SENTINEL; goto refused; }
            ia_store_be16(p, negative ? 0xffff : 1);
            ia_store_be32(p + 2, (uint32_t)magnitude);
            ia_store_be32(p + 6, (uint32_t)(magnitude >> 32));
            p += 10;
            break;
        }
        case IA_FLOAT32: {
            uint32_t v;
            memcpy(&v, c->values + i * 4, 4);
            if (v == UINT32_MAX) v = 0x7fc00000u; /* a NaN, but not the one that is NULL */
            ia_store_be32(p, v);
            p += 4;
            break;
        }
        case IA_FLOAT64: {
            uint64_t v;
            memcpy(&v, c->values + i * 8, 8);
            if (v == UINT64_MAX) v = UINT64_C(0x7ff8000000000000);
            ia_store_be64(p, v);
            p += 8;
            break;
        }
        case IA_DATE: {
            int32_t v;
            memcpy(&v, c->values + i * 4, 4);
            if (v < IA_DAY_MIN || v > IA_DAY_MAX) { fault->a = v; status = IA_ENC_DATE_RANGE; goto refused; }
            ia_store_be32(p, (uint32_t)(v + IA_DAY_OF_DATE0));
            p += 4;
            break;
        }
        case IA_BOOL: {
            const int v = c->values[i >> 3] >> (i & 7) & 1;
            p[0] = 0;
            ia_store_be32(p + 1, 1);
            p[5] = (uint8_t)((c->flags & IA_FLAG_BINARY_BOOL) ? v : v ? 't' : 'f');
            p += 6;
            break;
        }
        case IA_CHAR: {
            int64_t len;
            status = ia_enc_put_text(plan, c, i, p, &len, fault);
            if (status) goto refused;
            if (len > 0 && p[0] == 0) { status = IA_ENC_NUL_TEXT; goto refused; }
            ia_enc_blanks(p + len, c->width - len);
            p += c->width;
            break;
        }
        case IA_VARCHAR: {
            int64_t len;
            status = ia_enc_put_text(plan, c, i, p + 1, &len, fault);
            if (status) goto refused;
            if (len == 1 && p[1] == 0) { status = IA_ENC_NUL_TEXT; goto refused; }
            p[0] = (uint8_t)len;
            p += 1 + len;
            break;
        }
        case IA_LVARCHAR: {
            int64_t len;
            status = ia_enc_put_text(plan, c, i, p + 5, &len, fault);
            if (status) goto refused;
            p[0] = 0;
            ia_store_be32(p + 1, (uint32_t)len);
            p += 5 + len;
            break;
        }
        default:
            status = ia_enc_put_packed(c, i, p);
            if (status) goto refused;
            p += c->width;
            break;
        }
    }
    *end = p;
    return IA_ENC_OK;
refused:
    fault->column = (int32_t)(c - plan->cols);
    fault->row = row;
    return fault->status = status;
}

/* The room that a row may need: the plan's bound, and the texts that have no small one. */
static inline int ia_enc_row_bound(const struct ia_enc_plan *plan, int64_t row, size_t *bound,
                                   struct ia_enc_fault *fault)
{
    *bound = plan->row_bound;
    if (!plan->has_lvarchar) return IA_ENC_OK;
    for (int32_t k = 0; k < plan->n; k++) {
        const struct ia_enc_col *c = plan->cols + k;
        const uint8_t *s;
        int64_t len;
        if (c->kind != IA_LVARCHAR || ia_enc_is_null(c, c->base + row)) continue;
        fault->status = ia_enc_text(c, c->base + row, &s, &len);
        /* A code page makes no text longer, and more than width is an error before it is written. */
        if (!fault->status && len > c->width && !plan->codepage) {
            fault->status = IA_ENC_TOO_LONG;
            fault->a = len;
            fault->b = c->width;
        }
        if (!fault->status) *bound += (size_t)(len < c->width ? len : c->width);
        if (!fault->status && *bound > (size_t)IA_ENC_MAX_TUPLE) fault->status = IA_ENC_ROW_SIZE;
        if (fault->status) {
            fault->column = k;
            fault->row = row;
            return fault->status;
        }
    }
    return IA_ENC_OK;
}

/* Encode rows [*row, end) as messages at out[*used..cap), while the messages stay within `budget` bytes counted from
 * out; the first row of a call is encoded even when it alone exceeds the budget.
 *
 * *row and *used advance past every whole row.  A row that cannot be encoded ends the call: with IA_ENC_FAULT when it is
 * the first one, else with IA_ENC_DONE, so that the rows before it get out and the next call reports it. */
static inline enum ia_enc_result ia_encode_rows(const struct ia_enc_plan *plan, int64_t *row, int64_t end,
                                                uint8_t *out, size_t *used, size_t cap, size_t budget, int framing,
                                                size_t *need, struct ia_enc_fault *fault)
{
    while (*row < end) {
        size_t bound;
        const int first = *used == 0;
        if (ia_enc_row_bound(plan, *row, &bound, fault)) return first ? IA_ENC_FAULT : IA_ENC_DONE;
        if (cap - *used < bound) {
            *need = bound;
            return IA_ENC_GROW;
        }
        uint8_t *const message = out + *used;
        uint8_t *const payload = message + IA_ENC_HEADER;
        uint8_t *p;
        if (ia_enc_put_row(plan, *row, payload, &p, fault)) return first ? IA_ENC_FAULT : IA_ENC_DONE;
        const uint32_t size = (uint32_t)(p - payload);
        *p = 0; /* the pad, or slack */
        const size_t after = *used + IA_ENC_HEADER + size + (size & 1);
        if (after > budget && !first) return IA_ENC_DONE;
        if (framing == IA_FRAME_TUPLE) {
            ia_store_be32(message, 0x000e0000u);
            ia_store_be32(message + 4, size);
        } else {
            ia_store_be16(message, 0x0011);
            ia_store_be32(message + 2, size);
            ia_store_be16(message + 6, 1);
        }
        *used = after;
        ++*row;
    }
    return IA_ENC_DONE;
}

/* Set the plan's side of a column.  Returns NULL, or what is wrong with the op. */
static inline const char *ia_enc_col_init(struct ia_enc_col *c, const struct ia_op *op)
{
    memset(c, 0, sizeof *c);
    c->kind = op->kind;
    c->width = op->width;
    c->flags = op->flags;
    switch (op->kind) {
    case IA_INT16: c->bound = 2; break;
    case IA_INT32:
    case IA_FLOAT32:
    case IA_DATE: c->bound = 4; break;
    case IA_INT64:
    case IA_FLOAT64: c->bound = 8; break;
    case IA_INT8: c->bound = 10; break;
    case IA_BOOL: c->bound = 6; break;
    case IA_CHAR:
        if (op->width < 1 || op->width > 32767) return "CHAR needs a width of 1..32767";
        c->bound = (size_t)op->width;
        break;
    case IA_VARCHAR:
        if (op->width < 1 || op->width > 255) return "VARCHAR needs a maximum of 1..255";
        c->bound = 1 + (size_t)op->width;
        break;
    case IA_LVARCHAR:
        if (op->width < 0) return "LVARCHAR needs a maximum that is not negative";
        if (op->width == 0) c->width = IA_ENC_MAX_TEXT;
        c->bound = 5;
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
        c->bound = (size_t)op->width;
        break;
    case IA_DECIMAL_FLOAT64:
    case IA_DECIMAL_STRING: {
        const int32_t scale = op->arg & 255;
        c->decimal.width = op->width;
        c->decimal.precision = op->arg >> 8;
        c->decimal.scale = scale == 255 ? -1 : scale;
        if (op->arg < 0 || c->decimal.precision < 1 || c->decimal.precision > 32 ||
            c->decimal.scale > c->decimal.precision)
            return "DECIMAL needs its encoded length: precision 1..32, scale 0..precision or 255";
        if (op->width != (c->decimal.precision + (scale & 1) + 3) / 2)
            return "the width is not that of the DECIMAL's encoded length";
        c->bound = (size_t)op->width;
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
        c->bound = (size_t)op->width;
        break;
    default: return "unknown kind";
    }
    return NULL;
}

#endif
