/* The decoder core without Python, under AddressSanitizer with leak detection, on replies from files:
 *
 *     int32 n, n x 4 int32 ops (lowest byte first), then the reply
 *
 * One long reply of every type, short ones of one type alone (there the value under attack is the last in memory), and
 * random plans with every flag; some of them as SQ_PUT messages too.
 * Buffers are allocated to the exact length, so that one byte too far is seen. Covers what Python cannot reach: every
 * allocation failing once, batches released in any order and by parts, the border of 32-bit offsets made small.
 * Exits 0 and prints what was done, or is ended by the sanitizer or an assertion. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"

#define realloc limited_realloc
#define calloc limited_calloc
#define malloc limited_malloc
#define aligned_alloc limited_aligned_alloc
#include "native/decode_core.h"
#include "native/decode_plan.h"
#undef realloc
#undef calloc
#undef malloc
#undef aligned_alloc

#include "digest.h"
#include "draws.h"

static struct ia_op ops[256];
static int32_t count;
static uint8_t *reply;
static long size;
/* Read every byte that a consumer may read, and check the invariants of the layout. */
static uint64_t walk(const struct ArrowArray *batch)
{
    uint64_t sum = 0;
    assert(batch->n_children == count && batch->null_count == 0);
    for (int i = 0; i < count; i++) {
        const struct ArrowArray *a = batch->children[i];
        assert(a->length == batch->length && a->null_count >= 0 && a->null_count <= a->length);
        assert((a->null_count == 0) == (a->buffers[0] == NULL));
        if (a->buffers[0]) {
            int64_t valid = 0;
            for (int64_t r = 0; r < a->length; r++)
                valid += ((const uint8_t *)a->buffers[0])[r / 8] >> (r % 8) & 1;
            assert(valid == a->length - a->null_count);
        }
        if (a->n_buffers == 3) {
            int64_t before = text_offset(&ops[i], a, 0);
            assert(before == 0);
            for (int64_t r = 0; r < a->length; r++) {
                const int64_t next = text_offset(&ops[i], a, r + 1);
                assert(before <= next);
                if (ops[i].kind != IA_OPAQUE && !(ops[i].flags & IA_FLAG_RAW))
                    assert(ia_utf8_valid_until((const uint8_t *)a->buffers[2] + before, next - before) == next - before);
                before = next;
            }
            for (int64_t at = 0; at < before; at++)
                sum += ((const uint8_t *)a->buffers[2])[at];
        } else {
            const int64_t bytes = ops[i].kind == IA_BOOL ? (a->length + 7) / 8 : a->length * item_bytes(&ops[i]);
            for (int64_t at = 0; at < bytes; at++)
                sum += ((const uint8_t *)a->buffers[1])[at];
        }
    }
    return sum;
}

/* Release a batch as consumers do: whole, child by child, or with children moved out and released later. */
static void release(struct ArrowArray *batch)
{
    struct ArrowArray moved[256];
    int n = 0;
    for (int i = 0; i < count; i++) {
        struct ArrowArray *child = batch->children[i];
        switch (rnd() % 3) {
        case 0:
            child->release(child);
            break;
        case 1:
            moved[n++] = *child;
            child->release = NULL;
            break;
        default:
            break;
        }
    }
    batch->release(batch);
    assert(!batch->release);
    while (n-- > 0)
        moved[n].release(&moved[n]);
}

static int framing; /* of the reply in hand */

static int start(struct ia_decoder *d, int64_t rows, int64_t bytes)
{
    int bad;
    const char *wrong = ia_decoder_init(d, ops, count, rows, bytes, 4096, NULL, &bad);
    if (wrong) {
        assert(bad < 0);
        ia_decoder_free(d);
        return -1;
    }
    d->framing = framing;
    d->blocks = rnd() % 4 != 0;
    return 0;
}

