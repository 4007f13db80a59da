/* Random draws, the same on every machine (xorshift64). */
#ifndef INFORMIX_ARROW_FUZZ_DRAWS_H
#define INFORMIX_ARROW_FUZZ_DRAWS_H

#include <stdint.h>
#include <stdlib.h>

static uint64_t seed = 88172645463325252ull; /* never 0 */

static uint64_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* Begin elsewhere for each number; NULL: where it always begins. */
__attribute__((unused)) static void seed_from(const char *number)
{
    seed = (number ? strtoull(number, NULL, 10) : 1) * 2654435769u + 88172645463325252ull;
    if (seed == 0)
        seed = 1;
}

#endif
