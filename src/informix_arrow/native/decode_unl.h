/* Lines of a .unl file (LOAD, UNLOAD) to the columns of an open batch (decode_batch.h). No Python.
 *
 *   - a row is split first, then its fields are converted, so that a row that has not arrived whole leaves nothing behind;
 *   - a delimiter stands behind every field, the last too; a last one that is missing is no error;
 *   - a backslash takes the delimiter, itself or the end of the line into a text; alone with a blank it is the empty text;
 *   - nothing at all is NULL.
 * What a field is wrong about is worded here; the module adds file, line and column. */
#ifndef INFORMIX_ARROW_DECODE_UNL_H
#define INFORMIX_ARROW_DECODE_UNL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base100.h"
#include "decode_append.h"
#include "decode_batch.h"
#include "decode_core.h"
#include "decode_datetime.h"
#include "decode_fields.h"
#include "decode_interval.h"
#include "decode_plan.h"
#include "decode_text.h"
#include "decode_value.h"
#include "plan.h"

/* A flag of an op besides those of plan.h: the amount may have a currency symbol. */
#define IA_FLAG_MONEY 128

#define IA_UNL_SYMBOL 8     /* bytes of a currency symbol, at most */
#define IA_UNL_SCRATCH 256  /* bytes of a field that is no text, at most */

struct ia_unl_format {
    uint8_t delimiter;
    uint8_t point;       /* decimal separator */
    uint8_t century;     /* DBCENTURY: 'R', 'P', 'F' or 'C' */
    uint8_t separator;   /* of dates; 0: none */
    uint8_t order[3];    /* of dates: 'D', 'M', 'Y' */
    uint8_t year_digits; /* of dates: 2 or 4 */
    int32_t today;       /* days from 1970-01-01, what DBCENTURY counts from */
    int join;            /* lines are joined until the row has all its fields */
    int empty;           /* old files: nothing is the empty text, in columns of text */
    int front_size, back_size;
    uint8_t front[IA_UNL_SYMBOL], back[IA_UNL_SYMBOL]; /* the currency's symbol */
};

struct ia_unl_field {
    const uint8_t *text;
    int64_t size;
    int escaped; /* has a backslash */
};

struct ia_unl_reader {
    struct ia_decoder core;
    struct ia_unl_format format;
    struct ia_unl_field *fields; /* core.count of them, of the row being read */
    uint8_t special[256];        /* delimiter, backslash, end of line */
    int64_t line;                /* in which the next row begins, from 1 */
    int delimited;               /* a row had its last delimiter: the file is of those that have */
    int64_t error_line;
};

/* ---- splitting ----------------------------------------------------------------------------------------------- */

static inline int ia_unl_is_text(const struct ia_column *c)
{
    return ia_is_encoded(c->kind);
}

static int ia_unl_miscounted(struct ia_unl_reader *r, int found, const char *more)
{
    return IA_REFUSE(&r->core.error, IA_DATA, "the row has %d field%s where the schema has %d%s", found,
                     found == 1 ? "" : "s", r->core.count, more);
}

/* How many fields a row with too many has, up to the end of its line or of what is there. */
static int ia_unl_count_on(const struct ia_unl_reader *r, int found, const uint8_t *q, const uint8_t *end)
{
    const uint8_t *from = q;
    for (; q < end && *q != '\n'; q++) {
        if (*q == '\\' && q + 1 < end) {
            q++;
        } else if (*q == r->format.delimiter) {
            found++;
            from = q + 1;
        }
    }
    return found + (q > from && !(q == from + 1 && *from == '\r'));
}

