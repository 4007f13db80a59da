/* The encoder core without Python, under AddressSanitizer and UndefinedBehaviorSanitizer, on random Arrow columns of
 * every type: sound ones, and ones whose offsets, views, indices and values are anything.
 *
 * Every buffer is allocated to its exact length and so is the output, so that one byte too far is seen.  What comes out
 * is taken apart again: frames, sizes and pads of tuples; heads, parameters and large objects of bind rows.  Exits 0 and
 * prints what was done, or is ended by the sanitizer or an assertion. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/encode_arrow.h"
#include "native/encode_core.h"
#include "native/encode_plan.h"

#include "digest.h"
#include "draws.h"

#define MAX_COLUMNS 24
#define FEW_COLUMNS 6
#define MAX_BUFFERS 8

static int one_in(int n)
{
    return rnd() % (uint64_t)n == 0;
}

static const struct ia_op ops[] = {
    {IA_INT16, 2, 0, 0}, {IA_INT32, 4, 0, 0}, {IA_INT64, 8, 0, 0}, {IA_INT8, 10, 0, 0}, {IA_FLOAT32, 4, 0, 0},
    {IA_FLOAT64, 8, 0, 0}, {IA_DATE, 4, 0, 0}, {IA_BOOL, 6, 0, 0}, {IA_CHAR, 9, 0, 0}, {IA_CHAR, 1, 0, IA_FLAG_RAW},
    {IA_CHAR, 300, 0, 0}, {IA_VARCHAR, 20, 0, 0}, {IA_VARCHAR, 255, 0, IA_FLAG_RAW}, {IA_LVARCHAR, 0, 0, 0},
    {IA_LVARCHAR, 40, 0, 0}, {IA_LVARCHAR, 0, 0, IA_FLAG_RAW}, {IA_DECIMAL128, 9, 16 << 8 | 2, 0},
    {IA_DECIMAL128, 17, 32 << 8 | 10, 0}, {IA_DECIMAL128, 18, 38 << 8 | 19, 0}, {IA_DECIMAL128, 2, 1 << 8 | 1, 0},
    {IA_DECIMAL_FLOAT64, 10, 16 << 8 | 255, 0}, {IA_DECIMAL_FLOAT64, 18, 32 << 8 | 31, 0},
    {IA_DECIMAL_STRING, 10, 16 << 8 | 255, 0}, {IA_DECIMAL_INT64, 9, 15 << 8, 0},
    {IA_DATETIME_DATE32, 5, 0x0804, 0}, {IA_DATETIME_TIMESTAMP, 8, 0x0e0a, 0}, {IA_DATETIME_TIMESTAMP, 11, 0x130f, 0},
    {IA_DATETIME_TIME32, 4, 0x066a, 0}, {IA_DATETIME_TIME64, 6, 0x096d, 0}, {IA_DATETIME_TEXT, 3, 0x0424, 0},
    {IA_DATETIME_TEXT, 4, 0x0602, 0}, {IA_DATETIME_TEXT, 4, 0x05cf, 0}, {IA_INTERVAL_MONTHS, 4, 0x0602, 0},
    {IA_INTERVAL_MONTHS, 7, 0x0b02, 0}, {IA_INTERVAL_DURATION, 12, 0x144f, 0}, {IA_INTERVAL_DURATION, 5, 0x084a, 0},
    {IA_INTERVAL_MDN, 4, 0x05ac, 0}, {IA_INTERVAL_MDN, 6, 0x09aa, 0}, {IA_INTERVAL_MDN, 4, 0x05cf, 0},
    {IA_LOB, 56, 0, 0}, {IA_LOB, 56, 12, 0}, {IA_OPAQUE, 144, 0, 0}, {IA_OPAQUE, 0, 0, 0},
};
#define N_OPS (int)(sizeof ops / sizeof *ops)
#define VARCHAR_OP 11

static const char *const formats[] = {
    "c", "C", "s", "S", "i", "I", "l", "L", "f", "g", "b", "d:9,2,32", "d:18,5,64", "d:16,2", "d:38,10", "d:32,-3",
    "d:76,40,256", "tdD", "tdm", "tss:", "tsm:", "tsu:", "tsn:", "tts", "ttm", "ttu", "ttn", "tDs", "tDm", "tDu", "tDn",
    "tin", "tiM", "u", "U", "vu", "z", "Z", "vz", "w:56", "w:0", "w:7", "n",
    "e", "+l", "", "tsu:UTC", "d:5", "w:-3", "tsx:", "vx", "d:5,2,16",
};
#define N_FORMATS (int)(sizeof formats / sizeof *formats)

/* ---- random columns ------------------------------------------------------------------------------------------- */

