/* The plan: one small struct per column. wire/describe.py compiles it from a DESCRIBE, and both C codecs follow it.
 *
 * A kind says how one column's bytes are laid out in a tuple (TYPES section 2), and which Arrow type the column has.
 * kinds.def lists them. */
#ifndef INFORMIX_ARROW_PLAN_H
#define INFORMIX_ARROW_PLAN_H

#include <stdint.h>

enum ia_kind {
#define IA_KIND(name, number, wire, arrow, layout) IA_##name = number,
#include "kinds.def"
#undef IA_KIND
    IA_KINDS /* one more than the greatest */
};

/* How the values of a kind lie in a tuple, and whether they are text in Arrow. Bits of it are asked for by the functions below. */
enum ia_layout {
    IA_LAYOUT_FIXED = 0,
    IA_LAYOUT_VARIABLE = 1,                                /* its length stands in each tuple */
    IA_LAYOUT_VARIABLE_BYTES = IA_LAYOUT_VARIABLE | 2,      /* 2: an Arrow array with offsets */
    IA_LAYOUT_MADE_TEXT = 2,                               /* written out by the decoder */
    IA_LAYOUT_TEXT = 2 | 4,                                /* 4: characters in the database's code set */
    IA_LAYOUT_VARIABLE_TEXT = IA_LAYOUT_VARIABLE | 2 | 4
};

/* What kinds.def says of each kind. */
static const struct {
    uint8_t wire, arrow, layout;
} ia_kinds[IA_KINDS] = {
#define IA_KIND(name, number, wire, arrow, layout) [number] = {wire, arrow, IA_LAYOUT_##layout},
#include "kinds.def"
#undef IA_KIND
};

/* Whether the length of a column's values stands in each tuple. */
static inline int ia_is_variable(int kind)
{
    return ia_kinds[kind].layout & 1;
}

/* Whether a column's Arrow array has offsets: text and bytes. */
static inline int ia_is_text(int kind)
{
    return ia_kinds[kind].layout & 2;
}

/* Whether the characters of a column come from the wire, in the database's code set. */
static inline int ia_is_encoded(int kind)
{
    return ia_kinds[kind].layout & 4;
}

/* Flags of a plan op. */
#define IA_FLAG_TRIM 1         /* CHAR: remove trailing blanks (char_padding="strip") */
#define IA_FLAG_BINARY_BOOL 2  /* BOOLEAN: the encoder writes 1/0 instead of 't'/'f' (SQ_RETTYPE asked for type 45) */
#define IA_FLAG_LARGE 4        /* strings with 64-bit offsets (large_utf8, large_binary) */
#define IA_FLAG_REPLACE 8      /* decoded text: bytes outside the code set become U+FFFD (encoding_errors="replace") */
#define IA_FLAG_ROUND 32       /* encoded: digits that the column has no room for are rounded (inexact="round") */
#define IA_FLAG_TRUNCATE 64    /* encoded: they are cut (inexact="truncate") */
#define IA_FLAG_RAW 16         /* text as it lies on the wire, neither checked nor transcoded -> binary */

#define IA_JSON_ID 25 /* extended ids: arg of the LVARCHAR that is JSON, of the OPAQUE that is BSON */
#define IA_BSON_ID 26

#define IA_LOB_USUAL 56 /* bytes of the descriptor of a BYTE or TEXT, of every server known */

struct ia_op {
    int32_t kind;
    int32_t width; /* tuple bytes of fixed kinds and CHAR; maximum content bytes of VARCHAR and LVARCHAR */
    int32_t arg;   /* DECIMAL128: precision << 8 | scale; other DECIMAL: encoded length; DATETIME, INTERVAL: qualifier;
                    * JSON, BSON: extended id; else 0 */
    int32_t flags;
};

#endif
