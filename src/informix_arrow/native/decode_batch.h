/* The open batch: its columns and their buffers, and their export through the Arrow C data interface. */
#ifndef INFORMIX_ARROW_DECODE_BATCH_H
#define INFORMIX_ARROW_DECODE_BATCH_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "arrow_c_data.h"
#include "base100.h"
#include "decode_fields.h"
#include "decode_text.h"
#include "decode_value.h"
#include "plan.h"
#include "wire_bytes.h"

#define IA_FIRST_ROWS 1024
#define IA_SAMPLE_ROWS 32768 /* from so many on the size of a full batch is foreseen */
#define IA_FIRST_TEXT 1024  /* bytes */
#define IA_ROW_SLACK 64 /* bytes behind the values of a fixed column */

struct ia_column {
    uint8_t *values;    /* items, bits (BOOL) or text bytes */
    void *offsets;      /* text: int32_t or int64_t, one more than rows */
    uint64_t *validity; /* bit set = not NULL */
    uint64_t word;      /* validity of the rows since the last multiple of 64 */
    uint64_t bits;      /* BOOL: their values */
    int64_t length;     /* text: bytes used */
    int64_t capacity;   /* text: bytes reserved, without slack */
    int64_t rest;       /* fewest bytes that the columns after this one take in a tuple */
    int32_t kind, width, flags;
    int32_t item;       /* bytes per row in values; 0: text; BOOL: see above */
    int64_t hint;       /* text: bytes to reserve first, from the last full batch */
    int32_t slot;       /* of its first buffer in the pool */
    int32_t expand;     /* text: most bytes that one byte of the wire becomes */
    int64_t inexact;    /* doubles that have not all digits of their DECIMAL, in the whole result */
    int64_t inexact_row; /* the first of them */
    int precision, scale;
    /* For blocks (decode_block.h): */
    int64_t place;      /* bytes of the columns between the variable one before (or the tuple's beginning) and this one */
    int64_t before;     /* text: length, others: inexact, before the block in hand */
    uint64_t valid;     /* bits of the block's rows: not NULL */
    uint64_t truth;     /* BOOL: true */
    struct ia_b100_shape decimal;
    struct ia_qualifier qualifier;
};

/* Buffers of released batches, kept for the next one: one per buffer of a batch, so never more than one batch in all.
 * Fresh memory costs as much as the decoding (page faults); a consumer that drops each batch before the next pays once.
 * Batches are released on any thread and may outlive the decoder: slots change hands by atomic exchange. */
struct ia_pool {
    int64_t references; /* the decoder, and every exported column */
    int closed;         /* the decoder is gone: free instead of keeping */
    int slots;
    void *spare[];
};

enum { IA_SLOT_VALIDITY = 0, IA_SLOT_VALUES = 1, IA_SLOT_OFFSETS = 2, IA_SLOTS = 3 };

/* The messages that the tuples come in: those of a result, or those of an insert cursor. Both headers are 8 bytes and
 * both payloads are padded to an even length. */
enum ia_framing {
    IA_FRAMING_TUPLE = 0, /* SQ_TUPLE: 000e, short warnings, int size (SQLI section 6) */
    IA_FRAMING_PUT = 1    /* SQ_PUT: 0011, int size, short 1 = tuples that follow (SQLI section 11) */
};

