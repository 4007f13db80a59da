/* A column chunk of a Parquet file: pages of data with definition levels, by a dictionary while that pays, plain when it
 * does not. Nothing of Python is here.
 *
 * Values are Arrow's. A page is made of some rows at once; its indices have as many bits as the dictionary needs by then.
 * A dictionary is left when most values are new ones, or when it has become large; pages that refer to it stay as they
 * are. Lengths of buffers are checked by the caller (_parquet.c), except for the offsets of texts, which are data. */
#ifndef INFORMIX_ARROW_PARQUET_COLUMN_H
#define INFORMIX_ARROW_PARQUET_COLUMN_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum ia_pq_kind { IA_PQ_INTEGER, IA_PQ_FLOAT, IA_PQ_DECIMAL, IA_PQ_TEXT, IA_PQ_BOOLEAN };

enum ia_pq_status { IA_PQ_DONE, IA_PQ_NO_MEMORY, IA_PQ_OFFSETS, IA_PQ_RANGE, IA_PQ_LARGE };

#define IA_PQ_TRIAL 2048                /* values after which a dictionary must have been of use */
#define IA_PQ_MOST_ENTRIES (1u << 16)   /* a dictionary with more of them is left */
#define IA_PQ_MOST_BYTES (1u << 20)
#define IA_PQ_DIRECT 65536             /* small whole numbers are places in a table of so many */
#define IA_PQ_BOUND 64                  /* bytes of a text that is kept as a bound */
#define IA_PQ_LARGEST (INT64_C(1) << 30) /* bytes of a page: its header has 31 bits */

struct ia_pq_bytes {
    uint8_t *p;
    size_t size, room;
};

struct ia_pq_entry {
    uint64_t word; /* the value itself, a text's up to 8 bytes, or its hash */
    uint32_t start, length;
};

struct ia_pq_column {
    enum ia_pq_kind kind;
    int width, out; /* bytes of a value in Arrow, or of a text's offset, and in the file */
    int64_t factor; /* integers times so much */
    int nullable;
    int by_dictionary;
    /* of this row group */
    int pages, referred;      /* how many, and whether one of them refers to the dictionary */
    uint32_t entries, slots;  /* slots: a power of two, or none yet */
    uint64_t seen;            /* values that were looked up */
    int64_t nulls;
    struct ia_pq_entry *entry;
    uint32_t entry_room, *table, *direct; /* numbers of entries, counted from 1 */
    struct ia_pq_bytes dictionary, index, page, fixed, low, high;
    int has_bounds, no_bounds;
    int64_t low_number, high_number;
    double low_float, high_float;
};

struct ia_pq_rows {
    int64_t rows, offset;
    const uint8_t *validity, *values, *offsets;
    int64_t size; /* of the values' buffer */
};

static inline int ia_pq_reserve(struct ia_pq_bytes *b, size_t more)
{
    if (b->room - b->size >= more)
        return IA_PQ_DONE;
    size_t room = b->room ? b->room : 256;
    while (room - b->size < more) {
        if (room > SIZE_MAX / 2)
            return IA_PQ_NO_MEMORY;
        room *= 2;
    }
    uint8_t *p = realloc(b->p, room);
    if (!p)
        return IA_PQ_NO_MEMORY;
    b->p = p;
    b->room = room;
    return IA_PQ_DONE;
}

static inline void ia_pq_put(struct ia_pq_bytes *b, const void *p, size_t size) /* reserved before */
{
    if (size)
        memcpy(b->p + b->size, p, size);
    b->size += size;
}

