/* Encode one row: its values by the plan, the room that it may need, and its message. No Python.h, no allocation. */
#ifndef INFORMIX_ARROW_ENCODE_ROW_H
#define INFORMIX_ARROW_ENCODE_ROW_H

#include <stdint.h>
#include <string.h>

#include "encode_bind.h"
#include "encode_column.h"
#include "encode_datetime.h"
#include "encode_status.h"
#include "encode_text.h"
#include "plan.h"
#include "wire_bytes.h"

#define IA_ENC_HEADER 8 /* both tuple messages: short tag, and six bytes of counts */

/* How rows travel. */
enum ia_framing {
    IA_FRAME_TUPLE = 0, /* SQ_TUPLE: 000e, short warnings 0, int size, payload, pad to even (SQLI section 8) */
    IA_FRAME_PUT = 1,   /* SQ_PUT: 0011, int size, short 1, payload, pad to even (JDBC section 8) */
    IA_FRAME_BIND = 2   /* head, SQ_BIND, its large objects, tail (SQLI section 9) */
};

struct ia_enc_frame {
    int framing;
    const uint8_t *head, *tail;   /* IA_FRAME_BIND: what stands before and behind each row */
    size_t head_size, tail_size;
};

/* INT8: sign word 1 (also for zero) or -1, then the magnitude, low word first (TYPES section 3). */
static inline void ia_enc_put_int8(uint8_t *p, int64_t v)
{
    const uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    ia_store_be16(p, v < 0 ? 0xffff : 1);
    ia_store_be32(p + 2, (uint32_t)magnitude);
    ia_store_be32(p + 6, (uint32_t)(magnitude >> 32));
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
    case IA_LVARCHAR:
    case IA_OPAQUE: p[0] = 1; memset(p + 1, 0, 4); return p + 5;
    case IA_CHAR: ia_enc_blanks(p, c->width); p[0] = 0; return p + c->width;
    case IA_VARCHAR: p[0] = 1; p[1] = 0; return p + 2;
    case IA_LOB: memset(p, 0, (size_t)c->width); p[IA_LOB_FLAGS] = 1; return p + c->width;
    default: memset(p, 0, 32); return p + c->width; /* packed: at most IA_DECIMAL_MAX_WIDTH zeros */
    }
}

/* An integer, FLOAT or DATE of another Arrow type than its own, in range and exact.  c->width bytes. */
static __attribute__((noinline)) int ia_enc_put_converted(const struct ia_enc_col *c, int64_t i, uint8_t *p,
                                                          struct ia_enc_fault *fault)
{
    int64_t v;
    int status;
    if (c->kind == IA_FLOAT64) {
        double d;
        status = ia_enc_double(c, i, &d, fault);
        if (status) return status;
        ia_store_be64(p, ia_enc_double_bits(d));
        return IA_ENC_OK;
    }
    if (c->kind == IA_FLOAT32) {
        double d;
        uint32_t bits;
        status = ia_enc_double(c, i, &d, fault);
        if (status) return status;
        const float narrow = (float)d; /* exact */
        memcpy(&bits, &narrow, sizeof bits);
        ia_store_be32(p, bits);
        return IA_ENC_OK;
    }
    if (c->kind == IA_DATE) {
        int32_t day;
        status = ia_enc_day(c, i, &day, fault);
        if (status) return status;
        ia_store_be32(p, (uint32_t)(day + IA_DAY_OF_DATE0));
        return IA_ENC_OK;
    }
    status = ia_enc_integer(c, i, &v, fault);
    if (status) return status;
    switch (c->kind) {
    case IA_INT16: ia_store_be16(p, (uint16_t)v); break;
    case IA_INT32: ia_store_be32(p, (uint32_t)v); break;
    case IA_INT64: ia_store_be64(p, (uint64_t)v); break;
    default: ia_enc_put_int8(p, v); break;
    }
    return IA_ENC_OK;
}

/* Write one row's columns [from, to) at p.  The caller has made room for the largest such row.  On success *end is the end
 * of the last; else the fault says what and which column. */
