/* .unl files, which LOAD and UNLOAD know: the Python side of decode_unl.h and unl_write.h. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "native/decode_python.h"
#include "native/decode_unl.h"
#include "native/module.h"
#include "native/plan.h"
#include "native/stable_api.h"
#include "native/unl_write.h"

/* ---- the format, as Python says it --------------------------------------------------------------------------- */

/* (delimiter, order, separator, year digits, century, today, decimal point, front, back), checked by unl/dialect.py. */
static int format_from(PyObject *object, struct ia_unl_format *f)
{
    int delimiter, separator, year_digits, century, today, point;
    const char *order, *front, *back;
    Py_ssize_t order_size, front_size, back_size;
    PyObject *tuple = PySequence_Tuple(object);
    memset(f, 0, sizeof *f);
    if (!tuple)
        return -1;
    if (!PyArg_ParseTuple(tuple, "iy#iiiiiy#y#;the format of a .unl file has nine parts", &delimiter, &order, &order_size,
                          &separator, &year_digits, &century, &today, &point, &front, &front_size, &back, &back_size)) {
        Py_DECREF(tuple);
        return -1;
    }
    const int ok = delimiter > 0 && delimiter < 128 && delimiter != '\\' && delimiter != '\n' && delimiter != '\r' &&
                   ia_unl_nibble((uint8_t)delimiter) < 0 && order_size == 3 && memchr(order, 'D', 3) &&
                   memchr(order, 'M', 3) && memchr(order, 'Y', 3) && separator >= 0 && separator < 128 &&
                   (year_digits == 2 || year_digits == 4) && century > 0 && century < 128 && strchr("RPFC", century) &&
                   today > -719162 && today < 2932896 && (point == '.' || point == ',') && front_size <= IA_UNL_SYMBOL &&
                   back_size <= IA_UNL_SYMBOL;
    if (ok) {
        f->delimiter = (uint8_t)delimiter;
        memcpy(f->order, order, 3);
        f->separator = (uint8_t)separator;
        f->year_digits = (uint8_t)year_digits;
        f->century = (uint8_t)century;
        f->today = today;
        f->point = (uint8_t)point;
        f->front_size = (int)front_size;
        f->back_size = (int)back_size;
        memcpy(f->front, front, (size_t)front_size);
        memcpy(f->back, back, (size_t)back_size);
    } else {
        PyErr_SetString(PyExc_ValueError, "A part of the format of a .unl file is not valid.");
    }
    Py_DECREF(tuple);
    return ok ? 0 : -1;
}

/* The ops of at least one column; NULL with an exception set. */
static struct ia_op *columns_from(PyObject *sequence, Py_ssize_t *count)
{
    struct ia_op *ops = ia_ops_from(sequence, count);
    if (ops && *count < 1) {
        PyErr_SetString(PyExc_ValueError, "A line of a .unl file needs at least one column.");
        PyMem_Free(ops);
        return NULL;
    }
    return ops;
}

/* Set the attributes that say which argument of the caller would help, if any. */
static int set_hint(PyObject *error, const struct ia_error *from)
{
    if (!from || !from->hint)
        return 0;
    PyObject *hint = PyUnicode_FromString(from->hint), *argument = PyUnicode_FromString(from->argument);
    const int rc = hint && argument && PyObject_SetAttrString(error, "hint", hint) == 0
                       ? PyObject_SetAttrString(error, "hint_argument", argument)
                       : -1;
    Py_XDECREF(hint);
    Py_XDECREF(argument);
    return rc;
}

/* Raise DataError(place + message + hint) with .place, .row, .column and the hint that `from` has, if any. Takes over `place`
 * and `message`. */
