/* Packed DECIMAL, MONEY and DATETIME: a sign/exponent byte, then base-100 digits ("pairs") (TYPES section 5).
 *
 *     byte 0      positive: 80 + (E + 64)     negative: that byte xor ff
 *     byte 1..    pairs d1 d2 ..: value = 0.d1 d2 d3 .. (base 100) x 100^E
 *
 * A negative number's pairs are complemented: zeros at the end stay 0, the last other pair d is 100 - d, those before it
 * are 99 - d. Read as one integer R of n pairs that is the hundred's complement 100^n - R, so no pair is ever touched
 * singly. NULL is zero bytes only: 00 5a is -1E125, and 00 00 0a .. is -9.99E125.
 *
 * No function here allocates; all arithmetic is on integers. */
#ifndef INFORMIX_ARROW_BASE100_H
#define INFORMIX_ARROW_BASE100_H

#include <stdint.h>

#include "wire_bytes.h"

__extension__ typedef unsigned __int128 ia_u128;
__extension__ typedef __int128 ia_i128;

#define IA_B100_MAX_PAIRS 17 /* DECIMAL(32) with an odd scale or floating: 18 bytes */

#define IA_E16 10000000000000000ull /* 100^8 */

/* 10^0 .. 10^19, all that fit 64 bits. */
static const uint64_t ia_pow10_64[20] = {
    1ull, 10ull, 100ull, 1000ull, 10000ull, 100000ull, 1000000ull, 10000000ull, 100000000ull, 1000000000ull,
    10000000000ull, 100000000000ull, 1000000000000ull, 10000000000000ull, 100000000000000ull, 1000000000000000ull,
    10000000000000000ull, 100000000000000000ull, 1000000000000000000ull, 10000000000000000000ull,
};

/* 10^exponent, 0 <= exponent <= 38. */
static inline ia_u128 ia_pow10(int exponent)
{
    return exponent <= 19 ? (ia_u128)ia_pow10_64[exponent]
                          : (ia_u128)ia_pow10_64[19] * ia_pow10_64[exponent - 19];
}

/* One unpacked number: (negative ? -1 : 1) x magnitude x 100^exponent.
 * The last pair of magnitude is not 0 unless the number is 0, which has magnitude 0 and exponent 0. */
struct ia_base100 {
    ia_u128 magnitude;
    int exponent;
    int negative;
};

enum ia_b100_status { IA_B100_NULL = 0, IA_B100_VALUE = 1, IA_B100_BAD_DIGIT = -1 };

/* Non-zero if one of the 8 bytes is greater than 99. */
static inline uint64_t ia_b100_bad8(uint64_t pairs)
{
    return (pairs | ((pairs & 0x7f7f7f7f7f7f7f7full) + 0x1c1c1c1c1c1c1c1cull)) & 0x8080808080808080ull;
}

/* 8 pairs, the first in the top byte, to their value: three multiplications instead of eight. */
static inline uint64_t ia_b100_join8(uint64_t pairs)
{
    uint64_t v = ((pairs >> 8) & 0x00ff00ff00ff00ffull) * 100 + (pairs & 0x00ff00ff00ff00ffull);
    v = ((v >> 16) & 0x0000ffff0000ffffull) * 10000 + (v & 0x0000ffff0000ffffull);
    return (v >> 32) * 100000000 + (v & 0xffffffffull);
}