struct column {
    struct ArrowSchema schema, inner_schema;
    struct ArrowArray array, inner;
    const void *buffers[MAX_BUFFERS], *inner_buffers[MAX_BUFFERS];
};

static void *bytes(int64_t n)
{
    uint8_t *p = malloc((size_t)n + (n == 0)); /* of no bytes: one, which nobody may need */
    for (int64_t k = 0; k < n; k++) p[k] = (uint8_t)rnd();
    return p;
}

/* Numbers of `part` bytes that were made with the lowest byte first, for a machine of either byte order. */
static void native_order(uint8_t *p, int64_t size, int part)
{
    for (int64_t at = 0; IA_LOW && at < size; at += part) {
        for (int k = 0; k < part / 2; k++) {
            const uint8_t low = p[at + k];
            p[at + k] = p[at + part - 1 - k];
            p[at + part - 1 - k] = low;
        }
    }
}

/* Of some batches nearly all values have an encoding and are no NULL, as in life: what blocks are written for. */
static int calm;
static int64_t longest; /* text of such a column */

/* Values whose magnitudes are of all sizes: most random words would be out of every range. */
static void *words(const char *format, int64_t n, int width)
{
    uint8_t *p = bytes(n * width);
    for (int64_t k = 0; k < n && width > 0; k++) {
        const int most = !calm ? width + 1 : strcmp(format, "tdD") == 0 ? 3 : width; /* of the bytes; days end sooner */
        const int kept = (int)(rnd() % (uint64_t)most);
        memset(p + k * width + kept, one_in(3) && kept > 0 && p[k * width + kept - 1] & 0x80 ? 0xff : 0,
               (size_t)(width - kept));
        if (one_in(calm ? 40000 : 8)) memset(p + k * width, one_in(2) ? 0xff : 0, (size_t)width - 1);
    }
    if (strcmp(format, "tin") == 0) { /* months, days, nanoseconds */
        for (int64_t k = 0; k < n; k++) {
            native_order(p + k * 16, 8, 4);
            native_order(p + k * 16 + 8, 8, 8);
        }
    } else if (format[0] != 'w' && width > 1) {
        native_order(p, n * width, width);
    }
    return p;
}

static void *text(int64_t n)
{
    static const char *const pieces[] = {"a", "0", "12", "-", ".", "5", " ", "2026-01", "12-25", "\xc3\xa9",
                                         "\xe6\x97\xa5", "\xff", "e", "", "xyzxyzxyzxyzxyzxyz", "\xf0\x9f\x99\x82"};
    uint8_t *p = malloc((size_t)n + (n == 0));
    for (int64_t k = 0; k < n;) {
        const char *piece = pieces[rnd() % 16];
        for (; *piece && k < n; piece++) p[k++] = (uint8_t)*piece;
        if (one_in(200) && k < n) p[k++] = 0;
    }
    return p;
}

