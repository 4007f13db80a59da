/* The reader of the server's log of changes (log_records.h) without Python, under AddressSanitizer:
 *
 *     fuzz_log STREAMS [SEED]
 *
 * Each stream holds drawn records of a log, most of them row images of one table in one transaction. Both buffers are
 * allocated to the exact length, so that one byte too far is seen. Every prefix, corruptions of bytes and, with the check
 * made right again, of lengths, limits of records and bytes; what comes out is compared with a plain reading. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/log_records.h"

#include "digest.h"
#include "draws.h"

#define PLACE ((int64_t)7 << 32 | 24)
#define TRANSACTION 16
#define TABLE 3

static uint8_t stream[1 << 15];
static long size, records;
static long starts[256];
static uint32_t crc[256];

static void check(uint8_t *record, int64_t length)
{
    ia_put_be32(record + 4, ia_crc32(crc, record + IA_LOG_CHECKED, length - IA_LOG_CHECKED));
}

static void draw(int lengths)
{
    static const uint8_t others[] = {1, 2, 3, 39, 44, 62, 119, 250, 251};
    size = records = 0;
    for (int n = 1 + (int)(rnd() % 40); n > 0; n--) {
        const int strange = rnd() % 30 == 0;
        const uint32_t body = (uint32_t)(rnd() % 30 ? (uint64_t)lengths + rnd() % 90 : rnd() % 6);
        uint8_t *const p = stream + size;
        ia_put_be32(p, IA_LOG_HEAD + body);
        memset(p + 8, 0, 4);
        p[8] = strange && rnd() % 2 ? others[rnd() % sizeof others] : (uint8_t)(IA_RECORD_INSERT + rnd() % 4);
        ia_put_be32(p + 12, strange ? (uint32_t)rnd() : TRANSACTION);
        ia_put_be32(p + 16, strange ? (uint32_t)rnd() : TABLE);
        for (uint32_t i = 0; i < body; i++)
            p[IA_LOG_HEAD + i] = (uint8_t)rnd();
        check(p, IA_LOG_HEAD + body);
        starts[records++] = size;
        size += IA_LOG_HEAD + body;
    }
}

/* How many records of the run are at the front, read plainly, and the bytes that they become. */
static int64_t plain(const struct ia_log_run *run, const uint8_t *data, long length, long *end, int64_t *bytes)
{
    int64_t count = 0;
    long at = 0;
    *bytes = 0;
    while (count < run->most && *bytes < run->room && length - at >= IA_LOG_HEAD) {
        const uint8_t *p = data + at;
        const int64_t whole = ia_load_be32(p);
        if (whole < IA_LOG_HEAD + run->lengths || whole > length - at || p[8] < 40 || p[8] > 43 ||
            ia_load_be32(p + 12) != run->transaction || ia_load_be32(p + 16) != run->table ||
            ia_crc32(run->crc, p + 8, whole - 8) != ia_load_be32(p + 4))
            break;
        at += (long)whole;
        *bytes += whole + IA_RECORD_ROW - IA_LOG_HEAD;
        count++;
    }
    *end = at;
    return count;
}

/* Read a run out of bytes of their own, into as many as are said to be needed; how many records it has. */
static int64_t run_of(const uint8_t *data, long length, int64_t lengths, int64_t most, int64_t room)
{
    struct ia_log_run run = {PLACE, TRANSACTION, TABLE, 5, lengths, most, room, {0}};
    ia_crc32_table(run.crc);
    uint8_t *const copy = malloc((size_t)length + !length);
    memcpy(copy, data, (size_t)length);
    const int64_t space = ia_log_space(&run, copy, copy + length);
    uint8_t *const out = malloc((size_t)space + !space);
    const uint8_t *stop;
    int64_t written, bytes;
    long end;
    const int64_t count = ia_log_records(&run, copy, copy + length, out, &stop, &written);
    assert(count == plain(&run, copy, length, &end, &bytes) && stop == copy + end);
    assert(written == bytes && written <= space);
    int64_t at = 0, left = count;
    for (const uint8_t *p = copy; left > 0; left--, p += ia_load_be32(p)) {
        const int64_t header = ia_load_be32(out + at), payload = ia_load_be32(out + at + 4);
        assert(header == IA_RECORD_ROW + lengths && header + payload - IA_RECORD_ROW == ia_load_be32(p) - IA_LOG_HEAD);
        assert(ia_load_be32(out + at + 8) == IA_RECORD_SCHEME && ia_load_be32(out + at + 12) == p[8]);
        assert(ia_load_be64(out + at + 16) == (uint64_t)(PLACE + (p - copy)));
        assert(!memcmp(out + at + IA_RECORD_ROW, p + IA_LOG_HEAD, (size_t)(header + payload - IA_RECORD_ROW)));
        at += header + payload;
    }
    assert(at == written);
    free(out);
    free(copy);
    return count;
}

int main(int argc, char **argv)
{
    const long streams = argc > 1 ? atol(argv[1]) : 100;
    long cuts = 0, damaged = 0, ended = 0;
    int64_t total = 0;
    uint64_t digest = DIGEST_START; /* of all streams, and of how many records are a run */
    seed_from(argc > 2 ? argv[2] : NULL);
    ia_crc32_table(crc);
    assert(ia_crc32(crc, (const uint8_t *)"123456789", 9) == UINT32_C(0xcbf43926));
    for (long n = 0; n < streams; n++) {
        const int lengths = 4 * (int)(rnd() % 4);
        draw(lengths);
        const int64_t whole = run_of(stream, size, lengths, 1 << 20, 1 << 30);
        total += whole;
        digest = digest_value(digest_bytes(digest, stream, size), whole);
        int64_t before = 0;
        for (long length = 0; length <= size; length++, cuts++) {
            const int64_t found = run_of(stream, length, lengths, 1 << 20, 1 << 30);
            assert(found >= before && found <= whole);
            before = found;
        }
        for (int i = 0; i < 20; i++)
            assert(run_of(stream, size, lengths, (int64_t)(rnd() % 5), (int64_t)(rnd() % 500)) <= whole);
        for (long i = 0; i < records; i++) { /* runs from each record on */
            run_of(stream + starts[i], size - starts[i], lengths, 1 << 20, 1 << 30);
            run_of(stream + starts[i], size - starts[i], INT32_MAX, 1 << 20, 1 << 30);
        }
        uint8_t *bad = malloc((size_t)size);
        for (int i = 0; i < 300; i++, damaged++) {
            memcpy(bad, stream, (size_t)size);
            const long at = starts[rnd() % (uint64_t)records];
            if (i % 3) {
                bad[rnd() % (uint64_t)size] ^= (uint8_t)(1 + rnd() % 255);
            } else { /* a size that cannot be, or another, with a check that is right for it where it can be */
                static const uint32_t sizes[] = {0, 1, 19, 20, 21, 1 << 15, 0x7fffffff, 0x80000000u, 0xffffffffu};
                const uint32_t length = rnd() % 2 ? sizes[rnd() % 9] : (uint32_t)(rnd() % 120);
                ia_put_be32(bad + at, length);
                if (length >= IA_LOG_HEAD && length <= size - at)
                    check(bad + at, length);
            }
            ended += run_of(bad, size, lengths, 1 << 20, 1 << 30) < whole;
        }
        free(bad);
    }
    printf("log: %ld streams, %lld records in runs, %ld cuts, %ld damaged (%ld ended sooner), digest %016llx: ok\n",
           streams, (long long)total, cuts, damaged, ended, (unsigned long long)digest);
    return 0;
}
