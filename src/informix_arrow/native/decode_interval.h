/* INTERVAL (TYPES section 7) to months, microseconds, or Arrow's months, days and nanoseconds. */
#ifndef INFORMIX_ARROW_DECODE_INTERVAL_H
#define INFORMIX_ARROW_DECODE_INTERVAL_H

#include <stdint.h>

#include "base100.h"
#include "decode_fields.h"
#include "decode_value.h"

/* Arrow's month_day_nano. */
struct ia_month_day_nano {
    int32_t months, days;
    int64_t nanos;
};

static inline const char *ia_field_name(int field)
{
    static const char *const names[] = {"year", "month", "day", "hour", "minute", "second"};
    return names[field / 2];
}

/* The fields of a value by the slow way, one after the other; what is wrong is worded. A value may have its leading zero
 * pairs or not; a negative one is complemented over its whole width. */
static __attribute__((noinline)) int ia_interval_fields(const uint8_t *p, const struct ia_qualifier *q,
                                                        struct ia_fields *f, struct ia_error *err)
{
    uint8_t pairs[IA_INTERVAL_MAX_PAIRS] = {0};
    int last = -1; /* the last pair that is not 0 */
    for (int i = 0; i < q->pairs; i++) {
        if (p[1 + i] > 99)
            return IA_REFUSE(err, IA_PROTOCOL, "A base-100 digit is greater than 99.");
        if (p[1 + i])
            last = i;
    }
    if (p[0] == 0 && last < 0)
        return IA_NULL;
    f->negative = p[0] < 0x80;
    const int exponent = ia_b100_exponent(p);
    const int drop = q->exponent - exponent; /* leading zero pairs that were left out */
    if (drop < 0)
        return IA_REFUSE(err, IA_PROTOCOL, "The exponent %d is greater than %d, the maximum of the qualifier.", exponent, q->exponent);
    for (int i = 0; i <= last; i++) {
        const int digit = !f->negative ? p[1 + i] : i < last ? 99 - p[1 + i] : 100 - p[1 + i];
        if (i + drop < q->pairs)
            pairs[i + drop] = (uint8_t)digit;
        else if (digit)
            return IA_REFUSE(err, IA_DATA, "The value has digits after the last field of the qualifier.");
    }

    const int lowest = ia_counts_months(q) ? IA_MONTH : IA_SECOND;
    const int end = q->end < lowest ? q->end : lowest;
    const uint8_t *pair = pairs;
    f->whole = 0;
    f->fraction = 0;
    for (int field = q->start; field <= end; field += 2) {
        const int shift = (lowest - field) / 2 * 8;
        if (field == q->start) {
            const int odd = q->leading % 2;
            if (odd && pair[0] > 9)
                return IA_REFUSE(err, IA_DATA, "The first field has more than %d digits.", q->leading);
            for (int left = (q->leading + odd) / 2; left > 0; left--)
                f->whole |= (uint64_t)*pair++ << (shift + 8 * (left - 1));
            continue;
        }
        if (*pair > ia_greatest(field, 1))
            return IA_REFUSE(err, IA_DATA, "The %s is %d, but must be at most %d.", ia_field_name(field), *pair,
                             ia_greatest(field, 1));
        f->whole |= (uint64_t)*pair++ << shift;
    }
    for (int i = 0; i < (q->fraction + 1) / 2; i++)
        f->fraction |= (uint32_t)*pair++ << (16 - 8 * i);
    if (q->fraction % 2 && pair[-1] % 10)
        return IA_REFUSE(err, IA_DATA, "The value has more digits than FRACTION(%d).", q->fraction);
    return IA_VALUE;
}

static inline __attribute__((always_inline)) int ia_interval_from(const uint8_t *p, const struct ia_qualifier *q,
                                                                  int64_t room, struct ia_fields *f,
                                                                  struct ia_error *err)
{
    int rc = ia_align(p, q, room, f);
    if (__builtin_expect(rc == IA_NOT_PLAIN, 0)) {
        struct ia_fields slow;
        rc = ia_interval_fields(p, q, &slow, err);
        *f = slow;
    }
    return rc;
}

/* The first field, and those behind it in units of the last: seconds; months. */
static inline int64_t ia_interval_units(const struct ia_fields *f, const struct ia_qualifier *q)
{
    const int64_t first = (int64_t)ia_b100_join8(f->whole >> q->after) * q->unit;
    const uint64_t others = f->whole & ((1ull << q->after) - 1);
    if (ia_counts_months(q))
        return first + (int64_t)others;
    return first + (int64_t)(others >> 16) * 3600 + (int64_t)(others >> 8 & 255) * 60 + (int64_t)(others & 255);
}

static inline int64_t ia_signed(int64_t magnitude, int negative)
{
    return (magnitude ^ -(int64_t)negative) + negative;
}

/* YEAR TO MONTH and its parts -> months. */
static inline __attribute__((always_inline)) int ia_decode_interval_months(const uint8_t *p,
                                                                           const struct ia_qualifier *q, int64_t room,
                                                                           int32_t *out, struct ia_error *err)
{
    struct ia_fields f;
    const int rc = ia_interval_from(p, q, room, &f, err);
    *out = 0;
    if (rc != IA_VALUE)
        return rc;
    const int64_t months = ia_signed(ia_interval_units(&f, q), f.negative);
    if (__builtin_expect(months < INT32_MIN || months > INT32_MAX, 0))
        return IA_REFUSE(err, IA_DATA, "%lld months do not fit in int32.", (long long)months);
    *out = (int32_t)months;
    return IA_VALUE;
}

/* DAY TO FRACTION and its parts -> microseconds. */
static inline __attribute__((always_inline)) int ia_decode_interval_micros(const uint8_t *p,
                                                                           const struct ia_qualifier *q, int64_t room,
                                                                           int64_t *out, struct ia_error *err)
{
    struct ia_fields f;
    const int rc = ia_interval_from(p, q, room, &f, err);
    *out = 0;
    if (rc != IA_VALUE)
        return rc;
    const int64_t seconds = ia_interval_units(&f, q);
    int64_t micros;
    if (__builtin_expect(__builtin_mul_overflow(seconds, (int64_t)1000000, &micros) ||
                             __builtin_add_overflow(micros, (int64_t)ia_micros(f.fraction), &micros),
                         0))
        return IA_REFUSE(err, IA_DATA,
                         "%lld days do not fit in duration[us] (106751991 days). Use intervals=\"month_day_nano\".",
                         (long long)(seconds / 86400));
    *out = ia_signed(micros, f.negative);
    return IA_VALUE;
}

/* Either class -> month_day_nano: months only, or days and the nanoseconds of less than a day, both with the sign. */
static inline int ia_decode_interval_mdn(const uint8_t *p, const struct ia_qualifier *q, int64_t room,
                                         struct ia_month_day_nano *out, struct ia_error *err)
{
    *out = (struct ia_month_day_nano){0};
    if (ia_counts_months(q))
        return ia_decode_interval_months(p, q, room, &out->months, err);
    struct ia_fields f;
    const int rc = ia_interval_from(p, q, room, &f, err);
    if (rc != IA_VALUE)
        return rc;
    const int64_t seconds = ia_interval_units(&f, q);
    out->days = (int32_t)ia_signed(seconds / 86400, f.negative);
    out->nanos = ia_signed(seconds % 86400 * 1000000000 + (int64_t)ia_micros(f.fraction) * 1000, f.negative);
    return IA_VALUE;
}

#endif
