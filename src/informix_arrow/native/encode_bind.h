/* Bind rows: SQ_BIND with a parameter for every column, and the large objects behind them (SQLI sections 9 and 14).
 *
 * A parameter is  short type, short indicator, short precision, data padded to even.  NULL of any type is
 * 0000 ffff 0000. */
#ifndef INFORMIX_ARROW_ENCODE_BIND_H
#define INFORMIX_ARROW_ENCODE_BIND_H

#include <stdint.h>
#include <string.h>

#include "encode_column.h"
#include "encode_datetime.h"
#include "encode_status.h"
#include "encode_text.h"
#include "plan.h"
#include "wire_bytes.h"

#define IA_BIND_HEAD 6           /* type, indicator, precision */
#define IA_BIND_LVARCHAR_HEAD 14 /* with empty owner and type name, and an int length */
#define IA_BIND_BSON_HEAD 26     /* with the owner informix and the type name bson, and an int length */
#define IA_BIND_CHAR_MAX 32767   /* bytes of a CHAR parameter; longer ones are LVARCHAR */
#define IA_BLOB_CHUNK 1024       /* content bytes of one SQ_BLOB */

/* Bytes beside the content: SQ_BLOB and length before each chunk, a pad, and the last SQ_BLOB, of no bytes. */
static inline size_t ia_enc_blob_overhead(int64_t len)
{
    return (size_t)((len + IA_BLOB_CHUNK - 1) / IA_BLOB_CHUNK) * 4 + 2 + 4;
}

static inline uint8_t *ia_bind_pad(uint8_t *p, int64_t size)
{
    *p = 0; /* the pad, or what the next parameter overwrites */
    return p + (size & 1);
}

/* CHAR with a short length, or LVARCHAR with an int one, as JSON always is. */
static inline int ia_bind_text(const struct ia_enc_plan *plan, const struct ia_enc_col *c, int64_t i, uint8_t *p,
                               uint8_t **end, struct ia_enc_fault *fault)
{
    struct ia_bytes t;
    int64_t len;
    int status = ia_enc_bytes(c, i, &t, fault);
    if (status) return status;
    const int json = c->kind == IA_LVARCHAR && c->arg == IA_JSON_ID;
    const int long_head = json || t.len > IA_BIND_CHAR_MAX; /* a code page may still make it short enough */
    uint8_t *const text = p + (long_head ? IA_BIND_LVARCHAR_HEAD : IA_BIND_HEAD + 2);
    status = ia_enc_put_text(plan, c, i, text, &len, fault);
    if (status) return status;
    if (c->kind == IA_CHAR ? len > 0 && text[0] == 0 : c->kind == IA_VARCHAR && len == 1 && text[0] == 0)
        return IA_ENC_NUL_TEXT;
    if (json || len > IA_BIND_CHAR_MAX) {
        memset(p, 0, IA_BIND_LVARCHAR_HEAD - 4);
        p[1] = 43;
        ia_store_be32(p + IA_BIND_LVARCHAR_HEAD - 4, (uint32_t)len);
        *end = ia_bind_pad(text + len, len);
        return IA_ENC_OK;
    }
    if (long_head) memmove(p + IA_BIND_HEAD + 2, text, (size_t)len);
    memset(p, 0, IA_BIND_HEAD);
    ia_store_be16(p + IA_BIND_HEAD, (uint16_t)len);
    *end = ia_bind_pad(p + IA_BIND_HEAD + 2 + len, len);
    return IA_ENC_OK;
}

/* A BSON document: the type SENDRECV, owner and name of the type, and an int length. */
static inline int ia_bind_bson(const struct ia_enc_plan *plan, const struct ia_enc_col *c, int64_t i, uint8_t *p,
                               uint8_t **end, struct ia_enc_fault *fault)
{
    static const uint8_t head[IA_BIND_BSON_HEAD - 4] = {0, 44, 0, 8, 'i', 'n', 'f', 'o', 'r', 'm', 'i',
                                                        'x', 0, 4, 'b', 's', 'o', 'n', 0, 0, 0, 0};
    int64_t len;
    const int status = ia_enc_put_text(plan, c, i, p + IA_BIND_BSON_HEAD, &len, fault);
    if (status) return status;
    memcpy(p, head, sizeof head);
    ia_store_be32(p + sizeof head, (uint32_t)len);
    *end = ia_bind_pad(p + IA_BIND_BSON_HEAD + len, len);
    return IA_ENC_OK;
}

/* DECIMAL, DATETIME and INTERVAL: the bytes of the tuple, a DECIMAL without the zeros on its right. */
static inline int ia_bind_packed(const struct ia_enc_col *c, int64_t i, uint8_t *p, uint8_t **end,
                                 struct ia_enc_fault *fault)
{
    static const uint8_t types[] = {[IA_DATETIME_DATE32] = 10, [IA_DATETIME_TIMESTAMP] = 10, [IA_DATETIME_TIME32] = 10,
                                    [IA_DATETIME_TIME64] = 10, [IA_DATETIME_TEXT] = 10,      [IA_INTERVAL_MONTHS] = 14,
                                    [IA_INTERVAL_DURATION] = 14, [IA_INTERVAL_MDN] = 14,     [IA_DECIMAL_INT64] = 0};
    uint8_t *const data = p + IA_BIND_HEAD + 2;
    int32_t size = c->width;
    const int status = ia_enc_put_packed(c, i, data, fault);
    if (status) return status;
    const int type = types[c->kind] ? types[c->kind] : 5;
    if (type == 5)
        while (size > 2 && data[size - 1] == 0) size--;
    ia_store_be32(p, (uint32_t)type << 16);
    ia_store_be16(p + 4, (uint16_t)c->precision_word);
    ia_store_be16(p + IA_BIND_HEAD, (uint16_t)size);
    *end = ia_bind_pad(data + size, size);
    return IA_ENC_OK;
}

