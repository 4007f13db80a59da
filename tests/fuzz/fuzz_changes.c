/* The decoder of row images (decode_changes.h) without Python, under AddressSanitizer with leak detection:
 *
 *     fuzz_changes STREAMS [SEED]
 *
 * Each stream holds drawn changes of one table, its end a record of another kind. Every buffer is allocated to the exact
 * length, so that one byte too far is seen. Random cuts, every prefix, corruptions, every allocation failing once. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"

#define realloc limited_realloc
#define calloc limited_calloc
#define malloc limited_malloc
#define aligned_alloc limited_aligned_alloc
#include "native/decode_changes.h"
#include "native/log_records.h"
#undef realloc
#undef calloc
#undef malloc
#undef aligned_alloc

#include "digest.h"
#include "draws.h"

#define TRANSACTION 30
#define LABEL 7
#define VARIABLE 2

static const struct ia_op ops[] = {
    {IA_INT16, 2, 0, 0},    {IA_INT64, 8, 0, 0},          {IA_INT32, 4, 0, 0},         {IA_CHANGE_BOOL, 2, 0, 0},
    {IA_INT8, 10, 0, 0},    {IA_DECIMAL128, 6, 10 << 8 | 2, 0}, {IA_CHAR, 5, 0, IA_FLAG_TRIM},
    {IA_VARCHAR, 40, 0, 0}, {IA_CHANGE_LVARCHAR, 300, 0, 0},
};
#define COUNT ((int)(sizeof ops / sizeof *ops))

/* Read every byte that a consumer may read, and check the invariants of the layout. */
static uint64_t walk(const struct ArrowArray *batch)
{
    assert(batch->n_children == COUNT && batch->null_count == 0);
    for (int i = 0; i < COUNT; i++) {
        const struct ArrowArray *a = batch->children[i];
        const uint8_t *validity = a->buffers[0];
        int64_t nulls = 0;
        assert(a->length == batch->length && (a->null_count == 0) == (validity == NULL));
        for (int64_t r = 0; r < a->length; r++) {
            const int null = validity && !(validity[r / 8] >> (r % 8) & 1);
            nulls += null;
            if (a->n_buffers == 3) {
                const int32_t *offsets = a->buffers[1];
                const uint8_t *text = a->buffers[2];
                assert(offsets[0] == 0 && offsets[r] <= offsets[r + 1] && (!null || offsets[r] == offsets[r + 1]));
                assert(ia_utf8_valid_until(text + offsets[r], offsets[r + 1] - offsets[r]) ==
                       offsets[r + 1] - offsets[r]);
            }
        }
        assert(nulls == a->null_count && (i >= 2 || nulls == 0));
    }
    return digest_batch(DIGEST_START, ops, batch);
}

static uint8_t stream[1 << 16];
static long size;      /* of its row images */
static int64_t images; /* in it */

static void put32(uint32_t v)
{
    ia_store_be32(stream + size, v);
    size += 4;
}

static void draw_image(int number)
{
    static const uint8_t decimals[3][6] = {{0xc1, 1, 50}, {0x3e, 98, 49}, {0}};
    static const char letters[] = "ab c\xc3\xa9";
    const int text = (int)(rnd() % 3), v = text == 0 ? 0 : text == 1 ? 40 : 1, l = (int)(rnd() % 300);
    const int null = rnd() % 4 == 0, length = null ? 3 : 3 + l;
    const long start = size;
    put32(IA_RECORD_ROW + 4 * VARIABLE);
    put32((uint32_t)(4 + 2 + 10 + 6 + 5 + 1 + v + length));
    put32(IA_RECORD_SCHEME);
    put32((uint32_t)number);
    put32(69);
    put32((uint32_t)start);
    put32(TRANSACTION);
    put32(LABEL);
    put32(0);
    put32((uint32_t)(1 + v));
    put32((uint32_t)length);
    put32((uint32_t)rnd());
    memcpy(stream + size, rnd() % 3 ? "\0\1" : "\1\0", 2);
    size += 2;
    memset(stream + size, 0, 10);
    stream[size + 1] = (uint8_t)(rnd() % 2);
    stream[size + 5] = (uint8_t)rnd();
    memcpy(stream + size + 10, decimals[rnd() % 3], 6);
    memcpy(stream + size + 16, rnd() % 2 ? "ab   " : "\0    ", 5);
    size += 21;
    stream[size++] = (uint8_t)v;
    for (int i = 0; i < v; i++)
        stream[size++] = v == 1 ? 0 : (uint8_t)letters[i % 6 < 4 ? i % 4 : i % 6];
    ia_store_be16(stream + size, (uint16_t)(length - 2));
    stream[size + 2] = (uint8_t)null;
    memset(stream + size + 3, 'x', (size_t)(length - 3));
    size += length;
    images++;
}