/* What numbers are written with, so that some are whole, some have a fraction and some no end. */
static void *numbers(int64_t n)
{
    static const char *const pieces[] = {"0", "1", "5", "9", "12", "000", "999", "2147483648", "9223372036854775808", ".",
                                         ".5", "-", "+", "e", "e-3", "e+2"};
    uint8_t *p = malloc((size_t)n + (n == 0));
    for (int64_t k = 0; k < n;) {
        const uint64_t some = one_in(3) ? 16 : 10;
        const char *piece = pieces[rnd() % some];
        for (; *piece && k < n; piece++) p[k++] = (uint8_t)*piece;
    }
    return p;
}

static int width_of(const char *format)
{
    if (format[0] == 'd')
        return strstr(format, ",32") ? 4 : strstr(format, ",64") ? 8 : strstr(format, ",256") ? 32 : 16;
    if (format[0] == 'w') return atoi(format + 2) > 0 ? atoi(format + 2) : 0;
    if (strcmp(format, "tin") == 0) return 16;
    if (strcmp(format, "tiM") == 0 || strcmp(format, "tdD") == 0 || strcmp(format, "tts") == 0 ||
        strcmp(format, "ttm") == 0)
        return 4;
    if (format[0] == 't') return 8;
    switch (format[0]) {
    case 'c':
    case 'C': return 1;
    case 's':
    case 'S':
    case 'e': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    default: return 8;
    }
}

static int64_t text_size(void)
{
    const int64_t most = one_in(20) || longest < 20 ? longest : 20;
    if (calm) return (int64_t)(rnd() % (uint64_t)(most + 1));
    return one_in(40) ? (int64_t)(rnd() % 5000) : (int64_t)(rnd() % 24);
}

static void fill(struct ArrowArray *a, const void **buffers, const char *format, int64_t values)
{
    a->buffers = buffers;
    a->n_buffers = 2;
    buffers[0] = one_in(2) || (calm && !one_in(8)) ? NULL : bytes((values + 7) / 8);
    a->null_count = buffers[0] || one_in(9) ? -1 : 0;
    if (strcmp(format, "n") == 0) {
        free((void *)buffers[0]);
        buffers[0] = NULL;
        a->n_buffers = 0;
    } else if (strcmp(format, "b") == 0) {
        buffers[1] = bytes((values + 7) / 8);
    } else if (strchr("uUzZ", format[0]) && format[0] && format[1] == '\0') {
        const int large = format[0] == 'U' || format[0] == 'Z';
        uint8_t *const offsets = malloc((size_t)(values + 1) * 8);
        int64_t at = one_in(3) ? (int64_t)(rnd() % 9) : 0;
        for (int64_t k = 0; k <= values; k++) {
            const int64_t bad = at + (int64_t)(rnd() % 64) - 32;
            const int64_t o = !calm && one_in(300) ? (one_in(2) ? bad : (int64_t)rnd()) : at;
            const int32_t narrow = (int32_t)o;
            if (large)
                memcpy(offsets + k * 8, &o, 8);
            else
                memcpy(offsets + k * 4, &narrow, 4);
            if (k < values) at += text_size();
        }
        /* the last offset is what the reader trusts, and the spec makes it so */
        const int64_t end = at;
        const int32_t narrow = (int32_t)end;
        memcpy(offsets + values * (large ? 8 : 4), large ? (const void *)&end : (const void *)&narrow, large ? 8 : 4);
        buffers[1] = realloc(offsets, (size_t)(values + 1) * (large ? 8 : 4));
        buffers[2] = one_in(2) ? numbers(end) : text(end);
        a->n_buffers = 3;
    } else if (format[0] == 'v') {
        const int64_t pieces = (int64_t)(rnd() % 3);
        int64_t *const sizes = malloc((size_t)pieces * 8 + (pieces == 0));
        int32_t *const views = malloc((size_t)values * 16 + (values == 0));
        for (int64_t k = 0; k < pieces; k++) {
            sizes[k] = (int64_t)(rnd() % 3000);
            buffers[2 + k] = text(sizes[k]);
        }
        for (int64_t k = 0; k < values; k++) {
            int32_t *const v = views + k * 4;
            const int64_t len = text_size();
            v[0] = (int32_t)len;
            uint8_t *const inside = one_in(2) ? numbers(12) : text(12);
            memcpy(v + 1, inside, 12);
            free(inside);
            if (len > 12 && pieces > 0) {
                v[2] = (int32_t)(rnd() % (uint64_t)pieces);
                v[3] = sizes[v[2]] > len ? (int32_t)(rnd() % (uint64_t)(sizes[v[2]] - len)) : 0;
                if (sizes[v[2]] <= len) v[0] = 0;
            } else if (len > 12) {
                v[0] = 12;
            }
            if (one_in(300)) {
                const int at = (int)(rnd() % 4);
                const int number = at == 0 || (v[0] > 12 && at > 1); /* else four bytes of the text */
                v[at] = (int32_t)rnd();
                if (!number) v[at] = (int32_t)IA_LE(32, (uint32_t)v[at]);
            }
        }
        buffers[1] = views;
        buffers[2 + pieces] = sizes;
        a->n_buffers = 3 + pieces;
    } else {
        buffers[1] = words(format, values, width_of(format));
    }
}

