/* informix_arrow._bulk: runs of rows (decode_bulk.h) as a Python type, for the embedded server.
 *
 * A module of its own and not a part of _decode: a Decoder reads one result and ends at the first thing that is wrong
 * with it; a BulkReader stops before whatever it does not take, says where, and goes on after it. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "native/decode_batch.h"
#include "native/decode_bulk.h"
#include "native/decode_plan.h"
#include "native/decode_python.h"
#include "native/decode_text.h"
#include "native/decode_value.h"
#include "native/module.h"
#include "native/plan.h"
#include "native/stable_api.h"

typedef struct {
    PyObject_HEAD
    struct ia_decoder core;
    struct ia_codepage_entry page[256];
    char busy; /* set while a thread is in a method */
} BulkReader;

/* ---- construction -------------------------------------------------------------------------------------------- */

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"ops", "batch_rows", "batch_bytes", "max_tuple", "codepage", NULL};
    PyObject *ops_object, *codepage = Py_None;
    long long batch_rows, batch_bytes, max_tuple;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OLLL|O:BulkReader", keywords, &ops_object, &batch_rows,
                                     &batch_bytes, &max_tuple, &codepage))
        return NULL;
    if (batch_rows < 1 || batch_bytes < 1 || max_tuple < 0 || max_tuple > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "batch_rows and batch_bytes must be positive, and max_tuple 0 to 2147483647.");
        return NULL;
    }
    BulkReader *self = ia_instance(type);
    if (!self)
        return NULL;
    Py_ssize_t count = 0;
    int bad = -1;
    struct ia_op *const ops = ia_ops_from(ops_object, &count);
    int failed = !ops;
    if (!failed && codepage != Py_None)
        failed = ia_page_from(self->page, codepage) != 0;
    if (!failed) {
        const char *wrong = ia_decoder_init(&self->core, ops, (int)count, batch_rows, batch_bytes, max_tuple,
                                            codepage != Py_None ? self->page : NULL, &bad);
        self->core.framing = IA_FRAMING_PUT;
        if (wrong && bad >= 0)
            PyErr_Format(PyExc_ValueError, "Column %d: The op (%d, %d, %d, %d) is not valid: %s.", bad, (int)ops[bad].kind,
                         (int)ops[bad].width, (int)ops[bad].arg, (int)ops[bad].flags, wrong);
        else if (wrong)
            PyErr_NoMemory();
        failed = wrong != NULL;
    }
    PyMem_Free(ops);
    if (failed) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void reader_dealloc(PyObject *object)
{
    ia_decoder_free(&((BulkReader *)object)->core);
    ia_instance_free(object);
}

/* ---- methods ------------------------------------------------------------------------------------------------- */

/* Feed data[start:] to one of the two decoders; (position, status, shape). */
static PyObject *feed(BulkReader *self, PyObject *object, Py_ssize_t start, int binds, int statement, int shape)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE))
        return NULL;
    if (start < 0 || start > view.len) {
        PyErr_Format(PyExc_ValueError, "start %zd is outside the %zd bytes of data.", start, view.len);
        PyBuffer_Release(&view);
        return NULL;
    }
    if (ia_enter(&self->busy, "BulkReader")) {
        PyBuffer_Release(&view);
        return NULL;
    }
    static const uint8_t nothing = 0; /* an empty buffer may have no address */
    const uint8_t *const data = view.len ? (const uint8_t *)view.buf : &nothing;
    const uint8_t *stop = data + start;
    enum ia_shape found = (enum ia_shape)shape;
    enum ia_status status;
    Py_BEGIN_ALLOW_THREADS
    if (binds)
        status = ia_bulk_binds(&self->core, statement, &found, data + start, data + view.len, &stop);
    else
        status = ia_bulk_puts(&self->core, data + start, data + view.len, &stop);
    Py_END_ALLOW_THREADS
    ia_leave(&self->busy);
    PyBuffer_Release(&view);
    if (status == IA_NO_MEMORY)
        return PyErr_NoMemory();
    return Py_BuildValue("nii", (Py_ssize_t)(stop - data), (int)status, (int)found);
}

