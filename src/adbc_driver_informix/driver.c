/* libadbc_driver_informix: the functions of ADBC 1.1 in C, which call the classes of adbc_driver_informix/abi.py.
 *
 * Every function goes the same way, `call`: take the GIL, call one method, read its result, or copy its error. The
 * methods return what they are asked for, or raise; abi.call() turns exceptions into status codes. Results are Arrow C
 * streams that pyarrow exports, wrapped only to keep their errors.
 */
#include "adbc_abi.h"
#include "python_host.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { MESSAGE = 8192, MOST_DETAILS = 16 };

/* Of the classes in abi.py, which has the same number. */
enum { INTERFACE = 1 };

/* ---- errors ---- */

struct details { int count; struct AdbcErrorDetail items[MOST_DETAILS]; };

static void release_error(struct AdbcError *error)
{
    free(error->message);
    error->message = NULL;
    error->release = NULL;
    if (error->vendor_code != ADBC_HAS_PRIVATE_DATA) return;
    struct details *details = error->private_data;
    error->private_data = NULL;
    if (!details) return;
    for (int i = 0; i < details->count; i++) {
        free((void *)details->items[i].key);
        free((void *)details->items[i].value);
    }
    free(details);
}

static int detail_count(const struct AdbcError *error)
{
    int ours = error->release == release_error && error->vendor_code == ADBC_HAS_PRIVATE_DATA;
    return ours && error->private_data ? ((struct details *)error->private_data)->count : 0;
}

static struct AdbcErrorDetail get_detail(const struct AdbcError *error, int index)
{
    if (index < 0 || index >= detail_count(error)) return (struct AdbcErrorDetail){NULL, NULL, 0};
    return ((struct details *)error->private_data)->items[index];
}

static AdbcStatusCode fail(struct AdbcError *error, AdbcStatusCode status, const char *message)
{
    if (!error) return status;
    if (error->release) error->release(error);
    error->message = strdup(message);
    error->release = release_error;
    memset(error->sqlstate, 0, sizeof error->sqlstate);
    if (error->vendor_code == ADBC_HAS_PRIVATE_DATA)
        error->private_data = NULL;
    else
        error->vendor_code = 0;
    return status;
}

/* A copy of bytes, with a NUL behind them; NULL with a Python exception, or without memory. */
static char *copy_bytes(PyObject *bytes, size_t *length)
{
    char *data, *copy;
    intptr_t size;
    if (!bytes || py.PyBytes_AsStringAndSize(bytes, &data, &size)) return NULL;
    copy = malloc((size_t)size + 1);
    if (!copy) return NULL;
    memcpy(copy, data, (size_t)size);
    copy[size] = '\0';
    if (length) *length = (size_t)size;
    return copy;
}

/* A copy of the bytes at `index` of a tuple. */
static char *copy_item(PyObject *tuple, intptr_t index, size_t *length)
{
    PyObject *item = py.PySequence_GetItem(tuple, index);
    char *copy = copy_bytes(item, length);
    if (item) py.Py_DecRef(item);
    return copy;
}

static long long int_item(PyObject *tuple, intptr_t index)
{
    PyObject *item = py.PySequence_GetItem(tuple, index);
    long long value = item ? py.PyLong_AsLongLong(item) : -1;
    if (item) py.Py_DecRef(item);
    return value;
}

