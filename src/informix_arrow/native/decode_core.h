/* The decoder without Python: tuples, each in a message of its own (enum ia_framing), become Arrow columns by a plan of
 * one op per column.
 *
 * Shape: row by row, one switch per value, buffers reserved ahead. What makes it fast and safe at once:
 *   - every column knows how many bytes the columns after it need at least (`rest`). A tuple is checked once against the
 *     sum, a variable-length value once against what `rest` leaves; fixed values need no check of their own.
 *   - NULL is a compare shifted into a 64-bit word per column, stored every 64 rows. Values under a NULL are 0.
 *   - short texts move by 32 bytes into slack (decode_text.h), fields of DATETIME and INTERVAL by one shift (decode_fields.h).
 *   - what is wrong with a value is worded by slower code, which is asked only when the quick one has refused it.
 * An error leaves the whole rows before it intact, and the decoder refuses every later feed with the same error. */
#ifndef INFORMIX_ARROW_DECODE_CORE_H
#define INFORMIX_ARROW_DECODE_CORE_H

#include <stdint.h>
#include <string.h>

#include "base100.h"
#include "decode_append.h"
#include "decode_batch.h"
#include "decode_block.h"
#include "decode_datetime.h"
#include "decode_interval.h"
#include "decode_fixed.h"
#include "decode_plan.h"
#include "decode_text.h"
#include "decode_value.h"
#include "plan.h"
#include "wire_bytes.h"

/* ---- rows ---------------------------------------------------------------------------------------------------- */

/* Name the column at which a tuple of `size` bytes ends too early. Only ever called when one does. */
static int ia_report_truncated_tuple(const struct ia_decoder *d, const uint8_t *payload, int64_t size, struct ia_error *err)
{
    int64_t at = 0;
    for (int i = d->front; i < d->count; i++) {
        const struct ia_column *c = &d->columns[i];
        int64_t need = c->width;
        if (c->kind == IA_VARCHAR)
            need = 1 + (at < size ? payload[at] : 0);
        else if (c->kind == IA_CHANGE_LVARCHAR)
            need = at + 2 <= size ? 2 + (int64_t)ia_load_be16(payload + at) : IA_CHANGE_TEXT;
        else if (c->kind == IA_LVARCHAR || c->kind == IA_OPAQUE || c->kind == IA_BOOL)
            need = IA_ENVELOPE + (at + IA_ENVELOPE <= size ? (int64_t)ia_load_be32(payload + at + 1) : 0);
        if (need > size - at) {
            err->column = i;
            err->offset = at;
            return IA_REFUSE(err, IA_PROTOCOL, "The value takes %lld bytes, but the tuple has %lld left.",
                             (long long)need, (long long)(size - at));
        }
        at += need;
    }
    return IA_REFUSE(err, IA_PROTOCOL, "The tuple is too short.");
}

/* The answer for a value that ends behind its tuple; ia_report_truncated_tuple words it. */
#define IA_TRUNCATED (-100)

/* One value at *at into row `row` of its column; *at becomes its end, *bytes grows by those of a text. 1, or 0 for NULL;
 * negative: an ia_status, which is worded, or IA_TRUNCATED. */