/* The same tuples in SQ_PUT messages, or back in SQ_TUPLE: the header's words change places. */
static void reframe(void)
{
    uint8_t *p = reply;
    while (p < reply + size - 2) {
        const uint32_t length = ia_load_be32(p + (framing ? 2 : 4));
        ia_store_be16(p, framing ? IA_SQ_TUPLE : IA_SQ_PUT_TAG);
        if (framing) {
            ia_store_be16(p + 2, 0);
            ia_store_be32(p + 4, length);
        } else {
            ia_store_be32(p + 2, length);
            ia_store_be16(p + 6, 1);
        }
        p += IA_TUPLE_HEADER + length + (length & 1);
    }
    framing = !framing;
}

static long total_inexact; /* columns of doubles that lost digits of their DECIMAL */

/* One decoder over the bytes, cut into pieces of random length; batches live on for a while. */
static int run(const uint8_t *data, long length, int64_t rows, int64_t bytes, int64_t offset_limit, int64_t *decoded)
{
    struct ia_decoder d;
    struct ArrowArray held[4] = {{0}};
    enum ia_status status = IA_NEED_MORE;
    long at = 0, end = 0;
    *decoded = 0;
    if (start(&d, rows, bytes))
        return IA_NO_MEMORY;
    if (offset_limit)
        d.offset_limit = offset_limit;
    while (end < length && (status == IA_NEED_MORE)) {
        end += 1 + (long)(rnd() % (uint64_t)(length - end));
        uint8_t *piece = malloc((size_t)(end - at) + (end == at));
        const uint8_t *p = piece, *stop;
        memcpy(piece, data + at, (size_t)(end - at));
        for (;;) {
            status = ia_decoder_feed(&d, p, piece + (end - at), &stop);
            assert(stop >= p && stop <= piece + (end - at));
            p = stop;
            if (status != IA_FULL)
                break;
            struct ArrowArray *slot = &held[rnd() % 4];
            if (slot->release)
                release(slot);
            if (ia_decoder_take(&d, slot) != 0) {
                status = IA_NO_MEMORY;
                break;
            }
            assert(slot->length > 0);
            walk(slot);
        }
        at += (long)(p - piece);
        free(piece);
        if (status < 0) {
            const uint8_t *nowhere;
            assert(d.error.status >= 0 || ia_decoder_feed(&d, data, data + length, &nowhere) == d.error.status);
        }
    }
    *decoded = d.taken + d.rows;
    for (int i = 0; i < count; i++) {
        const struct ia_column *const c = &d.columns[i];
        assert(c->inexact >= 0 && c->inexact <= *decoded + 1); /* the row that could not be finished may be counted */
        if (c->inexact) {
            assert(ops[i].kind == IA_DECIMAL_FLOAT64 && c->inexact_row >= 0 && c->inexact_row <= *decoded);
            total_inexact++;
        }
    }
    struct ArrowArray last;
    if (ia_decoder_take(&d, &last) == 0) {
        walk(&last);
        if (rnd() % 2) {
            ia_decoder_free(&d);
            release(&last);
        } else {
            release(&last);
            ia_decoder_free(&d);
        }
    } else {
        ia_decoder_free(&d);
    }
    for (int i = 0; i < 4; i++)
        if (held[i].release)
            release(&held[i]);
    return status;
}

static long total_compared; /* columns that blocks and the row loop made the same of */

/* Bytes of column i's buffer that a consumer may read. */
static int64_t buffer_bytes(int i, const struct ArrowArray *a, int buffer)
{
    if (buffer == 0)
        return a->buffers[0] ? (a->length + 7) / 8 : 0;
    if (a->n_buffers == 3) {
        const int wide = ops[i].flags & IA_FLAG_LARGE ? 8 : 4;
        return buffer == 1 ? (a->length + 1) * wide : text_offset(&ops[i], a, a->length);
    }
    return ops[i].kind == IA_BOOL ? (a->length + 7) / 8 : a->length * item_bytes(&ops[i]);
}

