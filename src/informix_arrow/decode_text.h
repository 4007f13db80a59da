/* Text on its way from a tuple into a utf8 column: copying, trimming, checking, transcoding. */
#ifndef INFORMIX_ARROW_DECODE_TEXT_H
#define INFORMIX_ARROW_DECODE_TEXT_H

#include "wire_bytes.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define IA_TEXT_SLACK 32 /* bytes behind a text buffer that short copies may overwrite */

#define IA_HIGH_BITS 0x8080808080808080ull

/* Store 16 bytes of src at dst; non-zero if one of the first n (0..16) is not ASCII. */
static inline int ia_copy16(uint8_t *dst, const uint8_t *src, int n)
{
#ifdef __SSE2__
    const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)src);
    _mm_storeu_si128((__m128i *)(void *)dst, v);
    return _mm_movemask_epi8(v) & ((1 << n) - 1);
#else
    uint64_t low, high;
    memcpy(&low, src, 8);
    memcpy(&high, src + 8, 8);
    memcpy(dst, &low, 8);
    memcpy(dst + 8, &high, 8);
    if (n == 0)
        return 0;
    if (n <= 8)
        return ((low << (64 - 8 * n)) & IA_HIGH_BITS) != 0;
    return ((low | high << (128 - 8 * n)) & IA_HIGH_BITS) != 0;
#endif
}

/* Copy n bytes; non-zero if one of them is not ASCII.
 * `room` is how many bytes may be read from src on (>= n). Up to 16 bytes are written even if n is smaller. A memcpy
 * whose length the compiler can bound would become `rep movs`: 2 to 4 times slower on short strings. */
static inline int ia_copy_text(uint8_t *dst, const uint8_t *src, int64_t n, int64_t room)
{
    if (n <= 16) {
        if (room >= 16)
            return ia_copy16(dst, src, (int)n);
        uint8_t any = 0;
        for (int64_t i = 0; i < n; i++) {
            dst[i] = src[i];
            any |= src[i];
        }
        return any & 0x80;
    }
    /* Whole pieces of 16, then the last 16 once more so that no byte behind the text is read. */
    int high = 0;
    for (int64_t i = 0; i < n - 16; i += 16)
        high |= ia_copy16(dst + i, src + i, 16);
    return high | ia_copy16(dst + n - 16, src + n - 16, 16);
}

/* Length of a CHAR without its trailing blanks. The 8 bytes before p must be readable: a tuple's header always is. */
static inline int64_t ia_trimmed_length(const uint8_t *p, int64_t n)
{
    while (n > 0) {
        uint64_t other;
        memcpy(&other, p + n - 8, 8);
        other ^= 0x2020202020202020ull;
        if (n < 8)
            other &= ~0ull << (8 * (8 - n)); /* bytes before the value do not count */
        if (other)
            return n - (__builtin_clzll(other) >> 3);
        n -= 8;
    }
    return 0;
}

/* Index of the first byte that is not part of well-formed UTF-8 (no overlong forms, no surrogates, at most U+10FFFF),
 * or n if all are. */
static inline int64_t ia_utf8_valid_until(const uint8_t *p, int64_t n)
{
    int64_t i = 0;
    while (i < n) {
        const uint8_t first = p[i];
        if (first < 0x80) {
            uint64_t word = 0;
            while (i + 8 <= n && (memcpy(&word, p + i, 8), (word & IA_HIGH_BITS) == 0))
                i += 8;
            while (i < n && p[i] < 0x80)
                i++;
            continue;
        }
        const int64_t left = n - i;
        if (first < 0xc2)
            return i; /* a continuation byte, or c0/c1: overlong */
        if (first < 0xe0) {
            if (left < 2 || (p[i + 1] & 0xc0) != 0x80)
                return i;
            i += 2;
        } else if (first < 0xf0) {
            if (left < 3 || (p[i + 1] & 0xc0) != 0x80 || (p[i + 2] & 0xc0) != 0x80)
                return i;
            if ((first == 0xe0 && p[i + 1] < 0xa0) || (first == 0xed && p[i + 1] > 0x9f))
                return i; /* overlong; surrogate */
            i += 3;
        } else if (first < 0xf5) {
            if (left < 4 || (p[i + 1] & 0xc0) != 0x80 || (p[i + 2] & 0xc0) != 0x80 || (p[i + 3] & 0xc0) != 0x80)
                return i;
            if ((first == 0xf0 && p[i + 1] < 0x90) || (first == 0xf4 && p[i + 1] > 0x8f))
                return i; /* overlong; above U+10FFFF */
            i += 4;
        } else {
            return i;
        }
    }
    return n;
}

/* One byte of a single-byte code set as UTF-8; length 0 marks a byte that the code set leaves undefined. */
struct ia_codepage_entry {
    uint8_t length;
    uint8_t utf8[3];
};

/* Transcode n bytes into dst (room for 3n + IA_TEXT_SLACK). Returns the bytes written, or -1 - i for the index i of the
 * first undefined byte. */
static inline int64_t ia_transcode(uint8_t *dst, const uint8_t *src, int64_t n, const struct ia_codepage_entry *page)
{
    uint8_t *d = dst;
    for (int64_t i = 0; i < n; i++) {
        const struct ia_codepage_entry *e = &page[src[i]];
        if (e->length == 0)
            return -1 - i;
        memcpy(d, e->utf8, 3);
        d += e->length;
    }
    return d - dst;
}

#endif