static void draw(void)
{
    size = images = 0;
    for (int n = 1 + (int)(rnd() % 90); n > 0; n--) {
        if (rnd() % 2) {
            draw_image(rnd() % 2 ? IA_RECORD_INSERT : IA_RECORD_DELETE);
        } else {
            draw_image(IA_RECORD_UPDBEF);
            draw_image(IA_RECORD_UPDAFT);
        }
    }
}

/* Take what is there; -1 when memory ran out. */
static int64_t take(struct ia_changes *s, uint64_t *sum)
{
    struct ArrowArray batch;
    int64_t rows = 0;
    struct ia_decoder *const both[2] = {&s->after, &s->before};
    for (int i = 0; i < 2; i++) {
        rows += both[i]->rows;
        if (ia_decoder_take(both[i], &batch))
            return -1;
        *sum += walk(&batch);
        batch.release(&batch);
    }
    return rows;
}

/* Feed bytes cut into pieces of random length, each alone in memory. The images taken, or -1 if memory ran out. */
static int64_t run(const uint8_t *data, long length, int64_t batch_rows, int cuts, enum ia_status *last, uint64_t *sum)
{
    struct ia_changes s;
    int64_t rows = 0;
    long at = 0, end = 0;
    enum ia_status status = IA_NEED_MORE;
    int bad;
    *sum = 0;
    memset(&s, 0, sizeof s);
    const char *wrong = ia_changes_init(&s, ops, COUNT, VARIABLE, batch_rows, 1 << 24, 4096, NULL, &bad);
    assert(!wrong || bad < 0);
    s.label = LABEL;
    ia_changes_begin(&s, TRANSACTION);
    if (wrong)
        rows = -1;
    while (!wrong && end < length && status == IA_NEED_MORE) {
        end = cuts ? end + 1 + (long)(rnd() % (uint64_t)(length - end)) : length;
        do {
            uint8_t *piece = malloc((size_t)(end - at) + (end == at));
            const uint8_t *stop;
            memcpy(piece, data + at, (size_t)(end - at));
            status = ia_changes_feed(&s, piece, piece + (end - at), &stop);
            assert(stop >= piece && stop <= piece + (end - at));
            at += (long)(stop - piece);
            free(piece);
            if (status == IA_FULL) {
                const int64_t taken = take(&s, sum);
                assert(!s.expects_after_image);
                rows += taken;
                if (taken < 0) {
                    status = IA_NO_MEMORY;
                    break;
                }
            }
        } while (status == IA_FULL);
    }
    if (rows >= 0 && status != IA_NO_MEMORY) {
        const int64_t taken = take(&s, sum);
        rows = taken < 0 ? -1 : rows + taken;
    } else {
        rows = -1;
    }
    ia_changes_free(&s);
    *last = status;
    return rows;
}

static long logged; /* images that went through the log */