struct ia_decoder {
    struct ia_pool *pool;
    struct ia_column *columns;
    int count;
    int64_t rows, row_capacity; /* of the open batch */
    int64_t bytes;              /* Arrow bytes of the open batch */
    int64_t taken;              /* rows of the batches already taken */
    int64_t batch_rows, batch_bytes;
    int framing; /* enum ia_framing */
    int front;             /* columns that are not in the rows but come from the record around them: none, or 2 */
    int16_t record;        /* their values for the next row: the record's number, */
    int64_t sequence;      /* and its LSN */
    int64_t max_tuple, min_tuple;
    int64_t row_bytes;    /* Arrow bytes that each row takes besides text */
    int64_t extra;        /* most text bytes of a row that do not come from text on the wire */
    int64_t text_limit;   /* most bytes that 32-bit offsets count: INT32_MAX, less in tests */
    int64_t offset_limit; /* a batch with 32-bit offsets is closed before its bytes exceed this */
    int64_t hint_rows;
    int32_t expand;       /* the greatest `expand` of a column */
    const struct ia_codepage_entry *page; /* 256 entries, owned by the caller; NULL = UTF-8 */
    int transcode_all;                    /* the page's lower half is not ASCII: no shortcut */
    int blocks;                           /* whether rows are decoded by blocks (decode_block.h) */
    int64_t gap;                          /* bytes of fixed columns behind the last variable one */
    int block_rows;                       /* of the next block; a power of two, at most IA_BLOCK */
    int64_t by_rows;                      /* rows that go through the row loop before the next block */
    struct ia_error error;                /* status 0: none so far */
};

/* ---- buffers ------------------------------------------------------------------------------------------------- */

static inline size_t ia_offset_size(const struct ia_column *c)
{
    return c->flags & IA_FLAG_LARGE ? sizeof(int64_t) : sizeof(int32_t);
}

/* Every buffer stands behind a head that tells its size and the block that it lies in. */
struct ia_head {
    size_t bytes;
    void *block;
};
#define IA_HEAD 48

#define IA_HUGE ((size_t)2 << 20)

/* Whether a buffer is to lie in huge pages, where the system has them: first touching 4 KiB at a time costs as much as the
 * decoding. */
static inline int ia_is_huge(size_t bytes)
{
#ifdef MADV_HUGEPAGE
    return bytes >= IA_HUGE / 2;
#else
    return bytes > SIZE_MAX / 2;
#endif
}

/* How far behind the start of its block a buffer lies: on the 64 bytes that Arrow recommends (big blocks of malloc begin
 * 16 bytes behind a page; 16 bytes are certain), and elsewhere for each slot. Blocks of one size begin at the same place of
 * a page and columns of one width are written at the same pace: their rows would meet in one set of the cache all the way,
 * which costs half as much again as the decoding. */
static inline size_t ia_before(int slot, size_t bytes)
{
    return IA_HEAD + (ia_is_huge(bytes) ? 16 : 0) + (size_t)(slot * 7 % 61) * 64;
}

static inline struct ia_head *ia_head_of(const void *buffer)
{
    return (struct ia_head *)(void *)((uint8_t *)(uintptr_t)buffer - IA_HEAD);
}

static inline size_t ia_reserved(const void *buffer)
{
    return ia_head_of(buffer)->bytes;
}

static inline void *ia_huge_block(size_t bytes)
{
    const size_t whole = (bytes + IA_HUGE - 1) & ~(IA_HUGE - 1);
#ifdef MADV_HUGEPAGE
    void *const block = aligned_alloc(IA_HUGE, whole);
    if (block)
        (void)madvise(block, whole, MADV_HUGEPAGE);
    return block;
#else
    return malloc(whole); /* never asked for: ia_is_huge() says no (Windows has no aligned_alloc either) */
#endif
}

static inline void ia_free(void *buffer)
{
    if (buffer)
        free(ia_head_of(buffer)->block);
}

static struct ia_pool *ia_pool_new(int slots)
{
    struct ia_pool *pool = calloc(1, sizeof *pool + (size_t)slots * sizeof(void *));
    if (pool) {
        pool->references = 1;
        pool->slots = slots;
    }
    return pool;
}

static void ia_pool_keep(struct ia_pool *pool, int slot, void *buffer)
{
    if (!__atomic_load_n(&pool->closed, __ATOMIC_ACQUIRE))
        buffer = __atomic_exchange_n(&pool->spare[slot], buffer, __ATOMIC_ACQ_REL);
    ia_free(buffer);
}

