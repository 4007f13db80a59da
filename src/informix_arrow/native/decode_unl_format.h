/* The format of a .unl file, and the error texts of its fields. No Python. */
#ifndef INFORMIX_ARROW_DECODE_UNL_FORMAT_H
#define INFORMIX_ARROW_DECODE_UNL_FORMAT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "decode_core.h"

/* A flag of an op besides those of plan.h: the amount may have a currency symbol. */
#define IA_FLAG_MONEY 128

#define IA_UNL_SYMBOL 8 /* bytes of a currency symbol, at most */

struct ia_unl_format {
    uint8_t delimiter;
    uint8_t point;       /* decimal separator */
    uint8_t century;     /* DBCENTURY: 'R', 'P', 'F' or 'C' */
    uint8_t separator;   /* of dates; 0: none */
    uint8_t order[3];    /* of dates: 'D', 'M', 'Y' */
    uint8_t year_digits; /* of dates: 2 or 4 */
    int32_t today;       /* days from 1970-01-01, what DBCENTURY counts from */
    int join;            /* lines are joined until the row has all its fields */
    int empty;           /* old files: nothing is the empty text, in columns of text */
    int front_size, back_size;
    uint8_t front[IA_UNL_SYMBOL], back[IA_UNL_SYMBOL]; /* the currency's symbol */
};

struct ia_unl_field {
    const uint8_t *text;
    int64_t size;
    int escaped; /* has a backslash */
};

/* A field's text in an error: printable, and no more of it than helps. */
static const char *ia_unl_shown(const uint8_t *s, int64_t n, char out[48])
{
    const int64_t most = n > 40 ? 37 : n;
    char *to = out;
    for (int64_t i = 0; i < most; i++)
        *to++ = s[i] >= 32 && s[i] < 127 ? (char)s[i] : '?';
    if (n > 40) {
        memcpy(to, "...", 3);
        to += 3;
    }
    *to = '\0';
    return out;
}

#define IA_UNL_WRONG(err, s, n, ...) (ia_unl_wrong(err, s, n, __VA_ARGS__), IA_DATA)

static void ia_unl_wrong(struct ia_error *err, const uint8_t *s, int64_t n, const char *what)
{
    char shown[48];
    (void)snprintf(err->detail, sizeof err->detail, "'%s' %s", ia_unl_shown(s, n, shown), what);
}

static inline int ia_unl_digit(const uint8_t *s, const uint8_t *end)
{
    return s < end && (uint8_t)(*s - '0') < 10;
}

#endif