static void make(struct column *c, int64_t rows, int64_t struct_offset, const char *own)
{
    const char *const format = own ? own : formats[rnd() % N_FORMATS];
    memset(c, 0, sizeof *c);
    c->array.offset = (int64_t)(rnd() % 10);
    c->array.length = struct_offset + rows;
    const int64_t values = c->array.offset + c->array.length;
    if (!own && one_in(5)) {
        static const char *const indices[] = {"c", "C", "s", "S", "i", "I", "l", "L", "g"};
        const char *const index = indices[rnd() % 9];
        c->schema.format = index;
        c->schema.dictionary = &c->inner_schema;
        c->inner_schema.format = format;
        c->inner.offset = (int64_t)(rnd() % 4);
        c->inner.length = (int64_t)(rnd() % 9);
        fill(&c->inner, c->inner_buffers, format, c->inner.offset + c->inner.length);
        c->array.dictionary = one_in(50) ? NULL : &c->inner;
        fill(&c->array, c->buffers, index, values);
        const int width = width_of(index);
        uint8_t *const at = (uint8_t *)c->buffers[1];
        for (int64_t k = 0; k < values && width < 8; k++) {
            if (one_in(60)) continue;
            memset(at + k * width, 0, (size_t)width);
            if (c->inner.length) at[k * width + (IA_LOW ? width - 1 : 0)] = (uint8_t)(rnd() % (uint64_t)c->inner.length);
        }
    } else {
        c->schema.format = format;
        fill(&c->array, c->buffers, format, values);
    }
    if (format[0] != 'v' && one_in(60)) c->array.n_buffers = (int64_t)(rnd() % 5);
    if (one_in(60)) c->array.null_count = 3;
    if (one_in(60)) c->array.length = (int64_t)(rnd() % 4);
    if (one_in(60)) c->array.offset = one_in(2) ? -1 : INT64_MAX - 3;
}

static void drop(struct column *c)
{
    for (int k = 0; k < MAX_BUFFERS; k++) {
        free((void *)c->buffers[k]);
        free((void *)c->inner_buffers[k]);
    }
}

/* ---- what came out -------------------------------------------------------------------------------------------- */

static const uint8_t *parameter(const uint8_t *p)
{
    const int type = ia_load_be16(p), null = ia_load_be16(p + 2) == 0xffff;
    const int precision = ia_load_be16(p + 4);
    p += 6;
    if (null) {
        assert(type == 0 && precision == 0);
        return p;
    }
    int64_t size;
    switch (type) {
    case 2: assert(precision == 0x0a00); return p + 4;
    case 52: assert(precision == 0x1300); return p + 8;
    case 3: return p + 8;
    case 7: return p + 4;
    case 11:
    case 12: return p + 56;
    case 43: /* empty owner and name before the indicator */
        assert(precision == 0 && ia_load_be16(p) == 0 && ia_load_be16(p + 2) == 0);
        size = 4 + (int64_t)ia_load_be32(p + 4);
        p += 4;
        assert(size > 4 + 32767);
        break;
    default:
        assert(type == 0 || type == 5 || type == 10 || type == 14);
        size = 2 + ia_load_be16(p);
        assert(size <= 2 + 32767);
        break;
    }
    if (size & 1) assert(p[size] == 0);
    return p + size + (size & 1);
}

