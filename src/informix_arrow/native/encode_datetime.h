/* DATETIME packing (TYPES section 6): the fields of the qualifier as base-100 pairs, YYYY MM DD HH MI SS FF FF F0,
 * with the exponent byte of a decimal whose unit is seconds.  Leading zero pairs are dropped and the exponent is
 * lowered with them (the normalised form of real servers); all zeros are 80 00 ..
 *
 * A DATETIME never loses anything here: parts finer than the qualifier are an error.  No Python, no allocation; a
 * field may write up to IA_ENC_SLACK bytes past its end, as in encode_decimal.h. */
#ifndef INFORMIX_ARROW_ENCODE_DATETIME_H
#define INFORMIX_ARROW_ENCODE_DATETIME_H

#include <stdint.h>
#include <string.h>

#include "encode_status.h"
#include "wire_bytes.h"

#define IA_DAY_MIN (-719162)   /* 0001-01-01, days from 1970-01-01 */
#define IA_DAY_MAX 2932896     /* 9999-12-31 */
#define IA_DAY_OF_DATE0 25568  /* Informix's day 0 is 1899-12-31 */
#define IA_NANOS_PER_SECOND 1000000000

/* A qualifier taken apart; fields are numbered YEAR 0, MONTH 2, .. SECOND 10, FRACTION 12, ends FRACTION(n) 10 + n. */
struct ia_qualifier {
    int32_t start;
    int32_t end;
    int32_t fraction;   /* digits of the fraction, 0..5 */
    int32_t leading;    /* INTERVAL: digits of the first field, 1..9; 0 when that is FRACTION */
    int32_t inexact;    /* enum ia_inexact: what becomes of more digits of a second */
    uint32_t grain;     /* nanoseconds of the last digit of the fraction, of a second without one */
    int32_t exponent;   /* E with every pair present */
    int32_t width;      /* bytes of the field */
};

struct ia_datetime {
    int32_t year, month, day, hour, minute, second;
    int32_t nanos;
};

static inline void ia_qualifier_grain(struct ia_qualifier *q)
{
    q->grain = IA_NANOS_PER_SECOND;
    for (int32_t k = 0; k < q->fraction; k++) q->grain /= 10;
}

/* Take the encoded length apart.  Returns 0, or -1 when it is no DATETIME qualifier. */
static inline int ia_qualifier_parse(struct ia_qualifier *q, int32_t encoded)
{
    const int32_t digits = encoded >> 8;
    q->start = (encoded >> 4) & 15;
    q->end = encoded & 15;
    if (encoded < 0 || encoded > 0xffff || (q->start & 1) || q->start > 12) return -1;
    if (q->end <= 10 ? (q->end & 1) || q->end < q->start : 0) return -1;
    if (digits != (q->start == 0 ? 4 : 2) + q->end - q->start) return -1;
    q->fraction = q->end > 10 ? q->end - 10 : 0;
    const int32_t last = q->end < 10 ? q->end : 10;
    const int32_t whole = q->start > 10 ? 0 : (last - q->start) / 2 + 1 + (q->start == 0);
    q->exponent = whole + (10 - last) / 2;
    q->width = 1 + whole + (q->fraction + 1) / 2;
    q->leading = q->start == 0 ? 4 : 2;
    ia_qualifier_grain(q);
    return 0;
}

/* Digits of a second that the qualifier has no room for, rounded or cut away.  Returns the second that rounding made
 * full: 0 or 1. */
static inline int32_t ia_cut_nanos(const struct ia_qualifier *q, uint32_t *nanos)
{
    const uint32_t lost = *nanos % q->grain;
    if (lost == 0) return 0;
    *nanos -= lost;
    if (q->inexact != IA_ROUND || lost < q->grain - lost) return 0;
    *nanos += q->grain;
    if (*nanos < IA_NANOS_PER_SECOND) return 0;
    *nanos = 0;
    return 1;
}

/* Why a value is finer than its qualifier: by digits of a second alone, perhaps, which may be rounded. */
static inline int ia_finer(const struct ia_qualifier *q, uint32_t nanos)
{
    return nanos % q->grain ? IA_ENC_FINER_DIGITS : IA_ENC_FINER;
}

/* Days from 1970-01-01 to the proleptic Gregorian calendar, by C. Neri and L. Schneider, "Euclidean affine functions
 * and their application to calendar algorithms" (2022): years that begin in March, quotients by multiplication. */
static inline void ia_civil(int32_t day, struct ia_datetime *t)
{
    const uint32_t n = 4 * (uint32_t)(day + 719468) + 3; /* from 0000-03-01; positive in our range */
    const uint32_t century = n / 146097;
    const uint32_t of_century = n % 146097 / 4;
    const uint64_t p = (uint64_t)2939745 * (4 * of_century + 3);
    const uint32_t year_of_century = (uint32_t)(p >> 32);
    const uint32_t of_year = (uint32_t)p / 2939745 / 4;
    const uint32_t m = 2141 * of_year + 197913;
    const uint32_t late = of_year >= 306; /* January and February belong to the next year */
    t->day = (int32_t)((m & 0xffff) / 2141 + 1);
    t->month = (int32_t)((m >> 16) - 12 * late);
    t->year = (int32_t)(100 * century + year_of_century + late);
}