/* Copy a failure that abi.call() returned: message, SQLSTATE, vendor code, then pairs of key and value. */
static AdbcStatusCode copy_failure(PyObject *failure, AdbcStatusCode status, struct AdbcError *error)
{
    char *message = copy_item(failure, 0, NULL), *sqlstate = copy_item(failure, 1, NULL);
    fail(error, status, message ? message : "The error cannot be shown.");
    if (error && sqlstate) memcpy(error->sqlstate, sqlstate, strnlen(sqlstate, sizeof error->sqlstate));
    free(message);
    free(sqlstate);
    if (error && error->vendor_code != ADBC_HAS_PRIVATE_DATA) {
        error->vendor_code = (int32_t)int_item(failure, 2);
    } else if (error) {
        struct details *details = calloc(1, sizeof *details);
        PyObject *pairs = py.PySequence_GetItem(failure, 3);
        intptr_t count = pairs ? py.PySequence_Size(pairs) : 0;
        for (intptr_t i = 0; details && i < count && i < MOST_DETAILS; i++) {
            PyObject *pair = py.PySequence_GetItem(pairs, i);
            struct AdbcErrorDetail *item = &details->items[details->count];
            item->key = copy_item(pair, 0, NULL);
            item->value = (uint8_t *)copy_item(pair, 1, &item->value_length);
            if (item->key && item->value) {
                details->count++;
            } else {
                free((void *)item->key);
                free((void *)item->value);
            }
            if (pair) py.Py_DecRef(pair);
        }
        if (pairs) py.Py_DecRef(pairs);
        error->private_data = details;
    }
    py.PyErr_Clear();
    return status;
}

/* The error of a Python exception that abi.call() did not see, such as a failed import. */
static AdbcStatusCode fail_with_exception(struct AdbcError *error)
{
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    py.PyErr_Fetch(&type, &value, &trace);
    PyObject *text = value ? py.PyObject_Str(value) : NULL, *bytes = text ? py.PyUnicode_AsUTF8String(text) : NULL;
    char *message = copy_bytes(bytes, NULL);
    fail(error, ADBC_INTERNAL, message ? message : "Python failed without saying why, or there is no memory.");
    free(message);
    PyObject *all[] = {type, value, trace, text, bytes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]) py.Py_DecRef(all[i]);
    py.PyErr_Clear();
    return ADBC_INTERNAL;
}

/* ---- the one way into Python ---- */

static PyObject *abi;      /* the module adbc_driver_informix.abi */
static PyObject *abi_call; /* its function call() */

/* Copies a result, while the GIL is held. Returns 0, or -1 with a Python exception or without memory. */
typedef int (*reader)(PyObject *result, void *into);

static AdbcStatusCode call_with_gil(struct AdbcError *error, PyObject *object, reader read, void *into,
                                    const char *method, PyObject *arguments)
{
    PyObject *all = arguments ? py.Py_BuildValue("(OsN)", object, method, arguments) : NULL;
    PyObject *answer = all ? py.PyObject_CallObject(abi_call, all) : NULL;
    PyObject *result = answer ? py.PySequence_GetItem(answer, 1) : NULL;
    AdbcStatusCode status;
    if (!result) {
        status = fail_with_exception(error);
    } else {
        status = (AdbcStatusCode)int_item(answer, 0);
        if (status != ADBC_OK)
            copy_failure(result, status, error);
        else if (read && read(result, into))
            status = fail_with_exception(error);
    }
    if (result) py.Py_DecRef(result);
    if (answer) py.Py_DecRef(answer);
    if (all) py.Py_DecRef(all);
    return status;
}

/* Call `method` of a Python object with arguments that Py_VaBuildValue makes of `format`, a tuple. `read` takes the
 * result. Any thread may call it. */
static AdbcStatusCode call(struct AdbcError *error, void *object, reader read, void *into, const char *method,
                           const char *format, ...)
{
    char message[MESSAGE];
    AdbcStatusCode status;
    va_list arguments;
    if (python_check(message, sizeof message)) return fail(error, ADBC_INVALID_STATE, message);
    if (!object) return fail(error, ADBC_INVALID_STATE, "The handle was not created, or was released.");
    int gil = py.PyGILState_Ensure();
    if (py.PyInterpreterState_GetID(py.PyInterpreterState_Get()) != 0) {
        status = fail(error, ADBC_NOT_IMPLEMENTED, "The driver works in the main interpreter only.");
    } else {
        va_start(arguments, format);
        status = call_with_gil(error, object, read, into, method, py.Py_VaBuildValue(format, arguments));
        va_end(arguments);
    }
    py.PyGILState_Release(gil);
    return status;
}

