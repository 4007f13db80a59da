/* Decode lines of a .unl file (LOAD, UNLOAD) to the columns of an open batch (decode_batch.h). No Python.
 *
 *   - A row is split first. Then its fields are converted (decode_unl_fields.h). So an incomplete row leaves nothing behind.
 *   - A delimiter follows every field, including the last one. A missing last delimiter is not an error.
 * decode_unl_fields.h describes the error of a field. The module adds file, line and column. */
#ifndef INFORMIX_ARROW_DECODE_UNL_H
#define INFORMIX_ARROW_DECODE_UNL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode_batch.h"
#include "decode_core.h"
#include "decode_unl_fields.h"
#include "decode_unl_format.h"

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

static int ia_unl_miscounted(struct ia_unl_reader *r, int found, const char *more)
{
    return IA_REFUSE(&r->core.error, IA_DATA, "The row has %d field%s, but the schema has %d.%s", found,
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
                    return IA_REFUSE(&r->core.error, IA_DATA, "The file ends after a backslash. It is truncated.");
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
                                         " A delimiter inside a text needs a backslash before it.");
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
            return IA_REFUSE(&r->core.error, IA_DATA, "The file ends inside the row. It is truncated.");
        }
        r->fields[k++] = (struct ia_unl_field){from, until - from, escaped};
    } else if (k < count || until > from) {
        r->error_line = r->line + *lines;
        if (k == 0 && until == from)
            return IA_REFUSE(&r->core.error, IA_DATA, "The line is empty. Remove it.");
        if (k < count && q < end && !r->format.join)
            ia_set_hint(&r->core.error, "join_lines", "Use join_lines=True to read texts without one.");
        return ia_unl_miscounted(r, k + (until > from),
                                 k >= count       ? " A delimiter inside a text needs a backslash before it."
                                 : q == end       ? " The file ends here. It is truncated."
                                 : r->format.join ? ""
                                                  : " A line break inside a text needs a backslash before it.");
    } else {
        r->delimited = 1;
    }
    *lines += q < end;
    return IA_VALUE;
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

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
            status = ia_unl_take_field(d, &r->format, c, d->rows, &r->fields[k], end, &d->bytes);
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