/* Blocks on these bytes, on any boundary, against the row loop: status, end, error and each byte of each column. */
static void compare(const uint8_t *data, long length, int64_t rows, int64_t bytes)
{
    const int shift = (int)(rnd() % 16);
    uint8_t *const place = malloc((size_t)(shift + length) + !length);
    memcpy(place + shift, data, (size_t)length);
    struct ia_decoder ours, theirs;
    struct ArrowArray a, b;
    const uint8_t *stop, *wanted;
    assert(start(&ours, rows, bytes) == 0 && start(&theirs, rows, bytes) == 0);
    ours.blocks = 1;
    theirs.blocks = 0;
    for (const uint8_t *p = place + shift;; p = stop) {
        const int status = ia_decoder_feed(&ours, p, place + shift + length, &stop);
        assert(status == (int)ia_decoder_feed(&theirs, p, place + shift + length, &wanted) && stop == wanted);
        if (status < 0)
            assert(ours.error.row == theirs.error.row && ours.error.column == theirs.error.column &&
                   ours.error.offset == theirs.error.offset && !strcmp(ours.error.detail, theirs.error.detail));
        for (int i = 0; i < count; i++)
            assert(ours.columns[i].inexact == theirs.columns[i].inexact &&
                   (!ours.columns[i].inexact || ours.columns[i].inexact_row == theirs.columns[i].inexact_row));
        assert(ia_decoder_take(&ours, &a) == 0 && ia_decoder_take(&theirs, &b) == 0 && a.length == b.length);
        for (int i = 0; i < count; i++, total_compared++)
            for (int buffer = 0; buffer < a.children[i]->n_buffers; buffer++) {
                const int64_t n = buffer_bytes(i, a.children[i], buffer);
                assert(n == buffer_bytes(i, b.children[i], buffer));
                assert(!n || !memcmp(a.children[i]->buffers[buffer], b.children[i]->buffers[buffer], (size_t)n));
            }
        a.release(&a);
        b.release(&b);
        if (status != IA_FULL)
            break;
    }
    ia_decoder_free(&ours);
    ia_decoder_free(&theirs);
    free(place);
}

static int read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || read_numbers(file, &count, 1) || count < 1 || count > 256 ||
        read_numbers(file, (int32_t *)ops, 4 * (size_t)count))
        return -1;
    const long head = ftell(file);
    fseek(file, 0, SEEK_END);
    size = ftell(file) - head;
    fseek(file, head, SEEK_SET);
    reply = malloc((size_t)size);
    const int ok = fread(reply, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    return ok ? 0 : -1;
}

static long tuple_size(const uint8_t *message)
{
    return ia_load_be32(message + (framing ? 2 : 4));
}

static int64_t total_rows;
static uint64_t digest = DIGEST_START; /* of all replies, whole */
static long total_cuts, total_failures, total_ends[6];

/* The whole reply into one batch. */
static void decode_whole(void)
{
    struct ia_decoder d;
    struct ArrowArray batch;
    const uint8_t *stop;
    assert(start(&d, 1 << 20, 1 << 30) == 0);
    assert(ia_decoder_feed(&d, reply, reply + size, &stop) == IA_OTHER && ia_decoder_take(&d, &batch) == 0);
    digest = digest_batch(digest, ops, &batch);
    batch.release(&batch);
    ia_decoder_free(&d);
}

