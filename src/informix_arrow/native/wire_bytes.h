/* Byte order, in one place: bytes of the wire and of Arrow's buffers to numbers and back.
 *
 * Every integer on the SQLI wire is big-endian (SQLI section 1). Arrow's numbers have the byte order of the machine. Its bitmaps
 * are little-endian words, and so are the words in which texts and packed pairs are examined. None of these functions checks a
 * length: the caller has checked that the bytes exist. */
#ifndef INFORMIX_ARROW_WIRE_BYTES_H
#define INFORMIX_ARROW_WIRE_BYTES_H

#include <stdint.h>
#include <string.h>

/* IA_LOW, IA_HIGH: which of the two words of a decimal128 is the low one. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { IA_LOW = 0, IA_HIGH = 1 };
#define IA_BE(bits, v) __builtin_bswap##bits(v)
#define IA_LE(bits, v) (v)
#define IA_LE128(v) (v)
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { IA_LOW = 1, IA_HIGH = 0 };
#define IA_BE(bits, v) (v)
#define IA_LE(bits, v) __builtin_bswap##bits(v)
#define IA_LE128(v) ((unsigned __int128)__builtin_bswap64((uint64_t)(v)) << 64 | __builtin_bswap64((uint64_t)((v) >> 64)))
#else
#error "informix_arrow's codecs know little-endian and big-endian machines only"
#endif

/* Numbers as they lie, in the byte order of the wire. */
static inline uint16_t ia_load_raw16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t ia_load_raw32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t ia_load_raw64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint16_t ia_load_be16(const uint8_t *p)
{
    return IA_BE(16, ia_load_raw16(p));
}

static inline uint32_t ia_load_be32(const uint8_t *p)
{
    return IA_BE(32, ia_load_raw32(p));
}

static inline uint64_t ia_load_be64(const uint8_t *p)
{
    return IA_BE(64, ia_load_raw64(p));
}

static inline void ia_store_be16(uint8_t *p, uint16_t v)
{
    v = IA_BE(16, v);
    memcpy(p, &v, sizeof v);
}

static inline void ia_store_be32(uint8_t *p, uint32_t v)
{
    v = IA_BE(32, v);
    memcpy(p, &v, sizeof v);
}

static inline void ia_store_be64(uint8_t *p, uint64_t v)
{
    v = IA_BE(64, v);
    memcpy(p, &v, sizeof v);
}

/* A word whose first byte in memory is the lowest of v, and back. */
static inline uint64_t ia_le64(uint64_t v)
{
    return IA_LE(64, v);
}

static inline uint64_t ia_load_le64(const uint8_t *p)
{
    return ia_le64(ia_load_raw64(p));
}

static inline void ia_store_le64(uint8_t *p, uint64_t v)
{
    v = ia_le64(v);
    memcpy(p, &v, sizeof v);
}

#endif
