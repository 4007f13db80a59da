/* From the ops of a plan (plan.h) to the columns of a decoder: every op is checked here, so that the row loop never has
 * to. */
#ifndef INFORMIX_ARROW_DECODE_PLAN_H
#define INFORMIX_ARROW_DECODE_PLAN_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base100.h"
#include "decode_batch.h"
#include "decode_datetime.h"
#include "decode_fields.h"
#include "decode_fixed.h"
#include "decode_text.h"
#include "decode_value.h"
#include "plan.h"

#define IA_SQ_TUPLE 14
#define IA_SQ_PUT_TAG 17
#define IA_TUPLE_HEADER 8
#define IA_BLOCK_LEAST 8          /* rows: fewer are not worth a block */
#define IA_BLOCK_BYTES (1 << 20)  /* of the wire, most of a block */
#define IA_BLOCK_NEAR (48 << 10)  /* what a block should not exceed: what was walked over is still near when it is decoded */
#define IA_ENVELOPE 5        /* byte indicator, int length (TYPES section 1) */
#define IA_CHANGE_TEXT 3     /* an LVARCHAR of a row image: short length, NULL flag (CDC section 5) */
#define IA_LOB_NULL 39       /* byte of a BYTE or TEXT descriptor whose lowest bit means NULL (TYPES section 12) */
#define IA_LOB_WIDEST 32767  /* the description's length is a short */

/* A byte of a BOOLEAN: 1 false, 2 true, 0 neither. */
static const uint8_t ia_truth[256] = {[0] = 1, ['f'] = 1, ['F'] = 1, [1] = 2, ['t'] = 2, ['T'] = 2};

/* The qualifier of a DATETIME or INTERVAL column; NULL, or what is wrong with it. */
static const char *ia_column_qualifier(const struct ia_op *op, struct ia_qualifier *q)
{
    const int interval = op->kind >= IA_INTERVAL_MONTHS;
    if (interval ? ia_interval_qualifier_from(op->arg, op->width, q) : ia_qualifier_from(op->arg, op->width, q))
        return "the qualifier does not exist or its width is another";
    if ((op->kind == IA_DATETIME_DATE32 && (q->start != IA_YEAR || q->end != IA_DAY)) ||
        (op->kind == IA_DATETIME_TIMESTAMP && (q->start != IA_YEAR || q->end < IA_HOUR)) ||
        (op->kind == IA_DATETIME_TIME32 && (q->start != IA_HOUR || q->end < IA_MINUTE || q->fraction)) ||
        (op->kind == IA_DATETIME_TIME64 && (q->start != IA_HOUR || !q->fraction)) ||
        (op->kind == IA_INTERVAL_MONTHS && !ia_counts_months(q)) ||
        (op->kind == IA_INTERVAL_DURATION && ia_counts_months(q)))
        return "the qualifier does not go with the kind";
    if (op->kind == IA_DATETIME_TIME64)
        q->unit = 1000000; /* time64 has no milliseconds */
    ia_fields_prepare(q, interval);
    return NULL;
}

/* Fill in one column from its op; NULL, or what is wrong with the op. `least` gets the fewest bytes it takes. */
static const char *ia_column_from(const struct ia_op *op, struct ia_column *c, int64_t *least)
{
    if (op->kind < 1 || op->kind >= IA_KINDS)
        return "unknown kind";
    c->kind = op->kind;
    c->width = op->width;
    c->flags = op->flags;
    c->item = ia_kinds[op->kind].arrow;
    *least = op->width;
    switch (op->kind) {
    case IA_BOOL:
    case IA_LVARCHAR:
    case IA_OPAQUE:
        *least = IA_ENVELOPE;
        return NULL;
    case IA_CHAR:
        return op->width < 1 ? "the width of a CHAR must be positive" : NULL;
    case IA_VARCHAR:
        *least = 1;
        return NULL;
    case IA_CHANGE_LVARCHAR:
        *least = IA_CHANGE_TEXT;
        return NULL;
    case IA_LOB:
        c->item = op->width;
        return op->width <= IA_LOB_NULL || op->width > IA_LOB_WIDEST ? "the width of a descriptor must be 40..32767"
                                                                     : NULL;
    case IA_DECIMAL128:
        c->precision = op->arg >> 8;
        c->scale = op->arg & 255;
        if (op->arg < 0 || c->precision < 1 || c->precision > 38 || c->scale > c->precision)
            return "precision must be 1..38 and scale 0..precision";
        /* fall through */
    case IA_DECIMAL_INT64:
    case IA_DECIMAL_FLOAT64:
    case IA_DECIMAL_STRING:
        ia_b100_shape_from(&c->decimal, op->width, op->kind == IA_DECIMAL128 ? c->precision : 38, c->scale);
        return op->width < 2 || op->width > 1 + IA_B100_MAX_PAIRS ? "the width of a DECIMAL must be 2..18" : NULL;
    case IA_DATETIME_DATE32:
    case IA_DATETIME_TIMESTAMP:
    case IA_DATETIME_TIME32:
    case IA_DATETIME_TIME64:
    case IA_DATETIME_TEXT:
    case IA_INTERVAL_MONTHS:
    case IA_INTERVAL_DURATION:
    case IA_INTERVAL_MDN:
        return ia_column_qualifier(op, &c->qualifier);
    default:
        return op->width != ia_kinds[op->kind].wire ? "the width is not that of the kind" : NULL;
    }
}