static inline int ia_days_in_month(int32_t year, int32_t month)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Write the field from parts that are already in range; what lies outside the qualifier must be at its minimum.
 *
 * The pairs of every qualifier are a stretch of YY YY MM DD HH MI SS FF FF F0, held here as one number, the first
 * pair in its lowest byte (see ia_eight_pairs). */
static inline __attribute__((always_inline)) int ia_pack_fields(uint8_t *out, const struct ia_qualifier *q,
                                                                const struct ia_datetime *t)
{
    const uint32_t year = (uint32_t)t->year, nanos = (uint32_t)t->nanos;
    const uint32_t fraction = nanos / 10000; /* five digits */
    const int begin = q->start == 0 ? 0 : q->start / 2 + 1;
    const int n = q->width - 1;
    const uint64_t low = year / 100 | (uint64_t)(year % 100) << 8 | (uint64_t)t->month << 16 | (uint64_t)t->day << 24 |
                         (uint64_t)t->hour << 32 | (uint64_t)t->minute << 40 | (uint64_t)t->second << 48 |
                         (uint64_t)(fraction / 1000) << 56;
    const uint64_t high = fraction / 10 % 100 | (uint64_t)(fraction % 10 * 10) << 8;
    unsigned __int128 pairs = ((unsigned __int128)high << 64 | low) >> 8 * begin;

    if (nanos != fraction * 10000) return IA_ENC_FINER_DIGITS;
    if (q->start == 0 && q->end >= 10 && year >= 100) { /* nearly all: every pair in its place */
        if (nanos != 0 && nanos % q->grain != 0) return IA_ENC_FINER_DIGITS;
        out[0] = 0xc7;
        ia_store_le64(out + 1, low);
        ia_store_le64(out + 9, high);
        return IA_ENC_OK;
    }
    if (nanos == 0 && n <= 8) { /* whole seconds: no pair behind `low` */
        const uint64_t stretch = low >> 8 * begin;
        uint64_t outside = n < 8 ? stretch >> 8 * n : 0;
        if (outside != 0 && q->end < 2 && t->month == 1) outside -= UINT64_C(1) << 8 * (2 - begin - n);
        if (outside != 0 && q->end < 4 && t->day == 1) outside -= UINT64_C(1) << 8 * (3 - begin - n);
        if (outside != 0) return IA_ENC_FINER;
        const uint64_t kept = n < 8 ? stretch & ((UINT64_C(1) << 8 * n) - 1) : stretch;
        const int zeros = kept ? __builtin_ctzll(kept) >> 3 : 0;
        out[0] = kept ? (uint8_t)(0xc0 + q->exponent - zeros) : 0x80;
        ia_store_le64(out + 1, kept >> 8 * zeros);
        ia_store_le64(out + 9, 0);
        return IA_ENC_OK;
    }
    unsigned __int128 rest = pairs >> 8 * n; /* behind the qualifier; months and days begin with 1 */
    if (rest != 0 && q->end < 2 && t->month == 1) rest -= (unsigned __int128)1 << 8 * (2 - begin - n);
    if (rest != 0 && q->end < 4 && t->day == 1) rest -= (unsigned __int128)1 << 8 * (3 - begin - n);
    if (rest != 0) return ia_finer(q, nanos);
    pairs &= ((unsigned __int128)1 << 8 * n) - 1;
    if ((q->fraction & 1) && (uint8_t)(pairs >> 8 * (n - 1)) % 10 != 0) return IA_ENC_FINER_DIGITS;

    if (pairs == 0) {
        out[0] = 0x80;
    } else { /* without leading zero pairs */
        int zeros = (uint64_t)pairs ? __builtin_ctzll((uint64_t)pairs) >> 3
                                    : 8 + (__builtin_ctzll((uint64_t)(pairs >> 64)) >> 3);
        pairs >>= 8 * zeros;
        out[0] = (uint8_t)(0xc0 + q->exponent - zeros);
    }
    pairs = IA_LE128(pairs);
    memcpy(out + 1, &pairs, 16); /* the zeros behind it are the padding on the right; the rest lands in the slack */
    return IA_ENC_OK;
}

/* The same, once for all that are not many. */
static __attribute__((noinline)) int ia_pack_datetime(uint8_t *out, const struct ia_qualifier *q,
                                                      const struct ia_datetime *t)
{
    return ia_pack_fields(out, q, t);
}