static inline __attribute__((always_inline)) int ia_decode_value(struct ia_decoder *d, struct ia_column *c,
                                                                 const int64_t row, const uint8_t **at,
                                                                 const uint8_t *tuple_end, const uint8_t *end,
                                                                 int64_t *bytes)
{
    struct ia_error *const err = &d->error;
    const uint8_t *q = *at, *text;
    int64_t n;
    int ok;
    switch (c->kind) {
    case IA_INT16: {
        const uint16_t v = ia_load_be16(q);
        ok = v != 0x8000;
        ((uint16_t *)(void *)c->values)[row] = ok ? v : 0;
        q += 2;
        break;
    }
    case IA_INT32: {
        const uint32_t v = ia_load_be32(q);
        ok = v != 0x80000000u;
        ((uint32_t *)(void *)c->values)[row] = v & -(uint32_t)ok;
        q += 4;
        break;
    }
    case IA_INT64: {
        const uint64_t v = ia_load_be64(q);
        ok = v != 0x8000000000000000ull;
        ((uint64_t *)(void *)c->values)[row] = v & -(uint64_t)ok;
        q += 8;
        break;
    }
    case IA_INT8: { /* sign word, then the magnitude with its low half first (TYPES section 3) */
        const uint32_t sign = ia_load_be16(q);
        const uint64_t v = ia_load_be64(q + 2) >> 32 | ia_load_be64(q + 2) << 32;
        const uint64_t minus = sign >> 15;
        ok = sign != 0;
        if (__builtin_expect((uint16_t)(sign + 1) > 2, 0))
            return IA_REFUSE(err, IA_PROTOCOL, "The sign word %04x of an INT8 is not 0, 1 or ffff.", sign);
        if (__builtin_expect(v >> 63 && ok && v > (uint64_t)INT64_MAX + minus, 0))
            return IA_REFUSE(err, IA_DATA, "The value does not fit in 64 bits.");
        ((uint64_t *)(void *)c->values)[row] = ((v ^ -minus) + minus) & -(uint64_t)ok;
        q += 10;
        break;
    }
    case IA_FLOAT32: {
        const uint32_t v = ia_load_be32(q);
        ok = v != 0xffffffffu;
        ((uint32_t *)(void *)c->values)[row] = v & -(uint32_t)ok;
        q += 4;
        break;
    }
    case IA_FLOAT64: {
        const uint64_t v = ia_load_be64(q);
        ok = v != 0xffffffffffffffffull;
        ((uint64_t *)(void *)c->values)[row] = v & -(uint64_t)ok;
        q += 8;
        break;
    }
    case IA_DATE: {
        const int32_t v = (int32_t)ia_load_be32(q);
        ok = v != INT32_MIN;
        if (__builtin_expect(ok && (v < IA_FIRST_DAY || v > IA_LAST_DAY), 0))
            return IA_REFUSE(err, IA_DATA, "The day number %d is outside the years 1 to 9999.", v);
        ((int32_t *)(void *)c->values)[row] = ok ? v - IA_EPOCH : 0; /* 1899-12-31 to 1970-01-01 */
        q += 4;
        break;
    }
    case IA_BOOL: {
        n = (int64_t)ia_load_be32(q + 1);
        if (n > tuple_end - q - IA_ENVELOPE - c->rest)
            return IA_TRUNCATED;
        ok = q[0] != 1;
        if (ok) {
            const int v = n == 1 ? ia_truth[q[IA_ENVELOPE]] : 0;
            if (__builtin_expect(v == 0, 0))
                return n == 1 ? IA_REFUSE(err, IA_PROTOCOL, "A BOOLEAN has the byte %02x, which is neither true nor false.", q[IA_ENVELOPE])
                              : IA_REFUSE(err, IA_PROTOCOL, "A BOOLEAN has %lld bytes.", (long long)n);
            c->bits |= (uint64_t)(v >> 1) << (row & 63);
        }
        q += IA_ENVELOPE + n;
        break;
    }
    case IA_CHAR:
        ok = q[0] != 0;
        n = !ok ? 0 : c->flags & IA_FLAG_TRIM ? ia_trimmed_within(q, c->width, end - q) : c->width;
        n = ia_append_text(d, c, row, q, n, end - q, err);
        if (__builtin_expect(n < 0, 0))
            return (int)n;
        *bytes += n;
        q += c->width;
        break;
    case IA_VARCHAR: {
        const int64_t stored = q[0];
        if (__builtin_expect(stored > tuple_end - q - 1 - c->rest, 0))
            return IA_TRUNCATED;
        text = q + 1;
        ok = !(stored == 1 && text[0] == 0);
        n = ia_append_text(d, c, row, text, ok ? stored : 0, end - text, err);
        if (__builtin_expect(n < 0, 0))
            return (int)n;
        *bytes += n;
        q = text + stored;
        break;
    }
    case IA_LVARCHAR:
    case IA_OPAQUE: {
        const int64_t stored = (int64_t)ia_load_be32(q + 1);
        if (__builtin_expect(stored > tuple_end - q - IA_ENVELOPE - c->rest, 0))
            return IA_TRUNCATED;
        text = q + IA_ENVELOPE;
        ok = q[0] != 1; /* only 1 is NULL (JDBC section 7) */
        n = ia_append_text(d, c, row, text, ok ? stored : 0, end - text, err);
        if (__builtin_expect(n < 0, 0))
            return (int)n;
        *bytes += n;
        q = text + stored;
        break;
    }
    case IA_CHANGE_BOOL: {
        const int v = ia_truth[q[1]];
        ok = q[0] == 0;
        if (__builtin_expect(q[0] > 1 || (ok && v == 0), 0))
            return IA_REFUSE(err, IA_PROTOCOL, "A BOOLEAN has the bytes %02x%02x, which are neither NULL nor true nor false.", q[0], q[1]);
        c->bits |= (uint64_t)(ok ? v >> 1 : 0) << (row & 63);
        q += 2;
        break;
    }
    case IA_CHANGE_LVARCHAR: {
        const int64_t stored = (int64_t)ia_load_be16(q) - 1; /* the flag is counted */
        if (__builtin_expect(stored > tuple_end - q - IA_CHANGE_TEXT - c->rest, 0))
            return IA_TRUNCATED;
        ok = q[2] == 0;
        if (__builtin_expect(stored < 0 || q[2] > 1 || (!ok && stored), 0))
            return IA_REFUSE(err, IA_PROTOCOL, "An LVARCHAR of length %lld has the NULL flag %02x.",
                             (long long)stored, q[2]);
        text = q + IA_CHANGE_TEXT;
        n = ia_append_text(d, c, row, text, stored, end - text, err);
        if (__builtin_expect(n < 0, 0))
            return (int)n;
        *bytes += n;
        q = text + stored;
        break;
    }
    case IA_DECIMAL128: {
        /* Two halves, each stored from its register: an __int128 would go through the stack and be read back by
         * one load of 16 bytes, which has to wait for both stores. */
        int64_t v;
        int64_t *const to = (int64_t *)(void *)c->values + 2 * row;
        ok = ia_b100_small(q, &c->decimal, end - q, &v);
        to[IA_LOW] = v;
        to[IA_HIGH] = v >> 63;
        if (__builtin_expect(ok < 0, 0)) {
            ok = ia_decode_decimal128(q, c->width, end - q, c->precision, c->scale, to, err);
            if (ok < 0)
                return ok;
        }
        q += c->width;
        break;
    }
    case IA_DECIMAL_INT64: {
        int64_t v;
        ok = ia_b100_small(q, &c->decimal, end - q, &v);
        if (__builtin_expect(ok < 0, 0)) {
            ok = ia_decode_decimal_int64(q, c->width, end - q, &v, err);
            if (ok < 0)
                return ok;
        }
        ((int64_t *)(void *)c->values)[row] = v;
        q += c->width;
        break;
    }
    case IA_DECIMAL_FLOAT64: {
        int lost = 0;
        ok = ia_decode_decimal_float64_of(q, c->width, end - q, (double *)(void *)c->values + row, &lost, err);
        if (__builtin_expect(ok < 0, 0))
            return ok;
        if (__builtin_expect(lost, 0) && c->inexact++ == 0)
            c->inexact_row = d->taken + row;
        q += c->width;
        break;
    }
    case IA_DATETIME_DATE32:
        ok = ia_decode_datetime_days(q, &c->qualifier, end - q, (int32_t *)(void *)c->values + row, err);
        if (__builtin_expect(ok < 0, 0))
            return ok;
        q += c->width;
        break;
    case IA_DATETIME_TIMESTAMP:
    case IA_DATETIME_TIME32:
    case IA_DATETIME_TIME64: {
        int64_t v;
        ok = ia_decode_datetime_units(q, &c->qualifier, end - q, &v, err);
        if (__builtin_expect(ok < 0, 0))
            return ok;
        if (c->kind == IA_DATETIME_TIME32)
            ((int32_t *)(void *)c->values)[row] = (int32_t)v;
        else
            ((int64_t *)(void *)c->values)[row] = v;
        q += c->width;
        break;
    }
    case IA_INTERVAL_MONTHS:
        ok = ia_decode_interval_months(q, &c->qualifier, end - q, (int32_t *)(void *)c->values + row, err);
        if (__builtin_expect(ok < 0, 0))
            return ok;
        q += c->width;
        break;
    case IA_INTERVAL_DURATION:
        ok = ia_decode_interval_micros(q, &c->qualifier, end - q, (int64_t *)(void *)c->values + row, err);
        if (__builtin_expect(ok < 0, 0))
            return ok;
        q += c->width;
        break;
    case IA_INTERVAL_MDN:
        ok = ia_decode_interval_mdn(q, &c->qualifier, end - q,
                                    (struct ia_month_day_nano *)(void *)c->values + row, err);
        if (__builtin_expect(ok < 0, 0))
            return ok;
        q += c->width;
        break;
    case IA_LOB: /* the descriptor as it is: it goes back whole in SQ_FETCHBLOB */
        ok = !(q[IA_LOB_NULL] & 1);
        if (ok)
            memcpy(c->values + row * c->width, q, (size_t)c->width);
        else
            memset(c->values + row * c->width, 0, (size_t)c->width);
        q += c->width;
        break;
    case IA_DECIMAL_STRING:
    case IA_DATETIME_TEXT:
    default: {
        char made[IA_DECIMAL_TEXT];
        int length;
        ok = c->kind == IA_DECIMAL_STRING
                 ? ia_decode_decimal_text(q, c->width, end - q, made, &length, err)
                 : ia_decode_datetime_text(q, &c->qualifier, made, &length, err);
        n = ok < 0 ? ok : ia_append_text(d, c, row, (const uint8_t *)made, length, sizeof made, err);
        if (__builtin_expect(n < 0, 0))
            return (int)n;
        *bytes += n;
        q += c->width;
        break;
    }
    }
    *at = q;
    return ok;
}

