/* informix_arrow._changes: row images of captured changes (decode_changes.h) as a Python type. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <limits.h>
#include <stdint.h>

#include "native/decode_changes.h"
#include "native/log_records.h"
#include "native/decode_python.h"
#include "native/module.h"
#include "native/plan.h"
#include "native/stable_api.h"

typedef struct {
    PyObject_HEAD
    struct ia_changes core;
    struct ia_codepage_entry page[256];
    PyObject *names; /* tuple of str */
    PyObject *table; /* str, for errors */
    char busy;
} ImageDecoder;

static void raise_core_error(ImageDecoder *self)
{
    const struct ia_error *error = &self->core.after.error;
    if (error->status >= 0)
        error = &self->core.before.error;
    if (error->status == IA_NO_MEMORY) {
        PyErr_NoMemory();
        return;
    }
    const struct ia_module_state *state = PyType_GetModuleState(Py_TYPE((PyObject *)self));
    PyObject *cls = error->status == IA_PROTOCOL ? state->protocol_error : state->data_error;
    PyObject *name = error->column >= 0 ? PyTuple_GetItem(self->names, error->column) : Py_None;
    PyObject *message = error->column >= 0
                            ? PyUnicode_FromFormat("A change of %U, column %R, offset %lld in the row image: %s",
                                                   self->table, name, (long long)error->offset, error->detail)
                            : PyUnicode_FromFormat("A change of %U: %s", self->table, error->detail);
    PyObject *exception = message ? PyObject_CallFunctionObjArgs(cls, message, NULL) : NULL;
    if (exception && PyObject_SetAttrString(exception, "column", name) == 0)
        PyErr_SetObject(cls, exception);
    Py_XDECREF(exception);
    Py_XDECREF(message);
}

static PyObject *decoder_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"table",      "label",       "ops",       "names",    "variable",
                               "batch_rows", "batch_bytes", "max_image", "codepage", NULL};
    PyObject *table, *ops_object, *names_object, *codepage = Py_None;
    int label, variable = INT_MIN;
    long long batch_rows = LLONG_MIN, batch_bytes = LLONG_MIN, max_image = LLONG_MIN;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "UiOO|$iLLLO:ImageDecoder", keywords, &table, &label, &ops_object,
                                     &names_object, &variable, &batch_rows, &batch_bytes, &max_image, &codepage))
        return NULL;
    if (variable == INT_MIN || batch_rows == LLONG_MIN || batch_bytes == LLONG_MIN || max_image == LLONG_MIN) {
        PyErr_SetString(PyExc_TypeError,
                        "ImageDecoder() needs the keywords variable, batch_rows, batch_bytes and max_image.");
        return NULL;
    }
    if (batch_rows < 1 || batch_bytes < 1 || max_image < 0 || max_image > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "batch_rows and batch_bytes must be positive, and max_image 0 to 2147483647.");
        return NULL;
    }
    ImageDecoder *self = ia_instance(type);
    if (!self)
        return NULL;
    Py_ssize_t count = 0;
    struct ia_op *ops = NULL;
    const char *wrong;
    int bad;

    self->table = Py_NewRef(table);
    if (!(ops = ia_ops_from(ops_object, &count)) || !(self->names = ia_names_from(names_object, count)))
        goto failed;
    if (codepage != Py_None && ia_page_from(self->page, codepage))
        goto failed;
    wrong = ia_changes_init(&self->core, ops, (int)count, variable, batch_rows, batch_bytes, max_image,
                            codepage != Py_None ? self->page : NULL, &bad);
    if (wrong) {
        if (bad >= 0)
            ia_op_refused(PyTuple_GetItem(self->names, bad), &ops[bad], wrong);
        else
            PyErr_SetString(PyExc_ValueError, wrong);
        goto failed;
    }
    self->core.label = label;
    PyMem_Free(ops);
    return (PyObject *)self;
failed:
    PyMem_Free(ops);
    Py_DECREF(self);
    return NULL;
}

static void decoder_dealloc(PyObject *object)
{
    ImageDecoder *self = (ImageDecoder *)object;
    ia_changes_free(&self->core);
    Py_XDECREF(self->names);
    Py_XDECREF(self->table);
    ia_instance_free(object);
}

PyDoc_STRVAR(begin_doc,
             "begin(transaction, /)\n--\n\n"
             "Decode the rows of this transaction from now on. `transaction` is its number, of 32 bits.\n\n"
             "Raises ValueError if rows of another transaction have not been taken, or if the number has more than\n"
             "32 bits.");

static PyObject *decoder_begin(PyObject *object, PyObject *transaction)
{
    ImageDecoder *self = (ImageDecoder *)object;
    const long number = PyLong_AsLong(transaction);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    if (number < INT32_MIN || number > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "The number of a transaction must fit in 32 bits, but is %ld.", number);
        return NULL;
    }
    if (ia_enter(&self->busy, "ImageDecoder"))
        return NULL;
    const int left = self->core.after.rows || self->core.before.rows;
    if (!left)
        ia_changes_begin(&self->core, (int32_t)number);
    ia_leave(&self->busy);
    if (left) {
        PyErr_SetString(PyExc_ValueError, "The rows of another transaction were not taken.");
        return NULL;
    }
    return Py_NewRef(Py_None);
}

