/* Base-100 packing: DECIMAL and MONEY (TYPES section 5), and the exponent byte that DATETIME shares with them.
 *
 * On the wire a number is  byte 0 = sign and exponent, then width - 1 pairs d1 d2 ... of 0..99, and its value is
 * +-(0.d1 d2 d3 ... in base 100) * 100^E.  Every function here writes the one normalised form: d1 is not 0, zero is
 * 80 00 .., a negative number is complemented, 00 fills the right.
 *
 * No Python here and nothing is allocated.  Every function may write up to IA_ENC_SLACK bytes past the field:
 * the caller keeps that much room behind the row, and the next field overwrites it. */
#ifndef INFORMIX_ARROW_ENCODE_DECIMAL_H
#define INFORMIX_ARROW_ENCODE_DECIMAL_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode_status.h"
#include "wire_bytes.h"

#define IA_DECIMAL_MAX_WIDTH 18 /* DECIMAL(32) floating: 1 + 17 pairs */
#define IA_DECIMAL_DIGITS 40    /* room for digits of one number; more significant ones never fit a DECIMAL */
#define IA_TEN15 UINT64_C(1000000000000000)
#define IA_TEN16 UINT64_C(10000000000000000)
#define IA_TEN18 UINT64_C(1000000000000000000)

/* What a DECIMAL field may hold. */
struct ia_decimal_spec {
    int32_t width;          /* bytes of the field, 2..IA_DECIMAL_MAX_WIDTH */
    int32_t precision;      /* significant digits */
    int32_t scale;          /* decimal places; -1 = floating */
    int32_t inexact;        /* enum ia_inexact: what becomes of digits that there is no room for */
};

/* Store n normalised pairs (pairs[0] != 0, or n == 0 for zero) with exponent E in the field at out.
 * pairs must be followed by IA_DECIMAL_MAX_WIDTH + 6 readable zero bytes and is changed by the complement. */
static inline int ia_pack_pairs(uint8_t *out, int width, uint8_t *pairs, int n, int exponent, int negative)
{
    while (n > 0 && pairs[n - 1] == 0) n--;
    if (n == 0) { exponent = 0; negative = 0; }
    if (n > width - 1) return IA_ENC_PRECISION;
    if (exponent < -64 || exponent > 63) return IA_ENC_EXPONENT;
    if (n == 0) {
        out[0] = 0x80;
    } else if (!negative) {
        out[0] = (uint8_t)(0x80 + exponent + 64);
    } else {
        out[0] = (uint8_t)(0x7f - (exponent + 64));
        for (int i = 0; i < n - 1; i++) pairs[i] = (uint8_t)(99 - pairs[i]);
        pairs[n - 1] = (uint8_t)(100 - pairs[n - 1]);
    }
    memcpy(out + 1, pairs, 16); /* two fixed copies: the tail lands in the slack */
    memcpy(out + 17, pairs + 16, 8);
    return IA_ENC_OK;
}

/* Write pairs of v backwards from end; at least `least` of them.  Returns the first written pair. */
static inline uint8_t *ia_pairs_back(uint8_t *end, uint64_t v, int least)
{
    while (v != 0 || least > 0) {
        *--end = (uint8_t)(v % 100);
        v /= 100;
        least--;
    }
    return end;
}

static inline unsigned __int128 ia_pow10_u128(int n)
{
    unsigned __int128 v = 1;
    while (n-- > 0) v *= 10;
    return v;
}

/* v < 10^16 as eight pairs, the first in the lowest byte (ia_store_le64).  All of it stays in registers: single bytes that
 * are stored and then loaded as one word would stall for longer than everything else here takes. */
static inline uint64_t ia_eight_pairs(uint64_t v)
{
    const uint64_t lanes = UINT64_C(0x0000ffff0000ffff), low7 = UINT64_C(0x0000007f0000007f);
    const uint32_t high = (uint32_t)(v / 100000000), low = (uint32_t)(v % 100000000);
    const uint64_t fours = high / 10000 | (uint64_t)(high % 10000) << 16 | (uint64_t)(low / 10000) << 32 |
                           (uint64_t)(low % 10000) << 48;
    const uint64_t even = fours & lanes, odd = fours >> 16 & lanes;
    const uint64_t even_q = even * 5243 >> 19 & low7, odd_q = odd * 5243 >> 19 & low7; /* x / 100 for x < 43699 */
    return even_q | (even - even_q * 100) << 8 | odd_q << 16 | (odd - odd_q * 100) << 24;
}

