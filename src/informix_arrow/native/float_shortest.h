/* The shortest decimal that is read back as the same float, and of those the nearest: the digits that Python's repr() has.
 * Raffaele Giulietti's Schubfach ("The Schubfach way to render doubles", 2020), written from the paper. No Python.
 *
 * A float c * 2^q owns all reals that are rounded to it. Of the decimals of one length that 10^k chooses there are at most two
 * inside; scaled by 10^-k the bounds need 128 bits of the power and a sticky bit, and comparisons of those are exact.
 *
 * Arrow's cast of floats to text takes two to three times as long (benchmarks/test_unl.py). */
#ifndef INFORMIX_ARROW_FLOAT_SHORTEST_H
#define INFORMIX_ARROW_FLOAT_SHORTEST_H

#include <stdint.h>

#include "powers_of_ten.h"

struct ia_shortest {
    uint64_t digits; /* no zeros at its end, but for 0 itself */
    int exponent;    /* the value is digits * 10^exponent */
};

/* floor(g * cp / 2^128), with its lowest bit set where something was cut off. */
static inline uint64_t ia_round_to_odd(struct ia_power g, uint64_t cp)
{
    const unsigned __int128 low = (unsigned __int128)g.low * cp;
    const unsigned __int128 sum = (unsigned __int128)g.high * cp + (uint64_t)(low >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

static inline struct ia_shortest ia_without_zeros(uint64_t digits, int exponent)
{
    while (digits >= 100000000 && digits % 100000000 == 0)
        digits /= 100000000, exponent += 8;
    while (digits >= 10 && digits % 10 == 0)
        digits /= 10, exponent++;
    return (struct ia_shortest){digits, exponent};
}

/* The digits of c * 2^q, c > 0. `closer`: the float below is only half as far as the one above. `powers` is the table of
 * powers_of_ten.h. */
static struct ia_shortest ia_shortest_of(const struct ia_power *powers, uint64_t c, int q, int closer)
{
    if (q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0)
        return ia_without_zeros(c >> -q, 0);
    const uint64_t odd = c & 1; /* the bounds belong to an even float */
    const int k = closer ? (q * 1262611 - 524031) >> 22 : ia_log10_of_two(q);
    const int h = q + ia_log2_of_power(-k) + 1;
    const struct ia_power g = powers[-k - IA_LEAST_POWER];
    const uint64_t value = ia_round_to_odd(g, (4 * c) << h); /* in quarters of 10^k */
    const uint64_t lower = ia_round_to_odd(g, (4 * c - 2 + (closer != 0)) << h) + odd;
    const uint64_t upper = ia_round_to_odd(g, (4 * c + 2) << h) - odd;
    const uint64_t s = value / 4;
    if (s >= 10) { /* one digit less */
        const uint64_t tens = s / 10;
        const int below = lower <= 40 * tens, above = 40 * tens + 40 <= upper;
        if (below != above)
            return ia_without_zeros(tens + (uint64_t)above, k + 1);
    }
    const int below = lower <= 4 * s, above = 4 * s + 4 <= upper;
    if (below != above)
        return ia_without_zeros(s + (uint64_t)above, k);
    const uint64_t middle = 4 * s + 2;
    return ia_without_zeros(s + (value > middle || (value == middle && s & 1)), k);
}

/* Of the bits of a finite double or float, without its sign. */
static inline struct ia_shortest ia_shortest_double(const struct ia_power *powers, uint64_t bits)
{
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0)
        return fraction ? ia_shortest_of(powers, fraction, -1074, 0) : (struct ia_shortest){0, 0};
    return ia_shortest_of(powers, fraction | UINT64_C(1) << 52, exponent - 1075, fraction == 0 && exponent > 1);
}

static inline struct ia_shortest ia_shortest_float(const struct ia_power *powers, uint32_t bits)
{
    const uint32_t fraction = bits & ((UINT32_C(1) << 23) - 1);
    const int exponent = (int)(bits >> 23 & 0xff);
    if (exponent == 0)
        return fraction ? ia_shortest_of(powers, fraction, -149, 0) : (struct ia_shortest){0, 0};
    return ia_shortest_of(powers, fraction | UINT32_C(1) << 23, exponent - 150, fraction == 0 && exponent > 1);
}

#endif
