/* Packed values (base100.h) to what the Arrow columns hold: double, decimal text, days, seconds, DATETIME text.
 *
 * Each decoder answers IA_VALUE, IA_NULL or a negative ia_status; with the latter err->detail says what was wrong with
 * the value, and the row loop adds where. */
#ifndef INFORMIX_ARROW_DECODE_VALUE_H
#define INFORMIX_ARROW_DECODE_VALUE_H

#include <stdio.h>
#include <stdlib.h>

#include "base100.h"

enum ia_status {
    IA_NEED_MORE = 0, /* the bytes end inside a message */
    IA_OTHER = 1,     /* the next message is not SQ_TUPLE */
    IA_FULL = 2,      /* the batch is complete: take it */
    IA_PROTOCOL = -1, /* the peer broke the format */
    IA_DATA = -2,     /* well-formed, but the value does not fit its Arrow type */
    IA_NO_MEMORY = -3
};

enum { IA_NULL = 0, IA_VALUE = 1 };

struct ia_error {
    enum ia_status status;
    int64_t row;    /* of the whole result, from 0 */
    int column;     /* index into the plan; -1: the tuple as a whole */
    int64_t offset; /* in the tuple's payload; -1: not known */
    char detail[160];
};

#define IA_REFUSE(err, code, ...) (snprintf((err)->detail, sizeof (err)->detail, __VA_ARGS__), (code))

/* ---- DECIMAL ------------------------------------------------------------------------------------------------- */

static inline int ia_unpack(const uint8_t *p, int width, int64_t room, struct ia_base100 *out, struct ia_error *err)
{
    const int rc = ia_b100_unpack(p, width, room, out);
    if (rc == IA_B100_BAD_DIGIT)
        return IA_REFUSE(err, IA_PROTOCOL, "a base-100 digit is greater than 99");
    return rc == IA_B100_NULL ? IA_NULL : IA_VALUE;
}

/* DECIMAL -> the unscaled integer of decimal128(precision, scale). */
static inline int ia_decode_decimal128(const uint8_t *p, int width, int64_t room, int precision, int scale,
                                       ia_i128 *out, struct ia_error *err)
{
    struct ia_base100 number;
    const int rc = ia_unpack(p, width, room, &number, err);
    if (rc != IA_VALUE) {
        *out = 0;
        return rc;
    }
    switch (ia_b100_to_decimal128(&number, precision, scale, out)) {
    case IA_FIT:
        return IA_VALUE;
    case IA_FIT_SCALE:
        return IA_REFUSE(err, IA_DATA, "the value has digits beyond scale %d of decimal128(%d, %d)", scale, precision,
                         scale);
    default:
        return IA_REFUSE(err, IA_DATA, "the value has more digits than decimal128(%d, %d) holds", precision, scale);
    }
}

/* The decimal digits of a magnitude below 10^38; returns how many (1 for 0). */
static inline int ia_digits(ia_u128 magnitude, char digits[40])
{
    const uint64_t high = (uint64_t)(magnitude / ia_pow10_64[19]), low = (uint64_t)(magnitude % ia_pow10_64[19]);
    if (high)
        return snprintf(digits, 40, "%llu%019llu", (unsigned long long)high, (unsigned long long)low);
    return snprintf(digits, 40, "%llu", (unsigned long long)low);
}

