/* Decode rows by blocks of at most 64, a column at a time. The result is that of the row loop of decode_core.h.
 *
 *   - The headers of the messages say where each tuple begins and ends.
 *   - Each column is decoded for all rows of the block, with NULLs as a word of bits. decode_fixed.h decodes integers, floats
 *     and dates. The other types use the functions of the row loop, inlined into a loop of their own.
 *   - Columns of fixed width have the same distance from the beginning of their segment in each row. A segment begins with the
 *     tuple or after a variable column. The loop of the variable column finds the next segment, and checks each length as the
 *     row loop does.
 *
 * A block is decoded completely or not at all. If a message or a value has an error, the row loop decodes the rows again and
 * reports it. */
#ifndef INFORMIX_ARROW_DECODE_BLOCK_H
#define INFORMIX_ARROW_DECODE_BLOCK_H

#include <stdint.h>
#include <string.h>

#include "base100.h"
#include "decode_append.h"
#include "decode_batch.h"
#include "decode_datetime.h"
#include "decode_fields.h"
#include "decode_interval.h"
#include "decode_fixed.h"
#include "decode_plan.h"
#include "decode_text.h"
#include "decode_value.h"
#include "plan.h"
#include "wire_bytes.h"

#define IA_FALLBACK_ROWS 512 /* rows that go through the row loop after a block that was none */
#define IA_BLOCK_TEXT 64       /* bytes of a value on the average, with which rows are not worth a block: they are copied */

/* ---- the messages -------------------------------------------------------------------------------------------- */

/* The tuples of a block. */
struct ia_row_block {
    const uint8_t *begin, *end; /* of the first message, and of what may be read */
    int64_t span;               /* bytes of all messages */
    int64_t row;                /* of the first tuple in the batch */
    int n;
    int readable;             /* IA_TEXT_SLACK bytes behind the last message may be read */
    int first;                /* rows of the VARCHAR in hand that are decoded already, */
    uint64_t nulls;           /* and which of them are NULL */
    uint32_t at[IA_BLOCK];    /* where the segment in hand begins in each tuple, in bytes from `begin` */
    uint32_t ends[IA_BLOCK];  /* where each tuple ends */
};

/* The payload's size of a message with one tuple; negative if it is another message. */
static inline int64_t ia_message_size(const uint8_t *p, int put)
{
    const uint64_t header = ia_load_be64(p);
    if (put)
        return header >> 48 == IA_SQ_PUT_TAG && (uint16_t)header == 1 ? (int32_t)(uint32_t)(header >> 16) : -1;
    return header >> 48 == IA_SQ_TUPLE ? (int32_t)(uint32_t)header : -1;
}

/* The messages of variable size at s->begin, *found of them; their bytes. Each begins where the one before ends, so what lies
 * between a size and the next one is all the time that this takes: a load, a swap, an addition and the padding, and nothing
 * that is compared. */
static inline __attribute__((always_inline)) int64_t ia_block_walk(struct ia_row_block *s, int64_t left, int64_t most,
                                                                   int64_t least, int64_t greatest, int put, int *found)
{
    const uint8_t *const p = s->begin;
    uint32_t at = 0; /* even; below 2 * IA_BLOCK_BYTES, as the size is looked at before it is believed */
    int n = 0;
    while (n < most && left - at >= IA_TUPLE_HEADER) {
        const uint8_t *const message = p + at;
        const uint32_t size = ia_load_be32(message + (put ? 2 : 4));
        const uint32_t next = (at + size + IA_TUPLE_HEADER + 1) & ~1u;
        if (ia_load_be16(message) != (put ? IA_SQ_PUT_TAG : IA_SQ_TUPLE) || (put && ia_load_be16(message + 6) != 1))
            break;
        if ((int32_t)size < least || (int32_t)size > greatest || IA_TUPLE_HEADER + (int64_t)size + (size & 1) > left - at)
            break;
        s->at[n] = at + IA_TUPLE_HEADER;
        s->ends[n] = at + IA_TUPLE_HEADER + size;
        at = next;
        n++;
    }
    *found = n;
    return at;
}

/* Find up to `most` whole tuples at s->begin: the messages before the first that is not a tuple, or of a size that the plan
 * does not allow. */
