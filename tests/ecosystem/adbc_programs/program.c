/* A program in C that uses the driver through the driver manager, by its manifest: `program URI ROWS`.
 *
 * The table `numbers` (n INT, s VARCHAR) with ROWS rows is there. Each case prints its name; the first fault ends the
 * program. Built by test_adbc_programs.py with the driver manager's sources.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arrow-adbc/adbc.h"
#include "arrow-adbc/adbc_driver_manager.h"

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: %s is not so\n", __LINE__, #condition);                                          \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static struct AdbcError error; /* of the main thread */

static void ok_at(int line, AdbcStatusCode status, struct AdbcError *which)
{
    if (status == ADBC_STATUS_OK) return;
    fprintf(stderr, "line %d: status %d: %s\n", line, status, which->message ? which->message : "");
    exit(1);
}
#define OK(call) ok_at(__LINE__, call, &error)

static struct AdbcDatabase database;

static struct AdbcConnection connect_now(struct AdbcError *which)
{
    struct AdbcConnection connection = {0};
    ok_at(__LINE__, AdbcConnectionNew(&connection, which), which);
    ok_at(__LINE__, AdbcConnectionInit(&connection, &database, which), which);
    return connection;
}

/* Read a stream to its end, or `batches` of it, and return the rows. */
static int64_t read_rows(struct ArrowArrayStream *stream, int batches)
{
    int64_t rows = 0;
    for (int i = 0; i != batches; i++) {
        struct ArrowArray array = {0};
        int code = stream->get_next(stream, &array);
        if (code) {
            fprintf(stderr, "error %d: %s\n", code, stream->get_last_error(stream));
            exit(1);
        }
        if (!array.release) break;
        rows += array.length;
        array.release(&array);
    }
    stream->release(stream);
    return rows;
}

static int64_t query(struct AdbcConnection *connection, const char *sql, int batches, struct AdbcError *which)
{
    struct AdbcStatement statement = {0};
    struct ArrowArrayStream stream = {0};
    ok_at(__LINE__, AdbcStatementNew(connection, &statement, which), which);
    ok_at(__LINE__, AdbcStatementSetSqlQuery(&statement, sql, which), which);
    ok_at(__LINE__, AdbcStatementSetOptionInt(&statement, "adbc.informix.batch_rows", 5000, which), which);
    ok_at(__LINE__, AdbcStatementExecuteQuery(&statement, &stream, NULL, which), which);
    int64_t rows = read_rows(&stream, batches);
    ok_at(__LINE__, AdbcStatementRelease(&statement, which), which);
    return rows;
}

static void update(struct AdbcConnection *connection, const char *sql)
{
    struct AdbcStatement statement = {0};
    OK(AdbcStatementNew(connection, &statement, &error));
    OK(AdbcStatementSetSqlQuery(&statement, sql, &error));
    OK(AdbcStatementExecuteQuery(&statement, NULL, NULL, &error));
    OK(AdbcStatementRelease(&statement, &error));
}

/* A batch of one column of integers. */
static int releases;
static int64_t values[] = {7, -42, 123456789};
static const void *buffers[] = {NULL, values};

static void release_array(struct ArrowArray *array)
{
    releases++;
    array->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
    releases++;
    schema->release = NULL;
}