/* DECIMAL -> the nearest double, ties to even. */
static inline int ia_decode_decimal_float64(const uint8_t *p, int width, int64_t room, double *out,
                                            struct ia_error *err)
{
    static const double exact[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    struct ia_base100 number;
    const int rc = ia_unpack(p, width, room, &number, err);
    *out = 0.0;
    if (rc != IA_VALUE || number.magnitude == 0)
        return rc;
    const int exponent = 2 * number.exponent;
    double value;
    if (number.magnitude <= (1ull << 53) && exponent >= -22 && exponent <= 22) {
        /* Both operands are exact doubles, so the one operation rounds once and correctly. */
        value = (double)(uint64_t)number.magnitude;
        value = exponent < 0 ? value / exact[-exponent] : value * exact[exponent];
    } else {
        char text[48];
        const int n = ia_digits(number.magnitude, text);
        snprintf(text + n, sizeof text - (size_t)n, "e%d", exponent); /* no point: the locale has no say */
        value = strtod(text, NULL);
    }
    *out = number.negative ? -value : value;
    return IA_VALUE;
}

/* Longest text of a DECIMAL: sign, "0.", 130 zeros at most before and 34 digits, or 34 digits and 126 zeros. */
#define IA_DECIMAL_TEXT 192

/* DECIMAL -> plain text without an exponent: "1.5", "-0.000001", "100"; 1E125 is a 1 and 125 zeros. */
static inline int ia_decode_decimal_text(const uint8_t *p, int width, int64_t room, char text[IA_DECIMAL_TEXT],
                                         int *length, struct ia_error *err)
{
    struct ia_base100 number;
    const int rc = ia_unpack(p, width, room, &number, err);
    *length = 0;
    if (rc != IA_VALUE)
        return rc;
    char digits[40];
    int n = ia_digits(number.magnitude, digits);
    int exponent = 2 * number.exponent;
    if (exponent < 0 && digits[n - 1] == '0' && n > 1) { /* the last pair is not 0: at most one zero to drop */
        n--;
        exponent++;
    }
    char *t = text;
    if (number.negative)
        *t++ = '-';
    const int whole = n + exponent; /* digits before the point */
    if (exponent >= 0) {
        memcpy(t, digits, (size_t)n);
        memset(t + n, '0', (size_t)exponent);
        t += whole;
    } else if (whole > 0) {
        memcpy(t, digits, (size_t)whole);
        t[whole] = '.';
        memcpy(t + whole + 1, digits + whole, (size_t)(n - whole));
        t += n + 1;
    } else {
        memcpy(t, "0.", 2);
        memset(t + 2, '0', (size_t)-whole);
        memcpy(t + 2 - whole, digits, (size_t)n);
        t += 2 - whole + n;
    }
    *length = (int)(t - text);
    return IA_VALUE;
}

/* ---- DATETIME ------------------------------------------------------------------------------------------------ */

/* Field codes of a qualifier (TYPES section 6); ends 11..15 are FRACTION(1..5). */
enum { IA_YEAR = 0, IA_MONTH = 2, IA_DAY = 4, IA_HOUR = 6, IA_MINUTE = 8, IA_SECOND = 10, IA_FRACTION = 12 };

#define IA_DATETIME_MAX_PAIRS 10 /* YEAR TO FRACTION(5) */

struct ia_qualifier {
    int start, end;
    int pairs;         /* base-100 digits of the whole value */
    int exponent;      /* the exponent of a value whose first pair is not dropped */
    int fraction;      /* fraction digits, 0..5 */
    int64_t unit;      /* TIMESTAMP, TIME: Arrow units in a second */
};

/* Check an encoded qualifier and the width that goes with it; 0, or -1 if they do not fit each other. */
static inline int ia_qualifier_from(int32_t encoded, int32_t width, struct ia_qualifier *q)
{
    q->start = (encoded >> 4) & 15;
    q->end = encoded & 15;
    const int digits = (q->start == IA_YEAR ? 4 : 2) + q->end - q->start;
    if (encoded < 0 || encoded >> 8 != digits || q->start % 2 || q->start > IA_FRACTION)
        return -1;
    if (q->end < q->start ? !(q->start == IA_FRACTION && q->end == 11) : (q->end <= IA_SECOND && q->end % 2))
        return -1;
    q->fraction = q->end > IA_SECOND ? q->end - IA_SECOND : 0;
    const int last = q->fraction ? IA_SECOND : q->end;
    const int whole = q->start == IA_FRACTION ? 0 : (last - q->start) / 2 + 1 + (q->start == IA_YEAR);
    q->pairs = whole + (q->fraction + 1) / 2;
    q->exponent = whole + (IA_SECOND - last) / 2;
    q->unit = q->fraction == 0 ? 1 : q->fraction <= 3 ? 1000 : 1000000;
    return width == q->pairs + 1 && q->pairs <= IA_DATETIME_MAX_PAIRS ? 0 : -1;
}

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
        return IA_REFUSE(err, IA_DATA, name " %d is outside %d..%d", (value), (low), (high))

/* Unpack and check every field. Fields before `start` and after `end` get the values of 1970-01-01 00:00:00.
 * A leading zero pair may be dropped and the exponent lowered, or not: both forms arrive (TYPES section 6). */
static inline int ia_decode_moment(const uint8_t *p, const struct ia_qualifier *q, struct ia_moment *m,
                                   struct ia_error *err)
{
    uint8_t shifted[IA_DATETIME_MAX_PAIRS] = {0};
    const uint8_t *pair = p + 1;
    if (p[0] == 0 && p[1] == 0)
        return IA_NULL;
    if (p[0] < 0x80)
        return IA_REFUSE(err, IA_PROTOCOL, "a DATETIME is negative");
    const int exponent = (p[0] & 0x7f) - 64;
    const int drop = q->exponent - exponent; /* leading zero pairs that were left out */
    uint8_t greatest = 0;
    for (int i = 0; i < q->pairs; i++)
        greatest = pair[i] > greatest ? pair[i] : greatest;
    if (greatest > 99)
        return IA_REFUSE(err, IA_PROTOCOL, "a base-100 digit is greater than 99");
    if (drop < 0)
        return IA_REFUSE(err, IA_PROTOCOL, "exponent %d is greater than the qualifier's %d", exponent, q->exponent);
    if (drop > 0) {
        for (int i = 0; i < q->pairs; i++) {
            if (i + drop < q->pairs)
                shifted[i + drop] = pair[i];
            else if (pair[i])
                return IA_REFUSE(err, IA_DATA, "the value has digits behind the qualifier's last field");
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
            return IA_REFUSE(err, IA_DATA, "the value has digits beyond FRACTION(%d)", q->fraction);
    }
    return IA_VALUE;
}

/* YEAR TO DAY -> days from 1970-01-01. */
static inline int ia_decode_datetime_days(const uint8_t *p, const struct ia_qualifier *q, int32_t *out,
                                          struct ia_error *err)
{
    struct ia_moment m;
    const int rc = ia_decode_moment(p, q, &m, err);
    *out = rc == IA_VALUE ? (int32_t)ia_days_from_civil(m.year, m.month, m.day) : 0;
    return rc;
}

/* YEAR TO .. or HOUR TO .. -> q->unit parts of seconds from 1970-01-01 or from midnight. */
static inline int ia_decode_datetime_units(const uint8_t *p, const struct ia_qualifier *q, int64_t *out,
                                           struct ia_error *err)
{
    struct ia_moment m;
    const int rc = ia_decode_moment(p, q, &m, err);
    *out = 0;
    if (rc != IA_VALUE)
        return rc;
    const int64_t days = q->start == IA_YEAR ? ia_days_from_civil(m.year, m.month, m.day) : 0;
    const int64_t seconds = days * 86400 + m.hour * 3600 + m.minute * 60 + m.second;
    *out = seconds * q->unit + (q->fraction ? m.micros / (1000000 / q->unit) : 0);
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
