/* informix_arrow._decode: the decoder core (decode_core.h) as a Python type.
 *
 * Here live the arguments, the GIL, the capsules and the exceptions; every byte of the wire is read in the core. The
 * module has no global state: the exception classes hang on the module object (multi-phase initialisation). */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "native/decode_batch.h"
#include "native/decode_core.h"
#include "native/decode_plan.h"
#include "native/decode_python.h"
#include "native/decode_reply.h"
#include "native/decode_rows.h"
#include "native/decode_text.h"
#include "native/decode_value.h"
#include "native/module.h"
#include "native/plan.h"
#include "native/stable_api.h"
#include "native/untrack.h"

typedef struct {
    PyObject_HEAD
    struct ia_decoder core;
    struct ia_codepage_entry page[256];
    PyObject *names;    /* tuple of str */
    int64_t rows;       /* copies for the getters, which may run beside a feed */
    int64_t total_rows;
    char busy;          /* set while a thread is in feed() or take() */
} Decoder;

/* ---- errors -------------------------------------------------------------------------------------------------- */

/* Raise what core.error holds: MemoryError, ProtocolError or DataError with row and column. */
static void raise_core_error(Decoder *self)
{
    const struct ia_error *error = &self->core.error;
    if (error->status == IA_NO_MEMORY) {
        PyErr_NoMemory();
        return;
    }
    const struct ia_module_state *state = PyType_GetModuleState(Py_TYPE((PyObject *)self));
    PyObject *cls = error->status == IA_PROTOCOL ? state->protocol_error : state->data_error;
    PyObject *name = error->column >= 0 ? PyTuple_GetItem(self->names, error->column) : Py_None;
    PyObject *message;
    if (error->column >= 0)
        message = PyUnicode_FromFormat("Column %R, row %lld, offset %lld in the tuple: %s", name, (long long)error->row,
                                       (long long)error->offset, error->detail);
    else if (error->offset >= 0)
        message = PyUnicode_FromFormat("Row %lld, offset %lld in the tuple: %s", (long long)error->row,
                                       (long long)error->offset, error->detail);
    else
        message = PyUnicode_FromFormat("Row %lld: %s", (long long)error->row, error->detail);
    PyObject *row = PyLong_FromLongLong(error->row);
    PyObject *exception = message ? PyObject_CallFunctionObjArgs(cls, message, NULL) : NULL;
    if (exception && row && PyObject_SetAttrString(exception, "row", row) == 0 &&
        PyObject_SetAttrString(exception, "column", name) == 0)
        PyErr_SetObject(cls, exception);
    Py_XDECREF(exception);
    Py_XDECREF(row);
    Py_XDECREF(message);
}

static void leave(Decoder *self)
{
    __atomic_store_n(&self->rows, self->core.rows, __ATOMIC_RELAXED);
    __atomic_store_n(&self->total_rows, self->core.taken + self->core.rows, __ATOMIC_RELAXED);
    ia_leave(&self->busy);
}

/* ---- construction -------------------------------------------------------------------------------------------- */