static void ia_block_find(const struct ia_decoder *d, struct ia_row_block *s, int64_t most)
{
    const int put = d->framing == IA_FRAMING_PUT;
    const uint8_t *const p = s->begin;
    const int64_t left = s->end - p < IA_BLOCK_BYTES ? s->end - p : IA_BLOCK_BYTES;
    const int64_t least = d->min_tuple, greatest = d->max_tuple;
    int64_t at = 0;
    int n = 0;
    if (d->gap == least) { /* no variable columns: where a message begins does not depend on those before it */
        const int64_t stride = IA_TUPLE_HEADER + least + (least & 1);
        const int64_t whole = left / stride < most ? left / stride : most;
        while (n < whole && ia_message_size(p + at, put) == least) {
            s->at[n] = (uint32_t)(at + IA_TUPLE_HEADER);
            s->ends[n] = (uint32_t)(at + IA_TUPLE_HEADER + least);
            at += stride;
            n++;
        }
    } else if (put) {
        at = ia_block_walk(s, left, most, least, greatest, 1, &n);
    } else {
        at = ia_block_walk(s, left, most, least, greatest, 0, &n);
    }
    s->n = n;
    s->span = at;
    s->readable = s->end - p - at >= IA_TEXT_SLACK;
    s->first = 0;
    s->nulls = 0;
}

/* ---- columns ------------------------------------------------------------------------------------------------- */

/* The texts of a column: a loop for each kind that makes text. `plain`: all of them fit, 32 bytes behind the block may be read,
 * offsets have 32 bits, and ASCII stays as it is. 0, or a negative ia_status. */
static inline __attribute__((always_inline)) int ia_block_texts_of(const struct ia_decoder *d, struct ia_column *c,
                                                                   struct ia_row_block *s, int kind, int plain,
                                                                   struct ia_error *err)
{
    const uint8_t *const begin = s->begin;
    const int n = s->n, large = plain ? 0 : c->flags & IA_FLAG_LARGE;
    const int64_t place = c->place, rest = c->rest;
    uint8_t *values = c->values;
    int64_t length = c->length;
    uint64_t nulls = s->nulls;
    for (int i = s->first; i < n; i++) {
        int64_t at = s->at[i] + place, size, room;
        char made[IA_DECIMAL_TEXT];
        const uint8_t *text;
        if (kind == IA_VARCHAR || kind == IA_LVARCHAR) {
            int null;
            if (kind == IA_VARCHAR) {
                size = begin[at];
                at += 1;
                null = size == 1 && begin[at] == 0;
            } else {
                size = (int64_t)ia_load_be32(begin + at + 1);
                null = begin[at] == 1; /* only 1 is NULL (JDBC section 7) */
                at += IA_ENVELOPE;
            }
            if (__builtin_expect(at + size + rest > s->ends[i], 0))
                return IA_PROTOCOL;
            s->at[i] = (uint32_t)(at + size);
            if (null) {
                nulls |= 1ull << i;
                size = 0;
            }
            text = begin + at;
            room = plain ? INT64_MAX : s->end - text;
        } else if (kind == IA_CHAR) {
            text = begin + at;
            room = plain ? INT64_MAX : s->end - text;
            const uint64_t null = text[0] == 0;
            size = null ? 0 : c->flags & IA_FLAG_TRIM ? ia_trimmed_within(text, c->width, room) : c->width;
            nulls |= null << i;
        } else {
            int written, status;
            text = begin + at;
            status = kind == IA_DECIMAL_STRING
                         ? ia_decode_decimal_text(text, c->width, s->end - text, made, &written, err)
                         : ia_decode_datetime_text(text, &c->qualifier, made, &written, err);
            if (__builtin_expect(status < 0, 0))
                return status;
            nulls |= (uint64_t)!status << i;
            text = (const uint8_t *)made;
            size = written;
            room = sizeof made;
        }
        if (!plain && __builtin_expect(c->capacity - length < size * c->expand, 0)) {
            c->length = length;
            const int rc = ia_grow_text(d, c, text, size, err);
            if (rc)
                return rc;
            values = c->values;
        }
        const int other = ia_copy_text(values + length, text, size, room);
        if (__builtin_expect(plain ? other : other | d->transcode_all, 0)) {
            size = ia_not_ascii(d, c, values + length, text, size, err);
            if (size < 0)
                return (int)size;
        }
        length += size;
        if (large)
            ((int64_t *)c->offsets)[s->row + 1 + i] = length;
        else
            ((int32_t *)c->offsets)[s->row + 1 + i] = (int32_t)length;
    }
    c->length = length;
    c->valid = ~nulls;
    return 0;
}

