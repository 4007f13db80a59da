/* Fields of a .unl file that are DATE, DATETIME or INTERVAL. No Python. */
#ifndef INFORMIX_ARROW_DECODE_UNL_TIMES_H
#define INFORMIX_ARROW_DECODE_UNL_TIMES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode_core.h"
#include "decode_datetime.h"
#include "decode_fields.h"
#include "decode_interval.h"
#include "decode_unl_format.h"

static inline int ia_unl_is_date(int year, int month, int day)
{
    return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= ia_days_in_month(year, month);
}

/* The year that two digits stand for (DBCENTURY). */
static int ia_unl_century(const struct ia_unl_format *f, int year, int month, int day)
{
    int this_century = 1900, best = 0;
    int64_t nearest = INT64_MAX;
    for (int c = 0; c <= 9900; c += 100) /* the century of today */
        if (ia_days_from_civil(c ? c : 1, 1, 1) <= f->today)
            this_century = c;
    if (f->century == 'R')
        return this_century + year;
    for (int c = this_century - 100; c <= this_century + 100; c += 100) {
        if (!ia_unl_is_date(c + year, month, day))
            continue;
        const int64_t distance = ia_days_from_civil(c + year, month, day) - (int64_t)f->today;
        if ((f->century == 'P' && distance > 0) || (f->century == 'F' && distance < 0))
            continue;
        if (llabs(distance) < nearest) {
            nearest = llabs(distance);
            best = c + year;
        }
    }
    return best ? best : this_century + year;
}

/* One or more digits, at most `most`; how many, with the number in *out. */
static inline int ia_unl_digits(const uint8_t **p, const uint8_t *end, int most, int *out)
{
    int n = 0;
    *out = 0;
    while (n < most && ia_unl_digit(*p, end)) {
        *out = *out * 10 + (*(*p)++ - '0');
        n++;
    }
    return n;
}

/* Refuse a DATE, with the order that is expected. */
static __attribute__((noinline)) void ia_unl_no_date(const struct ia_unl_format *f, const uint8_t *s, int64_t n,
                                                     struct ia_error *err)
{
    char what[100], order[16], *to = order;
    for (int k = 0; k < 3; k++) {
        if (k > 0 && f->separator)
            *to++ = (char)f->separator;
        const int size = f->order[k] == 'Y' ? f->year_digits : 2;
        memset(to, f->order[k], (size_t)size);
        to += size;
    }
    *to = '\0';
    (void)snprintf(what, sizeof what, "is not a date (expected %s).", order);
    ia_unl_wrong(err, s, n, what);
    ia_set_hint(err, "dbdate", "Name the order of the file's dates with dbdate=.");
}

static int ia_unl_date(const struct ia_unl_format *f, const uint8_t *s, int64_t n, int32_t *out, struct ia_error *err)
{
    const uint8_t *p = s, *const end = s + n;
    int year = 0, month = 0, day = 0, year_size = 0;
    int compact = !f->separator, years = f->year_digits;
    if (f->separator && (n == 6 || n == 8)) { /* LOAD takes dates without separators, too: 122404, 12242004 */
        compact = 1;
        for (int64_t k = 0; k < n; k++)
            compact = compact && ia_unl_digit(s + k, end);
        years = (int)n - 4;
    }
    for (int k = 0; k < 3; k++) {
        int v;
        if (k > 0 && !compact) {
            if (p == end || !(*p == f->separator || *p == '/' || *p == '-' || *p == '.'))
                return ia_unl_no_date(f, s, n, err), IA_DATA;
            p++;
        }
        const int most = f->order[k] == 'Y' ? (compact ? years : 4) : 2;
        const int size = ia_unl_digits(&p, end, most, &v);
        if (size == 0 || (compact && size != most))
            return ia_unl_no_date(f, s, n, err), IA_DATA;
        switch (f->order[k]) {
        case 'Y':
            year = v;
            year_size = size;
            break;
        case 'M':
            month = v;
            break;
        default:
            day = v;
            break;
        }
    }
    if (p != end || year_size == 3)
        return ia_unl_no_date(f, s, n, err), IA_DATA;
    if (year_size <= 2 && month >= 1 && month <= 12 && day >= 1 && day <= 31)
        year = ia_unl_century(f, year, month, day);
    if (!ia_unl_is_date(year, month, day))
        return ia_unl_no_date(f, s, n, err), IA_DATA;
    *out = (int32_t)ia_days_from_civil(year, month, day);
    return IA_VALUE;
}

