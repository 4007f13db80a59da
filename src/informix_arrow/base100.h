/* Packed DECIMAL, MONEY and DATETIME: a sign/exponent byte, then base-100 digits ("pairs") (TYPES section 5).
 *
 *     byte 0      positive: 80 + (E + 64)     negative: that byte xor ff
 *     byte 1..    pairs d1 d2 ..: value = 0.d1 d2 d3 .. (base 100) x 100^E
 *
 * A negative number's pairs are complemented: zeros at the end stay 0, the last other pair d is 100 - d, those before it
 * are 99 - d. Read as one integer R of n pairs that is the hundred's complement 100^n - R, so no pair is ever touched
 * singly. NULL is 00 00 in the first two bytes: -1E125 starts with 00 as well, but its second byte is not 00.
 *
 * No function here allocates; all arithmetic is on integers. */
#ifndef INFORMIX_ARROW_BASE100_H
#define INFORMIX_ARROW_BASE100_H

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

/* Unpack width bytes (2 .. 1 + IA_B100_MAX_PAIRS) at p. `room` is how many bytes may be read from p on (>= width): with
 * 9 or more the pairs come by one load. Returns an ia_b100_status. */
static inline int ia_b100_unpack(const uint8_t *p, int width, int64_t room, struct ia_base100 *out)
{
    int pairs = width - 1;
    if (p[0] == 0 && p[1] == 0)
        return IA_B100_NULL;

    const int negative = p[0] < 0x80;
    const int biased = (negative ? p[0] ^ 0x7f : p[0]) & 0x7f;
    ia_u128 magnitude;

    if (pairs <= 8) {
        uint64_t v = room >= 9 ? ia_load_be64(p + 1) >> (8 * (8 - pairs)) : ia_load_be_n(p + 1, pairs);
        if (ia_b100_bad8(v))
            return IA_B100_BAD_DIGIT;
        if (v == 0)
            goto zero;
        const int trailing = __builtin_ctzll(v) >> 3;
        v >>= 8 * trailing;
        pairs -= trailing;
        const uint64_t joined = ia_b100_join8(v);
        /* pairs <= 8, so 100^pairs = 10^(2 pairs) is in the table. */
        magnitude = negative ? ia_pow10_64[2 * pairs] - joined : joined;
    } else {
        while (pairs > 0 && p[pairs] == 0)
            pairs--;
        if (pairs == 0)
            goto zero;
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
    out->exponent = biased - 64 - pairs;
    out->negative = negative;
    return IA_B100_VALUE;
zero:
    out->magnitude = 0;
    out->exponent = 0;
    out->negative = 0;
    return IA_B100_VALUE;
}

enum ia_b100_fit { IA_FIT = 0, IA_FIT_PRECISION = 1, IA_FIT_SCALE = 2 };

/* The unscaled integer of decimal128(precision, scale), exact or refused: IA_FIT_PRECISION if it has more than
 * `precision` digits, IA_FIT_SCALE if it has digits other than 0 beyond `scale`. precision 1..38, scale 0..38. */
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
