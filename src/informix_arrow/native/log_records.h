/* Convert records of the embedded server's log of changes (server/cdc_log/log.py) to those that clients read (CDC section 4).
 * It converts runs of row images of one table in one transaction, which are nearly all of a log.
 *
 *     in the log   size of all of it, CRC-32 of what follows, kind, 3 bytes, transaction, table, body
 *     for clients  size of the header, of the image, packet scheme, kind, LSN, transaction, label, flags 0, body
 *
 * A body is the lengths of the columns of variable length, which belong to the client's header, and the row's image. */
#ifndef INFORMIX_ARROW_LOG_RECORDS_H
#define INFORMIX_ARROW_LOG_RECORDS_H

#include <stdint.h>
#include <string.h>

#include "change_record.h"
#include "wire_bytes.h"

#define IA_LOG_HEAD 20
#define IA_LOG_CHECKED 8 /* bytes in front of what the CRC is of */

struct ia_log_run {
    int64_t place;               /* LSN of the first byte of the data */
    uint32_t transaction, table; /* whose row images are wanted */
    uint32_t label;              /* what the client calls the table */
    int64_t lengths;             /* bytes of a body that belong to the header */
    int64_t most, room;          /* records, and bytes behind which none begins */
    uint32_t crc[256];
};

/* The table of CRC-32 (the polynomial of zlib and Ethernet), made for each run: some 2,000 shifts. */
static void ia_crc32_table(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? UINT32_C(0xedb88320) ^ c >> 1 : c >> 1;
        table[i] = c;
    }
}

static inline uint32_t ia_crc32(const uint32_t table[256], const uint8_t *p, int64_t size)
{
    uint32_t c = UINT32_MAX;
    for (int64_t i = 0; i < size; i++)
        c = table[(c ^ p[i]) & 0xff] ^ c >> 8;
    return ~c;
}

/* The size of the record at the front of `left` bytes; 0 when it is not here whole. */
static inline int64_t ia_log_size(const uint8_t *p, int64_t left)
{
    const int64_t size = left < IA_LOG_HEAD ? 0 : (int64_t)ia_load_be32(p);
    return size < IA_LOG_HEAD || size > left ? 0 : size;
}

/* The same when it belongs to the run and is sound, else 0. */
static inline int64_t ia_log_record(const struct ia_log_run *run, const uint8_t *p, int64_t left)
{
    const int64_t size = ia_log_size(p, left);
    if (size < IA_LOG_HEAD + run->lengths || p[8] < IA_RECORD_INSERT || p[8] > IA_RECORD_UPDAFT)
        return 0;
    if (ia_load_be32(p + 12) != run->transaction || ia_load_be32(p + 16) != run->table)
        return 0;
    return ia_crc32(run->crc, p + IA_LOG_CHECKED, size - IA_LOG_CHECKED) == ia_load_be32(p + 4) ? size : 0;
}

/* Bytes that the run at the front of data takes for clients at most: its records, and what each becomes longer by. */
static inline int64_t ia_log_space(const struct ia_log_run *run, const uint8_t *data, const uint8_t *end)
{
    int64_t count = 0, bytes = 0, size;
    for (const uint8_t *p = data; count < run->most && bytes < run->room && (size = ia_log_size(p, end - p)) > 0; p += size) {
        bytes += size + IA_RECORD_ROW - IA_LOG_HEAD;
        count++;
    }
    return bytes;
}

static inline uint8_t *ia_put_be32(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (24 - 8 * i));
    return out + 4;
}

/* Write the run at the front of data as clients read it: its records, with *stop behind the last in data and *written bytes.
 * `out` has the bytes of ia_log_space. */
static int64_t ia_log_records(const struct ia_log_run *run, const uint8_t *data, const uint8_t *end, uint8_t *out,
                              const uint8_t **stop, int64_t *written)
{
    const uint8_t *p = data;
    uint8_t *const first = out;
    int64_t count = 0, size;
    while (count < run->most && out - first < run->room && (size = ia_log_record(run, p, end - p)) > 0) {
        const uint64_t lsn = (uint64_t)(run->place + (p - data));
        const int64_t body = size - IA_LOG_HEAD;
        out = ia_put_be32(out, (uint32_t)(IA_RECORD_ROW + run->lengths));
        out = ia_put_be32(out, (uint32_t)(body - run->lengths));
        out = ia_put_be32(out, IA_RECORD_SCHEME);
        out = ia_put_be32(out, p[8]);
        out = ia_put_be32(out, (uint32_t)(lsn >> 32));
        out = ia_put_be32(out, (uint32_t)lsn);
        out = ia_put_be32(out, run->transaction);
        out = ia_put_be32(out, run->label);
        out = ia_put_be32(out, 0);
        memcpy(out, p + IA_LOG_HEAD, (size_t)body);
        out += body;
        p += size;
        count++;
    }
    *stop = p;
    *written = out - first;
    return count;
}

#endif