static void raise_data_error(PyTypeObject *type, PyObject *place, PyObject *message, long long at, PyObject *name,
                             const struct ia_error *from)
{
    if (message && from && from->hint) {
        PyObject *more = PyUnicode_FromFormat("%U %s", message, from->hint);
        Py_DECREF(message);
        message = more;
    }
    const struct ia_module_state *state = PyType_GetModuleState(type);
    PyObject *row = PyLong_FromLongLong(at);
    PyObject *text = place && message ? PyUnicode_Concat(place, message) : NULL;
    PyObject *error = text && row ? PyObject_CallFunctionObjArgs(state->data_error, text, NULL) : NULL;
    if (error && PyObject_SetAttrString(error, "place", place) == 0 && PyObject_SetAttrString(error, "row", row) == 0 &&
        PyObject_SetAttrString(error, "column", name) == 0 && set_hint(error, from) == 0)
        PyErr_SetObject(state->data_error, error);
    Py_XDECREF(error);
    Py_XDECREF(text);
    Py_XDECREF(row);
    Py_XDECREF(place);
    Py_XDECREF(message);
}

/* ---- Reader -------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    struct ia_unl_reader core;
    PyObject *names, *types; /* tuples of str: columns and their declared types, for errors */
    PyObject *source;        /* the file's name, for errors */
    char busy;
} Reader;

static void raise_reader_error(Reader *self)
{
    const struct ia_error *error = &self->core.core.error;
    if (error->status == IA_NO_MEMORY) {
        PyErr_NoMemory();
        return;
    }
    const long long line = (long long)self->core.error_line;
    PyObject *name = error->column >= 0 ? PyTuple_GetItem(self->names, error->column) : Py_None;
    PyObject *place = PyUnicode_FromFormat("%U, line %lld", self->source, line);
    PyObject *message =
        error->column >= 0 ? PyUnicode_FromFormat(", column %R (field %d, %U): %s", name, error->column + 1,
                                                  PyTuple_GetItem(self->types, error->column), error->detail)
                           : PyUnicode_FromFormat(": %s", error->detail);
    raise_data_error(Py_TYPE((PyObject *)self), place, message, (long long)error->row, name, error);
    self->core.core.error.hint = self->core.core.error.argument = NULL;
}

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"source",     "ops",         "names",      "types", "format", "batch_rows",
                               "batch_bytes", "join_lines", "empty_text", NULL};
    PyObject *source, *ops_object, *names, *types, *format;
    long long batch_rows, batch_bytes;
    int join = 0, empty = 0, bad;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "UOOOO$LLpp:Reader", keywords, &source, &ops_object, &names, &types,
                                     &format, &batch_rows, &batch_bytes, &join, &empty))
        return NULL;
    if (batch_rows < 1 || batch_bytes < 1) {
        PyErr_SetString(PyExc_ValueError, "batch_rows and batch_bytes must be positive.");
        return NULL;
    }
    Reader *self = ia_instance(type);
    if (!self)
        return NULL;
    Py_ssize_t count = 0;
    struct ia_op *ops = columns_from(ops_object, &count);
    self->source = Py_NewRef(source);
    if (!ops || !(self->names = ia_names_from(names, count)) || !(self->types = ia_names_from(types, count)) ||
        format_from(format, &self->core.format))
        goto failed;
    const char *wrong = ia_decoder_init(&self->core.core, ops, (int)count, batch_rows, batch_bytes, INT32_MAX, NULL, &bad);
    for (Py_ssize_t i = 0; !wrong && i < count; i++) {
        const int kind = ops[i].kind;
        if (kind == IA_LOB || kind == IA_FLOAT32 || kind == IA_FLOAT64 || kind == IA_DECIMAL_FLOAT64 ||
            kind >= IA_DECIMAL_INT64) {
            wrong = "a .unl file is not read into this kind";
            bad = (int)i;
        }
    }
    if (wrong) {
        if (bad >= 0)
            ia_op_refused(PyTuple_GetItem(self->names, bad), &ops[bad], wrong);
        else
            PyErr_NoMemory();
        goto failed;
    }
    self->core.format.join = join;
    self->core.format.empty = empty;
    if (ia_unl_reader_init(&self->core)) {
        PyErr_NoMemory();
        goto failed;
    }
    PyMem_Free(ops);
    return (PyObject *)self;
