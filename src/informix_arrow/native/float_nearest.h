/* The float nearest to a decimal, ties to even: Daniel Lemire's "Number parsing at a gigabyte per second" (2021) and Noble
 * Mushtak's proof that 128 bits of the power of ten are enough for 19 digits; written from the papers. No Python.
 *
 * More than 19 digits lie between two numbers of 19: where both have the same float it is that one, else the digits are
 * compared with the middle between the two, exactly. */
#ifndef INFORMIX_ARROW_FLOAT_NEAREST_H
#define INFORMIX_ARROW_FLOAT_NEAREST_H

#include <stdint.h>
#include <string.h>

#include "powers_of_ten.h"

struct ia_float_form {
    int fraction_bits, bias, infinite; /* infinite: the exponent's bits of infinity */
    int least, most;                   /* powers of ten: below all is 0, above all is infinite */
    int least_tie, most_tie;           /* powers of ten with which 19 digits may lie in the middle of two floats */
};

static const struct ia_float_form ia_form_of_double = {52, 1023, 0x7ff, -342, 308, -4, 23};
static const struct ia_float_form ia_form_of_float = {23, 127, 0xff, -64, 38, -17, 10};

/* The bits of the float nearest to w * 10^q, w of at most 19 digits. */
static uint64_t ia_nearest_of(const struct ia_float_form *f, uint64_t w, int q)
{
    const uint64_t infinity = (uint64_t)f->infinite << f->fraction_bits;
    if (w == 0 || q < f->least)
        return 0;
    if (q > f->most)
        return infinity;
    const int zeros = __builtin_clzll(w), kept = f->fraction_bits + 3;
    w <<= zeros;
    struct ia_power g = ia_power_of_ten(q);
    if (q < -27 || q > 55) /* rounded down, as the proof has it */
        g.low--;
    unsigned __int128 product = (unsigned __int128)w * g.high;
    if (((uint64_t)(product >> 64) & (~UINT64_C(0) >> kept)) == ~UINT64_C(0) >> kept)
        product += (uint64_t)((unsigned __int128)w * g.low >> 64);
    const uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    const int top = (int)(high >> 63), shift = top + 64 - kept;
    uint64_t fraction = high >> shift; /* with its highest bit and one for rounding */
    int exponent = ia_log2_of_power(q) + 64 + top - zeros + f->bias - 1;
    if (exponent <= 0) { /* subnormal */
        if (exponent <= -63)
            return 0;
        fraction >>= 1 - exponent;
        return (fraction + (fraction & 1)) >> 1; /* may be the least normal one, whose bits these are */
    }
    /* In the middle, exactly: to even. */
    if (low <= 1 && q >= f->least_tie && q <= f->most_tie && (fraction & 3) == 1 && fraction << shift == high)
        fraction &= ~UINT64_C(1);
    fraction = (fraction + (fraction & 1)) >> 1;
    if (fraction >> (f->fraction_bits + 1)) {
        fraction >>= 1;
        exponent++;
    }
    if (exponent >= f->infinite)
        return infinity;
    return (uint64_t)exponent << f->fraction_bits | (fraction & ((UINT64_C(1) << f->fraction_bits) - 1));
}

/* ---- more than 19 digits ------------------------------------------------------------------------------------- */

#define IA_DECIMAL_DIGITS 256 /* of a number, at most */

/* Room for IA_DECIMAL_DIGITS digits shifted by 1075, and for 54 bits times 10^(342 + IA_DECIMAL_DIGITS). */
#define IA_BIG_WORDS 80

struct ia_big {
    uint32_t words[IA_BIG_WORDS];
    int size;
};

static void ia_big_multiply(struct ia_big *big, uint32_t by, uint32_t plus)
{
    uint64_t carry = plus;
    for (int i = 0; i < big->size; i++) {
        carry += (uint64_t)big->words[i] * by;
        big->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && big->size < IA_BIG_WORDS)
        big->words[big->size++] = (uint32_t)carry;
}

