/* Lanes: integers, floats and dates whose Arrow type is their own, a block of at most 64 rows at a time.
 *
 * First the values of a lane are brought into the order of the wire, next to each other, by vectors: bytes swapped, compared
 * with what has no encoding, NULLs written over those that are.  Then they are written by stride: lanes of 4 and 8 bytes that
 * stand side by side and make 16 bytes are a group, turned from columns into rows in registers, the others value by value.
 * With AVX2 a group without NULLs, and a lane of 4 bytes alone, goes from its columns to its places in one step.
 *
 * Every kernel reads the values of its rows and writes their bytes, nothing else. */
#ifndef INFORMIX_ARROW_ENCODE_LANES_H
#define INFORMIX_ARROW_ENCODE_LANES_H

#include <stdint.h>
#include <string.h>

#include "encode_column.h"
#include "encode_datetime.h"
#include "encode_row.h"
#include "plan.h"
#include "processor.h"
#include "vectors.h"
#include "wire_bytes.h"

#ifdef IA_X86
#include <immintrin.h>
#define IA_ENC_SWAP32 12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3 /* from the last byte to the first */
#endif

#define IA_ENC_BLOCK 64

/* The widths of a group's lanes; the first lane of a group says which, the others are IA_ENC_GROUPED. */
enum { IA_ENC_ALONE = 0, IA_ENC_4444, IA_ENC_88, IA_ENC_844, IA_ENC_484, IA_ENC_448, IA_ENC_GROUPED };

static inline int ia_enc_lanes_of(int group)
{
    static const uint8_t lanes_of[] = {1, 4, 2, 3, 3, 3};
    return lanes_of[group];
}

/* The values of a lane on their way. */
struct ia_enc_lane {
    union {
        uint8_t bytes[IA_ENC_BLOCK * 8];
        ia_v4x32 aligned;
    } of;
};

/* The validity of n rows from index i on, a bit for each; no byte is read but those that hold them. */
static inline uint64_t ia_enc_valid(const struct ia_enc_col *c, int64_t i, int n)
{
    if (c->validity == NULL) return ~UINT64_C(0);
    const uint8_t *const bits = c->validity + (i >> 3);
    const int shift = (int)(i & 7), bytes = (shift + n + 7) / 8;
    uint64_t valid = 0;
    for (int k = 0; k < bytes && k < 8; k++) valid |= (uint64_t)bits[k] << (8 * k);
    valid >>= shift;
    return bytes > 8 ? valid | (uint64_t)bits[8] << (64 - shift) : valid;
}

/* Each vector of n values at `from` by expressions over it, `v`: what is wrong with it, then its value and its bytes. */
#define IA_ENC_VECTORS(type, item, bad, value, order)                                                                 \
    {                                                                                                                 \
        type seen = {0};                                                                                              \
        for (int k = 0; k < n; k += 16 / item) {                                                                      \
            type v = {0};                                                                                             \
            if (__builtin_expect(n - k >= 16 / item, 1))                                                              \
                memcpy(&v, from + k * item, 16);                                                                      \
            else                                                                                                      \
                memcpy(&v, from + k * item, (size_t)(n - k) * item);                                                  \
            seen |= (type)(bad);                                                                                      \
            v = (value);                                                                                              \
            v = order;                                                                                                \
            memcpy(to + k * item, &v, 16);                                                                            \
        }                                                                                                             \
        const ia_v2x64 both = (ia_v2x64)seen;                                                                         \
        wrong = (both[0] | both[1]) != 0;                                                                             \
    }

/* Whether a value that is not NULL has no encoding: asked when there are NULLs, and one of all values has none. */
static __attribute__((noinline)) int ia_enc_has_none(const struct ia_enc_col *c, int64_t i, int n, uint64_t valid)
{
    for (int k = 0; k < n; k++) {
        const uint8_t *const from = c->values + (i + k) * c->width;
        int16_t two;
        int32_t four;
        int64_t eight;
        if (!(valid >> k & 1)) continue;
        switch (c->kind) {
        case IA_INT16:
            memcpy(&two, from, 2);
            if (two == INT16_MIN) return 1;
            break;
        case IA_INT64:
            memcpy(&eight, from, 8);
            if (eight == INT64_MIN) return 1;
            break;
        default: /* INT32, DATE */
            memcpy(&four, from, 4);
            if (four == INT32_MIN || (c->kind == IA_DATE && (four < IA_DAY_MIN || four > IA_DAY_MAX))) return 1;
            break;
        }
    }
    return 0;
}