/* The fraction of a second in millionths, of at most `most` digits; what follows may only be zeros. */
static int ia_unl_fraction(const uint8_t **p, const uint8_t *end, int most, int *micros)
{
    int n = 0, unit = 100000;
    *micros = 0;
    for (; ia_unl_digit(*p, end); ++*p, n++) {
        const int digit = **p - '0';
        if (n >= most && digit)
            return -1;
        *micros += digit * unit;
        unit /= 10;
    }
    return n;
}

/* What stands before MONTH, DAY, HOUR, MINUTE, SECOND where they are not the first. */
static const char ia_unl_before[] = {'\0', '-', '-', ' ', ':', ':'};

/* The fields of a qualifier with what stands between them, as in "YYYY-MM-DD HH:MM". */
static void ia_unl_literal_form(const struct ia_qualifier *q, const char *const names[6], const char *fraction,
                                char out[64])
{
    const int last = q->fraction ? IA_SECOND : q->end;
    char *to = out;
    for (int field = q->start; field <= last; field += 2) {
        if (field != q->start)
            *to++ = ia_unl_before[field / 2];
        const size_t size = strlen(names[field / 2]);
        memcpy(to, names[field / 2], size);
        to += size;
    }
    if (q->fraction) {
        const size_t size = strlen(fraction);
        memcpy(to, fraction, size);
        to += size;
    }
    *to = '\0';
}

static __attribute__((noinline)) void ia_unl_no_datetime(const struct ia_qualifier *q, const uint8_t *s, int64_t n,
                                                         struct ia_error *err)
{
    static const char *const names[] = {"YYYY", "MM", "DD", "HH", "MM", "SS"};
    char form[64], fraction[8] = ".", what[100];
    memset(fraction + 1, 'F', (size_t)q->fraction);
    fraction[1 + q->fraction] = '\0';
    ia_unl_literal_form(q, names, fraction, form);
    (void)snprintf(what, sizeof what, "is not a DATETIME (expected %s).", form);
    ia_unl_wrong(err, s, n, what);
}

static __attribute__((noinline)) void ia_unl_no_interval(const struct ia_qualifier *q, const uint8_t *s, int64_t n,
                                                         struct ia_error *err)
{
    static const char *const names[] = {"years", "months", "days", "hours", "minutes", "seconds"};
    char form[64], what[100];
    ia_unl_literal_form(q, names, ".fraction", form);
    (void)snprintf(what, sizeof what, "is not an INTERVAL (expected %s).", form);
    ia_unl_wrong(err, s, n, what);
}

static int ia_unl_datetime(const struct ia_qualifier *q, const uint8_t *s, int64_t n, struct ia_moment *m,
                           struct ia_error *err)
{
    const uint8_t *p = s, *const end = s + n;
    int values[6] = {1970, 1, 1, 0, 0, 0};
    const int last = q->fraction ? IA_SECOND : q->end;
    for (int field = q->start; field <= last; field += 2) {
        if (field != q->start) {
            if (p == end || *p != ia_unl_before[field / 2])
                return ia_unl_no_datetime(q, s, n, err), IA_DATA;
            p++;
        }
        const int size = ia_unl_digits(&p, end, field == IA_YEAR ? 4 : 2, &values[field / 2]);
        if (size == 0 || (field == IA_YEAR && size != 4))
            return ia_unl_no_datetime(q, s, n, err), IA_DATA;
    }
    *m = (struct ia_moment){0};
    m->year = values[0], m->month = values[1], m->day = values[2];
    m->hour = values[3], m->minute = values[4], m->second = values[5];
    if (q->fraction && p < end && (*p == '.' || q->start == IA_FRACTION)) {
        p += *p == '.';
        const int digits = ia_unl_fraction(&p, end, q->fraction, &m->micros);
        if (digits < 0)
            return IA_UNL_WRONG(err, s, n, "has more digits of a second than the column can store.");
        if (digits == 0)
            return ia_unl_no_datetime(q, s, n, err), IA_DATA;
    }
    if (p != end || n == 0)
        return ia_unl_no_datetime(q, s, n, err), IA_DATA;
    /* A day without its year or month may be any that exists: 02-29 is one. */
    const int year = q->start == IA_YEAR ? m->year : 2000, month = q->start <= IA_MONTH ? m->month : 1;
    if (!ia_unl_is_date(year, q->end >= IA_MONTH ? month : 1, q->start <= IA_DAY && q->end >= IA_DAY ? m->day : 1) ||
        m->hour > 23 || m->minute > 59 || m->second > 59)
        return ia_unl_no_datetime(q, s, n, err), IA_DATA;
    return IA_VALUE;
}