/* Let 32-bit offsets count at most `limit` bytes. Batches end before their texts exceed that; those that are handed over as
 * they are on the wire before a third of it, because each may become three bytes of UTF-8. */
static void ia_limit_text(struct ia_decoder *d, int32_t limit)
{
    d->text_limit = limit;
    d->offset_limit = INT64_MAX / 2;
    for (const struct ia_column *c = d->columns; c < d->columns + d->count; c++) {
        if (!ia_is_text(c->kind) || c->flags & IA_FLAG_LARGE)
            continue;
        const int64_t most = ia_is_encoded(c->kind) && c->flags & IA_FLAG_RAW ? limit / 3 : limit;
        d->offset_limit = most < d->offset_limit ? most : d->offset_limit;
    }
}

/* The rows of a block of messages of so many bytes: a power of two, so that blocks end where words of bitmaps do. */
static inline int ia_block_rows(int64_t message)
{
    int rows = IA_BLOCK;
    while (rows > IA_BLOCK_LEAST && rows * message > IA_BLOCK_NEAR)
        rows /= 2;
    return rows;
}

/* Where each column stands in its segment (decode_block.h), and whether there are blocks. */
static void ia_segments_from(struct ia_decoder *d)
{
    d->blocks = 1;
    for (struct ia_column *c = d->columns; c < d->columns + d->count; c++) {
        c->place = d->gap;
        d->gap = ia_is_variable(c->kind) ? 0 : d->gap + c->width;
    }
    for (const struct ia_column *c = d->columns; c < d->columns + d->count; c++)
        if (c->kind == IA_CHANGE_BOOL || c->kind == IA_CHANGE_LVARCHAR)
            d->blocks = 0; /* blocks know the forms of tuples only */
    d->block_rows = ia_block_rows(IA_TUPLE_HEADER + d->min_tuple);
}

/* Start a decoder. Returns NULL, or a message with *bad the op it is about (-1: out of memory or a limit).
 * `page` must outlive the decoder. */
static const char *ia_decoder_init(struct ia_decoder *d, const struct ia_op *ops, int count, int64_t batch_rows,
                                   int64_t batch_bytes, int64_t max_tuple, const struct ia_codepage_entry *page,
                                   int *bad)
{
    memset(d, 0, sizeof *d);
    *bad = -1;
    d->count = count;
    d->batch_rows = batch_rows;
    d->batch_bytes = batch_bytes;
    d->max_tuple = max_tuple;
    d->page = page;
    d->expand = 1;
    for (int i = 0; page && i < 128; i++)
        d->transcode_all |= page[i].length != 1 || page[i].utf8[0] != i;
    d->row_bytes = (count + 7) / 8;
    d->columns = calloc((size_t)count + 1, sizeof *d->columns);
    d->pool = ia_pool_new(count * IA_SLOTS);
    if (!d->columns || !d->pool)
        return "out of memory";
    for (int i = count - 1; i >= 0; i--) {
        struct ia_column *c = &d->columns[i];
        int64_t least = 0;
        const char *wrong = ia_column_from(&ops[i], c, &least);
        if (wrong) {
            *bad = i;
            return wrong;
        }
        c->slot = i * IA_SLOTS;
        c->expand = ia_is_encoded(c->kind) && !(c->flags & IA_FLAG_RAW) && (page || c->flags & IA_FLAG_REPLACE) ? 3 : 1;
        d->expand = c->expand > d->expand ? c->expand : d->expand;
        c->rest = d->min_tuple;
        d->min_tuple += least;
        d->row_bytes += ia_is_text(c->kind) ? (int64_t)ia_offset_size(c) : ia_is_bits(c->kind) ? 0 : c->item;
        if (c->kind == IA_DECIMAL_STRING)
            d->extra += IA_DECIMAL_TEXT;
        if (c->kind == IA_DATETIME_TEXT)
            d->extra += IA_DATETIME_TEXT_LENGTH;
    }
    ia_limit_text(d, INT32_MAX);
    ia_segments_from(d);
    return NULL;
}

#endif