/* The n values of a lane but INT8 in the order of the wire; non-zero if one that is not NULL has no encoding. */
IA_VECTOR_INLINE int ia_enc_prepare(const struct ia_enc_col *c, int64_t row, int n, uint8_t *to, int bytes)
{
    const int64_t i = c->base + row;
    const uint8_t *const from = c->values + i * c->width; /* as wide in Arrow as on the wire */
    const uint64_t valid = ia_enc_valid(c, i, n);
    uint64_t nulls = ~valid << (64 - n) >> (64 - n);
    int wrong = 0;
    switch (c->kind) {
    case IA_INT16: IA_ENC_VECTORS(ia_v8x16, 2, v == 0x8000, v, ia_wire16(v)) break;
    case IA_INT32: IA_ENC_VECTORS(ia_v4x32, 4, v == 0x80000000u, v, ia_wire32(v, bytes)) break;
    case IA_INT64: IA_ENC_VECTORS(ia_v2x64, 8, v == UINT64_C(1) << 63, v, ia_wire64(v, bytes)) break;
    case IA_FLOAT32: /* a NaN, but not the one that is NULL */
        IA_ENC_VECTORS(ia_v4x32, 4, v ^ v, v ^ ((ia_v4x32)(v == UINT32_MAX) & (UINT32_MAX ^ 0x7fc00000u)), ia_wire32(v, bytes))
        break;
    case IA_FLOAT64:
        IA_ENC_VECTORS(ia_v2x64, 8, v ^ v, v ^ ((ia_v2x64)(v == UINT64_MAX) & (UINT64_MAX ^ UINT64_C(0x7ff8000000000000))),
                       ia_wire64(v, bytes))
        break;
    default: /* DATE */
        IA_ENC_VECTORS(ia_v4x32, 4, ((ia_v4x32s)v < IA_DAY_MIN) | ((ia_v4x32s)v > IA_DAY_MAX), v + IA_DAY_OF_DATE0,
                       ia_wire32(v, bytes))
        break;
    }
    if (__builtin_expect(wrong && nulls, 0)) wrong = ia_enc_has_none(c, i, n, valid);
    for (; __builtin_expect(nulls != 0, 0); nulls &= nulls - 1) {
        const int k = __builtin_ctzll(nulls);
        switch (c->kind) {
        case IA_INT16: ia_store_be16(to + k * 2, 0x8000); break;
        case IA_INT64: ia_store_be64(to + k * 8, UINT64_C(1) << 63); break;
        case IA_FLOAT32: ia_store_be32(to + k * 4, UINT32_MAX); break;
        case IA_FLOAT64: ia_store_be64(to + k * 8, UINT64_MAX); break;
        default: ia_store_be32(to + k * 4, 0x80000000u); break;
        }
    }
    return wrong;
}

/* The values of a lane of 2, 4 or 8 bytes to their places, one by one. */
IA_VECTOR_INLINE void ia_enc_scatter(const uint8_t *from, int width, const uint32_t *at, int n, uint8_t *to)
{
    switch (width) { /* of constants */
    case 2:
        for (int k = 0; k < n; k++) memcpy(to + at[k], from + k * 2, 2);
        break;
    case 4:
        for (int k = 0; k < n; k++) memcpy(to + at[k], from + k * 4, 4);
        break;
    default:
        for (int k = 0; k < n; k++) memcpy(to + at[k], from + k * 8, 8);
        break;
    }
}

IA_VECTOR_INLINE ia_v4x32 ia_enc_four(const struct ia_enc_lane *lane, int at)
{
    ia_v4x32 v;
    memcpy(&v, lane->of.bytes + at, sizeof v);
    return v;
}