/* The content of a BYTE or TEXT in chunks at p; its size in bytes goes to *size. */
static inline int ia_bind_blob(const struct ia_enc_plan *plan, const struct ia_enc_col *c, int64_t i, uint8_t *p,
                               uint8_t **end, int64_t *size, struct ia_enc_fault *fault)
{
    struct ia_bytes t;
    int status = ia_enc_bytes(c, i, &t, fault);
    if (status) return status;
    int64_t left = t.len;
    const uint8_t *s = t.s;
    if (plan->codepage && c->utf8) { /* into the room's end first: the chunks are never ahead of it */
        uint8_t *const all = p + ia_enc_blob_overhead(t.len);
        status = ia_enc_transcode(plan, all, t.len, t.s, t.len, &left, fault);
        if (status) return status;
        s = all;
    }
    *size = left;
    while (left > 0) {
        const int64_t chunk = left < IA_BLOB_CHUNK ? left : IA_BLOB_CHUNK;
        ia_store_be32(p, (uint32_t)(39 << 16 | (int)chunk));
        memmove(p + 4, s, (size_t)chunk);
        p = ia_bind_pad(p + 4 + chunk, chunk);
        s += chunk;
        left -= chunk;
    }
    ia_store_be32(p, 39u << 16);
    *end = p + 4;
    return IA_ENC_OK;
}

/* One row as SQ_BIND at p, with SQ_BBIND and SQ_BLOB when it has large objects.  The caller has made room for the
 * largest such row.  On success *end is the end; else the fault says what and which column. */
static inline int ia_enc_put_bind(const struct ia_enc_plan *plan, int64_t row, uint8_t *p, uint8_t **end,
                                  struct ia_enc_fault *fault)
{
    int status = IA_ENC_OK;
    int lobs = 0;
    const struct ia_enc_col *c = plan->cols, *const last = c + plan->n;
    uint8_t *q = p + 4;
    ia_store_be32(p, 5u << 16 | (uint32_t)plan->n);
    for (; c < last; c++) {
        const int64_t i = c->base + row;
        if (ia_enc_is_null(c, i)) {
            ia_store_be32(q, 0x0000ffffu);
            ia_store_be16(q + 4, 0);
            q += IA_BIND_HEAD;
            continue;
        }
        switch (c->kind) {
        case IA_INT16:
        case IA_INT32: {
            int64_t v;
            status = ia_enc_integer(c, i, &v, fault);
            if (status) goto refused;
            ia_store_be64(q, UINT64_C(0x000200000a000000) | (uint32_t)v >> 16);
            ia_store_be16(q + 8, (uint16_t)v);
            q += 10;
            break;
        }
        case IA_INT64:
        case IA_INT8: {
            int64_t v;
            status = ia_enc_integer(c, i, &v, fault);
            if (status) goto refused;
            ia_store_be64(q, UINT64_C(0x0034000013000000));
            ia_store_be64(q + 6, (uint64_t)v);
            q += 14;
            break;
        }
        case IA_FLOAT32:
        case IA_FLOAT64: {
            double v;
            status = ia_enc_double(c, i, &v, fault);
            if (status) goto refused;
            ia_store_be64(q, UINT64_C(0x0003000000000000));
            ia_store_be64(q + 6, ia_enc_double_bits(v));
            q += 14;
            break;
        }
        case IA_DATE: {
            int32_t day;
            status = ia_enc_day(c, i, &day, fault);
            if (status) goto refused;
            ia_store_be64(q, UINT64_C(0x0007000000000000));
            ia_store_be32(q + 6, (uint32_t)(day + IA_DAY_OF_DATE0));
            q += 10;
            break;
        }
        case IA_BOOL: {
            const int v = c->values[i >> 3] >> (i & 7) & 1;
            ia_store_be64(q, 1);
            q[8] = v ? 't' : 'f';
            q[9] = 0;
            q += 10;
            break;
        }
        case IA_CHAR:
        case IA_VARCHAR:
        case IA_LVARCHAR:
            status = ia_bind_text(plan, c, i, q, &q, fault);
            if (status) goto refused;
            break;
        case IA_LOB: /* a descriptor of zeros but for the size, which is known when the content is written */
            memset(q, 0, IA_BIND_HEAD + (size_t)c->width);
            q[1] = (uint8_t)c->arg;
            plan->lob_at[lobs++] = (uint32_t)(q - p);
            q += IA_BIND_HEAD + c->width;
            break;
        case IA_OPAQUE:
            status = c->arg == IA_BSON_ID ? ia_bind_bson(plan, c, i, q, &q, fault) : IA_ENC_UNBINDABLE;
            if (status) goto refused;
            break;
        default:
            status = ia_bind_packed(c, i, q, &q, fault);
            if (status) goto refused;
            break;
        }
    }
    *end = q;
    if (lobs == 0) return IA_ENC_OK;

    ia_store_be32(q, 41u << 16 | (uint32_t)lobs);
    q += 4;
    int done = 0;
    for (c = plan->cols; done < lobs; c++) {
        const int64_t i = c->base + row;
        int64_t size;
        if (c->kind != IA_LOB || ia_enc_is_null(c, i)) continue;
        status = ia_bind_blob(plan, c, i, q, &q, &size, fault);
        if (status) goto refused;
        ia_store_be32(p + plan->lob_at[done++] + IA_BIND_HEAD + IA_LOB_SIZE, (uint32_t)size);
    }
    *end = q;
    return IA_ENC_OK;
refused:
    fault->column = (int32_t)(c - plan->cols);
    fault->row = row;
    return fault->status = status;
}

#endif
