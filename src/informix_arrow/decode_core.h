/* The decoder without Python: SQ_TUPLE messages (SQLI section 6: 000e, short warnings, int size, payload, pad to even)
 * become Arrow columns by a plan of one op per column.
 *
 * Shape: row by row, one switch per value, buffers reserved ahead. What makes it fast and safe at once:
 *   - every column knows how many bytes the columns after it need at least (`rest`). A tuple is checked once against the
 *     sum, a variable-length value once against what `rest` leaves; fixed values need no check of their own.
 *   - NULL is a compare shifted into a 64-bit word per column, stored every 64 rows. Values under a NULL are 0.
 *   - short texts move by 16 bytes into slack (decode_text.h).
 * An error leaves the whole rows before it intact, and the decoder refuses every later feed with the same error. */
#ifndef INFORMIX_ARROW_DECODE_CORE_H
#define INFORMIX_ARROW_DECODE_CORE_H

#include "decode_batch.h"

#define IA_SQ_TUPLE 14
#define IA_FIRST_DAY (-693594) /* 0001-01-01 as a DATE: days from 1899-12-31 (TYPES section 8) */
#define IA_LAST_DAY 2958464    /* 9999-12-31 */
#define IA_TUPLE_HEADER 8 /* short tag, short warnings, int size */
#define IA_ENVELOPE 5     /* byte indicator, int length (TYPES section 1) */

/* ---- the plan ------------------------------------------------------------------------------------------------ */

static inline int ia_is_text(int kind)
{
    return kind == IA_CHAR || kind == IA_VARCHAR || kind == IA_LVARCHAR || kind == IA_DECIMAL_STRING ||
           kind == IA_DATETIME_TEXT;
}

/* Fill in one column from its op; NULL, or what is wrong with the op. `least` gets the fewest bytes it takes. */
static const char *ia_column_from(const struct ia_op *op, struct ia_column *c, int64_t *least)
{
    /* Bytes in a tuple and bytes in Arrow; 0: the width says, or text. */
    static const uint8_t wire[] = {[IA_INT16] = 2,   [IA_INT32] = 4,   [IA_INT64] = 8, [IA_INT8] = 10,
                                   [IA_FLOAT32] = 4, [IA_FLOAT64] = 8, [IA_DATE] = 4,  [IA_DATETIME_TEXT] = 0};
    static const uint8_t item[] = {
        [IA_INT16] = 2,           [IA_INT32] = 4,           [IA_INT64] = 8,
        [IA_INT8] = 8,            [IA_FLOAT32] = 4,         [IA_FLOAT64] = 8,
        [IA_DATE] = 4,            [IA_BOOL] = 1,            [IA_DECIMAL128] = 16,
        [IA_DECIMAL_FLOAT64] = 8, [IA_DATETIME_DATE32] = 4, [IA_DATETIME_TIMESTAMP] = 8,
        [IA_DATETIME_TIME32] = 4, [IA_DATETIME_TIME64] = 8, [IA_DATETIME_TEXT] = 0,
    };
    struct ia_qualifier *q = &c->qualifier;
    if (op->kind < IA_INT16 || op->kind > IA_DATETIME_TEXT)
        return "unknown kind";
    c->kind = op->kind;
    c->width = op->width;
    c->flags = op->flags;
    c->item = item[op->kind];
    *least = op->width;
    switch (op->kind) {
    case IA_BOOL:
        *least = IA_ENVELOPE;
        return NULL;
    case IA_CHAR:
        return op->width < 1 ? "the width of a CHAR must be positive" : NULL;
    case IA_VARCHAR:
        *least = 1;
        return NULL;
    case IA_LVARCHAR:
        *least = IA_ENVELOPE;
        return NULL;
    case IA_DECIMAL128:
        c->precision = op->arg >> 8;
        c->scale = op->arg & 255;
        if (op->arg < 0 || c->precision < 1 || c->precision > 38 || c->scale > 38)
            return "precision must be 1..38 and scale 0..38";
        /* fall through */
    case IA_DECIMAL_FLOAT64:
    case IA_DECIMAL_STRING:
        return op->width < 2 || op->width > 1 + IA_B100_MAX_PAIRS ? "the width of a DECIMAL must be 2..18" : NULL;
    case IA_DATETIME_DATE32:
    case IA_DATETIME_TIMESTAMP:
    case IA_DATETIME_TIME32:
    case IA_DATETIME_TIME64:
    case IA_DATETIME_TEXT:
        if (ia_qualifier_from(op->arg, op->width, q))
            return "the qualifier does not exist or its width is another";
        if ((op->kind == IA_DATETIME_DATE32 && (q->start != IA_YEAR || q->end != IA_DAY)) ||
            (op->kind == IA_DATETIME_TIMESTAMP && (q->start != IA_YEAR || q->end < IA_HOUR)) ||
            (op->kind == IA_DATETIME_TIME32 && (q->start != IA_HOUR || q->end < IA_MINUTE || q->fraction)) ||
            (op->kind == IA_DATETIME_TIME64 && (q->start != IA_HOUR || !q->fraction)))
            return "the qualifier does not go with the kind";
        if (op->kind == IA_DATETIME_TIME64)
            q->unit = 1000000; /* time64 has no milliseconds */
        return NULL;
    default:
        return op->width != wire[op->kind] ? "the width is not that of the kind" : NULL;
    }
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
    d->expand = page ? 3 : 1;
    for (int i = 0; page && i < 128; i++)
        d->transcode_all |= page[i].length != 1 || page[i].utf8[0] != i;
    d->offset_limit = INT64_MAX / 2;
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
        c->rest = d->min_tuple;
        d->min_tuple += least;
        d->row_bytes += ia_is_text(c->kind) ? (int64_t)ia_offset_size(c) : c->kind == IA_BOOL ? 0 : c->item;
        if (ia_is_text(c->kind) && !(c->flags & IA_FLAG_LARGE))
            d->offset_limit = INT32_MAX;
        if (c->kind == IA_DECIMAL_STRING)
            d->extra += IA_DECIMAL_TEXT;
        if (c->kind == IA_DATETIME_TEXT)
            d->extra += IA_DATETIME_TEXT_LENGTH;
    }
    return NULL;
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