/* Four rows of a group to their places. */
IA_VECTOR_INLINE void ia_enc_turn(const struct ia_enc_lane *lane, int group, int k, const uint32_t *at, uint8_t *to)
{
    ia_v4x32 rows[4];
    if (group == IA_ENC_88) {
        const ia_v4x32 a0 = ia_enc_four(lane, 8 * k), a2 = ia_enc_four(lane, 8 * k + 16);
        const ia_v4x32 b0 = ia_enc_four(lane + 1, 8 * k), b2 = ia_enc_four(lane + 1, 8 * k + 16);
        rows[0] = IA_SHUFFLE32(a0, b0, 0, 1, 4, 5);
        rows[1] = IA_SHUFFLE32(a0, b0, 2, 3, 6, 7);
        rows[2] = IA_SHUFFLE32(a2, b2, 0, 1, 4, 5);
        rows[3] = IA_SHUFFLE32(a2, b2, 2, 3, 6, 7);
    } else if (group == IA_ENC_844 || group == IA_ENC_448) {
        const int wide = group == IA_ENC_844 ? 0 : 2, narrow = group == IA_ENC_844 ? 1 : 0;
        const ia_v4x32 a0 = ia_enc_four(lane + wide, 8 * k), a2 = ia_enc_four(lane + wide, 8 * k + 16);
        const ia_v4x32 b = ia_enc_four(lane + narrow, 4 * k), c = ia_enc_four(lane + narrow + 1, 4 * k);
        const ia_v4x32 bc0 = IA_SHUFFLE32(b, c, 0, 4, 1, 5), bc2 = IA_SHUFFLE32(b, c, 2, 6, 3, 7);
        const ia_v4x32 x0 = wide ? bc0 : a0, x2 = wide ? bc2 : a2, y0 = wide ? a0 : bc0, y2 = wide ? a2 : bc2;
        rows[0] = IA_SHUFFLE32(x0, y0, 0, 1, 4, 5);
        rows[1] = IA_SHUFFLE32(x0, y0, 2, 3, 6, 7);
        rows[2] = IA_SHUFFLE32(x2, y2, 0, 1, 4, 5);
        rows[3] = IA_SHUFFLE32(x2, y2, 2, 3, 6, 7);
    } else {
        ia_v4x32 a = ia_enc_four(lane, 4 * k), b, c, d;
        if (group == IA_ENC_4444) {
            b = ia_enc_four(lane + 1, 4 * k), c = ia_enc_four(lane + 2, 4 * k), d = ia_enc_four(lane + 3, 4 * k);
        } else { /* IA_ENC_484 */
            const ia_v4x32 m0 = ia_enc_four(lane + 1, 8 * k), m2 = ia_enc_four(lane + 1, 8 * k + 16);
            b = IA_SHUFFLE32(m0, m2, 0, 2, 4, 6), c = IA_SHUFFLE32(m0, m2, 1, 3, 5, 7), d = ia_enc_four(lane + 2, 4 * k);
        }
        const ia_v4x32 ab0 = IA_SHUFFLE32(a, b, 0, 4, 1, 5), ab2 = IA_SHUFFLE32(a, b, 2, 6, 3, 7);
        const ia_v4x32 cd0 = IA_SHUFFLE32(c, d, 0, 4, 1, 5), cd2 = IA_SHUFFLE32(c, d, 2, 6, 3, 7);
        rows[0] = IA_SHUFFLE32(ab0, cd0, 0, 1, 4, 5);
        rows[1] = IA_SHUFFLE32(ab0, cd0, 2, 3, 6, 7);
        rows[2] = IA_SHUFFLE32(ab2, cd2, 0, 1, 4, 5);
        rows[3] = IA_SHUFFLE32(ab2, cd2, 2, 3, 6, 7);
    }
    for (int r = 0; r < 4; r++) memcpy(to + at[k + r], &rows[r], 16);
}

/* A group's lanes, prepared, to their places. */
IA_VECTOR_INLINE void ia_enc_put_group(const struct ia_enc_col *c, const struct ia_enc_lane *lane, int group, int lanes,
                                       const uint32_t *at, int n, uint8_t *to)
{
    int k = 0;
    for (; k + 4 <= n; k += 4) ia_enc_turn(lane, group, k, at, to);
    for (int m = 0; m < lanes && k < n; to += c[m].width, m++)
        ia_enc_scatter(lane[m].of.bytes + k * c[m].width, c[m].width, at + k, n - k, to);
}

