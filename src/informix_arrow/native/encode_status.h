/* The reasons why a value cannot be encoded, and the room behind a field that writers may overwrite. No Python, no allocation. */
#ifndef INFORMIX_ARROW_ENCODE_STATUS_H
#define INFORMIX_ARROW_ENCODE_STATUS_H

#define IA_ENC_SLACK 64 /* bytes behind the row that a field may write over */

/* Digits that a column has no room for. */
enum ia_inexact {
    IA_EXACT = 0,   /* an error */
    IA_ROUND = 1,   /* to the nearest, halves away from zero */
    IA_TRUNCATE = 2 /* toward zero */
};

/* Zero is success; the module words the message.  wire/encode_fault.py has the same numbers, tests compare them. */
enum ia_enc_status {
    IA_ENC_OK = 0,
    IA_ENC_NULL_INT16,      /* the integer is the NULL pattern of SMALLINT */
    IA_ENC_NULL_INT32,      /* of INTEGER and SERIAL */
    IA_ENC_NULL_INT64,      /* of BIGINT and INT8, and of their serials */
    IA_ENC_RANGE,           /* a = magnitude, b = negative: an integer outside the type's range */
    IA_ENC_RANGE_DIGITS,    /* a number of more than 19 digits outside the integer type's range */
    IA_ENC_FRACTION,        /* a number with a fraction into an integer type */
    IA_ENC_INEXACT,         /* a = magnitude, b = negative: an integer that no double holds */
    IA_ENC_TOO_LONG,        /* a = bytes of the value, b = bytes allowed */
    IA_ENC_NUL_TEXT,        /* the text would read as NULL */
    IA_ENC_CODE_POINT,      /* a = a code point without a byte in the code page */
    IA_ENC_UTF8,            /* the text is not UTF-8 */
    IA_ENC_DATE_RANGE,      /* outside 0001-01-01 .. 9999-12-31 */
    IA_ENC_PART_OF_DAY,     /* a date64 that is no whole day */
    IA_ENC_TIME_RANGE,      /* outside 00:00:00 .. 23:59:59.999999999 */
    IA_ENC_PRECISION,       /* more digits than the DECIMAL holds */
    IA_ENC_SCALE,           /* more decimal places than the DECIMAL keeps */
    IA_ENC_EXPONENT,        /* outside 1E-130 .. 9.99E125 */
    IA_ENC_NOT_FINITE,      /* NaN or infinity into a DECIMAL */
    IA_ENC_DECIMAL_TEXT,    /* not a decimal number */
    IA_ENC_FINER,           /* parts finer than the last field of the DATETIME or INTERVAL */
    IA_ENC_FINER_DIGITS,    /* more digits of a second than the DATETIME or INTERVAL has */
    IA_ENC_DATETIME_TEXT,   /* not a literal of this qualifier */
    IA_ENC_LEADING,         /* more digits than the INTERVAL's first field has */
    IA_ENC_CLASS,           /* months into a DAY TO FRACTION interval, or the other way round */
    IA_ENC_NULL_DESCRIPTOR, /* a descriptor that says of itself that it is NULL */
    IA_ENC_UNBINDABLE,      /* an opaque value as a parameter */
    IA_ENC_OFFSETS,         /* the Arrow string offsets or views are inconsistent */
    IA_ENC_INDEX,           /* a = a dictionary index without a value */
    IA_ENC_ROW_SIZE         /* the row would not fit a four-byte length */
};

#endif