/* Append n text bytes as row r. Returns the bytes added, or a negative ia_status. */
static inline __attribute__((always_inline)) int64_t ia_append_text(const struct ia_decoder *d, struct ia_column *c, int64_t r, const uint8_t *src,
                                     int64_t n, int64_t room, struct ia_error *err)
{
    if (__builtin_expect(c->capacity - c->length < n * d->expand, 0)) {
        const int rc = ia_grow_text(d, c, n * d->expand, err);
        if (rc)
            return rc;
    }
    uint8_t *dst = c->values + c->length;
    if (__builtin_expect(ia_copy_text(dst, src, n, room) | d->transcode_all, 0)) {
        if (!d->page) {
            const int64_t valid = ia_utf8_valid_until(src, n);
            if (valid < n)
                return IA_REFUSE(err, IA_DATA, "byte %lld of the text (%02x) is not UTF-8", (long long)valid, src[valid]);
        } else {
            const int64_t written = ia_transcode(dst, src, n, d->page);
            if (written < 0)
                return IA_REFUSE(err, IA_DATA, "byte %lld of the text (%02x) is not defined in the code set",
                                 (long long)(-1 - written), src[-1 - written]);
            n = written;
        }
    }
    c->length += n;
    if (c->flags & IA_FLAG_LARGE)
        ((int64_t *)c->offsets)[r + 1] = c->length;
    else
        ((int32_t *)c->offsets)[r + 1] = (int32_t)c->length;
    return n;
}