static PyObject *decoder_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"ops", "names", "batch_rows", "batch_bytes", "max_tuple", "codepage", "framing", "text_limit",
                               "blocks", "first_row", NULL};
    PyObject *ops_object, *names_object, *codepage = Py_None;
    int framing = IA_FRAMING_TUPLE, text_limit = INT32_MAX, blocks = 1;
    long long batch_rows = LLONG_MIN, batch_bytes = LLONG_MIN, max_tuple = LLONG_MIN, first_row = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$LLLOiipL:Decoder", keywords, &ops_object, &names_object,
                                     &batch_rows, &batch_bytes, &max_tuple, &codepage, &framing, &text_limit, &blocks,
                                     &first_row))
        return NULL;
    if (batch_rows == LLONG_MIN || batch_bytes == LLONG_MIN || max_tuple == LLONG_MIN) {
        PyErr_SetString(PyExc_TypeError, "Decoder() needs the keywords batch_rows, batch_bytes and max_tuple.");
        return NULL;
    }
    if (batch_rows < 1 || batch_bytes < 1 || max_tuple < 0 || max_tuple > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError,
                        "batch_rows and batch_bytes must be positive, and max_tuple 0 to 2147483647.");
        return NULL;
    }
    if (framing != IA_FRAMING_TUPLE && framing != IA_FRAMING_PUT) {
        PyErr_Format(PyExc_ValueError, "framing must be 0 (SQ_TUPLE) or 1 (SQ_PUT), not %d.", framing);
        return NULL;
    }
    if (first_row < 0) {
        PyErr_Format(PyExc_ValueError, "first_row must not be negative, but is %lld.", first_row);
        return NULL;
    }
    if (text_limit < 1) {
        PyErr_Format(PyExc_ValueError, "text_limit must be positive, not %d.", text_limit);
        return NULL;
    }
    Decoder *self = ia_instance(type);
    if (!self)
        return NULL;
    Py_ssize_t count = 0;
    struct ia_op *ops = NULL;
    const char *wrong;
    int bad;

    if (!(ops = ia_ops_from(ops_object, &count)) || !(self->names = ia_names_from(names_object, count)))
        goto failed;
    if (codepage != Py_None && ia_page_from(self->page, codepage))
        goto failed;
    wrong = ia_decoder_init(&self->core, ops, (int)count, batch_rows, batch_bytes, max_tuple,
                            codepage != Py_None ? self->page : NULL, &bad);
    if (wrong) {
        if (bad >= 0)
            ia_op_refused(PyTuple_GetItem(self->names, bad), &ops[bad], wrong);
        else
            PyErr_NoMemory();
        goto failed;
    }
    self->core.framing = framing;
    self->core.blocks &= blocks;
    self->core.taken = self->total_rows = first_row;
    ia_limit_text(&self->core, text_limit);
    PyMem_Free(ops);
    return (PyObject *)self;
failed:
    PyMem_Free(ops);
    Py_DECREF(self);
    return NULL;
}

static void decoder_dealloc(PyObject *object)
{
    Decoder *self = (Decoder *)object;
    ia_decoder_free(&self->core);
    Py_XDECREF(self->names);
    ia_instance_free(object);
}

/* ---- methods ------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(feed_doc,
             "feed(data, start, end, /)\n--\n\n"
             "Decode the SQ_TUPLE (or SQ_PUT) messages in data[start:end], a bytes-like object.\n\n"
             "Returns (position, status). position is the index in data after the last whole message, where the next feed\n"
             "begins. status is 0 (the bytes end inside a message), 1 (the next message is of another kind) or 2 (the batch\n"
             "is complete: call take()). No byte outside data[start:end] is read. The GIL is released.\n\n"
             "Raises ProtocolError for malformed bytes, DataError for a value that does not fit its Arrow type (both with\n"
             ".row, 0-based over the whole result, and .column), and MemoryError. Each later feed raises the same error.");

static PyObject *decoder_feed(PyObject *object, PyObject *const *args, Py_ssize_t nargs)
{
    Decoder *self = (Decoder *)object;
    if (nargs != 3) {
        PyErr_Format(PyExc_TypeError, "feed() takes 3 arguments (data, start, end), not %zd.", nargs);
        return NULL;
    }
    struct ia_span span;
    if (ia_span_enter(args, &span, &self->busy, "Decoder"))
        return NULL;
    const uint8_t *stop = span.data + span.start;
    enum ia_status status;
    Py_BEGIN_ALLOW_THREADS
    status = ia_decoder_feed(&self->core, span.data + span.start, span.data + span.end, &stop);
    Py_END_ALLOW_THREADS
    PyObject *result = NULL;
    if (status < 0)
        raise_core_error(self);
    else
        result = Py_BuildValue("ni", (Py_ssize_t)(stop - span.data), (int)status);
    leave(self);
    ia_span_release(&span);
    return result;
}

PyDoc_STRVAR(take_doc,
             "take()\n--\n\n"
             "Return the open batch as an 'arrow_array' capsule and start the next one.\n\n"
             "The capsule is a struct array with one child per column. It may have 0 rows. After an error it has the whole\n"
             "rows before it.");

static PyObject *decoder_take(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Decoder *self = (Decoder *)object;
    if (ia_enter(&self->busy, "Decoder"))
        return NULL;
    PyObject *const capsule = ia_take_capsule(&self->core);
    leave(self);
    return capsule;
}

/* The rows of a reply that is here as a whole, and where it ends in the span; None when it is anything else. */
static PyObject *rows_of_reply(Decoder *self, const struct ArrowSchema *schema, const struct ia_span *span, Py_ssize_t done)
{
    const uint8_t *stop = span->data + span->start, *const end = span->data + span->end;
    if (self->core.rows || ia_decoder_feed(&self->core, stop, end, &stop) != IA_OTHER)
        Py_RETURN_NONE;
    const uint8_t *const behind = ia_reply_end(stop, end, done);
    if (!behind)
        Py_RETURN_NONE;
    struct ArrowArray array;
    if (ia_decoder_take(&self->core, &array))
        return PyErr_NoMemory();
    PyObject *rows = NULL;
    if (ia_rows_alike(schema, &array))
        rows = ia_rows_list(schema, &array, Py_None, 0, array.length);
    else
        PyErr_SetString(PyExc_ValueError, "The schema must be that of the decoder's batches.");
    array.release(&array);
    const uint8_t *const begin = span->data + span->start;
    return rows ? Py_BuildValue("Ny#n", rows, (const char *)begin, (Py_ssize_t)(behind - begin), (Py_ssize_t)(behind - span->data))
                : NULL;
}

