/* INTERVAL packing (TYPES section 7): the fields of the qualifier as base-100 pairs, the first one as long as its
 * declared precision, a negative value complemented over the whole width.  Normalised like DECIMAL and DATETIME: no
 * leading zero pairs, zero is 80 00 ..
 *
 * Nothing is lost here: a value with more digits than the first field, or with parts below the last one, is an error.
 * No Python, no allocation; a field may write up to IA_ENC_SLACK bytes past its end, as in encode_decimal.h. */
#ifndef INFORMIX_ARROW_ENCODE_INTERVAL_H
#define INFORMIX_ARROW_ENCODE_INTERVAL_H

#include <stdint.h>
#include <string.h>

#include "encode_datetime.h"
#include "encode_decimal.h"
#include "encode_status.h"

#define IA_FIELD_MONTH 2
#define IA_FIELD_DAY 4
#define IA_FIELD_SECOND 10
#define IA_FIELD_FRACTION 12

/* Take the encoded length apart.  Returns 0, or -1 when it is no INTERVAL qualifier. */
static inline int ia_interval_parse(struct ia_qualifier *q, int32_t encoded)
{
    const int32_t digits = encoded >> 8;
    q->start = (encoded >> 4) & 15;
    q->end = encoded & 15;
    if (encoded < 0 || encoded > 0xffff || (q->start & 1) || q->start > IA_FIELD_FRACTION) return -1;
    if (q->end <= IA_FIELD_SECOND ? (q->end & 1) || q->end < q->start : 0) return -1;
    if (q->start <= IA_FIELD_MONTH && q->end > IA_FIELD_MONTH) return -1; /* the two classes never mix */
    q->fraction = q->end > IA_FIELD_SECOND ? q->end - IA_FIELD_SECOND : 0;
    q->leading = q->start == IA_FIELD_FRACTION ? 0 : digits - (q->end - q->start);
    if (q->start == IA_FIELD_FRACTION ? digits != q->fraction : q->leading < 1 || q->leading > 9) return -1;
    const int32_t last = q->end < IA_FIELD_SECOND ? q->end : IA_FIELD_SECOND;
    const int32_t whole = q->start == IA_FIELD_FRACTION ? 0 : (q->leading + 1) / 2 + (last - q->start) / 2;
    q->exponent = whole + (IA_FIELD_SECOND - last) / 2;
    q->width = 1 + whole + (q->fraction + 1) / 2;
    ia_qualifier_grain(q);
    return 0;
}

static inline int ia_interval_of_months(const struct ia_qualifier *q)
{
    return q->end <= IA_FIELD_MONTH;
}

/* Store the first field, the pairs behind it, the first of them in the lowest byte, and the sign. */
static inline int ia_pack_interval(uint8_t *out, const struct ia_qualifier *q, uint64_t first, uint64_t behind, int negative)
{
    static const uint64_t limit[10] = {1,       10,       100,       1000,       10000,
                                       100000,  1000000,  10000000,  100000000,  1000000000};
    const int wide = (q->leading + 1) / 2; /* at most 5, and 6 pairs behind them */
    if (first >= limit[q->leading]) return IA_ENC_LEADING;
    const uint64_t leading = wide ? ia_eight_pairs(first) >> 8 * (8 - wide) : 0;
    const unsigned __int128 pairs = leading | (unsigned __int128)behind << 8 * wide;
    if (pairs == 0) {
        memset(out, 0, 16);
        out[0] = 0x80;
        return IA_ENC_OK;
    }
    return ia_pack_sixteen(out, q->width, (uint64_t)pairs, (uint64_t)(pairs >> 64), q->exponent, negative);
}

