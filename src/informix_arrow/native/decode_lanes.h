/* Columns of 2, 4 and 8 bytes, a block of rows at a time: gathered, bytes swapped, compared with NULL, in vector registers.
 *
 * A value lies at base + at[i], for i of 0 .. n - 1, on no boundary in particular. Each kernel writes n values, those of
 * NULLs as 0, and returns a bit for each: set if it is not NULL; the bits from n on mean nothing. No byte is read but the
 * values' own, none written behind the n-th.
 *
 * There is one plain version, of which the others are a copy in the words of the processor (x86-64) or of the compiler (NEON),
 * with the plain one for what is left behind the last whole register. Which there are is a matter of the compiler, which is
 * used one of the processor, asked once for each decoder. Gathering is by single loads: vpgatherdd took half as long again (benchmarks/experiments). */
#ifndef INFORMIX_ARROW_DECODE_LANES_H
#define INFORMIX_ARROW_DECODE_LANES_H

#include <stdint.h>
#include <string.h>

#include "processor.h"
#include "vectors.h"
#include "wire_bytes.h"

#define IA_FIRST_DAY (-693594) /* 0001-01-01 as a DATE: days from 1899-12-31 (TYPES section 8) */
#define IA_LAST_DAY 2958464    /* 9999-12-31 */
#define IA_EPOCH 25568         /* 1970-01-01 */

/* VARCHARs that a kernel copies: where they are, and what becomes of them. */
struct ia_short_texts {
    const uint8_t *begin;
    uint32_t *at;         /* of row i: where its segment begins, then the byte behind its text */
    const uint32_t *ends; /* where its tuple ends */
    int64_t place, rest;  /* from the segment to the text, and what the columns behind it take at least */
    uint8_t *to;          /* 32 bytes behind what is written may be overwritten */
    int32_t *offsets;     /* of the first row's end */
    int64_t length;       /* of the column */
    uint64_t nulls;       /* bits of the rows */
};

struct ia_lanes {
    const char *name;
    uint64_t (*lanes16)(uint16_t *to, const uint8_t *base, const uint32_t *at, int n); /* NULL is 8000 */
    uint64_t (*lanes32)(uint32_t *to, const uint8_t *base, const uint32_t *at, int n, uint32_t null);
    uint64_t (*lanes64)(uint64_t *to, const uint8_t *base, const uint32_t *at, int n, uint64_t null);
    /* DATE to days from 1970-01-01; *outside becomes non-zero if one is no day of the years 1 to 9999. */
    uint64_t (*dates)(int32_t *to, const uint8_t *base, const uint32_t *at, int n, int *outside);
    /* INT8 and SERIAL8: 10 bytes, sign and magnitude; *wrong becomes non-zero if one is no value of theirs, or has none as an
     * int64_t. 6 bytes behind each may be read. NULL: there is no such kernel. */
    uint64_t (*int8s)(int64_t *to, const uint8_t *base, const uint32_t *at, int n, int *wrong);
    /* The rows before the first whose VARCHAR is longer than 32 bytes or not ASCII; negative: one does not fit its tuple. 32
     * bytes behind each may be read. NULL: there is no such kernel. */
    int (*short_texts)(struct ia_short_texts *t, int n);
};

/* ---- plain C ------------------------------------------------------------------------------------------------- */

static uint64_t ia_lanes16_plain(uint16_t *to, const uint8_t *base, const uint32_t *at, int n)
{
    uint64_t valid = 0;
    for (int i = 0; i < n; i++) {
        const uint16_t v = ia_load_be16(base + at[i]);
        const uint64_t ok = v != 0x8000;
        to[i] = ok ? v : 0;
        valid |= ok << i;
    }
    return valid;
}

static uint64_t ia_lanes32_plain(uint32_t *to, const uint8_t *base, const uint32_t *at, int n, uint32_t null)
{
    uint64_t valid = 0;
    for (int i = 0; i < n; i++) {
        const uint32_t v = ia_load_be32(base + at[i]);
        const uint64_t ok = v != null;
        to[i] = v & -(uint32_t)ok;
        valid |= ok << i;
    }
    return valid;
}

static uint64_t ia_lanes64_plain(uint64_t *to, const uint8_t *base, const uint32_t *at, int n, uint64_t null)
{
    uint64_t valid = 0;
    for (int i = 0; i < n; i++) {
        const uint64_t v = ia_load_be64(base + at[i]);
        const uint64_t ok = v != null;
        to[i] = v & -ok;
        valid |= ok << i;
    }
    return valid;
}