/* Whether all texts of the block, of at most so many bytes each, can be taken by the shorter loop. */
static inline int ia_block_is_plain(const struct ia_decoder *d, const struct ia_column *c, const struct ia_row_block *s,
                                    int64_t longest)
{
    const int64_t bytes = longest * s->n < s->span ? longest * s->n : s->span;
    return s->readable && !d->transcode_all && !(c->flags & IA_FLAG_LARGE) && c->capacity - c->length >= bytes * c->expand;
}

/* A function for each, so that what a loop needs finds room in registers. */
#define IA_TEXTS(name, kind, plain)                                                                                   \
    static __attribute__((noinline)) int name(const struct ia_decoder *d, struct ia_column *c, struct ia_row_block *s,    \
                                              struct ia_error *err)                                                   \
    {                                                                                                                 \
        return ia_block_texts_of(d, c, s, kind, plain, err);                                                          \
    }

IA_TEXTS(ia_block_chars_plain, IA_CHAR, 1)
IA_TEXTS(ia_block_chars, IA_CHAR, 0)
IA_TEXTS(ia_block_varchars_plain, IA_VARCHAR, 1)
IA_TEXTS(ia_block_varchars, IA_VARCHAR, 0)
IA_TEXTS(ia_block_lvarchars_plain, IA_LVARCHAR, 1)
IA_TEXTS(ia_block_lvarchars, IA_LVARCHAR, 0)
IA_TEXTS(ia_block_decimal_texts, IA_DECIMAL_STRING, 0)
IA_TEXTS(ia_block_moment_texts, IA_DATETIME_TEXT, 0)

/* Columns over vectors, of each width that there is. */
#define IA_VECTOR 16
#include "decode_vectors.inc"
#undef IA_VECTOR
#ifdef IA_HAS_WIDE
#define IA_VECTOR 32
#include "decode_vectors.inc"
#undef IA_VECTOR
#endif

/* A VARCHAR: first its short texts. */
static __attribute__((noinline)) int ia_block_varchar(const struct ia_decoder *d, struct ia_column *c, struct ia_row_block *s,
                                                      struct ia_error *err)
{
    const int plain = ia_block_is_plain(d, c, s, 255);
    int status = plain ? IA_VECTOR_CALL(ia_decode_short_varchars, c, s) : 0;
    if (status == 0 && s->first < s->n)
        status = plain ? ia_block_varchars_plain(d, c, s, err) : ia_block_varchars(d, c, s, err);
    s->first = 0;
    s->nulls = 0;
    return status;
}

/* Each value of a column by one expression over `q`, its bytes: `status` becomes IA_VALUE, IA_NULL or negative. The bits of
 * `valid` move down from the highest: shifts by one cost less than shifts by i. */
#define IA_EACH(decode)                                                                                               \
    for (int i = 0; i < n; i++) {                                                                                     \
        const uint8_t *const q = base + at[i];                                                                        \
        int status;                                                                                                   \
        decode;                                                                                                       \
        if (__builtin_expect(status < 0, 0))                                                                          \
            return status;                                                                                            \
        valid = valid >> 1 | (uint64_t)status << 63;                                                                  \
    }                                                                                                                 \
    valid >>= 64 - n;

static __attribute__((noinline)) int ia_block_bools(struct ia_column *c, struct ia_row_block *s)
{
    uint64_t valid = 0, bits = 0;
    for (int i = 0; i < s->n; i++) {
        const int64_t at = s->at[i] + c->place, stored = (int64_t)ia_load_be32(s->begin + at + 1);
        const int ok = s->begin[at] != 1;
        if (__builtin_expect(at + IA_ENVELOPE + stored + c->rest > s->ends[i], 0))
            return IA_PROTOCOL;
        if (ok) {
            const int v = stored == 1 ? ia_truth[s->begin[at + IA_ENVELOPE]] : 0;
            if (__builtin_expect(v == 0, 0))
                return IA_PROTOCOL;
            bits |= (uint64_t)(v >> 1) << i;
        }
        s->at[i] = (uint32_t)(at + IA_ENVELOPE + stored);
        valid |= (uint64_t)ok << i;
    }
    c->valid = valid;
    c->truth = bits;
    return 0;
}