/* Drop a reference to a Python object from any thread. In a fork, and after Python has ended, it is leaked. */
static void drop(void *object)
{
    char message[MESSAGE];
    if (!object || python_check(message, sizeof message)) return;
    int gil = py.PyGILState_Ensure();
    py.Py_DecRef(object);
    py.PyGILState_Release(gil);
}

/* ---- arguments: converters for Py_BuildValue's "O&" ---- */

struct span { const void *data; size_t length; };

static PyObject *bytes_of(void *span)
{
    const struct span *given = span;
    return py.PyBytes_FromStringAndSize(given->data, (intptr_t)given->length);
}

static int append(PyObject *list, PyObject *item)
{
    int result = item ? py.PyList_Append(list, item) : -1;
    if (item) py.Py_DecRef(item);
    return result;
}

/* A list of texts, which a NULL ends. */
static PyObject *list_of_texts(void *texts)
{
    PyObject *list = py.PyList_New(0);
    for (const char **text = texts; list && *text; text++)
        if (append(list, py.Py_BuildValue("s", *text))) {
            py.Py_DecRef(list);
            return NULL;
        }
    return list;
}

static PyObject *list_of_numbers(void *span)
{
    const struct span *given = span;
    PyObject *list = py.PyList_New(0);
    for (size_t i = 0; list && i < given->length; i++)
        if (append(list, py.Py_BuildValue("k", (unsigned long)((const uint32_t *)given->data)[i]))) {
            py.Py_DecRef(list);
            return NULL;
        }
    return list;
}

#define ADDRESS(pointer) ((unsigned long long)(uintptr_t)(pointer))

/* ---- results: readers ---- */

static int read_object(PyObject *result, void *into)
{
    py.Py_IncRef(result);
    *(PyObject **)into = result;
    return 0;
}

static int read_int(PyObject *result, void *into)
{
    *(int64_t *)into = py.PyLong_AsLongLong(result);
    return py.PyErr_Occurred() ? -1 : 0;
}

static int read_double(PyObject *result, void *into)
{
    *(double *)into = py.PyFloat_AsDouble(result);
    return py.PyErr_Occurred() ? -1 : 0;
}

/* A buffer of the caller and its size, to be set to the size of the value. */
struct buffer { void *data; size_t *size; };

static int read_bytes(PyObject *result, void *into)
{
    struct buffer *buffer = into;
    char *data;
    intptr_t size;
    if (py.PyBytes_AsStringAndSize(result, &data, &size)) return -1;
    if ((size_t)size <= *buffer->size && size) memcpy(buffer->data, data, (size_t)size);
    *buffer->size = (size_t)size;
    return 0;
}

/* ---- streams ---- */

/* A stream that pyarrow has exported, and the Stream of abi.py behind it, which has its last exception. */
struct stream {
    struct ArrowArrayStream inner;
    PyObject *source;
    AdbcStatusCode status;
    struct AdbcError error;
};

/* Keep the error of the Python iterator; the stream itself would pass on its text only. */
static int keep_error(struct stream *stream, int code)
{
    if (!code) return 0;
    stream->error.vendor_code = ADBC_HAS_PRIVATE_DATA;
    AdbcStatusCode status = call(&stream->error, stream->source, NULL, NULL, "raise_failure", "()");
    if (status == ADBC_OK) { /* not an error of the iterator */
        const char *text = stream->inner.get_last_error(&stream->inner);
        status = fail(&stream->error, ADBC_INTERNAL, text ? text : "The stream failed.");
    }
    stream->status = status;
    return status == ADBC_CANCELLED ? ECANCELED : code;
}

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *schema)
{
    struct stream *stream = self->private_data;
    return keep_error(stream, stream->inner.get_schema(&stream->inner, schema));
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *array)
{
    struct stream *stream = self->private_data;
    char message[MESSAGE];
    if (python_check(message, sizeof message)) {
        stream->error.vendor_code = ADBC_HAS_PRIVATE_DATA;
        stream->status = fail(&stream->error, ADBC_INVALID_STATE, message);
        return EINVAL;
    }
    return keep_error(stream, stream->inner.get_next(&stream->inner, array));
}

