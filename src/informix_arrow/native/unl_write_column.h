/* The columns of a .unl file to be written: set up from ops, and bound to the arrays of a batch. No Python. */
#ifndef INFORMIX_ARROW_UNL_WRITE_COLUMN_H
#define INFORMIX_ARROW_UNL_WRITE_COLUMN_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "arrow_c_data.h"
#include "plan.h"
#include "powers_of_ten.h"

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
    IA_OUT_DIGITS,   /* a decimal with more digits than its type */
    IA_OUT_FINITE    /* a float that is NaN or infinite */
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
    const struct ia_power *powers; /* of ten, for floats */
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

/* Fill in a column from its op; NULL, or what is wrong with the op. */
static const char *ia_out_column_from(const struct ia_op *op, struct ia_out_column *c)
{
    static const char *const formats[] = {
        [IA_INT16] = "s",   [IA_INT32] = "i",          [IA_INT64] = "l",
        [IA_FLOAT32] = "f", [IA_FLOAT64] = "g",
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
    if (ia_is_text(op->kind))
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
    const int text = ia_is_text(c->kind);
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

#endif
