/* DATETIME (TYPES section 6) to days, seconds and parts of seconds, and Informix's literal form. */
#ifndef INFORMIX_ARROW_DECODE_DATETIME_H
#define INFORMIX_ARROW_DECODE_DATETIME_H

#include <stdint.h>

#include "decode_fields.h"
#include "decode_value.h"

struct ia_moment {
    int year, month, day, hour, minute, second;
    int micros;
};

static inline int ia_days_in_month(int year, int month)
{
    static const uint8_t days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month] + (month == 2 && leap);
}

/* Days from 1970-01-01 in the proleptic Gregorian calendar: years begin in March, so that the leap day is the last. */
static inline int64_t ia_days_from_civil(int year, int month, int day)
{
    const int y = month <= 2 ? year - 1 : year;
    const int in_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return (int64_t)y * 365 + y / 4 - y / 100 + y / 400 + in_year - 719468;
}

#define IA_RANGE(name, value, low, high)                                                                              \
    if ((value) < (low) || (value) > (high))                                                                          \
        return IA_REFUSE(err, IA_DATA, "The " name " is %d, but must be %d to %d.", (value), (low), (high))

/* Unpack and check every field, one after the other; what is wrong is worded. Fields before `start` and after `end` get
 * the values of 1970-01-01 00:00:00. A leading zero pair may be dropped and the exponent lowered, or not: both forms
 * arrive (TYPES section 6). */
static __attribute__((noinline)) int ia_decode_moment(const uint8_t *p, const struct ia_qualifier *q, struct ia_moment *m,
                                   struct ia_error *err)
{
    uint8_t shifted[IA_DATETIME_MAX_PAIRS] = {0};
    const uint8_t *pair = p + 1;
    uint8_t greatest = 0;
    for (int i = 0; i < q->pairs; i++)
        greatest = pair[i] > greatest ? pair[i] : greatest;
    if (p[0] == 0 && greatest == 0)
        return IA_NULL;
    if (greatest > 99)
        return IA_REFUSE(err, IA_PROTOCOL, "A base-100 digit is greater than 99.");
    if (p[0] < 0x80)
        return IA_REFUSE(err, IA_PROTOCOL, "The DATETIME is negative.");
    const int exponent = (p[0] & 0x7f) - 64;
    const int drop = q->exponent - exponent; /* leading zero pairs that were left out */
    if (drop < 0)
        return IA_REFUSE(err, IA_PROTOCOL, "The exponent %d is greater than %d, the maximum of the qualifier.", exponent, q->exponent);
    if (drop > 0) {
        for (int i = 0; i < q->pairs; i++) {
            if (i + drop < q->pairs)
                shifted[i + drop] = pair[i];
            else if (pair[i])
                return IA_REFUSE(err, IA_DATA, "The value has digits after the last field of the qualifier.");
        }
        pair = shifted;
    }

    *m = (struct ia_moment){.year = 1970, .month = 1, .day = 1};
    const int last = q->fraction ? IA_SECOND : q->end;
    switch (q->start) { /* each field falls through to the next until the last */
    case IA_YEAR:
        m->year = pair[0] * 100 + pair[1];
        pair += 2;
        IA_RANGE("year", m->year, 1, 9999);
        if (last == IA_YEAR)
            break;
        /* fall through */
    case IA_MONTH:
        m->month = *pair++;
        IA_RANGE("month", m->month, 1, 12);
        if (last == IA_MONTH)
            break;
        /* fall through */
    case IA_DAY: {
        /* Without a year any day that the month can have; without a month any up to 31. */
        const int most = ia_days_in_month(q->start == IA_YEAR ? m->year : 2000, m->month);
        m->day = *pair++;
        IA_RANGE("day", m->day, 1, most);
        if (last == IA_DAY)
            break;
    }
        /* fall through */
    case IA_HOUR:
        m->hour = *pair++;
        IA_RANGE("hour", m->hour, 0, 23);
        if (last == IA_HOUR)
            break;
        /* fall through */
    case IA_MINUTE:
        m->minute = *pair++;
        IA_RANGE("minute", m->minute, 0, 59);
        if (last == IA_MINUTE)
            break;
        /* fall through */
    case IA_SECOND:
        m->second = *pair++;
        IA_RANGE("second", m->second, 0, 59);
        break;
    default: /* FRACTION TO FRACTION */
        break;
    }
    if (q->fraction) {
        static const int below_last[6] = {1000000, 100000, 10000, 1000, 100, 10}; /* micros of one unit of the last digit */
        static const int weight[3] = {10000, 100, 1};
        for (int i = 0; i < (q->fraction + 1) / 2; i++)
            m->micros += pair[i] * weight[i];
        if (m->micros % below_last[q->fraction])
            return IA_REFUSE(err, IA_DATA, "The value has more digits than FRACTION(%d).", q->fraction);
    }
    return IA_VALUE;
}