/* The same images as the embedded server has them in its log (log_records.h), and back: nothing but the LSNs differs. */
static void through_the_log(void)
{
    static uint8_t log[sizeof stream], made[sizeof stream];
    struct ia_log_run run = {.place = INT64_C(69) << 32, .transaction = TRANSACTION, .table = 11, .label = LABEL,
                             .lengths = 4 * VARIABLE, .most = INT64_MAX, .room = sizeof made};
    const uint8_t *p = stream, *stop;
    uint8_t *out = log;
    int64_t written;
    ia_crc32_table(run.crc);
    while (p < stream + size) {
        const int64_t body = (int64_t)ia_load_be32(p) + ia_load_be32(p + 4) - IA_RECORD_ROW;
        ia_store_be32(out, (uint32_t)(IA_LOG_HEAD + body));
        memset(out + 8, 0, 4);
        out[8] = p[15];
        ia_store_be32(out + 12, TRANSACTION);
        ia_store_be32(out + 16, run.table);
        memcpy(out + IA_LOG_HEAD, p + IA_RECORD_ROW, (size_t)body);
        ia_store_be32(out + 4, ia_crc32(run.crc, out + IA_LOG_CHECKED, IA_LOG_HEAD + body - IA_LOG_CHECKED));
        out += IA_LOG_HEAD + body;
        p += IA_RECORD_ROW + body;
    }
    assert(ia_log_records(&run, log, out, made, &stop, &written) == images && stop == out && written == size);
    for (int64_t at = 0, behind = 0; at < size;) {
        const int64_t whole = (int64_t)ia_load_be32(made + at) + ia_load_be32(made + at + 4);
        assert(ia_load_be64(made + at + IA_RECORD_COMMON) == (uint64_t)(run.place + behind));
        memcpy(made + at + IA_RECORD_COMMON, stream + at + IA_RECORD_COMMON, 8);
        behind += whole - IA_RECORD_ROW + IA_LOG_HEAD;
        at += whole;
    }
    assert(memcmp(made, stream, (size_t)size) == 0);
    const int64_t broken = (int64_t)(rnd() % (uint64_t)(out - log)); /* its CRC is wrong, or it is another's */
    log[broken] ^= 1;
    assert(ia_log_records(&run, log, out, made, &stop, &written) < images && stop <= log + broken);
    logged += images;
}

int main(int argc, char **argv)
{
    const long streams = argc > 1 ? atol(argv[1]) : 100;
    long cuts = 0, damaged = 0, refused = 0, failures = 0;
    int64_t total = 0;
    uint64_t digest = DIGEST_START; /* of all streams, whole */
    seed_from(argc > 2 ? argv[2] : NULL);
    const uint64_t first = seed;
    for (long n = 0; n < streams; n++) {
        enum ia_status last;
        uint64_t whole, sum;
        seed = first + (uint64_t)n; /* a stream does not depend on what was done with the one before */
        draw();
        total += images;
        assert(run(stream, size, 1 << 20, 0, &last, &whole) == images && last == IA_NEED_MORE);
        digest = digest_value(digest_bytes(digest, stream, size), (int64_t)whole);
        through_the_log();
        for (int i = 0; i < 20; i++) {
            assert(run(stream, size, 1 << 20, 1, &last, &sum) == images && sum == whole);
            assert(run(stream, size, 1 + (int64_t)(rnd() % 9), 1, &last, &sum) == images);
        }
        int64_t before = 0;
        for (long length = 0; length <= size; length += 1 + (n ? (long)(rnd() % 64) : 0), cuts++) {
            const int64_t rows = run(stream, length, 64, 0, &last, &sum);
            assert(rows >= before && rows <= images && last == IA_NEED_MORE);
            before = rows;
        }
        uint8_t *bad = malloc((size_t)size);
        for (int i = 0; i < 200; i++, damaged++) {
            memcpy(bad, stream, (size_t)size);
            for (int spoilt = i % 2 ? 1 : 1 + (int)(rnd() % 8); spoilt > 0; spoilt--)
                bad[rnd() % (uint64_t)size] ^= (uint8_t)(1 + rnd() % 255);
            const int64_t rows = run(bad, size, 1 << 20, (int)(rnd() % 2), &last, &sum);
            assert(rows >= 0 && rows <= images);
            refused += last < 0;
        }
        free(bad);
        for (long limit = 0; n < 5; limit++) {
            allocations_left = limit;
            const int64_t rows = run(stream, size, 25, 1, &last, &sum);
            allocations_left = -1;
            if (rows == images)
                break;
            assert(rows < 0 && limit < 100000);
            failures++;
        }
    }
    printf("changes: %ld streams, %lld images, %ld cuts, %ld damaged (%ld refused), %ld failing allocations, %ld images "
           "through the log, digest %016llx: ok\n",
           streams, (long long)total, cuts, damaged, refused, failures, logged, (unsigned long long)digest);
    return 0;
}
