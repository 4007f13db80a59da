/* Arrow columns to lines of a .unl file (LOAD, UNLOAD). No Python, no allocation: the caller asks for the largest size that
 * a batch can take and makes room for it, so that no writer has to look where the room ends.
 *
 * Columns have the Arrow type of their kind (plan.h); what else a type may come as is cast to it before. What cannot be
 * said in a .unl file is refused, with row and column; nothing is cut. */
#ifndef INFORMIX_ARROW_UNL_WRITE_H
#define INFORMIX_ARROW_UNL_WRITE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "arrow_c_data.h"
#include "plan.h"

#define IA_OUT_FLAG_MONEY 128 /* a flag of an op besides those of plan.h: the currency's symbol is written */
#define IA_OUT_SYMBOL 8

enum ia_out_status {
    IA_OUT_OK = 0,
    IA_OUT_YEAR,     /* outside the years 1 to 9999 */
    IA_OUT_TIME,     /* outside 00:00:00 to 23:59:59 */
    IA_OUT_FINER,    /* parts that the qualifier has not got */
    IA_OUT_LEADING,  /* more digits in the first field than the qualifier has */
    IA_OUT_CLASS,    /* months and days in one interval */
    IA_OUT_CENTURY,  /* two digits of the year would be read as another */
    IA_OUT_BLANK,    /* a text of one blank, where the delimiter is one */
    IA_OUT_OFFSETS,  /* the producer's offsets are inconsistent */
    IA_OUT_DIGITS    /* a decimal with more digits than its type */
};

struct ia_out_format {
    uint8_t delimiter;
    uint8_t point;
    uint8_t century;
    uint8_t separator;
    uint8_t order[3];
    uint8_t year_digits;
    int32_t today;
    int front_size, back_size;
    uint8_t front[IA_OUT_SYMBOL], back[IA_OUT_SYMBOL];
    int odd; /* the delimiter occurs in what is no text: every field is looked through */
};

struct ia_out_column {
    int32_t kind, flags;
    int precision, scale;
    int start, end, fraction, leading; /* qualifier */
    int64_t unit;                      /* ticks of a second */
    int large;                         /* 64-bit offsets */
    char format[16];                   /* of the Arrow type */
    /* the batch's side */
    int64_t base;
    const uint8_t *validity, *values, *text;
    int64_t text_end, text_reached; /* texts follow one another: no byte is written twice */
};

struct ia_out_fault {
    int status;
    int column;
    int64_t row;
};

/* ---- columns ------------------------------------------------------------------------------------------------- */

static inline int ia_out_is_text(int kind)
{
    return kind == IA_CHAR || kind == IA_VARCHAR || kind == IA_LVARCHAR || kind == IA_DECIMAL_STRING ||
           kind == IA_DATETIME_TEXT || kind == IA_OPAQUE;
}

/* Fill in a column from its op; NULL, or what is wrong with the op. */
static const char *ia_out_column_from(const struct ia_op *op, struct ia_out_column *c)
{
    static const char *const formats[] = {
        [IA_INT16] = "s",   [IA_INT32] = "i",          [IA_INT64] = "l",
        [IA_INT8] = "l",    [IA_DATE] = "tdD",         [IA_BOOL] = "b",
        [IA_DATETIME_DATE32] = "tdD",                  [IA_DATETIME_TIME32] = "tts",
        [IA_DATETIME_TIME64] = "ttu",                  [IA_INTERVAL_MONTHS] = "i",
        [IA_INTERVAL_DURATION] = "tDu",                [IA_INTERVAL_MDN] = "tin",
        [IA_DECIMAL_INT64] = NULL,
    };
    memset(c, 0, sizeof *c);
    c->kind = op->kind;
    c->flags = op->flags;
    c->large = (op->flags & IA_FLAG_LARGE) != 0;
    if (op->kind < IA_INT16 || op->kind > IA_DECIMAL_INT64)
        return "unknown kind";
    const char *format = formats[op->kind];
    if (ia_out_is_text(op->kind))
        format = op->kind == IA_OPAQUE ? (c->large ? "Z" : "z") : c->large ? "U" : "u";
    if (op->kind == IA_DECIMAL128) {
        c->precision = op->arg >> 8;
        c->scale = op->arg & 255;
        if (op->arg < 0 || c->precision < 1 || c->precision > 38 || c->scale > c->precision)
            return "precision must be 1..38 and scale 0..precision";
        (void)snprintf(c->format, sizeof c->format, "d:%d,%d", c->precision, c->scale);
        return NULL;
    }
    if (op->kind >= IA_DATETIME_DATE32 && op->kind <= IA_INTERVAL_MDN) {
        const int digits = op->arg >> 8;
        c->start = op->arg >> 4 & 15;
        c->end = op->arg & 15;
        c->fraction = c->end > 10 ? c->end - 10 : 0;
        c->leading = c->start == 12 ? c->fraction : digits - (c->end - c->start);
        c->unit = c->fraction == 0 ? 1 : c->fraction <= 3 ? 1000 : 1000000;
        if (op->arg < 0 || op->arg > 0xffff || c->start % 2 || c->start > 12 || c->leading < 1 || c->leading > 9 ||
            (c->end < c->start && !(c->start == 12 && c->end == 11)))
            return "the qualifier does not exist";
        const int months = c->end <= 2;
        if ((op->kind == IA_DATETIME_TIMESTAMP && (c->start != 0 || c->end < 6)) ||
            ((op->kind == IA_DATETIME_TIME32 || op->kind == IA_DATETIME_TIME64) && (c->start != 6 || c->end < 8)) ||
            (op->kind == IA_INTERVAL_MONTHS && !months) || (op->kind == IA_INTERVAL_DURATION && months) ||
            (op->kind >= IA_INTERVAL_MONTHS && c->start <= 2 && !months))
            return "the qualifier does not go with the kind";
        if (op->kind == IA_DATETIME_TIMESTAMP)
            format = c->unit == 1 ? "tss:" : c->unit == 1000 ? "tsm:" : "tsu:";
        if (op->kind == IA_DATETIME_TIME64 || op->kind == IA_INTERVAL_DURATION)
            c->unit = 1000000;
    }
    if (format == NULL)
        return "a .unl file is not written from this kind";
    (void)snprintf(c->format, sizeof c->format, "%s", format);
    return NULL;
}

