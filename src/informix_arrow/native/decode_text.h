/* Text on its way from a tuple into a utf8 column: copying, trimming, checking, transcoding. */
#ifndef INFORMIX_ARROW_DECODE_TEXT_H
#define INFORMIX_ARROW_DECODE_TEXT_H

#include <stdint.h>
#include <string.h>

#include "wire_bytes.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define IA_TEXT_SLACK 32 /* bytes behind a text buffer that short copies may overwrite */

#define IA_HIGH_BITS 0x8080808080808080ull

/* Store 16 bytes of src at dst; bit i of the result is set if byte i is not ASCII. */
static inline uint32_t ia_copy16(uint8_t *dst, const uint8_t *src)
{
#ifdef __SSE2__
    const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)src);
    _mm_storeu_si128((__m128i *)(void *)dst, v);
    return (uint32_t)_mm_movemask_epi8(v);
#else
    uint64_t half[2];
    memcpy(half, src, 16);
    memcpy(dst, half, 16);
    /* The top bits of 8 bytes, gathered in the top byte of a product. */
    const uint64_t low = (ia_le64(half[0]) & IA_HIGH_BITS) >> 7, high = (ia_le64(half[1]) & IA_HIGH_BITS) >> 7;
    return (uint32_t)(low * 0x0102040810204080ull >> 56 | high * 0x0102040810204080ull >> 56 << 8);
#endif
}

/* Bit i is set if byte i of the 16 at p is not a blank. */
static inline uint32_t ia_not_blank16(const uint8_t *p)
{
#ifdef __SSE2__
    const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(' '))) ^ 0xffff;
#else
    uint32_t mask = 0;
    for (int i = 0; i < 16; i++)
        mask |= (uint32_t)(p[i] != ' ') << i;
    return mask;
#endif
}

/* Copy n bytes; non-zero if one of them is not ASCII.
 * `room` is how many bytes may be read from src on (>= n). Up to 32 bytes are written even if n is smaller: two moves of
 * fixed size cost less than finding out how many are needed, and a memcpy whose length the compiler can bound would
 * become `rep movs`, 2 to 4 times slower on short strings. */
static inline __attribute__((always_inline)) int ia_copy_text(uint8_t *dst, const uint8_t *src, int64_t n, int64_t room)
{
    if (n <= 32) {
        if (__builtin_expect(room >= 32, 1)) {
            const uint64_t high = ia_copy16(dst, src) | (uint64_t)ia_copy16(dst + 16, src + 16) << 16;
            return (high & ((1ull << n) - 1)) != 0;
        }
        uint8_t any = 0;
        for (int64_t i = 0; i < n; i++) {
            dst[i] = src[i];
            any |= src[i];
        }
        return any & 0x80;
    }
    /* Whole pieces of 16, then the last 16 once more so that no byte behind the text is read. */
    uint32_t high = 0;
    for (int64_t i = 0; i < n - 16; i += 16)
        high |= ia_copy16(dst + i, src + i);
    return (high | ia_copy16(dst + n - 16, src + n - 16)) != 0;
}

/* Length of a CHAR without its trailing blanks. The 8 bytes before p must be readable: a tuple's header always is. */
static inline int64_t ia_trimmed_length(const uint8_t *p, int64_t n)
{
    while (n >= 16) {
        const uint32_t other = ia_not_blank16(p + n - 16);
        if (other)
            return n - 16 + 32 - __builtin_clz(other);
        n -= 16;
    }
    while (n > 0) {
        uint64_t other = ia_load_le64(p + n - 8) ^ 0x2020202020202020ull;
        if (n < 8)
            other &= ~0ull << (8 * (8 - n)); /* bytes before the value do not count */
        if (other)
            return n - (__builtin_clzll(other) >> 3);
        n -= 8;
    }
    return 0;
}