/* Days from 1970-01-01 of the four pairs of a date, the day in the lowest byte. IA_VALUE, or IA_NOT_PLAIN for a day that the
 * calendar has not got; pairs beyond 99 and months beyond 15 are the caller's to find. */
static inline __attribute__((always_inline)) int ia_quick_days(uint64_t pairs, int64_t *days)
{
    /* By [leap year][month]; month 0 and those behind 12 have no days. */
    static const uint8_t length[2][16] = {{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31},
                                          {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}};
    static const int16_t before[2][16] = {{0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334},
                                          {0, -1, 30, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}};
    const unsigned century = pairs >> 24 & 255, in_century = pairs >> 16 & 255, month = pairs >> 8 & 15, day = pairs & 255;
    const int leap = (in_century ? in_century : century) % 4 == 0;
    const int year = (int)(century * 100 + in_century);
    if (__builtin_expect(year == 0 || day - 1 >= length[leap][month], 0))
        return IA_NOT_PLAIN;
    /* Leap days up to the end of this year; the tables take this year's back before March. */
    const int leaps = (int)(century * 24 + in_century / 4 + century / 4);
    *days = year * 365 + leaps + before[leap][month] + (int)day - 719528;
    return IA_VALUE;
}

/* The same for a value with nothing wrong, in one go. `days` are those from 1970-01-01 if the qualifier begins with YEAR,
 * else 0; the date in *m is not filled in then. `room` is how many bytes may be read from p on. */
static inline __attribute__((always_inline)) int ia_quick_moment(const uint8_t *p, const struct ia_qualifier *q,
                                                                 int64_t room, struct ia_moment *m, int64_t *days)
{
    struct ia_fields f;
    const int rc = ia_align(p, q, room, &f);
    if (rc != IA_VALUE)
        return rc;
    if (f.negative)
        return IA_NOT_PLAIN;
    *days = 0;
    if (q->start == IA_YEAR && ia_quick_days(f.whole >> 24, days) != IA_VALUE)
        return IA_NOT_PLAIN;
    m->hour = f.whole >> 16 & 255;
    m->minute = f.whole >> 8 & 255;
    m->second = f.whole & 255;
    m->micros = ia_micros(f.fraction);
    return IA_VALUE;
}

/* Days from 1970-01-01, seconds of the day and microseconds of a value from YEAR or from HOUR on, none of whose pairs was
 * dropped: nearly every one. Its fields stand where they are, whatever the qualifier ends with, and are compared with their
 * greatest values by one addition. IA_VALUE, or IA_NOT_PLAIN: then the others know more. */
static inline __attribute__((always_inline)) int ia_whole_moment(const uint8_t *p, const struct ia_qualifier *q, int64_t room,
                                                                 int64_t *days, int64_t *seconds, int64_t *micros)
{
    if (__builtin_expect(p[0] != q->full || room < 17, 0))
        return IA_NOT_PLAIN;
    const uint64_t high = ia_load_be64(p + 1) & q->used[0];
    uint64_t wrong = high | (high + q->full_headroom);
    uint32_t time, fraction;
    *days = 0;
    if (q->start == IA_YEAR) {
        if (__builtin_expect(ia_quick_days(high >> 32, days) != IA_VALUE, 0))
            return IA_NOT_PLAIN;
        time = (uint32_t)high >> 8;
        fraction = (uint32_t)high << 16;
        if (q->fraction > 2) {
            const uint32_t low = (uint32_t)((ia_load_be64(p + 9) & q->used[1]) >> 48);
            wrong |= low << 8 | (low + 0x1c1c) << 8;
            fraction |= low;
        }
        fraction &= 0xffffff;
    } else {
        time = (uint32_t)(high >> 40);
        fraction = high >> 16 & 0xffffff;
    }
    if (wrong & 0x8080808080808080ull)
        return IA_NOT_PLAIN;
    *seconds = (int)((time >> 16) * 3600 + (time >> 8 & 255) * 60 + (time & 255));
    *micros = 0;
    if (q->fraction) {
        if (q->odd >= 0 && (fraction >> q->odd & 255) % 10)
            return IA_NOT_PLAIN;
        *micros = ia_micros(fraction);
    }
    return IA_VALUE;
}