/* Bind rows [offset, offset + rows) of a batch. 0, or -1: the array is not what the op says. */
static int ia_out_bind(struct ia_out_column *c, const struct ArrowSchema *schema, const struct ArrowArray *array,
                       int64_t offset, int64_t rows)
{
    static const uint8_t nothing[16] = {0};
    const int text = ia_out_is_text(c->kind);
    if (schema->format == NULL || schema->dictionary || strcmp(schema->format, c->format) != 0)
        return -1;
    if (array->offset < 0 || array->length < offset || array->length - offset < rows ||
        array->offset > INT64_MAX / 64 - offset - rows)
        return -1;
    c->base = array->offset + offset;
    c->validity = NULL;
    c->values = c->text = nothing;
    c->text_end = 0;
    if (rows == 0)
        return 0;
    if (array->buffers == NULL || array->n_buffers != (text ? 3 : 2) || array->buffers[1] == NULL)
        return -1;
    if (array->null_count != 0 && array->buffers[0])
        c->validity = array->buffers[0];
    else if (array->null_count > 0)
        return -1;
    c->values = array->buffers[1];
    if (!text)
        return 0;
    int64_t from, to;
    if (c->large) {
        memcpy(&from, c->values + c->base * 8, 8);
        memcpy(&to, c->values + (c->base + rows) * 8, 8);
    } else {
        int32_t narrow[2];
        memcpy(&narrow[0], c->values + c->base * 4, 4);
        memcpy(&narrow[1], c->values + (c->base + rows) * 4, 4);
        from = narrow[0], to = narrow[1];
    }
    if (from < 0 || to < from || (to > 0 && array->buffers[2] == NULL))
        return -1;
    if (array->buffers[2])
        c->text = array->buffers[2];
    c->text_reached = from;
    c->text_end = to;
    return 0;
}

/* Most bytes that a value takes besides the content of a text, its delimiter included; without escapes. */
static inline int64_t ia_out_bound(const struct ia_out_column *c)
{
    return ia_out_is_text(c->kind) ? 4 : 72;
}

/* Most bytes that the bound rows of all columns take; -1: more than can be counted. */
static int64_t ia_out_most(const struct ia_out_column *columns, int count, int64_t rows)
{
    int64_t most = 64, each = 2;
    for (int k = 0; k < count; k++) {
        const struct ia_out_column *c = &columns[k];
        int64_t content;
        each += 2 * ia_out_bound(c);
        if (!ia_out_is_text(c->kind) || rows == 0)
            continue;
        if (__builtin_mul_overflow(c->text_end - c->text_reached, 2, &content) || __builtin_add_overflow(most, content, &most))
            return -1;
    }
    if (__builtin_mul_overflow(each, rows, &each) || __builtin_add_overflow(most, each, &most))
        return -1;
    return most;
}