failed:
    PyMem_Free(ops);
    Py_DECREF(self);
    return NULL;
}

static void reader_dealloc(PyObject *object)
{
    Reader *self = (Reader *)object;
    ia_unl_reader_free(&self->core);
    Py_XDECREF(self->names);
    Py_XDECREF(self->types);
    Py_XDECREF(self->source);
    ia_instance_free(object);
}

PyDoc_STRVAR(feed_doc,
             "feed(data, start, end, final, /)\n--\n\n"
             "Read the rows in data[start:end], a bytes-like object with UTF-8 text. `final` is true if the file\n"
             "ends there.\n\n"
             "Returns (position, full). The next feed has to begin at position, the index after the last whole row.\n"
             "full is true if the batch is complete: call take(). The GIL is released.\n\n"
             "Raises DataError with the file, line and column in its text, and with .row (from 0) and .column set.\n"
             "The whole rows before the error can be taken. Nothing can be fed after it.");

static PyObject *reader_feed(PyObject *object, PyObject *const *args, Py_ssize_t nargs)
{
    Reader *self = (Reader *)object;
    struct ia_span span;
    if (nargs != 4) {
        PyErr_Format(PyExc_TypeError, "feed() takes 4 arguments (data, start, end, final), not %zd.", nargs);
        return NULL;
    }
    const int final = PyObject_IsTrue(args[3]);
    if (final < 0 || ia_span_enter(args, &span, &self->busy, "Reader"))
        return NULL;
    const uint8_t *stop = span.data;
    enum ia_status status;
    Py_BEGIN_ALLOW_THREADS
    status = ia_unl_feed(&self->core, span.data + span.start, span.data + span.end, final, &stop);
    Py_END_ALLOW_THREADS
    PyObject *result = NULL;
    if (status < 0)
        raise_reader_error(self);
    else
        result = Py_BuildValue("nO", (Py_ssize_t)(stop - span.data), status == IA_FULL ? Py_True : Py_False);
    ia_span_leave(&span, &self->busy);
    return result;
}

PyDoc_STRVAR(skip_doc,
             "skip(data, start, end, final, rows, /)\n--\n\n"
             "Skip up to `rows` rows of data[start:end] without converting them.\n\n"
             "Returns (position, skipped): the index after the last skipped row, and how many rows were skipped.\n"
             "Raises DataError if a row has too many or too few fields, as feed() does.");

static PyObject *reader_skip(PyObject *object, PyObject *const *args, Py_ssize_t nargs)
{
    Reader *self = (Reader *)object;
    struct ia_span span;
    if (nargs != 5) {
        PyErr_Format(PyExc_TypeError, "skip() takes 5 arguments (data, start, end, final, rows), not %zd.", nargs);
        return NULL;
    }
    const long long most = PyLong_AsLongLong(args[4]);
    const int final = PyObject_IsTrue(args[3]);
    if ((most == -1 && PyErr_Occurred()) || final < 0 || ia_span_enter(args, &span, &self->busy, "Reader"))
        return NULL;
    const uint8_t *stop = span.data;
    int64_t rows;
    Py_BEGIN_ALLOW_THREADS
    rows = ia_unl_skip(&self->core, span.data + span.start, span.data + span.end, final, most, &stop);
    Py_END_ALLOW_THREADS
    PyObject *result = NULL;
    if (rows < 0)
        raise_reader_error(self);
    else
        result = Py_BuildValue("nL", (Py_ssize_t)(stop - span.data), (long long)rows);
    ia_span_leave(&span, &self->busy);
    return result;
}

PyDoc_STRVAR(take_doc,
             "take()\n--\n\n"
             "Return the open batch as an 'arrow_array' capsule, and start the next batch.\n\n"
             "The capsule holds a struct array with one child per column. It may have 0 rows.");