/* Decode whole tuples from data to end; *stop is the end of the last one consumed. With `image` from 0 on, one row of so
 * many bytes, which stand at data and in no message of their own; then the answer is 0, IA_FULL or an error. */
static inline __attribute__((always_inline)) enum ia_status ia_decode_rows(struct ia_decoder *d, const uint8_t *data,
                                                                           const uint8_t *end, const uint8_t **stop,
                                                                           const int64_t image)
{
    struct ia_error *err = &d->error;
    struct ia_column *const columns = d->columns, *const columns_end = columns + d->count;
    const int put = d->framing == IA_FRAMING_PUT;
    const uint64_t tag = put ? IA_SQ_PUT_TAG : IA_SQ_TUPLE;
    const uint8_t *p = data, *q;
    struct ia_column *c;
    int64_t rows = d->rows, bytes = d->bytes, by_rows = d->by_rows;
    int status;

    for (;;) {
        if (image < 0) {
            if (rows >= d->batch_rows || bytes >= d->batch_bytes) {
                status = IA_FULL;
                break;
            }
            if (by_rows > 0) {
                by_rows--;
            } else if (d->blocks) {
                d->rows = rows;
                d->bytes = bytes;
                while (ia_block_decode(d, p, end, &q, &by_rows) > 0)
                    p = q;
                rows = d->rows;
                bytes = d->bytes;
                by_rows--;
                if (rows >= d->batch_rows)
                    continue;
            }
        }
        const int64_t left = end - p;
        uint64_t header = 0;
        if (image < 0) {
            if (left < IA_TUPLE_HEADER) {
                status = left >= 2 && ia_load_be16(p) != tag ? IA_OTHER : IA_NEED_MORE;
                break;
            }
            header = ia_load_be64(p);
            if (header >> 48 != tag) {
                status = IA_OTHER;
                break;
            }
        }
        const int64_t size = image < 0 ? (int32_t)(uint32_t)(put ? header >> 16 : header) : image;
        const int64_t whole = image < 0 ? IA_TUPLE_HEADER + size + (size & 1) : image;
        if (size < 0 || size > d->max_tuple) {
            err->column = -1;
            err->offset = -1;
            status = IA_REFUSE(err, IA_PROTOCOL, "The tuple has %lld bytes, but the description allows at most %lld.",
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
        if (rows == d->row_capacity && (status = ia_grow_rows(d, bytes)) != 0) {
            err->column = -1;
            err->offset = -1;
            goto failed;
        }
        if (image < 0 && put && (uint16_t)header != 1) {
            err->column = -1;
            err->offset = -1;
            status = IA_REFUSE(err, IA_PROTOCOL, "The SQ_PUT has %d tuples, but only one can be read at a time.", (int)(uint16_t)header);
            goto failed;
        }
        const uint8_t *const tuple = image < 0 ? p + IA_TUPLE_HEADER : p, *const tuple_end = tuple + size;
        if (size < d->min_tuple) {
            status = ia_report_truncated_tuple(d, tuple, size, err);
            goto failed;
        }

        q = tuple;
        c = columns;
        if (image >= 0) {
            ((int16_t *)(void *)c->values)[rows] = d->record;
            c++->word |= 1ull << (rows & 63);
            ((int64_t *)(void *)c->values)[rows] = d->sequence;
            c++->word |= 1ull << (rows & 63);
        }
        for (; c < columns_end; c++) {
            const int ok = ia_decode_value(d, c, rows, &q, tuple_end, end, &bytes);
            if (__builtin_expect(ok < 0, 0)) {
                if (ok == IA_TRUNCATED) {
                    status = ia_report_truncated_tuple(d, tuple, size, err);
                    goto failed;
                }
                status = ok;
                err->column = (int)(c - columns); /* the value at q is wrong */
                err->offset = q - tuple;
                goto failed;
            }
            c->word |= (uint64_t)ok << (rows & 63);
        }
        if (__builtin_expect(q != tuple_end, 0)) {
            err->column = -1;
            err->offset = q - tuple;
            status = IA_REFUSE(err, IA_PROTOCOL, "%lld bytes are left after the last column of a tuple of %lld bytes.",
                               (long long)(tuple_end - q), (long long)size);
            goto failed;
        }
        p += whole;
        bytes += d->row_bytes;
        rows++;
        if ((rows & 63) == 0)
            ia_store_words(d, (rows >> 6) - 1);
        if (image >= 0) {
            status = 0;
            break;
        }
        continue;

    failed:
        err->status = status;
        err->row = d->taken + rows;
        break;
    }
    d->rows = rows;
    d->bytes = bytes;
    d->by_rows = by_rows > IA_BLOCK ? by_rows : 0;
    *stop = p;
    return status;
}

static enum ia_status ia_decode(struct ia_decoder *d, const uint8_t *data, const uint8_t *end, const uint8_t **stop)
{
    return ia_decode_rows(d, data, end, stop, -1);
}

/* Feed bytes; *stop is where the next feed has to begin. Any negative status is final. */
static __attribute__((unused)) enum ia_status ia_decoder_feed(struct ia_decoder *d, const uint8_t *data,
                                                              const uint8_t *end, const uint8_t **stop)
{
    *stop = data;
    return d->error.status < 0 ? d->error.status : ia_decode(d, data, end, stop);
}

#endif