PyDoc_STRVAR(reply_doc,
             "reply(schema_capsule, data, start, end, done, /)\n--\n\n"
             "Return the rows of a complete reply to a fetch as tuples, its bytes, and the position after it.\n\n"
             "Returns None unless data[start:end] has SQ_TUPLEs of valid values, an SQ_DONE of `done` bytes, an optional\n"
             "SQ_COST and an SQ_EOT. Do not use the decoder after that. No byte outside data[start:end] is read. The GIL is\n"
             "held, so use it for replies of a few thousand bytes.");

static PyObject *decoder_reply(PyObject *object, PyObject *const *args, Py_ssize_t nargs)
{
    Decoder *self = (Decoder *)object;
    if (nargs != 5) {
        PyErr_Format(PyExc_TypeError, "reply() takes 5 arguments (schema_capsule, data, start, end, done), not %zd.", nargs);
        return NULL;
    }
    const struct ArrowSchema *schema = PyCapsule_GetPointer(args[0], "arrow_schema");
    const Py_ssize_t done = schema ? PyNumber_AsSsize_t(args[4], PyExc_ValueError) : -1;
    struct ia_span span;
    if (PyErr_Occurred() || ia_span_from(args + 1, &span))
        return NULL;
    PyObject *found = NULL;
    if (ia_enter(&self->busy, "Decoder") == 0) {
        found = rows_of_reply(self, schema, &span, done);
        leave(self);
    }
    ia_span_release(&span);
    return found;
}

PyDoc_STRVAR(inexact_doc,
             "inexact()\n--\n\n"
             "Return (column, count, first row) for each column of doubles in which DECIMAL values lost digits.\n\n"
             "count is the number of such values in the rows decoded so far.");

static PyObject *decoder_inexact(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Decoder *self = (Decoder *)object;
    if (ia_enter(&self->busy, "Decoder"))
        return NULL;
    PyObject *found = PyList_New(0);
    for (int i = 0; found && i < self->core.count; i++) {
        const struct ia_column *c = &self->core.columns[i];
        if (c->inexact == 0)
            continue;
        PyObject *one = Py_BuildValue("(iLL)", i, (long long)c->inexact, (long long)c->inexact_row);
        if (one == NULL || PyList_Append(found, one))
            Py_CLEAR(found);
        Py_XDECREF(one);
    }
    leave(self);
    return found;
}

static PyObject *decoder_rows(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(__atomic_load_n(&((Decoder *)self)->rows, __ATOMIC_RELAXED));
}

static PyObject *decoder_total_rows(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(__atomic_load_n(&((Decoder *)self)->total_rows, __ATOMIC_RELAXED));
}