/* As ia_pack_pairs, of eight pairs whose exponent is `exponent` when the first is not 0. */
static inline int ia_pack_eight(uint8_t *out, int width, uint64_t pairs, int exponent, int negative)
{
    static const uint8_t nothing[16] = {0};
    if (pairs == 0) {
        out[0] = 0x80;
    } else {
        const int lead = __builtin_ctzll(pairs) >> 3;
        const int n = 8 - lead - (__builtin_clzll(pairs) >> 3);
        pairs >>= 8 * lead;
        exponent -= lead;
        if (n > width - 1) return IA_ENC_PRECISION;
        if (exponent < -64 || exponent > 63) return IA_ENC_EXPONENT;
        /* without a branch: signs may well be random */
        const uint64_t complement =
            (UINT64_C(0x6363636363636363) >> 8 * (8 - n)) - pairs + (UINT64_C(1) << 8 * (n - 1));
        const uint64_t mask = 0 - (uint64_t)(negative != 0);
        out[0] = (uint8_t)((0xc0 + exponent) ^ (int)(mask & 0xff));
        pairs ^= (pairs ^ complement) & mask;
    }
    ia_store_le64(out + 1, pairs);
    memcpy(out + 9, nothing, 16);
    return IA_ENC_OK;
}

/* As ia_pack_eight, of sixteen pairs, not all of them 0, the first in the lowest byte of `first`. */
static inline int ia_pack_sixteen(uint8_t *out, int width, uint64_t first, uint64_t behind, int exponent, int negative)
{
    static const uint8_t nothing[8] = {0};
    const unsigned __int128 nines = (unsigned __int128)UINT64_C(0x6363636363636363) << 64 | UINT64_C(0x6363636363636363);
    unsigned __int128 pairs = (unsigned __int128)behind << 64 | first;
    const int lead = first ? __builtin_ctzll(first) >> 3 : 8 + (__builtin_ctzll(behind) >> 3);
    const int n = 16 - lead - (behind ? __builtin_clzll(behind) >> 3 : 8 + (__builtin_clzll(first) >> 3));
    pairs >>= 8 * lead;
    exponent -= lead;
    if (n > width - 1) return IA_ENC_PRECISION;
    if (exponent < -64 || exponent > 63) return IA_ENC_EXPONENT;
    if (negative) pairs = (nines >> 8 * (16 - n)) - pairs + ((unsigned __int128)1 << 8 * (n - 1));
    out[0] = (uint8_t)((0xc0 + exponent) ^ (negative ? 0xff : 0));
    ia_store_le64(out + 1, (uint64_t)pairs);
    ia_store_le64(out + 9, (uint64_t)(pairs >> 64));
    memcpy(out + 17, nothing, sizeof nothing);
    return IA_ENC_OK;
}

/* v < 10^15, so 15 digits, or 16 with the 0 that an odd scale adds. */
static inline int ia_pack_small(uint8_t *out, const struct ia_decimal_spec *spec, uint64_t v, int negative)
{
    if (spec->scale & 1) v *= 10;
    return ia_pack_eight(out, spec->width, ia_eight_pairs(v), 8 - (spec->scale + 1) / 2, negative);
}

/* As ia_pack_unscaled, of numbers of more than 15 digits: out of line, as most have fewer. */
static __attribute__((noinline)) int ia_pack_wide(uint8_t *out, const struct ia_decimal_spec *spec, unsigned __int128 v,
                                                  int negative)
{
    if (v < (unsigned __int128)IA_TEN15 * IA_TEN16) { /* 31 digits, or 32 with the 0 that an odd scale adds */
        if (spec->scale & 1) v *= 10;
        const uint64_t high = (uint64_t)(v / IA_TEN16), low = (uint64_t)(v - (unsigned __int128)high * IA_TEN16);
        return ia_pack_sixteen(out, spec->width, ia_eight_pairs(high), ia_eight_pairs(low), 16 - (spec->scale + 1) / 2,
                               negative);
    }
    uint8_t buf[64] = {0};
    uint8_t *const end = buf + 32;
    uint8_t *p = end;
    if (spec->scale & 1) { /* the last digit shares a pair with a 0 */
        *--p = (uint8_t)((unsigned)(v % 10) * 10);
        v /= 10;
    }
    while (v >= IA_TEN18) { /* at most twice: 128 bits are 39 digits */
        p = ia_pairs_back(p, (uint64_t)(v % IA_TEN18), 9);
        v /= IA_TEN18;
    }
    p = ia_pairs_back(p, (uint64_t)v, 0);
    while (p < end && *p == 0) p++; /* the limbs' own leading zeros */
    return ia_pack_pairs(out, spec->width, p, (int)(end - p), (int)(end - p) - (spec->scale + 1) / 2, negative);
}