/* The month class: YEAR TO YEAR, YEAR TO MONTH, MONTH TO MONTH. */
static inline int ia_pack_months(uint8_t *out, const struct ia_qualifier *q, uint64_t months, int negative)
{
    const uint64_t month = months % 12;
    if (q->start == IA_FIELD_MONTH) return ia_pack_interval(out, q, months, 0, negative);
    if (q->end < IA_FIELD_MONTH && month != 0) return IA_ENC_FINER;
    return ia_pack_interval(out, q, months / 12, month, negative);
}

/* The other class: any stretch of DAY, HOUR, MINUTE, SECOND, FRACTION. */
static inline int ia_pack_duration(uint8_t *out, const struct ia_qualifier *q, uint64_t seconds, uint32_t nanos,
                                   int negative)
{
    uint64_t first = 0, behind = 0;
    int fields = 0; /* behind the first, down to SECOND */
    if (nanos != 0) {
        if (q->inexact) seconds += (uint64_t)ia_cut_nanos(q, &nanos);
        if (nanos % q->grain != 0) return IA_ENC_FINER_DIGITS;
    }
    if (q->start == IA_FIELD_FRACTION) {
        if (seconds != 0) return IA_ENC_LEADING;
    } else {
        const int missing = (q->start - IA_FIELD_DAY) / 2; /* fields before the first, which takes what they would have */
        const uint32_t of_day = (uint32_t)(seconds % 86400);
        first = missing == 0 ? seconds / 86400 : missing == 1 ? seconds / 3600 : missing == 2 ? seconds / 60 : seconds;
        behind = (of_day / 3600 | of_day / 60 % 60 << 8 | of_day % 60 << 16) >> 8 * missing;
        fields = ((q->end < IA_FIELD_SECOND ? q->end : IA_FIELD_SECOND) - q->start) / 2;
        if (behind >> 8 * fields != 0) return IA_ENC_FINER;
    }
    const uint64_t fraction = nanos / 10000; /* five digits: no grain is finer */
    behind |= (fraction / 1000 | fraction / 10 % 100 << 8 | fraction % 10 * 10 << 16) << 8 * fields;
    return ia_pack_interval(out, q, first, behind, negative);
}

/* Ticks of `per_second`, as Arrow's duration counts them. */
static inline int ia_pack_ticks(uint8_t *out, const struct ia_qualifier *q, int64_t ticks, int64_t per_second)
{
    const uint64_t v = ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
    const uint64_t rest = v % (uint64_t)per_second;
    return ia_pack_duration(out, q, v / (uint64_t)per_second,
                            (uint32_t)(rest * (uint64_t)(IA_NANOS_PER_SECOND / per_second)), ticks < 0);
}

/* Arrow's month_day_nano: int32 months, int32 days, int64 nanoseconds.  A day is 24 hours, as it is in Informix's
 * class, so that days and nanoseconds of different signs add up; months go with nothing else. */
static inline int ia_pack_month_day_nano(uint8_t *out, const struct ia_qualifier *q, const uint8_t *value)
{
    int32_t months, days;
    int64_t nanos;
    memcpy(&months, value, 4);
    memcpy(&days, value + 4, 4);
    memcpy(&nanos, value + 8, 8);
    if (ia_interval_of_months(q)) {
        if (days != 0 || nanos != 0) return IA_ENC_CLASS;
        return ia_pack_months(out, q, months < 0 ? 0 - (uint64_t)months : (uint64_t)months, months < 0);
    }
    if (months != 0) return IA_ENC_CLASS;
    int64_t seconds = (int64_t)days * 86400 + nanos / IA_NANOS_PER_SECOND;
    int64_t rest = nanos % IA_NANOS_PER_SECOND;
    if (seconds > 0 && rest < 0) { seconds--; rest += IA_NANOS_PER_SECOND; }
    if (seconds < 0 && rest > 0) { seconds++; rest -= IA_NANOS_PER_SECOND; }
    const int negative = seconds < 0 || rest < 0;
    return ia_pack_duration(out, q, (uint64_t)(negative ? -seconds : seconds), (uint32_t)(negative ? -rest : rest),
                            negative);
}

#endif
