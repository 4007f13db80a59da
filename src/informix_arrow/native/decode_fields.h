/* What DATETIME and INTERVAL have in common: a qualifier, and base-100 pairs that are its fields (TYPES sections 6, 7).
 *
 * The exponent says where the pairs stand: E of them down to SECOND, whatever the qualifier's first and last field are. So
 * a value is brought into place by one shift, with its leading zero pairs or without them:
 *
 *     whole       8 bytes   [DAY or year pairs ..] HOUR MINUTE SECOND      (years and months: .. YEAR YEAR MONTH)
 *     fraction    3 bytes   the pairs behind SECOND
 *
 * and all fields are compared with their greatest values in one addition. What is wrong with a value that does not pass is
 * found out by slower code, which words the error. */
#ifndef INFORMIX_ARROW_DECODE_FIELDS_H
#define INFORMIX_ARROW_DECODE_FIELDS_H

#include <stdint.h>
#include <string.h>

#include "base100.h"
#include "decode_value.h"
#include "wire_bytes.h"

/* Field codes of a qualifier (TYPES section 6); ends 11..15 are FRACTION(1..5). */
enum { IA_YEAR = 0, IA_MONTH = 2, IA_DAY = 4, IA_HOUR = 6, IA_MINUTE = 8, IA_SECOND = 10, IA_FRACTION = 12 };

#define IA_DATETIME_MAX_PAIRS 10 /* YEAR TO FRACTION(5) */
#define IA_INTERVAL_MAX_PAIRS 11 /* DAY(9) TO FRACTION(5) */

struct ia_qualifier {
    int start, end;
    int pairs;    /* base-100 digits of the whole value */
    int exponent; /* the exponent of a value whose first pair is not dropped */
    int fraction; /* fraction digits, 0..5 */
    int leading;  /* INTERVAL: digits of the first field */
    int64_t unit; /* TIMESTAMP, TIME: Arrow units in a second; INTERVAL: seconds or months in one of the first field */

    /* For ia_align: */
    int below;            /* pairs between the last of `whole` and the point of the exponent: 4 if that is MONTH */
    int after;            /* bits of `whole` behind the first field */
    uint64_t used[2];     /* of 16 bytes behind the first one, those that belong to the value */
    uint64_t headroom;    /* per byte of `whole`: 127 less the greatest value allowed */
    uint32_t no_fraction; /* bits of `fraction` that must be 0 */
    int odd;              /* shift of the fraction's last pair if that holds one digit only, else -1 */

    /* For ia_whole_moment: */
    int full;               /* DATETIME from YEAR or HOUR: first byte of a value without dropped pairs; else -1 */
    uint64_t full_headroom; /* per byte of its first 8 pairs: 127 less the greatest value allowed */
};

/* Take an encoded DATETIME qualifier apart and check the width that goes with it; 0, or -1 if they do not fit each
 * other. Only ia_fields_prepare makes it ready for ia_align. */
static inline int ia_qualifier_from(int32_t encoded, int32_t width, struct ia_qualifier *q)
{
    q->start = (encoded >> 4) & 15;
    q->end = encoded & 15;
    const int digits = (q->start == IA_YEAR ? 4 : 2) + q->end - q->start;
    if (encoded < 0 || encoded >> 8 != digits || q->start % 2 || q->start > IA_FRACTION)
        return -1;
    if (q->end < q->start ? !(q->start == IA_FRACTION && q->end == 11) : (q->end <= IA_SECOND && q->end % 2))
        return -1;
    q->leading = q->start == IA_YEAR ? 4 : 2;
    q->fraction = q->end > IA_SECOND ? q->end - IA_SECOND : 0;
    const int last = q->fraction ? IA_SECOND : q->end;
    const int whole = q->start == IA_FRACTION ? 0 : (last - q->start) / 2 + 1 + (q->start == IA_YEAR);
    q->pairs = whole + (q->fraction + 1) / 2;
    q->exponent = whole + (IA_SECOND - last) / 2;
    q->unit = q->fraction == 0 ? 1 : q->fraction <= 3 ? 1000 : 1000000;
    return width == q->pairs + 1 && q->pairs <= IA_DATETIME_MAX_PAIRS ? 0 : -1;
}