/* The lane c, or the group that it begins, of n rows to out + at[]; non-zero if a value has no encoding. */
IA_VECTOR_INLINE int ia_enc_put_lane_by(const struct ia_enc_col *c, int64_t row, const uint32_t *at, int n, uint8_t *out,
                                        int bytes)
{
    struct ia_enc_lane lane[4];
    uint8_t *const to = out + c->place;
    const int lanes = ia_enc_lanes_of(c->group);
    int wrong = 0;
    if (c->kind == IA_INT8) {
        const int64_t i = c->base + row;
        const uint64_t valid = ia_enc_valid(c, i, n);
        for (int k = 0; k < n; k++) {
            int64_t v;
            memcpy(&v, c->values + (i + k) * 8, 8);
            if (valid >> k & 1) {
                wrong |= v == INT64_MIN;
                ia_enc_put_int8(to + at[k], v);
            } else {
                memset(to + at[k], 0, 10);
            }
        }
        return wrong;
    }
    for (int m = 0; m < lanes; m++) wrong |= ia_enc_prepare(c + m, row, n, lane[m].of.bytes, bytes);
    switch (c->group) {
    case IA_ENC_4444: ia_enc_put_group(c, lane, IA_ENC_4444, 4, at, n, to); break;
    case IA_ENC_88: ia_enc_put_group(c, lane, IA_ENC_88, 2, at, n, to); break;
    case IA_ENC_844: ia_enc_put_group(c, lane, IA_ENC_844, 3, at, n, to); break;
    case IA_ENC_484: ia_enc_put_group(c, lane, IA_ENC_484, 3, at, n, to); break;
    case IA_ENC_448: ia_enc_put_group(c, lane, IA_ENC_448, 3, at, n, to); break;
    default: ia_enc_scatter(lane->of.bytes, c->width, at, n, to); break;
    }
    return wrong;
}

/* One lane or group; of each kernel a function. */
typedef int ia_enc_put_lane(const struct ia_enc_col *c, int64_t row, const uint32_t *at, int n, uint8_t *out);

struct ia_enc_kernels {
    const char *name;
    ia_enc_put_lane *put_lane;
};

/* NEON moves bytes freely, and is part of every aarch64. */
#ifdef __aarch64__
#define IA_ENC_MOVES_BYTES 1
#define IA_ENC_PLAIN "neon"
#else
#define IA_ENC_MOVES_BYTES 0
#define IA_ENC_PLAIN "plain"
#endif

static __attribute__((noinline)) int ia_enc_put_lane_plain(const struct ia_enc_col *c, int64_t row, const uint32_t *at,
                                                           int n, uint8_t *out)
{
    return ia_enc_put_lane_by(c, row, at, n, out, IA_ENC_MOVES_BYTES);
}

static const struct ia_enc_kernels ia_enc_kernels_plain = {IA_ENC_PLAIN, ia_enc_put_lane_plain};

#ifdef IA_X86
static __attribute__((noinline)) IA_SSE41 int ia_enc_put_lane_sse41(const struct ia_enc_col *c, int64_t row,
                                                                    const uint32_t *at, int n, uint8_t *out)
{
    return ia_enc_put_lane_by(c, row, at, n, out, 1);
}

static const struct ia_enc_kernels ia_enc_kernels_sse41 = {"sse4.1", ia_enc_put_lane_sse41};

/* ---- AVX2: what nearly all blocks are, without a way by memory ------------------------------------------------- */

/* What of a lane of 4 or 8 bytes is looked for before its bytes are swapped: a value, plus `add`, of more than `limit` (8 bytes:
 * equal to `limit`) is left to the other kernels, be it wrong or the NaN that is NULL on the wire. */
struct ia_enc_usual {
    const uint8_t *from;
    uint64_t limit;
    uint32_t add, back; /* back: what the wire's value has more than that */
};

static inline struct ia_enc_usual ia_enc_usual_of(const struct ia_enc_col *c, int64_t row)
{
    struct ia_enc_usual u = {c->values + (c->base + row) * c->width, UINT32_MAX - 1, 0, 0};
    switch (c->kind) {
    case IA_INT32: u.add = INT32_MAX, u.back = 0u - INT32_MAX; break;
    case IA_DATE: u.add = 0u - IA_DAY_MIN, u.limit = IA_DAY_MAX - IA_DAY_MIN, u.back = IA_DAY_OF_DATE0 + IA_DAY_MIN; break;
    case IA_INT64: u.limit = UINT64_C(1) << 63; break;
    case IA_FLOAT64: u.limit = UINT64_MAX; break;
    default: break;
    }
    return u;
}