static uint64_t ia_dates_plain(int32_t *to, const uint8_t *base, const uint32_t *at, int n, int *outside)
{
    uint64_t valid = 0;
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        const int32_t v = (int32_t)ia_load_be32(base + at[i]);
        const int ok = v != INT32_MIN;
        wrong |= ok & ((v < IA_FIRST_DAY) | (v > IA_LAST_DAY));
        to[i] = ok ? (int32_t)((uint32_t)v - IA_EPOCH) : 0;
        valid |= (uint64_t)ok << i;
    }
    *outside |= wrong;
    return valid;
}

static const struct ia_lanes ia_lanes_plain = {"plain", ia_lanes16_plain, ia_lanes32_plain, ia_lanes64_plain,
                                               ia_dates_plain, NULL, NULL};

/* What a kernel has not done: the values from `done` on, whose bits come behind those of the others. */
#define IA_TAIL(call, done) ((done) < n ? (call) << (done) : 0)

/* ---- x86-64 -------------------------------------------------------------------------------------------------- */

#ifdef IA_X86
#include <immintrin.h>

/* Values as they lie: the lanes' bytes are swapped afterwards. */
#define IA_RAW16(i) (short)__builtin_bswap16(ia_load_be16(base + at[i]))
#define IA_RAW32(i) (int)__builtin_bswap32(ia_load_be32(base + at[i]))
#define IA_RAW64(i) (long long)__builtin_bswap64(ia_load_be64(base + at[i]))

#define IA_SWAP16 14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1
#define IA_SWAP32 12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3
#define IA_SWAP64 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7

static IA_SSE41 uint64_t ia_lanes16_sse41(uint16_t *to, const uint8_t *base, const uint32_t *at, int n)
{
    const __m128i swap = _mm_set_epi8(IA_SWAP16), null = _mm_set1_epi16((short)0x8000);
    uint64_t nulls = 0;
    int done = 0;
    for (; done + 8 <= n; done += 8, at += 8) {
        const __m128i raw = _mm_set_epi16(IA_RAW16(7), IA_RAW16(6), IA_RAW16(5), IA_RAW16(4), IA_RAW16(3), IA_RAW16(2),
                                          IA_RAW16(1), IA_RAW16(0));
        const __m128i v = _mm_shuffle_epi8(raw, swap), is_null = _mm_cmpeq_epi16(v, null);
        _mm_storeu_si128((__m128i *)(void *)(to + done), _mm_andnot_si128(is_null, v));
        nulls |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(is_null, _mm_setzero_si128())) << done;
    }
    const uint64_t mine = done < 64 ? (1ull << done) - 1 : ~0ull;
    return (~nulls & mine) | IA_TAIL(ia_lanes16_plain(to + done, base, at, n - done), done);
}

static IA_SSE41 uint64_t ia_lanes32_sse41(uint32_t *to, const uint8_t *base, const uint32_t *at, int n, uint32_t null)
{
    const __m128i swap = _mm_set_epi8(IA_SWAP32), nothing = _mm_set1_epi32((int)null);
    uint64_t nulls = 0;
    int done = 0;
    for (; done + 4 <= n; done += 4, at += 4) {
        const __m128i raw = _mm_set_epi32(IA_RAW32(3), IA_RAW32(2), IA_RAW32(1), IA_RAW32(0));
        const __m128i v = _mm_shuffle_epi8(raw, swap), is_null = _mm_cmpeq_epi32(v, nothing);
        _mm_storeu_si128((__m128i *)(void *)(to + done), _mm_andnot_si128(is_null, v));
        nulls |= (uint64_t)(uint32_t)_mm_movemask_ps(_mm_castsi128_ps(is_null)) << done;
    }
    const uint64_t mine = done < 64 ? (1ull << done) - 1 : ~0ull;
    return (~nulls & mine) | IA_TAIL(ia_lanes32_plain(to + done, base, at, n - done, null), done);
}

