/* Hashes of rows, column by column, and their sums by bucket. `compare` uses them for rows that arrive in different orders.
 *
 * Every row has a number of 64 bits that starts as IA_HASH_START. Each of its values is mixed into it. Equal values are mixed
 * in as equal numbers in every Arrow layout: integers are sign-extended, doubles have one zero and one NaN, and texts are
 * their bytes. Machines of either byte order give the same hashes. The caller checks lengths (_hash.c), except for the offsets
 * of texts, which are data. */
#ifndef INFORMIX_ARROW_ROW_HASH_H
#define INFORMIX_ARROW_ROW_HASH_H

#include <stdint.h>
#include <string.h>

#include "wire_bytes.h"

#define IA_HASH_START UINT64_C(0x9E3779B97F4A7C15)
#define IA_HASH_NULL UINT64_C(0xD1B54A32D192ED03)

/* Spread every bit over all others (the finalizer of splitmix64). */
static inline uint64_t ia_hash_mix(uint64_t h)
{
    h ^= h >> 30;
    h *= UINT64_C(0xBF58476D1CE4E5B9);
    h ^= h >> 27;
    h *= UINT64_C(0x94D049BB133111EB);
    h ^= h >> 31;
    return h;
}

static inline uint64_t ia_hash_text(const uint8_t *p, int64_t length)
{
    uint64_t h = (uint64_t)length * IA_HASH_NULL;
    while (length > 0) {
        uint64_t word = 0;
        if (length >= 8)
            word = ia_load_le64(p);
        else
            for (int i = 0; i < (int)length; i++)
                word |= (uint64_t)p[i] << 8 * i;
        h = (h ^ word) * IA_HASH_START;
        h ^= h >> 29;
        p += 8;
        length -= 8;
    }
    return h;
}

static inline int ia_hash_is_null(const uint8_t *validity, int64_t slot)
{
    return validity && !(validity[slot >> 3] >> (slot & 7) & 1);
}

/* For every row i of `rows`, the `number` of slot offset + i. */
#define IA_HASH_EACH(number)                                                                                           \
    for (int64_t i = 0; i < rows; i++) {                                                                               \
        const int64_t slot = offset + i;                                                                               \
        uint64_t v = IA_HASH_NULL;                                                                                     \
        if (!ia_hash_is_null(validity, slot)) {                                                                        \
            number                                                                                                     \
        }                                                                                                              \
        hashes[i] = ia_hash_mix(hashes[i] * IA_HASH_START + v);                                                        \
    }
#define IA_HASH_INTEGERS(type)                                                                                         \
    IA_HASH_EACH(type x; memcpy(&x, values + slot * (int64_t)sizeof x, sizeof x); v = (uint64_t)(int64_t)x;)

/* Integers of 1, 2, 4 or 8 bytes, and decimals of 16. Returns -1 for another width. */
static inline int ia_hash_integers(uint64_t *hashes, const uint8_t *values, const uint8_t *validity, int64_t offset,
                                   int64_t rows, int width)
{
    switch (width) {
    case 1: IA_HASH_INTEGERS(int8_t) return 0;
    case 2: IA_HASH_INTEGERS(int16_t) return 0;
    case 4: IA_HASH_INTEGERS(int32_t) return 0;
    case 8: IA_HASH_INTEGERS(int64_t) return 0;
    case 16:
        IA_HASH_EACH(uint64_t half[2]; memcpy(half, values + slot * 16, 16);
                     v = half[IA_LOW] + ia_hash_mix(half[IA_HIGH] ^ IA_HASH_START);)
        return 0;
    default: return -1;
    }
}

/* Floats of 4 or 8 bytes. Returns -1 for another width. */
static inline int ia_hash_floats(uint64_t *hashes, const uint8_t *values, const uint8_t *validity, int64_t offset,
                                 int64_t rows, int width)
{
    if (width != 4 && width != 8)
        return -1;
    IA_HASH_EACH(double x; if (width == 8) memcpy(&x, values + slot * 8, 8); else {
        float narrow;
        memcpy(&narrow, values + slot * 4, 4);
        x = narrow;
    } if (x == 0) x = 0; /* -0.0 too */
                 if (x != x) v = UINT64_C(0x7FF8000000000000); else memcpy(&v, &x, 8);)
    return 0;
}

static inline int64_t ia_hash_offset(const uint8_t *offsets, int64_t slot, int width)
{
    if (width == 8) {
        int64_t at;
        memcpy(&at, offsets + slot * 8, 8);
        return at;
    }
    int32_t at;
    memcpy(&at, offsets + slot * 4, 4);
    return at;
}

/* Texts whose offsets have 4 or 8 bytes. Returns -1, and mixes no more, where offsets do not lie in the data. */
static inline int ia_hash_texts(uint64_t *hashes, const uint8_t *data, int64_t size, const uint8_t *offsets,
                                const uint8_t *validity, int64_t offset, int64_t rows, int width)
{
    IA_HASH_EACH(const int64_t start = ia_hash_offset(offsets, slot, width);
                 const int64_t end = ia_hash_offset(offsets, slot + 1, width);
                 if (start < 0 || start > end || end > size) return -1;
                 v = ia_hash_text(data + start, end - start);)
    return 0;
}

/* Count each row in the bucket that `index` says, and add its hash to the bucket's sum. Returns -1 before any is counted
 * when an index is none of a bucket. */
static inline int ia_hash_add(int64_t *counts, uint64_t *sums, int64_t buckets, const int64_t *index,
                              const uint64_t *hashes, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        if (index[i] < 0 || index[i] >= buckets)
            return -1;
    for (int64_t i = 0; i < rows; i++) {
        counts[index[i]]++;
        sums[index[i]] += hashes[i];
    }
    return 0;
}

#endif