static PyObject *reader_take(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Reader *self = (Reader *)object;
    if (ia_enter(&self->busy, "Reader"))
        return NULL;
    PyObject *const capsule = ia_take_capsule(&self->core.core);
    ia_leave(&self->busy);
    return capsule;
}

static PyObject *reader_number(PyObject *object, void *which)
{
    Reader *self = (Reader *)object;
    if (ia_enter(&self->busy, "Reader"))
        return NULL;
    const int64_t v = which ? self->core.core.rows : self->core.line;
    ia_leave(&self->busy);
    return PyLong_FromLongLong(v);
}

static PyMethodDef reader_methods[] = {
    {"feed", (PyCFunction)(void (*)(void))reader_feed, METH_FASTCALL, feed_doc},
    {"skip", (PyCFunction)(void (*)(void))reader_skip, METH_FASTCALL, skip_doc},
    {"take", reader_take, METH_NOARGS, take_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef reader_getset[] = {
    {"rows", reader_number, NULL, "Number of rows in the open batch.", (void *)"rows"},
    {"line", reader_number, NULL, "Number of the line in which the next row begins, from 1.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(reader_doc,
             "Reader(source, ops, names, types, format, *, batch_rows, batch_bytes, join_lines, empty_text)\n"
             "--\n\n"
             "Convert the lines of a .unl file to Arrow record batches.\n\n"
             "source       the name of the file, for errors\n"
             "ops          one (kind, width, arg, flags) per column, with the numbers of plan.h\n"
             "names        the names of the columns, for errors\n"
             "types        the declared types of the columns, for errors\n"
             "format       Dialect.as_tuple()\n"
             "batch_rows   maximum number of rows in a batch\n"
             "batch_bytes  maximum number of Arrow bytes in a batch; a larger row is a batch of its own\n"
             "join_lines   True: a line break belongs to the text if the row still has too few fields\n"
             "empty_text   True: an empty field of a text column is the empty text, not NULL\n\n"
             "Raises ValueError for an invalid op. Use it in one thread at a time. A call while another one runs\n"
             "raises RuntimeError.");

static PyType_Slot reader_slots[] = {
    {Py_tp_doc, (void *)reader_doc},    {Py_tp_new, reader_new},       {Py_tp_dealloc, reader_dealloc},
    {Py_tp_methods, reader_methods}, {Py_tp_getset, reader_getset}, {0, NULL},
};

static PyType_Spec reader_spec = {
    .name = "informix_arrow._unl.Reader",
    .basicsize = sizeof(Reader),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = reader_slots,
};

/* ---- Writer -------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    struct ia_out_format format;
    struct ia_out_column *columns;
    struct ia_power *powers; /* where a column is a float */
    int count;
    PyObject *names, *types;
    char busy;
} Writer;

static PyObject *fault_reason(const struct ia_out_fault *f, PyObject *type)
{
    switch (f->status) {
    case IA_OUT_YEAR:
        return PyUnicode_FromFormat("The date is outside the range of %U, 0001-01-01 to 9999-12-31.", type);
    case IA_OUT_TIME:
        return PyUnicode_FromString("The time is outside 00:00:00 to 23:59:59.");
    case IA_OUT_FINER:
        return PyUnicode_FromFormat("The value has more precision than %U can store. Truncate or round it first.", type);
    case IA_OUT_LEADING:
        return PyUnicode_FromFormat("The first field of the value has more digits than %U can store.", type);
    case IA_OUT_CLASS:
        return PyUnicode_FromFormat("The value has both months and days or times, but %U stores only one of them.", type);
    case IA_OUT_CENTURY:
        return PyUnicode_FromString("The two digits of the year would be read as another century. Write years with "
                                    "four digits (dbdate=\"MDY4/\"), or set dbcentury=.");
    case IA_OUT_BLANK:
        return PyUnicode_FromString("A text of one blank cannot be distinguished from the empty text if the "
                                    "delimiter is a blank. Choose another delimiter.");
    case IA_OUT_DIGITS:
        return PyUnicode_FromFormat("The number has more digits than %U can store.", type);
    case IA_OUT_FINITE:
        return PyUnicode_FromString("NaN and infinity cannot be written to a .unl file.");
    default:
        return PyUnicode_FromString("The string offsets of the Arrow array are inconsistent.");
    }
}

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"ops", "names", "types", "format", NULL};
    PyObject *ops_object, *names, *types, *format_object;
    struct ia_unl_format format;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOO:Writer", keywords, &ops_object, &names, &types, &format_object))
        return NULL;
    Writer *self = ia_instance(type);
    if (!self)
        return NULL;
    Py_ssize_t count = 0;
    struct ia_op *ops = columns_from(ops_object, &count);
    if (!ops || !(self->names = ia_names_from(names, count)) || !(self->types = ia_names_from(types, count)) ||
        format_from(format_object, &format))
        goto failed;
    self->format = (struct ia_out_format){
        .delimiter = format.delimiter, .point = format.point, .century = format.century, .separator = format.separator,
        .year_digits = format.year_digits, .today = format.today, .front_size = format.front_size,
        .back_size = format.back_size,
    };
    memcpy(self->format.order, format.order, sizeof format.order);
    memcpy(self->format.front, format.front, sizeof format.front);
    memcpy(self->format.back, format.back, sizeof format.back);
    self->format.odd = strchr("+-.:/ ,tf", format.delimiter) != NULL || format.delimiter == format.separator ||
                       memchr(format.front, format.delimiter, sizeof format.front) ||
                       memchr(format.back, format.delimiter, sizeof format.back);
    self->columns = PyMem_Calloc((size_t)count, sizeof *self->columns);
    if (!self->columns) {
        PyErr_NoMemory();
        goto failed;
    }
    self->count = (int)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *wrong = ia_out_column_from(&ops[i], &self->columns[i]);
        if (wrong) {
            ia_op_refused(PyTuple_GetItem(self->names, i), &ops[i], wrong);
            goto failed;
        }
        if ((ops[i].kind == IA_FLOAT32 || ops[i].kind == IA_FLOAT64) && !self->powers) {
            self->powers = PyMem_Calloc(IA_POWER_COUNT, sizeof *self->powers);
            if (!self->powers) {
                PyErr_NoMemory();
                goto failed;
            }
            ia_compute_powers_of_ten(self->powers);
            self->format.powers = self->powers;
        }
    }
    PyMem_Free(ops);
    return (PyObject *)self;