PyDoc_STRVAR(feed_doc,
             "feed(data, start, end, /)\n--\n\n"
             "Decode the row images of this table and transaction at the beginning of data[start:end], a bytes-like\n"
             "object.\n\n"
             "Returns (position, status). position is the index after the last whole record that was decoded. status\n"
             "is 0 (the bytes end inside a record), 1 (the next record is of another kind, table or transaction) or\n"
             "2 (the batch is complete: call take()). No byte outside data[start:end] is read. The GIL is released.\n\n"
             "Raises ProtocolError for malformed bytes, DataError for a value that does not fit its Arrow type (with\n"
             ".column set), and MemoryError. Each later feed raises the same error.");

static PyObject *decoder_feed(PyObject *object, PyObject *const *args, Py_ssize_t nargs)
{
    ImageDecoder *self = (ImageDecoder *)object;
    if (nargs != 3) {
        PyErr_Format(PyExc_TypeError, "feed() takes 3 arguments (data, start, end), not %zd.", nargs);
        return NULL;
    }
    struct ia_span span;
    if (ia_span_enter(args, &span, &self->busy, "ImageDecoder"))
        return NULL;
    const uint8_t *stop = span.data + span.start;
    enum ia_status status;
    Py_BEGIN_ALLOW_THREADS
    status = ia_changes_feed(&self->core, span.data + span.start, span.data + span.end, &stop);
    Py_END_ALLOW_THREADS
    PyObject *result = NULL;
    if (status < 0)
        raise_core_error(self);
    else
        result = Py_BuildValue("ni", (Py_ssize_t)(stop - span.data), (int)status);
    ia_span_leave(&span, &self->busy);
    return result;
}

PyDoc_STRVAR(take_doc,
             "take()\n--\n\n"
             "Return the open batch as (after, before), and start the next batch.\n\n"
             "Both are 'arrow_array' capsules of struct arrays. `after` has the rows after inserts and updates, and\n"
             "the deleted rows. `before` has the rows before updates. It is None if there was no update. The columns\n"
             "are the number of the record, its LSN, and those of the table.\n\n"
             "The first image of an update that has no second one yet is kept: see expects_after_image.");

static PyObject *decoder_take(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    ImageDecoder *self = (ImageDecoder *)object;
    if (ia_enter(&self->busy, "ImageDecoder"))
        return NULL;
    PyObject *before = self->core.before.rows ? ia_take_capsule(&self->core.before) : Py_NewRef(Py_None);
    PyObject *after = before ? ia_take_capsule(&self->core.after) : NULL;
    ia_leave(&self->busy);
    PyObject *both = after ? PyTuple_Pack(2, after, before) : NULL;
    Py_XDECREF(after);
    Py_XDECREF(before);
    return both;
}

PyDoc_STRVAR(inexact_doc,
             "inexact()\n--\n\n"
             "Return the indexes of the columns of doubles in which DECIMAL values lost digits, in any row so far.");

static PyObject *decoder_inexact(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    ImageDecoder *self = (ImageDecoder *)object;
    if (ia_enter(&self->busy, "ImageDecoder"))
        return NULL;
    PyObject *found = PyList_New(0);
    for (int i = 0; found && i < self->core.after.count; i++) {
        if (self->core.after.columns[i].inexact == 0 && self->core.before.columns[i].inexact == 0)
            continue;
        PyObject *one = PyLong_FromLong(i);
        if (one == NULL || PyList_Append(found, one))
            Py_CLEAR(found);
        Py_XDECREF(one);
    }
    ia_leave(&self->busy);
    return found;
}

/* The getters are for the thread that feeds. */
static PyObject *decoder_rows(PyObject *self, void *Py_UNUSED(closure))
{
    const struct ia_changes *core = &((ImageDecoder *)self)->core;
    return PyLong_FromLongLong(core->after.rows + core->before.rows);
}

static PyObject *decoder_bytes(PyObject *self, void *Py_UNUSED(closure))
{
    const struct ia_changes *core = &((ImageDecoder *)self)->core;
    return PyLong_FromLongLong(core->after.bytes + core->before.bytes);
}

static PyObject *decoder_expects_after_image(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(((ImageDecoder *)self)->core.expects_after_image);
}