/* Find the fields of the row at p. IA_VALUE with the row's end in *next and its lines counted, IA_NEED_MORE, or IA_DATA. */
static int ia_unl_split(struct ia_unl_reader *r, const uint8_t *p, const uint8_t *end, int final, const uint8_t **next,
                        int64_t *lines)
{
    const uint8_t *const special = r->special;
    const int count = r->core.count;
    const uint8_t *from = p, *q = p, *escape = NULL; /* behind the last escape */
    int k = 0, escaped = 0;
    *lines = 0;
    for (;;) {
        while (q < end && !special[*q])
            q++;
        if (q == end) {
            if (!final)
                return IA_NEED_MORE;
            break;
        }
        if (*q == '\\') {
            if (q + 1 == end || (q[1] == '\r' && q + 2 == end)) {
                if (!final)
                    return IA_NEED_MORE;
                if (q + 1 == end)
                    return IA_REFUSE(&r->core.error, IA_DATA, "the file ends behind a backslash: it is cut off");
            }
            escaped = 1;
            q += 2;
            if (q[-1] == '\r' && q < end && *q == '\n')
                q++;
            *lines += q[-1] == '\n';
            escape = q;
            continue;
        }
        if (*q == r->format.delimiter) {
            if (k == count) {
                r->error_line = r->line + *lines;
                return ia_unl_miscounted(r, ia_unl_count_on(r, k, from, end),
                                         ": a delimiter inside a text needs a backslash before it");
            }
            r->fields[k++] = (struct ia_unl_field){from, q - from, escaped};
            from = ++q;
            escaped = 0;
            continue;
        }
        if (k < count && r->format.join && ia_unl_is_text(&r->core.columns[k])) {
            ++*lines;
            q++;
            continue;
        }
        break;
    }
    /* The end of a line, or of the file. */
    const uint8_t *until = q;
    *next = q < end ? q + 1 : q;
    if (until > from && until[-1] == '\r' && until != escape)
        until--;
    if (k == count - 1 && !(count == 1 && until == from)) { /* the last delimiter is missing */
        if (q == end && r->delimited) {
            r->error_line = r->line + *lines;
            return IA_REFUSE(&r->core.error, IA_DATA, "the file ends inside the row: it is cut off");
        }
        r->fields[k++] = (struct ia_unl_field){from, until - from, escaped};
    } else if (k < count || until > from) {
        r->error_line = r->line + *lines;
        if (k == 0 && until == from)
            return IA_REFUSE(&r->core.error, IA_DATA, "the line is empty: remove it");
        return ia_unl_miscounted(r, k + (until > from),
                                 k >= count ? ": a delimiter inside a text needs a backslash before it"
                                 : q == end ? ", and the file ends: it is cut off"
                                 : r->format.join
                                     ? ""
                                     : ": the end of a line inside a text needs a backslash before it; join_lines=True "
                                       "reads texts without");
    } else {
        r->delimited = 1;
    }
    *lines += q < end;
    return IA_VALUE;
}

/* ---- fields as text ------------------------------------------------------------------------------------------ */

/* Take the backslashes out; dst has room for n bytes. Returns the bytes written. */
static inline int64_t ia_unl_unescape(uint8_t *dst, const uint8_t *s, int64_t n)
{
    uint8_t *to = dst;
    for (int64_t i = 0; i < n; i++) {
        if (s[i] == '\\' && i + 1 < n) {
            i++;
            if (s[i] == '\r' && i + 1 < n && s[i + 1] == '\n')
                i++; /* a file whose lines have been given other ends */
        }
        *to++ = s[i];
    }
    return to - dst;
}

static inline int ia_unl_is_empty(const struct ia_unl_field *f)
{
    return f->size == 2 && f->text[0] == '\\' && f->text[1] == ' ';
}

static inline void ia_unl_end_text(struct ia_column *c, int64_t row)
{
    if (c->flags & IA_FLAG_LARGE)
        ((int64_t *)c->offsets)[row + 1] = c->length;
    else
        ((int32_t *)c->offsets)[row + 1] = (int32_t)c->length;
}

static inline int ia_unl_room(const struct ia_decoder *d, struct ia_column *c, const uint8_t *s, int64_t n,
                              struct ia_error *err)
{
    return c->capacity - c->length < n ? ia_grow_text(d, c, s, n, err) : 0;
}

/* Append a text with its escapes taken out. Returns its bytes, or a negative ia_status. */
static int64_t ia_unl_append_escaped(const struct ia_decoder *d, struct ia_column *c, int64_t row,
                                     const struct ia_unl_field *f, struct ia_error *err)
{
    const int rc = ia_unl_room(d, c, f->text, f->size, err);
    if (rc)
        return rc;
    uint8_t *const dst = c->values + c->length;
    int64_t n = ia_unl_is_empty(f) ? 0 : ia_unl_unescape(dst, f->text, f->size);
    while (c->flags & IA_FLAG_TRIM && n > 0 && dst[n - 1] == ' ')
        n--;
    const int64_t valid = ia_utf8_valid_until(dst, n);
    if (valid != n)
        return IA_REFUSE(err, IA_DATA, "byte %lld of the text (%02x) is not UTF-8: name the file's code set with encoding=",
                         (long long)valid, dst[valid]);
    c->length += n;
    ia_unl_end_text(c, row);
    return n;
}

