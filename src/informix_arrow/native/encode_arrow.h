/* Binding an Arrow column (C data interface) to a column of the encoder's plan: does its type fit the kind, and are its
 * buffers there?  No Python, no allocation; nothing is read but the structs and, for strings, the last offset. */
#ifndef INFORMIX_ARROW_ENCODE_ARROW_H
#define INFORMIX_ARROW_ENCODE_ARROW_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "arrow_c_data.h"
#include "arrow_names.h"
#include "encode_column.h"
#include "encode_core.h"
#include "encode_datetime.h"
#include "encode_interval.h"
#include "encode_text.h"
#include "plan.h"

/* A qualifier as it is declared: "YEAR TO FRACTION(3)", "DAY(9) TO SECOND". */
static inline void ia_qualifier_text(const struct ia_qualifier *q, int interval, char *out, size_t size)
{
    static const char *const fields[] = {"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "FRACTION"};
    char first[24], last[24];
    if (interval && q->leading > 0)
        snprintf(first, sizeof first, "%s(%d)", fields[q->start / 2], (int)q->leading);
    else
        snprintf(first, sizeof first, "%s", fields[q->start / 2]);
    if (q->fraction > 0)
        snprintf(last, sizeof last, "FRACTION(%d)", (int)q->fraction);
    else
        snprintf(last, sizeof last, "%s", fields[q->end / 2]);
    snprintf(out, size, "%s %s TO %s", interval ? "INTERVAL" : "DATETIME", first, last);
}

/* "SMALLINT", "CHAR(10)", "DECIMAL(8,2)": the column's type as far as the plan knows it. */
static inline void ia_enc_type_text(const struct ia_enc_col *c, char *out, size_t size)
{
    static const char *const names[] = {
        [IA_INT16] = "SMALLINT", [IA_INT32] = "INTEGER", [IA_INT64] = "BIGINT", [IA_INT8] = "INT8",
        [IA_FLOAT32] = "SMALLFLOAT", [IA_FLOAT64] = "FLOAT", [IA_DATE] = "DATE", [IA_BOOL] = "BOOLEAN",
        [IA_CHAR] = "CHAR", [IA_VARCHAR] = "VARCHAR", [IA_LVARCHAR] = "LVARCHAR",
        [IA_OPAQUE] = "an opaque type (BLOB, CLOB or user-defined)",
    };
    switch (c->kind) {
    case IA_CHAR:
    case IA_VARCHAR:
    case IA_LVARCHAR:
        if (c->width != IA_ENC_MAX_TEXT) {
            snprintf(out, size, "%s(%d)", names[c->kind], (int)c->width);
            return;
        }
        break;
    case IA_DECIMAL128:
    case IA_DECIMAL_FLOAT64:
    case IA_DECIMAL_STRING:
    case IA_DECIMAL_INT64:
        if (c->decimal.scale < 0)
            snprintf(out, size, "DECIMAL(%d)", (int)c->decimal.precision);
        else
            snprintf(out, size, "DECIMAL(%d,%d)", (int)c->decimal.precision, (int)c->decimal.scale);
        return;
    case IA_DATETIME_DATE32:
    case IA_DATETIME_TIMESTAMP:
    case IA_DATETIME_TIME32:
    case IA_DATETIME_TIME64:
    case IA_DATETIME_TEXT: ia_qualifier_text(&c->qualifier, 0, out, size); return;
    case IA_INTERVAL_MONTHS:
    case IA_INTERVAL_DURATION:
    case IA_INTERVAL_MDN: ia_qualifier_text(&c->qualifier, 1, out, size); return;
    case IA_LOB: snprintf(out, size, "%s", c->arg == 12 ? "TEXT" : "BYTE"); return;
    default: break;
    }
    snprintf(out, size, "%s", names[c->kind]);
}

/* The Arrow types that fit a column, and what to do with another one. */
static inline const char *ia_enc_wanted(const struct ia_enc_col *c)
{
    switch (c->kind) {
    case IA_INT16:
    case IA_INT32:
    case IA_INT64:
    case IA_INT8: return "an integer type, decimals of any size and scale, float64, float32, utf8, large_utf8 or "
                         "string_view. Cast it first.";
    case IA_FLOAT32: return "float32 or an integer type. Cast it first.";
    case IA_FLOAT64: return "float64, float32 or an integer type. Cast it first.";
    case IA_DATE: return "date32 or date64. Cast it first.";
    case IA_BOOL: return "bool. Cast it first, or compare it.";
    case IA_CHAR:
    case IA_VARCHAR:
    case IA_LVARCHAR:
        if (c->flags & IA_FLAG_RAW) return "binary, large_binary or binary_view in this raw form. Encode the text first.";
        return "utf8, large_utf8, string_view or a dictionary of them. Cast it first.";
    case IA_DECIMAL_STRING:
        return "utf8, large_utf8, string_view, decimals of any size and scale, an integer type, float64 or float32. "
               "Cast it first.";
    case IA_DECIMAL128:
    case IA_DECIMAL_FLOAT64:
    case IA_DECIMAL_INT64:
        return "decimals of any size and scale, an integer type, float64 or float32. Cast it first.";
    case IA_INTERVAL_MONTHS:
    case IA_INTERVAL_DURATION:
    case IA_INTERVAL_MDN:
        if (ia_interval_of_months(&c->qualifier))
            return "an integer type (months) or month_day_nano_interval. Cast it first.";
        return "duration or month_day_nano_interval. Cast it first.";
    case IA_LOB: return "binary, large_binary, binary_view, utf8, large_utf8 or string_view as content, or its "
                        "descriptor as fixed_size_binary of the descriptor's width. Cast it first.";
    case IA_OPAQUE: return "binary, large_binary, binary_view or fixed_size_binary. Cast it first.";
    default: break;
    }
    if (c->qualifier.start == 0)
        return c->kind == IA_DATETIME_TEXT
                   ? "date32, date64, timestamp without a zone or utf8. Convert it to local time and cast it."
                   : "date32, date64 or timestamp without a zone. Convert it to local time and cast it.";
    if (c->qualifier.start == 6)
        return c->kind == IA_DATETIME_TEXT ? "time32, time64 or utf8. Cast it first." : "time32 or time64. Cast it first.";
    return "utf8, large_utf8 or string_view in Informix's literal form. Format it first.";
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

/* Take a format string apart into the column's batch side.  Returns 0 for what is no source of any kind. */
static inline int ia_enc_read_format(struct ia_enc_col *c, const char *format)
{
    static const char plain[] = "csilCSILfgbzuZU";
    static const uint8_t sources[] = {IA_SRC_I8,  IA_SRC_I16, IA_SRC_I32, IA_SRC_I64,     IA_SRC_U8,
                                      IA_SRC_U16, IA_SRC_U32, IA_SRC_U64, IA_SRC_F32,     IA_SRC_F64,
                                      IA_SRC_BIT, IA_SRC_BYTES32, IA_SRC_BYTES32, IA_SRC_BYTES64, IA_SRC_BYTES64};
    c->source = IA_SRC_NONE;
    if (format[0] == '\0') return 0;
    if (format[1] == '\0') {
        const char *at = strchr(plain, format[0]);
        if (at) c->source = sources[at - plain];
        c->utf8 = format[0] == 'u' || format[0] == 'U';
        return at != NULL;
    }
    if (strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0) {
        c->source = IA_SRC_VIEW;
        c->utf8 = format[1] == 'u';
    } else if (format[0] == 'w' && format[1] == ':') {
        int used = 0;
        if (sscanf(format, "w:%d%n", &c->item, &used) != 1 || format[used] != '\0' || c->item < 0) return 0;
        c->source = IA_SRC_FIXED;
    } else if (format[0] == 'd' && format[1] == ':') {
        int precision, bits = 128, used = 0, more = 0;
        if (sscanf(format, "d:%d,%d%n", &precision, &c->places, &used) != 2) return 0;
        if (format[used] != '\0' && (sscanf(format + used, ",%d%n", &bits, &more) != 1 || format[used + more] != '\0'))
            return 0;
        if (c->places < -1000 || c->places > 1000) return 0;
        c->source = bits == 32    ? IA_SRC_D32
                    : bits == 64  ? IA_SRC_D64
                    : bits == 128 ? IA_SRC_D128
                    : bits == 256 ? IA_SRC_D256
                                  : IA_SRC_NONE;
    } else if (strcmp(format, "tdD") == 0) {
        c->source = IA_SRC_DAY;
    } else if (strcmp(format, "tdm") == 0) {
        c->source = IA_SRC_DAY_MILLIS;
    } else if (strcmp(format, "tin") == 0) {
        c->source = IA_SRC_MDN;
    } else if (strcmp(format, "tiM") == 0) { /* int32 months */
        c->source = IA_SRC_I32;
    } else if (format[0] == 't' && strchr("stD", format[1]) && format[2] != '\0') {
        /* ts<unit>:<zone>; a zone would have to be dropped silently */
        if (strcmp(format + 3, format[1] == 's' ? ":" : "") != 0) return 0;
        c->per_second = ia_per_second(format[2]);
        if (c->per_second == 0) return 0;
        c->source = format[1] == 's'         ? IA_SRC_TIMESTAMP
                    : format[1] == 'D'       ? IA_SRC_DURATION
                    : c->per_second <= 1000  ? IA_SRC_TIME32
                                             : IA_SRC_TIME64;
    }
    return c->source != IA_SRC_NONE;
}

/* Does the Arrow type fit the kind?  `months`: it is Arrow's month_interval, which is no integer. */
static inline int ia_enc_source_fits(struct ia_enc_col *c, int months)
{
    const int s = c->source;
    const int integer = ia_source_is_integer(s) && !months;
    const int contents = s == IA_SRC_BYTES32 || s == IA_SRC_BYTES64 || s == IA_SRC_VIEW;
    const int number = integer || ia_source_is_decimal(s) || s == IA_SRC_F64 || s == IA_SRC_F32 || (contents && c->utf8);
    int own = 1; /* the Arrow type that the row's loop reads itself */
    int fits;
    switch (c->kind) {
    case IA_INT16: fits = number, own = s == IA_SRC_I16; break;
    case IA_INT32: fits = number, own = s == IA_SRC_I32; break;
    case IA_INT64:
    case IA_INT8: fits = number, own = s == IA_SRC_I64; break;
    case IA_FLOAT32: fits = s == IA_SRC_F32 || integer, own = s == IA_SRC_F32; break;
    case IA_FLOAT64: fits = s == IA_SRC_F64 || s == IA_SRC_F32 || integer, own = s == IA_SRC_F64; break;
    case IA_DATE: fits = s == IA_SRC_DAY || s == IA_SRC_DAY_MILLIS, own = s == IA_SRC_DAY; break;
    case IA_BOOL: fits = s == IA_SRC_BIT; break;
    case IA_CHAR:
    case IA_VARCHAR:
    case IA_LVARCHAR: fits = contents && c->utf8 == !(c->flags & IA_FLAG_RAW); break;
    case IA_DECIMAL128:
    case IA_DECIMAL_FLOAT64:
    case IA_DECIMAL_STRING:
    case IA_DECIMAL_INT64:
        fits = integer || ia_source_is_decimal(s) || s == IA_SRC_F64 || s == IA_SRC_F32 ||
               (c->kind == IA_DECIMAL_STRING && contents && c->utf8);
        break;
    case IA_INTERVAL_MONTHS:
    case IA_INTERVAL_DURATION:
    case IA_INTERVAL_MDN:
        fits = s == IA_SRC_MDN || (ia_interval_of_months(&c->qualifier) ? integer || months : s == IA_SRC_DURATION);
        break;
    case IA_LOB: fits = contents || (s == IA_SRC_FIXED && c->item == c->width); break;
    case IA_OPAQUE: fits = (contents && !c->utf8) || s == IA_SRC_FIXED; break;
    default: /* DATETIME */
        fits = (c->qualifier.start == 0 && (s == IA_SRC_DAY || s == IA_SRC_DAY_MILLIS || s == IA_SRC_TIMESTAMP)) ||
               (c->qualifier.start == 6 && (s == IA_SRC_TIME32 || s == IA_SRC_TIME64)) ||
               (c->kind == IA_DATETIME_TEXT && contents && c->utf8);
        break;
    }
    c->route = own ? c->kind : IA_CONVERTED;
    return fits;
}

/* The validity bitmap of an array, NULL when it has no nulls.  Returns -1 when it lacks one. */
static inline int ia_enc_validity(const struct ArrowArray *array, const uint8_t **validity)
{
    *validity = NULL;
    if (array->n_buffers < 1 || array->buffers == NULL) return -1;
    if (array->buffers[0] == NULL && array->null_count > 0) return -1;
    if (array->null_count != 0) *validity = array->buffers[0];
    return 0;
}

/* Bind the values [first, end) of an array of the column's own Arrow type. */
static inline int ia_enc_bind_values(struct ia_enc_col *c, const struct ArrowArray *array, const char *format,
                                     int64_t end, char *why, size_t size)
{
    const int offsets = c->source == IA_SRC_BYTES32 || c->source == IA_SRC_BYTES64;
    const int view = c->source == IA_SRC_VIEW;
    if (array->buffers == NULL || (view ? array->n_buffers < 3 : array->n_buffers != (offsets ? 3 : 2))) {
        char name[80];
        ia_arrow_name(format, name, sizeof name);
        snprintf(why, size, "The Arrow array has %lld buffers, but %s has %s.", (long long)array->n_buffers, name,
                 view ? "3 or more" : offsets ? "3" : "2");
        return -1;
    }
    if (array->buffers[1] == NULL) {
        if (c->source == IA_SRC_FIXED && c->item == 0) return 0;
        snprintf(why, size, "The Arrow array has no values buffer.");
        return -1;
    }
    c->values = array->buffers[1];
    if (view) {
        c->text_end = end * 16;
        c->n_pieces = array->n_buffers - 3;
        c->pieces = array->buffers + 2;
        c->piece_sizes = array->buffers[array->n_buffers - 1];
        if (c->n_pieces > 0 && c->piece_sizes == NULL) {
            snprintf(why, size, "The Arrow array has no sizes of its data buffers.");
            return -1;
        }
    } else if (c->source == IA_SRC_FIXED) {
        if (__builtin_mul_overflow(end, (int64_t)c->item, &c->text_end)) {
            snprintf(why, size, "The length and offset of the Arrow array are inconsistent.");
            return -1;
        }
    } else if (offsets) {
        if (c->source == IA_SRC_BYTES64) {
            memcpy(&c->text_end, c->values + end * 8, 8);
        } else {
            int32_t last;
            memcpy(&last, c->values + end * 4, 4);
            c->text_end = last;
        }
        if (c->text_end < 0 || (c->text_end > 0 && array->buffers[2] == NULL)) {
            snprintf(why, size, "The string offsets of the Arrow array do not match its data.");
            return -1;
        }
        if (array->buffers[2]) c->text = array->buffers[2];
    }
    return 0;
}

/* Bind a dictionary: indices in the array, values of text or bytes beside it. */
static inline int ia_enc_bind_dictionary(struct ia_enc_col *c, const struct ArrowArray *array,
                                         const struct ArrowArray *values, const char *format, char *why, size_t size)
{
    if (array->n_buffers != 2 || array->buffers == NULL || array->buffers[1] == NULL) {
        snprintf(why, size, "The Arrow array has no indices of its dictionary.");
        return -1;
    }
    if (values->length < 0 || values->offset < 0 || values->offset > INT64_MAX / 64 - values->length) {
        snprintf(why, size, "The length and offset of the Arrow dictionary are inconsistent.");
        return -1;
    }
    c->indices = array->buffers[1];
    c->dictionary_base = values->offset;
    c->dictionary_length = values->length;
    if (values->length == 0) return 0; /* it may come without buffers, and no index is good */
    if (ia_enc_validity(values, &c->dictionary_validity)) {
        snprintf(why, size, "The Arrow dictionary has no validity buffer.");
        return -1;
    }
    c->has_hidden_nulls = c->dictionary_validity != NULL;
    return ia_enc_bind_values(c, values, format, values->offset + values->length, why, size);
}

/* Bind column `c` to an Arrow child; `offset` and `rows` are those of the batch's struct.  Returns 0, or -1 with the
 * reason in why. */
static inline int ia_enc_bind(struct ia_enc_col *c, const struct ArrowSchema *schema, const struct ArrowArray *array,
                              int64_t offset, int64_t rows, char *why, size_t size)
{
    static const uint8_t nothing[16] = {0};
    const struct ArrowSchema *const inner = schema->dictionary;
    const char *const format = schema->format ? schema->format : "";
    const char *const values = inner ? (inner->format ? inner->format : "") : format;
    char sql[80], name[80], of[96];

    c->source = c->index_source = IA_SRC_NONE;
    c->all_null = c->has_hidden_nulls = c->utf8 = 0;
    c->validity = c->dictionary_validity = NULL;
    c->values = c->text = nothing;
    c->text_end = c->n_pieces = c->dictionary_length = 0;
    c->all_null = c->has_hidden_nulls = !inner && strcmp(format, "n") == 0;
    if (c->all_null) c->route = c->kind;
    if (!c->all_null &&
        !(ia_enc_read_format(c, values) && ia_enc_source_fits(c, strcmp(values, "tiM") == 0) &&
          (!inner || (ia_source_is_bytes(c->source) && c->source != IA_SRC_FIXED)))) {
        ia_enc_type_text(c, sql, sizeof sql);
        ia_arrow_name(values, name, sizeof name);
        snprintf(of, sizeof of, inner ? "dictionary of %s" : "%s", name);
        snprintf(why, size, "The Arrow type %s cannot be stored in %s, which takes %s", of, sql,
                 inner && c->source != IA_SRC_NONE && !ia_source_is_bytes(c->source)
                     ? "no dictionary of these. Decode it to plain values first."
                     : ia_enc_wanted(c));
        return -1;
    }
    if (inner) {
        struct ia_enc_col index = *c;
        if (array->dictionary == NULL || !ia_enc_read_format(&index, format) || !ia_source_is_integer(index.source)) {
            snprintf(why, size, "The dictionary of the Arrow array is inconsistent (indices '%.40s').", format);
            return -1;
        }
        c->index_source = index.source;
    }
    if (array->offset < 0 || array->length < 0 || array->length < offset || array->length - offset < rows ||
        array->offset > INT64_MAX / 64 - offset - rows) {
        snprintf(why, size, "The Arrow array has %lld values, but the batch needs %lld.",
                 (long long)array->length, (long long)(offset + rows));
        return -1;
    }
    c->base = array->offset + offset;
    if (c->all_null || rows == 0) return 0; /* a batch without rows may come without buffers */
    if (ia_enc_validity(array, &c->validity)) {
        snprintf(why, size, "The Arrow array has no validity buffer.");
        return -1;
    }
    if (inner) return ia_enc_bind_dictionary(c, array, array->dictionary, values, why, size);
    return ia_enc_bind_values(c, array, values, c->base + rows, why, size);
}

/* Why the column cannot travel in this framing, or NULL. */
static inline const char *ia_enc_framing_refused(const struct ia_enc_col *c, int framing)
{
    if (c->kind != IA_LOB || c->source == IA_SRC_NONE) return NULL;
    if (framing == IA_FRAME_BIND && c->source == IA_SRC_FIXED)
        return "takes its content as a parameter, and fixed_size_binary is its descriptor. Cast it to binary.";
    if (framing != IA_FRAME_BIND && c->source != IA_SRC_FIXED)
        return "is stored in a tuple as its descriptor, fixed_size_binary. Its content can only be bound (framing 2).";
    return NULL;
}

#endif
