/* Write Arrow columns as lines of a .unl file (LOAD, UNLOAD). No Python, no allocation: the caller reserves the largest size
 * that a batch can take, so that no writer has to check the room.
 *
 * Columns have the Arrow type of their kind (plan.h). Other types are cast before. A value that the format cannot represent is
 * refused, with row and column. Nothing is truncated. */
#ifndef INFORMIX_ARROW_UNL_WRITE_H
#define INFORMIX_ARROW_UNL_WRITE_H

#include <stdint.h>
#include <string.h>

#include "plan.h"
#include "unl_write_column.h"
#include "unl_write_values.h"

struct ia_out_fault {
    int status;
    int column;
    int64_t row;
};

/* Most bytes that a value takes besides the content of a text, its delimiter included; without escapes. */
static inline int64_t ia_out_bound(const struct ia_out_column *c)
{
    return ia_is_text(c->kind) ? 4 : 72;
}

/* Most bytes that the bound rows of all columns take; -1: more than can be counted. */
static int64_t ia_out_most(const struct ia_out_column *columns, int count, int64_t rows)
{
    int64_t most = 64, each = 2;
    for (int k = 0; k < count; k++) {
        const struct ia_out_column *c = &columns[k];
        int64_t content;
        each += 2 * ia_out_bound(c);
        if (!ia_is_text(c->kind) || rows == 0)
            continue;
        if (__builtin_mul_overflow(c->text_end - c->text_reached, 2, &content) || __builtin_add_overflow(most, content, &most))
            return -1;
    }
    if (__builtin_mul_overflow(each, rows, &each) || __builtin_add_overflow(most, each, &most))
        return -1;
    return most;
}

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
            case IA_FLOAT32: {
                uint32_t v;
                memcpy(&v, c->values + i * 4, 4);
                if ((v >> 23 & 0xff) == 0xff)
                    status = IA_OUT_FINITE;
                else
                    p = ia_out_float(p, f, ia_shortest_float(f->powers, v), (int)(v >> 31));
                break;
            }
            case IA_FLOAT64: {
                uint64_t v;
                memcpy(&v, c->values + i * 8, 8);
                if ((v >> 52 & 0x7ff) == 0x7ff)
                    status = IA_OUT_FINITE;
                else
                    p = ia_out_float(p, f, ia_shortest_double(f->powers, v), (int)(v >> 63));
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
            if (f->odd && !ia_is_text(c->kind))
                p = ia_out_odd(field, p, f->delimiter);
            *p++ = f->delimiter;
        }
        *p++ = '\n';
    }
    return p;
}

#endif