static IA_SSE41 uint64_t ia_lanes64_sse41(uint64_t *to, const uint8_t *base, const uint32_t *at, int n, uint64_t null)
{
    const __m128i swap = _mm_set_epi8(IA_SWAP64), nothing = _mm_set1_epi64x((long long)null);
    uint64_t nulls = 0;
    int done = 0;
    for (; done + 2 <= n; done += 2, at += 2) {
        const __m128i raw = _mm_set_epi64x(IA_RAW64(1), IA_RAW64(0));
        const __m128i v = _mm_shuffle_epi8(raw, swap), is_null = _mm_cmpeq_epi64(v, nothing);
        _mm_storeu_si128((__m128i *)(void *)(to + done), _mm_andnot_si128(is_null, v));
        nulls |= (uint64_t)(uint32_t)_mm_movemask_pd(_mm_castsi128_pd(is_null)) << done;
    }
    const uint64_t mine = done < 64 ? (1ull << done) - 1 : ~0ull;
    return (~nulls & mine) | IA_TAIL(ia_lanes64_plain(to + done, base, at, n - done, null), done);
}

static IA_SSE41 uint64_t ia_dates_sse41(int32_t *to, const uint8_t *base, const uint32_t *at, int n, int *outside)
{
    const __m128i swap = _mm_set_epi8(IA_SWAP32), nothing = _mm_set1_epi32(INT32_MIN);
    const __m128i first = _mm_set1_epi32(IA_FIRST_DAY), last = _mm_set1_epi32(IA_LAST_DAY), epoch = _mm_set1_epi32(IA_EPOCH);
    __m128i wrong = _mm_setzero_si128();
    uint64_t nulls = 0;
    int done = 0;
    for (; done + 4 <= n; done += 4, at += 4) {
        const __m128i raw = _mm_set_epi32(IA_RAW32(3), IA_RAW32(2), IA_RAW32(1), IA_RAW32(0));
        const __m128i v = _mm_shuffle_epi8(raw, swap), is_null = _mm_cmpeq_epi32(v, nothing);
        const __m128i out = _mm_or_si128(_mm_cmplt_epi32(v, first), _mm_cmpgt_epi32(v, last));
        wrong = _mm_or_si128(wrong, _mm_andnot_si128(is_null, out));
        _mm_storeu_si128((__m128i *)(void *)(to + done), _mm_andnot_si128(is_null, _mm_sub_epi32(v, epoch)));
        nulls |= (uint64_t)(uint32_t)_mm_movemask_ps(_mm_castsi128_ps(is_null)) << done;
    }
    *outside |= _mm_movemask_epi8(wrong);
    const uint64_t mine = done < 64 ? (1ull << done) - 1 : ~0ull;
    return (~nulls & mine) | IA_TAIL(ia_dates_plain(to + done, base, at, n - done, outside), done);
}

static const struct ia_lanes ia_lanes_sse41 = {"sse4.1", ia_lanes16_sse41, ia_lanes32_sse41, ia_lanes64_sse41,
                                               ia_dates_sse41, NULL, NULL};

static IA_AVX2 uint64_t ia_lanes32_avx2(uint32_t *to, const uint8_t *base, const uint32_t *at, int n, uint32_t null)
{
    const __m256i swap = _mm256_set_epi8(IA_SWAP32, IA_SWAP32), nothing = _mm256_set1_epi32((int)null);
    uint64_t nulls = 0;
    int done = 0;
    for (; done + 8 <= n; done += 8, at += 8) {
        const __m256i raw = _mm256_set_epi32(IA_RAW32(7), IA_RAW32(6), IA_RAW32(5), IA_RAW32(4), IA_RAW32(3), IA_RAW32(2),
                                             IA_RAW32(1), IA_RAW32(0));
        const __m256i v = _mm256_shuffle_epi8(raw, swap), is_null = _mm256_cmpeq_epi32(v, nothing);
        _mm256_storeu_si256((__m256i *)(void *)(to + done), _mm256_andnot_si256(is_null, v));
        nulls |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(is_null)) << done;
    }
    const uint64_t mine = done < 64 ? (1ull << done) - 1 : ~0ull;
    return (~nulls & mine) | IA_TAIL(ia_lanes32_plain(to + done, base, at, n - done, null), done);
}

