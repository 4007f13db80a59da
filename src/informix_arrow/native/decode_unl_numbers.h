/* Fields of a .unl file that are numbers: integers, DECIMAL and MONEY. No Python. */
#ifndef INFORMIX_ARROW_DECODE_UNL_NUMBERS_H
#define INFORMIX_ARROW_DECODE_UNL_NUMBERS_H

#include <stdint.h>
#include <string.h>

#include "base100.h"
#include "decode_core.h"
#include "decode_unl_format.h"

/* An integer with a point or an exponent, as LOAD takes it: 1.0, 7747.0, 1e2. The fraction must be zero. */
static int ia_unl_whole(const uint8_t *s, int64_t n, uint64_t *out, struct ia_error *err)
{
    const uint8_t *p = s, *const end = s + n;
    uint64_t v = 0;
    int64_t shift = 0, zeros = 0, exponent = 0; /* zeros: at the end of the fraction so far */
    p += p < end && (*p == '-' || *p == '+');
    for (int fraction = 0; p < end; p++) {
        if (*p == '.' && !fraction) {
            fraction = 1;
            continue;
        }
        if (!ia_unl_digit(p, end))
            break;
        if (fraction && *p == '0') {
            zeros++;
            continue;
        }
        for (int64_t k = 0; k <= zeros; k++) {
            if (__builtin_mul_overflow(v, 10u, &v))
                return IA_UNL_WRONG(err, s, n, "is outside the range of the column's type.");
            shift -= fraction;
        }
        zeros = 0;
        if (__builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            return IA_UNL_WRONG(err, s, n, "is outside the range of the column's type.");
    }
    if (p < end && (*p | 32) == 'e') {
        const int minus = p + 1 < end && p[1] == '-';
        p += 1 + (p + 1 < end && (p[1] == '-' || p[1] == '+'));
        if (!ia_unl_digit(p, end))
            return IA_UNL_WRONG(err, s, n, "is not a whole number.");
        for (; ia_unl_digit(p, end); p++)
            if (exponent < 100000)
                exponent = exponent * 10 + *p - '0';
        shift += minus ? -exponent : exponent;
    }
    if (p != end)
        return IA_UNL_WRONG(err, s, n, "is not a whole number.");
    for (; v && shift > 0; shift--)
        if (__builtin_mul_overflow(v, 10u, &v))
            return IA_UNL_WRONG(err, s, n, "is outside the range of the column's type.");
    for (; v && shift < 0; shift++) {
        if (v % 10)
            return IA_UNL_WRONG(err, s, n, "is not a whole number.");
        v /= 10;
    }
    *out = v;
    return IA_VALUE;
}

static int ia_unl_integer(const uint8_t *s, int64_t n, int64_t least, int64_t most, int64_t *out, struct ia_error *err)
{
    const uint8_t *p = s, *const end = s + n;
    const int negative = p < end && *p == '-';
    uint64_t v = 0;
    p += p < end && (*p == '-' || *p == '+');
    if (!ia_unl_digit(p, end))
        return IA_UNL_WRONG(err, s, n, "is not a whole number.");
    for (; ia_unl_digit(p, end); p++) {
        if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            return IA_UNL_WRONG(err, s, n, "is outside the range of the column's type.");
    }
    if (p != end) {
        const int status = ia_unl_whole(s, n, &v, err);
        if (status != IA_VALUE)
            return status;
    }
    if (negative ? v > (uint64_t)0 - (uint64_t)least : v > (uint64_t)most)
        return IA_UNL_WRONG(err, s, n, "is outside the range of the column's type.");
    *out = (int64_t)(negative ? 0 - v : v);
    return IA_VALUE;
}

/* A number with a point and an exponent, taken apart but not converted. */
struct ia_unl_number {
    const uint8_t *whole, *fraction; /* digits */
    int whole_size, fraction_size;
    int exponent;
    int negative;
};

static inline int ia_unl_skip_symbol(const uint8_t **p, const uint8_t *end, const uint8_t *symbol, int size)
{
    if (size == 0 || end - *p < size || memcmp(*p, symbol, (size_t)size) != 0)
        return 0;
    *p += size;
    while (*p < end && **p == ' ')
        ++*p;
    return 1;
}

static int ia_unl_number_from(const struct ia_unl_format *f, const uint8_t *s, int64_t n, int money,
                              struct ia_unl_number *out, struct ia_error *err)
{
    const uint8_t *p = s, *end = s + n;
    int sign = 0;
    memset(out, 0, sizeof *out);
    if (p < end && (*p == '-' || *p == '+'))
        sign = *p++;
    if (money) {
        if (!ia_unl_skip_symbol(&p, end, f->front, f->front_size) && f->front_size == 0)
            (void)ia_unl_skip_symbol(&p, end, (const uint8_t *)"$", 1); /* DBMONEY's own default */
        if (!sign && p < end && (*p == '-' || *p == '+'))
            sign = *p++;
        if (f->back_size && end - p > f->back_size && memcmp(end - f->back_size, f->back, (size_t)f->back_size) == 0)
            end -= f->back_size;
        while (end > p && end[-1] == ' ')
            end--;
    }
    out->negative = sign == '-';
    out->whole = p;
    while (ia_unl_digit(p, end))
        p++;
    out->whole_size = (int)(p - out->whole);
    out->fraction = p;
    if (p < end && *p == f->point) {
        out->fraction = ++p;
        while (ia_unl_digit(p, end))
            p++;
        out->fraction_size = (int)(p - out->fraction);
    }
    if (out->whole_size + out->fraction_size == 0)
        return IA_UNL_WRONG(err, s, n, "is not a number.");
    if (p < end && (*p | 32) == 'e') {
        const int minus = p + 1 < end && p[1] == '-';
        p += 1 + (p + 1 < end && (p[1] == '-' || p[1] == '+'));
        if (!ia_unl_digit(p, end))
            return IA_UNL_WRONG(err, s, n, "is not a number.");
        for (; ia_unl_digit(p, end); p++)
            if (out->exponent < 100000)
                out->exponent = out->exponent * 10 + *p - '0';
        if (minus)
            out->exponent = -out->exponent;
    }
    if (p != end) {
        if (f->point == '.' && *p == ',')
            ia_set_hint(err, "dbmoney", "Use dbmoney=\",\" to read decimal commas.");
        return IA_UNL_WRONG(err, s, n, "is not a number.");
    }
    return IA_VALUE;
}

/* The unscaled integer of decimal128(precision, scale), exactly. */
static int ia_unl_decimal(const struct ia_unl_format *f, const uint8_t *s, int64_t n, int money, int precision, int scale,
                          ia_i128 *out, struct ia_error *err)
{
    struct ia_unl_number number;
    const int rc = ia_unl_number_from(f, s, n, money, &number, err);
    if (rc < 0)
        return rc;
    const int digits = number.whole_size + number.fraction_size;
    const int64_t kept = (int64_t)number.whole_size + number.exponent + scale; /* digits before the last that is kept */
    ia_u128 v = 0;
    int64_t i = 0;
    for (; i < digits; i++) {
        const int digit =
            (i < number.whole_size ? number.whole[i] : number.fraction[i - number.whole_size]) - '0';
        if (i >= kept) {
            if (digit)
                return IA_UNL_WRONG(err, s, n, "has more decimal places than the column can store.");
            continue;
        }
        if (v > (~(ia_u128)0 >> 1) / 10 - 1)
            return IA_UNL_WRONG(err, s, n, "has more digits than the column can store.");
        v = v * 10 + (unsigned)digit;
    }
    for (; v && i < kept; i++) {
        if (v > (~(ia_u128)0 >> 1) / 10 - 1)
            return IA_UNL_WRONG(err, s, n, "has more digits than the column can store.");
        v *= 10;
    }
    if (v >= ia_pow10(precision))
        return IA_UNL_WRONG(err, s, n, "has more digits than the column can store.");
    *out = number.negative ? -(ia_i128)v : (ia_i128)v;
    return IA_VALUE;
}

#endif
