/* Vectors of 16 bytes as GCC and clang know them on every processor: SSE2, NEON, or words that the compiler makes of them. */
#ifndef INFORMIX_ARROW_VECTORS_H
#define INFORMIX_ARROW_VECTORS_H

#include <stdint.h>
#include <string.h>

#include "wire_bytes.h"

typedef uint8_t ia_v16x8 __attribute__((vector_size(16)));
typedef uint16_t ia_v8x16 __attribute__((vector_size(16)));
typedef uint32_t ia_v4x32 __attribute__((vector_size(16)));
typedef uint64_t ia_v2x64 __attribute__((vector_size(16)));
typedef int32_t ia_v4x32s __attribute__((vector_size(16)));

/* Elements of a, and behind them of b, by number. */
#if defined(__clang__) || __GNUC__ >= 12
#define IA_SHUFFLE32(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define IA_SHUFFLE8(a, ...) __builtin_shufflevector(a, a, __VA_ARGS__)
#else
#define IA_SHUFFLE32(a, b, ...) __builtin_shuffle(a, b, (ia_v4x32){__VA_ARGS__})
#define IA_SHUFFLE8(a, ...) __builtin_shuffle(a, (ia_v16x8){__VA_ARGS__})
#endif

#define IA_VECTOR_INLINE static inline __attribute__((always_inline))

/* The bytes of each element in the order of the wire.  `bytes`: the processor moves bytes freely (SSSE3, NEON), else they
 * move by shifts. */
IA_VECTOR_INLINE ia_v8x16 ia_wire16(ia_v8x16 v)
{
    return IA_LOW ? v : (v << 8 | v >> 8);
}

IA_VECTOR_INLINE ia_v4x32 ia_wire32(ia_v4x32 v, int bytes)
{
    if (IA_LOW) return v;
    if (bytes) return (ia_v4x32)IA_SHUFFLE8((ia_v16x8)v, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    v = (ia_v4x32)ia_wire16((ia_v8x16)v);
    return v << 16 | v >> 16;
}

IA_VECTOR_INLINE ia_v2x64 ia_wire64(ia_v2x64 v, int bytes)
{
    if (IA_LOW) return v;
    if (bytes) return (ia_v2x64)IA_SHUFFLE8((ia_v16x8)v, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    v = (ia_v2x64)ia_wire32((ia_v4x32)v, 0);
    return v << 32 | v >> 32;
}

#endif