static IA_AVX2 uint64_t ia_lanes64_avx2(uint64_t *to, const uint8_t *base, const uint32_t *at, int n, uint64_t null)
{
    const __m256i swap = _mm256_set_epi8(IA_SWAP64, IA_SWAP64), nothing = _mm256_set1_epi64x((long long)null);
    uint64_t nulls = 0;
    int done = 0;
    for (; done + 4 <= n; done += 4, at += 4) {
        const __m256i raw = _mm256_set_epi64x(IA_RAW64(3), IA_RAW64(2), IA_RAW64(1), IA_RAW64(0));
        const __m256i v = _mm256_shuffle_epi8(raw, swap), is_null = _mm256_cmpeq_epi64(v, nothing);
        _mm256_storeu_si256((__m256i *)(void *)(to + done), _mm256_andnot_si256(is_null, v));
        nulls |= (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(is_null)) << done;
    }
    const uint64_t mine = done < 64 ? (1ull << done) - 1 : ~0ull;
    return (~nulls & mine) | IA_TAIL(ia_lanes64_plain(to + done, base, at, n - done, null), done);
}

static IA_AVX2 uint64_t ia_dates_avx2(int32_t *to, const uint8_t *base, const uint32_t *at, int n, int *outside)
{
    const __m256i swap = _mm256_set_epi8(IA_SWAP32, IA_SWAP32), nothing = _mm256_set1_epi32(INT32_MIN);
    const __m256i first = _mm256_set1_epi32(IA_FIRST_DAY), last = _mm256_set1_epi32(IA_LAST_DAY);
    const __m256i epoch = _mm256_set1_epi32(IA_EPOCH);
    __m256i wrong = _mm256_setzero_si256();
    uint64_t nulls = 0;
    int done = 0;
    for (; done + 8 <= n; done += 8, at += 8) {
        const __m256i raw = _mm256_set_epi32(IA_RAW32(7), IA_RAW32(6), IA_RAW32(5), IA_RAW32(4), IA_RAW32(3), IA_RAW32(2),
                                             IA_RAW32(1), IA_RAW32(0));
        const __m256i v = _mm256_shuffle_epi8(raw, swap), is_null = _mm256_cmpeq_epi32(v, nothing);
        const __m256i out = _mm256_or_si256(_mm256_cmpgt_epi32(first, v), _mm256_cmpgt_epi32(v, last));
        wrong = _mm256_or_si256(wrong, _mm256_andnot_si256(is_null, out));
        _mm256_storeu_si256((__m256i *)(void *)(to + done), _mm256_andnot_si256(is_null, _mm256_sub_epi32(v, epoch)));
        nulls |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(is_null)) << done;
    }
    *outside |= _mm256_movemask_epi8(wrong);
    const uint64_t mine = done < 64 ? (1ull << done) - 1 : ~0ull;
    return (~nulls & mine) | IA_TAIL(ia_dates_plain(to + done, base, at, n - done, outside), done);
}

static IA_AVX2 inline __attribute__((always_inline)) __m256i ia_two_of_16(const uint8_t *low, const uint8_t *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)low)),
                                   _mm_loadu_si128((const __m128i *)(const void *)high), 1);
}

/* What four INT8 are, and which of them are NULL: two in each half of a register, the low words first on the wire. */
static IA_AVX2 inline __attribute__((always_inline)) __m256i ia_int8_values(__m256i first, __m256i second, __m256i *odd,
                                                                            __m256i *beyond, __m256i *is_null)
{
    const __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(5, 4, 3, 2, 9, 8, 7, 6, 1, 0, -1, -1, -1, -1, -1, -1));
    const __m256i a = _mm256_shuffle_epi8(first, order), b = _mm256_shuffle_epi8(second, order);
    const __m256i v = _mm256_unpacklo_epi64(a, b), sign = _mm256_unpackhi_epi64(a, b);
    const __m256i minus = _mm256_cmpeq_epi64(sign, _mm256_set1_epi64x(0xffff));
    const __m256i known = _mm256_or_si256(minus, _mm256_cmpeq_epi64(sign, _mm256_set1_epi64x(1)));
    *is_null = _mm256_cmpeq_epi64(sign, _mm256_setzero_si256());
    /* 2^63 itself is a value where it is negative; the highest bit says whether there is more. */
    const __m256i more = _mm256_and_si256(_mm256_and_si256(_mm256_add_epi64(v, minus), v), known);
    *beyond = _mm256_or_si256(*beyond, more);
    *odd = _mm256_or_si256(*odd, _mm256_xor_si256(_mm256_or_si256(known, *is_null), _mm256_set1_epi64x(-1)));
    return _mm256_andnot_si256(*is_null, _mm256_sub_epi64(_mm256_xor_si256(v, minus), minus));
}