static void bind_integers(struct AdbcStatement *statement, int64_t rows)
{
    static struct ArrowArray child;
    static struct ArrowSchema field;
    static struct ArrowArray *children[] = {&child};
    static struct ArrowSchema *fields[] = {&field};
    static const void *none[] = {NULL};
    child = (struct ArrowArray){.length = rows, .n_buffers = 2, .buffers = buffers, .release = release_array};
    field = (struct ArrowSchema){.format = "l", .name = "n", .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
    struct ArrowArray array = {.length = rows, .n_buffers = 1, .n_children = 1, .buffers = none, .children = children,
                               .release = release_array};
    struct ArrowSchema schema = {.format = "+s", .name = "", .n_children = 1, .children = fields,
                                 .release = release_schema};
    OK(AdbcStatementBind(statement, &array, &schema, &error));
}

static void parameters_and_ingestion(struct AdbcConnection *connection)
{
    struct AdbcStatement statement = {0};
    int64_t rows = 0;
    OK(AdbcStatementNew(connection, &statement, &error));
    OK(AdbcStatementSetOption(&statement, ADBC_INGEST_OPTION_TARGET_TABLE, "from_c", &error));
    OK(AdbcStatementSetOption(&statement, ADBC_INGEST_OPTION_MODE, ADBC_INGEST_OPTION_MODE_REPLACE, &error));
    bind_integers(&statement, 3);
    OK(AdbcStatementExecuteQuery(&statement, NULL, &rows, &error));
    CHECK(rows == 3);
    OK(AdbcStatementSetSqlQuery(&statement, "SELECT * FROM from_c WHERE n = ?", &error));
    struct ArrowArrayStream stream = {0};
    bind_integers(&statement, 1);
    OK(AdbcStatementExecuteQuery(&statement, &stream, &rows, &error));
    CHECK(rows == -1 && read_rows(&stream, -1) == 1);
    struct ArrowSchema schema = {0};
    OK(AdbcStatementExecuteSchema(&statement, &schema, &error));
    CHECK(schema.n_children == 1 && !strcmp(schema.children[0]->name, "n"));
    schema.release(&schema);
    bind_integers(&statement, 2); /* and is not executed */
    OK(AdbcStatementRelease(&statement, &error));
    CHECK(releases > 0);
    update(connection, "DROP TABLE from_c");
}

static void errors(struct AdbcConnection *connection)
{
    struct AdbcStatement statement = {0};
    struct AdbcError details = ADBC_ERROR_INIT, plain = {0};
    OK(AdbcStatementNew(connection, &statement, &error));
    OK(AdbcStatementSetSqlQuery(&statement, "SELECT * FROM nowhere", &error));
    CHECK(AdbcStatementExecuteQuery(&statement, NULL, NULL, &details) == ADBC_STATUS_NOT_FOUND);
    CHECK(strstr(details.message, "nowhere") && !memcmp(details.sqlstate, "42000", 5));
    struct AdbcErrorDetail detail = AdbcErrorGetDetail(&details, 0);
    CHECK(AdbcErrorGetDetailCount(&details) > 1 && !strcmp(detail.key, "sqlcode"));
    CHECK(detail.value_length == 4 && !memcmp(detail.value, "-206", 4));
    CHECK(AdbcErrorGetDetail(&details, 99).key == NULL);
    /* The next error replaces the one before. */
    CHECK(AdbcStatementSetOption(&statement, "no.such.option", "x", &details) == ADBC_STATUS_NOT_IMPLEMENTED);
    CHECK(strstr(details.message, "no.such.option"));
    details.release(&details);
    /* A caller of ADBC 1.0 has the vendor code in its place. */
    CHECK(AdbcStatementExecuteQuery(&statement, NULL, NULL, &plain) == ADBC_STATUS_NOT_FOUND);
    CHECK(plain.vendor_code == -206);
    plain.release(&plain);
    CHECK(AdbcStatementExecuteQuery(&statement, NULL, NULL, NULL) == ADBC_STATUS_NOT_FOUND);
    OK(AdbcStatementRelease(&statement, &error));
}

static void *cancel_often(void *statement)
{
    struct AdbcError own = ADBC_ERROR_INIT;
    for (int i = 0; i < 600; i++) {
        usleep(50000);
        AdbcStatusCode status = AdbcStatementCancel(statement, &own); /* which fails while nothing runs */
        if (own.release) own.release(&own);
        if (status == ADBC_STATUS_OK) break;
    }
    return NULL;
}

static void cancellation(struct AdbcConnection *connection)
{
    struct AdbcStatement statement = {0};
    struct AdbcError canceled = ADBC_ERROR_INIT;
    struct ArrowArrayStream stream = {0};
    struct ArrowArray array = {0};
    pthread_t thread;
    OK(AdbcStatementNew(connection, &statement, &error));
    OK(AdbcStatementSetSqlQuery(&statement, "SELECT COUNT(*) FROM numbers a, numbers b, numbers c", &error));
    CHECK(!pthread_create(&thread, NULL, cancel_often, &statement));
    AdbcStatusCode status = AdbcStatementExecuteQuery(&statement, &stream, NULL, &canceled);
    if (status == ADBC_STATUS_OK) { /* the server answers with the first row only when it has it */
        CHECK(stream.get_next(&stream, &array));
        const struct AdbcError *found = AdbcErrorFromArrayStream(&stream, &status);
        CHECK(found && found->message);
        stream.release(&stream);
    }
    CHECK(status == ADBC_STATUS_CANCELLED);
    if (canceled.release) canceled.release(&canceled);
    pthread_join(thread, NULL);
    OK(AdbcStatementRelease(&statement, &error));
    CHECK(query(connection, "SELECT tabid FROM systables WHERE tabid = 1", -1, &error) == 1);
}

static int64_t expected;

static void *work(void *unused)
{
    struct AdbcError own = ADBC_ERROR_INIT;
    (void)unused;
    struct AdbcConnection connection = connect_now(&own);
    for (int i = 0; i < 3; i++) {
        CHECK(query(&connection, "SELECT n, s FROM numbers WHERE n < 20000", -1, &own) == (expected < 20000 ? expected : 20000));
        query(&connection, "SELECT n, s FROM numbers", 1, &own); /* released early */
    }
    ok_at(__LINE__, AdbcConnectionRelease(&connection, &own), &own);
    return NULL;
}

static void eight_threads(void)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) CHECK(!pthread_create(&threads[i], NULL, work, NULL));
    for (int i = 0; i < 8; i++) CHECK(!pthread_join(threads[i], NULL));
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char **words)
{
    CHECK(count == 3);
    expected = atoll(words[2]);
    error = (struct AdbcError)ADBC_ERROR_INIT;
    OK(AdbcDatabaseNew(&database, &error));
    OK(AdbcDatabaseSetOption(&database, "driver", "informix", &error));
    OK(AdbcDatabaseSetOption(&database, "uri", words[1], &error));
    OK(AdbcDriverManagerDatabaseSetLoadFlags(&database, ADBC_LOAD_FLAG_DEFAULT, &error));
    OK(AdbcDatabaseInit(&database, &error));
    struct AdbcConnection connection = connect_now(&error);
    double began = seconds();
    CHECK(query(&connection, "SELECT n, s FROM numbers", -1, &error) == expected);
    printf("query %.3f s\n", seconds() - began);
    for (int i = 0; i < 50; i++) query(&connection, "SELECT n, s FROM numbers", i % 3, &error);
    puts("released early");
    parameters_and_ingestion(&connection);
    puts("parameters, ingestion");
    errors(&connection);
    puts("errors");
    cancellation(&connection);
    puts("cancel");
    eight_threads();
    puts("threads");
    char text[64];
    size_t length = sizeof text;
    OK(AdbcConnectionSetOption(&connection, ADBC_CONNECTION_OPTION_AUTOCOMMIT, "false", &error));
    OK(AdbcConnectionGetOption(&connection, ADBC_CONNECTION_OPTION_AUTOCOMMIT, text, &length, &error));
    CHECK(!strcmp(text, "false") && length == 6);
    OK(AdbcConnectionRollback(&connection, &error));
    if (!fork()) { /* a child of a program that is not Python cannot use the driver */
        struct AdbcError refused = ADBC_ERROR_INIT;
        int right = AdbcConnectionRollback(&connection, &refused) == ADBC_STATUS_INVALID_STATE &&
                    strstr(refused.message, "fork") && AdbcConnectionRelease(&connection, &refused) == ADBC_STATUS_OK;
        struct AdbcDatabase other = {0};
        right = right && AdbcDatabaseNew(&other, &refused) == ADBC_STATUS_OK &&
                AdbcDatabaseSetOption(&other, "driver", "informix", &refused) == ADBC_STATUS_OK &&
                AdbcDriverManagerDatabaseSetLoadFlags(&other, ADBC_LOAD_FLAG_DEFAULT, &refused) == ADBC_STATUS_OK &&
                AdbcDatabaseInit(&other, &refused) != ADBC_STATUS_OK;
        _exit(right ? 0 : 9);
    }
    int state = 0;
    CHECK(wait(&state) > 0 && state == 0);
    puts("fork");
    OK(AdbcConnectionRelease(&connection, &error));
    OK(AdbcDatabaseRelease(&database, &error));
    return 0;
}
