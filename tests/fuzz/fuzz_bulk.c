/* The bulk reader (decode_bulk.h) without Python, under AddressSanitizer with leak detection, on rows from files:
 *
 *     int32 form (0 groups, 1 one group, 2 puts), int32 rows, int32 n, n x 4 int32 ops (lowest byte first), the bytes
 *
 * Every buffer is allocated to the exact length, so that one byte too far is seen. Cuts at every length, corruptions,
 * full batches, every allocation failing once. A run must hold whole rows only, and go on where it stopped. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"

#define realloc limited_realloc
#define calloc limited_calloc
#define malloc limited_malloc
#define aligned_alloc limited_aligned_alloc
#include "native/decode_bulk.h"
#include "native/decode_plan.h"
#undef realloc
#undef calloc
#undef malloc
#undef aligned_alloc

#include "digest.h"
#include "draws.h"

#define STATEMENT 3

static struct ia_op ops[256];
static int32_t form, rows_in_file, count;
static uint8_t *stream;
static long size;
/* Read every byte that a consumer may read, and check the invariants of the layout. */
static uint64_t walk(const struct ArrowArray *batch)
{
    assert(batch->n_children == count && batch->null_count == 0);
    for (int i = 0; i < count; i++) {
        const struct ArrowArray *a = batch->children[i];
        const uint8_t *validity = a->buffers[0];
        assert(a->length == batch->length && (a->null_count == 0) == (validity == NULL));
        int64_t nulls = 0;
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
        assert(nulls == a->null_count);
    }
    return digest_batch(DIGEST_START, ops, batch);
}

static int start(struct ia_decoder *d, int64_t rows)
{
    int bad;
    const char *wrong = ia_decoder_init(d, ops, count, rows, 1 << 24, 4096, NULL, &bad);
    d->framing = IA_FRAMING_PUT;
    if (!wrong)
        return 0;
    assert(bad < 0);
    ia_decoder_free(d);
    return -1;
}

/* Feed bytes cut into pieces of random length, each alone in memory. The rows taken, or -1 if memory ran out;
 * *position is how far it came, *last the last status. */
static int64_t run(const uint8_t *data, long length, int64_t batch_rows, int cuts, long *position,
                   enum ia_status *last, uint64_t *sum)
{
    struct ia_decoder d;
    struct ArrowArray batch;
    enum ia_shape shape = IA_SHAPE_UNKNOWN;
    int64_t rows = 0;
    long at = 0, end = 0;
    enum ia_status status = IA_NEED_MORE;
    *position = 0;
    *sum = 0;
    if (start(&d, batch_rows))
        return -1;
    while (end < length && (status == IA_NEED_MORE || status == IA_FULL)) {
        end = cuts ? end + 1 + (long)(rnd() % (uint64_t)(length - end)) : length;
        do {
            uint8_t *piece = malloc((size_t)(end - at) + (end == at));
            const uint8_t *stop;
            memcpy(piece, data + at, (size_t)(end - at));
            const int64_t before = d.rows;
            status = form == 2 ? ia_bulk_puts(&d, piece, piece + (end - at), &stop)
                               : ia_bulk_binds(&d, STATEMENT, &shape, piece, piece + (end - at), &stop);
            assert(stop >= piece && stop <= piece + (end - at) && (d.rows > before) == (stop > piece));
            at += (long)(stop - piece);
            free(piece);
            if (status == IA_FULL) {
                rows += d.rows;
                shape = IA_SHAPE_UNKNOWN;
                if (ia_decoder_take(&d, &batch)) {
                    status = IA_NO_MEMORY;
                    break;
                }
                *sum += walk(&batch);
                batch.release(&batch);
            }
        } while (status == IA_FULL);
    }
    rows += d.rows;
    if (status != IA_NO_MEMORY && ia_decoder_take(&d, &batch) == 0) {
        *sum += walk(&batch);
        batch.release(&batch);
    } else {
        rows = -1;
    }
    ia_decoder_free(&d);
    *position = at;
    *last = status;
    return rows;
}

static int read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || read_numbers(file, &form, 1) || read_numbers(file, &rows_in_file, 1) || read_numbers(file, &count, 1) ||
        count < 1 || count > 256 || read_numbers(file, (int32_t *)ops, 4 * (size_t)count))
        return -1;
    const long head = ftell(file);
    fseek(file, 0, SEEK_END);
    size = ftell(file) - head;
    fseek(file, head, SEEK_SET);
    stream = malloc((size_t)size);
    const int ok = fread(stream, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    return ok ? 0 : -1;
}

static long total_cuts, total_damaged, total_stopped, total_failures;
static int64_t total_rows;
static uint64_t digest = DIGEST_START; /* of all streams, whole */

