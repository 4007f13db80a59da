/* What a batch holds as one number, which is the same on every machine: programs that print it can be compared with what
 * they print elsewhere (tests/ecosystem/test_cross.py), though Arrow's numbers have the byte order of the machine. */
#ifndef INFORMIX_ARROW_FUZZ_DIGEST_H
#define INFORMIX_ARROW_FUZZ_DIGEST_H

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "native/arrow_c_data.h"
#include "native/plan.h"
#include "native/row_hash.h"
#include "native/wire_bytes.h"

#define DIGEST_START UINT64_C(14695981039346656037) /* FNV-1a */

static inline uint64_t digest_bytes(uint64_t sum, const uint8_t *p, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        sum = (sum ^ p[k]) * UINT64_C(1099511628211);
    return sum;
}

/* A number in the byte order of the machine. */
static inline uint64_t digest_number(uint64_t sum, const void *p, int width)
{
    const uint8_t *const bytes = p;
    for (int k = 0; k < width; k++)
        sum = digest_bytes(sum, bytes + (IA_LOW ? width - 1 - k : k), 1);
    return sum;
}

static inline uint64_t digest_value(uint64_t sum, int64_t v)
{
    return digest_number(sum, &v, sizeof v);
}

/* What arrow_type_of_op says (wire/plan_ops.py), in bytes. */
static inline int64_t item_bytes(const struct ia_op *op)
{
    switch (op->kind) {
    case IA_INT16:
        return 2;
    case IA_INT32:
    case IA_FLOAT32:
    case IA_DATE:
    case IA_DATETIME_DATE32:
    case IA_DATETIME_TIME32:
    case IA_INTERVAL_MONTHS:
        return 4;
    case IA_DECIMAL128:
    case IA_INTERVAL_MDN:
        return 16;
    case IA_LOB:
        return op->width;
    default:
        return 8;
    }
}

static inline int64_t text_offset(const struct ia_op *op, const struct ArrowArray *a, int64_t row)
{
    return op->flags & IA_FLAG_LARGE ? ((const int64_t *)a->buffers[1])[row] : ((const int32_t *)a->buffers[1])[row];
}

static inline int bit_of(const void *bits, int64_t i)
{
    return ((const uint8_t *)bits)[i / 8] >> (i % 8) & 1;
}

/* The column's part in the hashes of the rows (row_hash.h), which have to be the same everywhere, too; of types that are
 * hashed there (comparison/row_hashes.py). */
static inline void digest_hashes(uint64_t *hashes, const struct ia_op *op, const struct ArrowArray *a)
{
    const uint8_t *const validity = a->buffers[0], *const values = a->buffers[1];
    const int width = (int)item_bytes(op);
    int wrong = 0;
    if (a->n_buffers == 3)
        wrong = ia_hash_texts(hashes, a->buffers[2], text_offset(op, a, a->length), values, validity, 0, a->length,
                              op->flags & IA_FLAG_LARGE ? 8 : 4);
    else if (op->kind == IA_FLOAT32 || op->kind == IA_FLOAT64 || op->kind == IA_DECIMAL_FLOAT64)
        wrong = ia_hash_floats(hashes, values, validity, 0, a->length, width);
    else if (op->kind != IA_LOB && op->kind != IA_BOOL && op->kind != IA_CHANGE_BOOL && op->kind != IA_INTERVAL_MDN)
        wrong = ia_hash_integers(hashes, values, validity, 0, a->length, width);
    assert(wrong == 0);
}

/* Every value of the batch, NULLs, and the hashes of the rows. */
static inline uint64_t digest_batch(uint64_t sum, const struct ia_op *ops, const struct ArrowArray *batch)
{
    uint64_t *const hashes = malloc((size_t)batch->length * 8 + 8);
    assert(hashes);
    for (int64_t r = 0; r < batch->length; r++)
        hashes[r] = IA_HASH_START;
    for (int64_t i = 0; i < batch->n_children; i++) {
        const struct ArrowArray *const a = batch->children[i];
        const struct ia_op *const op = ops + i;
        const int64_t width = item_bytes(op);
        digest_hashes(hashes, op, a);
        for (int64_t r = 0; r < a->length; r++) {
            const uint8_t *const value = (const uint8_t *)a->buffers[1] + r * width;
            sum = digest_value(sum, a->buffers[0] ? bit_of(a->buffers[0], r) : 1);
            if (a->n_buffers == 3) {
                const int64_t from = text_offset(op, a, r), to = text_offset(op, a, r + 1);
                sum = digest_bytes(digest_value(sum, to - from), (const uint8_t *)a->buffers[2] + from, to - from);
            } else if (op->kind == IA_BOOL || op->kind == IA_CHANGE_BOOL) {
                sum = digest_value(sum, bit_of(a->buffers[1], r));
            } else if (op->kind == IA_LOB) {
                sum = digest_bytes(sum, value, width);
            } else if (op->kind == IA_INTERVAL_MDN) {
                sum = digest_number(digest_number(digest_number(sum, value, 4), value + 4, 4), value + 8, 8);
            } else {
                sum = digest_number(sum, value, (int)width);
            }
        }
    }
    for (int64_t r = 0; r < batch->length; r++)
        sum = digest_value(sum, (int64_t)hashes[r]);
    free(hashes);
    return sum;
}

/* So many numbers of 32 bits from a file, which has them with the lowest byte first; 0 or -1. */
static inline int read_numbers(FILE *file, int32_t *numbers, size_t count)
{
    if (fread(numbers, sizeof *numbers, count, file) != count)
        return -1;
    for (size_t k = 0; k < count; k++)
        numbers[k] = (int32_t)IA_LE(32, (uint32_t)numbers[k]);
    return 0;
}

#endif
