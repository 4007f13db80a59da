/* Append one text to a column: reserve room, copy, check, and store its offset. */
#ifndef INFORMIX_ARROW_DECODE_APPEND_H
#define INFORMIX_ARROW_DECODE_APPEND_H

#include <stdint.h>

#include "decode_batch.h"
#include "decode_plan.h"
#include "decode_text.h"
#include "decode_value.h"
#include "plan.h"

/* Put right what ia_append_text has copied: text that is not ASCII, or that is in a code set without ASCII. Returns the
 * bytes at dst, or a negative ia_status. */
static __attribute__((noinline)) int64_t ia_not_ascii(const struct ia_decoder *d, const struct ia_column *c,
                                                      uint8_t *dst, const uint8_t *src, int64_t n, struct ia_error *err)
{
    const int replace = c->flags & IA_FLAG_REPLACE;
    if (!ia_is_encoded(c->kind) || c->flags & IA_FLAG_RAW)
        return n;
    if (d->page) {
        const int64_t written = ia_transcode(dst, src, n, d->page, replace);
        if (written < 0)
            return IA_REFUSE(err, IA_DATA, "Byte %lld of the text (%02x) is not defined in the code set.",
                             (long long)(-1 - written), src[-1 - written]);
        return written;
    }
    if (ia_utf8_is_common(dst, n)) /* there, bytes behind the text may be read */
        return n;
    const int64_t valid = ia_utf8_valid_until(src, n);
    if (valid == n)
        return n;
    if (replace)
        return ia_utf8_replace(dst, src, n);
    return IA_REFUSE(err, IA_DATA, "Byte %lld of the text (%02x) is not UTF-8.", (long long)valid, src[valid]);
}

/* Append n bytes as row r. Returns the bytes added, or a negative ia_status. */
static inline __attribute__((always_inline)) int64_t ia_append_text(const struct ia_decoder *d, struct ia_column *c,
                                                                    int64_t r, const uint8_t *src, int64_t n,
                                                                    int64_t room, struct ia_error *err)
{
    if (__builtin_expect(c->capacity - c->length < n * c->expand, 0)) {
        const int rc = ia_grow_text(d, c, src, n, err);
        if (rc)
            return rc;
    }
    uint8_t *dst = c->values + c->length;
    if (__builtin_expect(ia_copy_text(dst, src, n, room) | d->transcode_all, 0)) {
        n = ia_not_ascii(d, c, dst, src, n, err);
        if (n < 0)
            return n;
    }
    c->length += n;
    if (c->flags & IA_FLAG_LARGE)
        ((int64_t *)c->offsets)[r + 1] = c->length;
    else
        ((int32_t *)c->offsets)[r + 1] = (int32_t)c->length;
    return n;
}

#endif
