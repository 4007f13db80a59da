/* .unl files without Python, under AddressSanitizer with leak detection: random lines into the reader, and what it made of
 * them through the writer and back, which must give the same lines again.
 *
 *     fuzz_unl CASES SEED
 *
 * Lines are allocated to the exact length, so that one byte too far is seen; every prefix and every corruption of one byte
 * of short ones is tried. Exits 0 and prints what was done, or is ended by the sanitizer or an assertion. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/decode_unl.h"
#include "native/unl_write.h"

#include "digest.h"
#include "draws.h"

/* One of each kind that a file is read into: VARCHAR, CHAR, BYTE, integers, DECIMAL(8,2), MONEY(38,10), a number as text,
 * DATE, BOOLEAN, DATETIMEs, INTERVALs. */
static const struct ia_op ops[] = {
    {IA_LVARCHAR, 100, 0, 0},
    {IA_CHAR, 10, 0, IA_FLAG_TRIM},
    {IA_LVARCHAR, 100, 0, IA_FLAG_LARGE},
    {IA_OPAQUE, 100, 0, IA_FLAG_LARGE},
    {IA_INT16, 2, 0, 0},
    {IA_INT32, 4, 0, 0},
    {IA_INT64, 8, 0, 0},
    {IA_DECIMAL128, 6, 8 << 8 | 2, 0},
    {IA_DECIMAL128, 18, 38 << 8 | 10, IA_FLAG_MONEY},
    {IA_DECIMAL_STRING, 9, 0, 0},
    {IA_DATE, 4, 0, 0},
    {IA_BOOL, 6, 0, 0},
    {IA_DATETIME_TIMESTAMP, 10, 17 << 8 | 0x0d, 0},  /* YEAR TO FRACTION(3) */
    {IA_DATETIME_DATE32, 5, 8 << 8 | 0x04, 0},       /* YEAR TO DAY */
    {IA_DATETIME_TIME32, 3, 4 << 8 | 0x68, 0},       /* HOUR TO MINUTE */
    {IA_DATETIME_TEXT, 3, 4 << 8 | 0x24, 0},         /* MONTH TO DAY */
    {IA_INTERVAL_MONTHS, 4, 6 << 8 | 0x02, 0},       /* YEAR(4) TO MONTH */
    {IA_INTERVAL_DURATION, 6, 9 << 8 | 0x4a, 0},     /* DAY(3) TO SECOND */
    {IA_INTERVAL_MDN, 6, 9 << 8 | 0x4a, 0},
};
#define OPS ((int)(sizeof ops / sizeof *ops))

static const char *const samples[] = {
    "abc|\\ |a\\|b|00ff|-7|70|9000000000|12.50|-$3.25|1.5e3|12/24/2020|t|2020-12-24 10:11:12.125|2020-02-29|23:59|02-29|"
    "-5-03|-3 04:05:06|3 04:05:06|\n",
    "|||||||||||||||||||\n",
    "\xc3\xa9|x  |a\\\nb|\\ |0|0|0|.5|0.0000000001|0|1/1/1|f|0001-01-01 00:00:00|9999-12-31|0:0|2-1|0-0|0 0:0:0|999 23:59:59|\r\n",
};

static struct ia_unl_format format(uint64_t kind)
{
    struct ia_unl_format f = {.delimiter = '|', .point = '.', .century = "RPFC"[kind & 3], .separator = '/',
                              .order = {'M', 'D', 'Y'}, .year_digits = kind & 4 ? 2 : 4, .today = 20000,
                              .join = (kind & 8) != 0, .empty = (kind & 16) != 0};
    if (kind & 32) {
        memcpy(f.front, "DM", 2);
        f.front_size = 2;
    }
    return f;
}