static PyMethodDef decoder_methods[] = {
    {"begin", decoder_begin, METH_O, begin_doc},
    {"feed", (PyCFunction)(void (*)(void))decoder_feed, METH_FASTCALL, feed_doc},
    {"take", decoder_take, METH_NOARGS, take_doc},
    {"inexact", decoder_inexact, METH_NOARGS, inexact_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef decoder_getset[] = {
    {"rows", decoder_rows, NULL, "Number of images in the open batch, including those before updates.", NULL},
    {"bytes", decoder_bytes, NULL, "Approximate size of the open batch in Arrow bytes.", NULL},
    {"expects_after_image", decoder_expects_after_image, NULL,
     "True if the last record was the image before an update, so that the image after it must follow.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(decoder_doc,
             "ImageDecoder(table, label, ops, names, *, variable, batch_rows, batch_bytes, max_image, codepage=None)\n"
             "--\n\n"
             "Convert the row images of one captured table to Arrow record batches, one transaction at a time.\n\n"
             "table        the name of the table, for errors\n"
             "label        the user data in the records of the table\n"
             "ops, names   as for Decoder: first the record's number (int16) and LSN (int64), then the columns in\n"
             "             the order of TABSCHEMA\n"
             "variable     number of columns, the last ones, whose lengths are in the header of a record\n"
             "batch_rows   maximum number of rows in a batch\n"
             "batch_bytes  maximum number of Arrow bytes in a batch\n"
             "max_image    maximum number of bytes in an image\n"
             "codepage     as for Decoder\n\n"
             "Raises ValueError for an invalid op. Use it in one thread at a time. A call while another one runs\n"
             "raises RuntimeError.");

static PyType_Slot decoder_slots[] = {
    {Py_tp_doc, (void *)decoder_doc},      {Py_tp_new, decoder_new},       {Py_tp_dealloc, decoder_dealloc},
    {Py_tp_methods, decoder_methods}, {Py_tp_getset, decoder_getset}, {0, NULL},
};

static PyType_Spec decoder_spec = {
    .name = "informix_arrow._changes.ImageDecoder",
    .basicsize = sizeof(ImageDecoder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = decoder_slots,
};

/* ---- the server's log ------------------------------------------------------------------------------------------ */

PyDoc_STRVAR(log_records_doc,
             "log_records(data, start, place, transaction, table, label, lengths, most, room, /)\n--\n\n"
             "Convert records of the server's log to the row images that a client of change data capture reads.\n\n"
             "data         a part of the log, a bytes-like object\n"
             "start        index in data at which to begin\n"
             "place        the LSN of data[start]\n"
             "transaction  number of the transaction\n"
             "table        number of the table; the run ends at a record of another table or transaction, or one\n"
             "             that is damaged\n"
             "label        the number that the client gave to the table\n"
             "lengths      number of bytes of lengths in front of each image\n"
             "most         maximum number of records\n"
             "room         number of bytes after which no further image begins\n\n"
             "Returns (bytes, position, count): the images, the index at which to go on, and the number of images.\n\n"
             "Raises ValueError if start is outside data, or a number is below 0 or above 2147483647.");

static PyObject *module_log_records(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer view;
    Py_ssize_t start;
    long long place, lengths, most, room;
    unsigned int transaction, table;
    int label;
    struct ia_log_run run;
    if (!PyArg_ParseTuple(args, "y*nLIIiLLL:log_records", &view, &start, &place, &transaction, &table, &label, &lengths,
                          &most, &room))
        return NULL;
    PyObject *result = NULL, *made = NULL;
    if (start < 0 || start > view.len || lengths < 0 || lengths > INT32_MAX || most < 0 || most > INT32_MAX || room < 0 ||
        room > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "start must be inside data, and lengths, most and room must be 0 to 2147483647.");
        goto done;
    }
    run.place = place;
    run.transaction = transaction;
    run.table = table;
    run.label = (uint32_t)label;
    run.lengths = lengths;
    run.most = most;
    run.room = room;
    ia_crc32_table(run.crc);
    const uint8_t *const data = (const uint8_t *)view.buf + start, *const end = (const uint8_t *)view.buf + view.len;
    made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)ia_log_space(&run, data, end));
    if (!made)
        goto done;
    const uint8_t *stop;
    int64_t written;
    const int64_t count = ia_log_records(&run, data, end, (uint8_t *)PyBytes_AsString(made), &stop, &written);
    result = Py_BuildValue("y#nn", PyBytes_AsString(made), (Py_ssize_t)written,
                           start + (Py_ssize_t)(stop - data), (Py_ssize_t)count);
done:
    Py_XDECREF(made);
    PyBuffer_Release(&view);
    return result;
}

static PyMethodDef module_methods[] = {
    {"log_records", module_log_records, METH_VARARGS, log_records_doc},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    if (ia_module_add_errors(module) || ia_module_add_type(module, &decoder_spec))
        return -1;
    if (PyModule_AddIntConstant(module, "NEED_MORE", IA_NEED_MORE) || PyModule_AddIntConstant(module, "OTHER", IA_OTHER))
        return -1;
    return PyModule_AddIntConstant(module, "FULL", IA_FULL);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    IA_MODULE_SLOTS_END,
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_changes",
    .m_doc = "Decode captured changes to record batches (see decode_changes.h), and read them from the log (log_records.h).",
    .m_size = sizeof(struct ia_module_state),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = ia_module_traverse,
    .m_clear = ia_module_clear,
};

PyMODINIT_FUNC PyInit__changes(void)
{
    return PyModuleDef_Init(&module_def);
}
