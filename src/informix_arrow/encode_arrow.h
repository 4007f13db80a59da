/* Binding an Arrow column (C data interface) to a column of the encoder's plan: does its format fit the kind, and are
 * its buffers there?  No Python, no allocation; nothing is read but the structs and, for strings, the last offset. */
#ifndef INFORMIX_ARROW_ENCODE_ARROW_H
#define INFORMIX_ARROW_ENCODE_ARROW_H

#include <stdio.h>
#include <string.h>

#include "arrow_c_data.h"
#include "encode_core.h"

struct ia_kind_text {
    const char *sql;    /* the Informix type in messages */
    const char *arrow;  /* the Arrow types that fit it */
};

static inline struct ia_kind_text ia_enc_kind_text(int kind)
{
    static const struct ia_kind_text texts[] = {
        [IA_INT16] = {"SMALLINT", "int16"},
        [IA_INT32] = {"INTEGER", "int32"},
        [IA_INT64] = {"BIGINT", "int64"},
        [IA_INT8] = {"INT8", "int64"},
        [IA_FLOAT32] = {"SMALLFLOAT", "float32"},
        [IA_FLOAT64] = {"FLOAT", "float64"},
        [IA_DATE] = {"DATE", "date32"},
        [IA_BOOL] = {"BOOLEAN", "bool"},
        [IA_CHAR] = {"CHAR", "utf8 or large_utf8"},
        [IA_VARCHAR] = {"VARCHAR", "utf8 or large_utf8"},
        [IA_LVARCHAR] = {"LVARCHAR", "utf8 or large_utf8"},
        [IA_DECIMAL128] = {"DECIMAL", "decimal128 of the column's scale"},
        [IA_DECIMAL_FLOAT64] = {"DECIMAL", "float64"},
        [IA_DECIMAL_STRING] = {"DECIMAL", "utf8 or large_utf8"},
        [IA_DATETIME_DATE32] = {"DATETIME", "date32"},
        [IA_DATETIME_TIMESTAMP] = {"DATETIME", "timestamp without a zone"},
        [IA_DATETIME_TIME32] = {"DATETIME", "time32 or time64"},
        [IA_DATETIME_TIME64] = {"DATETIME", "time32 or time64"},
        [IA_DATETIME_TEXT] = {"DATETIME", "utf8 or large_utf8"},
    };
    return texts[kind];
}

static inline int64_t ia_per_second(char unit)
{
    switch (unit) {
    case 's': return 1;
    case 'm': return 1000;
    case 'u': return 1000000;
    case 'n': return 1000000000;
    default: return 0;
    }
}

/* Does the format string fit?  Sets what the core must know of it. */
static inline int ia_enc_format_fits(struct ia_enc_col *c, const char *format)
{
    const char *plain = NULL;
    switch (c->kind) {
    case IA_INT16: plain = "s"; break;
    case IA_INT32: plain = "i"; break;
    case IA_INT64:
    case IA_INT8: plain = "l"; break;
    case IA_FLOAT32: plain = "f"; break;
    case IA_FLOAT64:
    case IA_DECIMAL_FLOAT64: plain = "g"; break;
    case IA_BOOL: plain = "b"; break;
    case IA_DATE:
    case IA_DATETIME_DATE32: plain = "tdD"; break;
    case IA_DECIMAL128: {
        int precision, scale, bits = 128, used = 0;
        if (sscanf(format, "d:%d,%d%n", &precision, &scale, &used) < 2 || used == 0) return 0;
        if (format[used] == ',' && sscanf(format + used, ",%d", &bits) != 1) return 0;
        return (format[used] == '\0' || format[used] == ',') && bits == 128 && scale == c->decimal.scale;
    }
    case IA_DATETIME_TIMESTAMP: /* ts<unit>:<zone>; a zone would have to be dropped silently */
        if (strncmp(format, "ts", 2) != 0 || format[2] == '\0' || strcmp(format + 3, ":") != 0) return 0;
        c->tick_bytes = 8;
        c->per_second = ia_per_second(format[2]);
        return c->per_second != 0;
    case IA_DATETIME_TIME32:
    case IA_DATETIME_TIME64:
        if (strncmp(format, "tt", 2) != 0 || format[2] == '\0' || format[3] != '\0') return 0;
        c->per_second = ia_per_second(format[2]);
        c->tick_bytes = c->per_second <= 1000 ? 4 : 8;
        return c->per_second != 0;
    default: /* text */
        c->large = format[0] == 'U';
        return (format[0] == 'u' || format[0] == 'U') && format[1] == '\0';
    }
    return strcmp(format, plain) == 0;
}