static const char *stream_error(struct ArrowArrayStream *self)
{
    return ((struct stream *)self->private_data)->error.message;
}

static void free_stream(struct stream *stream)
{
    char message[MESSAGE];
    if (stream->inner.release && !python_check(message, sizeof message)) stream->inner.release(&stream->inner);
    drop(stream->source);
    if (stream->error.release) stream->error.release(&stream->error);
    free(stream);
}

static void stream_release(struct ArrowArrayStream *self)
{
    free_stream(self->private_data);
    self->private_data = NULL;
    self->release = NULL;
}

static const struct AdbcError *error_of_stream(struct ArrowArrayStream *self, AdbcStatusCode *status)
{
    if (self->release != stream_release) return NULL;
    struct stream *stream = self->private_data;
    if (status) *status = stream->status;
    return stream->error.release ? &stream->error : NULL;
}

/* Give a stream to the caller if the call that exported it succeeded, else free it. */
static AdbcStatusCode give_stream(AdbcStatusCode status, struct stream *stream, struct ArrowArrayStream *out)
{
    if (status != ADBC_OK) {
        free_stream(stream);
        return status;
    }
    *out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, stream};
    return status;
}

static struct stream *new_stream(struct AdbcError *error)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream) fail(error, ADBC_INTERNAL, "There is no memory.");
    return stream;
}

/* Call a method that exports a stream to the address that is its first argument, and returns its Stream. */
#define STREAM(object, method, format, ...)                                                                            \
    struct stream *stream = new_stream(error);                                                                         \
    if (!stream) return ADBC_INTERNAL;                                                                                 \
    return give_stream(call(error, object, read_object, &stream->source, method, format,                               \
                            ADDRESS(&stream->inner), ##__VA_ARGS__), stream, out)

/* ---- options, which all three kinds of handles have ---- */

static AdbcStatusCode get_option(struct AdbcError *error, void *object, const char *key, const char *kind, reader read,
                                 void *into)
{
    return call(error, object, read, into, "get_option", "(ss)", key, kind);
}

#define OPTIONS(KIND)                                                                                                  \
    static AdbcStatusCode KIND##SetOption(struct Adbc##KIND *self, const char *key, const char *value,                 \
                                          struct AdbcError *error)                                                     \
    {                                                                                                                  \
        return call(error, self->private_data, NULL, NULL, "set_option", "(sz)", key, value);                          \
    }                                                                                                                  \
    static AdbcStatusCode KIND##SetOptionBytes(struct Adbc##KIND *self, const char *key, const uint8_t *value,         \
                                               size_t length, struct AdbcError *error)                                 \
    {                                                                                                                  \
        struct span span = {value, length};                                                                            \
        return call(error, self->private_data, NULL, NULL, "set_option", "(sO&)", key, bytes_of, &span);               \
    }                                                                                                                  \
    static AdbcStatusCode KIND##SetOptionDouble(struct Adbc##KIND *self, const char *key, double value,                \
                                                struct AdbcError *error)                                               \
    {                                                                                                                  \
        return call(error, self->private_data, NULL, NULL, "set_option", "(sd)", key, value);                          \
    }                                                                                                                  \
    static AdbcStatusCode KIND##SetOptionInt(struct Adbc##KIND *self, const char *key, int64_t value,                  \
                                             struct AdbcError *error)                                                  \
    {                                                                                                                  \
        return call(error, self->private_data, NULL, NULL, "set_option", "(sL)", key, (long long)value);               \
    }                                                                                                                  \
    static AdbcStatusCode KIND##GetOption(struct Adbc##KIND *self, const char *key, char *value, size_t *length,       \
                                          struct AdbcError *error)                                                     \
    {                                                                                                                  \
        struct buffer buffer = {value, length};                                                                        \
        return get_option(error, self->private_data, key, "string", read_bytes, &buffer);                              \
    }                                                                                                                  \
    static AdbcStatusCode KIND##GetOptionBytes(struct Adbc##KIND *self, const char *key, uint8_t *value,               \
                                               size_t *length, struct AdbcError *error)                                \
    {                                                                                                                  \
        struct buffer buffer = {value, length};                                                                        \
        return get_option(error, self->private_data, key, "bytes", read_bytes, &buffer);                               \
    }                                                                                                                  \
    static AdbcStatusCode KIND##GetOptionDouble(struct Adbc##KIND *self, const char *key, double *value,               \
                                                struct AdbcError *error)                                               \
    {                                                                                                                  \
        return get_option(error, self->private_data, key, "double", read_double, value);                               \
    }                                                                                                                  \
    static AdbcStatusCode KIND##GetOptionInt(struct Adbc##KIND *self, const char *key, int64_t *value,                 \
                                             struct AdbcError *error)                                                  \
    {                                                                                                                  \
        return get_option(error, self->private_data, key, "int", read_int, value);                                     \
    }                                                                                                                  \
    static AdbcStatusCode KIND##Release(struct Adbc##KIND *self, struct AdbcError *error)                              \
    {                                                                                                                  \
        return release_handle(error, &self->private_data);                                                             \
    }

