/* The encoder's core: Arrow columns -> SQLI messages, row by row, by a plan.  No Python.h, nothing is allocated.
 *
 * The caller describes each column once (encode_plan.h), binds a batch's buffers to it (encode_arrow.h), and calls
 * ia_encode_rows with a piece of memory.  A row is written whole or not at all: before each row the largest size that it
 * can take is compared with the room left, so that the writers inside need no checks of their own. */
#ifndef INFORMIX_ARROW_ENCODE_CORE_H
#define INFORMIX_ARROW_ENCODE_CORE_H

#include <stdint.h>

#include "encode_block.h"
#include "encode_row.h"
#include "encode_status.h"
#include "encode_text.h"

enum ia_enc_result {
    IA_ENC_DONE = 0,                /* the rows are out, or the next one exceeds the budget */
    IA_ENC_GROW = 1,                /* the next row needs `need` bytes from `used` on */
    IA_ENC_FAULT = 2                /* the first row of the call has no encoding: see the fault */
};

/* Row by row: what ia_encode_rows does, without blocks; for parameters. */
static __attribute__((noinline)) enum ia_enc_result ia_encode_binds(const struct ia_enc_plan *plan, int64_t *row,
                                                                    int64_t end, uint8_t *out, size_t *used, size_t cap,
                                                                    size_t budget, const struct ia_enc_frame *frame,
                                                                    size_t *need, struct ia_enc_fault *fault)
{
    const size_t around = frame->head_size + frame->tail_size;
    while (*row < end) {
        size_t bound;
        uint8_t *p;
        const int first = *used == 0;
        if (ia_enc_row_bound(plan, *row, IA_FRAME_BIND, &bound, fault)) return first ? IA_ENC_FAULT : IA_ENC_DONE;
        bound += around;
        if (cap - *used < bound) {
            *need = bound;
            return IA_ENC_GROW;
        }
        if (ia_enc_put_parameters(plan, *row, frame, out + *used, &p, fault)) return first ? IA_ENC_FAULT : IA_ENC_DONE;
        const size_t after = (size_t)(p - out);
        if (after > budget && !first) return IA_ENC_DONE;
        *used = after;
        ++*row;
    }
    return IA_ENC_DONE;
}

/* The same for tuples. The plan is a copy, as what is written might be any byte of another. */
static __attribute__((noinline)) enum ia_enc_result ia_encode_tuples(const struct ia_enc_plan *given, int64_t *row,
                                                                     int64_t end, uint8_t *out, size_t *used, size_t cap,
                                                                     size_t budget, int framing, size_t *need,
                                                                     struct ia_enc_fault *fault)
{
    const struct ia_enc_plan plan = *given;
    enum ia_enc_result result = IA_ENC_DONE;
    uint8_t *message = out + *used;
    int64_t r = *row;
    for (; r < end; r++) {
        size_t bound = plan.row_bound;
        uint8_t *p;
        if (plan.has_contents && ia_enc_row_bound(&plan, r, framing, &bound, fault)) {
            result = message == out ? IA_ENC_FAULT : IA_ENC_DONE;
            break;
        }
        if (cap - (size_t)(message - out) < bound) {
            *need = bound;
            result = IA_ENC_GROW;
            break;
        }
        if (ia_enc_put_columns(&plan, 0, plan.n, r, message + IA_ENC_HEADER, &p, fault)) {
            result = message == out ? IA_ENC_FAULT : IA_ENC_DONE;
            break;
        }
        p = ia_enc_put_frame(message, p, framing);
        if ((size_t)(p - out) > budget && message != out) break;
        message = p;
    }
    *used = (size_t)(message - out);
    *row = r;
    return result;
}

/* Encode rows [*row, end) as messages at out[*used..cap), while the messages stay within `budget` bytes counted from
 * out; the first row of a call is encoded even when it alone exceeds the budget.
 *
 * *row and *used advance past every whole row.  A row that cannot be encoded ends the call: with IA_ENC_FAULT when it is
 * the first one, else with IA_ENC_DONE, so that the rows before it get out and the next call reports it. */
static inline enum ia_enc_result ia_encode_rows(const struct ia_enc_plan *plan, int64_t *row, int64_t end,
                                                uint8_t *out, size_t *used, size_t cap, size_t budget,
                                                const struct ia_enc_frame *frame, size_t *need,
                                                struct ia_enc_fault *fault)
{
    const int blocks = plan->strided && frame->framing != IA_FRAME_BIND;
    enum ia_enc_result result = IA_ENC_DONE;
    while (*row < end) {
        const int64_t n = blocks ? ia_enc_put_block(plan, *row, end, out, used, cap, budget, frame->framing) : 0;
        *row += n;
        if (n) continue;
        const int64_t until = blocks && end - *row > IA_ENC_BLOCK ? *row + IA_ENC_BLOCK : end;
        result = frame->framing == IA_FRAME_BIND
                     ? ia_encode_binds(plan, row, until, out, used, cap, budget, frame, need, fault)
                     : ia_encode_tuples(plan, row, until, out, used, cap, budget, frame->framing, need, fault);
        if (*row < until) break; /* something is in the way of the next */
    }
    return result;
}

#endif