/* Rows of the bytes, without converting them. */
static int64_t count_rows(const uint8_t *text, int64_t size, uint64_t kind)
{
    struct ia_unl_reader r;
    const uint8_t *stop;
    int bad;
    memset(&r, 0, sizeof r);
    r.format = format(kind);
    assert(ia_decoder_init(&r.core, ops, OPS, 1, 1, INT32_MAX, NULL, &bad) == NULL);
    assert(ia_unl_reader_init(&r) == 0);
    const int64_t rows = ia_unl_skip(&r, text, text + size, 1, INT64_MAX, &stop);
    ia_unl_reader_free(&r);
    return rows;
}

/* Read bytes in two pieces; the rows before the first that is wrong are in *out. */
static enum ia_status read_all(const uint8_t *text, int64_t size, int64_t cut, uint64_t kind, struct ArrowArray *out)
{
    struct ia_unl_reader r;
    const uint8_t *stop;
    int bad;
    memset(&r, 0, sizeof r);
    r.format = format(kind);
    assert(ia_decoder_init(&r.core, ops, OPS, 1 << 20, INT64_MAX / 4, INT32_MAX, NULL, &bad) == NULL);
    assert(ia_unl_reader_init(&r) == 0);
    uint8_t *const first = malloc((size_t)cut + 1);
    memcpy(first, text, (size_t)cut);
    enum ia_status status = ia_unl_feed(&r, first, first + cut, 0, &stop);
    const int64_t used = stop - first;
    if (status < 0) {
        assert(r.core.error.detail[0]);
    } else {
        uint8_t *const rest = malloc((size_t)(size - used) + 1);
        memcpy(rest, text + used, (size_t)(size - used));
        status = ia_unl_feed(&r, rest, rest + (size - used), 1, &stop);
        assert(status != IA_NEED_MORE || stop == rest + (size - used));
        free(rest);
    }
    assert(status >= 0 || r.core.error.detail[0]);
    free(first);
    assert(ia_decoder_take(&r.core, out) == 0);
    ia_unl_reader_free(&r);
    return status;
}

/* The batch as lines; -1 where a value cannot be said. */
static int64_t write_all(const struct ArrowArray *batch, uint64_t kind, uint8_t **out)
{
    static struct ia_out_column columns[OPS];
    const struct ia_unl_format from = format(kind);
    struct ia_out_format f = {.delimiter = '|', .point = '.', .century = from.century, .separator = '/',
                              .order = {'M', 'D', 'Y'}, .year_digits = from.year_digits, .today = 20000,
                              .front_size = from.front_size};
    struct ia_out_fault fault;
    memcpy(f.front, from.front, sizeof f.front);
    for (int k = 0; k < OPS; k++) {
        assert(ia_out_column_from(&ops[k], &columns[k]) == NULL);
        const struct ArrowSchema schema = {.format = columns[k].format};
        assert(ia_out_bind(&columns[k], &schema, batch->children[k], 0, batch->length) == 0);
    }
    const int64_t most = ia_out_most(columns, OPS, batch->length);
    assert(most > 0);
    *out = malloc((size_t)most);
    uint8_t *const end = ia_out_rows(&f, columns, OPS, batch->length, *out, &fault);
    assert(end - *out <= most);
    return fault.status ? -1 : end - *out;
}

static uint64_t digest = DIGEST_START; /* of all batches, and of their lines */

static void one(const uint8_t *text, int64_t size, uint64_t kind)
{
    struct ArrowArray batch, again;
    (void)read_all(text, size, size ? (int64_t)(rnd() % (uint64_t)size) : 0, kind, &batch);
    uint8_t *lines, *same;
    const int64_t written = write_all(&batch, kind, &lines);
    digest = digest_batch(digest, ops, &batch);
    if (written >= 0) {
        digest = digest_bytes(digest, lines, written);
        const uint64_t plain = kind & ~(uint64_t)(8 | 16);
        assert(read_all(lines, written, written / 2, plain, &again) >= 0);
        assert(again.length == batch.length && count_rows(lines, written, plain) == batch.length);
        assert(write_all(&again, plain, &same) == written && memcmp(lines, same, (size_t)written) == 0);
        free(same);
        again.release(&again);
    }
    free(lines);
    batch.release(&batch);
}