/* Release a handle. In a fork, and after Python has ended, there is nothing to be done. */
static AdbcStatusCode release_handle(struct AdbcError *error, void **handle)
{
    char message[MESSAGE];
    AdbcStatusCode status = ADBC_OK;
    if (!*handle) return fail(error, ADBC_INVALID_STATE, "The handle was not created, or was released.");
    if (!python_check(message, sizeof message)) status = call(error, *handle, NULL, NULL, "release", "()");
    drop(*handle);
    *handle = NULL;
    return status;
}

OPTIONS(Database)
OPTIONS(Connection)
OPTIONS(Statement)

/* ---- databases ---- */

static AdbcStatusCode DatabaseNew(struct AdbcDatabase *self, struct AdbcError *error)
{
    return call(error, abi, read_object, &self->private_data, "Database", "()");
}

static AdbcStatusCode DatabaseInit(struct AdbcDatabase *self, struct AdbcError *error)
{
    return call(error, self->private_data, NULL, NULL, "init", "()");
}

/* ---- connections ---- */

static AdbcStatusCode ConnectionNew(struct AdbcConnection *self, struct AdbcError *error)
{
    return call(error, abi, read_object, &self->private_data, "Connection", "()");
}

static AdbcStatusCode ConnectionInit(struct AdbcConnection *self, struct AdbcDatabase *database, struct AdbcError *error)
{
    if (!database->private_data) return fail(error, ADBC_INVALID_STATE, "The database was not created, or was released.");
    return call(error, self->private_data, NULL, NULL, "init", "(O)", database->private_data);
}

static AdbcStatusCode ConnectionCommit(struct AdbcConnection *self, struct AdbcError *error)
{
    return call(error, self->private_data, NULL, NULL, "commit", "()");
}

static AdbcStatusCode ConnectionRollback(struct AdbcConnection *self, struct AdbcError *error)
{
    return call(error, self->private_data, NULL, NULL, "rollback", "()");
}

static AdbcStatusCode ConnectionCancel(struct AdbcConnection *self, struct AdbcError *error)
{
    return call(error, self->private_data, NULL, NULL, "cancel", "()");
}