static void ia_pool_drop(struct ia_pool *pool)
{
    if (__atomic_sub_fetch(&pool->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (int i = 0; i < pool->slots; i++)
        ia_free(pool->spare[i]);
    free(pool);
}

/* The decoder goes: nothing is kept any more, and what was kept is freed. */
static void ia_pool_close(struct ia_pool *pool)
{
    __atomic_store_n(&pool->closed, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < pool->slots; i++)
        ia_free(__atomic_exchange_n(&pool->spare[i], NULL, __ATOMIC_ACQ_REL));
    ia_pool_drop(pool);
}

/* Another size for the buffer at `place` (a void ** of any pointer type); the first time take the spare one if it is
 * large enough (it is not grown: that would copy what nobody needs). */
static int ia_resize(struct ia_pool *pool, int slot, void *place, size_t bytes)
{
    const size_t before = ia_before(slot, bytes);
    uint8_t *old, *fresh;
    void *block;
    memcpy(&old, place, sizeof old);
    if (!old) {
        void *const spare = __atomic_exchange_n(&pool->spare[slot], NULL, __ATOMIC_ACQ_REL);
        if (spare && ia_reserved(spare) >= bytes) {
            memcpy(place, &spare, sizeof spare);
            return 0;
        }
        ia_free(spare);
    }
    if (old && !ia_is_huge(ia_reserved(old)) && !ia_is_huge(bytes)) {
        block = realloc(ia_head_of(old)->block, before + bytes);
        old = NULL;
    } else {
        block = ia_is_huge(bytes) ? ia_huge_block(before + bytes) : malloc(before + bytes);
    }
    if (!block)
        return IA_NO_MEMORY;
    fresh = (uint8_t *)block + before;
    if (old) {
        memcpy(fresh, old, ia_reserved(old) < bytes ? ia_reserved(old) : bytes);
        ia_free(old);
    }
    ia_head_of(fresh)->bytes = bytes;
    ia_head_of(fresh)->block = block;
    memcpy(place, &fresh, sizeof fresh);
    return 0;
}

/* Room for so many bytes: a buffer that has it, as a spare one often does, stays as it is. */
static int ia_grow(struct ia_pool *pool, int slot, void *place, size_t bytes)
{
    uint8_t *old;
    memcpy(&old, place, sizeof old);
    return old && ia_reserved(old) >= bytes ? 0 : ia_resize(pool, slot, place, bytes);
}

/* Whether the values of a column are bits. */
static inline int ia_is_bits(int kind)
{
    return kind == IA_BOOL || kind == IA_CHANGE_BOOL;
}

/* Bytes that the values of a fixed column need for so many rows; bit columns are kept in whole words. */
static inline size_t ia_value_bytes(const struct ia_column *c, int64_t rows)
{
    return ia_is_bits(c->kind) ? (size_t)(rows / 64 + 1) * 8 : (size_t)(rows * c->item);
}

/* Rows to make room for next: 1024 first (a query for one row stays small), then doubled. After 32,768 rows at once what
 * a full batch is going to take: reserved memory that is never touched costs nothing, copying while growing does. */
static int64_t ia_next_rows(const struct ia_decoder *d, int64_t bytes)
{
    int64_t rows = d->hint_rows ? d->hint_rows : IA_FIRST_ROWS;
    if (d->row_capacity) {
        rows = d->row_capacity * 2;
        if (d->row_capacity >= IA_SAMPLE_ROWS) {
            const double full = (double)d->row_capacity * ((double)d->batch_bytes / (double)(bytes ? bytes : 1)) * 1.05;
            if (full > (double)rows && rows < 64 * IA_SAMPLE_ROWS) /* but 64 times as many at most: the sample may mislead */
                rows = full < 64.0 * IA_SAMPLE_ROWS ? (int64_t)full : 64 * IA_SAMPLE_ROWS;
        }
    }
    return rows < d->batch_rows ? rows : d->batch_rows;
}

/* The bytes of text that a column has room for: all of the buffer, a spare one's, too, which may be larger than asked for. */
static inline void ia_text_capacity(const struct ia_decoder *d, struct ia_column *c)
{
    const int64_t bytes = (int64_t)ia_reserved(c->values) - IA_TEXT_SLACK;
    c->capacity = bytes < d->text_limit || c->flags & IA_FLAG_LARGE ? bytes : d->text_limit;
}

/* The rows that all buffers have room for: those of the pool are often larger than what was asked for. */
static int64_t ia_room_for_rows(const struct ia_decoder *d)
{
    int64_t rows = d->batch_rows;
    for (const struct ia_column *c = d->columns; c < d->columns + d->count; c++) {
        const int64_t words = (int64_t)ia_reserved(c->validity) / 8 - 1;
        const int64_t bytes = (int64_t)ia_reserved(c->item ? (const void *)c->values : c->offsets);
        int64_t room = !c->item               ? bytes / (int64_t)ia_offset_size(c) - 1
                       : ia_is_bits(c->kind) ? ((bytes - IA_ROW_SLACK) / 8 - 1) * 64
                                             : (bytes - IA_ROW_SLACK) / c->item;
        room = room < words * 64 ? room : words * 64;
        rows = rows < room ? rows : room;
    }
    return rows;
}

/* Room for more rows in every column, and for text in proportion. */
static int ia_grow_rows(struct ia_decoder *d, int64_t bytes)
{
    const int64_t rows = ia_next_rows(d, bytes);
    for (struct ia_column *c = d->columns; c < d->columns + d->count; c++) {
        if (ia_grow(d->pool, c->slot + IA_SLOT_VALIDITY, &c->validity, (size_t)(rows / 64 + 1) * 8))
            return IA_NO_MEMORY;
        if (c->item) {
            if (ia_grow(d->pool, c->slot + IA_SLOT_VALUES, &c->values, ia_value_bytes(c, rows) + IA_ROW_SLACK))
                return IA_NO_MEMORY;
        } else {
            if (ia_grow(d->pool, c->slot + IA_SLOT_OFFSETS, &c->offsets, (size_t)(rows + 1) * ia_offset_size(c)))
                return IA_NO_MEMORY;
            memset(c->offsets, 0, ia_offset_size(c)); /* row 0 begins at 0 */
            if (!c->values) {                         /* even an empty text is copied somewhere */
                c->capacity = c->hint > IA_FIRST_TEXT ? c->hint : IA_FIRST_TEXT;
                if (ia_grow(d->pool, c->slot + IA_SLOT_VALUES, &c->values, (size_t)c->capacity + IA_TEXT_SLACK))
                    return IA_NO_MEMORY;
                ia_text_capacity(d, c);
            } else if (d->row_capacity >= IA_SAMPLE_ROWS) {
                const int64_t text = c->length / d->row_capacity * rows + rows;
                if (text > c->capacity && text < d->text_limit) {
                    if (ia_grow(d->pool, c->slot + IA_SLOT_VALUES, &c->values, (size_t)text + IA_TEXT_SLACK))
                        return IA_NO_MEMORY;
                    c->capacity = text;
                }
            }
        }
    }
    const int64_t room = ia_room_for_rows(d);
    d->row_capacity = room > rows ? room : rows;
    return 0;
}

/* Room for a text of n bytes on the wire, by doubling. */
static int ia_grow_text(const struct ia_decoder *d, struct ia_column *c, const uint8_t *src, int64_t n,
                        struct ia_error *err)
{
    const int64_t limit = c->flags & IA_FLAG_LARGE ? INT64_MAX / 4 : d->text_limit;
    int64_t need = n * c->expand;
    if (need > limit - c->length && c->expand > 1) /* it is seldom as much as it may be: count */
        need = d->page ? ia_transcoded_length(src, n, d->page) : ia_utf8_replaced_length(src, n);
    if (need > limit - c->length)
        return IA_REFUSE(err, IA_DATA,
                         "The value of %lld bytes (%lld on the wire) is too long for 32-bit offsets, which end at %lld. "
                         "Use strings=\"large\" to read longer texts.",
                         (long long)need, (long long)n, (long long)limit);
    int64_t capacity = c->capacity * 2;
    if (capacity < c->length + need)
        capacity = c->length + need;
    if (capacity > limit)
        capacity = limit;
    if (ia_grow(d->pool, c->slot + IA_SLOT_VALUES, &c->values, (size_t)capacity + IA_TEXT_SLACK))
        return IA_NO_MEMORY;
    c->capacity = capacity;
    return 0;
}

static void ia_store_words(struct ia_decoder *d, int64_t word)
{
    for (struct ia_column *c = d->columns; c < d->columns + d->count; c++) {
        c->validity[word] = ia_le64(c->word); /* Arrow's bitmaps begin with the lowest bit of the first byte */
        c->word = 0;
        if (ia_is_bits(c->kind)) {
            ((uint64_t *)(void *)c->values)[word] = ia_le64(c->bits);
            c->bits = 0;
        }
    }
}

static void ia_decoder_free(struct ia_decoder *d)
{
    for (int i = 0; d->columns && i < d->count; i++) {
        ia_free(d->columns[i].values);
        ia_free(d->columns[i].offsets);
        ia_free(d->columns[i].validity);
    }
    free(d->columns);
    d->columns = NULL;
    if (d->pool)
        ia_pool_close(d->pool);
    d->pool = NULL;
}

/* ---- handing over -------------------------------------------------------------------------------------------- */

struct ia_child_private {
    const void *buffers[3]; /* in Arrow's order: validity, values or offsets, text */
    struct ia_pool *pool;
    int slot, text;
};

struct ia_parent_private {
    const void *buffers[1];
    struct ArrowArray *items; /* the children's structs; each child owns its buffers itself, so it may be moved out */
    struct ArrowArray *children[];
};

static void ia_release_child(struct ArrowArray *array)
{
    struct ia_child_private *own = array->private_data;
    static const int slots[2][3] = {{IA_SLOT_VALIDITY, IA_SLOT_VALUES, IA_SLOT_OFFSETS},
                                    {IA_SLOT_VALIDITY, IA_SLOT_OFFSETS, IA_SLOT_VALUES}};
    for (int i = 0; i < 3; i++)
        if (own->buffers[i])
            ia_pool_keep(own->pool, own->slot + slots[own->text][i], (void *)(uintptr_t)own->buffers[i]);
    ia_pool_drop(own->pool);
    free(own);
    array->release = NULL;
}

static void ia_release_parent(struct ArrowArray *array)
{
    struct ia_parent_private *own = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (own->children[i]->release)
            own->children[i]->release(own->children[i]);
    free(own->items);
    free(own);
    array->release = NULL;
}

/* Give memory back when most of a buffer is unused: a batch may outlive its decoder by far. */
static inline void ia_trim(struct ia_pool *pool, int slot, void *place, size_t used)
{
    void *buffer;
    memcpy(&buffer, place, sizeof buffer);
    if (ia_reserved(buffer) > 65536 && used < ia_reserved(buffer) / 2)
        (void)ia_resize(pool, slot, place, used);
}

/* Hand the open batch over as a struct array and start the next. Valid with 0 rows. 0 or IA_NO_MEMORY (then nothing
 * has changed). After an error it hands over the whole rows before it. */
static int ia_decoder_take(struct ia_decoder *d, struct ArrowArray *out)
{
    const int count = d->count;
    if (d->row_capacity == 0) {
        const int64_t batch_rows = d->batch_rows;
        d->batch_rows = 1;
        const int rc = ia_grow_rows(d, 0);
        d->batch_rows = batch_rows;
        if (rc)
            return rc;
    }
    struct ia_parent_private *parent = calloc(1, sizeof *parent + (size_t)count * sizeof(struct ArrowArray *));
    struct ArrowArray *items = calloc((size_t)count + 1, sizeof *items);
    int made = 0;
    if (parent && items)
        while (made < count && (items[made].private_data = calloc(1, sizeof(struct ia_child_private))) != NULL)
            made++;
    if (!parent || !items || made < count) {
        while (made-- > 0)
            free(items[made].private_data);
        free(items);
        free(parent);
        return IA_NO_MEMORY;
    }

    const int64_t rows = d->rows, words = (rows + 63) / 64;
    const int full = rows >= d->batch_rows || d->bytes >= d->batch_bytes;
    if (rows & 63) {
        /* After an error the columns before the bad one hold a bit of the unfinished row. */
        const uint64_t mask = (1ull << (rows & 63)) - 1;
        for (int i = 0; i < count; i++) {
            d->columns[i].word &= mask;
            d->columns[i].bits &= mask;
        }
        ia_store_words(d, words - 1);
    }
    for (int i = 0; i < count; i++) {
        struct ia_column *c = &d->columns[i];
        struct ArrowArray *a = &items[i];
        struct ia_child_private *own = a->private_data;
        int64_t valid = 0;
        for (int64_t w = 0; w < words; w++)
            valid += __builtin_popcountll(c->validity[w]);
        if (valid == rows) {
            ia_pool_keep(d->pool, c->slot + IA_SLOT_VALIDITY, c->validity);
            c->validity = NULL;
        } else {
            ia_trim(d->pool, c->slot + IA_SLOT_VALIDITY, &c->validity, (size_t)(words + 1) * 8);
        }
        ia_trim(d->pool, c->slot + IA_SLOT_VALUES, &c->values,
                c->item ? ia_value_bytes(c, rows) + IA_ROW_SLACK : (size_t)c->length + IA_TEXT_SLACK);
        if (!c->item)
            ia_trim(d->pool, c->slot + IA_SLOT_OFFSETS, &c->offsets, (size_t)(rows + 1) * ia_offset_size(c));
        own->pool = d->pool;
        own->slot = c->slot;
        own->text = !c->item;
        __atomic_add_fetch(&d->pool->references, 1, __ATOMIC_RELAXED);
        own->buffers[0] = c->validity;
        own->buffers[1] = c->item ? (const void *)c->values : c->offsets;
        own->buffers[2] = c->item ? NULL : c->values;
        a->length = rows;
        a->null_count = rows - valid;
        a->n_buffers = c->item ? 2 : 3;
        a->buffers = own->buffers;
        a->release = ia_release_child;
        parent->children[i] = a;

        c->hint = full ? c->capacity : 0;
        c->values = NULL;
        c->offsets = NULL;
        c->validity = NULL;
        c->word = c->bits = 0;
        c->length = c->capacity = 0;
    }
    parent->items = items;
    memset(out, 0, sizeof *out);
    out->length = rows;
    out->n_buffers = 1;
    out->n_children = count;
    out->buffers = parent->buffers;
    out->children = parent->children;
    out->private_data = parent;
    out->release = ia_release_parent;

    d->hint_rows = full ? d->row_capacity : 0;
    d->taken += rows;
    d->rows = 0;
    d->row_capacity = 0;
    d->bytes = 0;
    return 0;
}

/* Forget fewer than 64 rows of the open batch, which somebody has read; its buffers are those of the next. */
static inline void ia_decoder_drop(struct ia_decoder *d)
{
    for (int i = 0; i < d->count; i++) {
        struct ia_column *c = &d->columns[i];
        c->word = c->bits = 0;
        c->length = 0;
    }
    d->taken += d->rows;
    d->rows = 0;
    d->bytes = 0;
}

#endif