/* The text of a float of any bits is read as the same float. */
static void one_float(const struct ia_power *powers)
{
    const uint64_t wide = rnd() ^ rnd() << 32;
    const uint32_t narrow = (uint32_t)rnd();
    const uint64_t doubles[] = {0, wide};
    const uint32_t floats[] = {0, narrow};
    const void *const buffers[2][2] = {{NULL, doubles}, {NULL, floats}};
    static const struct ia_op float_ops[] = {{IA_FLOAT64, 8, 0, 0}, {IA_FLOAT32, 4, 0, 0}};
    static const char *const formats[] = {"g", "f"};
    const struct ia_out_format f = {.delimiter = '|', .point = '.', .powers = powers};
    for (int k = 0; k < 2; k++) {
        const struct ArrowArray array = {.length = 2, .n_buffers = 2, .buffers = (const void **)(uintptr_t)buffers[k]};
        const struct ArrowSchema schema = {.format = formats[k]};
        struct ia_out_column column;
        struct ia_out_fault fault;
        assert(ia_out_column_from(&float_ops[k], &column) == NULL);
        assert(ia_out_bind(&column, &schema, &array, 1, 1) == 0);
        const int64_t most = ia_out_most(&column, 1, 1);
        uint8_t *const text = malloc((size_t)most + 1);
        uint8_t *const end = ia_out_rows(&f, &column, 1, 1, text, &fault);
        if (fault.status == IA_OUT_OK) {
            double value;
            float value32;
            memcpy(&value, &wide, 8);
            memcpy(&value32, &narrow, 4);
            *end = 0;
            assert(k == 0 ? strtod((char *)text, NULL) == value : strtof((char *)text, NULL) == value32);
            digest = digest_bytes(digest, text, end - text);
        } else {
            assert(fault.status == IA_OUT_FINITE);
        }
        free(text);
    }
}

int main(int argc, char **argv)
{
    static const char alphabet[] = "|\\\n\r ,.:-+/$tf0123456789aexDM\xc3\xa9\xff";
    const long cases = argc > 1 ? atol(argv[1]) : 1000;
    long done = 0;
    seed_from(argc > 2 ? argv[2] : NULL);
    uint8_t text[2048];
    for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
        const int64_t size = (int64_t)strlen(samples[s]);
        for (int64_t cut = 0; cut <= size; cut++, done++)
            one((const uint8_t *)samples[s], cut, (uint64_t)cut);
        for (int64_t at = 0; at < size; at++, done++) {
            memcpy(text, samples[s], (size_t)size);
            text[at] = (uint8_t)alphabet[rnd() % (sizeof alphabet - 1)];
            one(text, size, rnd());
        }
    }
    for (long n = 0; n < cases; n++, done++) {
        int64_t size = 0;
        for (int rows = (int)(rnd() % 4); rows >= 0; rows--) {
            const char *const sample = samples[rnd() % (sizeof samples / sizeof *samples)];
            const int64_t length = (int64_t)strlen(sample);
            memcpy(text + size, sample, (size_t)length);
            for (int spoilt = (int)(rnd() % 6); spoilt > 0; spoilt--) {
                const int64_t at = size + (int64_t)(rnd() % (uint64_t)length);
                text[at] = (uint8_t)alphabet[rnd() % (sizeof alphabet - 1)];
            }
            size += length;
        }
        one(text, size, rnd());
    }
    static struct ia_power powers[IA_POWER_COUNT];
    ia_compute_powers_of_ten(powers);
    for (long n = 0; n < cases; n++)
        one_float(powers);
    printf(".unl: %ld files, digest %016llx: ok\n", done, (unsigned long long)digest);
    return 0;
}