/* Name the column at which a tuple of `size` bytes ends too early. Only ever called when one does. */
static int ia_shortage(const struct ia_decoder *d, const uint8_t *payload, int64_t size, struct ia_error *err)
{
    int64_t at = 0;
    for (int i = 0; i < d->count; i++) {
        const struct ia_column *c = &d->columns[i];
        int64_t need = c->width;
        if (c->kind == IA_VARCHAR)
            need = 1 + (at < size ? payload[at] : 0);
        else if (c->kind == IA_LVARCHAR || c->kind == IA_BOOL)
            need = IA_ENVELOPE + (at + IA_ENVELOPE <= size ? (int64_t)ia_load_be32(payload + at + 1) : 0);
        if (need > size - at) {
            err->column = i;
            err->offset = at;
            return IA_REFUSE(err, IA_PROTOCOL, "the value takes %lld bytes but the tuple has %lld left",
                             (long long)need, (long long)(size - at));
        }
        at += need;
    }
    return IA_REFUSE(err, IA_PROTOCOL, "the tuple ends too early");
}

/* Decode whole tuples from data to end; *stop is the end of the last one consumed. */
static enum ia_status ia_decode(struct ia_decoder *d, const uint8_t *data, const uint8_t *end, const uint8_t **stop)
{
    struct ia_error *err = &d->error;
    struct ia_column *const columns = d->columns, *const columns_end = columns + d->count;
    const uint8_t *p = data, *q;
    struct ia_column *c;
    int64_t rows = d->rows, bytes = d->bytes;
    int status;