static const uint8_t *bind(const uint8_t *p, const struct ia_enc_frame *frame, int columns)
{
    int64_t sizes[MAX_COLUMNS];
    int lobs = 0;
    assert(memcmp(p, frame->head, frame->head_size) == 0);
    p += frame->head_size;
    assert(ia_load_be16(p) == 5 && ia_load_be16(p + 2) == columns);
    p += 4;
    for (int k = 0; k < columns; k++) {
        const int type = ia_load_be16(p);
        if (type == 11 || type == 12) sizes[lobs++] = ia_load_be32(p + 6 + IA_LOB_SIZE);
        p = parameter(p);
    }
    if (lobs) {
        assert(ia_load_be16(p) == 41 && ia_load_be16(p + 2) == lobs);
        p += 4;
        for (int k = 0; k < lobs; k++) {
            for (int size = -1; size != 0; p += 4 + size + (size & 1)) {
                assert(ia_load_be16(p) == 39);
                size = ia_load_be16(p + 2);
                assert(size <= IA_BLOB_CHUNK && size == (sizes[k] < IA_BLOB_CHUNK ? sizes[k] : IA_BLOB_CHUNK));
                sizes[k] -= size;
            }
        }
    }
    assert(memcmp(p, frame->tail, frame->tail_size) == 0);
    return p + frame->tail_size;
}

static void check(const uint8_t *out, size_t used, int64_t rows, const struct ia_enc_frame *frame, int columns)
{
    const uint8_t *p = out;
    for (; rows > 0; rows--) {
        if (frame->framing == IA_FRAME_BIND) {
            p = bind(p, frame, columns);
            continue;
        }
        uint32_t size;
        if (frame->framing == IA_FRAME_TUPLE) {
            assert(ia_load_be32(p) == 0x000e0000u);
            size = ia_load_be32(p + 4);
        } else {
            assert(ia_load_be16(p) == 0x0011 && ia_load_be16(p + 6) == 1);
            size = ia_load_be32(p + 2);
        }
        if (size & 1) assert(p[8 + size] == 0);
        p += 8 + size + (size & 1);
    }
    assert(p == out + used);
}

/* ---- one batch ------------------------------------------------------------------------------------------------ */

static long batches, bound_columns, refused_columns, rows_out, faults[64], binds_out;
static long shortened[3][2]; /* integers of decimals, floats and text that came out: exact ones, and such as may lose digits */

/* Digits that a column may lose are never what it refuses. */
static int refuses_digits(const struct ia_enc_col *c, int status)
{
    const int floats = c->kind == IA_DECIMAL_FLOAT64 || c->kind == IA_DECIMAL_STRING;
    return status == IA_ENC_FRACTION || status == IA_ENC_SCALE || status == IA_ENC_INEXACT ||
           status == IA_ENC_FINER_DIGITS || (status == IA_ENC_PRECISION && floats && c->decimal.scale < 0);
}

static void count_integers(const struct ia_enc_col *c, int64_t row)
{
    if (c->kind > IA_INT8 || c->all_null || ia_source_is_integer(c->source) || ia_enc_is_null(c, c->base + row)) return;
    const int kind = ia_source_is_decimal(c->source) ? 0 : ia_source_is_bytes(c->source) ? 2 : 1;
    shortened[kind][c->decimal.inexact != IA_EXACT]++;
}

