/* Rows by blocks of at most 64: integers, floats and dates whose Arrow type is their own are lanes, which are written a column
 * at a time, by stride; whatever else a row has is written before, row by row as without blocks.
 *
 * So writers may scribble behind their fields as ever: what lies there is written later, be it the row's lanes or the next row.
 * A block with anything wrong in it does not count: it is left to the loop over rows, which says what. */
#ifndef INFORMIX_ARROW_ENCODE_BLOCK_H
#define INFORMIX_ARROW_ENCODE_BLOCK_H

#include <stdint.h>
#include <string.h>

#include "encode_column.h"
#include "encode_datetime.h"
#include "encode_row.h"
#include "encode_text.h"
#include "plan.h"
#include "wire_bytes.h"

#define IA_ENC_BLOCK 64
#define IA_ENC_BLOCK_LEAST 8
#define IA_ENC_SPOTS 1024 /* places of segments that a block knows: 4 KiB of stack */

/* What a column is to a block; 0: nothing in particular. */
enum { IA_ENC_LANE = 1, IA_ENC_SHORT = 2 /* a VARCHAR of Arrow's utf8 or binary, copied as it is */ };

/* Whether a column's fields have different sizes. */
static inline int ia_enc_is_variable(int kind)
{
    return kind == IA_BOOL || kind == IA_VARCHAR || kind == IA_LVARCHAR || kind == IA_OPAQUE;
}

/* Find the lanes and their places; after each load.  A plan that was never arranged is encoded row by row. */
static inline void ia_enc_arrange(struct ia_enc_plan *plan)
{
    int32_t place = 0, gap = 0, *link = &plan->first;
    plan->lanes = plan->segments = 0;
    for (int32_t k = 0; k < plan->n; k++) {
        struct ia_enc_col *const c = plan->cols + k;
        c->lane = 0;
        if (c->route == c->kind && !c->odd_null && !c->index_source) {
            if (c->kind == IA_INT16 || c->kind == IA_INT32 || c->kind == IA_INT64 || c->kind == IA_INT8 ||
                c->kind == IA_FLOAT32 || c->kind == IA_FLOAT64 || (c->kind == IA_DATE && c->source == IA_SRC_DAY))
                c->lane = IA_ENC_LANE;
            else if (c->kind == IA_VARCHAR && c->source == IA_SRC_BYTES32 && !(plan->codepage && c->utf8))
                c->lane = IA_ENC_SHORT;
        }
        c->segment = plan->segments;
        c->place = place;
        if (c->lane == IA_ENC_LANE) {
            place += c->width;
            gap += c->width;
            plan->lanes++;
            continue;
        }
        c->gap = gap;
        gap = 0;
        *link = k;
        link = &c->next;
        if (ia_enc_is_variable(c->kind)) {
            plan->segments++;
            place = 0;
        } else {
            place += c->width;
        }
    }
    *link = plan->n;
    plan->gap = gap;
    /* Rows of mostly other columns are not worth it: their loop is short and already there. */
    if (plan->segments >= IA_ENC_SPOTS / IA_ENC_BLOCK_LEAST || plan->lanes <= 2 * (plan->n - plan->lanes)) plan->lanes = 0;
}

/* The validity of n rows from index i on, a bit for each; no byte is read but those that hold them. */
static inline uint64_t ia_enc_valid(const struct ia_enc_col *c, int64_t i, int n)
{
    if (c->validity == NULL) return ~UINT64_C(0);
    const uint8_t *const bits = c->validity + (i >> 3);
    const int shift = (int)(i & 7), bytes = (shift + n + 7) / 8;
    uint64_t valid = 0;
    for (int k = 0; k < bytes && k < 8; k++) valid |= (uint64_t)bits[k] << (8 * k);
    valid >>= shift;
    return bytes > 8 ? valid | (uint64_t)bits[8] << (64 - shift) : valid;
}

/* The values of a lane, `v`, by one expression: what is stored for a value (`ok`), and for NULL. */
#define IA_ENC_LOOP(type, store, value, null, is_ok)                                                                  \
    for (int k = 0; k < n; k++) {                                                                                     \
        type v;                                                                                                       \
        const int ok = (is_ok);                                                                                       \
        memcpy(&v, from + k * (int64_t)sizeof v, sizeof v);                                                           \
        const type made = (value);                                                                                    \
        store(to + at[k], ok ? made : (null));                                                                        \
    }
#define IA_ENC_EACH(type, store, value, null)                                                                         \
    if (all)                                                                                                          \
        IA_ENC_LOOP(type, store, value, null, 1)                                                                      \
    else                                                                                                              \
        IA_ENC_LOOP(type, store, value, null, (int)(valid >> k & 1))