static AdbcStatusCode ConnectionGetInfo(struct AdbcConnection *self, const uint32_t *codes, size_t length,
                                        struct ArrowArrayStream *out, struct AdbcError *error)
{
    struct span span = {codes, length};
    if (!codes) { STREAM(self->private_data, "get_info", "(K)"); }
    STREAM(self->private_data, "get_info", "(KO&)", list_of_numbers, &span);
}

static AdbcStatusCode ConnectionGetObjects(struct AdbcConnection *self, int depth, const char *catalog,
                                           const char *schema, const char *table, const char **types,
                                           const char *column, struct ArrowArrayStream *out, struct AdbcError *error)
{
    if (!types) { STREAM(self->private_data, "get_objects", "(Kizzzz)", depth, catalog, schema, table, column); }
    STREAM(self->private_data, "get_objects", "(KizzzzO&)", depth, catalog, schema, table, column, list_of_texts, types);
}

static AdbcStatusCode ConnectionGetTableSchema(struct AdbcConnection *self, const char *catalog, const char *schema,
                                               const char *table, struct ArrowSchema *out, struct AdbcError *error)
{
    return call(error, self->private_data, NULL, NULL, "get_table_schema", "(Kzzz)", ADDRESS(out), catalog, schema, table);
}

static AdbcStatusCode ConnectionGetTableTypes(struct AdbcConnection *self, struct ArrowArrayStream *out,
                                              struct AdbcError *error)
{
    STREAM(self->private_data, "get_table_types", "(K)");
}

static AdbcStatusCode ConnectionGetStatistics(struct AdbcConnection *self, const char *catalog, const char *schema,
                                              const char *table, char approximate, struct ArrowArrayStream *out,
                                              struct AdbcError *error)
{
    STREAM(self->private_data, "get_statistics", "(Kzzzi)", catalog, schema, table, (int)approximate);
}

static AdbcStatusCode ConnectionGetStatisticNames(struct AdbcConnection *self, struct ArrowArrayStream *out,
                                                  struct AdbcError *error)
{
    STREAM(self->private_data, "get_statistic_names", "(K)");
}

static AdbcStatusCode ConnectionReadPartition(struct AdbcConnection *self, const uint8_t *partition, size_t length,
                                              struct ArrowArrayStream *out, struct AdbcError *error)
{
    struct span span = {partition, length};
    STREAM(self->private_data, "read_partition", "(KO&)", bytes_of, &span);
}

/* ---- statements ---- */

static AdbcStatusCode StatementNew(struct AdbcConnection *connection, struct AdbcStatement *self, struct AdbcError *error)
{
    return call(error, connection->private_data, read_object, &self->private_data, "statement", "()");
}

static AdbcStatusCode StatementSetSqlQuery(struct AdbcStatement *self, const char *sql, struct AdbcError *error)
{
    return call(error, self->private_data, NULL, NULL, "set_sql_query", "(s)", sql);
}

static AdbcStatusCode StatementSetSubstraitPlan(struct AdbcStatement *self, const uint8_t *plan, size_t length,
                                                struct AdbcError *error)
{
    (void)self, (void)plan, (void)length;
    return fail(error, ADBC_NOT_IMPLEMENTED, "Substrait plans are not supported. Set a query in SQL.");
}

static AdbcStatusCode StatementPrepare(struct AdbcStatement *self, struct AdbcError *error)
{
    return call(error, self->private_data, NULL, NULL, "prepare", "()");
}

static AdbcStatusCode StatementGetParameterSchema(struct AdbcStatement *self, struct ArrowSchema *out,
                                                  struct AdbcError *error)
{
    return call(error, self->private_data, NULL, NULL, "get_parameter_schema", "(K)", ADDRESS(out));
}

static AdbcStatusCode StatementBind(struct AdbcStatement *self, struct ArrowArray *values, struct ArrowSchema *schema,
                                    struct AdbcError *error)
{
    return call(error, self->private_data, NULL, NULL, "bind", "(KK)", ADDRESS(values), ADDRESS(schema));
}