/* Up to 8 bytes, right-aligned in a big-endian word. Reads exactly n bytes. */
static inline uint64_t ia_load_be_n(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

/* Non-zero if one of the bytes of p[9] .. p[width - 1] is not 0: the pairs behind the first 8. width 10 .. 18. */
static inline uint64_t ia_b100_tail(const uint8_t *p, int width)
{
    const uint64_t last8 = ia_load_be64(p + width - 8);
    if (width >= 17)
        return last8 | (width > 17 ? p[9] : 0);
    return last8 << (8 * (17 - width));
}

/* The pairs of p in the top bytes of a word, the first one first; at most 8. `room` is how many bytes may be read from
 * p on. */
static inline uint64_t ia_b100_first8(const uint8_t *p, int pairs, int64_t room)
{
    const int unused = pairs < 8 ? 8 * (8 - pairs) : 0;
    if (__builtin_expect(room >= 9, 1))
        return ia_load_be64(p + 1) >> unused << unused;
    return ia_load_be_n(p + 1, pairs < 8 ? pairs : 8) << unused;
}

/* The exponent E of the first byte, negative or not. */
static inline int ia_b100_exponent(const uint8_t *p)
{
    const int sign = (int8_t)p[0] >> 7; /* -1: positive */
    return ((p[0] ^ (~sign & 0x7f)) & 0x7f) - 64;
}

/* Unpack width bytes (2 .. 1 + IA_B100_MAX_PAIRS) at p. `room` is how many bytes may be read from p on (>= width): with
 * 9 or more the pairs come by one load. Returns an ia_b100_status. */
static inline int ia_b100_unpack(const uint8_t *p, int width, int64_t room, struct ia_base100 *out)
{
    int pairs = width - 1;
    const int negative = p[0] < 0x80;
    const int exponent = ia_b100_exponent(p);
    ia_u128 magnitude;

    if (pairs > 8 && ia_b100_tail(p, width) == 0)
        pairs = 8; /* most values of a wide column are short */
    if (pairs <= 8) {
        uint64_t v = ia_b100_first8(p, pairs, room);
        if (ia_b100_bad8(v))
            return IA_B100_BAD_DIGIT;
        if (v == 0)
            goto zero;
        const int trailing = __builtin_ctzll(v) >> 3;
        v >>= 8 * trailing;
        pairs = 8 - trailing;
        const uint64_t joined = ia_b100_join8(v);
        /* pairs <= 8, so 100^pairs = 10^(2 pairs) is in the table. */
        magnitude = negative ? ia_pow10_64[2 * pairs] - joined : joined;
    } else {
        while (p[pairs] == 0)
            pairs--;
        magnitude = 0;
        for (int at = 0; at < pairs; at += 8) {
            const int n = pairs - at < 8 ? pairs - at : 8;
            const uint64_t v = n == 8 ? ia_load_be64(p + 1 + at) : ia_load_be_n(p + 1 + at, n);
            if (ia_b100_bad8(v))
                return IA_B100_BAD_DIGIT;
            magnitude = magnitude * ia_pow10_64[2 * n] + ia_b100_join8(v);
        }
        if (negative)
            magnitude = ia_pow10(2 * pairs) - magnitude;
    }
    out->magnitude = magnitude;
    out->exponent = exponent - pairs;
    out->negative = negative;
    return IA_B100_VALUE;
zero:
    out->magnitude = 0;
    out->exponent = 0;
    out->negative = 0;
    return p[0] == 0 ? IA_B100_NULL : IA_B100_VALUE;
}

/* What a column says about its decimals, worked out once: see ia_b100_small. */
struct ia_b100_shape {
    int width;
    int scale_pairs; /* pairs behind the point that hold the scale's digits */
    int odd;         /* the last of them holds one digit only */
    int64_t limit;   /* 10^precision, or INT64_MAX */
    ia_u128 wide;    /* 10^precision */
};

static inline void ia_b100_shape_from(struct ia_b100_shape *shape, int width, int precision, int scale)
{
    shape->width = width;
    shape->scale_pairs = (scale + 1) / 2;
    shape->odd = scale & 1;
    shape->limit = precision <= 18 ? (int64_t)ia_pow10_64[precision] : INT64_MAX;
    shape->wide = ia_pow10(precision);
}

enum { IA_B100_NOT_SMALL = -2 };

/* The unscaled integer of a number whose digits all lie in 8 pairs, the last of them that of the scale: nearly every
 * one. The pairs move to their place by a shift; nothing is multiplied by a power of ten or divided.
 * IA_B100_VALUE, IA_B100_NULL, or IA_B100_NOT_SMALL: then ia_b100_unpack knows more. */
static inline int ia_b100_small(const uint8_t *p, const struct ia_b100_shape *shape, int64_t room, int64_t *out)
{
    const int width = shape->width;
    uint64_t v = ia_b100_first8(p, width - 1, room);
    *out = 0;
    if (ia_b100_bad8(v) || (width > 9 && ia_b100_tail(p, width)))
        return IA_B100_NOT_SMALL;
    if (v == 0)
        return p[0] == 0 ? IA_B100_NULL : IA_B100_VALUE;
    const int pairs = ia_b100_exponent(p) + shape->scale_pairs;
    if (pairs < 1 || pairs > 8 || v << 4 * pairs << 4 * pairs)
        return IA_B100_NOT_SMALL;
    const uint64_t joined = ia_b100_join8(v >> (64 - 8 * pairs));
    int64_t value = (int64_t)(joined - (p[0] < 0x80 ? ia_pow10_64[2 * pairs] : 0));
    if (shape->odd) {
        if (value % 10)
            return IA_B100_NOT_SMALL;
        value /= 10;
    }
    if (value >= shape->limit || value <= -shape->limit)
        return IA_B100_NOT_SMALL;
    *out = value;
    return IA_B100_VALUE;
}

/* The same of numbers whose digits lie in 16 pairs; for widths from 10 to 17. */
static inline int ia_b100_wide(const uint8_t *p, const struct ia_b100_shape *shape, ia_i128 *out)
{
    const int width = shape->width;
    *out = 0;
    if (width < 10 || width > 17)
        return IA_B100_NOT_SMALL;
    const uint64_t first = ia_load_be64(p + 1), behind = ia_load_be64(p + width - 8) << 8 * (17 - width);
    const ia_u128 v = (ia_u128)first << 64 | behind;
    if (ia_b100_bad8(first) | ia_b100_bad8(behind))
        return IA_B100_NOT_SMALL;
    if (v == 0)
        return p[0] == 0 ? IA_B100_NULL : IA_B100_VALUE;
    const int pairs = ia_b100_exponent(p) + shape->scale_pairs;
    if (pairs < 1 || pairs > 16 || v << 4 * pairs << 4 * pairs)
        return IA_B100_NOT_SMALL;
    const ia_u128 placed = v >> (128 - 8 * pairs);
    uint64_t high = ia_b100_join8((uint64_t)(placed >> 64)), low = ia_b100_join8((uint64_t)placed);
    if (p[0] < 0x80) { /* the complement, of 16 pairs or of 8 */
        const uint64_t borrow = low != 0;
        if (pairs > 8) {
            low = borrow ? IA_E16 - low : 0;
            high = ia_pow10_64[2 * (pairs - 8)] - high - borrow;
        } else {
            low = ia_pow10_64[2 * pairs] - low;
        }
    }
    if (shape->odd) { /* the last digit shares a pair with a 0 */
        low += high % 10 * IA_E16;
        high /= 10;
        if (low % 10)
            return IA_B100_NOT_SMALL;
        low /= 10;
    }
    const ia_u128 magnitude = (ia_u128)high * IA_E16 + low;
    if (magnitude >= shape->wide)
        return IA_B100_NOT_SMALL;
    *out = p[0] < 0x80 ? -(ia_i128)magnitude : (ia_i128)magnitude;
    return IA_B100_VALUE;
}

enum ia_b100_fit { IA_FIT = 0, IA_FIT_PRECISION = 1, IA_FIT_SCALE = 2 };

/* The unscaled integer of decimal128(precision, scale), exact or refused: IA_FIT_PRECISION if it has more than
 * `precision` digits, IA_FIT_SCALE if it has digits other than 0 beyond `scale`. precision 1..38, scale up to that. */
static inline int ia_b100_to_decimal128(const struct ia_base100 *in, int precision, int scale, ia_i128 *out)
{
    ia_u128 m = in->magnitude;
    if (m == 0) {
        *out = 0;
        return IA_FIT;
    }
    int shift = 2 * in->exponent + scale;
    if (shift < 0) {
        /* The last pair is not 0, so it can lose at most one zero digit. */
        if (shift < -1)
            return IA_FIT_SCALE;
        if (m <= UINT64_MAX) {
            const uint64_t small = (uint64_t)m;
            if (small % 10)
                return IA_FIT_SCALE;
            m = small / 10;
        } else {
            if (m % 10)
                return IA_FIT_SCALE;
            m /= 10;
        }
        shift = 0;
    }
    if (shift >= precision || m >= ia_pow10(precision - shift))
        return IA_FIT_PRECISION;
    m *= ia_pow10(shift);
    *out = in->negative ? -(ia_i128)m : (ia_i128)m;
    return IA_FIT;
}

#endif