static inline int ia_pack_datetime_day(uint8_t *out, const struct ia_qualifier *q, int64_t day)
{
    struct ia_datetime t = {0};
    if (day < IA_DAY_MIN || day > IA_DAY_MAX) return IA_ENC_DATE_RANGE;
    ia_civil((int32_t)day, &t);
    return ia_pack_datetime(out, q, &t);
}

static inline void ia_time_of_day(int32_t seconds, struct ia_datetime *t)
{
    t->hour = seconds / 3600;
    t->minute = seconds / 60 % 60;
    t->second = seconds % 60;
}

/* `ticks` of `per_second` (1, 10^3, 10^6 or 10^9) since 1970-01-01 00:00:00, no zone. */
static inline __attribute__((always_inline)) int ia_pack_timestamp(uint8_t *out, const struct ia_qualifier *q,
                                                                   int64_t ticks, int64_t per_second)
{
    struct ia_datetime t;
    int64_t seconds = ticks / per_second;
    int64_t rest = ticks % per_second;
    if (rest < 0) { rest += per_second; seconds--; }
    uint32_t nanos = (uint32_t)(rest * (IA_NANOS_PER_SECOND / per_second));
    if (q->inexact && nanos != 0) seconds += ia_cut_nanos(q, &nanos);
    int64_t day = seconds / 86400;
    int64_t of_day = seconds % 86400;
    if (of_day < 0) { of_day += 86400; day--; }
    if (day < IA_DAY_MIN || day > IA_DAY_MAX) return IA_ENC_DATE_RANGE;
    ia_civil((int32_t)day, &t);
    ia_time_of_day((int32_t)of_day, &t);
    t.nanos = (int32_t)nanos;
    return ia_pack_fields(out, q, &t);
}

static inline __attribute__((always_inline)) int ia_pack_time(uint8_t *out, const struct ia_qualifier *q,
                                                              int64_t ticks, int64_t per_second)
{
    struct ia_datetime t = {0};
    if (ticks < 0 || ticks >= 86400 * per_second) return IA_ENC_TIME_RANGE;
    int32_t seconds = (int32_t)(ticks / per_second);
    uint32_t nanos = (uint32_t)(ticks % per_second * (IA_NANOS_PER_SECOND / per_second));
    if (q->inexact && nanos != 0) seconds += ia_cut_nanos(q, &nanos);
    if (seconds == 86400) return IA_ENC_TIME_RANGE;
    ia_time_of_day(seconds, &t);
    t.nanos = (int32_t)nanos;
    return ia_pack_fields(out, q, &t);
}

/* Text in Informix's literal form, cut to the qualifier: every field with all its digits, e.g. "12-25 08:05" for
 * MONTH TO MINUTE, "07.25" for SECOND TO FRACTION(2), ".123" for FRACTION TO FRACTION(3). */
static inline int ia_pack_datetime_text(uint8_t *out, const struct ia_qualifier *q, const uint8_t *s, size_t len)
{
    static const char before[6] = {0, '-', '-', ' ', ':', ':'};
    static const int32_t low[6] = {1, 1, 1, 0, 0, 0}, high[6] = {9999, 12, 31, 23, 59, 59};
    const uint8_t *const end = s + len;
    int32_t field[6] = {0};
    struct ia_datetime t = {0};

    for (int32_t f = q->start; f <= q->end && f <= 10; f += 2) {
        const int i = f / 2;
        int32_t v = 0;
        if (f != q->start && (s == end || *s++ != (uint8_t)before[i])) return IA_ENC_DATETIME_TEXT;
        for (int digits = i == 0 ? 4 : 2; digits > 0; digits--, s++) {
            if (s == end || *s < '0' || *s > '9') return IA_ENC_DATETIME_TEXT;
            v = v * 10 + (*s - '0');
        }
        if (v < low[i] || v > high[i]) return IA_ENC_DATETIME_TEXT;
        field[i] = v;
    }
    if (q->fraction > 0) {
        int32_t unit = IA_NANOS_PER_SECOND;
        if (s == end || *s++ != '.') return IA_ENC_DATETIME_TEXT;
        for (int digits = q->fraction; digits > 0; digits--, s++) {
            if (s == end || *s < '0' || *s > '9') return IA_ENC_DATETIME_TEXT;
            unit /= 10;
            t.nanos += (*s - '0') * unit;
        }
    }
    if (s != end) return IA_ENC_DATETIME_TEXT;
    /* Without a year February may have 29 days; without a month any day up to 31 stands. */
    if (field[1] != 0 && field[2] > ia_days_in_month(q->start == 0 ? field[0] : 2000, field[1]))
        return IA_ENC_DATETIME_TEXT;
    t.year = field[0], t.month = field[1], t.day = field[2];
    t.hour = field[3], t.minute = field[4], t.second = field[5];
    return ia_pack_datetime(out, q, &t);
}

#endif