/* ---- values -------------------------------------------------------------------------------------------------- */

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
    if (c->scale) {
        *p++ = f->point;
        for (int i = whole; i < 0; i++)
            *p++ = '0';
        const int from = whole > 0 ? whole : 0;
        memcpy(p, digits + from, (size_t)(n - from));
        p += n - from;
    }
    if (c->flags & IA_OUT_FLAG_MONEY) {
        memcpy(p, f->back, (size_t)f->back_size);
        p += f->back_size;
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
    if (n == 0) {
        *p++ = '\\';
        *p++ = ' ';
        return p;
    }
    switch (c->kind) {
    case IA_OPAQUE:
        return ia_out_hex(p, s, n);
    case IA_DECIMAL_STRING:
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

/* ---- rows ---------------------------------------------------------------------------------------------------- */

/* Put backslashes before delimiters in a field of no text. */
static uint8_t *ia_out_odd(uint8_t *from, uint8_t *end, uint8_t delimiter)
{
    uint8_t copy[160];
    const int64_t n = end - from;
    memcpy(copy, from, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        if (copy[i] == delimiter)
            *from++ = '\\';
        *from++ = copy[i];
    }
    return from;
}

/* Write the bound rows to `out`, which has room for ia_out_most bytes. Returns the end of what was written; with a fault
 * the rows before it are whole. */
static uint8_t *ia_out_rows(const struct ia_out_format *f, struct ia_out_column *columns, int count, int64_t rows,
                            uint8_t *out, struct ia_out_fault *fault)
{
    uint8_t *p = out;
    fault->status = IA_OUT_OK;
    for (int64_t row = 0; row < rows; row++) {
        uint8_t *const begin = p;
        for (int k = 0; k < count; k++) {
            struct ia_out_column *const c = &columns[k];
            const int64_t i = c->base + row;
            int status = IA_OUT_OK;
            if (c->validity && !(c->validity[i >> 3] >> (i & 7) & 1)) {
                *p++ = f->delimiter;
                continue;
            }
            uint8_t *const field = p;
            switch (c->kind) {
            case IA_INT16: {
                int16_t v;
                memcpy(&v, c->values + i * 2, 2);
                p = ia_out_integer(p, v);
                break;
            }
            case IA_INT32: {
                int32_t v;
                memcpy(&v, c->values + i * 4, 4);
                p = ia_out_integer(p, v);
                break;
            }
            case IA_INT64:
            case IA_INT8: {
                int64_t v;
                memcpy(&v, c->values + i * 8, 8);
                p = ia_out_integer(p, v);
                break;
            }
            case IA_BOOL:
                *p++ = c->values[i >> 3] >> (i & 7) & 1 ? 't' : 'f';
                break;
            case IA_DATE: {
                int32_t v;
                memcpy(&v, c->values + i * 4, 4);
                p = ia_out_date(p, f, v, &status);
                break;
            }
            case IA_DECIMAL128:
                p = ia_out_decimal(p, f, c, c->values + i * 16, &status);
                break;
            case IA_DATETIME_DATE32: {
                int32_t v;
                memcpy(&v, c->values + i * 4, 4);
                if (v < IA_OUT_FIRST_DAY || v > IA_OUT_LAST_DAY)
                    status = IA_OUT_YEAR;
                else
                    p = ia_out_iso(p, v);
                break;
            }
            case IA_DATETIME_TIMESTAMP:
            case IA_DATETIME_TIME64:
            case IA_INTERVAL_DURATION: {
                int64_t v;
                memcpy(&v, c->values + i * 8, 8);
                p = c->kind == IA_DATETIME_TIMESTAMP ? ia_out_timestamp(p, c, v, &status)
                    : c->kind == IA_DATETIME_TIME64  ? ia_out_time(p, c, v, &status)
                                                     : ia_out_duration(p, c, v, &status);
                break;
            }
            case IA_DATETIME_TIME32:
            case IA_INTERVAL_MONTHS: {
                int32_t v;
                memcpy(&v, c->values + i * 4, 4);
                p = c->kind == IA_DATETIME_TIME32
                        ? ia_out_time(p, c, v, &status)
                        : ia_out_interval(p, c, v < 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 0, &status);
                break;
            }
            case IA_INTERVAL_MDN:
                p = ia_out_months_days(p, c, c->values + i * 16, &status);
                break;
            default:
                p = ia_out_content(p, f, c, i, &status);
                break;
            }
            if (__builtin_expect(status != IA_OUT_OK, 0)) {
                *fault = (struct ia_out_fault){status, k, row};
                return begin;
            }
            if (f->odd && !ia_out_is_text(c->kind))
                p = ia_out_odd(field, p, f->delimiter);
            *p++ = f->delimiter;
        }
        *p++ = '\n';
    }
    return p;
}

#endif
