/* Decoding of dates and of values of fixed width, for the row loop, blocks and runs. */
#ifndef INFORMIX_ARROW_DECODE_FIXED_H
#define INFORMIX_ARROW_DECODE_FIXED_H

#define IA_FIRST_DAY (-693594) /* 0001-01-01 as a DATE: days from 1899-12-31 (TYPES section 8) */
#define IA_LAST_DAY 2958464    /* 9999-12-31 */
#define IA_EPOCH 25568         /* 1970-01-01 */

#define IA_BLOCK 64 /* most rows of a block */

#endif