static void attack(int corruptions)
{
    int64_t rows, decoded;
    decode_whole();
    assert(run(reply, size, 1 << 20, 1 << 30, 0, &rows) == IA_OTHER);
    for (int i = 0; i < 20; i++) /* whole, and cut anywhere */
        compare(reply, i ? (long)(rnd() % (uint64_t)size) : size, 1 + (int64_t)(rnd() % (i % 2 ? 1 << 20 : 200)),
                i % 3 ? 1 << 30 : 1 + (int64_t)(rnd() % 40000));
    for (int i = 0; i < 100; i++)
        assert(run(reply, size, 1 + (int64_t)(rnd() % 200), 1 + (int64_t)(rnd() % 40000), 0, &decoded) == IA_OTHER &&
               decoded == rows);

    /* A batch with 32-bit offsets ends before its limit, never in an error. */
    for (int64_t limit = 10000; limit < 60000; limit += 1997)
        assert(run(reply, size, 1 << 20, 1 << 30, limit, &decoded) == IA_OTHER && decoded == rows);

    for (long length = 1; length <= size; length += size < 4096 ? 1 : 1 + (long)(rnd() % 16), total_cuts++)
        assert(run(reply, length, 64, 1 << 30, 0, &decoded) == (length == size ? IA_OTHER : IA_NEED_MORE));

    /* Half of the corruptions of one byte, half of up to eight. */
    uint8_t *bad = malloc((size_t)size);
    for (int i = 0; i < corruptions; i++) {
        memcpy(bad, reply, (size_t)size);
        for (int n = i % 2 ? 1 : 1 + (int)(rnd() % 8); n > 0; n--)
            bad[rnd() % (uint64_t)size] ^= (uint8_t)(1 + rnd() % 255);
        const int status = run(bad, size, 1 + (int64_t)(rnd() % 500), 1 << 30, 0, &decoded);
        assert(status == IA_NEED_MORE || status == IA_OTHER || status == IA_PROTOCOL || status == IA_DATA);
        total_ends[status + 3]++;
        if (i % 8 == 0)
            compare(bad, size, 1 << 20, 1 << 30);
    }
    free(bad);

    /* Every value of every byte of each of the first tuples, alone in memory. */
    long begin = 0;
    for (int row = 0; row < 3 && size < 4096; row++) {
        const long whole = IA_TUPLE_HEADER + tuple_size(reply + begin) + (tuple_size(reply + begin) & 1);
        bad = malloc((size_t)whole);
        memcpy(bad, reply + begin, (size_t)whole);
        for (long at = 0; at < whole; at++) {
            for (int v = 0; v < 256; v++) {
                struct ia_decoder d;
                const uint8_t *stop;
                bad[at] = (uint8_t)v;
                assert(start(&d, 100, 1 << 20) == 0);
                const int status = ia_decoder_feed(&d, bad, bad + whole, &stop);
                assert(status != IA_FULL && status != IA_NO_MEMORY);
                ia_decoder_free(&d);
            }
            bad[at] = reply[begin + at];
        }
        free(bad);
        begin += whole;
    }

    for (long limit = 0;; limit++) {
        allocations_left = limit;
        const int status = run(reply, size, 100, 1 << 30, 0, &decoded);
        allocations_left = -1;
        if (status == IA_OTHER && decoded == rows)
            break;
        assert(status == IA_NO_MEMORY && limit < 100000);
        total_failures++;
    }
    total_rows += rows;
}

int main(int argc, char **argv)
{
    const char *asked = getenv("FUZZ_SHARE"); /* percent of the corruptions */
    const int share = asked ? atoi(asked) : 100;
    seed_from(getenv("FUZZ_SEED"));
    for (int i = 1; i < argc; i++) {
        if (read_file(argv[i]))
            return 2;
        framing = IA_FRAMING_TUPLE;
        attack((size < 4096 ? 2000 : 10000) * share / 100);
        if (i % 4 == 1) {
            reframe();
            attack(500 * share / 100);
        }
        free(reply);
    }
    printf("core: %d replies, %lld rows, %ld cuts, corruptions: %ld ProtocolError, %ld DataError, %ld other message, "
           "%ld more bytes needed; %ld columns of inexact doubles, %ld columns the same by blocks, %ld failing "
           "allocations, digest %016llx: ok\n",
           argc - 1, (long long)total_rows, total_cuts, total_ends[IA_PROTOCOL + 3], total_ends[IA_DATA + 3],
           total_ends[IA_OTHER + 3], total_ends[IA_NEED_MORE + 3], total_inexact, total_compared,
           total_failures, (unsigned long long)digest);
    return argc > 1 && total_inexact > 0 && total_compared > 0 ? 0 : 2;
}