static AdbcStatusCode StatementBindStream(struct AdbcStatement *self, struct ArrowArrayStream *stream,
                                          struct AdbcError *error)
{
    return call(error, self->private_data, NULL, NULL, "bind_stream", "(K)", ADDRESS(stream));
}

static AdbcStatusCode StatementExecuteSchema(struct AdbcStatement *self, struct ArrowSchema *out, struct AdbcError *error)
{
    return call(error, self->private_data, NULL, NULL, "execute_schema", "(K)", ADDRESS(out));
}

static AdbcStatusCode StatementExecuteQuery(struct AdbcStatement *self, struct ArrowArrayStream *out, int64_t *rows,
                                            struct AdbcError *error)
{
    AdbcStatusCode status;
    int64_t affected = -1;
    if (!out) {
        status = call(error, self->private_data, read_int, &affected, "execute_update", "()");
    } else {
        struct stream *stream = new_stream(error);
        if (!stream) return ADBC_INTERNAL;
        status = call(error, self->private_data, read_object, &stream->source, "execute_query", "(K)",
                      ADDRESS(&stream->inner));
        if (status == ADBC_OK) status = call(error, stream->source, read_int, &affected, "rows_affected", "()");
        give_stream(status, stream, out);
    }
    if (rows && status == ADBC_OK) *rows = affected;
    return status;
}

static void release_partitions(struct AdbcPartitions *self)
{
    for (size_t i = 0; i < self->num_partitions; i++) free((void *)self->partitions[i]);
    free((void *)self->partitions);
    free((void *)self->partition_lengths);
    memset(self, 0, sizeof *self);
}

static int read_partitions(PyObject *result, void *into)
{
    struct AdbcPartitions *out = into;
    intptr_t count = py.PySequence_Size(result);
    if (count < 0) return -1;
    const uint8_t **partitions = calloc((size_t)count + 1, sizeof *partitions);
    size_t *lengths = calloc((size_t)count + 1, sizeof *lengths);
    *out = (struct AdbcPartitions){0, partitions, lengths, partitions, release_partitions};
    for (intptr_t i = 0; partitions && lengths && i < count; i++) {
        partitions[i] = (uint8_t *)copy_item(result, i, &lengths[i]);
        if (!partitions[i]) break;
        out->num_partitions++;
    }
    if (out->num_partitions == (size_t)count && partitions && lengths) return 0;
    release_partitions(out);
    return -1;
}

static AdbcStatusCode StatementExecutePartitions(struct AdbcStatement *self, struct ArrowSchema *schema,
                                                 struct AdbcPartitions *out, int64_t *rows, struct AdbcError *error)
{
    if (rows) *rows = -1;
    return call(error, self->private_data, read_partitions, out, "execute_partitions", "(K)", ADDRESS(schema));
}

static AdbcStatusCode StatementCancel(struct AdbcStatement *self, struct AdbcError *error)
{
    return call(error, self->private_data, NULL, NULL, "cancel", "()");
}

/* ---- the entry point ---- */

/* Python and its packages stay: other databases may be open, and they cannot be loaded twice. */
static AdbcStatusCode release_driver(struct AdbcDriver *driver, struct AdbcError *error)
{
    (void)error;
    driver->private_data = NULL;
    driver->release = NULL;
    return ADBC_OK;
}

