/* Write one value of an Arrow column as a field of a .unl file. No Python, no allocation: there is room (unl_write.h). A value
 * that the format cannot represent sets *status. */
#ifndef INFORMIX_ARROW_UNL_WRITE_VALUES_H
#define INFORMIX_ARROW_UNL_WRITE_VALUES_H

#include <stdint.h>
#include <string.h>

#include "float_shortest.h"
#include "plan.h"
#include "unl_write_column.h"

static const char ia_out_pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                   "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                   "8081828384858687888990919293949596979899";

static inline uint8_t *ia_out_two(uint8_t *p, int64_t v)
{
    memcpy(p, ia_out_pairs + 2 * v, 2);
    return p + 2;
}

static inline uint8_t *ia_out_unsigned(uint8_t *p, uint64_t v)
{
    uint8_t digits[20];
    int at = 20;
    while (v >= 100) {
        at -= 2;
        memcpy(digits + at, ia_out_pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10) {
        at -= 2;
        memcpy(digits + at, ia_out_pairs + 2 * v, 2);
    } else {
        digits[--at] = (uint8_t)('0' + v);
    }
    const int n = 20 - at;
    memcpy(p, digits + at, (size_t)n);
    return p + n;
}

/* Exactly n digits. */
static inline uint8_t *ia_out_padded(uint8_t *p, uint64_t v, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        p[i] = (uint8_t)('0' + v % 10);
        v /= 10;
    }
    return p + n;
}

