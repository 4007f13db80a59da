/* The binary interface of ADBC 1.1 and of Arrow's C data interface: the structures that a driver and its caller share,
 * and the numbers that they pass. The specification is https://arrow.apache.org/adbc/; a test compares the layout with
 * the header of adbc-driver-manager.
 */
#ifndef INFORMIX_ARROW_ADBC_ABI_H
#define INFORMIX_ARROW_ADBC_ABI_H

#include <stddef.h>
#include <stdint.h>

/* ---- Arrow's C data interface ---- */

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* ---- versions and status codes; the other status codes are in status.py ---- */

enum { ADBC_1_0 = 1000000, ADBC_1_1 = 1001000 };

typedef uint8_t AdbcStatusCode;
enum {
    ADBC_OK = 0,
    ADBC_NOT_IMPLEMENTED = 2,
    ADBC_INVALID_ARGUMENT = 5,
    ADBC_INVALID_STATE = 6,
    ADBC_INTERNAL = 9,
    ADBC_CANCELLED = 11
};

/* ---- errors ---- */

struct AdbcDriver;

/* `vendor_code` of a caller whose AdbcError has the two last fields, which came with 1.1. */
#define ADBC_HAS_PRIVATE_DATA INT32_MIN

struct AdbcError {
    char *message;
    int32_t vendor_code;
    char sqlstate[5];
    void (*release)(struct AdbcError *);
    void *private_data;
    struct AdbcDriver *private_driver;
};

struct AdbcErrorDetail {
    const char *key;
    const uint8_t *value;
    size_t value_length;
};

/* ---- handles: `private_data` is ours, `private_driver` the driver manager's ---- */

struct AdbcDatabase { void *private_data; struct AdbcDriver *private_driver; };
struct AdbcConnection { void *private_data; struct AdbcDriver *private_driver; };
struct AdbcStatement { void *private_data; struct AdbcDriver *private_driver; };

struct AdbcPartitions {
    size_t num_partitions;
    const uint8_t **partitions;
    const size_t *partition_lengths;
    void *private_data;
    void (*release)(struct AdbcPartitions *);
};

/* ---- the table of functions, in the order of the specification ---- */