/* A decimal of more than 8 pairs, or anything else that ia_b100_small does not know. */
static inline int ia_block_wide(const struct ia_column *c, const uint8_t *q, const uint8_t *end,
                                const struct ia_b100_shape *shape, int64_t *to, struct ia_error *err)
{
    ia_i128 v;
    const int status = ia_b100_wide(q, shape, &v);
    if (status < 0)
        return ia_decode_decimal128(q, c->width, end - q, c->precision, c->scale, to, err);
    to[IA_LOW] = (int64_t)v;
    to[IA_HIGH] = (int64_t)(v >> 64);
    return status;
}

static __attribute__((noinline)) int ia_block_decimals(struct ia_column *c, struct ia_row_block *s, struct ia_error *err)
{
    const uint8_t *const base = s->begin + c->place, *const end = s->end;
    const uint32_t *const at = s->at;
    const struct ia_b100_shape shape = c->decimal;
    const int n = s->n;
    uint64_t valid = 0;
    if (c->kind == IA_DECIMAL128) {
        int64_t *const to = (int64_t *)(void *)c->values + 2 * s->row;
        IA_EACH(int64_t v; status = ia_b100_small(q, &shape, end - q, &v); to[2 * i + IA_LOW] = v; to[2 * i + IA_HIGH] = v >> 63;
                if (status < 0) status = ia_block_wide(c, q, end, &shape, to + 2 * i, err))
    } else {
        int64_t *const to = (int64_t *)(void *)c->values + s->row;
        IA_EACH(int64_t v; status = ia_b100_small(q, &shape, end - q, &v);
                if (__builtin_expect(status < 0, 0)) status = ia_decode_decimal_int64(q, c->width, end - q, &v, err);
                to[i] = v)
    }
    c->valid = valid;
    return 0;
}

static __attribute__((noinline)) int ia_block_doubles(const struct ia_decoder *d, struct ia_column *c, struct ia_row_block *s,
                                                      struct ia_error *err)
{
    const uint8_t *const base = s->begin + c->place, *const end = s->end;
    const uint32_t *const at = s->at;
    const int n = s->n;
    double *const to = (double *)(void *)c->values + s->row;
    uint64_t valid = 0;
    IA_EACH(int lost = 0; status = ia_decode_decimal_float64_of(q, c->width, end - q, to + i, &lost, err);
            if (__builtin_expect(lost, 0) && c->inexact++ == 0) c->inexact_row = d->taken + s->row + i)
    c->valid = valid;
    return 0;
}

/* Days, times and timestamps. */
static __attribute__((noinline)) int ia_block_moments(struct ia_column *c, struct ia_row_block *s, struct ia_error *err)
{
    const uint8_t *const base = s->begin + c->place, *const end = s->end;
    const uint32_t *const at = s->at;
    const int n = s->n;
    uint64_t valid = 0;
    if (c->kind == IA_DATETIME_DATE32) {
        int32_t *const to = (int32_t *)(void *)c->values + s->row;
        IA_EACH(status = ia_decode_datetime_days(q, &c->qualifier, end - q, to + i, err))
    } else if (c->kind == IA_DATETIME_TIME32) {
        int32_t *const to = (int32_t *)(void *)c->values + s->row;
        IA_EACH(int64_t v; status = ia_decode_datetime_units(q, &c->qualifier, end - q, &v, err); to[i] = (int32_t)v)
    } else {
        int64_t *const to = (int64_t *)(void *)c->values + s->row;
        IA_EACH(int64_t v; status = ia_decode_datetime_units(q, &c->qualifier, end - q, &v, err); to[i] = v)
    }
    c->valid = valid;
    return 0;
}

static __attribute__((noinline)) int ia_block_intervals(struct ia_column *c, struct ia_row_block *s, struct ia_error *err)
{
    const uint8_t *const base = s->begin + c->place, *const end = s->end;
    const uint32_t *const at = s->at;
    const int n = s->n;
    uint64_t valid = 0;
    if (c->kind == IA_INTERVAL_MONTHS) {
        int32_t *const to = (int32_t *)(void *)c->values + s->row;
        IA_EACH(status = ia_decode_interval_months(q, &c->qualifier, end - q, to + i, err))
    } else if (c->kind == IA_INTERVAL_DURATION) {
        int64_t *const to = (int64_t *)(void *)c->values + s->row;
        IA_EACH(status = ia_decode_interval_micros(q, &c->qualifier, end - q, to + i, err))
    } else {
        struct ia_month_day_nano *const to = (struct ia_month_day_nano *)(void *)c->values + s->row;
        IA_EACH(status = ia_decode_interval_mdn(q, &c->qualifier, end - q, to + i, err))
    }
    c->valid = valid;
    return 0;
}