/* The same of any value, by way of ia_align, and if something is wrong with it, field by field. */
static __attribute__((noinline)) int ia_any_moment(const uint8_t *p, const struct ia_qualifier *q, int64_t room, int64_t *days,
                                                   int64_t *seconds, int64_t *micros, struct ia_error *err)
{
    struct ia_moment m;
    int rc = ia_quick_moment(p, q, room, &m, days);
    if (rc == IA_NOT_PLAIN) {
        rc = ia_decode_moment(p, q, &m, err);
        *days = rc == IA_VALUE && q->start == IA_YEAR ? ia_days_from_civil(m.year, m.month, m.day) : 0;
    }
    if (rc == IA_VALUE) {
        *seconds = m.hour * 3600 + m.minute * 60 + m.second;
        *micros = m.micros;
    }
    return rc;
}

/* YEAR TO DAY -> days from 1970-01-01. */
static inline __attribute__((always_inline)) int ia_decode_datetime_days(const uint8_t *p, const struct ia_qualifier *q,
                                                                         int64_t room, int32_t *out,
                                                                         struct ia_error *err)
{
    int64_t days = 0, seconds, micros;
    int rc = ia_whole_moment(p, q, room, &days, &seconds, &micros);
    if (__builtin_expect(rc == IA_NOT_PLAIN, 0)) {
        int64_t other = 0;
        rc = ia_any_moment(p, q, room, &other, &seconds, &micros, err);
        days = rc == IA_VALUE ? other : 0;
    }
    *out = (int32_t)days;
    return rc;
}

/* YEAR TO .. or HOUR TO .. -> q->unit parts of seconds from 1970-01-01 or from midnight. */
static inline __attribute__((always_inline)) int ia_decode_datetime_units(const uint8_t *p, const struct ia_qualifier *q,
                                                                          int64_t room, int64_t *out,
                                                                          struct ia_error *err)
{
    int64_t days, seconds, micros;
    int rc = ia_whole_moment(p, q, room, &days, &seconds, &micros);
    if (__builtin_expect(rc == IA_NOT_PLAIN, 0)) {
        int64_t other[3] = {0}; /* places of their own: the three above stay in registers */
        rc = ia_any_moment(p, q, room, other, other + 1, other + 2, err);
        days = other[0], seconds = other[1], micros = other[2];
    }
    *out = 0;
    if (rc != IA_VALUE)
        return rc;
    const int64_t all = days * 86400 + seconds;
    *out = q->unit == 1 ? all : q->unit == 1000 ? all * 1000 + micros / 1000 : all * 1000000 + micros;
    return IA_VALUE;
}

#define IA_DATETIME_TEXT_LENGTH 32 /* "9999-12-31 23:59:59.99999" is 25 */

static inline char *ia_two(char *t, int value)
{
    t[0] = (char)('0' + value / 10);
    t[1] = (char)('0' + value % 10);
    return t + 2;
}

/* Any DATETIME -> Informix's literal form: "2026-01", "12-25 08:05", "05:09", ".123". */
static inline int ia_decode_datetime_text(const uint8_t *p, const struct ia_qualifier *q,
                                          char text[IA_DATETIME_TEXT_LENGTH], int *length, struct ia_error *err)
{
    static const char before[] = {'\0', '-', '-', ' ', ':', ':'}; /* what stands before MONTH, DAY, .. if not first */
    struct ia_moment m;
    const int rc = ia_decode_moment(p, q, &m, err);
    *length = 0;
    if (rc != IA_VALUE)
        return rc;
    const int fields[] = {m.year, m.month, m.day, m.hour, m.minute, m.second};
    const int last = q->fraction ? IA_SECOND : q->end;
    char *t = text;
    for (int field = q->start; field <= last; field += 2) {
        if (field != q->start)
            *t++ = before[field / 2];
        if (field == IA_YEAR)
            t = ia_two(t, m.year / 100);
        t = ia_two(t, fields[field / 2] % 100);
    }
    if (q->fraction) {
        *t++ = '.';
        for (int i = 0, rest = m.micros; i < q->fraction; i++, rest = rest % 100000 * 10)
            *t++ = (char)('0' + rest / 100000);
    }
    *length = (int)(t - text);
    return IA_VALUE;
}

#endif
