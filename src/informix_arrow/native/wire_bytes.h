/* Big-endian loads and stores. Every integer on the SQLI wire is big-endian (SQLI section 1).
 * None of them checks a length: the caller has proved that the bytes are there. */
#ifndef INFORMIX_ARROW_WIRE_BYTES_H
#define INFORMIX_ARROW_WIRE_BYTES_H

#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "informix_arrow's codecs are written for little-endian machines"
#endif

static inline uint16_t ia_load_be16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return __builtin_bswap16(v);
}

static inline uint32_t ia_load_be32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return __builtin_bswap32(v);
}

static inline uint64_t ia_load_be64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return __builtin_bswap64(v);
}

static inline void ia_store_be16(uint8_t *p, uint16_t v)
{
    v = __builtin_bswap16(v);
    memcpy(p, &v, sizeof v);
}

static inline void ia_store_be32(uint8_t *p, uint32_t v)
{
    v = __builtin_bswap32(v);
    memcpy(p, &v, sizeof v);
}

static inline void ia_store_be64(uint8_t *p, uint64_t v)
{
    v = __builtin_bswap64(v);
    memcpy(p, &v, sizeof v);
}

#endif
