/* A field of a .unl file as a value of the open batch's column (decode_batch.h): texts and bytes. Numbers and times are in the
 * headers beside this one. No Python.
 *
 *   - After a backslash, the delimiter, a backslash or a line break belongs to the text. A backslash and a blank alone are the
 *     empty text.
 *   - An empty field is NULL. */
#ifndef INFORMIX_ARROW_DECODE_UNL_FIELDS_H
#define INFORMIX_ARROW_DECODE_UNL_FIELDS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "decode_append.h"
#include "decode_batch.h"
#include "decode_core.h"
#include "decode_datetime.h"
#include "decode_fields.h"
#include "decode_plan.h"
#include "decode_text.h"
#include "decode_unl_format.h"
#include "decode_unl_numbers.h"
#include "decode_unl_times.h"
#include "plan.h"
#include "wire_bytes.h"

#define IA_UNL_SCRATCH 256 /* bytes of a field that is no text, at most */

static inline int ia_unl_is_text(const struct ia_column *c)
{
    return ia_is_encoded(c->kind);
}

/* ---- texts --------------------------------------------------------------------------------------------------- */

/* Take the backslashes out; dst has room for n bytes. Returns the bytes written. */
static inline int64_t ia_unl_unescape(uint8_t *dst, const uint8_t *s, int64_t n)
{
    uint8_t *to = dst;
    for (int64_t i = 0; i < n; i++) {
        if (s[i] == '\\' && i + 1 < n) {
            i++;
            if (s[i] == '\r' && i + 1 < n && s[i + 1] == '\n')
                i++; /* a file whose lines have been given other ends */
        }
        *to++ = s[i];
    }
    return to - dst;
}

static inline int ia_unl_is_empty(const struct ia_unl_field *f)
{
    return f->size == 2 && f->text[0] == '\\' && f->text[1] == ' ';
}

static inline void ia_unl_end_text(struct ia_column *c, int64_t row)
{
    if (c->flags & IA_FLAG_LARGE)
        ((int64_t *)c->offsets)[row + 1] = c->length;
    else
        ((int32_t *)c->offsets)[row + 1] = (int32_t)c->length;
}

static inline int ia_unl_room(const struct ia_decoder *d, struct ia_column *c, const uint8_t *s, int64_t n,
                              struct ia_error *err)
{
    return c->capacity - c->length < n ? ia_grow_text(d, c, s, n, err) : 0;
}

/* Append a text with its escapes taken out. Returns its bytes, or a negative ia_status. */
static int64_t ia_unl_append_escaped(const struct ia_decoder *d, struct ia_column *c, int64_t row,
                                     const struct ia_unl_field *f, struct ia_error *err)
{
    const int rc = ia_unl_room(d, c, f->text, f->size, err);
    if (rc)
        return rc;
    uint8_t *const dst = c->values + c->length;
    int64_t n = ia_unl_is_empty(f) ? 0 : ia_unl_unescape(dst, f->text, f->size);
    while (c->flags & IA_FLAG_TRIM && n > 0 && dst[n - 1] == ' ')
        n--;
    const int64_t valid = ia_utf8_valid_until(dst, n);
    if (valid != n) {
        ia_set_hint(err, "encoding", "Name the file's code set with encoding=.");
        return IA_REFUSE(err, IA_DATA, "Byte %lld of the text (%02x) is not UTF-8.", (long long)valid, dst[valid]);
    }
    c->length += n;
    ia_unl_end_text(c, row);
    return n;
}

static inline int64_t ia_unl_append_text(const struct ia_decoder *d, struct ia_column *c, int64_t row,
                                         const struct ia_unl_field *f, const uint8_t *end, struct ia_error *err)
{
    int64_t n = f->size;
    if (f->escaped)
        return ia_unl_append_escaped(d, c, row, f, err);
    if (c->flags & IA_FLAG_TRIM)
        while (n > 0 && f->text[n - 1] == ' ')
            n--;
    const int64_t added = ia_append_text(d, c, row, f->text, n, end - f->text, err);
    if (added == IA_DATA && ia_utf8_valid_until(f->text, n) != n)
        ia_set_hint(err, "encoding", "Name the file's code set with encoding=.");
    return added;
}

