/* The plan of a whole row, and the writers of text that tuples and parameters share. */
#ifndef INFORMIX_ARROW_ENCODE_TEXT_H
#define INFORMIX_ARROW_ENCODE_TEXT_H

#include <stdint.h>
#include <string.h>

#include "encode_column.h"
#include "encode_status.h"

#define IA_ENC_MAX_TUPLE 0x7fffffff
#define IA_ENC_MAX_TEXT 0x7fffffff    /* of an LVARCHAR or opaque type without a declared maximum */
#define IA_ENC_MAX_CONTENT 0x7ff00000 /* of a BYTE or TEXT: with its chunks' frames below IA_ENC_MAX_TUPLE */
#define IA_LOB_SIZE 16                /* in a descriptor: int, bytes of the content (TYPES section 12) */
#define IA_LOB_FLAGS 39               /* bit 0 says NULL */

struct ia_enc_plan {
    struct ia_enc_col *cols;
    int32_t by_rows;                /* no blocks: for tests, which compare the two */
    int32_t n;
    int32_t has_contents;           /* columns whose size is known by value only: LVARCHAR, opaque, BYTE, TEXT */
    uint32_t *lob_at;               /* room for one number of each BYTE and TEXT: where its parameter stands */
    const uint8_t *codepage;        /* NULL: UTF-8 goes through; else code point -> byte, 65536 entries */
    int32_t codepage_is_ascii;      /* 0..127 stand for themselves */
    size_t row_bound;               /* of a tuple message: header, bounds of all columns, pad */
    size_t bind_bound;              /* of an SQ_BIND */
    int32_t strided;                /* encode_block.h: how many there are; 0: row by row */
    int32_t segments;               /* variable columns */
    int32_t first;                  /* the first column that is not strided */
    int32_t gap;                    /* bytes of strided columns behind the last of them */
    int32_t sized;                  /* the offsets of texts say how long each row is, and some columns are not near its end */
    int32_t fixed;                  /* bytes of a row without the contents of texts */
    int32_t near;                   /* the first column that is not strided and may write over the next row, or n */
};

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

/* The same of a text in any Arrow form, through the code page or not. */
static __attribute__((noinline)) int ia_enc_put_any_text(const struct ia_enc_plan *plan, const struct ia_enc_col *c,
                                                         int64_t i, uint8_t *out, int64_t *len,
                                                         struct ia_enc_fault *fault)
{
    struct ia_bytes t;
    int status = ia_enc_bytes(c, i, &t, fault);
    if (status) return status;
    const int recode = plan->codepage != NULL && c->utf8;
    *len = t.len;
    if (recode) {
        status = ia_enc_transcode(plan, out, c->width, t.s, t.len, len, fault);
        if (status) return status;
    }
    if (*len > c->width) {
        fault->a = *len;
        fault->b = c->width;
        return IA_ENC_TOO_LONG;
    }
    if (!recode) ia_enc_copy(out, t.s, t.len, t.readable);
    return IA_ENC_OK;
}

/* The content of CHAR, VARCHAR, LVARCHAR and opaque values at out, at most c->width bytes. */
static inline __attribute__((always_inline)) int ia_enc_put_text(const struct ia_enc_plan *plan,
                                                                 const struct ia_enc_col *c, int64_t i, uint8_t *out,
                                                                 int64_t *len, struct ia_enc_fault *fault)
{
    if (__builtin_expect(c->plain_text, 1)) {
        int32_t from, to;
        memcpy(&from, c->values + i * 4, 4);
        memcpy(&to, c->values + i * 4 + 4, 4);
        const int64_t size = (int64_t)to - from;
        if (__builtin_expect(from >= 0 && size >= 0 && to <= c->text_end && size <= c->width, 1)) {
            ia_enc_copy(out, c->text + from, size, c->text_end - from);
            *len = size;
            return IA_ENC_OK;
        }
    }
    int64_t written = 0; /* a place of its own, so that *len needs none in memory */
    const int status = ia_enc_put_any_text(plan, c, i, out, &written, fault);
    *len = written;
    return status;
}

/* A FLOAT's bits: a NaN, but not the one that is NULL. */
static inline uint64_t ia_enc_double_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits == UINT64_MAX ? UINT64_C(0x7ff8000000000000) : bits;
}

#endif