/* The same where `room` bytes may be read from p on: up to 32 bytes without a branch. */
static inline int64_t ia_trimmed_within(const uint8_t *p, int64_t n, int64_t room)
{
    if (n > 32 || __builtin_expect(room < 32, 0))
        return ia_trimmed_length(p, n);
    const uint64_t other = ((uint64_t)ia_not_blank16(p + 16) << 16 | ia_not_blank16(p)) & ((1ull << n) - 1);
    return other ? 64 - __builtin_clzll(other) : 0;
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

/* Whether n bytes are well-formed UTF-8 of characters of one to three bytes, without U+0800..U+0FFF and U+D000..U+D7FF,
 * whose second byte depends on the first: nearly all text. 32 bytes at a time and no branch on what they are, because
 * umlauts stand anywhere. Up to 31 bytes behind the text are read. 0: look closer. */
static inline int ia_utf8_is_common(const uint8_t *p, int64_t n)
{
#ifdef __SSE2__
    uint64_t due = 0; /* where the continuation bytes have to stand */
    for (int64_t at = 0; at < n; at += 32) {
        uint64_t continuing = 0, two = 0, three = 0, high = 0;
        for (int half = 0; half < 32; half += 16) {
            const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + at + half));
            const __m128i from_c0 = _mm_cmpgt_epi8(v, _mm_set1_epi8(-65)), to_df = _mm_cmplt_epi8(v, _mm_set1_epi8(-32));
            const __m128i to_c1 = _mm_cmplt_epi8(v, _mm_set1_epi8(-62)), from_f0 = _mm_cmpgt_epi8(v, _mm_set1_epi8(-17));
            const __m128i special = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(-32)),  /* e0 */
                                                 _mm_cmpeq_epi8(v, _mm_set1_epi8(-19))); /* ed */
            high |= (uint64_t)(uint32_t)_mm_movemask_epi8(v) << half;
            continuing |= (uint64_t)(~(uint32_t)_mm_movemask_epi8(from_c0) & 0xffff) << half;
            two |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_andnot_si128(to_c1, to_df)) << half;
            const __m128i others = _mm_or_si128(_mm_or_si128(to_df, from_f0), special);
            three |= (uint64_t)(~(uint32_t)_mm_movemask_epi8(others) & 0xffff) << half;
        }
        const uint64_t text = n - at < 32 ? (1ull << (n - at)) - 1 : 0xffffffff;
        two &= text;
        three &= text;
        due |= (two | three) << 1 | three << 2;
        const uint64_t here = due & 0xffffffff;
        if ((high & text) != (two | three | here) || (continuing & text) != here)
            return 0;
        due >>= 32;
    }
    return due == 0;
#else
    (void)p;
    return n == 0;
#endif
}

/* How many bytes at p, where well-formed UTF-8 ends, are one fault: the longest beginning of a character, or one byte.
 * Each becomes one U+FFFD, as Python's errors="replace" has it. left >= 1. */
static inline int64_t ia_utf8_fault(const uint8_t *p, int64_t left)
{
    const uint8_t first = p[0];
    if (first < 0xe0 || first > 0xf4)
        return 1; /* also c2 .. df: without its second byte */
    const uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (left < 2 || p[1] < low || p[1] > high)
        return 1;
    return first >= 0xf0 && left > 2 && (p[2] & 0xc0) == 0x80 ? 3 : 2;
}

/* Copy n bytes into dst (room for ia_utf8_replaced_length + IA_TEXT_SLACK), each fault as U+FFFD. Returns the bytes written. */
static inline int64_t ia_utf8_replace(uint8_t *dst, const uint8_t *src, int64_t n)
{
    uint8_t *d = dst;
    for (int64_t i = 0; i < n;) {
        const int64_t valid = ia_utf8_valid_until(src + i, n - i);
        memcpy(d, src + i, (size_t)valid);
        d += valid;
        i += valid;
        if (i < n) {
            memcpy(d, "\xef\xbf\xbd", 3);
            d += 3;
            i += ia_utf8_fault(src + i, n - i);
        }
    }
    return d - dst;
}

/* One byte of a single-byte code set as UTF-8; length 0 marks a byte that the code set leaves undefined. */
struct ia_codepage_entry {
    uint8_t length;
    uint8_t utf8[3];
};

/* How many bytes ia_utf8_replace is going to write, at least n. */
static inline int64_t ia_utf8_replaced_length(const uint8_t *src, int64_t n)
{
    int64_t length = 0;
    for (int64_t i = 0; i < n;) {
        const int64_t valid = ia_utf8_valid_until(src + i, n - i);
        length += valid;
        i += valid;
        if (i < n) {
            length += 3;
            i += ia_utf8_fault(src + i, n - i);
        }
    }
    return length;
}

/* Transcode n bytes into dst (room for ia_transcoded_length + IA_TEXT_SLACK). Undefined bytes become U+FFFD if `replace`.
 * Returns the bytes written, or -1 - i for the index i of the first undefined byte. */
static inline int64_t ia_transcode(uint8_t *dst, const uint8_t *src, int64_t n, const struct ia_codepage_entry *page,
                                   int replace)
{
    uint8_t *d = dst;
    for (int64_t i = 0; i < n; i++) {
        const struct ia_codepage_entry *e = &page[src[i]];
        if (e->length == 0) {
            if (!replace)
                return -1 - i;
            memcpy(d, "\xef\xbf\xbd", 3);
            d += 3;
            continue;
        }
        memcpy(d, e->utf8, 3);
        d += e->length;
    }
    return d - dst;
}

/* How many bytes ia_transcode is going to write, at least n: undefined bytes count as replaced. */
static inline int64_t ia_transcoded_length(const uint8_t *src, int64_t n, const struct ia_codepage_entry *page)
{
    int64_t length = 0;
    for (int64_t i = 0; i < n; i++)
        length += page[src[i]].length ? page[src[i]].length : 3;
    return length;
}

#endif