/* Eight values of 4 bytes from `from` on, as the wire has them but for the order of their bytes. */
static IA_AVX2 inline __attribute__((always_inline)) __m256i ia_enc_eight(const struct ia_enc_usual *u, int k, __m256i *seen)
{
    const __m256i raw = _mm256_loadu_si256((const __m256i *)(const void *)(u->from + 4 * k));
    const __m256i v = _mm256_add_epi32(raw, _mm256_set1_epi32((int)u->add));
    const __m256i least = _mm256_min_epu32(v, _mm256_set1_epi32((int)u->limit));
    *seen = _mm256_or_si256(*seen, _mm256_xor_si256(v, least));
    return _mm256_add_epi32(v, _mm256_set1_epi32((int)u->back));
}

/* The same of four values of 8 bytes: those of rows 0, 1, 4 and 5 behind `from`. */
static IA_AVX2 inline __attribute__((always_inline)) __m256i ia_enc_two_and_two(const struct ia_enc_usual *u, int k,
                                                                                __m256i *seen)
{
    const uint8_t *const from = u->from + 8 * k;
    const __m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)from)),
                                              _mm_loadu_si128((const __m128i *)(const void *)(from + 32)), 1);
    *seen = _mm256_or_si256(*seen, _mm256_cmpeq_epi64(v, _mm256_set1_epi64x((long long)u->limit)));
    return v;
}

static IA_AVX2 inline __attribute__((always_inline)) void ia_enc_store_two(uint8_t *to, uint32_t at0, uint32_t at4, __m256i v,
                                                                           __m256i order)
{
    v = _mm256_shuffle_epi8(v, order);
    _mm_storeu_si128((__m128i *)(void *)(to + at0), _mm256_castsi256_si128(v));
    _mm_storeu_si128((__m128i *)(void *)(to + at4), _mm256_extracti128_si256(v, 1));
}

/* A group of n >= 8 rows without NULLs to its places, eight rows at a time, the last ones twice; non-zero if it is one for the
 * other kernels.  The halves of a register are rows that are four apart; a single shuffle orders lanes and their bytes. */
static IA_AVX2 inline __attribute__((always_inline)) int ia_enc_put_usual(const struct ia_enc_col *c, int64_t row,
                                                                          const uint32_t *at, int n, uint8_t *to, int lanes)
{
    static const uint8_t orders[][16] = {
        [IA_ENC_4444] = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12},
        [IA_ENC_88] = {7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8},
        [IA_ENC_844] = {15, 14, 13, 12, 11, 10, 9, 8, 3, 2, 1, 0, 7, 6, 5, 4},
        [IA_ENC_484] = {3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4},
        [IA_ENC_448] = {3, 2, 1, 0, 7, 6, 5, 4, 15, 14, 13, 12, 11, 10, 9, 8},
    };
    const __m256i order = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)orders[c->group]));
    struct ia_enc_usual u[4];
    __m256i seen = _mm256_setzero_si256();
    for (int m = 0, narrow = 0; m < lanes; m++) { /* of three the wide one last */
        const int wide = lanes == 3 && c[m].width == 8;
        u[wide ? 2 : narrow] = ia_enc_usual_of(c + m, row);
        narrow += !wide;
    }
    for (int k = 0; k < n; k += 8) {
        if (k + 8 > n) k = n - 8;
        const uint32_t *const a = at + k;
        __m256i r0, r1, r2, r3;
        if (lanes == 2) {
            const __m256i x0 = ia_enc_two_and_two(u, k, &seen), x2 = ia_enc_two_and_two(u, k + 2, &seen);
            const __m256i y0 = ia_enc_two_and_two(u + 1, k, &seen), y2 = ia_enc_two_and_two(u + 1, k + 2, &seen);
            r0 = _mm256_unpacklo_epi64(x0, y0), r1 = _mm256_unpackhi_epi64(x0, y0);
            r2 = _mm256_unpacklo_epi64(x2, y2), r3 = _mm256_unpackhi_epi64(x2, y2);
        } else {
            const __m256i v = ia_enc_eight(u, k, &seen), w = ia_enc_eight(u + 1, k, &seen);
            const __m256i vw0 = _mm256_unpacklo_epi32(v, w), vw2 = _mm256_unpackhi_epi32(v, w);
            __m256i x0, x2;
            if (lanes == 3) {
                x0 = ia_enc_two_and_two(u + 2, k, &seen), x2 = ia_enc_two_and_two(u + 2, k + 2, &seen);
            } else {
                const __m256i x = ia_enc_eight(u + 2, k, &seen), y = ia_enc_eight(u + 3, k, &seen);
                x0 = _mm256_unpacklo_epi32(x, y), x2 = _mm256_unpackhi_epi32(x, y);
            }
            r0 = _mm256_unpacklo_epi64(vw0, x0), r1 = _mm256_unpackhi_epi64(vw0, x0);
            r2 = _mm256_unpacklo_epi64(vw2, x2), r3 = _mm256_unpackhi_epi64(vw2, x2);
        }
        ia_enc_store_two(to, a[0], a[4], r0, order);
        ia_enc_store_two(to, a[1], a[5], r1, order);
        ia_enc_store_two(to, a[2], a[6], r2, order);
        ia_enc_store_two(to, a[3], a[7], r3, order);
    }
    return !_mm256_testz_si256(seen, seen);
}

