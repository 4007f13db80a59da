/* The bulk reader (decode_bulk.h) without Python, under AddressSanitizer with leak detection, on rows from files:
 *
 *     int32 form (0 groups, 1 one group, 2 puts), int32 rows, int32 n, n x 4 int32 ops (native order), the bytes
 *
 * Every buffer is allocated to the exact length, so that one byte too far is seen. Cuts at every length, corruptions,
 * full batches, every allocation failing once. A run must hold whole rows only, and go on where it stopped. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long allocations_left = -1; /* -1: no limit */

static int may_allocate(void)
{
    return allocations_left < 0 || allocations_left-- > 0 || (allocations_left = 0);
}

static void *limited_realloc(void *p, size_t n)
{
    return may_allocate() ? realloc(p, n) : NULL;
}

static void *limited_calloc(size_t n, size_t size)
{
    return may_allocate() ? calloc(n, size) : NULL;
}

static void *limited_malloc(size_t n)
{
    return may_allocate() ? malloc(n) : NULL;
}

static void *limited_aligned_alloc(size_t alignment, size_t n)
{
    return may_allocate() ? aligned_alloc(alignment, n) : NULL;
}

#define realloc limited_realloc
#define calloc limited_calloc
#define malloc limited_malloc
#define aligned_alloc limited_aligned_alloc
#include "decode_bulk.h"
#undef realloc
#undef calloc
#undef malloc
#undef aligned_alloc

#define STATEMENT 3

static struct ia_op ops[256];
static int32_t form, rows_in_file, count;
static uint8_t *stream;
static long size;
static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* Read every byte that a consumer may read, and check the invariants of the layout. */
static uint64_t walk(const struct ArrowArray *batch)
{
    uint64_t sum = 14695981039346656037ull;
    assert(batch->n_children == count && batch->null_count == 0);
    for (int i = 0; i < count; i++) {
        const struct ArrowArray *a = batch->children[i];
        const uint8_t *validity = a->buffers[0];
        assert(a->length == batch->length && (a->null_count == 0) == (validity == NULL));
        int64_t nulls = 0;
        for (int64_t r = 0; r < a->length; r++) {
            const int null = validity && !(validity[r / 8] >> (r % 8) & 1);
            nulls += null;
            sum = (sum ^ (uint64_t)null) * 1099511628211ull;
            if (a->n_buffers == 3) {
                const int32_t *offsets = a->buffers[1];
                const uint8_t *text = a->buffers[2];
                assert(offsets[0] == 0 && offsets[r] <= offsets[r + 1] && (!null || offsets[r] == offsets[r + 1]));
                for (int32_t at = offsets[r]; at < offsets[r + 1]; at++)
                    sum = (sum ^ text[at]) * 1099511628211ull;
                assert(ia_utf8_valid_until(text + offsets[r], offsets[r + 1] - offsets[r]) ==
                       offsets[r + 1] - offsets[r]);
            }
        }
        assert(nulls == a->null_count);
    }
    return sum;
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
    if (!file || fread(&form, 4, 1, file) != 1 || fread(&rows_in_file, 4, 1, file) != 1 ||
        fread(&count, 4, 1, file) != 1 || count < 1 || count > 256 ||
        fread(ops, sizeof *ops, (size_t)count, file) != (size_t)count)
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

static void attack(int corruptions)
{
    long position;
    enum ia_status last;
    uint64_t whole, sum;
    assert(run(stream, size, 1 << 20, 0, &position, &last, &whole) == rows_in_file);
    assert(position == size - 2 && last == IA_OTHER);
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

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (read_file(argv[i]))
            return 2;
        attack(size < 4096 ? 500 : 4000);
        free(stream);
    }
    printf("bulk: %d streams, %lld rows, %ld cuts, %ld damaged (%ld ended early), %ld failing allocations: ok\n",
           argc - 1, (long long)total_rows, total_cuts, total_damaged, total_stopped, total_failures);
    return argc > 1 ? 0 : 2;
}