static PyMethodDef decoder_methods[] = {
    {"feed", (PyCFunction)(void (*)(void))decoder_feed, METH_FASTCALL, feed_doc},
    {"take", decoder_take, METH_NOARGS, take_doc},
    {"reply", (PyCFunction)(void (*)(void))decoder_reply, METH_FASTCALL, reply_doc},
    {"inexact", decoder_inexact, METH_NOARGS, inexact_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef decoder_getset[] = {
    {"rows", decoder_rows, NULL, "Number of rows in the open batch.", NULL},
    {"total_rows", decoder_total_rows, NULL, "Number of the next row: rows decoded so far, those of taken batches included, after first_row.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(decoder_doc,
             "Decoder(ops, names, *, batch_rows, batch_bytes, max_tuple, codepage=None, framing=0, text_limit=2147483647,\n"
             "        blocks=True, first_row=0)\n"
             "--\n\n"
             "Turn the tuples of one result into Arrow record batches.\n\n"
             "ops          one (kind, width, arg, flags) per column, with the numbers of plan.h\n"
             "names        the names of the columns, for errors\n"
             "batch_rows   maximum number of rows in a batch\n"
             "batch_bytes  maximum number of Arrow bytes in a batch; a larger row is a batch of its own\n"
             "max_tuple    maximum number of bytes in a payload\n"
             "codepage     None for UTF-8 (checked strictly), or 256 entries {uint8 length (0 = undefined byte), 3 UTF-8 bytes}\n"
             "framing      0 for the SQ_TUPLE messages of a result, 1 for the SQ_PUT messages of an insert cursor\n"
             "text_limit   maximum number of bytes of one column with 32-bit offsets; a longer value is a DataError\n"
             "blocks       False decodes row by row with the same result, for tests\n"
             "first_row    number of the first row, for errors and total_rows\n\n"
             "Use it in one thread at a time. A call while another one runs raises RuntimeError.");

static PyType_Slot decoder_slots[] = {
    {Py_tp_doc, (void *)decoder_doc},      {Py_tp_new, decoder_new},       {Py_tp_dealloc, decoder_dealloc},
    {Py_tp_methods, decoder_methods}, {Py_tp_getset, decoder_getset}, {0, NULL},
};

static PyType_Spec decoder_spec = {
    .name = "informix_arrow._decode.Decoder",
    .basicsize = sizeof(Decoder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = decoder_slots,
};

/* ---- module -------------------------------------------------------------------------------------------------- */

static int module_exec(PyObject *module)
{
    if (ia_module_add_errors(module) || ia_module_add_decimal(module) || ia_module_add_type(module, &decoder_spec))
        return -1;
    if (PyModule_AddIntConstant(module, "NEED_MORE", IA_NEED_MORE) || PyModule_AddIntConstant(module, "OTHER", IA_OTHER))
        return -1;
    return PyModule_AddIntConstant(module, "FULL", IA_FULL);
}

PyDoc_STRVAR(skip_rows_doc,
             "skip_rows(data, start, end, header, /)\n--\n\n"
             "Skip the whole SQ_TUPLE messages at the beginning of data[start:end], whose headers have `header`\n"
             "bytes (6 or 8).\n\n"
             "Returns (position, count): the index after the last message, and the number of messages. Values are\n"
             "not checked. Skipping ends at another message, at one that is incomplete, and at a size below 0.\n"
             "Raises ValueError for an argument out of range.");

static PyObject *skip_rows(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 4) {
        PyErr_Format(PyExc_TypeError, "skip_rows() takes 4 arguments (data, start, end, header), not %zd.", nargs);
        return NULL;
    }
    const Py_ssize_t header = PyLong_AsSsize_t(args[3]);
    if (header == -1 && PyErr_Occurred())
        return NULL;
    if (header != 6 && header != 8) {
        PyErr_Format(PyExc_ValueError, "The header of a tuple must have 6 or 8 bytes, not %zd.", header);
        return NULL;
    }
    struct ia_span span;
    if (ia_span_from(args, &span))
        return NULL;
    int64_t count = 0;
    const uint8_t *stop;
    Py_BEGIN_ALLOW_THREADS
    stop = ia_skip_tuples(span.data + span.start, span.data + span.end, header == 8, &count);
    Py_END_ALLOW_THREADS
    const Py_ssize_t position = (Py_ssize_t)(stop - span.data);
    ia_span_release(&span);
    return Py_BuildValue("nL", position, (long long)count);
}

static PyMethodDef module_methods[] = {
    {"skip_rows", (PyCFunction)(void (*)(void))skip_rows, METH_FASTCALL, skip_rows_doc},
    {"rows", ia_rows, METH_VARARGS, ia_rows_doc},
    {"untrack", ia_untrack, METH_VARARGS, ia_untrack_doc},
    {"untracked", ia_untracked, METH_VARARGS, ia_untracked_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    IA_MODULE_SLOTS_END,
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_decode",
    .m_doc = "Decode the rows of a result to Arrow record batches (see decode_core.h).",
    .m_size = sizeof(struct ia_module_state),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = ia_module_traverse,
    .m_clear = ia_module_clear,
};

PyMODINIT_FUNC PyInit__decode(void)
{
    return PyModuleDef_Init(&module_def);
}
