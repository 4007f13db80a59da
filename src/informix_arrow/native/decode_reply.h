/* The end of a whole reply to a fetch: what stands behind its last row (SQLI section 7.5). */
#ifndef INFORMIX_ARROW_DECODE_REPLY_H
#define INFORMIX_ARROW_DECODE_REPLY_H

#include <stddef.h>
#include <stdint.h>

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

#endif
