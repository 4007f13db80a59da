/* Powers of ten to 128 bits, for the shortest text of a float (float_shortest.h). No Python.
 *
 * 10^k lies in (g - 1, g] * 2^s, where g has its highest bit set: g is rounded up, exact for 0 <= k <= 55. */
#ifndef INFORMIX_ARROW_POWERS_OF_TEN_H
#define INFORMIX_ARROW_POWERS_OF_TEN_H

#include <stdint.h>

#define IA_LEAST_POWER (-292) /* for the largest double */
#define IA_MOST_POWER 324     /* for the least one above 0 */
#define IA_POWER_COUNT (IA_MOST_POWER - IA_LEAST_POWER + 1)

struct ia_power {
    uint64_t high, low;
};

/* 32-bit words, the lowest first: 10^324 has room in them, and 2^1151 / 10^292 keeps more than 128 bits. */
#define IA_POWER_WORDS 36

/* The highest 128 bits of a number that is not 0. They are rounded up if `inexact` or if bits below them are set. */
static struct ia_power ia_highest_bits(const uint32_t *words, int inexact)
{
    int top = IA_POWER_WORDS - 1;
    while (words[top] == 0)
        top--;
    const int shift = __builtin_clz(words[top]);
    unsigned __int128 bits = 0;
    for (int i = top; i > top - 4; i--)
        bits = bits << 32 | (i >= 0 ? words[i] : 0);
    const uint64_t next = top >= 4 ? (uint64_t)words[top - 4] << shift : 0;
    bits = bits << shift | next >> 32;
    inexact |= (uint32_t)next != 0;
    for (int i = top - 5; i >= 0; i--)
        inexact |= words[i] != 0;
    bits += inexact != 0;
    return (struct ia_power){(uint64_t)(bits >> 64), (uint64_t)bits};
}

/* Fill in a table of IA_POWER_COUNT powers, 10^IA_LEAST_POWER first. */
static void ia_compute_powers_of_ten(struct ia_power *table)
{
    uint32_t words[IA_POWER_WORDS] = {1};
    for (int k = 0; k <= IA_MOST_POWER; k++) {
        table[k - IA_LEAST_POWER] = ia_highest_bits(words, 0);
        uint64_t carry = 0;
        for (int i = 0; i < IA_POWER_WORDS; i++) {
            carry += UINT64_C(10) * words[i];
            words[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    for (int i = 0; i < IA_POWER_WORDS; i++)
        words[i] = 0;
    words[IA_POWER_WORDS - 1] = UINT32_C(1) << 31;
    for (int k = -1; k >= IA_LEAST_POWER; k--) {
        uint64_t rest = 0;
        for (int i = IA_POWER_WORDS - 1; i >= 0; i--) {
            rest = rest << 32 | words[i];
            words[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        table[k - IA_LEAST_POWER] = ia_highest_bits(words, 1);
    }
}

/* floor(log2(10^k)) and floor(log10(2^e)), exact for all that a double needs. */
static inline int ia_log2_of_power(int k)
{
    return (k * 1741647) >> 19;
}

static inline int ia_log10_of_two(int e)
{
    return (e * 1262611) >> 22;
}

#endif
