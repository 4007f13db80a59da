/* Sums over a column of numbers, as unsigned integers. `copy` compares the sum over what it read with the sum over what it
 * wrote.
 *
 * The caller checks all lengths (_hash.c). */
#ifndef INFORMIX_ARROW_COLUMN_SUMS_H
#define INFORMIX_ARROW_COLUMN_SUMS_H

#include <stdint.h>
#include <string.h>

/* The sum of those of `rows` numbers from slot `offset` on that are not NULL, as unsigned ones, modulo 2^64. Of all first,
 * which is vectorised; then NULLs are taken out. */
#define IA_SUM(type)                                                                                                   \
    for (int64_t slot = offset; slot < end; slot++) {                                                                  \
        type x;                                                                                                        \
        memcpy(&x, values + slot * (int64_t)sizeof x, sizeof x);                                                       \
        sum += x;                                                                                                      \
    }                                                                                                                  \
    for (int64_t slot = offset; validity && slot < end; slot++) {                                                      \
        type x;                                                                                                        \
        if (slot % 8 == 0 && end - slot >= 8 && validity[slot / 8] == 0xFF) {                                          \
            slot += 7;                                                                                                 \
        } else if (!(validity[slot / 8] >> slot % 8 & 1)) {                                                            \
            memcpy(&x, values + slot * (int64_t)sizeof x, sizeof x);                                                   \
            sum -= x;                                                                                                  \
        }                                                                                                              \
    }

/* Numbers of 1, 2, 4 or 8 bytes; 0 for another width. */
static inline uint64_t ia_sum_column(const uint8_t *values, const uint8_t *validity, int64_t offset, int64_t rows,
                                     int width)
{
    const int64_t end = offset + rows;
    uint64_t sum = 0;
    switch (width) {
    case 1: IA_SUM(uint8_t) break;
    case 2: IA_SUM(uint16_t) break;
    case 4: IA_SUM(uint32_t) break;
    case 8: IA_SUM(uint64_t) break;
    default: break;
    }
    return sum;
}

/* The sum of the `sums` of those entries that `rows` indices from slot `offset` on refer to, NULLs left out. Returns -1
 * where an index is none of `entries`. */
static inline int ia_sum_entries(const uint64_t *sums, int64_t entries, const uint8_t *indices, const uint8_t *validity,
                                 int64_t offset, int64_t rows, uint64_t *sum)
{
    *sum = 0;
    for (int64_t slot = offset; slot < offset + rows; slot++) {
        int32_t index;
        if (validity && !(validity[slot / 8] >> slot % 8 & 1))
            continue;
        memcpy(&index, indices + slot * 4, 4);
        if (index < 0 || index >= entries)
            return -1;
        *sum += sums[index];
    }
    return 0;
}

#endif