/* The same of a lane of 4 bytes alone. */
static IA_AVX2 inline __attribute__((always_inline)) int ia_enc_put_usual_four(const struct ia_enc_col *c, int64_t row,
                                                                               const uint32_t *at, int n, uint8_t *to)
{
    const __m256i order = _mm256_set_epi8(IA_ENC_SWAP32, IA_ENC_SWAP32);
    const struct ia_enc_usual u = ia_enc_usual_of(c, row);
    __m256i seen = _mm256_setzero_si256();
    for (int k = 0; k < n; k += 8) {
        uint32_t v[8];
        if (k + 8 > n) k = n - 8;
        _mm256_storeu_si256((__m256i *)(void *)v, _mm256_shuffle_epi8(ia_enc_eight(&u, k, &seen), order));
        for (int r = 0; r < 8; r++) memcpy(to + at[k + r], v + r, 4);
    }
    return !_mm256_testz_si256(seen, seen);
}

static __attribute__((noinline)) IA_AVX2 int ia_enc_put_lane_avx2(const struct ia_enc_col *c, int64_t row,
                                                                  const uint32_t *at, int n, uint8_t *out)
{
    const int lanes = ia_enc_lanes_of(c->group);
    uint8_t *const to = out + c->place;
    uint64_t valid = ~UINT64_C(0);
    int unusual = n < 8 || (c->group == IA_ENC_ALONE && c->width != 4);
    for (int m = 0; m < lanes && !unusual; m++) valid &= ia_enc_valid(c + m, c[m].base + row, n);
    if (unusual || ~valid << (64 - n)) return ia_enc_put_lane_sse41(c, row, at, n, out);
    switch (c->group) {
    case IA_ENC_ALONE: unusual = ia_enc_put_usual_four(c, row, at, n, to); break;
    case IA_ENC_4444: unusual = ia_enc_put_usual(c, row, at, n, to, 4); break;
    case IA_ENC_88: unusual = ia_enc_put_usual(c, row, at, n, to, 2); break;
    default: unusual = ia_enc_put_usual(c, row, at, n, to, 3); break;
    }
    return unusual ? ia_enc_put_lane_sse41(c, row, at, n, out) : 0;
}

static const struct ia_enc_kernels ia_enc_kernels_avx2 = {"avx2", ia_enc_put_lane_avx2};
#endif

#define IA_ENC_KERNELS 3

/* The kernels that this processor can run, the best first, behind them NULL. */
static inline void ia_enc_kernels_here(const struct ia_enc_kernels *found[IA_ENC_KERNELS + 1])
{
    int n = 0;
#ifdef IA_X86
    if (ia_has_avx2()) found[n++] = &ia_enc_kernels_avx2;
    if (ia_has_sse41()) found[n++] = &ia_enc_kernels_sse41;
#endif
    found[n++] = &ia_enc_kernels_plain;
    found[n] = NULL;
}

#endif
