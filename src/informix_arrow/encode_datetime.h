/* DATETIME packing (TYPES section 6): the fields of the qualifier as base-100 pairs, YYYY MM DD HH MI SS FF FF F0,
 * with the exponent byte of a decimal whose unit is seconds.  Leading zero pairs are dropped and the exponent is
 * lowered with them (the normalised form of real servers); all zeros are 80 00 ..
 *
 * A DATETIME never loses anything here: parts finer than the qualifier are an error.  No Python, no allocation; a
 * field may scribble up to IA_ENC_SLACK bytes past its end, as in encode_decimal.h. */
#ifndef INFORMIX_ARROW_ENCODE_DATETIME_H
#define INFORMIX_ARROW_ENCODE_DATETIME_H

#include "encode_decimal.h"

#define IA_DAY_MIN (-719162)   /* 0001-01-01, days from 1970-01-01 */
#define IA_DAY_MAX 2932896     /* 9999-12-31 */
#define IA_DAY_OF_DATE0 25568  /* Informix's day 0 is 1899-12-31 */
#define IA_NANOS_PER_SECOND 1000000000

/* A qualifier taken apart; fields are numbered YEAR 0, MONTH 2, .. SECOND 10, FRACTION 12, ends FRACTION(n) 10 + n. */
struct ia_qualifier {
    int32_t start;
    int32_t end;
    int32_t fraction;   /* digits of the fraction, 0..5 */
    int32_t exponent;   /* E with every pair present */
    int32_t width;      /* bytes of the field */
};

struct ia_datetime {
    int32_t year, month, day, hour, minute, second;
    int32_t nanos;
};

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
    return 0;
}

static inline void ia_civil(int32_t day, struct ia_datetime *t)
{
    /* Days to the proleptic Gregorian calendar, years that begin in March. */
    const uint32_t z = (uint32_t)(day + 719468); /* from 0000-03-01; positive in our range */
    const uint32_t era = z / 146097;
    const uint32_t doe = z - era * 146097;
    const uint32_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    const uint32_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    const uint32_t mp = (5 * doy + 2) / 153;
    t->day = (int32_t)(doy - (153 * mp + 2) / 5 + 1);
    t->month = (int32_t)(mp < 10 ? mp + 3 : mp - 9);
    t->year = (int32_t)(yoe + era * 400 + (t->month <= 2));
}

static inline int ia_days_in_month(int32_t year, int32_t month)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Write the field from parts that are already in range; what lies outside the qualifier must be at its minimum. */
static inline int ia_pack_datetime(uint8_t *out, const struct ia_qualifier *q, const struct ia_datetime *t)
{
    static const int32_t unit[6] = {0, 100000000, 10000000, 1000000, 100000, 10000};
    uint8_t pairs[48] = {0};
    int n = 0;
    int32_t fraction = t->nanos;

    if (q->start == 0) {
        pairs[0] = (uint8_t)(t->year / 100);
        pairs[1] = (uint8_t)(t->year % 100);
        n = 2;
    }
    const int32_t field[6] = {0, t->month, t->day, t->hour, t->minute, t->second};
    const int32_t last = q->end < 10 ? q->end : 10;
    for (int32_t f = q->start ? q->start : 2; f <= last; f += 2) pairs[n++] = (uint8_t)field[f / 2];
    if (q->end < 10) {
        if (q->end < 2 && t->month > 1) return IA_ENC_FINER;
        if (q->end < 4 && t->day > 1) return IA_ENC_FINER;
        for (int32_t f = q->end < 6 ? 6 : q->end + 2; f <= 10; f += 2)
            if (field[f / 2] != 0) return IA_ENC_FINER;
    }
    if (q->fraction > 0) {
        const int32_t digits = fraction / unit[q->fraction];
        fraction -= digits * unit[q->fraction];
        const int32_t even = (q->fraction & 1) ? digits * 10 : digits;
        const int m = (q->fraction + 1) / 2;
        (void)ia_pairs_back(pairs + n + m, (uint64_t)even, m);
        n += m;
    }
    if (fraction != 0) return IA_ENC_FINER;

    int zeros = 0;
    while (zeros < n && pairs[zeros] == 0) zeros++;
    out[0] = zeros == n ? 0x80 : (uint8_t)(0xc0 + q->exponent - zeros);
    memcpy(out + 1, pairs + zeros, 16); /* the zero tail is the padding on the right; the rest lands in the slack */
    return IA_ENC_OK;
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
static inline int ia_pack_timestamp(uint8_t *out, const struct ia_qualifier *q, int64_t ticks, int64_t per_second)
{
    struct ia_datetime t;
    int64_t seconds = ticks / per_second;
    int64_t rest = ticks % per_second;
    if (rest < 0) { rest += per_second; seconds--; }
    int64_t day = seconds / 86400;
    int64_t of_day = seconds % 86400;
    if (of_day < 0) { of_day += 86400; day--; }
    if (day < IA_DAY_MIN || day > IA_DAY_MAX) return IA_ENC_DATE_RANGE;
    ia_civil((int32_t)day, &t);
    ia_time_of_day((int32_t)of_day, &t);
    t.nanos = (int32_t)(rest * (IA_NANOS_PER_SECOND / per_second));
    return ia_pack_datetime(out, q, &t);
}

static inline int ia_pack_time(uint8_t *out, const struct ia_qualifier *q, int64_t ticks, int64_t per_second)
{
    struct ia_datetime t = {0};
    if (ticks < 0 || ticks >= 86400 * per_second) return IA_ENC_TIME_RANGE;
    ia_time_of_day((int32_t)(ticks / per_second), &t);
    t.nanos = (int32_t)(ticks % per_second * (IA_NANOS_PER_SECOND / per_second));
    return ia_pack_datetime(out, q, &t);
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