    for (;;) {
        if (rows >= d->batch_rows || bytes >= d->batch_bytes) {
            status = IA_FULL;
            break;
        }
        const int64_t left = end - p;
        if (left < IA_TUPLE_HEADER) {
            status = left >= 2 && ia_load_be16(p) != IA_SQ_TUPLE ? IA_OTHER : IA_NEED_MORE;
            break;
        }
        const uint64_t header = ia_load_be64(p);
        if (header >> 48 != IA_SQ_TUPLE) {
            status = IA_OTHER;
            break;
        }
        const int64_t size = (int32_t)(uint32_t)header;
        const int64_t whole = IA_TUPLE_HEADER + size + (size & 1);
        if (size < 0 || size > d->max_tuple) {
            err->column = -1;
            err->offset = -1;
            status = IA_REFUSE(err, IA_PROTOCOL, "a tuple of %lld bytes, but the description allows at most %lld",
                               (long long)size, (long long)d->max_tuple);
            goto failed;
        }
        if (left < whole) {
            status = IA_NEED_MORE;
            break;
        }
        if (rows && bytes + size * d->expand + d->extra > d->offset_limit) {
            status = IA_FULL; /* 32-bit offsets: a batch boundary, never an error */
            break;
        }
        if (rows == d->row_capacity && (status = ia_grow_rows(d)) != 0) {
            err->column = -1;
            err->offset = -1;
            goto failed;
        }
        const uint8_t *const tuple = p + IA_TUPLE_HEADER, *const tuple_end = tuple + size;
        if (size < d->min_tuple) {
            status = ia_shortage(d, tuple, size, err);
            goto failed;
        }

        q = tuple;
        for (c = columns; c < columns_end; c++) {
            const uint8_t *text;
            int64_t n;
            int ok;
            switch (c->kind) {
            case IA_INT16: {
                const uint16_t v = ia_load_be16(q);
                ok = v != 0x8000;
                ((uint16_t *)(void *)c->values)[rows] = ok ? v : 0;
                q += 2;
                break;
            }
            case IA_INT32: {
                const uint32_t v = ia_load_be32(q);
                ok = v != 0x80000000u;
                ((uint32_t *)(void *)c->values)[rows] = v & -(uint32_t)ok;
                q += 4;
                break;
            }
            case IA_INT64: {
                const uint64_t v = ia_load_be64(q);
                ok = v != 0x8000000000000000ull;
                ((uint64_t *)(void *)c->values)[rows] = v & -(uint64_t)ok;
                q += 8;
                break;
            }
            case IA_INT8: { /* sign word, then the magnitude with its low half first (TYPES section 3) */
                const uint32_t sign = ia_load_be16(q);
                const uint64_t v = (uint64_t)ia_load_be32(q + 6) << 32 | ia_load_be32(q + 2);
                ok = sign != 0;
                if (sign == 1)
                    n = (int64_t)v;
                else if (sign == 0xffff)
                    n = (int64_t)(0 - v);
                else if (sign == 0)
                    n = 0;
                else {
                    status = IA_REFUSE(err, IA_PROTOCOL, "sign word %04x of an INT8 is not 0, 1 or ffff", sign);
                    goto value;
                }
                if (ok && v > (uint64_t)INT64_MAX + (sign != 1)) {
                    status = IA_REFUSE(err, IA_DATA, "the value does not fit 64 bits");
                    goto value;
                }
                ((int64_t *)(void *)c->values)[rows] = n;
                q += 10;
                break;
            }
            case IA_FLOAT32: {
                const uint32_t v = ia_load_be32(q);
                ok = v != 0xffffffffu;
                ((uint32_t *)(void *)c->values)[rows] = v & -(uint32_t)ok;
                q += 4;
                break;
            }
            case IA_FLOAT64: {
                const uint64_t v = ia_load_be64(q);
                ok = v != 0xffffffffffffffffull;
                ((uint64_t *)(void *)c->values)[rows] = v & -(uint64_t)ok;
                q += 8;
                break;
            }
            case IA_DATE: {
                const int32_t v = (int32_t)ia_load_be32(q);
                ok = v != INT32_MIN;
                if (__builtin_expect(ok && (v < IA_FIRST_DAY || v > IA_LAST_DAY), 0)) {
                    status = IA_REFUSE(err, IA_DATA, "day %d is outside the years 1 to 9999", v);
                    goto value;
                }
                ((int32_t *)(void *)c->values)[rows] = ok ? v - 25568 : 0; /* 1899-12-31 to 1970-01-01 */
                q += 4;
                break;
            }
            case IA_BOOL: {
                n = (int64_t)ia_load_be32(q + 1);
                if (n > tuple_end - q - IA_ENVELOPE - c->rest) {
                    status = ia_shortage(d, tuple, size, err);
                    goto failed;
                }
                ok = q[0] != 1;
                if (ok) {
                    const int v = n == 1 ? q[IA_ENVELOPE] : -1;
                    if (v == 't' || v == 'T' || v == 1)
                        c->bits |= 1ull << (rows & 63);
                    else if (v != 'f' && v != 'F' && v != 0) {
                        status = n == 1 ? IA_REFUSE(err, IA_PROTOCOL, "a BOOLEAN is %02x: neither true nor false", v)
                                        : IA_REFUSE(err, IA_PROTOCOL, "a BOOLEAN has %lld bytes", (long long)n);
                        goto value;
                    }
                }
                q += IA_ENVELOPE + n;
                break;
            }
            case IA_CHAR:
                ok = q[0] != 0;
                n = !ok ? 0 : c->flags & IA_FLAG_TRIM ? ia_trimmed_length(q, c->width) : c->width;
                n = ia_append_text(d, c, rows, q, n, end - q, err);
                if (__builtin_expect(n < 0, 0)) {
                    status = (int)n;
                    goto value;
                }
                bytes += n;
                q += c->width;
                break;
            case IA_VARCHAR: {
                const int64_t stored = q[0];
                if (__builtin_expect(stored > tuple_end - q - 1 - c->rest, 0)) {
                    status = ia_shortage(d, tuple, size, err);
                    goto failed;
                }
                text = q + 1;
                ok = !(stored == 1 && text[0] == 0);
                n = ia_append_text(d, c, rows, text, ok ? stored : 0, end - text, err);
                if (__builtin_expect(n < 0, 0)) {
                    status = (int)n;
                    goto value;
                }
                bytes += n;
                q = text + stored;
                break;
            }
            case IA_LVARCHAR: {
                const int64_t stored = (int64_t)ia_load_be32(q + 1);
                if (__builtin_expect(stored > tuple_end - q - IA_ENVELOPE - c->rest, 0)) {
                    status = ia_shortage(d, tuple, size, err);
                    goto failed;
                }
                text = q + IA_ENVELOPE;
                ok = q[0] != 1; /* only 1 is NULL (JDBC section 7) */
                n = ia_append_text(d, c, rows, text, ok ? stored : 0, end - text, err);
                if (__builtin_expect(n < 0, 0)) {
                    status = (int)n;
                    goto value;
                }
                bytes += n;
                q = text + stored;
                break;
            }
            case IA_DECIMAL128: {
                ia_i128 v;
                ok = ia_decode_decimal128(q, c->width, end - q, c->precision, c->scale, &v, err);
                if (__builtin_expect(ok < 0, 0)) {
                    status = ok;
                    goto value;
                }
                memcpy(c->values + 16 * rows, &v, sizeof v);
                q += c->width;
                break;
            }
            case IA_DECIMAL_FLOAT64:
                ok = ia_decode_decimal_float64(q, c->width, end - q, (double *)(void *)c->values + rows, err);
                if (__builtin_expect(ok < 0, 0)) {
                    status = ok;
                    goto value;
                }
                q += c->width;
                break;
            case IA_DATETIME_DATE32:
                ok = ia_decode_datetime_days(q, &c->qualifier, (int32_t *)(void *)c->values + rows, err);
                if (__builtin_expect(ok < 0, 0)) {
                    status = ok;
                    goto value;
                }
                q += c->width;
                break;
            case IA_DATETIME_TIMESTAMP:
            case IA_DATETIME_TIME32:
            case IA_DATETIME_TIME64: {
                int64_t v;
                ok = ia_decode_datetime_units(q, &c->qualifier, &v, err);
                if (__builtin_expect(ok < 0, 0)) {
                    status = ok;
                    goto value;
                }
                if (c->kind == IA_DATETIME_TIME32)
                    ((int32_t *)(void *)c->values)[rows] = (int32_t)v;
                else
                    ((int64_t *)(void *)c->values)[rows] = v;
                q += c->width;
                break;
            }
            case IA_DECIMAL_STRING:
            case IA_DATETIME_TEXT:
            default: {
                char made[IA_DECIMAL_TEXT];
                int length;
                ok = c->kind == IA_DECIMAL_STRING
                         ? ia_decode_decimal_text(q, c->width, end - q, made, &length, err)
                         : ia_decode_datetime_text(q, &c->qualifier, made, &length, err);
                n = ok < 0 ? ok : ia_append_text(d, c, rows, (const uint8_t *)made, length, sizeof made, err);
                if (__builtin_expect(n < 0, 0)) {
                    status = (int)n;
                    goto value;
                }
                bytes += n;
                q += c->width;
                break;
            }
            }
            c->word |= (uint64_t)ok << (rows & 63);
        }
        if (__builtin_expect(q != tuple_end, 0)) {
            err->column = -1;
            err->offset = q - tuple;
            status = IA_REFUSE(err, IA_PROTOCOL, "%lld bytes are left after the last column of a tuple of %lld",
                               (long long)(tuple_end - q), (long long)size);
            goto failed;
        }
        p += whole;
        bytes += d->row_bytes;
        rows++;
        if ((rows & 63) == 0)
            ia_store_words(d, (rows >> 6) - 1);
        continue;

    value: /* the value at q is wrong */
        err->column = (int)(c - columns);
        err->offset = q - tuple;
    failed:
        err->status = status;
        err->row = d->taken + rows;
        break;
    }
    d->rows = rows;
    d->bytes = bytes;
    *stop = p;
    return status;
}

/* Feed bytes; *stop is where the next feed has to begin. Any negative status is final. */
static enum ia_status ia_decoder_feed(struct ia_decoder *d, const uint8_t *data, const uint8_t *end,
                                      const uint8_t **stop)
{
    *stop = data;
    return d->error.status < 0 ? d->error.status : ia_decode(d, data, end, stop);
}

#endif