failed:
    PyMem_Free(ops);
    Py_DECREF(self);
    return NULL;
}

static void writer_dealloc(PyObject *object)
{
    Writer *self = (Writer *)object;
    PyMem_Free(self->columns);
    PyMem_Free(self->powers);
    Py_XDECREF(self->names);
    Py_XDECREF(self->types);
    ia_instance_free(object);
}

/* Bind a batch to the columns. 0, or -1 with an exception set. */
static int writer_bind(Writer *self, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    if (!schema->format || strcmp(schema->format, "+s") != 0 || schema->n_children != self->count ||
        array->n_children != self->count || array->length < 0 || array->offset < 0 ||
        array->offset > INT64_MAX / 64 - array->length) {
        PyErr_Format(PyExc_ValueError, "The batch must be a struct array of %d columns.", self->count);
        return -1;
    }
    for (int k = 0; k < self->count; k++) {
        if (ia_out_bind(&self->columns[k], schema->children[k], array->children[k], array->offset, array->length)) {
            PyErr_Format(PyExc_ValueError, "Column %R: The Arrow array does not match its op. The format '%s' was expected.",
                         PyTuple_GetItem(self->names, k), self->columns[k].format);
            return -1;
        }
    }
    return 0;
}

PyDoc_STRVAR(write_doc,
             "write(schema_capsule, array_capsule, first_row, /) -> bytearray\n--\n\n"
             "Return the lines of one record batch, which __arrow_c_array__ exported as two capsules, as UTF-8.\n\n"
             "The columns must have exactly the Arrow types of their ops. The batch is released. first_row is the\n"
             "number of its first row in errors. The GIL is released.\n\n"
             "Raises DataError with .row and .column for a value that the format cannot represent, and ValueError\n"
             "for a column of another Arrow type.");