/* Descriptors of BYTE and TEXT as they are: they go back whole in SQ_FETCHBLOB. */
static inline __attribute__((always_inline)) void ia_block_descriptors_of(struct ia_column *c, struct ia_row_block *s,
                                                                          const size_t width)
{
    const uint8_t *const base = s->begin + c->place;
    uint8_t *to = c->values + s->row * (int64_t)width;
    uint64_t valid = 0;
    for (int i = 0; i < s->n; i++, to += width) {
        const uint8_t *const q = base + s->at[i];
        const uint64_t ok = !(q[IA_LOB_NULL] & 1);
        if (ok)
            memcpy(to, q, width);
        else
            memset(to, 0, width);
        valid |= ok << i;
    }
    c->valid = valid;
}

static __attribute__((noinline)) int ia_block_descriptors(struct ia_column *c, struct ia_row_block *s)
{
    if (c->width == IA_LOB_USUAL)
        ia_block_descriptors_of(c, s, IA_LOB_USUAL);
    else
        ia_block_descriptors_of(c, s, (size_t)c->width);
    return 0;
}

/* One column of a block; 0, or negative: something is wrong with a value. */
static int ia_block_decode_column(struct ia_decoder *d, struct ia_column *c, struct ia_row_block *s, struct ia_error *err)
{
    const uint8_t *const base = s->begin + c->place;
    void *const values = c->values;
    int outside = 0;
    switch (c->kind) {
    case IA_INT16:
        c->valid = ~ia_decode_fixed16((uint16_t *)values + s->row, base, s->at, s->n, 0x8000);
        return 0;
    case IA_INT32:
        c->valid = ~IA_VECTOR_CALL(ia_decode_fixed32, (uint32_t *)values + s->row, base, s->at, s->n, 0x80000000u);
        return 0;
    case IA_FLOAT32:
        c->valid = ~IA_VECTOR_CALL(ia_decode_fixed32, (uint32_t *)values + s->row, base, s->at, s->n, 0xffffffffu);
        return 0;
    case IA_INT64:
        c->valid = ~IA_VECTOR_CALL(ia_decode_fixed64, (uint64_t *)values + s->row, base, s->at, s->n, 0x8000000000000000ull);
        return 0;
    case IA_FLOAT64:
        c->valid = ~IA_VECTOR_CALL(ia_decode_fixed64, (uint64_t *)values + s->row, base, s->at, s->n, 0xffffffffffffffffull);
        return 0;
    case IA_DATE:
        c->valid = ~IA_VECTOR_CALL(ia_decode_dates, (uint32_t *)values + s->row, base, s->at, s->n, &outside);
        return outside ? IA_DATA : 0;
    case IA_INT8:
        c->valid = ~IA_VECTOR_CALL(ia_decode_int8s, (uint64_t *)values + s->row, base, s->at, s->n, &outside);
        return outside ? IA_PROTOCOL : 0;
    case IA_BOOL:
        return ia_block_bools(c, s);
    case IA_CHAR:
        return ia_block_is_plain(d, c, s, c->width) ? ia_block_chars_plain(d, c, s, err) : ia_block_chars(d, c, s, err);
    case IA_VARCHAR:
        return ia_block_varchar(d, c, s, err);
    case IA_LVARCHAR:
    case IA_OPAQUE:
        return ia_block_is_plain(d, c, s, s->span) ? ia_block_lvarchars_plain(d, c, s, err) : ia_block_lvarchars(d, c, s, err);
    case IA_DECIMAL_STRING:
        return ia_block_decimal_texts(d, c, s, err);
    case IA_DATETIME_TEXT:
        return ia_block_moment_texts(d, c, s, err);
    case IA_DECIMAL128:
    case IA_DECIMAL_INT64:
        return ia_block_decimals(c, s, err);
    case IA_DECIMAL_FLOAT64:
        return ia_block_doubles(d, c, s, err);
    case IA_DATETIME_DATE32:
    case IA_DATETIME_TIMESTAMP:
    case IA_DATETIME_TIME32:
    case IA_DATETIME_TIME64:
        return ia_block_moments(c, s, err);
    case IA_INTERVAL_MONTHS:
    case IA_INTERVAL_DURATION:
    case IA_INTERVAL_MDN:
        return ia_block_intervals(c, s, err);
    case IA_LOB:
        return ia_block_descriptors(c, s);
    default: /* ia_column_from lets no other kind through */
        return IA_PROTOCOL;
    }
}

