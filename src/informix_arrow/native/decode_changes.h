/* Decode change records (CDC section 4) to Arrow: the row images of one table in one transaction, up to the first other record.
 *
 * There are two decoders. One takes the rows after a change, and the deleted rows. The other takes the rows before UPDATEs. So
 * row i of the second one belongs to UPDAFT i of the first. Both have two more columns than the table, at the front: the
 * record's number and its LSN.
 *
 * A record is decoded only when it is complete. Its lengths are checked against each other first: header, payload, fixed
 * columns, and each variable column. So what the row loop reads lies where the header says. */
#ifndef INFORMIX_ARROW_DECODE_CHANGES_H
#define INFORMIX_ARROW_DECODE_CHANGES_H

#include <stdint.h>

#include "change_record.h"
#include "decode_batch.h"
#include "decode_core.h"
#include "decode_plan.h"
#include "decode_value.h"
#include "plan.h"
#include "wire_bytes.h"

#define IA_RECORD_FRONT 2   /* columns that come from the header */

struct ia_changes {
    struct ia_decoder after, before;
    int64_t batch_rows, batch_bytes; /* a batch is full at so many rows after, or bytes of both */
    int64_t fixed;                   /* bytes of the fixed columns of an image */
    int variable;                    /* columns behind those */
    int32_t label, transaction;
    int expects_after_image; /* an UPDBEF came last, and its UPDAFT is next */
};

/* Start; NULL or what is wrong, with *bad the op (-1: memory, or the columns as a whole). The columns' ops have those of
 * the two front columns before them. */
static const char *ia_changes_init(struct ia_changes *s, const struct ia_op *ops, int count, int variable,
                                   int64_t batch_rows, int64_t batch_bytes, int64_t max_image,
                                   const struct ia_codepage_entry *page, int *bad)
{
    *bad = -1;
    if (count <= IA_RECORD_FRONT || variable < 0 || variable > count - IA_RECORD_FRONT)
        return "there must be columns, and no more variable ones than those";
    if (ops[0].kind != IA_INT16 || ops[1].kind != IA_INT64)
        return "the first two columns must be the record's number and LSN";
    s->batch_rows = batch_rows;
    s->batch_bytes = batch_bytes;
    s->variable = variable;
    s->fixed = 0;
    for (int i = IA_RECORD_FRONT; i < count; i++) {
        const int varies = ops[i].kind == IA_VARCHAR || ops[i].kind == IA_CHANGE_LVARCHAR;
        if (varies != (i >= count - variable) || ops[i].kind == IA_LVARCHAR || ops[i].kind == IA_OPAQUE ||
            ops[i].kind == IA_BOOL) {
            *bad = i;
            return "fixed columns come first, then the variable ones, in the forms of row images";
        }
    }
    struct ia_decoder *const both[2] = {&s->after, &s->before};
    for (int i = 0; i < 2; i++) {
        const char *wrong = ia_decoder_init(both[i], ops, count, batch_rows, batch_bytes, max_image, page, bad);
        if (wrong)
            return wrong;
        both[i]->blocks = 0;
        both[i]->front = IA_RECORD_FRONT;
        both[i]->min_tuple -= ops[0].width + ops[1].width;
    }
    for (int i = IA_RECORD_FRONT; i < count - variable; i++)
        s->fixed += ops[i].width;
    return NULL;
}

static void ia_changes_free(struct ia_changes *s)
{
    ia_decoder_free(&s->after);
    ia_decoder_free(&s->before);
}

/* Begin with the rows of another transaction; what was decoded must have been taken. */
static void ia_changes_begin(struct ia_changes *s, int32_t transaction)
{
    s->transaction = transaction;
    s->expects_after_image = 0;
}

static enum ia_status ia_refused_record(struct ia_changes *s, enum ia_status status)
{
    s->after.error.status = status;
    s->after.error.column = -1;
    s->after.error.offset = -1;
    s->after.error.row = s->after.taken + s->after.rows;
    return status;
}

