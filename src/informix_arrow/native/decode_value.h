/* Packed decimals (base100.h) to what the Arrow columns hold: decimal128, int64, double, decimal text.
 *
 * Each decoder answers IA_VALUE, IA_NULL or a negative ia_status; with the latter err->detail says what was wrong with
 * the value, and the row loop adds where. */
#ifndef INFORMIX_ARROW_DECODE_VALUE_H
#define INFORMIX_ARROW_DECODE_VALUE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base100.h"
#include "wire_bytes.h"

enum ia_status {
    IA_NEED_MORE = 0, /* the bytes end inside a message */
    IA_OTHER = 1,     /* the next message is not SQ_TUPLE */
    IA_FULL = 2,      /* the batch is complete: take it */
    IA_PROTOCOL = -1, /* the peer broke the format */
    IA_DATA = -2,     /* well-formed, but the value does not fit its Arrow type */
    IA_NO_MEMORY = -3
};

enum { IA_NULL = 0, IA_VALUE = 1 };

struct ia_error {
    enum ia_status status;
    int64_t row;    /* of the whole result, from 0 */
    int column;     /* index into the plan; -1: the tuple as a whole */
    int64_t offset; /* in the tuple's payload; -1: not known */
    char detail[200];
    const char *hint;     /* a sentence to follow the detail that names an argument of the caller; NULL: none */
    const char *argument; /* that argument */
};

static inline void ia_set_hint(struct ia_error *err, const char *argument, const char *hint)
{
    err->argument = argument;
    err->hint = hint;
}

#define IA_REFUSE(err, code, ...) (snprintf((err)->detail, sizeof (err)->detail, __VA_ARGS__), (code))

/* ---- DECIMAL ------------------------------------------------------------------------------------------------- */

static inline int ia_unpack(const uint8_t *p, int width, int64_t room, struct ia_base100 *out, struct ia_error *err)
{
    const int rc = ia_b100_unpack(p, width, room, out);
    if (rc == IA_B100_BAD_DIGIT)
        return IA_REFUSE(err, IA_PROTOCOL, "A base-100 digit is greater than 99.");
    return rc == IA_B100_NULL ? IA_NULL : IA_VALUE;
}

/* DECIMAL -> the unscaled integer of decimal128(precision, scale), by way of all its digits. out: as Arrow has it. */
static __attribute__((noinline)) int ia_decode_decimal128(const uint8_t *p, int width, int64_t room, int precision,
                                                          int scale, int64_t out[2], struct ia_error *err)
{
    struct ia_base100 number;
    ia_i128 unscaled = 0;
    const int rc = ia_unpack(p, width, room, &number, err);
    out[0] = out[1] = 0;
    if (rc != IA_VALUE)
        return rc;
    switch (ia_b100_to_decimal128(&number, precision, scale, &unscaled)) {
    case IA_FIT:
        out[IA_LOW] = (int64_t)unscaled;
        out[IA_HIGH] = (int64_t)(unscaled >> 64);
        return IA_VALUE;
    case IA_FIT_SCALE:
        return IA_REFUSE(err, IA_DATA, "The value has more than %d decimal places and does not fit in decimal128(%d, %d).", scale, precision,
                         scale);
    default:
        return IA_REFUSE(err, IA_DATA, "The value has too many digits for decimal128(%d, %d).", precision, scale);
    }
}

/* DECIMAL -> int64, exactly, by way of all its digits. */
static __attribute__((noinline)) int ia_decode_decimal_int64(const uint8_t *p, int width, int64_t room, int64_t *out,
                                                             struct ia_error *err)
{
    struct ia_base100 number;
    ia_i128 wide = 0;
    const int rc = ia_unpack(p, width, room, &number, err);
    *out = 0;
    if (rc != IA_VALUE)
        return rc;
    const int fit = ia_b100_to_decimal128(&number, 38, 0, &wide);
    if (fit == IA_FIT_SCALE)
        return IA_REFUSE(err, IA_DATA, "The value has decimal places, which do not fit in int64.");
    if (fit != IA_FIT || wide > INT64_MAX || wide < INT64_MIN)
        return IA_REFUSE(err, IA_DATA, "The value does not fit in int64. Use integer_aggregates=False to read it as a decimal.");
    *out = (int64_t)wide;
    return rc;
}