/* One lane of a block; non-zero if one of its values has no encoding. */
static __attribute__((noinline)) int ia_enc_put_lane(const struct ia_enc_col *c, int64_t row, const uint32_t *at, int n,
                                                     uint8_t *out)
{
    static const uint8_t items[] = {[IA_INT16] = 2,   [IA_INT32] = 4,   [IA_INT64] = 8, [IA_INT8] = 8,
                                    [IA_FLOAT32] = 4, [IA_FLOAT64] = 8, [IA_DATE] = 4};
    const int64_t i = c->base + row;
    const uint8_t *const from = c->values + i * items[c->kind];
    const uint64_t valid = ia_enc_valid(c, i, n);
    uint8_t *const to = out + c->place;
    const int all = ~valid << (64 - n) == 0;
    int wrong = 0;
    switch (c->kind) {
    case IA_INT16: IA_ENC_EACH(uint16_t, ia_store_be16, (wrong |= ok & (v == 0x8000u), v), 0x8000) break;
    case IA_INT32: IA_ENC_EACH(uint32_t, ia_store_be32, (wrong |= ok & (v == 0x80000000u), v), 0x80000000u) break;
    case IA_INT64:
        IA_ENC_EACH(uint64_t, ia_store_be64, (wrong |= ok & (v == UINT64_C(1) << 63), v), UINT64_C(1) << 63)
        break;
    case IA_FLOAT32: IA_ENC_EACH(uint32_t, ia_store_be32, v == UINT32_MAX ? 0x7fc00000u : v, UINT32_MAX) break;
    case IA_FLOAT64:
        IA_ENC_EACH(uint64_t, ia_store_be64, v == UINT64_MAX ? UINT64_C(0x7ff8000000000000) : v, UINT64_MAX)
        break;
    case IA_DATE:
        IA_ENC_EACH(uint32_t, ia_store_be32,
                    (wrong |= ok & (((int32_t)v < IA_DAY_MIN) | ((int32_t)v > IA_DAY_MAX)), v + IA_DAY_OF_DATE0),
                    0x80000000u)
        break;
    default: /* INT8 */
        for (int k = 0; k < n; k++) {
            int64_t v;
            memcpy(&v, from + k * 8, 8);
            if (valid >> k & 1) {
                wrong |= v == INT64_MIN;
                ia_enc_put_int8(to + at[k], v);
            } else {
                memset(to + at[k], 0, 10);
            }
        }
        break;
    }
    return wrong;
}

/* A VARCHAR that is IA_ENC_SHORT, at p; NULL if something is wrong with it. */
static inline __attribute__((always_inline)) uint8_t *ia_enc_put_short(const struct ia_enc_col *c, int64_t i, uint8_t *p)
{
    int32_t from, to;
    if (c->validity && !(c->validity[i >> 3] >> (i & 7) & 1)) {
        p[0] = 1;
        p[1] = 0;
        return p + 2;
    }
    memcpy(&from, c->values + i * 4, 4);
    memcpy(&to, c->values + i * 4 + 4, 4);
    const int64_t len = (int64_t)to - from;
    if (from < 0 || len < 0 || to > c->text_end || len > c->width) return NULL;
    ia_enc_copy(p + 1, c->text + from, len, c->text_end - from);
    if (len == 1 && p[1] == 0) return NULL;
    p[0] = (uint8_t)len;
    return p + 1 + len;
}

/* Any other column, at p; NULL if something is wrong with it. */
static __attribute__((noinline)) uint8_t *ia_enc_put_other(const struct ia_enc_plan *plan, int32_t k, int64_t row, uint8_t *p)
{
    struct ia_enc_fault ignored;
    return ia_enc_put_columns(plan, k, k + 1, row, p, &p, &ignored) ? NULL : p;
}

/* The rows from `row` on that one block takes, as messages at out[*used..cap); how many, 0 if it has to be done row by row. */
static __attribute__((noinline)) int64_t ia_enc_put_block(const struct ia_enc_plan *plan, int64_t row, int64_t end,
                                                          uint8_t *out, size_t *used, size_t cap, size_t budget,
                                                          int framing)
{
    uint32_t at[IA_ENC_SPOTS]; /* of each segment, in each row */
    struct ia_enc_fault ignored;
    const int stride = plan->segments < IA_ENC_SPOTS / IA_ENC_BLOCK ? IA_ENC_BLOCK : IA_ENC_SPOTS / (plan->segments + 1);
    const int64_t most = end - row < stride ? end - row : stride;
    uint8_t *message = out + *used;
    int n = 0;
    if (most < IA_ENC_BLOCK_LEAST) return 0;
    while (n < most) {
        size_t bound;
        if (ia_enc_row_bound(plan, row + n, framing, &bound, &ignored)) break;
        if (cap - (size_t)(message - out) < bound || message - out > UINT32_MAX / 2) break;
        uint8_t *p = message + IA_ENC_HEADER;
        uint32_t *spot = at + n;
        *spot = (uint32_t)(p - out);
        for (int32_t k = plan->first; k < plan->n; k = plan->cols[k].next) {
            const struct ia_enc_col *const c = plan->cols + k;
            p += c->gap;
            if (c->lane == IA_ENC_SHORT)
                p = ia_enc_put_short(c, c->base + row + n, p);
            else
                p = ia_enc_put_other(plan, k, row + n, p);
            if (p == NULL) break;
            if (ia_enc_is_variable(c->kind)) {
                spot += stride;
                *spot = (uint32_t)(p - out);
            }
        }
        if (p == NULL) break;
        uint8_t *const after = ia_enc_put_frame(message, p + plan->gap, framing);
        if ((size_t)(after - out) > budget) break;
        message = after;
        n++;
    }
    if (n < IA_ENC_BLOCK_LEAST) return 0;
    int wrong = 0;
    for (const struct ia_enc_col *c = plan->cols; c < plan->cols + plan->n; c++)
        if (c->lane == IA_ENC_LANE) wrong |= ia_enc_put_lane(c, row, at + (int64_t)c->segment * stride, n, out);
    if (wrong) return 0;
    *used = (size_t)(message - out);
    return n;
}

#endif
