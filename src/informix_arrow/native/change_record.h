/* The header of the records of changes that hold a row image (CDC section 4). */
#ifndef INFORMIX_ARROW_CHANGE_RECORD_H
#define INFORMIX_ARROW_CHANGE_RECORD_H

enum { IA_RECORD_INSERT = 40, IA_RECORD_DELETE = 41, IA_RECORD_UPDBEF = 42, IA_RECORD_UPDAFT = 43 };

#define IA_RECORD_SCHEME 66
#define IA_RECORD_COMMON 16 /* header size, payload size, packet scheme, number */
#define IA_RECORD_ROW 36    /* header of a row image, without the lengths of variable columns */

#endif