/* The same for INTERVAL, where the first field has 1 to 9 digits and years and months go with nothing else. */
static inline int ia_interval_qualifier_from(int32_t encoded, int32_t width, struct ia_qualifier *q)
{
    static const int32_t units[] = {[IA_YEAR] = 12,   [IA_MONTH] = 1,   [IA_DAY] = 86400,
                                    [IA_HOUR] = 3600, [IA_MINUTE] = 60, [IA_SECOND] = 1, [IA_FRACTION] = 0};
    q->start = (encoded >> 4) & 15;
    q->end = encoded & 15;
    const int digits = encoded >> 8;
    if (encoded < 0 || encoded > 0xffff || q->start % 2 || q->start > IA_FRACTION)
        return -1;
    if (q->end <= IA_SECOND ? q->end % 2 || q->end < q->start : 0)
        return -1;
    if (q->start <= IA_MONTH && q->end > IA_MONTH)
        return -1;
    q->fraction = q->end > IA_SECOND ? q->end - IA_SECOND : 0;
    q->leading = q->start == IA_FRACTION ? 0 : digits - (q->end - q->start);
    if (q->start == IA_FRACTION ? digits != q->fraction : q->leading < 1 || q->leading > 9)
        return -1;
    const int last = q->fraction ? IA_SECOND : q->end;
    const int whole = q->start == IA_FRACTION ? 0 : (q->leading + 1) / 2 + (last - q->start) / 2;
    q->pairs = whole + (q->fraction + 1) / 2;
    q->exponent = whole + (IA_SECOND - last) / 2;
    q->unit = units[q->start];
    return width == q->pairs + 1 ? 0 : -1;
}

/* Whether an INTERVAL counts months, not days and seconds. */
static inline int ia_counts_months(const struct ia_qualifier *q)
{
    return q->end <= IA_MONTH;
}

/* The greatest value of a field that is not the first of an INTERVAL. */
static inline int ia_greatest(int field, int interval)
{
    static const uint8_t greatest[] = {[IA_YEAR] = 99,    [IA_MONTH] = 12,  [IA_DAY] = 31,
                                       [IA_HOUR] = 23, [IA_MINUTE] = 59, [IA_SECOND] = 59};
    return interval && field == IA_MONTH ? 11 : greatest[field];
}

/* Work out what ia_align needs from start, end, pairs, fraction and leading. */
static inline void ia_fields_prepare(struct ia_qualifier *q, int interval)
{
    const int lowest = interval && ia_counts_months(q) ? IA_MONTH : IA_SECOND; /* the last byte of `whole` */
    const int last = q->end < lowest ? q->end : lowest;
    q->below = (IA_SECOND - lowest) / 2;
    q->after = q->start < lowest ? (lowest - q->start) / 2 * 8 : 0;
    q->used[0] = q->pairs >= 8 ? ~0ull : ~0ull << (64 - 8 * q->pairs);
    q->used[1] = q->pairs <= 8 ? 0 : ~0ull << (128 - 8 * q->pairs);

    uint64_t most = 0; /* the greatest value of every byte; 0 for those that the qualifier has not got */
    for (int field = q->start; field <= last; field += 2) {
        const int shift = (lowest - field) / 2 * 8;
        if (field != q->start) {
            most |= (uint64_t)ia_greatest(field, interval) << shift;
        } else if (interval || field == IA_YEAR) {
            for (int i = 0; i < q->leading / 2; i++)
                most |= 99ull << (shift + 8 * i);
            if (q->leading % 2)
                most |= 9ull << (shift + 8 * (q->leading / 2));
        } else {
            most |= (uint64_t)ia_greatest(field, interval) << shift;
        }
    }
    q->headroom = 0x7f7f7f7f7f7f7f7full - most;
    q->full = -1;
    if (!interval && (q->start == IA_YEAR || q->start == IA_HOUR)) {
        int shift = 56;
        q->full = 0xc0 + q->exponent;
        most = 0;
        for (int field = q->start; field <= last; field += 2, shift -= 8) {
            most |= (uint64_t)ia_greatest(field, 0) << shift;
            if (field == IA_YEAR)
                most |= 99ull << (shift -= 8);
        }
        for (int digits = q->fraction; digits > 0 && shift >= 0; digits -= 2, shift -= 8)
            most |= 99ull << shift;
        q->full_headroom = 0x7f7f7f7f7f7f7f7full - most;
    }
    q->no_fraction = (1u << (24 - 8 * ((q->fraction + 1) / 2))) - 1;
    q->odd = q->fraction % 2 ? 24 - 8 * ((q->fraction + 1) / 2) : -1;
}