PyDoc_STRVAR(feed_puts_doc,
             "feed_puts(data, start, /)\n--\n\n"
             "Decode the SQ_PUT messages at the beginning of data[start:], a bytes-like object.\n\n"
             "Returns (position, status). position is the index after the last row that was decoded. status is\n"
             "NEED_MORE (the bytes end inside a message), OTHER (the next message is of another kind, or its row\n"
             "needs the server's conversions) or FULL (call take()).\n\n"
             "No content of data raises an error. Raises MemoryError, and ValueError if start is outside data.");

static PyObject *reader_feed_puts(PyObject *self, PyObject *args)
{
    PyObject *data;
    Py_ssize_t start;
    if (!PyArg_ParseTuple(args, "On:feed_puts", &data, &start))
        return NULL;
    PyObject *found = feed((BulkReader *)self, data, start, 0, 0, 0);
    if (!found)
        return NULL;
    PyObject *result = PyTuple_GetSlice(found, 0, 2);
    Py_DECREF(found);
    return result;
}

PyDoc_STRVAR(feed_binds_doc,
             "feed_binds(data, start, statement, shape, /)\n--\n\n"
             "Decode the bound rows (SQ_BIND, SQ_EXECUTE) of a statement at the beginning of data[start:].\n\n"
             "statement is the number that SQ_ID must have. shape says how the rows are grouped: SHAPE_UNKNOWN at\n"
             "first, then the shape that the previous call returned. It is SHAPE_GROUPS if each row ends its group,\n"
             "whose SQ_EOT is consumed, and SHAPE_ONE_GROUP if all rows share one group, whose SQ_EOT is not\n"
             "consumed.\n\n"
             "Returns (position, status, shape), with position and status as in feed_puts(). Raises ValueError for\n"
             "an argument out of range, and MemoryError.");

static PyObject *reader_feed_binds(PyObject *self, PyObject *args)
{
    PyObject *data;
    Py_ssize_t start;
    int statement, shape;
    if (!PyArg_ParseTuple(args, "Onii:feed_binds", &data, &start, &statement, &shape))
        return NULL;
    if (statement < 0 || statement > 0xffff || shape < IA_SHAPE_UNKNOWN || shape > IA_SHAPE_ONE_GROUP) {
        PyErr_Format(PyExc_ValueError, "statement %d and shape %d must be 0 to 65535 and 0 to 2.", statement, shape);
        return NULL;
    }
    return feed((BulkReader *)self, data, start, 1, statement, shape);
}

PyDoc_STRVAR(take_doc,
             "take()\n--\n\n"
             "Return the rows decoded so far as an 'arrow_array' capsule of a struct array, and start the next\n"
             "batch.");

static PyObject *reader_take(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    BulkReader *self = (BulkReader *)object;
    if (ia_enter(&self->busy, "BulkReader"))
        return NULL;
    PyObject *const capsule = ia_take_capsule(&self->core);
    ia_leave(&self->busy);
    return capsule;
}

/* The value in the only row of a column: a new reference, NULL with an exception set; Py_None for a NULL. *other is set for
 * a column of a kind that is left to Arrow. */
static PyObject *only_value(const struct ia_column *c, int *other)
{
    int16_t small;
    int32_t number;
    int64_t big;
    float narrow;
    double real;
    switch (c->kind) {
    case IA_INT16:
    case IA_INT32:
    case IA_INT64:
    case IA_INT8:
    case IA_FLOAT32:
    case IA_FLOAT64:
    case IA_BOOL:
    case IA_CHAR:
    case IA_VARCHAR:
    case IA_LVARCHAR: break;
    default: *other = 1; Py_RETURN_NONE;
    }
    if (!(c->word & 1))
        Py_RETURN_NONE;
    switch (c->kind) {
    case IA_INT16: memcpy(&small, c->values, sizeof small); return PyLong_FromLong(small);
    case IA_INT32: memcpy(&number, c->values, sizeof number); return PyLong_FromLong(number);
    case IA_FLOAT32: memcpy(&narrow, c->values, sizeof narrow); return PyFloat_FromDouble((double)narrow);
    case IA_FLOAT64: memcpy(&real, c->values, sizeof real); return PyFloat_FromDouble(real);
    case IA_BOOL: return PyBool_FromLong((long)(c->bits & 1));
    case IA_CHAR:
    case IA_VARCHAR:
    case IA_LVARCHAR: return PyUnicode_DecodeUTF8((const char *)c->values, (Py_ssize_t)c->length, "strict");
    default: memcpy(&big, c->values, sizeof big); return PyLong_FromLongLong(big);
    }
}