/* +-v * 10^-scale, exactly; limit = 10^precision. */
static inline int ia_pack_unscaled(uint8_t *out, const struct ia_decimal_spec *spec, unsigned __int128 v, int negative,
                                   unsigned __int128 limit)
{
    if (v >= limit) return IA_ENC_PRECISION;
    if (v < IA_TEN15) return ia_pack_small(out, spec, (uint64_t)v, negative);
    return ia_pack_wide(out, spec, v, negative);
}

/* Arrow's decimal128 (unscaled, in the machine's byte order) with spec->scale places. */
static inline int ia_pack_int128(uint8_t *out, const struct ia_decimal_spec *spec, const uint8_t *value,
                                 unsigned __int128 limit)
{
    int64_t half[2];
    memcpy(half, value, sizeof half);
    const int64_t sign = half[IA_LOW] >> 63; /* no branch on it: signs may well be random */
    const uint64_t small = ((uint64_t)half[IA_LOW] ^ (uint64_t)sign) - (uint64_t)sign;
    if (half[IA_HIGH] == sign && small < IA_TEN15 && small < limit) return ia_pack_small(out, spec, small, sign != 0);

    __int128 raw;
    memcpy(&raw, value, sizeof raw);
    const unsigned __int128 v = raw < 0 ? -(unsigned __int128)raw : (unsigned __int128)raw;
    return ia_pack_unscaled(out, spec, v, raw < 0, limit);
}

#define IA_DIGITS_ROOM 80 /* of 256 bits; all that matters of a number that is rounded to a DECIMAL */

/* A number as decimal digits: +-0.d1 d2 .. dn * 10^point, d1 and dn not 0; n = 0 is zero. */
struct ia_digits {
    uint8_t digit[IA_DIGITS_ROOM];
    int n;
    int point;
    int negative;
};

static inline void ia_digits_strip(struct ia_digits *d)
{
    int lead = 0;
    while (d->n > 0 && d->digit[d->n - 1] == 0) d->n--;
    while (lead < d->n && d->digit[lead] == 0) lead++;
    if (lead > 0) {
        memmove(d->digit, d->digit + lead, (size_t)(d->n - lead));
        d->n -= lead;
        d->point -= lead;
    }
}

/* Leave the first `keep` digits, rounded or cut; `keep` may be negative. */
static inline void ia_digits_cut(struct ia_digits *d, int keep, int inexact)
{
    if (keep >= d->n) return;
    const int up = inexact == IA_ROUND && keep >= 0 && d->digit[keep] >= 5;
    d->n = keep > 0 ? keep : 0;
    if (up) {
        while (d->n > 0 && d->digit[d->n - 1] == 9) d->n--;
        if (d->n > 0) {
            d->digit[d->n - 1]++;
        } else {
            d->digit[0] = 1;
            d->n = 1;
            d->point++;
        }
    }
    while (d->n > 0 && d->digit[d->n - 1] == 0) d->n--;
    if (d->n == 0) d->point = 0;
}

/* Store digits that must fit the field: exactly, unless the spec allows to lose some. */
static inline int ia_pack_digits(uint8_t *out, const struct ia_decimal_spec *spec, struct ia_digits *d)
{
    if (spec->inexact) {
        ia_digits_cut(d, spec->scale >= 0 ? d->point + spec->scale : spec->precision, spec->inexact);
    } else if (d->n > IA_DECIMAL_DIGITS) {
        return IA_ENC_PRECISION;
    }
    if (d->n > 0) {
        if (spec->scale >= 0) {
            if (d->n - d->point > spec->scale) return IA_ENC_SCALE;
            if (d->point > spec->precision - spec->scale) return IA_ENC_PRECISION;
        } else if (d->n > spec->precision) {
            return IA_ENC_PRECISION;
        }
    }
    const int odd = d->point & 1; /* an odd digit count before the point: the first pair is 0d */
    const int n = d->n;
    if (n > 0 && n + odd <= 32) { /* in registers: bytes that are stored and then loaded as one word would stall */
        unsigned __int128 all = 0;
        int i = n;
        if ((n + odd) & 1) all = 10u * d->digit[--i];
        for (; i >= 2; i -= 2) all = all << 8 | (10u * d->digit[i - 2] + d->digit[i - 1]);
        if (i > 0) all = all << 8 | d->digit[0];
        return ia_pack_sixteen(out, spec->width, (uint64_t)all, (uint64_t)(all >> 64), (d->point + odd) / 2, d->negative);
    }
    uint8_t pairs[64] = {0}, *pair = pairs;
    int i = 0;
    if (odd && n > 0) *pair++ = d->digit[i++];
    for (; i + 1 < n; i += 2) *pair++ = (uint8_t)(10 * d->digit[i] + d->digit[i + 1]);
    if (i < n) *pair = (uint8_t)(10 * d->digit[i]);
    return ia_pack_pairs(out, spec->width, pairs, (n + odd + 1) / 2, (d->point + odd) / 2, d->negative);
}