/* ---- blocks -------------------------------------------------------------------------------------------------- */

/* All columns of a block; 0, or negative: something is wrong, and nothing has changed that counts. */
static int ia_block_columns(struct ia_decoder *d, struct ia_row_block *s)
{
    struct ia_column *const columns = d->columns, *const columns_end = columns + d->count;
    struct ia_error ignored;
    struct ia_column *c;
    int status = 0;
    /* The bytes of the next block are fetched while this one is decoded, a share with each column: columns go over them by
     * rows, not in their order, and nothing else would know what comes. */
    const uint8_t *next = s->begin + s->span, *const next_end = s->end - next < s->span ? s->end : next + s->span;
    const int64_t share = s->span / d->count + 64;
    for (c = columns; c < columns_end; c++) {
        for (const uint8_t *const until = next_end - next < share ? next_end : next + share; next < until; next += 64)
            __builtin_prefetch(next);
        c->before = c->item ? c->inexact : c->length;
        status = ia_block_decode_column(d, c, s, &ignored);
        if (__builtin_expect(status < 0, 0)) {
            c++;
            break;
        }
    }
    if (status == 0) {
        uint32_t wrong = 0;
        for (int i = 0; i < s->n; i++)
            wrong |= (s->ends[i] - s->at[i]) ^ (uint32_t)d->gap;
        status = wrong ? IA_PROTOCOL : 0;
    }
    while (status < 0 && c-- > columns) {
        if (c->item)
            c->inexact = c->before;
        else
            c->length = c->before;
    }
    return status;
}

/* Decode the block at p. Returns its rows, *stop its end; 0 if there is none: then the row loop has to take *by_rows rows
 * before it is worth asking again. */
static int ia_block_decode(struct ia_decoder *d, const uint8_t *p, const uint8_t *end, const uint8_t **stop, int64_t *by_rows)
{
    const int64_t row = d->rows;
    int64_t most = d->block_rows - (row & (d->block_rows - 1)); /* of one word of each bitmap, and no limit within it */
    most = most < d->row_capacity - row ? most : d->row_capacity - row;
    most = most < d->batch_rows - row ? most : d->batch_rows - row;
    *by_rows = most > 1 ? most : 1;
    if (most < IA_BLOCK_LEAST)
        return 0;
    struct ia_row_block block;
    block.begin = p;
    block.end = end;
    block.row = row;
    ia_block_find(d, &block, most);
    const int n = block.n;
    *by_rows = n + 1;
    if (n < IA_BLOCK_LEAST)
        return 0;
    /* Where a limit may lie within the block each row has to be asked. */
    const int64_t then = d->bytes + block.span * d->expand + (d->extra + d->row_bytes) * n;
    if (then >= d->batch_bytes || then > d->offset_limit)
        return 0;
    if (block.span > (int64_t)n * d->count * IA_BLOCK_TEXT || ia_block_columns(d, &block) < 0) {
        *by_rows = IA_FALLBACK_ROWS;
        return 0;
    }
    const uint64_t mine = ~0ull >> (64 - n);
    const int shift = (int)(row & 63);
    int64_t bytes = d->row_bytes * n;
    for (struct ia_column *c = d->columns; c < d->columns + d->count; c++) {
        c->word |= (c->valid & mine) << shift;
        if (c->kind == IA_BOOL)
            c->bits |= c->truth << shift;
        else if (!c->item)
            bytes += c->length - c->before;
    }
    d->bytes += bytes;
    d->rows += n;
    d->block_rows = ia_block_rows(block.span / n);
    if ((d->rows & 63) == 0)
        ia_store_words(d, (d->rows >> 6) - 1);
    *stop = p + block.span;
    return n;
}

#endif