static void attack(int corruptions)
{
    long position;
    enum ia_status last;
    uint64_t whole, sum;
    assert(run(stream, size, 1 << 20, 0, &position, &last, &whole) == rows_in_file);
    assert(position == size - 2 && last == IA_OTHER);
    digest = digest_value(digest, (int64_t)whole);
    for (int i = 0; i < 40; i++) {
        assert(run(stream, size, 1 << 20, 1, &position, &last, &sum) == rows_in_file && sum == whole);
        assert(run(stream, size, 1 + (int64_t)(rnd() % 9), 1, &position, &last, &sum) == rows_in_file);
    }
    int64_t before = 0;
    for (long length = 0; length <= size; length += size < 4096 ? 1 : 1 + (long)(rnd() % 16), total_cuts++) {
        const int64_t rows = run(stream, length, 64, 0, &position, &last, &sum);
        assert(rows >= before && rows <= rows_in_file && position <= length);
        assert(length == size || length == size - 1 || last == IA_NEED_MORE || length == 0 || position == size - 2);
        before = rows;
    }
    uint8_t *bad = malloc((size_t)size);
    for (int i = 0; i < corruptions; i++, total_damaged++) {
        long first = size;
        memcpy(bad, stream, (size_t)size);
        for (int n = i % 2 ? 1 : 1 + (int)(rnd() % 8); n > 0; n--) {
            const long at = (long)(rnd() % (uint64_t)size);
            bad[at] ^= (uint8_t)(1 + rnd() % 255);
            first = at < first ? at : first;
        }
        /* What lies whole before the damage is taken as if there were none. */
        long clean, reached;
        const int64_t least = run(stream, first, 1 << 20, 0, &clean, &last, &sum);
        const int64_t rows = run(bad, size, 1 << 20, (int)(rnd() % 2), &reached, &last, &sum);
        assert(rows >= least && (reached >= clean || form == 1));
        total_stopped += reached < size - 2;
    }
    free(bad);
    for (long limit = 0;; limit++) {
        allocations_left = limit;
        const int64_t rows = run(stream, size, 25, 1, &position, &last, &sum);
        allocations_left = -1;
        if (rows == rows_in_file)
            break;
        assert(rows < 0 && limit < 100000);
        total_failures++;
    }
    total_rows += rows_in_file;
}

#define DAY_ROW 32

/* One bound row of a DATE and an INTEGER: `day` in days from 1899-12-31. Returns its end. */
static uint8_t *put_day(uint8_t *p, int32_t day)
{
    ia_store_be32(p, 4u << 16 | STATEMENT); /* SQ_ID */
    p += 4;
    ia_store_be32(p, 5u << 16 | 2);         /* SQ_BIND, two parameters */
    ia_store_be32(p + 4, 7u << 16);         /* DATE, not NULL */
    ia_store_be16(p + 8, 0);
    ia_store_be32(p + 10, (uint32_t)day);
    ia_store_be32(p + 14, 2u << 16);        /* INTEGER, not NULL */
    ia_store_be16(p + 18, 0x0a00);
    ia_store_be32(p + 20, 12345);
    ia_store_be32(p + 24, 7u << 16 | 12);   /* SQ_EXECUTE, SQ_EOT */
    return p + 28;
}

/* Days that no calendar has end the run before their row, for a DATE column and for DATETIME columns of any unit. */
static void impossible_days(void)
{
    static const int32_t days[] = {INT32_MAX, INT32_MIN + 1, 2958465, -693595, 1 << 30, -(1 << 30)};
    static const struct ia_op targets[] = {
        {IA_DATE, 4, 0, 0},
        {IA_DATETIME_DATE32, 5, 8 << 8 | 4, 0},
        {IA_DATETIME_TIMESTAMP, 8, 14 << 8 | 10, 0},  /* YEAR TO SECOND: s */
        {IA_DATETIME_TIMESTAMP, 11, 19 << 8 | 15, 0}, /* YEAR TO FRACTION(5): us */
    };
    const struct ia_op after = {IA_INT32, 4, 0, 0};
    uint8_t rows[3 * DAY_ROW];
    count = 2;
    form = 0;
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
            long position;
            enum ia_status last;
            uint64_t sum;
            ops[0] = targets[t];
            ops[1] = after;
            put_day(put_day(put_day(rows, 45000), days[i]), 45001);
            assert(run(rows, sizeof rows, 64, 0, &position, &last, &sum) == 1);
            assert(position == DAY_ROW && last == IA_OTHER);
            put_day(put_day(put_day(rows, 2958464), -693594), 45001); /* the first and the last there are */
            assert(run(rows, sizeof rows, 64, 0, &position, &last, &sum) == 3);
        }
    }
}

/* A DECIMAL(p, s) with more decimal places than digits is refused before any value is read. */
static void impossible_decimals(void)
{
    for (int32_t precision = 1; precision <= 38; precision++) {
        for (int32_t scale = 0; scale <= 38; scale++) {
            const struct ia_op op = {IA_DECIMAL128, 18, precision << 8 | scale, 0};
            struct ia_decoder d;
            int bad;
            const char *const wrong = ia_decoder_init(&d, &op, 1, 64, 1 << 24, 4096, NULL, &bad);
            assert((wrong != NULL) == (scale > precision) && bad == (wrong ? 0 : -1));
            ia_decoder_free(&d);
        }
    }
}

int main(int argc, char **argv)
{
    seed_from(getenv("FUZZ_SEED"));
    impossible_days();
    impossible_decimals();
    for (int i = 1; i < argc; i++) {
        if (read_file(argv[i]))
            return 2;
        attack(size < 4096 ? 500 : 4000);
        free(stream);
    }
    printf("bulk: %d streams, %lld rows, %ld cuts, %ld damaged (%ld ended early), %ld failing allocations, "
           "digest %016llx: ok\n",
           argc - 1, (long long)total_rows, total_cuts, total_damaged, total_stopped, total_failures,
           (unsigned long long)digest);
    return argc > 1 ? 0 : 2;
}