static inline void ia_digits_u64(struct ia_digits *d, uint64_t v, int scale)
{
    char text[24];
    int n = 0;
    for (; v != 0; v /= 10) text[n++] = (char)(v % 10);
    for (int i = 0; i < n; i++) d->digit[i] = (uint8_t)text[n - 1 - i];
    d->n = n;
    d->point = n - scale;
    ia_digits_strip(d);
}

/* Arrow's decimal32 .. decimal256: `bytes` of two's complement with `scale` places, which may be negative. */
static inline void ia_digits_wide(struct ia_digits *d, const uint8_t *value, int bytes, int scale)
{
    uint64_t limb[4];
    uint8_t digit[80];
    int n = 80;
    memset(limb, (value[IA_LOW ? 0 : bytes - 1] & 0x80) ? 0xff : 0, sizeof limb);
    memcpy((uint8_t *)limb + (IA_LOW ? (int)sizeof limb - bytes : 0), value, (size_t)bytes);
    for (int k = 0; IA_LOW && k < 2; k++) { /* the highest came first */
        const uint64_t low = limb[3 - k];
        limb[3 - k] = limb[k];
        limb[k] = low;
    }
    d->negative = (int)(limb[3] >> 63);
    if (d->negative) {
        unsigned carry = 1;
        for (int k = 0; k < 4; k++) {
            limb[k] = ~limb[k] + carry;
            carry = carry && limb[k] == 0;
        }
    }
    while (limb[0] | limb[1] | limb[2] | limb[3]) { /* 256 bits are 78 digits */
        uint64_t rest = 0;
        for (int k = 3; k >= 0; k--) {
            const unsigned __int128 v = (unsigned __int128)rest << 64 | limb[k];
            limb[k] = (uint64_t)(v / 10000);
            rest = (uint64_t)(v % 10000);
        }
        for (int k = 0; k < 4 && n > 0; k++, rest /= 10) digit[--n] = (uint8_t)(rest % 10);
    }
    int end = 80;
    while (n < end && digit[n] == 0) n++;
    d->point = end - n - scale;
    while (end > n && digit[end - 1] == 0) end--;
    d->n = end - n;
    memcpy(d->digit, digit + n, (size_t)d->n);
    if (d->n == 0) d->point = 0;
}

static const double ia_tens[16] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/* Read the digits of "d.ddde+xx"; whatever stands for the point is passed over (it depends on the C locale). */
static inline void ia_digits_scientific(struct ia_digits *d, const char *text)
{
    d->n = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9' && d->n < IA_DECIMAL_DIGITS) d->digit[d->n++] = (uint8_t)(*text - '0');
    }
    d->point = 1 + (*text == 'e' ? atoi(text + 1) : 0);
    ia_digits_strip(d);
}

/* The shortest decimal digits that read back as the finite x. */
static inline void ia_digits_double(struct ia_digits *d, double x)
{
    const double a = fabs(x);
    d->n = 0;
    d->point = 0;
    d->negative = signbit(x) != 0;
    if (a == 0.0) return;

    /* Up to 15 digits and a power of ten that a double holds exactly: y / 10^k is then correctly rounded, and two
     * decimals of 15 digits never share a double, so the first hit is the shortest form. */
    if (a >= 1e-5 && a < 1e15) {
        for (int k = 0; k < 16; k++) {
            const double y = rint(a * ia_tens[k]);
            if (y >= 1e15) break;
            if (y / ia_tens[k] == a) {
                ia_digits_u64(d, (uint64_t)y, k);
                return;
            }
        }
    }
    char text[48];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, a);
        if (digits == 17 || strtod(text, NULL) == a) break;
        if (digits == 16) {
            /* Above a power of two the neighbours lie twice as far as below: the next decimal up may read back
             * where the nearest one, which is below, does not. */
            char up[48];
            memcpy(up, text, sizeof up);
            char *last = strchr(up, 'e') - 1;
            if (*last < '9') {
                ++*last;
                if (strtod(up, NULL) == a) {
                    memcpy(text, up, sizeof text);
                    break;
                }
            }
        }
    }
    ia_digits_scientific(d, text);
}