static inline void ia_pq_put32(struct ia_pq_bytes *b, uint32_t v) /* reserved before */
{
    const uint8_t bytes[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
    memcpy(b->p + b->size, bytes, 4);
    b->size += 4;
}

static inline void ia_pq_varint(struct ia_pq_bytes *b, uint64_t v) /* reserved before: up to 10 bytes */
{
    for (; v >= 0x80; v >>= 7)
        b->p[b->size++] = (uint8_t)(v | 0x80);
    b->p[b->size++] = (uint8_t)v;
}

static inline int ia_pq_is_null(const uint8_t *validity, int64_t slot)
{
    return validity && !(validity[slot >> 3] >> (slot & 7) & 1);
}

/* ---- bounds ---------------------------------------------------------------------------------------------------- */

static inline void ia_pq_bound_number(struct ia_pq_column *c, int64_t v)
{
    if (!c->has_bounds || v < c->low_number)
        c->low_number = v;
    if (!c->has_bounds || v > c->high_number)
        c->high_number = v;
    c->has_bounds = 1;
}

static inline void ia_pq_bound_float(struct ia_pq_column *c, double v)
{
    if (v != v)
        c->no_bounds = 1; /* NaN has no place in an order */
    if (!c->has_bounds || v < c->low_float)
        c->low_float = v;
    if (!c->has_bounds || v > c->high_float)
        c->high_float = v;
    c->has_bounds = 1;
}

/* Texts as unsigned bytes; decimals, which are of one length, by their sign first. */
static inline int ia_pq_compare(const struct ia_pq_column *c, const uint8_t *p, size_t size, const struct ia_pq_bytes *b)
{
    if (c->kind == IA_PQ_DECIMAL && (p[0] ^ b->p[0]) & 0x80)
        return p[0] & 0x80 ? -1 : 1;
    const size_t shorter = size < b->size ? size : b->size;
    const int order = shorter ? memcmp(p, b->p, shorter) : 0;
    return order ? order : (size > b->size) - (size < b->size);
}

static inline int ia_pq_keep(struct ia_pq_bytes *b, const uint8_t *p, size_t size)
{
    b->size = 0;
    if (ia_pq_reserve(b, IA_PQ_BOUND))
        return IA_PQ_NO_MEMORY;
    ia_pq_put(b, p, size);
    return IA_PQ_DONE;
}

static inline int ia_pq_bound_bytes(struct ia_pq_column *c, const uint8_t *p, size_t size)
{
    if (c->no_bounds)
        return IA_PQ_DONE;
    if (size > IA_PQ_BOUND) {
        c->no_bounds = 1;
        return IA_PQ_DONE;
    }
    if ((!c->has_bounds || ia_pq_compare(c, p, size, &c->low) < 0) && ia_pq_keep(&c->low, p, size))
        return IA_PQ_NO_MEMORY;
    if ((!c->has_bounds || ia_pq_compare(c, p, size, &c->high) > 0) && ia_pq_keep(&c->high, p, size))
        return IA_PQ_NO_MEMORY;
    c->has_bounds = 1;
    return IA_PQ_DONE;
}

/* ---- values as they lie in the file ---------------------------------------------------------------------------- */

static inline int64_t ia_pq_integer(const uint8_t *values, int64_t slot, int width)
{
    switch (width) {
    case 1:
        return (int8_t)values[slot];
    case 2: {
        int16_t v;
        memcpy(&v, values + slot * 2, 2);
        return v;
    }
    case 4: {
        int32_t v;
        memcpy(&v, values + slot * 4, 4);
        return v;
    }
    default: {
        int64_t v;
        memcpy(&v, values + slot * 8, 8);
        return v;
    }
    }
}

static inline int ia_pq_multiplied(int64_t v, int64_t factor, int64_t *to)
{
    if (v > INT64_MAX / factor || v < INT64_MIN / factor)
        return IA_PQ_RANGE;
    *to = v * factor;
    return IA_PQ_DONE;
}

/* A number, plain; reserved before. */
static inline int ia_pq_put_number(struct ia_pq_column *c, struct ia_pq_bytes *to, uint64_t word)
{
    if (c->kind == IA_PQ_FLOAT) {
        double v;
        if (c->width == 4) {
            float f;
            const uint32_t bits = (uint32_t)word;
            memcpy(&f, &bits, 4);
            v = f;
        } else
            memcpy(&v, &word, 8);
        ia_pq_bound_float(c, v);
    } else {
        int64_t v;
        if (ia_pq_multiplied((int64_t)word, c->factor, &v))
            return IA_PQ_RANGE;
        ia_pq_bound_number(c, v);
        word = (uint64_t)v;
    }
    ia_pq_put32(to, (uint32_t)word);
    if (c->out == 8)
        ia_pq_put32(to, (uint32_t)(word >> 32));
    return IA_PQ_DONE;
}

static inline uint64_t ia_pq_word(const struct ia_pq_column *c, const uint8_t *values, int64_t slot)
{
    if (c->kind == IA_PQ_FLOAT && c->width == 4) {
        uint32_t bits;
        memcpy(&bits, values + slot * 4, 4);
        return bits;
    }
    return (uint64_t)ia_pq_integer(values, slot, c->width);
}

/* ---- the dictionary -------------------------------------------------------------------------------------------- */

static inline uint64_t ia_pq_mix(uint64_t h)
{
    h ^= h >> 32;
    h *= UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static inline uint64_t ia_pq_hash(uint64_t word, uint32_t length)
{
    return ia_pq_mix(word + (uint64_t)length * UINT64_C(0xD6E8FEB86659FD93));
}

static inline int ia_pq_grow(struct ia_pq_column *c)
{
    const uint32_t slots = c->slots ? c->slots * 2 : 1024;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!table)
        return IA_PQ_NO_MEMORY;
    for (uint32_t e = 0; e < c->entries; e++) {
        uint64_t at = ia_pq_hash(c->entry[e].word, c->entry[e].length);
        while (table[at & (slots - 1)])
            at++;
        table[at & (slots - 1)] = e + 1;
    }
    free(c->table);
    c->table = table;
    c->slots = slots;
    return IA_PQ_DONE;
}

/* The number of a value in the dictionary, into which it goes if it is new. `bytes` are a text's or decimal's. */
static inline int ia_pq_look_up(struct ia_pq_column *c, uint64_t word, const uint8_t *bytes, uint32_t length,
                                uint32_t *number)
{
    if (c->entries >= c->slots / 2 && ia_pq_grow(c))
        return IA_PQ_NO_MEMORY;
    uint64_t at = ia_pq_hash(word, length);
    for (uint32_t found; (found = c->table[at & (c->slots - 1)]); at++) {
        const struct ia_pq_entry *e = &c->entry[found - 1];
        if (e->word == word && e->length == length &&
            (length <= 8 || memcmp(c->dictionary.p + e->start, bytes, length) == 0)) {
            *number = found - 1;
            return IA_PQ_DONE;
        }
    }
    if (c->entries == c->entry_room) {
        const uint32_t room = c->entry_room ? c->entry_room * 2 : 512;
        struct ia_pq_entry *entry = realloc(c->entry, room * sizeof *entry);
        if (!entry)
            return IA_PQ_NO_MEMORY;
        c->entry = entry;
        c->entry_room = room;
    }
    if (c->dictionary.size + length + 16 > (size_t)IA_PQ_LARGEST)
        return IA_PQ_LARGE;
    if (ia_pq_reserve(&c->dictionary, (size_t)length + 16))
        return IA_PQ_NO_MEMORY;
    if (bytes) {
        if (ia_pq_bound_bytes(c, bytes, length))
            return IA_PQ_NO_MEMORY;
        if (c->kind == IA_PQ_TEXT)
            ia_pq_put32(&c->dictionary, length);
    }
    c->entry[c->entries] = (struct ia_pq_entry){word, (uint32_t)c->dictionary.size, length};
    if (bytes)
        ia_pq_put(&c->dictionary, bytes, length);
    else if (ia_pq_put_number(c, &c->dictionary, word))
        return IA_PQ_RANGE;
    c->table[at & (c->slots - 1)] = ++c->entries;
    *number = c->entries - 1;
    return IA_PQ_DONE;
}

static inline void ia_pq_forget(struct ia_pq_column *c)
{
    if (c->slots)
        memset(c->table, 0, c->slots * sizeof *c->table);
    if (c->direct)
        memset(c->direct, 0, IA_PQ_DIRECT * sizeof *c->direct);
    c->entries = 0;
    c->seen = 0;
    c->dictionary.size = 0;
}

/* Whether a dictionary does not pay: most values were new to it. */
static inline int ia_pq_is_useless(const struct ia_pq_column *c)
{
    return c->seen >= IA_PQ_TRIAL && (uint64_t)c->entries * 4 > c->seen * 3;
}

/* Whether the first page of a group is to be begun anew, without a dictionary. */
static inline int ia_pq_gives_up(struct ia_pq_column *c)
{
    return !c->referred && (c->seen == IA_PQ_TRIAL || c->seen == 16 * IA_PQ_TRIAL) && ia_pq_is_useless(c);
}

static inline void ia_pq_plain_from_here(struct ia_pq_column *c)
{
    c->by_dictionary = 0;
    ia_pq_forget(c);
    c->has_bounds = c->no_bounds = 0; /* the page is begun anew, and no other has come */
}

/* ---- indices and levels ---------------------------------------------------------------------------------------- */

/* Eight numbers of so many bits, 17 at most, are as many bytes; 24 are reserved. */
static inline void ia_pq_pack8(uint8_t *p, const uint32_t *v, int bits)
{
    uint64_t words[3] = {0, 0, 0};
    if (bits <= 8) {
        for (int i = 0; i < 8; i++)
            words[0] |= (uint64_t)v[i] << i * bits;
    } else if (bits <= 16) {
        uint64_t low = 0, high = 0;
        for (int i = 0; i < 4; i++) {
            low |= (uint64_t)v[i] << i * bits;
            high |= (uint64_t)v[i + 4] << i * bits;
        }
        words[0] = bits == 16 ? low : low | high << 4 * bits;
        words[1] = bits == 16 ? high : high >> (64 - 4 * bits);
    } else
        for (int i = 0, at = 0; i < 8; i++, at += bits) {
            words[at / 64] |= (uint64_t)v[i] << at % 64;
            if (at % 64 + bits > 64)
                words[at / 64 + 1] |= (uint64_t)v[i] >> (64 - at % 64);
        }
    memcpy(p, words, sizeof words); /* little-endian, as all of Arrow's here */
}

static inline void ia_pq_packed(struct ia_pq_bytes *to, const uint32_t *v, size_t count, int bits) /* reserved */
{
    const size_t whole = count / 8;
    if (!count)
        return;
    if (count % 8) {
        ia_pq_varint(to, (uint64_t)(whole + 1) << 1 | 1);
    } else
        ia_pq_varint(to, (uint64_t)whole << 1 | 1);
    uint8_t *p = to->p + to->size;
    for (size_t i = 0; i < whole; i++, p += bits)
        ia_pq_pack8(p, v + i * 8, bits);
    if (count % 8) {
        uint32_t rest[8] = {0};
        memcpy(rest, v + whole * 8, count % 8 * sizeof *v);
        ia_pq_pack8(p, rest, bits);
        p += bits;
    }
    to->size = (size_t)(p - to->p);
}

/* Runs of one number, and packed numbers between them. */
static inline int ia_pq_put_indices(struct ia_pq_bytes *to, const uint32_t *v, size_t count, uint32_t entries)
{
    int bits = 1;
    while (entries > UINT32_C(1) << bits)
        bits++;
    if (ia_pq_reserve(to, 64 + (count / 8 + 1) * ((size_t)bits + 2))) /* with room for what is packed beyond its end */
        return IA_PQ_NO_MEMORY;
    to->p[to->size++] = (uint8_t)bits;
    size_t literal = 0, i = 0; /* where the numbers begin that are not yet written */
    while (count - i >= 16) {
        if (v[i] != v[i + 7] || memcmp(v + i, v + i + 1, 15 * sizeof *v) != 0) {
            i += 8;
            continue;
        }
        size_t end = i + 16;
        while (end < count && v[end] == v[i])
            end++;
        ia_pq_packed(to, v + literal, i - literal, bits); /* whole groups */
        ia_pq_varint(to, (uint64_t)(end - i) << 1);
        for (int done = 0; done < bits; done += 8)
            to->p[to->size++] = (uint8_t)(v[i] >> done);
        literal = i = end;
    }
    ia_pq_packed(to, v + literal, count - literal, bits);
    return IA_PQ_DONE;
}

/* Which rows have values: a bit for each, with the length before; nothing for a column that has no NULLs. */
static inline int ia_pq_put_levels(struct ia_pq_column *c, const struct ia_pq_rows *r)
{
    struct ia_pq_bytes *to = &c->page;
    const size_t bytes = ((size_t)r->rows + 7) / 8;
    if (!c->nullable)
        return IA_PQ_DONE;
    if (ia_pq_reserve(to, 4 + 10 + bytes + 1))
        return IA_PQ_NO_MEMORY;
    const size_t at = to->size;
    to->size += 4;
    if (!r->validity) {
        ia_pq_varint(to, (uint64_t)r->rows << 1);
        to->p[to->size++] = 1;
    } else {
        ia_pq_varint(to, (uint64_t)bytes << 1 | 1);
        const uint8_t *from = r->validity + (r->offset >> 3);
        const int shift = (int)(r->offset & 7);
        const size_t there = ((size_t)r->rows + (size_t)shift + 7) / 8;
        for (size_t i = 0; i < bytes; i++) {
            const int next = i + 1 < there ? from[i + 1] : 0;
            to->p[to->size++] = shift ? (uint8_t)(from[i] >> shift | next << (8 - shift)) : from[i];
        }
        if (r->rows & 7) /* what is beyond the rows is no value */
            to->p[to->size - 1] &= (uint8_t)((1 << (r->rows & 7)) - 1);
    }
    const uint32_t length = (uint32_t)(to->size - at - 4);
    for (int i = 0; i < 4; i++)
        to->p[at + (size_t)i] = (uint8_t)(length >> 8 * i);
    return IA_PQ_DONE;
}

/* ---- the values of a page -------------------------------------------------------------------------------------- */

/* The bytes of a text, or of a decimal, whose bytes were turned round. */
static inline int ia_pq_bytes_at(const struct ia_pq_column *c, const struct ia_pq_rows *r, int64_t slot,
                                 const uint8_t **p, int64_t *length)
{
    if (c->kind == IA_PQ_DECIMAL) {
        *p = c->fixed.p + (slot - r->offset) * c->out;
        *length = c->out;
        return IA_PQ_DONE;
    }
    int64_t from, to;
    if (c->width == 4) {
        int32_t pair[2];
        memcpy(pair, r->offsets + slot * 4, 8);
        from = pair[0];
        to = pair[1];
    } else {
        int64_t pair[2];
        memcpy(pair, r->offsets + slot * 8, 16);
        from = pair[0];
        to = pair[1];
    }
    if (from < 0 || to < from || to > r->size)
        return IA_PQ_OFFSETS;
    *p = r->values + from;
    *length = to - from;
    return to - from > IA_PQ_LARGEST - 64 ? IA_PQ_LARGE : IA_PQ_DONE;
}

static inline uint64_t ia_pq_word_of(const uint8_t *p, int64_t length, const uint8_t *end)
{
    uint64_t word = 0;
    if (length > 8) {
        uint64_t h = (uint64_t)length;
        for (; length >= 8; p += 8, length -= 8) {
            uint64_t eight;
            memcpy(&eight, p, 8);
            h = ia_pq_mix(h ^ eight) * UINT64_C(0xD6E8FEB86659FD93);
        }
        memcpy(&word, p, (size_t)length);
        return ia_pq_mix(h ^ word);
    }
    if (end - p >= 8) {
        memcpy(&word, p, 8);
        return length == 8 ? word : word & ((UINT64_C(1) << length * 8) - 1); /* little-endian, as all of Arrow's here */
    }
    if (length)
        memcpy(&word, p, (size_t)length);
    return word;
}

static inline int ia_pq_index_bytes(struct ia_pq_column *c, const struct ia_pq_rows *r, uint32_t *index, size_t *count)
{
    const uint8_t *end = c->kind == IA_PQ_DECIMAL ? c->fixed.p + c->fixed.size : r->values + r->size, *p;
    int64_t length;
    uint32_t number = 0;
    size_t n = 0;
    for (int64_t slot = r->offset; slot < r->offset + r->rows; slot++) {
        if (ia_pq_is_null(r->validity, slot))
            continue;
        int status = ia_pq_bytes_at(c, r, slot, &p, &length);
        if (status)
            return status;
        if ((status = ia_pq_look_up(c, ia_pq_word_of(p, length, end), p, (uint32_t)length, &number)))
            return status;
        index[n++] = number;
        c->seen++;
        if (ia_pq_gives_up(c)) {
            ia_pq_plain_from_here(c);
            break;
        }
    }
    *count = n;
    return IA_PQ_DONE;
}

static inline int ia_pq_index_numbers(struct ia_pq_column *c, const struct ia_pq_rows *r, uint32_t *index, size_t *count)
{
    size_t n = 0;
    const int is_integer = c->kind == IA_PQ_INTEGER;
    if (!c->direct && !(c->direct = calloc(IA_PQ_DIRECT, sizeof *c->direct)))
        return IA_PQ_NO_MEMORY;
    for (int64_t slot = r->offset; slot < r->offset + r->rows; slot++) {
        if (ia_pq_is_null(r->validity, slot))
            continue;
        const uint64_t word = ia_pq_word(c, r->values, slot);
        uint32_t *place = is_integer && word + IA_PQ_DIRECT / 2 < IA_PQ_DIRECT ? &c->direct[(uint16_t)word] : NULL;
        uint32_t number = place ? *place : 0;
        if (!number) {
            const int status = ia_pq_look_up(c, word, NULL, 0, &number);
            if (status)
                return status;
            number++;
            if (place)
                *place = number;
        }
        index[n++] = number - 1;
        c->seen++;
        if (ia_pq_gives_up(c)) {
            ia_pq_plain_from_here(c);
            break;
        }
    }
    *count = n;
    return IA_PQ_DONE;
}

static inline int ia_pq_plain(struct ia_pq_column *c, const struct ia_pq_rows *r)
{
    struct ia_pq_bytes *to = &c->page;
    if (c->kind == IA_PQ_BOOLEAN) {
        if (ia_pq_reserve(to, (size_t)r->rows / 8 + 1))
            return IA_PQ_NO_MEMORY;
        size_t n = 0;
        uint8_t held = 0;
        for (int64_t slot = r->offset; slot < r->offset + r->rows; slot++) {
            if (ia_pq_is_null(r->validity, slot))
                continue;
            held |= (uint8_t)((r->values[slot >> 3] >> (slot & 7) & 1) << (n & 7));
            if (!(++n & 7)) {
                to->p[to->size++] = held;
                held = 0;
            }
        }
        if (n & 7)
            to->p[to->size++] = held;
        return IA_PQ_DONE;
    }
    if (c->kind == IA_PQ_INTEGER || c->kind == IA_PQ_FLOAT) {
        if (ia_pq_reserve(to, (size_t)r->rows * (size_t)c->out))
            return IA_PQ_NO_MEMORY;
        for (int64_t slot = r->offset; slot < r->offset + r->rows; slot++)
            if (!ia_pq_is_null(r->validity, slot) && ia_pq_put_number(c, to, ia_pq_word(c, r->values, slot)))
                return IA_PQ_RANGE;
        return IA_PQ_DONE;
    }
    for (int64_t slot = r->offset; slot < r->offset + r->rows; slot++) {
        const uint8_t *p;
        int64_t length;
        if (ia_pq_is_null(r->validity, slot))
            continue;
        const int status = ia_pq_bytes_at(c, r, slot, &p, &length);
        if (status)
            return status;
        if (to->size + (size_t)length + 4 > (size_t)IA_PQ_LARGEST)
            return IA_PQ_LARGE;
        if (ia_pq_reserve(to, (size_t)length + 4) || ia_pq_bound_bytes(c, p, (size_t)length))
            return IA_PQ_NO_MEMORY;
        if (c->kind == IA_PQ_TEXT)
            ia_pq_put32(to, (uint32_t)length);
        ia_pq_put(to, p, (size_t)length);
    }
    return IA_PQ_DONE;
}

/* Decimals of 16 bytes as the last `out` of them, the highest first. IA_PQ_RANGE when they do not fit. */
static inline int ia_pq_turn(struct ia_pq_column *c, const struct ia_pq_rows *r)
{
    c->fixed.size = 0;
    if (ia_pq_reserve(&c->fixed, (size_t)r->rows * (size_t)c->out + 1))
        return IA_PQ_NO_MEMORY;
    for (int64_t slot = r->offset; slot < r->offset + r->rows; slot++) {
        const uint8_t *v = r->values + slot * 16;
        uint8_t *to = c->fixed.p + c->fixed.size;
        for (int i = 0; i < c->out; i++)
            to[i] = v[c->out - 1 - i];
        if (!ia_pq_is_null(r->validity, slot))
            for (int i = c->out; i < 16; i++)
                if (v[i] != (v[c->out - 1] & 0x80 ? 0xFF : 0))
                    return IA_PQ_RANGE;
        c->fixed.size += (size_t)c->out;
    }
    return IA_PQ_DONE;
}

/* A page of these rows, in `c->page`; `*by_dictionary` says how. After an error the column is of no use. */
static inline int ia_pq_add(struct ia_pq_column *c, const struct ia_pq_rows *r, int *by_dictionary)
{
    int status;
    c->page.size = 0;
    if ((status = ia_pq_put_levels(c, r)))
        return status;
    if (c->kind == IA_PQ_DECIMAL && (status = ia_pq_turn(c, r)))
        return status;
    if (c->by_dictionary) {
        size_t count = 0;
        c->index.size = 0;
        if (ia_pq_reserve(&c->index, ((size_t)r->rows + 1) * sizeof(uint32_t)) || (!c->slots && ia_pq_grow(c)))
            return IA_PQ_NO_MEMORY;
        uint32_t *index = (uint32_t *)(void *)c->index.p;
        const int is_bytes = c->kind == IA_PQ_TEXT || c->kind == IA_PQ_DECIMAL;
        if ((status = (is_bytes ? ia_pq_index_bytes : ia_pq_index_numbers)(c, r, index, &count)))
            return status;
        if (c->by_dictionary) {
            if ((status = ia_pq_put_indices(&c->page, index, count, c->entries)))
                return status;
            c->nulls += r->rows - (int64_t)count;
            c->referred = *by_dictionary = 1;
            if (c->entries > IA_PQ_MOST_ENTRIES || c->dictionary.size > IA_PQ_MOST_BYTES || ia_pq_is_useless(c))
                c->by_dictionary = 0;
            c->pages++;
            return IA_PQ_DONE;
        }
    }
    if (r->validity)
        for (int64_t slot = r->offset; slot < r->offset + r->rows; slot++)
            c->nulls += ia_pq_is_null(r->validity, slot);
    *by_dictionary = 0;
    c->pages++;
    return ia_pq_plain(c, r);
}

/* ---- sums over columns, in any order of the rows ---------------------------------------------------------------- */

#define IA_PQ_SUM(type)                                                                                                 \
    do {                                                                                                                \
        const uint8_t *p = r->values + r->offset * (int64_t)sizeof(type);                                               \
        if (!r->validity)                                                                                               \
            for (int64_t i = 0; i < r->rows; i++) {                                                                     \
                type v;                                                                                                 \
                memcpy(&v, p + i * (int64_t)sizeof v, sizeof v);                                                        \
                sum += v;                                                                                               \
            }                                                                                                           \
        else                                                                                                            \
            for (int64_t i = 0; i < r->rows; i++) {                                                                     \
                type v;                                                                                                 \
                memcpy(&v, p + i * (int64_t)sizeof v, sizeof v);                                                        \
                sum += v & (uint64_t)(ia_pq_is_null(r->validity, r->offset + i) - (int64_t)1);                          \
            }                                                                                                           \
    } while (0)

/* Numbers as unsigned words of 1, 2, 4 or 8 bytes, two of 8 for 16. */
static inline uint64_t ia_pq_sum_words(const struct ia_pq_rows *r, int width)
{
    uint64_t sum = 0;
    switch (width) {
    case 1:
        IA_PQ_SUM(uint8_t);
        break;
    case 2:
        IA_PQ_SUM(uint16_t);
        break;
    case 4:
        IA_PQ_SUM(uint32_t);
        break;
    case 8:
        IA_PQ_SUM(uint64_t);
        break;
    default:
        for (int64_t slot = r->offset; slot < r->offset + r->rows; slot++) {
            uint64_t pair[2];
            memcpy(pair, r->values + slot * 16, 16);
            if (!ia_pq_is_null(r->validity, slot))
                sum += pair[0] + pair[1];
        }
    }
    return sum;
}

/* The bytes of texts, and 257 for each; IA_PQ_OFFSETS where offsets do not fit the data. */
static inline int ia_pq_sum_texts(const struct ia_pq_column *c, const struct ia_pq_rows *r, uint64_t *sum)
{
    const uint8_t *p;
    int64_t length;
    *sum = 0;
    if (!r->validity && r->rows) { /* one behind the other */
        const uint8_t *end;
        int64_t last;
        if (ia_pq_bytes_at(c, r, r->offset, &p, &length) == IA_PQ_OFFSETS ||
            ia_pq_bytes_at(c, r, r->offset + r->rows - 1, &end, &last) == IA_PQ_OFFSETS || end + last < p)
            return IA_PQ_OFFSETS;
        length = end + last - p;
        uint64_t found = 0;
        for (int64_t i = 0; i < length; i++)
            found += p[i];
        *sum = found + 257 * (uint64_t)length;
        return IA_PQ_DONE;
    }
    for (int64_t slot = r->offset; slot < r->offset + r->rows; slot++) {
        if (ia_pq_is_null(r->validity, slot))
            continue;
        const int status = ia_pq_bytes_at(c, r, slot, &p, &length);
        if (status == IA_PQ_OFFSETS)
            return status;
        uint64_t found = 0;
        for (int64_t i = 0; i < length; i++)
            found += p[i];
        *sum += found + 257 * (uint64_t)length;
    }
    return IA_PQ_DONE;
}

/* The next row group begins. */
static inline void ia_pq_next_group(struct ia_pq_column *c)
{
    ia_pq_forget(c);
    c->pages = c->referred = 0;
    c->nulls = 0;
    c->has_bounds = c->no_bounds = 0;
}

static inline void ia_pq_free(struct ia_pq_column *c)
{
    free(c->entry);
    free(c->table);
    free(c->direct);
    free(c->dictionary.p);
    free(c->index.p);
    free(c->page.p);
    free(c->fixed.p);
    free(c->low.p);
    free(c->high.p);
}

#endif