static IA_AVX2 uint64_t ia_int8s_avx2(int64_t *to, const uint8_t *base, const uint32_t *at, int n, int *wrong)
{
    __m256i odd = _mm256_setzero_si256(), beyond = odd, is_null;
    uint64_t nulls = 0;
    int64_t last[4];
    uint32_t again[4];
    for (int done = 0; done < n; done += 4) {
        const uint32_t *spots = at + done;
        if (__builtin_expect(done + 4 > n, 0)) { /* the last again, as often as it takes */
            for (int k = 0; k < 4; k++)
                again[k] = at[done + k < n ? done + k : n - 1];
            spots = again;
        }
        /* Rows 0 and 2 beside rows 1 and 3: unpacked they are in their order. */
        const __m256i v = ia_int8_values(ia_two_of_16(base + spots[0], base + spots[2]),
                                         ia_two_of_16(base + spots[1], base + spots[3]), &odd, &beyond, &is_null);
        if (__builtin_expect(done + 4 > n, 0)) {
            _mm256_storeu_si256((__m256i *)(void *)last, v);
            memcpy(to + done, last, (size_t)(n - done) * sizeof *to);
        } else {
            _mm256_storeu_si256((__m256i *)(void *)(to + done), v);
        }
        nulls |= (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(is_null)) << done;
    }
    *wrong |= (_mm256_movemask_epi8(odd) | _mm256_movemask_pd(_mm256_castsi256_pd(beyond))) != 0;
    return ~nulls;
}

/* What is compared with the tuples' ends is compared afterwards, for many rows at once; until then no byte is read that may
 * not be, as what is behind a text is not looked at. */
static IA_AVX2 int ia_short_texts_avx2(struct ia_short_texts *t, int n)
{
    const uint8_t *const text = t->begin + t->place + 1;
    uint32_t *const at = t->at;
    const uint32_t behind = (uint32_t)(t->place + 1);
    uint8_t *const to = t->to;
    int32_t *const offsets = t->offsets;
    uint64_t length = (uint64_t)t->length;
    int i = 0;
    for (; i < n; i++) {
        const uint32_t begin = at[i];
        const uint8_t *const from = text + begin;
        uint32_t size = from[-1];
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)from);
        if (size > 32 || _bzhi_u32((uint32_t)_mm256_movemask_epi8(v), size))
            break;
        _mm256_storeu_si256((__m256i *)(void *)(to + length), v);
        at[i] = begin + behind + size;
        if (ia_load_be16(from - 1) == 0x0100) {
            t->nulls |= 1ull << i;
            size = 0;
        }
        length += size;
        offsets[i] = (int32_t)length;
    }
    const uint32_t *const ends = t->ends, rest = (uint32_t)t->rest;
    int beyond = 0;
    for (int k = 0; k < i; k++)
        beyond |= at[k] + rest > ends[k];
    t->length = (int64_t)length;
    return beyond ? -1 : i;
}

static const struct ia_lanes ia_lanes_avx2 = {"avx2",        ia_lanes16_sse41, ia_lanes32_avx2,    ia_lanes64_avx2,
                                              ia_dates_avx2, ia_int8s_avx2,    ia_short_texts_avx2};

#endif

/* ---- vectors of 16 bytes, in the compiler's words: NEON -------------------------------------------------------- */

#if defined(__aarch64__)
#define IA_LANES_NEON 1

/* The lanes whose NULLs are all ones, as bits. */
IA_VECTOR_INLINE uint64_t ia_null_bits32(ia_v4x32 is_null)
{
    const ia_v4x32 bits = is_null & (ia_v4x32){1, 2, 4, 8};
    return bits[0] | bits[1] | bits[2] | bits[3];
}

IA_VECTOR_INLINE ia_v4x32 ia_gather32(const uint8_t *base, const uint32_t *at)
{
    uint32_t v[4];
    for (int i = 0; i < 4; i++)
        memcpy(v + i, base + at[i], 4);
    return ia_wire32((ia_v4x32){v[0], v[1], v[2], v[3]}, 1);
}

