/* Encode rows by blocks of at most 64. Integers, floats and dates whose Arrow type is their own are "strided": they are written a
 * column at a time, one value per row, after everything else. All other columns are written before them, row by row.
 *
 * So writers may still write beyond their fields: what lies there is written later, be it the row's strided columns or the next
 * row. Where the sizes of all texts are known from their offsets (`sized`), these columns are written a column at a time, too,
 * in their order. What a field overwrites then belongs to its own row, except near the end of the row, where it may belong to
 * the next. Those bytes are saved before these columns are written, and restored afterwards. Their counterparts of the next row
 * must begin after them, or the texts of a plan are written row by row.
 * A block with an error in it does not count: the loop over rows encodes it again and reports the error. */
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
enum { IA_ENC_STRIDED = 1, IA_ENC_SHORT = 2 /* a VARCHAR of Arrow's utf8 or binary, copied as it is */ };

/* The bytes that a column has in each row; a BOOLEAN has more, and what varies. */
static inline int32_t ia_enc_least(const struct ia_enc_col *c)
{
    return c->kind == IA_VARCHAR ? 1 : ia_is_variable(c->kind) ? 5 : c->width;
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

/* The widths of a group's columns (encode_vectors.inc); the first of a group says which, the others are IA_ENC_GROUPED. */
enum { IA_ENC_ALONE = 0, IA_ENC_4444, IA_ENC_88, IA_ENC_844, IA_ENC_448, IA_ENC_484, IA_ENC_GROUPED };

static inline int ia_enc_group_size(int group)
{
    static const uint8_t size_of[] = {1, 4, 2, 3, 3, 3};
    return size_of[group];
}

/* Which strided columns are groups: neighbours, of 4 and 8 bytes, that make 16. */
static inline void ia_enc_group(struct ia_enc_plan *plan)
{
    for (int32_t k = 0; k < plan->n; k++) {
        struct ia_enc_col *const c = plan->cols + k;
        int32_t bytes = 0, columns = 0;
        uint32_t widths = 0; /* a digit for each */
        while (k + columns < plan->n && bytes < 16 && c[columns].block_role == IA_ENC_STRIDED &&
               (c[columns].width & 12) == c[columns].width) {
            bytes += c[columns].width;
            widths = widths << 4 | (uint32_t)c[columns].width;
            columns++;
        }
        c->group = bytes != 16 ? IA_ENC_ALONE : widths == 0x4444 ? IA_ENC_4444 : widths == 0x88 ? IA_ENC_88 :
                   widths == 0x844 ? IA_ENC_844 : widths == 0x448 ? IA_ENC_448 : IA_ENC_484;
        while (c->group != IA_ENC_ALONE && --columns > 0) plan->cols[++k].group = IA_ENC_GROUPED;
    }
}

/* Find the strided columns and their places, after each load. */
static inline void ia_enc_arrange(struct ia_enc_plan *plan)
{
    int32_t place = 0, gap = 0, before = IA_ENC_HEADER, *link = &plan->first;
    plan->strided = plan->segments = 0;
    plan->sized = 1;
    plan->fixed = 0;
    for (int32_t k = 0; k < plan->n; k++) {
        struct ia_enc_col *const c = plan->cols + k;
        c->block_role = 0;
        c->put = ia_enc_packed(c);
        c->plain_text = c->source == IA_SRC_BYTES32 && !c->index_source && !(plan->codepage && c->utf8);
        if (c->route == c->kind && !c->has_hidden_nulls && !c->index_source) {
            if (c->kind == IA_INT16 || c->kind == IA_INT32 || c->kind == IA_INT64 || c->kind == IA_INT8 ||
                c->kind == IA_FLOAT32 || c->kind == IA_FLOAT64 || (c->kind == IA_DATE && c->source == IA_SRC_DAY))
                c->block_role = IA_ENC_STRIDED;
            else if (c->kind == IA_VARCHAR && c->plain_text)
                c->block_role = IA_ENC_SHORT;
        }
        c->segment = plan->segments;
        c->place = place;
        plan->fixed += ia_enc_least(c);
        if (c->block_role == IA_ENC_STRIDED) {
            place += c->width;
            gap += c->width;
            plan->strided++;
            continue;
        }
        c->gap = gap;
        gap = 0;
        *link = k;
        link = &c->next;
        if (ia_is_variable(c->kind)) {
            if (c->block_role != IA_ENC_SHORT) plan->sized = 0;
            plan->segments++;
            place = 0;
        } else {
            place += c->width;
        }
    }
    *link = plan->n;
    plan->gap = gap;
    ia_enc_group(plan);
    plan->near = plan->n;
    for (int32_t k = plan->n - 1, behind = 0; k >= 0 && behind < IA_ENC_SLACK; behind += ia_enc_least(plan->cols + k), k--)
        if (plan->cols[k].block_role != IA_ENC_STRIDED) plan->near = k;
    for (int32_t k = 0; k < plan->near; k++) before += ia_enc_least(plan->cols + k);
    if (before < IA_ENC_SLACK) plan->sized = 0; /* the next row's like of those near its end may be hit */
    /* Rows of mostly other columns are not worth it: their loop is short and already there. */
    if (plan->segments >= IA_ENC_SPOTS / IA_ENC_BLOCK_LEAST || plan->strided <= 2 * (plan->n - plan->strided)) plan->strided = 0;
    if (plan->by_rows) plan->strided = 0;
}

/* A group's column: where its values are, and which are looked for. One of 4 bytes is left to others if it is, with `add`, more
 * than `limit`, and what the wire has is more than that by `back`; one of 8 bytes if it is `none`. */
struct ia_enc_numbers {
    const uint8_t *from;
    uint64_t none;
    uint32_t add, back;
    int32_t limit;
};

static inline struct ia_enc_numbers ia_enc_numbers_of(const struct ia_enc_col *c, int64_t row)
{
    struct ia_enc_numbers u = {.from = c->values + (c->base + row) * c->width, .limit = INT32_MAX - 1};
    switch (c->kind) {
    case IA_INT32: u.add = UINT32_MAX, u.back = 1; break;
    case IA_FLOAT32: u.add = u.back = 1u << 31; break;
    case IA_INT64: u.none = UINT64_C(1) << 63; break;
    case IA_FLOAT64: u.none = UINT64_MAX; break;
    default: /* DATE */
        u.add = (1u << 31) - (uint32_t)IA_DAY_MIN;
        u.back = IA_DAY_OF_DATE0 - u.add;
        u.limit = INT32_MIN + (IA_DAY_MAX - IA_DAY_MIN);
        break;
    }
    return u;
}

#define IA_VECTOR 16
#include "encode_vectors.inc"
#undef IA_VECTOR
#ifdef IA_HAS_WIDE
#define IA_VECTOR 32
#include "encode_vectors.inc"
#undef IA_VECTOR
#endif

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

/* The bytes of n texts that are IA_ENC_SHORT, from row on, without their length bytes, and added to `rows`; *usual: none is NULL
 * or of one byte, and each can be copied as 64.  Non-zero if one of them is wrong. */
static __attribute__((noinline)) int ia_enc_text_sizes(const struct ia_enc_col *c, int64_t row, int n, uint32_t *sizes,
                                                       uint32_t *rows, uint8_t *usual)
{
    const int64_t i = c->base + row;
    const uint8_t *const offsets = c->values + i * 4;
    const uint64_t nulls = ~ia_enc_valid(c, i, n) << (64 - n);
    const uint32_t width = (uint32_t)c->width;
    int32_t first, begin, last;
    uint32_t wrong = 0, odd = 0;
    memcpy(&first, offsets, 4);
    memcpy(&begin, offsets + 4 * (int64_t)(n - 1), 4);
    memcpy(&last, offsets + 4 * (int64_t)n, 4);
    for (int k = 0; k < n; k++) {
        uint32_t from, to;
        memcpy(&from, offsets + 4 * (int64_t)k, 4);
        memcpy(&to, offsets + 4 * (int64_t)k + 4, 4);
        const uint32_t size = to - from;
        sizes[k] = size;
        wrong |= size > width; /* so none is negative: they follow one another from `first` to `last` */
        odd |= (size == 1) | (size > 64);
    }
    wrong |= (first < 0) | (last > c->text_end);
    if (nulls)
        for (int k = 0; k < n; k++) sizes[k] = nulls << (n - 1 - k) >> 63 ? 1 : sizes[k];
    for (int k = 0; k < n; k++) rows[k] += sizes[k];
    *usual = !odd && !nulls && c->text_end - begin >= 64;
    return (int)wrong;
}

/* These texts at out[at[k] + place], of the sizes next[k]; next[k] becomes the end.  Non-zero if one of them is wrong. */
static __attribute__((noinline)) int ia_enc_put_texts(const struct ia_enc_col *c, int64_t row, int n, const uint32_t *at,
                                                      uint32_t *next, uint8_t *out, int usual)
{
    const int64_t i = c->base + row;
    const uint8_t *const offsets = c->values + i * 4, *const text = c->text;
    const uint32_t place = (uint32_t)c->place;
    if (!usual) {
        for (int k = 0; k < n; k++) {
            const uint32_t begin = at[k] + place;
            next[k] += begin + 1;
            if (ia_enc_put_short(c, i + k, out + begin) == NULL) return 1;
        }
        return 0;
    }
    for (int k = 0; k < n; k++) {
        const uint32_t begin = at[k] + place, size = next[k];
        uint8_t *const p = out + begin;
        int32_t from;
        memcpy(&from, offsets + 4 * (int64_t)k, 4);
        p[0] = (uint8_t)size;
        memcpy(p + 1, text + from, 64);
        next[k] = begin + 1 + size;
    }
    return 0;
}

/* All strided columns of a block; non-zero if a value has no encoding. */
static inline int ia_enc_put_strided(const struct ia_enc_plan *plan, int64_t row, const uint32_t *at, int stride, int n,
                                   uint8_t *out)
{
    int wrong = 0;
    for (const struct ia_enc_col *c = plan->cols; c < plan->cols + plan->n; c++)
        if (c->block_role == IA_ENC_STRIDED && c->group != IA_ENC_GROUPED)
            wrong |= IA_VECTOR_CALL(ia_enc_put_strided, c, row, at + (int64_t)c->segment * stride, n, out);
    return wrong;
}

/* The rows of one block of a plan that is `sized`; as ia_enc_put_block, of which it is a part. */
static __attribute__((noinline)) int64_t ia_enc_put_sized(const struct ia_enc_plan *plan, int64_t row, int most, int stride,
                                                          uint8_t *out, size_t *used, size_t cap, size_t budget,
                                                          int framing)
{
    uint32_t at[IA_ENC_SPOTS], sizes[IA_ENC_BLOCK];
    uint8_t usual[IA_ENC_SPOTS / IA_ENC_BLOCK_LEAST], behind[IA_ENC_BLOCK][IA_ENC_SLACK];
    uint8_t *message = out + *used;
    int n = 0;
    for (int k = 0; k < most; k++) sizes[k] = (uint32_t)plan->fixed;
    for (int32_t k = plan->first; k < plan->n; k = plan->cols[k].next) {
        const struct ia_enc_col *const c = plan->cols + k;
        if (c->block_role != IA_ENC_SHORT) continue;
        uint32_t *const next = at + (int64_t)(c->segment + 1) * stride;
        if (ia_enc_text_sizes(c, row, most, next, sizes, usual + c->segment)) return 0;
    }
    for (; n < most; n++) {
        if (cap - (size_t)(message - out) < plan->row_bound || message - out > UINT32_MAX / 2) break;
        uint8_t *const end = message + IA_ENC_HEADER + sizes[n];
        if ((size_t)(end + (sizes[n] & 1) - out) > budget) break;
        at[n] = (uint32_t)(message + IA_ENC_HEADER - out);
        message = ia_enc_put_frame(message, end, framing);
    }
    if (n < IA_ENC_BLOCK_LEAST) return 0;
    for (int32_t k = plan->first; k < plan->n; k = plan->cols[k].next) {
        const struct ia_enc_col *const c = plan->cols + k;
        uint32_t *const here = at + (int64_t)c->segment * stride;
        if (k == plan->near)
            for (int r = 0; r < n; r++) memcpy(behind[r], out + at[r] + sizes[r], IA_ENC_SLACK);
        if (c->block_role == IA_ENC_SHORT) {
            if (ia_enc_put_texts(c, row, n, here, here + stride, out, usual[c->segment])) return 0;
        } else {
            for (int r = 0; r < n; r++)
                if (ia_enc_put_other(plan, k, row + r, out + here[r] + c->place) == NULL) return 0;
        }
    }
    for (int r = 0; r < n && plan->near < plan->n; r++) memcpy(out + at[r] + sizes[r], behind[r], IA_ENC_SLACK);
    if (ia_enc_put_strided(plan, row, at, stride, n, out)) return 0;
    *used = (size_t)(message - out);
    return n;
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
    if (plan->sized) return ia_enc_put_sized(plan, row, (int)most, stride, out, used, cap, budget, framing);
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
            if (c->block_role == IA_ENC_SHORT)
                p = ia_enc_put_short(c, c->base + row + n, p);
            else
                p = ia_enc_put_other(plan, k, row + n, p);
            if (p == NULL) break;
            if (ia_is_variable(c->kind)) {
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
    if (ia_enc_put_strided(plan, row, at, stride, n, out)) return 0;
    *used = (size_t)(message - out);
    return n;
}

#endif