static inline int64_t ia_unl_append_text(const struct ia_decoder *d, struct ia_column *c, int64_t row,
                                         const struct ia_unl_field *f, const uint8_t *end, struct ia_error *err)
{
    int64_t n = f->size;
    if (f->escaped)
        return ia_unl_append_escaped(d, c, row, f, err);
    if (c->flags & IA_FLAG_TRIM)
        while (n > 0 && f->text[n - 1] == ' ')
            n--;
    n = ia_append_text(d, c, row, f->text, n, end - f->text, err);
    if (n == IA_DATA && strstr(err->detail, "not UTF-8"))
        strcat(err->detail, ": name the file's code set with encoding="); /* 160 bytes are enough for both */
    return n;
}

static inline int ia_unl_nibble(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Append the bytes that hexadecimal digits stand for. */
static int64_t ia_unl_append_hex(const struct ia_decoder *d, struct ia_column *c, int64_t row,
                                 const struct ia_unl_field *f, struct ia_error *err)
{
    const int64_t n = ia_unl_is_empty(f) ? 0 : f->size / 2;
    const int rc = ia_unl_room(d, c, f->text, n, err);
    if (rc)
        return rc;
    uint8_t *const dst = c->values + c->length;
    if (n && f->size % 2)
        return IA_REFUSE(err, IA_DATA, "%lld hexadecimal digits: there must be two for each byte", (long long)f->size);
    for (int64_t i = 0; i < n; i++) {
        const int high = ia_unl_nibble(f->text[2 * i]), low = ia_unl_nibble(f->text[2 * i + 1]);
        if (high < 0 || low < 0)
            return IA_REFUSE(err, IA_DATA, "byte %lld of the field is no hexadecimal digit, as the contents of a BYTE are",
                             (long long)(2 * i + (high >= 0)));
        dst[i] = (uint8_t)(high << 4 | low);
    }
    if (n == 0 && f->size && !ia_unl_is_empty(f))
        return IA_REFUSE(err, IA_DATA, "one hexadecimal digit: there must be two for each byte");
    c->length += n;
    ia_unl_end_text(c, row);
    return n;
}

/* A field's text in an error: printable, and no more of it than helps. */
static const char *ia_unl_shown(const uint8_t *s, int64_t n, char out[48])
{
    const int64_t most = n > 40 ? 37 : n;
    char *to = out;
    for (int64_t i = 0; i < most; i++)
        *to++ = s[i] >= 32 && s[i] < 127 ? (char)s[i] : '?';
    if (n > 40) {
        memcpy(to, "...", 3);
        to += 3;
    }
    *to = '\0';
    return out;
}

#define IA_UNL_WRONG(err, s, n, ...) (ia_unl_wrong(err, s, n, __VA_ARGS__), IA_DATA)

static void ia_unl_wrong(struct ia_error *err, const uint8_t *s, int64_t n, const char *what)
{
    char shown[48];
    (void)snprintf(err->detail, sizeof err->detail, "'%s' %s", ia_unl_shown(s, n, shown), what);
}

/* ---- numbers ------------------------------------------------------------------------------------------------- */

static inline int ia_unl_digit(const uint8_t *s, const uint8_t *end)
{
    return s < end && (uint8_t)(*s - '0') < 10;
}

static int ia_unl_integer(const uint8_t *s, int64_t n, int64_t least, int64_t most, int64_t *out, struct ia_error *err)
{
    const uint8_t *p = s, *const end = s + n;
    const int negative = p < end && *p == '-';
    uint64_t v = 0;
    p += p < end && (*p == '-' || *p == '+');
    if (!ia_unl_digit(p, end))
        return IA_UNL_WRONG(err, s, n, "is no whole number");
    for (; ia_unl_digit(p, end); p++) {
        if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            return IA_UNL_WRONG(err, s, n, "is beyond the range of the column");
    }
    if (p != end)
        return IA_UNL_WRONG(err, s, n, "is no whole number");
    if (negative ? v > (uint64_t)0 - (uint64_t)least : v > (uint64_t)most)
        return IA_UNL_WRONG(err, s, n, "is beyond the range of the column");
    *out = (int64_t)(negative ? 0 - v : v);
    return IA_VALUE;
}

/* A number with a point and an exponent, taken apart but not converted. */
struct ia_unl_number {
    const uint8_t *whole, *fraction; /* digits */
    int whole_size, fraction_size;
    int exponent;
    int negative;
};

static inline int ia_unl_skip_symbol(const uint8_t **p, const uint8_t *end, const uint8_t *symbol, int size)
{
    if (size == 0 || end - *p < size || memcmp(*p, symbol, (size_t)size) != 0)
        return 0;
    *p += size;
    while (*p < end && **p == ' ')
        ++*p;
    return 1;
}

static int ia_unl_number_from(const struct ia_unl_format *f, const uint8_t *s, int64_t n, int money,
                              struct ia_unl_number *out, struct ia_error *err)
{
    const uint8_t *p = s, *end = s + n;
    int sign = 0;
    memset(out, 0, sizeof *out);
    if (p < end && (*p == '-' || *p == '+'))
        sign = *p++;
    if (money) {
        if (!ia_unl_skip_symbol(&p, end, f->front, f->front_size) && f->front_size == 0)
            (void)ia_unl_skip_symbol(&p, end, (const uint8_t *)"$", 1); /* DBMONEY's own default */
        if (!sign && p < end && (*p == '-' || *p == '+'))
            sign = *p++;
        if (f->back_size && end - p > f->back_size && memcmp(end - f->back_size, f->back, (size_t)f->back_size) == 0)
            end -= f->back_size;
        while (end > p && end[-1] == ' ')
            end--;
    }
    out->negative = sign == '-';
    out->whole = p;
    while (ia_unl_digit(p, end))
        p++;
    out->whole_size = (int)(p - out->whole);
    out->fraction = p;
    if (p < end && *p == f->point) {
        out->fraction = ++p;
        while (ia_unl_digit(p, end))
            p++;
        out->fraction_size = (int)(p - out->fraction);
    }
    if (out->whole_size + out->fraction_size == 0)
        return IA_UNL_WRONG(err, s, n, "is no number");
    if (p < end && (*p | 32) == 'e') {
        const int minus = p + 1 < end && p[1] == '-';
        p += 1 + (p + 1 < end && (p[1] == '-' || p[1] == '+'));
        if (!ia_unl_digit(p, end))
            return IA_UNL_WRONG(err, s, n, "is no number");
        for (; ia_unl_digit(p, end); p++)
            if (out->exponent < 100000)
                out->exponent = out->exponent * 10 + *p - '0';
        if (minus)
            out->exponent = -out->exponent;
    }
    if (p != end)
        return IA_UNL_WRONG(err, s, n,
                            f->point == '.' && *p == ',' ? "is no number: dbmoney=\",\" reads decimal commas" : "is no number");
    return IA_VALUE;
}

/* The unscaled integer of decimal128(precision, scale), exactly. */
static int ia_unl_decimal(const struct ia_unl_format *f, const uint8_t *s, int64_t n, int money, int precision, int scale,
                          ia_i128 *out, struct ia_error *err)
{
    struct ia_unl_number number;
    const int rc = ia_unl_number_from(f, s, n, money, &number, err);
    if (rc < 0)
        return rc;
    const int digits = number.whole_size + number.fraction_size;
    const int64_t kept = (int64_t)number.whole_size + number.exponent + scale; /* digits before the last that is kept */
    ia_u128 v = 0;
    int64_t i = 0;
    for (; i < digits; i++) {
        const int digit =
            (i < number.whole_size ? number.whole[i] : number.fraction[i - number.whole_size]) - '0';
        if (i >= kept) {
            if (digit)
                return IA_UNL_WRONG(err, s, n, "has more digits behind the point than the column keeps");
            continue;
        }
        if (v > (~(ia_u128)0 >> 1) / 10 - 1)
            return IA_UNL_WRONG(err, s, n, "has more digits than the column holds");
        v = v * 10 + (unsigned)digit;
    }
    for (; v && i < kept; i++) {
        if (v > (~(ia_u128)0 >> 1) / 10 - 1)
            return IA_UNL_WRONG(err, s, n, "has more digits than the column holds");
        v *= 10;
    }
    if (v >= ia_pow10(precision))
        return IA_UNL_WRONG(err, s, n, "has more digits than the column holds");
    *out = number.negative ? -(ia_i128)v : (ia_i128)v;
    return IA_VALUE;
}

/* A number as text with a point and without currency, as Arrow's own conversions read it. Its bytes, or an ia_status. */
static int64_t ia_unl_append_number(const struct ia_unl_reader *r, struct ia_column *c, int64_t row, const uint8_t *s,
                                    int64_t n, struct ia_error *err)
{
    uint8_t made[IA_UNL_SCRATCH + 16];
    struct ia_unl_number number;
    int rc = ia_unl_number_from(&r->format, s, n, c->flags & IA_FLAG_MONEY, &number, err);
    if (rc < 0)
        return rc;
    uint8_t *to = made;
    if (number.negative)
        *to++ = '-';
    if (number.whole_size == 0)
        *to++ = '0';
    memcpy(to, number.whole, (size_t)number.whole_size);
    to += number.whole_size;
    if (number.fraction_size) {
        *to++ = '.';
        memcpy(to, number.fraction, (size_t)number.fraction_size);
        to += number.fraction_size;
    }
    if (number.exponent)
        to += snprintf((char *)to, 12, "e%d", number.exponent);
    rc = ia_unl_room(&r->core, c, made, to - made, err);
    if (rc)
        return rc;
    memcpy(c->values + c->length, made, (size_t)(to - made));
    c->length += to - made;
    ia_unl_end_text(c, row);
    return to - made;
}

/* ---- dates and times ----------------------------------------------------------------------------------------- */

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

static int ia_unl_date(const struct ia_unl_format *f, const uint8_t *s, int64_t n, int32_t *out, struct ia_error *err)
{
    static const char wrong[] = "is no date in the order of dbdate, which is \"MDY4/\" when it is not given";
    const uint8_t *p = s, *const end = s + n;
    int year = 0, month = 0, day = 0, year_size = 0;
    for (int k = 0; k < 3; k++) {
        int v;
        if (k > 0 && f->separator) {
            if (p == end || !(*p == f->separator || *p == '/' || *p == '-' || *p == '.'))
                return IA_UNL_WRONG(err, s, n, wrong);
            p++;
        }
        const int most = f->order[k] == 'Y' ? (f->separator ? 4 : f->year_digits) : 2;
        const int size = ia_unl_digits(&p, end, most, &v);
        if (size == 0 || (!f->separator && size != most))
            return IA_UNL_WRONG(err, s, n, wrong);
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
        return IA_UNL_WRONG(err, s, n, wrong);
    if (year_size <= 2 && month >= 1 && month <= 12 && day >= 1 && day <= 31)
        year = ia_unl_century(f, year, month, day);
    if (!ia_unl_is_date(year, month, day))
        return IA_UNL_WRONG(err, s, n, wrong);
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

static int ia_unl_datetime(const struct ia_qualifier *q, const uint8_t *s, int64_t n, struct ia_moment *m,
                           struct ia_error *err)
{
    static const char wrong[] = "is no DATETIME of the column's qualifier";
    const uint8_t *p = s, *const end = s + n;
    int values[6] = {1970, 1, 1, 0, 0, 0};
    const int last = q->fraction ? IA_SECOND : q->end;
    for (int field = q->start; field <= last; field += 2) {
        if (field != q->start) {
            if (p == end || *p != ia_unl_before[field / 2])
                return IA_UNL_WRONG(err, s, n, wrong);
            p++;
        }
        const int size = ia_unl_digits(&p, end, field == IA_YEAR ? 4 : 2, &values[field / 2]);
        if (size == 0 || (field == IA_YEAR && size != 4))
            return IA_UNL_WRONG(err, s, n, wrong);
    }
    *m = (struct ia_moment){0};
    m->year = values[0], m->month = values[1], m->day = values[2];
    m->hour = values[3], m->minute = values[4], m->second = values[5];
    if (q->fraction && p < end && (*p == '.' || q->start == IA_FRACTION)) {
        p += *p == '.';
        const int digits = ia_unl_fraction(&p, end, q->fraction, &m->micros);
        if (digits < 0)
            return IA_UNL_WRONG(err, s, n, "has more digits behind the second than the column keeps");
        if (digits == 0)
            return IA_UNL_WRONG(err, s, n, wrong);
    }
    if (p != end || n == 0)
        return IA_UNL_WRONG(err, s, n, wrong);
    /* A day without its year or month may be any that exists: 02-29 is one. */
    const int year = q->start == IA_YEAR ? m->year : 2000, month = q->start <= IA_MONTH ? m->month : 1;
    if (!ia_unl_is_date(year, q->end >= IA_MONTH ? month : 1, q->start <= IA_DAY && q->end >= IA_DAY ? m->day : 1) ||
        m->hour > 23 || m->minute > 59 || m->second > 59)
        return IA_UNL_WRONG(err, s, n, wrong);
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
    static const char wrong[] = "is no INTERVAL of the column's qualifier";
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
                return IA_UNL_WRONG(err, s, n, wrong);
            if (ia_unl_digit(p, end))
                return IA_UNL_WRONG(err, s, n, "has more digits in its first field than the column's qualifier");
        } else {
            if (p == end || *p != (field == IA_MONTH ? '-' : ia_unl_before[field / 2]))
                return IA_UNL_WRONG(err, s, n, wrong);
            p++;
            if (ia_unl_digits(&p, end, 2, &v) == 0 || v > ia_greatest(field, 1))
                return IA_UNL_WRONG(err, s, n, wrong);
        }
        total += v * units[field / 2];
    }
    if (q->fraction && p < end && (*p == '.' || (q->start == IA_FRACTION && p == first))) {
        p += *p == '.';
        const int digits = ia_unl_fraction(&p, end, q->fraction, &micros);
        if (digits < 0)
            return IA_UNL_WRONG(err, s, n, "has more digits behind the second than the column keeps");
        if (digits == 0)
            return IA_UNL_WRONG(err, s, n, wrong);
    }
    if (p != end || p == first)
        return IA_UNL_WRONG(err, s, n, wrong);
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

/* ---- rows ---------------------------------------------------------------------------------------------------- */

/* Convert a field that is neither NULL nor text. IA_VALUE or a negative ia_status; *bytes grows by those of a text. */
static int ia_unl_convert(struct ia_unl_reader *r, struct ia_column *c, int64_t row, const uint8_t *s, int64_t n,
                          int64_t *bytes)
{
    struct ia_error *const err = &r->core.error;
    const struct ia_unl_format *const f = &r->format;
    int64_t v = 0, rest = 0;
    int rc;
    switch (c->kind) {
    case IA_INT16:
        rc = ia_unl_integer(s, n, INT16_MIN, INT16_MAX, &v, err);
        ((int16_t *)(void *)c->values)[row] = (int16_t)v;
        return rc;
    case IA_INT32:
        rc = ia_unl_integer(s, n, INT32_MIN, INT32_MAX, &v, err);
        ((int32_t *)(void *)c->values)[row] = (int32_t)v;
        return rc;
    case IA_INT64:
    case IA_INT8:
        rc = ia_unl_integer(s, n, INT64_MIN, INT64_MAX, &v, err);
        ((int64_t *)(void *)c->values)[row] = v;
        return rc;
    case IA_BOOL:
        if (n != 1 || ((s[0] | 32) != 't' && (s[0] | 32) != 'f'))
            return IA_UNL_WRONG(err, s, n, "is no BOOLEAN, which is t or f");
        c->bits |= (uint64_t)((s[0] | 32) == 't') << (row & 63);
        return IA_VALUE;
    case IA_DECIMAL128: {
        ia_i128 unscaled = 0;
        rc = ia_unl_decimal(f, s, n, c->flags & IA_FLAG_MONEY, c->precision, c->scale, &unscaled, err);
        ((int64_t *)(void *)c->values)[2 * row] = (int64_t)unscaled;
        ((int64_t *)(void *)c->values)[2 * row + 1] = (int64_t)(unscaled >> 64);
        return rc;
    }
    case IA_DATE:
        return ia_unl_date(f, s, n, (int32_t *)(void *)c->values + row, err);
    case IA_DATETIME_DATE32:
    case IA_DATETIME_TIMESTAMP:
    case IA_DATETIME_TIME32:
    case IA_DATETIME_TIME64:
    case IA_DATETIME_TEXT: {
        struct ia_moment m;
        rc = ia_unl_datetime(&c->qualifier, s, n, &m, err);
        if (rc < 0)
            return rc;
        if (c->kind == IA_DATETIME_TEXT) {
            char text[IA_DATETIME_TEXT_LENGTH];
            const int size = ia_unl_datetime_text(&c->qualifier, &m, text);
            if ((rc = ia_unl_room(&r->core, c, s, size, err)) != 0)
                return rc;
            memcpy(c->values + c->length, text, (size_t)size);
            c->length += size;
            *bytes += size;
            ia_unl_end_text(c, row);
            return IA_VALUE;
        }
        const int64_t date = c->qualifier.start == IA_YEAR ? ia_days_from_civil(m.year, m.month, m.day) : 0;
        const int64_t seconds = date * 86400 + m.hour * 3600 + m.minute * 60 + m.second, unit = c->qualifier.unit;
        if (c->kind == IA_DATETIME_DATE32)
            ((int32_t *)(void *)c->values)[row] = (int32_t)date;
        else if (c->kind == IA_DATETIME_TIME32)
            ((int32_t *)(void *)c->values)[row] = (int32_t)seconds;
        else
            ((int64_t *)(void *)c->values)[row] = seconds * unit + m.micros / (1000000 / unit);
        return IA_VALUE;
    }
    case IA_INTERVAL_MONTHS:
        rc = ia_unl_interval(&c->qualifier, s, n, &v, &rest, err);
        if (rc == IA_VALUE && (v > INT32_MAX || v < INT32_MIN))
            return IA_UNL_WRONG(err, s, n, "is more months than int32 holds");
        ((int32_t *)(void *)c->values)[row] = (int32_t)v;
        return rc;
    case IA_INTERVAL_DURATION:
        rc = ia_unl_interval(&c->qualifier, s, n, &v, &rest, err);
        if (rc == IA_VALUE && (__builtin_mul_overflow(v, INT64_C(86400000000), &v) || __builtin_add_overflow(v, rest, &v)))
            return IA_UNL_WRONG(err, s, n, "is longer than duration[us] holds: read it as month_day_nano_interval");
        ((int64_t *)(void *)c->values)[row] = v;
        return rc;
    case IA_INTERVAL_MDN: {
        const int months = ia_counts_months(&c->qualifier);
        rc = ia_unl_interval(&c->qualifier, s, n, &v, &rest, err);
        if (rc == IA_VALUE && (v > INT32_MAX || v < INT32_MIN))
            return IA_UNL_WRONG(err, s, n, "is longer than month_day_nano holds");
        ((struct ia_month_day_nano *)(void *)c->values)[row] =
            months ? (struct ia_month_day_nano){(int32_t)v, 0, 0} : (struct ia_month_day_nano){0, (int32_t)v, rest * 1000};
        return rc;
    }
    default: /* IA_DECIMAL_STRING */
        v = ia_unl_append_number(r, c, row, s, n, err);
        if (v < 0)
            return (int)v;
        *bytes += v;
        return IA_VALUE;
    }
}

/* A value under a NULL is 0, and a text there has no bytes. */
static inline void ia_unl_null(struct ia_column *c, int64_t row)
{
    if (ia_is_text(c->kind))
        ia_unl_end_text(c, row);
    else if (!ia_is_bits(c->kind))
        memset(c->values + row * c->item, 0, (size_t)c->item);
}

/* One field into row `row` of its column. IA_VALUE, IA_NULL or a negative ia_status. */
static inline int ia_unl_take_field(struct ia_unl_reader *r, struct ia_column *c, int64_t row,
                                    const struct ia_unl_field *f, const uint8_t *end, int64_t *bytes)
{
    struct ia_error *const err = &r->core.error;
    if (f->size == 0 && !(r->format.empty && ia_unl_is_text(c))) {
        ia_unl_null(c, row);
        return IA_NULL;
    }
    if (ia_is_encoded(c->kind) || c->kind == IA_OPAQUE) {
        const int64_t n = c->kind == IA_OPAQUE ? ia_unl_append_hex(&r->core, c, row, f, err)
                                               : ia_unl_append_text(&r->core, c, row, f, end, err);
        if (n < 0)
            return (int)n;
        *bytes += n;
        return IA_VALUE;
    }
    uint8_t scratch[IA_UNL_SCRATCH];
    const uint8_t *s = f->text;
    int64_t n = f->size;
    if (n > IA_UNL_SCRATCH)
        return IA_UNL_WRONG(err, s, n, "is longer than any value of the column's type");
    if (f->escaped) {
        n = ia_unl_unescape(scratch, s, n);
        s = scratch;
    }
    while (n > 0 && *s == ' ')
        s++, n--;
    while (n > 0 && s[n - 1] == ' ')
        n--;
    return ia_unl_convert(r, c, row, s, n, bytes);
}

/* Read whole rows from data to end, which is the end of the file if `final`; *stop is the end of the last one. IA_NEED_MORE,
 * IA_FULL (take the batch) or a negative ia_status, which is final. */
static enum ia_status ia_unl_feed(struct ia_unl_reader *r, const uint8_t *data, const uint8_t *end, int final,
                                  const uint8_t **stop)
{
    struct ia_decoder *const d = &r->core;
    struct ia_error *const err = &d->error;
    const uint8_t *p = data;
    int status = IA_NEED_MORE;
    *stop = data;
    if (err->status < 0)
        return err->status;
    while (p < end) {
        const uint8_t *next = p;
        int64_t lines = 0;
        if (d->rows >= d->batch_rows || d->bytes >= d->batch_bytes) {
            status = IA_FULL;
            break;
        }
        err->column = -1;
        err->offset = -1;
        r->error_line = r->line;
        status = ia_unl_split(r, p, end, final, &next, &lines);
        if (status == IA_NEED_MORE)
            break;
        if (status < 0)
            goto failed;
        if (d->rows && d->bytes + (next - p) + d->extra > d->offset_limit) {
            status = IA_FULL;
            break;
        }
        if (d->rows == d->row_capacity && (status = ia_grow_rows(d, d->bytes)) != 0)
            goto failed;
        for (int k = 0; k < d->count; k++) {
            struct ia_column *const c = &d->columns[k];
            status = ia_unl_take_field(r, c, d->rows, &r->fields[k], end, &d->bytes);
            if (status < 0) {
                err->column = k;
                goto failed;
            }
            c->word |= (uint64_t)status << (d->rows & 63);
        }
        p = next;
        r->line += lines;
        d->bytes += d->row_bytes;
        d->rows++;
        if ((d->rows & 63) == 0)
            ia_store_words(d, (d->rows >> 6) - 1);
        status = IA_NEED_MORE;
        continue;
    failed:
        err->status = status;
        err->row = d->taken + d->rows;
        break;
    }
    *stop = p;
    return status;
}

/* Pass over at most `most` rows without converting them; *stop is the end of the last one. How many, or a negative
 * ia_status, which is final. */
static int64_t ia_unl_skip(struct ia_unl_reader *r, const uint8_t *data, const uint8_t *end, int final, int64_t most,
                           const uint8_t **stop)
{
    struct ia_error *const err = &r->core.error;
    const uint8_t *p = data;
    int64_t rows = 0;
    *stop = data;
    while (err->status >= 0 && rows < most && p < end) {
        const uint8_t *next = p;
        int64_t lines = 0;
        err->column = -1;
        err->offset = -1;
        r->error_line = r->line;
        const int status = ia_unl_split(r, p, end, final, &next, &lines);
        if (status == IA_NEED_MORE)
            break;
        if (status < 0) {
            err->status = status;
            err->row = r->core.taken + rows;
            break;
        }
        p = next;
        r->line += lines;
        rows++;
    }
    r->core.taken += rows;
    *stop = p;
    return err->status < 0 ? (int64_t)err->status : rows;
}

/* Start a reader of a core that has been started. 0 or -1: out of memory. */
static int ia_unl_reader_init(struct ia_unl_reader *r)
{
    memset(r->special, 0, sizeof r->special);
    r->special[r->format.delimiter] = r->special['\\'] = r->special['\n'] = 1;
    r->line = 1;
    r->fields = calloc((size_t)r->core.count + 1, sizeof *r->fields);
    return r->fields ? 0 : -1;
}

static void ia_unl_reader_free(struct ia_unl_reader *r)
{
    ia_decoder_free(&r->core);
    free(r->fields);
    r->fields = NULL;
}

#endif