static uint64_t ia_lanes16_neon(uint16_t *to, const uint8_t *base, const uint32_t *at, int n)
{
    uint64_t nulls = 0;
    int done = 0;
    for (; done + 8 <= n; done += 8, at += 8) {
        uint16_t raw[8];
        for (int i = 0; i < 8; i++)
            memcpy(raw + i, base + at[i], 2);
        ia_v8x16 v;
        memcpy(&v, raw, sizeof v);
        v = ia_wire16(v);
        const ia_v8x16 is_null = (ia_v8x16)(v == 0x8000);
        const ia_v4x32 bits = (ia_v4x32)(is_null & (ia_v8x16){1, 2, 4, 8, 16, 32, 64, 128});
        const uint32_t halves = bits[0] | bits[1] | bits[2] | bits[3];
        v &= ~is_null;
        memcpy(to + done, &v, sizeof v);
        nulls |= (uint64_t)((halves | halves >> 16) & 255) << done;
    }
    const uint64_t mine = done < 64 ? (1ull << done) - 1 : ~0ull;
    return (~nulls & mine) | IA_TAIL(ia_lanes16_plain(to + done, base, at, n - done), done);
}

static uint64_t ia_lanes32_neon(uint32_t *to, const uint8_t *base, const uint32_t *at, int n, uint32_t null)
{
    uint64_t nulls = 0;
    int done = 0;
    for (; done + 4 <= n; done += 4, at += 4) {
        const ia_v4x32 v = ia_gather32(base, at), is_null = (ia_v4x32)(v == null), kept = v & ~is_null;
        memcpy(to + done, &kept, sizeof kept);
        nulls |= ia_null_bits32(is_null) << done;
    }
    const uint64_t mine = done < 64 ? (1ull << done) - 1 : ~0ull;
    return (~nulls & mine) | IA_TAIL(ia_lanes32_plain(to + done, base, at, n - done, null), done);
}

static uint64_t ia_lanes64_neon(uint64_t *to, const uint8_t *base, const uint32_t *at, int n, uint64_t null)
{
    uint64_t nulls = 0;
    int done = 0;
    for (; done + 2 <= n; done += 2, at += 2) {
        uint64_t raw[2];
        memcpy(raw, base + at[0], 8);
        memcpy(raw + 1, base + at[1], 8);
        const ia_v2x64 v = ia_wire64((ia_v2x64){raw[0], raw[1]}, 1), is_null = (ia_v2x64)(v == null), kept = v & ~is_null;
        memcpy(to + done, &kept, sizeof kept);
        nulls |= ((is_null[0] & 1) | (is_null[1] & 2)) << done;
    }
    const uint64_t mine = done < 64 ? (1ull << done) - 1 : ~0ull;
    return (~nulls & mine) | IA_TAIL(ia_lanes64_plain(to + done, base, at, n - done, null), done);
}

static uint64_t ia_dates_neon(int32_t *to, const uint8_t *base, const uint32_t *at, int n, int *outside)
{
    ia_v4x32 wrong = {0};
    uint64_t nulls = 0;
    int done = 0;
    for (; done + 4 <= n; done += 4, at += 4) {
        const ia_v4x32 v = ia_gather32(base, at), is_null = (ia_v4x32)(v == 0x80000000u);
        const ia_v4x32 out = (ia_v4x32)(((ia_v4x32s)v < IA_FIRST_DAY) | ((ia_v4x32s)v > IA_LAST_DAY));
        const ia_v4x32 kept = (v - IA_EPOCH) & ~is_null;
        wrong |= out & ~is_null;
        memcpy(to + done, &kept, sizeof kept);
        nulls |= ia_null_bits32(is_null) << done;
    }
    *outside |= (wrong[0] | wrong[1] | wrong[2] | wrong[3]) != 0;
    const uint64_t mine = done < 64 ? (1ull << done) - 1 : ~0ull;
    return (~nulls & mine) | IA_TAIL(ia_dates_plain(to + done, base, at, n - done, outside), done);
}

static const struct ia_lanes ia_lanes_neon = {"neon", ia_lanes16_neon, ia_lanes32_neon, ia_lanes64_neon, ia_dates_neon,
                                              NULL, NULL};

#endif

/* ---- choosing ------------------------------------------------------------------------------------------------ */

#define IA_LANES 3

/* The kernels that this processor can run, the best first, behind them NULL. */
static inline void ia_lanes_here(const struct ia_lanes *found[IA_LANES + 1])
{
    int n = 0;
#ifdef IA_X86
    if (ia_has_avx2())
        found[n++] = &ia_lanes_avx2;
    if (ia_has_sse41())
        found[n++] = &ia_lanes_sse41;
#endif
#ifdef IA_LANES_NEON
    found[n++] = &ia_lanes_neon;
#endif
    found[n++] = &ia_lanes_plain;
    found[n] = NULL;
}

#endif