/* The option functions that came with 1.1, for each of the three kinds of handles. */
#define ADBC_GETTERS(KIND)                                                                                             \
    AdbcStatusCode (*KIND##GetOption)(struct Adbc##KIND *, const char *, char *, size_t *, struct AdbcError *);        \
    AdbcStatusCode (*KIND##GetOptionBytes)(struct Adbc##KIND *, const char *, uint8_t *, size_t *, struct AdbcError *);\
    AdbcStatusCode (*KIND##GetOptionDouble)(struct Adbc##KIND *, const char *, double *, struct AdbcError *);          \
    AdbcStatusCode (*KIND##GetOptionInt)(struct Adbc##KIND *, const char *, int64_t *, struct AdbcError *);
#define ADBC_SETTERS(KIND)                                                                                             \
    AdbcStatusCode (*KIND##SetOptionBytes)(struct Adbc##KIND *, const char *, const uint8_t *, size_t,                 \
                                           struct AdbcError *);                                                        \
    AdbcStatusCode (*KIND##SetOptionDouble)(struct Adbc##KIND *, const char *, double, struct AdbcError *);            \
    AdbcStatusCode (*KIND##SetOptionInt)(struct Adbc##KIND *, const char *, int64_t, struct AdbcError *);

struct AdbcDriver {
    void *private_data, *private_manager;
    AdbcStatusCode (*release)(struct AdbcDriver *, struct AdbcError *);

    AdbcStatusCode (*DatabaseInit)(struct AdbcDatabase *, struct AdbcError *);
    AdbcStatusCode (*DatabaseNew)(struct AdbcDatabase *, struct AdbcError *);
    AdbcStatusCode (*DatabaseSetOption)(struct AdbcDatabase *, const char *, const char *, struct AdbcError *);
    AdbcStatusCode (*DatabaseRelease)(struct AdbcDatabase *, struct AdbcError *);

    AdbcStatusCode (*ConnectionCommit)(struct AdbcConnection *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetInfo)(struct AdbcConnection *, const uint32_t *, size_t, struct ArrowArrayStream *,
                                        struct AdbcError *);
    AdbcStatusCode (*ConnectionGetObjects)(struct AdbcConnection *, int, const char *, const char *, const char *,
                                           const char **, const char *, struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetTableSchema)(struct AdbcConnection *, const char *, const char *, const char *,
                                               struct ArrowSchema *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetTableTypes)(struct AdbcConnection *, struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionInit)(struct AdbcConnection *, struct AdbcDatabase *, struct AdbcError *);
    AdbcStatusCode (*ConnectionNew)(struct AdbcConnection *, struct AdbcError *);
    AdbcStatusCode (*ConnectionSetOption)(struct AdbcConnection *, const char *, const char *, struct AdbcError *);
    AdbcStatusCode (*ConnectionReadPartition)(struct AdbcConnection *, const uint8_t *, size_t,
                                              struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionRelease)(struct AdbcConnection *, struct AdbcError *);
    AdbcStatusCode (*ConnectionRollback)(struct AdbcConnection *, struct AdbcError *);

    AdbcStatusCode (*StatementBind)(struct AdbcStatement *, struct ArrowArray *, struct ArrowSchema *,
                                    struct AdbcError *);
    AdbcStatusCode (*StatementBindStream)(struct AdbcStatement *, struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*StatementExecuteQuery)(struct AdbcStatement *, struct ArrowArrayStream *, int64_t *,
                                            struct AdbcError *);
    AdbcStatusCode (*StatementExecutePartitions)(struct AdbcStatement *, struct ArrowSchema *, struct AdbcPartitions *,
                                                 int64_t *, struct AdbcError *);
    AdbcStatusCode (*StatementGetParameterSchema)(struct AdbcStatement *, struct ArrowSchema *, struct AdbcError *);
    AdbcStatusCode (*StatementNew)(struct AdbcConnection *, struct AdbcStatement *, struct AdbcError *);
    AdbcStatusCode (*StatementPrepare)(struct AdbcStatement *, struct AdbcError *);
    AdbcStatusCode (*StatementRelease)(struct AdbcStatement *, struct AdbcError *);
    AdbcStatusCode (*StatementSetOption)(struct AdbcStatement *, const char *, const char *, struct AdbcError *);
    AdbcStatusCode (*StatementSetSqlQuery)(struct AdbcStatement *, const char *, struct AdbcError *);
    AdbcStatusCode (*StatementSetSubstraitPlan)(struct AdbcStatement *, const uint8_t *, size_t, struct AdbcError *);

    /* From here on since 1.1: a caller of 1.0 has no memory for these. */
    int (*ErrorGetDetailCount)(const struct AdbcError *);
    struct AdbcErrorDetail (*ErrorGetDetail)(const struct AdbcError *, int);
    const struct AdbcError *(*ErrorFromArrayStream)(struct ArrowArrayStream *, AdbcStatusCode *);

    ADBC_GETTERS(Database)
    ADBC_SETTERS(Database)

    AdbcStatusCode (*ConnectionCancel)(struct AdbcConnection *, struct AdbcError *);
    ADBC_GETTERS(Connection)
    AdbcStatusCode (*ConnectionGetStatistics)(struct AdbcConnection *, const char *, const char *, const char *, char,
                                              struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetStatisticNames)(struct AdbcConnection *, struct ArrowArrayStream *,
                                                  struct AdbcError *);
    ADBC_SETTERS(Connection)

    AdbcStatusCode (*StatementCancel)(struct AdbcStatement *, struct AdbcError *);
    AdbcStatusCode (*StatementExecuteSchema)(struct AdbcStatement *, struct ArrowSchema *, struct AdbcError *);
    ADBC_GETTERS(Statement)
    ADBC_SETTERS(Statement)
};

#define ADBC_DRIVER_1_0_SIZE offsetof(struct AdbcDriver, ErrorGetDetailCount)

#endif
