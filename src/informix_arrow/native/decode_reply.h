/* Scan a reply to a fetch without decoding values: the range of its rows, and the messages after them (SQLI section 7.5). */
#ifndef INFORMIX_ARROW_DECODE_REPLY_H
#define INFORMIX_ARROW_DECODE_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "decode_plan.h"
#include "wire_bytes.h"

enum { IA_SQ_EOT = 12, IA_SQ_DONE = 15, IA_SQ_COST = 55 };
#define IA_COST_BYTES 10 /* tag, two ints */

/* DONE [COST] EOT at p, with a DONE of so many bytes, its tag included: where the EOT ends; NULL when anything else stands
 * there, or the bytes end before it does. No byte at or behind `end` is read. */
static inline const uint8_t *ia_reply_end(const uint8_t *p, const uint8_t *end, ptrdiff_t done)
{
    if (done < 2 || end - p - 2 < done || ia_load_be16(p) != IA_SQ_DONE)
        return NULL;
    p += done;
    if (ia_load_be16(p) == IA_SQ_COST) {
        if (end - p < IA_COST_BYTES + 2)
            return NULL;
        p += IA_COST_BYTES;
    }
    return ia_load_be16(p) == IA_SQ_EOT ? p + 2 : NULL;
}

/* Behind the whole SQ_TUPLE messages that stand at p: tag, warnings, a size of 32 bits if `large`, else of 16, the payload,
 * a byte of padding if its size is odd. *count grows by their number. It stops at a size below 0 as at any other message. */
static inline const uint8_t *ia_skip_tuples(const uint8_t *p, const uint8_t *end, int large, int64_t *count)
{
    const int64_t header = large ? 8 : 6;
    while (end - p >= header && ia_load_be16(p) == IA_SQ_TUPLE) {
        const int64_t size = large ? (int32_t)ia_load_be32(p + 4) : (int16_t)ia_load_be16(p + 4);
        if (size < 0 || header + size + (size & 1) > end - p)
            break;
        p += header + size + (size & 1);
        ++*count;
    }
    return p;
}

#endif