static inline uint8_t *ia_out_integer(uint8_t *p, int64_t v)
{
    if (v < 0)
        *p++ = '-';
    return ia_out_unsigned(p, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static uint8_t *ia_out_decimal(uint8_t *p, const struct ia_out_format *f, const struct ia_out_column *c, const uint8_t *at,
                               int *status)
{
    const uint64_t split = UINT64_C(10000000000000000000); /* 19 digits */
    unsigned __int128 v;
    uint8_t digits[64];
    uint8_t *end = digits;
    memcpy(&v, at, 16);
    const int negative = (v >> 127) != 0;
    if (negative) {
        *p++ = '-';
        v = 0 - v;
    }
    if (c->flags & IA_OUT_FLAG_MONEY) {
        memcpy(p, f->front, (size_t)f->front_size);
        p += f->front_size;
    }
    if (v >> 64 == 0) {
        end = ia_out_unsigned(end, (uint64_t)v);
    } else {
        const unsigned __int128 high = v / split;
        if (high >= split) { /* more than 38 digits */
            *status = IA_OUT_DIGITS;
            return p;
        }
        end = ia_out_unsigned(end, (uint64_t)high);
        end = ia_out_padded(end, (uint64_t)(v % split), 19);
    }
    const int n = (int)(end - digits), whole = n - c->scale;
    if (n > c->precision && !(v == 0))
        *status = IA_OUT_DIGITS;
    if (whole > 0) {
        memcpy(p, digits, (size_t)whole);
        p += whole;
    } else {
        *p++ = '0';
    }
    /* As UNLOAD and dbexport: no trailing zeros in the fraction, and at least one digit (docs/unl.md). */
    const int from = whole > 0 ? whole : 0;
    int last = n;
    while (last > from && digits[last - 1] == '0')
        last--;
    *p++ = f->point;
    if (last == from) {
        *p++ = '0';
    } else {
        for (int i = whole; i < 0; i++)
            *p++ = '0';
        memcpy(p, digits + from, (size_t)(last - from));
        p += last - from;
    }
    if (c->flags & IA_OUT_FLAG_MONEY) {
        memcpy(p, f->back, (size_t)f->back_size);
        p += f->back_size;
    }
    return p;
}

/* The shortest text that is read as the same float. It has no exponent from 0.000001 to below 10000000000, as in Arrow. */
static uint8_t *ia_out_float(uint8_t *p, const struct ia_out_format *f, struct ia_shortest v, int negative)
{
    uint8_t digits[20];
    const int n = (int)(ia_out_unsigned(digits, v.digits) - digits);
    const int leading = n + v.exponent - 1; /* the power of ten of the first digit */
    if (negative)
        *p++ = '-';
    if (leading < -6 || leading >= 10) {
        *p++ = digits[0];
        if (n > 1) {
            *p++ = f->point;
            memcpy(p, digits + 1, (size_t)n - 1);
            p += n - 1;
        }
        *p++ = 'e';
        *p++ = leading < 0 ? '-' : '+';
        return ia_out_unsigned(p, (uint64_t)(leading < 0 ? -leading : leading));
    }
    const int whole = leading < 0 ? 0 : leading + 1;
    if (whole == 0)
        *p++ = '0';
    for (int i = 0; i < whole; i++)
        *p++ = i < n ? digits[i] : '0';
    if (n > whole) {
        *p++ = f->point;
        for (int i = leading + 1; i < 0; i++)
            *p++ = '0';
        memcpy(p, digits + whole, (size_t)(n - whole));
        p += n - whole;
    }
    return p;
}

#define IA_OUT_FIRST_DAY (-719162) /* 0001-01-01 */
#define IA_OUT_LAST_DAY 2932896    /* 9999-12-31 */

/* A day from 1970-01-01 as year, month and day; it is in the years 1 to 9999. */
static inline void ia_out_civil(int32_t day, int *year, int *month, int *of_month)
{
    const uint32_t z = (uint32_t)(day + 719468);
    const uint32_t era = z / 146097, doe = z - era * 146097;
    const uint32_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    const uint32_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    *of_month = (int)(doy - (153 * mp + 2) / 5 + 1);
    *month = (int)(mp < 10 ? mp + 3 : mp - 9);
    *year = (int)(yoe + era * 400) + (*month <= 2);
}

static inline uint8_t *ia_out_iso(uint8_t *p, int32_t day)
{
    int year, month, of_month;
    ia_out_civil(day, &year, &month, &of_month);
    p = ia_out_two(p, year / 100);
    p = ia_out_two(p, year % 100);
    *p++ = '-';
    p = ia_out_two(p, month);
    *p++ = '-';
    return ia_out_two(p, of_month);
}

static int32_t ia_out_day_of(int year, int month, int day)
{
    const int y = year - (month <= 2), m = month + (month > 2 ? -3 : 9);
    const int era = y / 400, yoe = y - era * 400;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int ia_out_exists(int year, int month, int day)
{
    const int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return !(month == 2 && day == 29 && !leap);
}

/* Whether two digits are read as this year again (DBCENTURY). */
static int ia_out_century_kept(const struct ia_out_format *f, int year, int month, int day)
{
    int now, m, d;
    int64_t best = 0, nearest = INT64_MAX;
    ia_out_civil(f->today, &now, &m, &d);
    const int current = now / 100 * 100;
    if (f->century == 'R')
        return year / 100 * 100 == current;
    for (int c = current - 100; c <= current + 100; c += 100) {
        const int candidate = c + year % 100;
        if (candidate < 1 || candidate > 9999 || !ia_out_exists(candidate, month, day))
            continue;
        const int64_t distance = (int64_t)ia_out_day_of(candidate, month, day) - f->today;
        if ((f->century == 'P' && distance > 0) || (f->century == 'F' && distance < 0))
            continue;
        const int64_t far = distance < 0 ? -distance : distance;
        if (far < nearest) {
            nearest = far;
            best = candidate;
        }
    }
    return (best ? best : current + year % 100) == year;
}

static inline uint8_t *ia_out_date(uint8_t *p, const struct ia_out_format *f, int32_t day, int *status)
{
    int year, month, of_month;
    if (day < IA_OUT_FIRST_DAY || day > IA_OUT_LAST_DAY) {
        *status = IA_OUT_YEAR;
        return p;
    }
    ia_out_civil(day, &year, &month, &of_month);
    for (int k = 0; k < 3; k++) {
        if (k && f->separator)
            *p++ = f->separator;
        if (f->order[k] == 'M') {
            p = ia_out_two(p, month);
        } else if (f->order[k] == 'D') {
            p = ia_out_two(p, of_month);
        } else {
            if (f->year_digits == 4)
                p = ia_out_two(p, year / 100);
            else if (!ia_out_century_kept(f, year, month, of_month))
                *status = IA_OUT_CENTURY;
            p = ia_out_two(p, year % 100);
        }
    }
    return p;
}

/* The time of day down to `end`, from hours on; the fraction is in millionths. */
static inline uint8_t *ia_out_clock(uint8_t *p, int start, int end, int fraction, int64_t seconds, int64_t micros,
                                    int *status)
{
    const int64_t of[3] = {seconds / 3600, seconds / 60 % 60, seconds % 60};
    for (int field = 6; field <= 10; field += 2) {
        if (field > end) {
            if (of[field / 2 - 3])
                *status = IA_OUT_FINER;
            continue;
        }
        if (field != start)
            *p++ = field == 6 ? ' ' : ':';
        p = ia_out_two(p, of[field / 2 - 3]);
    }
    if (fraction) {
        static const int64_t unit[] = {1000000, 100000, 10000, 1000, 100, 10};
        if (micros % unit[fraction])
            *status = IA_OUT_FINER;
        *p++ = '.';
        p = ia_out_padded(p, (uint64_t)(micros / unit[fraction]), fraction);
    } else if (micros) {
        *status = IA_OUT_FINER;
    }
    return p;
}

static uint8_t *ia_out_timestamp(uint8_t *p, const struct ia_out_column *c, int64_t v, int *status)
{
    const int64_t per_day = 86400 * c->unit;
    int64_t day = v / per_day, rest = v % per_day;
    if (rest < 0) {
        rest += per_day;
        day--;
    }
    if (day < IA_OUT_FIRST_DAY || day > IA_OUT_LAST_DAY) {
        *status = IA_OUT_YEAR;
        return p;
    }
    p = ia_out_iso(p, (int32_t)day);
    return ia_out_clock(p, c->start, c->end, c->fraction, rest / c->unit, rest % c->unit * (1000000 / c->unit), status);
}

static uint8_t *ia_out_time(uint8_t *p, const struct ia_out_column *c, int64_t v, int *status)
{
    if (v < 0 || v >= 86400 * c->unit) {
        *status = IA_OUT_TIME;
        return p;
    }
    return ia_out_clock(p, c->start, c->end, c->fraction, v / c->unit, v % c->unit * (1000000 / c->unit), status);
}

/* An INTERVAL of `total` months, or of `total` seconds and millionths. */
static uint8_t *ia_out_interval(uint8_t *p, const struct ia_out_column *c, int negative, uint64_t total, uint64_t micros,
                                int *status)
{
    static const uint64_t units[] = {12, 1, 86400, 3600, 60, 1};
    static const char before[] = {'\0', '-', '\0', ' ', ':', ':'};
    static const uint64_t part[] = {1000000, 100000, 10000, 1000, 100, 10};
    static const uint64_t limits[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
    const int last = c->fraction ? 10 : c->end;
    if (negative && (total || micros))
        *p++ = '-';
    for (int field = c->start; field <= last; field += 2) {
        const uint64_t v = total / units[field / 2];
        total %= units[field / 2];
        if (field == c->start) {
            if (v >= limits[c->leading]) {
                *status = IA_OUT_LEADING;
                return p;
            }
            p = ia_out_unsigned(p, v);
        } else {
            *p++ = (uint8_t)before[field / 2];
            p = ia_out_two(p, (int64_t)v);
        }
    }
    if (total) { /* FRACTION alone, or parts behind the last field */
        *status = c->start == 12 ? IA_OUT_LEADING : IA_OUT_FINER;
        return p;
    }
    if (c->fraction) {
        if (micros % part[c->fraction])
            *status = IA_OUT_FINER;
        *p++ = '.';
        p = ia_out_padded(p, micros / part[c->fraction], c->fraction);
    } else if (micros) {
        *status = IA_OUT_FINER;
    }
    return p;
}

static uint8_t *ia_out_duration(uint8_t *p, const struct ia_out_column *c, int64_t v, int *status)
{
    const uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    return ia_out_interval(p, c, v < 0, magnitude / 1000000, magnitude % 1000000, status);
}

static uint8_t *ia_out_months_days(uint8_t *p, const struct ia_out_column *c, const uint8_t *at, int *status)
{
    int32_t part[2];
    int64_t nanos;
    memcpy(part, at, 8);
    memcpy(&nanos, at + 8, 8);
    if (c->end <= 2) {
        if (part[1] || nanos)
            *status = IA_OUT_CLASS;
        return ia_out_interval(p, c, part[0] < 0, part[0] < 0 ? 0 - (uint64_t)part[0] : (uint64_t)part[0], 0, status);
    }
    if (part[0])
        *status = IA_OUT_CLASS;
    if (nanos % 1000)
        *status = IA_OUT_FINER;
    const __int128 micros = (__int128)part[1] * 86400000000 + nanos / 1000;
    const unsigned __int128 magnitude = micros < 0 ? 0 - (unsigned __int128)micros : (unsigned __int128)micros;
    return ia_out_interval(p, c, micros < 0, (uint64_t)(magnitude / 1000000), (uint64_t)(magnitude % 1000000), status);
}

/* The bytes of text i; 0 or IA_OUT_OFFSETS. */
static inline int ia_out_text_at(struct ia_out_column *c, int64_t i, const uint8_t **s, int64_t *n)
{
    int64_t from, to;
    if (c->large) {
        memcpy(&from, c->values + i * 8, 8);
        memcpy(&to, c->values + i * 8 + 8, 8);
    } else {
        int32_t narrow[2];
        memcpy(narrow, c->values + i * 4, 8);
        from = narrow[0], to = narrow[1];
    }
    if (from < c->text_reached || to < from || to > c->text_end)
        return IA_OUT_OFFSETS;
    *s = c->text + from;
    *n = to - from;
    c->text_reached = to;
    return IA_OUT_OK;
}

/* A word's bytes that are equal to that of `pattern`, which has it eight times: their top bits. Bytes above the first
 * one may be wrong, which does not matter to who asks whether there is one. */
static inline uint64_t ia_out_has(uint64_t word, uint64_t pattern)
{
    const uint64_t x = word ^ pattern;
    return (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
}

static inline uint8_t *ia_out_escaped(uint8_t *p, const struct ia_out_format *f, const uint8_t *s, int64_t n)
{
    const uint8_t delimiter = f->delimiter;
    const uint64_t ones = 0x0101010101010101u;
    const uint64_t delimiters = ones * delimiter, slashes = ones * '\\', ends = ones * '\n';
    int64_t i = 0;
    while (i < n) {
        uint64_t word;
        if (n - i >= 8) {
            memcpy(&word, s + i, 8);
            if ((ia_out_has(word, delimiters) | ia_out_has(word, slashes) | ia_out_has(word, ends)) == 0) {
                memcpy(p, &word, 8);
                p += 8;
                i += 8;
                continue;
            }
        }
        const int64_t stop = n - i >= 8 ? i + 8 : n;
        for (; i < stop; i++) {
            if (s[i] == delimiter || s[i] == '\\' || s[i] == '\n')
                *p++ = '\\';
            *p++ = s[i];
        }
    }
    return p;
}

static uint8_t *ia_out_hex(uint8_t *p, const uint8_t *s, int64_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (int64_t i = 0; i < n; i++) {
        *p++ = (uint8_t)digits[s[i] >> 4];
        *p++ = (uint8_t)digits[s[i] & 15];
    }
    return p;
}

/* A text, a number as text, or bytes. */
static inline uint8_t *ia_out_content(uint8_t *p, const struct ia_out_format *f, struct ia_out_column *c, int64_t i,
                                      int *status)
{
    const uint8_t *s;
    int64_t n;
    if ((*status = ia_out_text_at(c, i, &s, &n)) != 0)
        return p;
    if (c->flags & IA_FLAG_TRIM)
        while (n > 0 && s[n - 1] == ' ')
            n--;
    if (n == 0) { /* a CHAR has at least one blank, other texts can be empty */
        if (!(c->flags & IA_FLAG_TRIM) || f->delimiter == ' ')
            *p++ = '\\';
        *p++ = ' ';
        return p;
    }
    switch (c->kind) {
    case IA_OPAQUE:
        return ia_out_hex(p, s, n);
    case IA_DECIMAL_STRING:
        if (f->point == '.' && !f->odd) {
            memcpy(p, s, (size_t)n);
            return p + n;
        }
        for (int64_t k = 0; k < n; k++) {
            const uint8_t byte = s[k] == '.' ? f->point : s[k];
            if (byte == f->delimiter)
                *p++ = '\\';
            *p++ = byte;
        }
        return p;
    default:
        if (n == 1 && s[0] == ' ' && f->delimiter == ' ')
            *status = IA_OUT_BLANK;
        return ia_out_escaped(p, f, s, n);
    }
}

#endif