static int ia_unl_datetime_text(const struct ia_qualifier *q, const struct ia_moment *m, char *text)
{
    const int fields[] = {m->year, m->month, m->day, m->hour, m->minute, m->second};
    const int last = q->fraction ? IA_SECOND : q->end;
    char *t = text;
    for (int field = q->start; field <= last; field += 2) {
        if (field != q->start)
            *t++ = ia_unl_before[field / 2];
        if (field == IA_YEAR)
            t = ia_two(t, m->year / 100);
        t = ia_two(t, fields[field / 2] % 100);
    }
    if (q->fraction) {
        *t++ = '.';
        for (int i = 0, rest = m->micros; i < q->fraction; i++, rest = rest % 100000 * 10)
            *t++ = (char)('0' + rest / 100000);
    }
    return (int)(t - text);
}

/* An INTERVAL: months, or microseconds. */
static int ia_unl_interval(const struct ia_qualifier *q, const uint8_t *s, int64_t n, int64_t *days, int64_t *rest,
                           struct ia_error *err)
{
    static const int64_t units[] = {12, 1, 86400, 3600, 60, 1};
    const uint8_t *p = s, *const end = s + n;
    const int months = ia_counts_months(q), last = q->fraction ? IA_SECOND : q->end;
    int negative = 0, micros = 0;
    int64_t total = 0;
    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    while (p < end && *p == ' ')
        p++;
    const uint8_t *const first = p;
    for (int field = q->start; field <= last; field += 2) {
        int v;
        if (field == q->start) {
            const uint8_t *zeros = p;
            while (zeros + 1 < end && *zeros == '0' && ia_unl_digit(zeros + 1, end))
                zeros++;
            p = zeros;
            if (ia_unl_digits(&p, end, q->leading, &v) == 0)
                return ia_unl_no_interval(q, s, n, err), IA_DATA;
            if (ia_unl_digit(p, end))
                return IA_UNL_WRONG(err, s, n, "has more digits in its first field than the column can store.");
        } else {
            if (p == end || *p != (field == IA_MONTH ? '-' : ia_unl_before[field / 2]))
                return ia_unl_no_interval(q, s, n, err), IA_DATA;
            p++;
            if (ia_unl_digits(&p, end, 2, &v) == 0 || v > ia_greatest(field, 1))
                return ia_unl_no_interval(q, s, n, err), IA_DATA;
        }
        total += v * units[field / 2];
    }
    if (q->fraction && p < end && (*p == '.' || (q->start == IA_FRACTION && p == first))) {
        p += *p == '.';
        const int digits = ia_unl_fraction(&p, end, q->fraction, &micros);
        if (digits < 0)
            return IA_UNL_WRONG(err, s, n, "has more digits of a second than the column can store.");
        if (digits == 0)
            return ia_unl_no_interval(q, s, n, err), IA_DATA;
    }
    if (p != end || p == first)
        return ia_unl_no_interval(q, s, n, err), IA_DATA;
    if (months) {
        *days = negative ? -total : total;
        *rest = 0;
    } else { /* both of the same sign */
        *days = total / 86400;
        *rest = total % 86400 * 1000000 + micros;
        if (negative) {
            *days = -*days;
            *rest = -*rest;
        }
    }
    return IA_VALUE;
}

#endif