/* Compare all lengths of a whole record of `payload` bytes behind its header; 0 or IA_PROTOCOL. */
static int ia_check_lengths(struct ia_changes *s, const uint8_t *record, int64_t payload)
{
    const uint8_t *lengths = record + IA_RECORD_ROW, *at = lengths + 4 * (int64_t)s->variable + s->fixed;
    const struct ia_column *c = s->after.columns + s->after.count - s->variable;
    int64_t left = payload - s->fixed;
    if (left < 0)
        return IA_REFUSE(&s->after.error, IA_PROTOCOL, "The row image has %lld bytes, but its fixed columns need %lld.",
                         (long long)payload, (long long)s->fixed);
    for (int i = 0; i < s->variable; i++, c++, lengths += 4) {
        const int64_t length = (int32_t)ia_load_be32(lengths);
        const int64_t least = c->kind == IA_VARCHAR ? 1 : IA_CHANGE_TEXT;
        if (length < least || length > left)
            return IA_REFUSE(&s->after.error, IA_PROTOCOL, "Variable column %d has %lld bytes, but only %lld bytes are left.", i + 1,
                             (long long)length, (long long)left);
        const int64_t said = c->kind == IA_VARCHAR ? 1 + (int64_t)at[0] : 2 + (int64_t)ia_load_be16(at);
        if (said != length)
            return IA_REFUSE(&s->after.error, IA_PROTOCOL,
                             "Variable column %d has %lld bytes according to the header, but its own length is %lld.", i + 1,
                             (long long)length, (long long)said);
        at += length;
        left -= length;
    }
    if (left)
        return IA_REFUSE(&s->after.error, IA_PROTOCOL, "%lld bytes are left after the last column of a row image of %lld bytes.",
                         (long long)left, (long long)payload);
    return 0;
}

/* Decode the row images at the front of data that are of this table and transaction; *stop is the end of the last one.
 * IA_NEED_MORE (the bytes end inside a record), IA_OTHER (the next record is another), IA_FULL, or an error: final. */
static enum ia_status ia_changes_feed(struct ia_changes *s, const uint8_t *data, const uint8_t *end, const uint8_t **stop)
{
    const uint8_t *p = data, *behind;
    *stop = data;
    if (s->after.error.status < 0)
        return s->after.error.status;
    if (s->before.error.status < 0)
        return s->before.error.status;
    for (;; *stop = p) {
        const int64_t left = end - p;
        if (left < IA_RECORD_COMMON)
            return IA_NEED_MORE;
        const uint32_t number = ia_load_be32(p + 12);
        if (number < IA_RECORD_INSERT || number > IA_RECORD_UPDAFT || ia_load_be32(p + 8) != IA_RECORD_SCHEME)
            return IA_OTHER;
        if (left < IA_RECORD_ROW)
            return IA_NEED_MORE;
        if ((int32_t)ia_load_be32(p + 24) != s->transaction || (int32_t)ia_load_be32(p + 28) != s->label)
            return IA_OTHER;
        const int64_t header = (int32_t)ia_load_be32(p), payload = (int32_t)ia_load_be32(p + 4);
        if (header != IA_RECORD_ROW + 4 * (int64_t)s->variable || payload < 0 || payload > s->after.max_tuple)
            return ia_refused_record(s, IA_REFUSE(&s->after.error, IA_PROTOCOL,
                                                  "The row image has a header of %lld bytes and %lld bytes of data, but the "
                                                  "table's columns need %lld and at most %lld.",
                                                  (long long)header, (long long)payload,
                                                  (long long)(IA_RECORD_ROW + 4 * (int64_t)s->variable),
                                                  (long long)s->after.max_tuple));
        if (left < header + payload)
            return IA_NEED_MORE;
        if (s->expects_after_image != (number == IA_RECORD_UPDAFT))
            return ia_refused_record(s, IA_REFUSE(&s->after.error, IA_PROTOCOL,
                                                  s->expects_after_image
                                                      ? "Record %d follows an UPDBEF, but UPDAFT was expected."
                                                      : "Record %d is an UPDAFT without an UPDBEF before it.",
                                                  (int)number));
        if (!s->expects_after_image && (s->after.rows >= s->batch_rows || s->after.bytes + s->before.bytes >= s->batch_bytes))
            return IA_FULL;
        if (ia_check_lengths(s, p, payload))
            return ia_refused_record(s, IA_PROTOCOL);
        struct ia_decoder *const d = number == IA_RECORD_UPDBEF ? &s->before : &s->after;
        d->record = (int16_t)number;
        d->sequence = (int64_t)ia_load_be64(p + IA_RECORD_COMMON);
        const enum ia_status status = ia_decode_rows(d, p + header, end, &behind, payload);
        if (status == IA_FULL && s->expects_after_image)
            return ia_refused_record(s, IA_REFUSE(&s->after.error, IA_DATA, "The texts of one row are too long for a batch."));
        if (status)
            return status;
        s->expects_after_image = number == IA_RECORD_UPDBEF;
        p += header + payload;
    }
}

#endif