/* Import the Python half, once. */
static AdbcStatusCode import_abi(struct AdbcError *error)
{
    AdbcStatusCode status = ADBC_OK;
    int gil = py.PyGILState_Ensure();
    if (!abi_call) {
        PyObject *module = py.PyImport_ImportModule("adbc_driver_informix.abi");
        PyObject *function = module ? py.PyObject_GetAttrString(module, "call") : NULL;
        PyObject *interface = function ? py.PyObject_GetAttrString(module, "INTERFACE") : NULL;
        if (!interface) {
            status = fail_with_exception(error);
        } else if (py.PyLong_AsLongLong(interface) != INTERFACE) {
            status = fail(error, ADBC_INVALID_STATE, "The library and the installed informix-arrow are of different "
                          "releases. Run `informix-arrow adbc-manifest` again.");
        } else {
            py.Py_IncRef(module); /* both are kept for ever */
            py.Py_IncRef(function);
            abi = module;
            abi_call = function;
        }
        PyObject *all[] = {module, function, interface};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (all[i]) py.Py_DecRef(all[i]);
    }
    py.PyGILState_Release(gil);
    return status;
}

#define BOTH(function) .function = function
#define OPTION_FUNCTIONS(KIND)                                                                                         \
    BOTH(KIND##GetOption), BOTH(KIND##GetOptionBytes), BOTH(KIND##GetOptionDouble), BOTH(KIND##GetOptionInt),          \
    BOTH(KIND##SetOptionBytes), BOTH(KIND##SetOptionDouble), BOTH(KIND##SetOptionInt)

static const struct AdbcDriver FUNCTIONS = {
    .private_data = &abi,
    .release = release_driver,
    BOTH(DatabaseInit), BOTH(DatabaseNew), BOTH(DatabaseSetOption), BOTH(DatabaseRelease),
    BOTH(ConnectionCommit), BOTH(ConnectionGetInfo), BOTH(ConnectionGetObjects), BOTH(ConnectionGetTableSchema),
    BOTH(ConnectionGetTableTypes), BOTH(ConnectionInit), BOTH(ConnectionNew), BOTH(ConnectionSetOption),
    BOTH(ConnectionReadPartition), BOTH(ConnectionRelease), BOTH(ConnectionRollback),
    BOTH(StatementBind), BOTH(StatementBindStream), BOTH(StatementExecuteQuery), BOTH(StatementExecutePartitions),
    BOTH(StatementGetParameterSchema), BOTH(StatementNew), BOTH(StatementPrepare), BOTH(StatementRelease),
    BOTH(StatementSetOption), BOTH(StatementSetSqlQuery), BOTH(StatementSetSubstraitPlan),
    .ErrorGetDetailCount = detail_count, .ErrorGetDetail = get_detail, .ErrorFromArrayStream = error_of_stream,
    BOTH(ConnectionCancel), BOTH(ConnectionGetStatistics), BOTH(ConnectionGetStatisticNames),
    BOTH(StatementCancel), BOTH(StatementExecuteSchema),
    OPTION_FUNCTIONS(Database), OPTION_FUNCTIONS(Connection), OPTION_FUNCTIONS(Statement),
};

EXPORT AdbcStatusCode AdbcDriverInit(int version, void *driver, struct AdbcError *error)
{
    char message[MESSAGE];
    size_t size;
    if (version == ADBC_1_0) {
        size = ADBC_DRIVER_1_0_SIZE;
    } else if (version == ADBC_1_1) {
        size = sizeof FUNCTIONS;
    } else {
        return fail(error, ADBC_NOT_IMPLEMENTED, "ADBC 1.0 and 1.1 are supported.");
    }
    if (!driver) return fail(error, ADBC_INVALID_ARGUMENT, "There is no structure for the driver's functions.");
    if (python_start(message, sizeof message)) return fail(error, ADBC_INVALID_STATE, message);
    AdbcStatusCode status = import_abi(error);
    if (status != ADBC_OK) return status;
    void *manager = ((struct AdbcDriver *)driver)->private_manager;
    memcpy(driver, &FUNCTIONS, size);
    ((struct AdbcDriver *)driver)->private_manager = manager;
    return ADBC_OK;
}

/* The name that driver managers derive from the library's. */
EXPORT AdbcStatusCode AdbcDriverInformixInit(int version, void *driver, struct AdbcError *error)
{
    return AdbcDriverInit(version, driver, error);
}