/* The decimal digits of a magnitude below 10^38; returns how many (1 for 0). */
static inline int ia_digits(ia_u128 magnitude, char digits[40])
{
    const uint64_t high = (uint64_t)(magnitude / ia_pow10_64[19]), low = (uint64_t)(magnitude % ia_pow10_64[19]);
    if (high)
        return snprintf(digits, 40, "%llu%019llu", (unsigned long long)high, (unsigned long long)low);
    return snprintf(digits, 40, "%llu", (unsigned long long)low);
}

#define IA_SAFE_DIGITS UINT64_C(1000000000000000) /* 10^15: a double gives back every decimal of 15 digits */

/* Whether the digits of a number of more than 15 do not come back from the nearest double. */
static __attribute__((noinline)) int ia_loses_digits(const struct ia_base100 *number, double value)
{
    char digits[40], text[64];
    int n = ia_digits(number->magnitude, digits);
    int at = 0;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    if (n <= 15)
        return 0;
    snprintf(text, sizeof text, "%.*e", n - 1, value);
    for (const char *t = text; *t != '\0' && *t != 'e'; t++) { /* whatever stands for the point is passed over */
        if (*t >= '0' && *t <= '9' && (at == n || *t != digits[at++]))
            return 1;
    }
    return at != n;
}

/* DECIMAL -> the nearest double, ties to even. *lost: set to 1 when that has not all its digits, else left alone. */
static inline int ia_decode_decimal_float64_of(const uint8_t *p, int width, int64_t room, double *out,
                                               int *lost, struct ia_error *err)
{
    static const double exact[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    struct ia_base100 number;
    const int rc = ia_unpack(p, width, room, &number, err);
    *out = 0.0;
    if (rc != IA_VALUE || number.magnitude == 0)
        return rc;
    const int exponent = 2 * number.exponent;
    double value;
    if (number.magnitude <= (1ull << 53) && exponent >= -22 && exponent <= 22) {
        /* Both operands are exact doubles, so the one operation rounds once and correctly. */
        value = (double)(uint64_t)number.magnitude;
        value = exponent < 0 ? value / exact[-exponent] : value * exact[exponent];
        if (__builtin_expect((uint64_t)number.magnitude < IA_SAFE_DIGITS, 1)) {
            *out = number.negative ? -value : value;
            return IA_VALUE;
        }
    } else {
        char text[48];
        const int n = ia_digits(number.magnitude, text);
        snprintf(text + n, sizeof text - (size_t)n, "e%d", exponent); /* no point: the locale has no say */
        value = strtod(text, NULL);
    }
    if (number.magnitude >= IA_SAFE_DIGITS && ia_loses_digits(&number, value))
        *lost = 1;
    *out = number.negative ? -value : value;
    return IA_VALUE;
}

static inline int ia_decode_decimal_float64(const uint8_t *p, int width, int64_t room, double *out,
                                            struct ia_error *err)
{
    int lost = 0;
    return ia_decode_decimal_float64_of(p, width, room, out, &lost, err);
}

/* Longest text of a DECIMAL: sign, "0.", 130 zeros at most before and 34 digits, or 34 digits and 126 zeros. */
#define IA_DECIMAL_TEXT 192

/* DECIMAL -> plain text without an exponent: "1.5", "-0.000001", "100"; 1E125 is a 1 and 125 zeros. */
static inline int ia_decode_decimal_text(const uint8_t *p, int width, int64_t room, char text[IA_DECIMAL_TEXT],
                                         int *length, struct ia_error *err)
{
    struct ia_base100 number;
    const int rc = ia_unpack(p, width, room, &number, err);
    *length = 0;
    if (rc != IA_VALUE)
        return rc;
    char digits[40];
    int n = ia_digits(number.magnitude, digits);
    int exponent = 2 * number.exponent;
    if (exponent < 0 && digits[n - 1] == '0' && n > 1) { /* the last pair is not 0: at most one zero to drop */
        n--;
        exponent++;
    }
    char *t = text;
    if (number.negative)
        *t++ = '-';
    const int whole = n + exponent; /* digits before the point */
    if (exponent >= 0) {
        memcpy(t, digits, (size_t)n);
        memset(t + n, '0', (size_t)exponent);
        t += whole;
    } else if (whole > 0) {
        memcpy(t, digits, (size_t)whole);
        t[whole] = '.';
        memcpy(t + whole + 1, digits + whole, (size_t)(n - whole));
        t += n + 1;
    } else {
        memcpy(t, "0.", 2);
        memset(t + 2, '0', (size_t)-whole);
        memcpy(t + 2 - whole, digits, (size_t)n);
        t += 2 - whole + n;
    }
    *length = (int)(t - text);
    return IA_VALUE;
}

#endif