static inline int ia_unl_nibble(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Append the bytes that hexadecimal digits stand for. */
static int64_t ia_unl_append_hex(const struct ia_decoder *d, struct ia_column *c, int64_t row,
                                 const struct ia_unl_field *f, struct ia_error *err)
{
    const int64_t n = ia_unl_is_empty(f) ? 0 : f->size / 2;
    const int rc = ia_unl_room(d, c, f->text, n, err);
    if (rc)
        return rc;
    uint8_t *const dst = c->values + c->length;
    if (n && f->size % 2)
        return IA_REFUSE(err, IA_DATA, "The field has %lld hexadecimal digits. A BYTE needs two digits for each byte.", (long long)f->size);
    for (int64_t i = 0; i < n; i++) {
        const int high = ia_unl_nibble(f->text[2 * i]), low = ia_unl_nibble(f->text[2 * i + 1]);
        if (high < 0 || low < 0)
            return IA_REFUSE(err, IA_DATA, "Byte %lld of the field is not a hexadecimal digit, of which a BYTE consists.",
                             (long long)(2 * i + (high >= 0)));
        dst[i] = (uint8_t)(high << 4 | low);
    }
    if (n == 0 && f->size && !ia_unl_is_empty(f))
        return IA_REFUSE(err, IA_DATA, "The field has one hexadecimal digit. A BYTE needs two digits for each byte.");
    c->length += n;
    ia_unl_end_text(c, row);
    return n;
}

/* An exponent as text. */
static uint8_t *ia_unl_put_exponent(uint8_t *to, int exponent)
{
    uint8_t digits[12];
    int n = 0;
    *to++ = 'e';
    if (exponent < 0)
        *to++ = '-';
    for (int rest = exponent < 0 ? -exponent : exponent; rest > 0; rest /= 10)
        digits[n++] = (uint8_t)('0' + rest % 10);
    while (n > 0)
        *to++ = digits[--n];
    return to;
}

/* A number as text with a point and without currency, as Arrow's own conversions read it. Its bytes, or an ia_status. */
static int64_t ia_unl_append_number(const struct ia_decoder *d, const struct ia_unl_format *f, struct ia_column *c,
                                    int64_t row, const uint8_t *s, int64_t n, struct ia_error *err)
{
    struct ia_unl_number number;
    int rc = ia_unl_number_from(f, s, n, c->flags & IA_FLAG_MONEY, &number, err);
    if (rc < 0)
        return rc;
    /* A sign, a zero before the point, the point and an exponent are at most 11 bytes. */
    rc = ia_unl_room(d, c, s, number.whole_size + number.fraction_size + 16, err);
    if (rc)
        return rc;
    uint8_t *const begin = c->values + c->length, *to = begin;
    if (number.negative)
        *to++ = '-';
    if (number.whole_size == 0)
        *to++ = '0';
    for (int i = 0; i < number.whole_size; i++)
        *to++ = number.whole[i];
    if (number.fraction_size) {
        *to++ = '.';
        memcpy(to, number.fraction, (size_t)number.fraction_size);
        to += number.fraction_size;
    }
    if (number.exponent)
        to = ia_unl_put_exponent(to, number.exponent);
    c->length += to - begin;
    ia_unl_end_text(c, row);
    return to - begin;
}

/* ---- any field ----------------------------------------------------------------------------------------------- */

/* Convert a field that is neither NULL nor text. IA_VALUE or a negative ia_status; *bytes grows by those of a text. */
static int ia_unl_convert(struct ia_decoder *d, const struct ia_unl_format *f, struct ia_column *c, int64_t row,
                          const uint8_t *s, int64_t n, int64_t *bytes)
{
    struct ia_error *const err = &d->error;
    int64_t v = 0, rest = 0;
    int rc;
    switch (c->kind) {
    case IA_INT16:
        rc = ia_unl_integer(s, n, INT16_MIN, INT16_MAX, &v, err);
        ((int16_t *)(void *)c->values)[row] = (int16_t)v;
        return rc;
    case IA_INT32:
        rc = ia_unl_integer(s, n, INT32_MIN, INT32_MAX, &v, err);
        ((int32_t *)(void *)c->values)[row] = (int32_t)v;
        return rc;
    case IA_INT64:
    case IA_INT8:
        rc = ia_unl_integer(s, n, INT64_MIN, INT64_MAX, &v, err);
        ((int64_t *)(void *)c->values)[row] = v;
        return rc;
    case IA_BOOL:
        if (n != 1 || ((s[0] | 32) != 't' && (s[0] | 32) != 'f'))
            return IA_UNL_WRONG(err, s, n, "is not a BOOLEAN (expected t or f).");
        c->bits |= (uint64_t)((s[0] | 32) == 't') << (row & 63);
        return IA_VALUE;
    case IA_DECIMAL128: {
        ia_i128 unscaled = 0;
        rc = ia_unl_decimal(f, s, n, c->flags & IA_FLAG_MONEY, c->precision, c->scale, &unscaled, err);
        ((int64_t *)(void *)c->values)[2 * row + IA_LOW] = (int64_t)unscaled;
        ((int64_t *)(void *)c->values)[2 * row + IA_HIGH] = (int64_t)(unscaled >> 64);
        return rc;
    }
    case IA_DATE:
        return ia_unl_date(f, s, n, (int32_t *)(void *)c->values + row, err);
    case IA_DATETIME_DATE32:
    case IA_DATETIME_TIMESTAMP:
    case IA_DATETIME_TIME32:
    case IA_DATETIME_TIME64:
    case IA_DATETIME_TEXT: {
        struct ia_moment m;
        rc = ia_unl_datetime(&c->qualifier, s, n, &m, err);
        if (rc < 0)
            return rc;
        if (c->kind == IA_DATETIME_TEXT) {
            char text[IA_DATETIME_TEXT_LENGTH];
            const int size = ia_unl_datetime_text(&c->qualifier, &m, text);
            if ((rc = ia_unl_room(d, c, s, size, err)) != 0)
                return rc;
            memcpy(c->values + c->length, text, (size_t)size);
            c->length += size;
            *bytes += size;
            ia_unl_end_text(c, row);
            return IA_VALUE;
        }
        const int64_t date = c->qualifier.start == IA_YEAR ? ia_days_from_civil(m.year, m.month, m.day) : 0;
        const int64_t seconds = date * 86400 + m.hour * 3600 + m.minute * 60 + m.second, unit = c->qualifier.unit;
        if (c->kind == IA_DATETIME_DATE32)
            ((int32_t *)(void *)c->values)[row] = (int32_t)date;
        else if (c->kind == IA_DATETIME_TIME32)
            ((int32_t *)(void *)c->values)[row] = (int32_t)seconds;
        else
            ((int64_t *)(void *)c->values)[row] = seconds * unit + m.micros / (1000000 / unit);
        return IA_VALUE;
    }
    case IA_INTERVAL_MONTHS:
        rc = ia_unl_interval(&c->qualifier, s, n, &v, &rest, err);
        if (rc == IA_VALUE && (v > INT32_MAX || v < INT32_MIN))
            return IA_UNL_WRONG(err, s, n, "is too long for int32 months.");
        ((int32_t *)(void *)c->values)[row] = (int32_t)v;
        return rc;
    case IA_INTERVAL_DURATION:
        rc = ia_unl_interval(&c->qualifier, s, n, &v, &rest, err);
        if (rc == IA_VALUE && (__builtin_mul_overflow(v, INT64_C(86400000000), &v) || __builtin_add_overflow(v, rest, &v)))
            return IA_UNL_WRONG(err, s, n, "is too long for duration[us]. Read it as month_day_nano_interval.");
        ((int64_t *)(void *)c->values)[row] = v;
        return rc;
    case IA_INTERVAL_MDN: {
        const int months = ia_counts_months(&c->qualifier);
        rc = ia_unl_interval(&c->qualifier, s, n, &v, &rest, err);
        if (rc == IA_VALUE && (v > INT32_MAX || v < INT32_MIN))
            return IA_UNL_WRONG(err, s, n, "is too long for month_day_nano_interval.");
        ((struct ia_month_day_nano *)(void *)c->values)[row] =
            months ? (struct ia_month_day_nano){(int32_t)v, 0, 0} : (struct ia_month_day_nano){0, (int32_t)v, rest * 1000};
        return rc;
    }
    default: /* IA_DECIMAL_STRING */
        v = ia_unl_append_number(d, f, c, row, s, n, err);
        if (v < 0)
            return (int)v;
        *bytes += v;
        return IA_VALUE;
    }
}

/* A value under a NULL is 0, and a text there has no bytes. */
static inline void ia_unl_null(struct ia_column *c, int64_t row)
{
    if (ia_is_text(c->kind))
        ia_unl_end_text(c, row);
    else if (!ia_is_bits(c->kind))
        memset(c->values + row * c->item, 0, (size_t)c->item);
}

/* One field into row `row` of its column. IA_VALUE, IA_NULL or a negative ia_status. */
static inline int ia_unl_take_field(struct ia_decoder *d, const struct ia_unl_format *format, struct ia_column *c,
                                    int64_t row, const struct ia_unl_field *f, const uint8_t *end, int64_t *bytes)
{
    struct ia_error *const err = &d->error;
    if (f->size == 0 && !(format->empty && ia_unl_is_text(c))) {
        ia_unl_null(c, row);
        return IA_NULL;
    }
    if (ia_is_encoded(c->kind) || c->kind == IA_OPAQUE) {
        const int64_t n = c->kind == IA_OPAQUE ? ia_unl_append_hex(d, c, row, f, err)
                                               : ia_unl_append_text(d, c, row, f, end, err);
        if (n < 0)
            return (int)n;
        *bytes += n;
        return IA_VALUE;
    }
    uint8_t scratch[IA_UNL_SCRATCH];
    const uint8_t *s = f->text;
    int64_t n = f->size;
    if (n > IA_UNL_SCRATCH)
        return IA_UNL_WRONG(err, s, n, "is too long for the column's type.");
    if (f->escaped) {
        n = ia_unl_unescape(scratch, s, n);
        s = scratch;
    }
    while (n > 0 && *s == ' ')
        s++, n--;
    while (n > 0 && s[n - 1] == ' ')
        n--;
    return ia_unl_convert(d, format, c, row, s, n, bytes);
}

#endif