PyDoc_STRVAR(take_values_doc,
             "take_values()\n--\n\n"
             "Return the only row decoded so far as a tuple of int, float, bool, str and None, and start the next\n"
             "batch.\n\n"
             "Returns None and keeps the rows if there is not exactly one, or if a column has another type.");

static PyObject *reader_take_values(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    BulkReader *self = (BulkReader *)object;
    struct ia_decoder *const core = &self->core;
    if (ia_enter(&self->busy, "BulkReader"))
        return NULL;
    int other = core->rows != 1;
    PyObject *row = other ? NULL : PyTuple_New(core->count);
    for (int i = 0; row && !other && i < core->count; i++) {
        PyObject *const value = only_value(&core->columns[i], &other);
        if (value == NULL || PyTuple_SetItem(row, i, value))
            Py_CLEAR(row);
    }
    if (other) {
        Py_XDECREF(row);
        row = Py_None;
        Py_INCREF(row);
    } else if (row) {
        ia_decoder_drop(core);
    }
    ia_leave(&self->busy);
    return row;
}

static PyObject *reader_rows(PyObject *object, void *Py_UNUSED(closure))
{
    BulkReader *self = (BulkReader *)object;
    if (ia_enter(&self->busy, "BulkReader"))
        return NULL;
    const long long rows = self->core.rows;
    ia_leave(&self->busy);
    return PyLong_FromLongLong(rows);
}

static PyMethodDef reader_methods[] = {
    {"feed_puts", reader_feed_puts, METH_VARARGS, feed_puts_doc},
    {"feed_binds", reader_feed_binds, METH_VARARGS, feed_binds_doc},
    {"take", reader_take, METH_NOARGS, take_doc},
    {"take_values", reader_take_values, METH_NOARGS, take_values_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef reader_getset[] = {
    {"rows", reader_rows, NULL, "Number of rows that the next take() returns.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(reader_doc,
             "BulkReader(ops, batch_rows, batch_bytes, max_tuple, codepage=None)\n--\n\n"
             "Decode rows that a client sends (SQ_PUT, or SQ_BIND and SQ_EXECUTE) to Arrow columns.\n\n"
             "ops          one (kind, width, arg, flags) per column, with the numbers of plan.h\n"
             "batch_rows   maximum number of rows in a batch\n"
             "batch_bytes  maximum number of Arrow bytes in a batch\n"
             "max_tuple    maximum number of bytes in an SQ_PUT\n"
             "codepage     as for Decoder\n\n"
             "Raises ValueError for an invalid op. Use it in one thread at a time. A call while another one runs\n"
             "raises RuntimeError.");

static PyType_Slot reader_slots[] = {
    {Py_tp_doc, (void *)reader_doc},      {Py_tp_new, reader_new},       {Py_tp_dealloc, reader_dealloc},
    {Py_tp_methods, reader_methods}, {Py_tp_getset, reader_getset}, {0, NULL},
};

static PyType_Spec reader_spec = {
    .name = "informix_arrow._bulk.BulkReader",
    .basicsize = sizeof(BulkReader),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = reader_slots,
};

/* ---- module -------------------------------------------------------------------------------------------------- */

static int module_exec(PyObject *module)
{
    static const struct {
        const char *name;
        int value;
    } constants[] = {{"NEED_MORE", IA_NEED_MORE},
                     {"OTHER", IA_OTHER},
                     {"FULL", IA_FULL},
                     {"SHAPE_UNKNOWN", IA_SHAPE_UNKNOWN},
                     {"SHAPE_GROUPS", IA_SHAPE_GROUPS},
                     {"SHAPE_ONE_GROUP", IA_SHAPE_ONE_GROUP}};
    int failed = ia_module_add_type(module, &reader_spec);
    for (size_t i = 0; !failed && i < sizeof constants / sizeof *constants; i++)
        failed = PyModule_AddIntConstant(module, constants[i].name, constants[i].value);
    return failed;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    IA_MODULE_SLOTS_END,
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_bulk",
    .m_doc = "Decode rows that a client sends to record batches (see decode_bulk.h).",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__bulk(void)
{
    return PyModuleDef_Init(&module_def);
}
