/* The plan: one small struct per column, compiled from a DESCRIBE by wire/describe.py, followed by both C codecs.
 *
 * A kind says how one column's bytes lie in a tuple (TYPES section 2) and which Arrow type stands beside them.
 * wire/types.py holds the same numbers as `Kind`; a unit test compares the two. */
#ifndef INFORMIX_ARROW_PLAN_H
#define INFORMIX_ARROW_PLAN_H

#include <stdint.h>

enum ia_kind {
    IA_INT16 = 1,              /* SMALLINT: 2 bytes, NULL 8000                          -> int16 */
    IA_INT32 = 2,              /* INTEGER, SERIAL: 4 bytes, NULL 80000000               -> int32 */
    IA_INT64 = 3,              /* BIGINT, BIGSERIAL: 8 bytes, NULL 80..00               -> int64 */
    IA_INT8 = 4,               /* INT8, SERIAL8: 10 bytes, sign word 0 = NULL           -> int64 */
    IA_FLOAT32 = 5,            /* SMALLFLOAT: 4 bytes IEEE, NULL ff x 4                 -> float32 */
    IA_FLOAT64 = 6,            /* FLOAT: 8 bytes IEEE, NULL ff x 8                      -> float64 */
    IA_DATE = 7,               /* DATE: 4 bytes, days from 1899-12-31                   -> date32 */
    IA_BOOL = 8,               /* BOOLEAN: envelope of one byte, 't'/'f' or 1/0         -> bool */
    IA_CHAR = 9,               /* CHAR, NCHAR: width bytes, NULL first byte 00          -> utf8 */
    IA_VARCHAR = 10,           /* VARCHAR, NVARCHAR: length byte, NULL 01 00            -> utf8 */
    IA_LVARCHAR = 11,          /* LVARCHAR: envelope                                    -> utf8 */
    IA_DECIMAL128 = 12,        /* DECIMAL(p,s), MONEY: width bytes base 100             -> decimal128(p,s) */
    IA_DECIMAL_FLOAT64 = 13,   /* DECIMAL of any scale                                  -> float64 */
    IA_DECIMAL_STRING = 14,    /* DECIMAL of any scale                                  -> utf8, plain decimal text */
    IA_DATETIME_DATE32 = 15,   /* DATETIME YEAR TO DAY                                  -> date32 */
    IA_DATETIME_TIMESTAMP = 16,/* DATETIME YEAR TO HOUR.. FRACTION(5)                   -> timestamp s, ms or us by qualifier */
    IA_DATETIME_TIME32 = 17,   /* DATETIME HOUR TO MINUTE.. SECOND                      -> time32[s] */
    IA_DATETIME_TIME64 = 18,   /* DATETIME HOUR TO FRACTION(n)                          -> time64[us] */
    IA_DATETIME_TEXT = 19,     /* any other DATETIME                                    -> utf8, Informix's literal form */
    IA_INTERVAL_MONTHS = 20,   /* INTERVAL YEAR .. MONTH                                -> int32, months */
    IA_INTERVAL_DURATION = 21, /* INTERVAL DAY .. FRACTION                              -> duration us */
    IA_INTERVAL_MDN = 22,      /* INTERVAL of either class                              -> month_day_nano */
    IA_LOB = 23,               /* BYTE, TEXT: descriptor, NULL in bit 0 of byte 39      -> fixed_size_binary(width) */
    IA_OPAQUE = 24,            /* BLOB and CLOB locators, opaque types: envelope        -> binary */
    IA_DECIMAL_INT64 = 25,     /* DECIMAL without fraction digits                       -> int64 */
    IA_CHANGE_BOOL = 26,       /* BOOLEAN of a row image (CDC section 5): NULL flag, value -> bool */
    IA_CHANGE_LVARCHAR = 27    /* LVARCHAR of a row image: short bytes + 1, NULL flag   -> utf8 */
};

/* Flags of a plan op. */
#define IA_FLAG_TRIM 1         /* CHAR: remove trailing blanks (char_padding="strip") */
#define IA_FLAG_BINARY_BOOL 2  /* BOOLEAN: the encoder writes 1/0 instead of 't'/'f' (SQ_RETTYPE asked for type 45) */
#define IA_FLAG_LARGE 4        /* strings with 64-bit offsets (large_utf8, large_binary) */
#define IA_FLAG_REPLACE 8      /* decoded text: bytes outside the code set become U+FFFD (encoding_errors="replace") */
#define IA_FLAG_ROUND 32       /* encoded: digits that the column has no room for are rounded (inexact="round") */
#define IA_FLAG_TRUNCATE 64    /* encoded: they are cut (inexact="truncate") */
#define IA_FLAG_RAW 16         /* text as it lies on the wire, neither checked nor transcoded -> binary */

#define IA_LOB_USUAL 56 /* bytes of the descriptor of a BYTE or TEXT, of every server known */

struct ia_op {
    int32_t kind;
    int32_t width; /* tuple bytes of fixed kinds and CHAR; maximum content bytes of VARCHAR and LVARCHAR */
    int32_t arg;   /* DECIMAL128: precision << 8 | scale; other DECIMAL: encoded length; DATETIME, INTERVAL: qualifier; else 0 */
    int32_t flags;
};

#endif