static PyObject *writer_write(PyObject *object, PyObject *args)
{
    Writer *self = (Writer *)object;
    PyObject *schema_capsule, *array_capsule;
    long long first_row;
    if (!PyArg_ParseTuple(args, "OOL:write", &schema_capsule, &array_capsule, &first_row))
        return NULL;
    struct ArrowSchema *schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema");
    struct ArrowArray *array = schema ? PyCapsule_GetPointer(array_capsule, "arrow_array") : NULL;
    if (!array)
        return NULL;
    if (!schema->release || !array->release) {
        PyErr_SetString(PyExc_ValueError, "The Arrow capsules have been used before.");
        return NULL;
    }
    if (ia_enter(&self->busy, "Writer"))
        return NULL;
    PyObject *out = NULL;
    if (writer_bind(self, schema, array))
        goto done;
    const int64_t most = ia_out_most(self->columns, self->count, array->length);
    if (most < 0 || most > PY_SSIZE_T_MAX || !(out = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)most))) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        goto done;
    }
    uint8_t *const begin = (uint8_t *)PyByteArray_AsString(out), *end;
    struct ia_out_fault fault;
    Py_BEGIN_ALLOW_THREADS
    end = ia_out_rows(&self->format, self->columns, self->count, array->length, begin, &fault);
    Py_END_ALLOW_THREADS
    if (fault.status) {
        PyObject *const name = PyTuple_GetItem(self->names, fault.column);
        PyObject *reason = fault_reason(&fault, PyTuple_GetItem(self->types, fault.column));
        const long long row = first_row + (long long)fault.row;
        Py_CLEAR(out);
        if (reason)
            raise_data_error(Py_TYPE((PyObject *)self), PyUnicode_FromFormat("Column %R, row %lld", name, row),
                             PyUnicode_FromFormat(": %U", reason), row, name, NULL);
        Py_XDECREF(reason);
    } else {
        if (PyByteArray_Resize(out, (Py_ssize_t)(end - begin)))
            Py_CLEAR(out);
    }
done:
    ia_leave(&self->busy);
    return out;
}

static PyMethodDef writer_methods[] = {
    {"write", writer_write, METH_VARARGS, write_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(writer_doc,
             "Writer(ops, names, types, format)\n--\n\n"
             "Convert Arrow record batches to lines of a .unl file.\n\n"
             "The arguments are those of Reader. Use it in one thread at a time. A call while another one runs\n"
             "raises RuntimeError.");

static PyType_Slot writer_slots[] = {
    {Py_tp_doc, (void *)writer_doc},
    {Py_tp_new, writer_new},
    {Py_tp_dealloc, writer_dealloc},
    {Py_tp_methods, writer_methods},
    {0, NULL},
};

static PyType_Spec writer_spec = {
    .name = "informix_arrow._unl.Writer",
    .basicsize = sizeof(Writer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = writer_slots,
};

/* ---- module -------------------------------------------------------------------------------------------------- */

static int module_exec(PyObject *module)
{
    return ia_module_add_errors(module) || ia_module_add_type(module, &reader_spec) ||
                   ia_module_add_type(module, &writer_spec)
               ? -1
               : 0;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    IA_MODULE_SLOTS_END,
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_unl",
    .m_doc = "Convert .unl files to Arrow and back (see decode_unl.h and unl_write.h).",
    .m_size = sizeof(struct ia_module_state),
    .m_slots = module_slots,
    .m_traverse = ia_module_traverse,
    .m_clear = ia_module_clear,
};

PyMODINIT_FUNC PyInit__unl(void)
{
    return PyModuleDef_Init(&module_def);
}