static uint64_t digest = DIGEST_START; /* of all that was written, and of what was refused */

static long block_rows; /* rows that were written in blocks, too, and the same */
static long sized_rows; /* of these, texts by columns */

/* The same rows once more, without blocks: the same bytes. */
static void compare(struct ia_enc_plan *plan, int64_t from, int64_t rows, const struct ia_enc_frame *frame, const uint8_t *out,
                    size_t used, size_t budget)
{
    const int32_t strided = plan->strided;
    struct ia_enc_fault fault = {0};
    int64_t row = from;
    size_t again = 0, need = 0;
    /* Kept: to make and to fill so much anew for each run took most of the program's time under ASan. */
    static uint8_t *whole;
    static size_t cap;
    if (cap < used + ((size_t)8 << 20)) {
        free(whole);
        cap = used + ((size_t)16 << 20);
        whole = malloc(cap);
    }
    plan->strided = 0;
    const enum ia_enc_result result = ia_encode_rows(plan, &row, rows, whole, &again, cap, budget, frame, &need, &fault);
    plan->strided = strided;
    assert(result == IA_ENC_DONE && again == used && !memcmp(whole, out, used));
    block_rows += row - from;
    if (plan->sized && plan->segments) sized_rows += row - from;
}

static void run(const uint8_t *codepage)
{
    struct column columns[MAX_COLUMNS];
    struct ia_enc_col cols[MAX_COLUMNS];
    uint32_t lob_at[MAX_COLUMNS];
    char why[400];
    struct ia_enc_plan plan = {.cols = cols, .lob_at = lob_at, .codepage = codepage, .codepage_is_ascii = 1};
    /* Of half of the batches most columns are of the Arrow type of their own, so that there are blocks. */
    static const char *const own[] = {"s", "i", "l", "l", "f", "g", "tdD"};
    const int narrow = one_in(2);
    calm = narrow && one_in(2);
    const int64_t rows = (int64_t)(rnd() % (narrow ? 150 : 30)), offset = (int64_t)(rnd() % 4);
    const int wide = narrow && (calm || one_in(3)); /* rows long enough for texts by columns */
    const int n = 1 + (int)(rnd() % (wide ? MAX_COLUMNS : FEW_COLUMNS));
    plan.row_bound = IA_ENC_HEADER + 1 + IA_ENC_SLACK;
    plan.bind_bound = 4 + 4 + IA_ENC_SLACK;
    for (int tries = 0; plan.n < n && tries < 400; tries++) { /* until an op and an Arrow type meet */
        struct ia_enc_col *c = cols + plan.n;
        const int strided = narrow && !one_in(4) ? (int)(rnd() % 7) : -1;
        const int text = strided < 0 && wide && !one_in(4);
        struct ia_op made = ops[strided >= 0 ? (uint64_t)strided : text ? (uint64_t)(VARCHAR_OP + one_in(3)) : rnd() % N_OPS];
        const struct ia_op *op = &made;
        if (one_in(2)) made.flags |= one_in(2) ? IA_FLAG_ROUND : IA_FLAG_TRUNCATE;
        longest = text ? op->width : 20;
        assert(ia_enc_col_init(c, op) == NULL);
        make(columns + plan.n, rows, offset, strided >= 0 ? own[strided] : text ? "u" : NULL);
        if (ia_enc_bind(c, &columns[plan.n].schema, &columns[plan.n].array, offset, rows, why, sizeof why)) {
            assert(why[0] != '\0' && strlen(why) < sizeof why - 1);
            drop(columns + plan.n);
            refused_columns++;
            continue;
        }
        plan.row_bound += c->bound;
        plan.bind_bound += c->bind_bound;
        plan.has_contents |= op->kind == IA_LVARCHAR || op->kind == IA_OPAQUE || op->kind == IA_LOB;
        plan.n++;
        bound_columns++;
    }
    ia_enc_arrange(&plan);
    batches++;
    struct ia_enc_frame frame = {.framing = (int)(rnd() % 3), .head = (const uint8_t *)"", .tail = (const uint8_t *)""};
    if (frame.framing == IA_FRAME_BIND && one_in(2)) {
        frame.head = (const uint8_t *)"\0\4\0\3", frame.head_size = 4;
        frame.tail = (const uint8_t *)"\0\7\0\14", frame.tail_size = 4;
    }
    int ok = plan.n > 0;
    for (int k = 0; k < plan.n; k++) ok &= ia_enc_framing_refused(cols + k, frame.framing) == NULL;
    for (int64_t row = 0; ok && row < rows;) {
        const int64_t from = row;
        const size_t budget = rnd() % (calm ? 30000 : 3000);
        size_t used = 0, need = 0, cap = (frame.framing == IA_FRAME_BIND ? plan.bind_bound : plan.row_bound) +
                                         frame.head_size + frame.tail_size + (calm || one_in(2) ? budget : 0);
        uint8_t *out = malloc(cap);
        struct ia_enc_fault fault = {0};
        enum ia_enc_result result;
        for (;;) {
            result = ia_encode_rows(&plan, &row, rows, out, &used, cap, budget, &frame, &need, &fault);
            if (result != IA_ENC_GROW) break;
            assert(need > cap - used);
            cap = used + need;
            uint8_t *const larger = malloc(cap);
            memcpy(larger, out, used);
            free(out);
            out = larger;
        }
        if (result == IA_ENC_FAULT) {
            assert(used == 0 && row == from && fault.row == row && fault.status > 0 && fault.status < 64);
            assert(fault.column >= 0 && fault.column < plan.n);
            assert(!cols[fault.column].decimal.inexact || !refuses_digits(cols + fault.column, fault.status));
            digest = digest_value(digest_value(digest, fault.status), fault.column);
            faults[fault.status]++;
            row++;
        } else {
            assert(row > from && (used <= budget || row == from + 1));
            check(out, used, row - from, &frame, plan.n);
            digest = digest_bytes(digest, out, (int64_t)used);
            if (plan.strided) compare(&plan, from, rows, &frame, out, used, budget);
            rows_out += row - from;
            for (int64_t k = from; k < row; k++) {
                for (int i = 0; i < plan.n; i++) count_integers(cols + i, k);
            }
            if (frame.framing == IA_FRAME_BIND) binds_out += row - from;
        }
        free(out);
    }
    for (int k = 0; k < plan.n; k++) drop(columns + k);
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 200000;
    if (argc > 2) seed ^= strtoull(argv[2], NULL, 10);
    const uint64_t first = seed;
    uint8_t *const latin1 = calloc(65536, 1);
    for (int k = 0; k < 256; k++) latin1[k] = (uint8_t)k;
    for (long k = 0; k < count; k++) {
        seed = first + (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15); /* no batch depends on what was done with the one before */
        if (seed == 0) seed = 1;
        run(one_in(2) ? latin1 : NULL);
    }
    free(latin1);
    int kinds = 0;
    long all = 0;
    for (int k = 0; k < 64; k++) {
        kinds += faults[k] > 0;
        all += faults[k];
    }
    assert(faults[0] == 0);
    /* Of texts few have digits to lose: which are more there is chance. */
    for (int k = 0; k < 3; k++)
        assert(count < 50000 || (shortened[k][0] > 0 && shortened[k][1] > (k < 2 ? shortened[k][0] : 0)));
    printf("encoder: %ld batches, %ld columns bound and %ld refused, %ld rows of which %ld bind rows and %ld the same by blocks, "
           "%ld values refused for %d reasons, digest %016llx: ok\n",
           batches, bound_columns, refused_columns, rows_out, binds_out, block_rows, all, kinds, (unsigned long long)digest);
    return rows_out > 0 && sized_rows > 0 && block_rows > sized_rows && kinds >= 15 ? 0 : 1;
}