/* The shortest decimal digits that read back as the finite float x: fewer than those of the same double. */
static inline void ia_digits_float(struct ia_digits *d, float x)
{
    const float a = fabsf(x);
    d->n = 0;
    d->point = 0;
    d->negative = signbit(x) != 0;
    if (a == 0.0f) return;

    char text[48];
    for (int digits = a < FLT_MIN ? 1 : FLT_DIG; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, (double)a);
        if (digits == 9 || strtof(text, NULL) == a) break;
        char up[48]; /* as in ia_digits_double; 9 + 1 would be one digit less, and was tried before */
        memcpy(up, text, sizeof up);
        char *last = strchr(up, 'e') - 1;
        if (*last >= '0' && *last < '9') {
            ++*last;
            if (strtof(up, NULL) == a) {
                memcpy(text, up, sizeof text);
                break;
            }
        }
    }
    ia_digits_scientific(d, text);
}

/* A float into a DECIMAL.  With a scale its shortest decimal text has to fit exactly.  A floating DECIMAL holds the
 * nearest number of its precision: the shortest text where that is short enough, else the double itself, correctly
 * rounded (halves, which only the double's own value can be, to the even digit). */
static inline int ia_pack_float_digits(uint8_t *out, const struct ia_decimal_spec *spec, struct ia_digits *d, double x)
{
    if (spec->scale < 0 && d->n > spec->precision) {
        char text[48];
        snprintf(text, sizeof text, "%.*e", (int)(spec->precision < 30 ? spec->precision : 30) - 1, fabs(x));
        ia_digits_scientific(d, text);
    }
    return ia_pack_digits(out, spec, d);
}

/* The digits of decimal text: [+-] digits [. digits] [e [+-] digits], at least one digit, nothing around it. */
static inline int ia_digits_text(struct ia_digits *d, const uint8_t *s, size_t len)
{
    const uint8_t *const end = s + len;
    int n = 0; /* of its own: a digit that is written might be any byte of *d */
    d->point = d->negative = 0;
    int64_t point = 0;    /* digits before the point, counted from the first significant one */
    int seen = 0, dot = 0;

    if (s < end && (*s == '+' || *s == '-')) d->negative = *s++ == '-';
    for (; s < end; s++) {
        const uint8_t digit = (uint8_t)(*s - '0');
        if (digit > 9) {
            if (*s != '.' || dot) break;
            dot = 1;
            continue;
        }
        seen = 1;
        if (n == 0 && digit == 0) { point -= dot; continue; }
        point += !dot;
        if (n < IA_DIGITS_ROOM)
            d->digit[n++] = digit;
        else if (digit != 0) /* too many for any DECIMAL: the last one says that there are more */
            d->digit[IA_DIGITS_ROOM - 1] = 1;
    }
    while (n > 0 && d->digit[n - 1] == 0) n--;
    d->n = n;
    if (!seen) return IA_ENC_DECIMAL_TEXT;
    if (s < end && (*s == 'e' || *s == 'E')) {
        int negative = 0, digits = 0;
        int64_t exponent = 0;
        s++;
        if (s < end && (*s == '+' || *s == '-')) negative = *s++ == '-';
        for (; s < end && *s >= '0' && *s <= '9'; s++, digits++) {
            if (exponent < INT64_C(1) << 40) exponent = exponent * 10 + (*s - '0');
        }
        if (digits == 0) return IA_ENC_DECIMAL_TEXT;
        point += negative ? -exponent : exponent;
    }
    if (s != end) return IA_ENC_DECIMAL_TEXT;
    if (d->n == 0) point = 0;
    if (point < -1000 || point > 1000) return IA_ENC_EXPONENT;
    d->point = (int)point;
    return IA_ENC_OK;
}

#endif