/* The fields of one value in their places: see above. */
struct ia_fields {
    uint64_t whole;
    uint32_t fraction;
    int negative;
};

enum { IA_NOT_PLAIN = -100 };

/* Bring a value's pairs into place and compare its fields with their greatest values. `room` is how many bytes may be
 * read from p on. IA_VALUE, IA_NULL, or IA_NOT_PLAIN if anything at all is wrong with the value. */
static inline __attribute__((always_inline)) int ia_align(const uint8_t *p, const struct ia_qualifier *q, int64_t room,
                                                          struct ia_fields *f)
{
    uint64_t high, low;
    if (__builtin_expect(room >= 17, 1)) {
        high = ia_load_be64(p + 1) & q->used[0];
        low = ia_load_be64(p + 9) & q->used[1];
    } else {
        uint8_t copy[16] = {0};
        memcpy(copy, p + 1, (size_t)q->pairs);
        high = ia_load_be64(copy);
        low = ia_load_be64(copy + 8);
    }
    if (ia_b100_bad8(high) | ia_b100_bad8(low))
        return IA_NOT_PLAIN;
    ia_u128 pairs = (ia_u128)high << 64 | low;
    f->negative = p[0] < 0x80;
    if (f->negative) {
        if (pairs == 0)
            return p[0] == 0 ? IA_NULL : IA_NOT_PLAIN;
        /* Undo the complement: 99 - d, in the last pair that is not 0 100 - d, behind it nothing. */
        const int behind = (low ? __builtin_ctzll(low) : 64 + __builtin_ctzll(high)) & ~7;
        const ia_u128 nines = ((ia_u128)0x6363636363636363ull << 64 | 0x6363636363636363ull) >> behind << behind;
        pairs = (nines & ((ia_u128)q->used[0] << 64 | q->used[1])) - pairs + ((ia_u128)1 << behind);
    }
    const int exponent = ia_b100_exponent(p);
    const int count = exponent - q->below + 3; /* pairs that come to stand in `whole` and `fraction` */
    if (__builtin_expect(exponent > q->exponent || count < 1, 0)) {
        if (exponent > q->exponent || pairs)
            return IA_NOT_PLAIN;
        f->whole = f->fraction = 0; /* 80 00 ..: zero, whose exponent is -64 */
        return IA_VALUE;
    }
    if (pairs << 8 * count)
        return IA_NOT_PLAIN;
    pairs >>= 128 - 8 * count;
    f->whole = (uint64_t)(pairs >> 24);
    f->fraction = (uint32_t)pairs & 0xffffff;
    uint64_t wrong = (f->whole | (f->whole + q->headroom)) & 0x8080808080808080ull;
    wrong |= f->fraction & q->no_fraction;
    if (q->odd >= 0)
        wrong |= (f->fraction >> q->odd & 255) % 10;
    return wrong ? IA_NOT_PLAIN : IA_VALUE;
}

/* The pairs behind SECOND in microseconds: 10000, 100 and 1 of each. */
static inline int ia_micros(uint32_t fraction)
{
    return (int)((fraction >> 16) * 10000 + (fraction >> 8 & 255) * 100 + (fraction & 255));
}

#endif