static void ia_big_scale(struct ia_big *big, int tens, int twos)
{
    for (; tens >= 9; tens -= 9)
        ia_big_multiply(big, 1000000000, 0);
    for (; tens > 0; tens--)
        ia_big_multiply(big, 10, 0);
    for (; twos >= 31; twos -= 31)
        ia_big_multiply(big, UINT32_C(1) << 31, 0);
    ia_big_multiply(big, UINT32_C(1) << twos, 0);
}

static int ia_big_compare(const struct ia_big *a, const struct ia_big *b)
{
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    for (int i = a->size - 1; i >= 0; i--)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    return 0;
}

/* Digits * 10^q against the middle between the float `bits` and the next one: negative, 0 or positive. */
static int ia_compare_to_middle(const struct ia_float_form *f, uint64_t bits, const uint8_t *digits, int count, int q)
{
    struct ia_big number = {.size = 0}, middle = {.size = 0};
    const int stored = (int)(bits >> f->fraction_bits);
    uint64_t m = bits & ((UINT64_C(1) << f->fraction_bits) - 1);
    if (stored)
        m |= UINT64_C(1) << f->fraction_bits;
    m = 2 * m + 1;
    const int twos = (stored ? stored : 1) - f->bias - f->fraction_bits - 1;
    for (int i = 0; i < count; i++)
        ia_big_multiply(&number, 10, digits[i]);
    ia_big_multiply(&middle, 1, (uint32_t)(m >> 32));
    ia_big_scale(&middle, 0, 31);
    ia_big_scale(&middle, 0, 1);
    ia_big_multiply(&middle, 1, (uint32_t)m);
    ia_big_scale(&number, q > 0 ? q : 0, twos < 0 ? -twos : 0);
    ia_big_scale(&middle, q < 0 ? -q : 0, twos > 0 ? twos : 0);
    return ia_big_compare(&number, &middle);
}

/* The bits of the float nearest to a number: `whole` and `fraction` are its digits, in ASCII, before and behind the point, no
 * more than IA_DECIMAL_DIGITS together, and 10^exponent is a factor. Infinity for what is beyond the range. */
static uint64_t ia_nearest_float(const struct ia_float_form *f, const uint8_t *whole, int whole_size, const uint8_t *fraction,
                                 int fraction_size, int exponent)
{
    uint8_t digits[IA_DECIMAL_DIGITS];
    int count = 0;
    uint64_t w = 0;
    exponent -= fraction_size;
    for (; whole_size > 0 && *whole == '0'; whole_size--)
        whole++;
    if (whole_size == 0)
        for (; fraction_size > 0 && *fraction == '0'; fraction_size--)
            fraction++;
    if (whole_size + fraction_size <= 19) {
        for (int i = 0; i < whole_size; i++)
            w = w * 10 + (uint64_t)(whole[i] - '0');
        for (int i = 0; i < fraction_size; i++)
            w = w * 10 + (uint64_t)(fraction[i] - '0');
        return ia_nearest_of(f, w, exponent);
    }
    for (int i = 0; i < whole_size; i++)
        digits[count++] = (uint8_t)(whole[i] - '0');
    for (int i = 0; i < fraction_size; i++)
        digits[count++] = (uint8_t)(fraction[i] - '0');
    for (; digits[count - 1] == 0; count--) /* the first is none */
        exponent++;
    const int cut = count > 19 ? count - 19 : 0;
    for (int i = 0; i < count - cut; i++)
        w = w * 10 + digits[i];
    const uint64_t below = ia_nearest_of(f, w, exponent + cut);
    if (cut == 0 || ia_nearest_of(f, w + 1, exponent + cut) == below)
        return below;
    /* The two are neighbours: 19 digits are finer than the floats. */
    const int side = ia_compare_to_middle(f, below, digits, count, exponent);
    return below + (side > 0 || (side == 0 && below & 1));
}

#endif