static inline __attribute__((always_inline)) int ia_enc_put_columns(const struct ia_enc_plan *plan, int32_t from,
                                                                    int32_t to, int64_t row, uint8_t *p, uint8_t **end,
                                                                    struct ia_enc_fault *fault)
{
    int status = IA_ENC_OK;
    const struct ia_enc_col *c = plan->cols + from, *const last = plan->cols + to;
    for (; c < last; c++) {
        const int64_t i = c->base + row;
        if (ia_enc_is_null(c, i)) {
            p = ia_enc_put_null(c, p);
            continue;
        }
        switch (c->route) {
        case IA_INT16: {
            uint16_t v;
            memcpy(&v, c->values + i * 2, 2);
            if (v == 0x8000u) { status = IA_ENC_NULL_INT16; goto refused; }
            ia_store_be16(p, v);
            p += 2;
            break;
        }
        case IA_INT32: {
            uint32_t v;
            memcpy(&v, c->values + i * 4, 4);
            if (v == 0x80000000u) { status = IA_ENC_NULL_INT32; goto refused; }
            ia_store_be32(p, v);
            p += 4;
            break;
        }
        case IA_INT64: {
            uint64_t v;
            memcpy(&v, c->values + i * 8, 8);
            if (v == UINT64_C(1) << 63) { status = IA_ENC_NULL_INT64; goto refused; }
            ia_store_be64(p, v);
            p += 8;
            break;
        }
        case IA_INT8: {
            int64_t v;
            memcpy(&v, c->values + i * 8, 8);
            if (v == INT64_MIN) { status = IA_ENC_NULL_INT64; goto refused; }
            ia_enc_put_int8(p, v);
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
            double v;
            memcpy(&v, c->values + i * 8, 8);
            ia_store_be64(p, ia_enc_double_bits(v));
            p += 8;
            break;
        }
        case IA_DATE: {
            int32_t day;
            status = ia_enc_day(c, i, &day, fault);
            if (status) goto refused;
            ia_store_be32(p, (uint32_t)(day + IA_DAY_OF_DATE0));
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
        case IA_LVARCHAR:
        case IA_OPAQUE: {
            int64_t len;
            status = ia_enc_put_text(plan, c, i, p + 5, &len, fault);
            if (status) goto refused;
            p[0] = 0;
            ia_store_be32(p + 1, (uint32_t)len);
            p += 5 + len;
            break;
        }
        case IA_LOB: {
            const uint8_t *const from = c->values + i * c->width; /* fixed_size_binary of just this width */
            if (from[IA_LOB_FLAGS] & 1) { status = IA_ENC_NULL_DESCRIPTOR; goto refused; }
            if (c->width == IA_LOB_USUAL)
                memcpy(p, from, IA_LOB_USUAL);
            else
                memcpy(p, from, (size_t)c->width);
            p += c->width;
            break;
        }
        case IA_CONVERTED:
            status = ia_enc_put_converted(c, i, p, fault);
            if (status) goto refused;
            p += c->width;
            break;
        default:
            status = ia_enc_put_packed(c, i, p, fault);
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

/* The room that a row may need: the plan's bound, and the contents that have no small one. */
static inline int ia_enc_row_bound(const struct ia_enc_plan *plan, int64_t row, int framing, size_t *bound,
                                   struct ia_enc_fault *fault)
{
    const int bind = framing == IA_FRAME_BIND;
    *bound = bind ? plan->bind_bound : plan->row_bound;
    if (!plan->has_contents) return IA_ENC_OK;
    for (int32_t k = 0; k < plan->n; k++) {
        const struct ia_enc_col *c = plan->cols + k;
        const int lob = c->kind == IA_LOB;
        struct ia_bytes t;
        if (!(c->kind == IA_LVARCHAR || c->kind == IA_OPAQUE || (lob && bind))) continue;
        if (ia_enc_is_null(c, c->base + row)) continue;
        fault->status = ia_enc_bytes(c, c->base + row, &t, fault);
        /* A code page makes no text longer, and more than width is an error before it is written. */
        const int64_t most = lob ? IA_ENC_MAX_CONTENT : c->width;
        if (!fault->status && t.len > most && (lob || !(plan->codepage && c->utf8))) {
            fault->status = IA_ENC_TOO_LONG;
            fault->a = t.len;
            fault->b = most;
        }
        if (!fault->status) *bound += (size_t)(t.len < most ? t.len : most);
        if (!fault->status && lob) *bound += ia_enc_blob_overhead(t.len);
        if (!fault->status && *bound > (size_t)IA_ENC_MAX_TUPLE) fault->status = IA_ENC_ROW_SIZE;
        if (fault->status) {
            fault->column = k;
            fault->row = row;
            return fault->status;
        }
    }
    return IA_ENC_OK;
}

/* The header and the pad of a tuple message at out, whose payload ends at p.  Returns the end of the message. */
static inline uint8_t *ia_enc_put_frame(uint8_t *out, uint8_t *p, int framing)
{
    const uint32_t size = (uint32_t)(p - out - IA_ENC_HEADER);
    *p = 0; /* the pad, or slack */
    if (framing == IA_FRAME_TUPLE) {
        ia_store_be32(out, 0x000e0000u);
        ia_store_be32(out + 4, size);
    } else {
        ia_store_be16(out, 0x0011);
        ia_store_be32(out + 2, size);
        ia_store_be16(out + 6, 1);
    }
    return p + (size & 1);
}

/* One row of parameters at out, between its frame.  The caller has made room for the largest such row. */
static inline int ia_enc_put_parameters(const struct ia_enc_plan *plan, int64_t row, const struct ia_enc_frame *frame,
                                        uint8_t *out, uint8_t **end, struct ia_enc_fault *fault)
{
    memcpy(out, frame->head, frame->head_size);
    const int status = ia_enc_put_bind(plan, row, out + frame->head_size, end, fault);
    if (status) return status;
    memcpy(*end, frame->tail, frame->tail_size);
    *end += frame->tail_size;
    return IA_ENC_OK;
}

#endif