/* Bind column `c` to an Arrow child; `offset` and `rows` are those of the batch's struct.  Returns 0, or -1 with the
 * reason in why. */
static inline int ia_enc_bind(struct ia_enc_col *c, const struct ArrowSchema *schema, const struct ArrowArray *array,
                              int64_t offset, int64_t rows, char *why, size_t size)
{
    static const uint8_t nothing[16] = {0};
    const struct ia_kind_text text = ia_enc_kind_text(c->kind);
    const char *const format = schema->format ? schema->format : "";

    c->all_null = 0;
    c->validity = NULL;
    c->values = c->text = nothing;
    c->text_end = 0;
    if (schema->dictionary || array->dictionary) {
        snprintf(why, size, "a dictionary (indices '%.40s') cannot be stored in %s, which needs %s: cast it first",
                 format, text.sql, text.arrow);
        return -1;
    }
    c->all_null = strcmp(format, "n") == 0;
    if (!c->all_null && !ia_enc_format_fits(c, format)) {
        if (c->kind == IA_DECIMAL128)
            snprintf(why, size, "Arrow format '%.40s' does not fit DECIMAL(%d,%d), which needs decimal128 of scale %d",
                     format, (int)c->decimal.precision, (int)c->decimal.scale, (int)c->decimal.scale);
        else
            snprintf(why, size, "Arrow format '%.40s' does not fit %s, which needs %s", format, text.sql, text.arrow);
        return -1;
    }
    if (array->offset < 0 || array->length < 0 || array->length < offset || array->length - offset < rows ||
        array->offset > INT64_MAX / 16 - offset - rows) {
        snprintf(why, size, "the Arrow array has %lld values, the batch needs %lld",
                 (long long)array->length, (long long)(offset + rows));
        return -1;
    }
    c->base = array->offset + offset;
    if (c->all_null || rows == 0) return 0; /* a batch without rows may come without buffers */

    const int is_text = ia_enc_is_text(c->kind);
    if (array->n_buffers != (is_text ? 3 : 2) || array->buffers == NULL) {
        snprintf(why, size, "the Arrow array has %lld buffers where '%.40s' has %d", (long long)array->n_buffers,
                 format, is_text ? 3 : 2);
        return -1;
    }
    if (array->buffers[1] == NULL || (array->buffers[0] == NULL && array->null_count > 0)) {
        snprintf(why, size, "the Arrow array lacks its %s buffer", array->buffers[1] ? "validity" : "values");
        return -1;
    }
    if (array->null_count != 0) c->validity = array->buffers[0];
    c->values = array->buffers[1];
    if (is_text) {
        const int64_t last = c->base + rows;
        if (c->large) {
            memcpy(&c->text_end, c->values + last * 8, 8);
        } else {
            int32_t end;
            memcpy(&end, c->values + last * 4, 4);
            c->text_end = end;
        }
        if (c->text_end < 0 || (c->text_end > 0 && array->buffers[2] == NULL)) {
            snprintf(why, size, "the Arrow array's string offsets do not fit its data");
            return -1;
        }
        if (array->buffers[2]) c->text = array->buffers[2];
    }
    return 0;
}

#endif
