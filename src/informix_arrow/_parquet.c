/* Columns of Parquet files, for `copy`: the Python side of parquet_column.h. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "native/module.h"
#include "native/parquet_column.h"

#define NAME "informix_arrow parquet column"

static void dispose(PyObject *capsule)
{
    struct ia_pq_column *c = PyCapsule_GetPointer(capsule, NAME);
    ia_pq_free(c);
    free(c);
}

static int failure(int status)
{
    switch (status) {
    case IA_PQ_DONE:
        return 0;
    case IA_PQ_NO_MEMORY:
        PyErr_NoMemory();
        return -1;
    case IA_PQ_OFFSETS:
        PyErr_SetString(PyExc_ValueError, "the Arrow array's string offsets do not fit its data");
        return -1;
    case IA_PQ_RANGE:
        PyErr_SetString(PyExc_OverflowError, "a value is beyond the range of its type in Parquet");
        return -1;
    default:
        PyErr_SetString(PyExc_OverflowError, "the values are too large for a page of Parquet");
        return -1;
    }
}

PyDoc_STRVAR(column_doc, "column(kind, width, out, factor, nullable, /)\n--\n\nA column chunk; see _parquet.pyi.");

static PyObject *column(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *kind;
    int width, out, nullable;
    long long factor;
    if (!PyArg_ParseTuple(args, "siiLp:column", &kind, &width, &out, &factor, &nullable))
        return NULL;
    enum ia_pq_kind chosen;
    int fits;
    if (!strcmp(kind, "integer")) {
        chosen = IA_PQ_INTEGER;
        fits = (width == 1 || width == 2 || width == 4 || width == 8) && (out == 4 || out == 8) && width <= out &&
               factor >= 1 && factor <= 1000000000 && (factor == 1 || out == 8);
    } else if (!strcmp(kind, "float")) {
        chosen = IA_PQ_FLOAT;
        fits = (width == 4 || width == 8) && out == width;
    } else if (!strcmp(kind, "decimal")) {
        chosen = IA_PQ_DECIMAL;
        fits = width == 16 && out >= 1 && out <= 16;
    } else if (!strcmp(kind, "text")) {
        chosen = IA_PQ_TEXT;
        fits = width == 4 || width == 8;
    } else if (!strcmp(kind, "boolean")) {
        chosen = IA_PQ_BOOLEAN;
        fits = 1;
    } else
        fits = 0;
    if (!fits) {
        PyErr_Format(PyExc_ValueError, "no column is a %s of %d bytes, and %d in the file", kind, width, out);
        return NULL;
    }
    struct ia_pq_column *c = calloc(1, sizeof *c);
    if (!c)
        return PyErr_NoMemory();
    c->kind = chosen;
    c->width = width;
    c->out = out;
    c->factor = factor;
    c->nullable = nullable;
    c->by_dictionary = chosen != IA_PQ_BOOLEAN;
    PyObject *capsule = PyCapsule_New(c, NAME, dispose);
    if (!capsule)
        free(c);
    return capsule;
}

static int optional(PyObject *object, Py_buffer *view)
{
    return object == Py_None ? 0 : PyObject_GetBuffer(object, view, PyBUF_SIMPLE);
}

/* Whether a buffer, or none, holds so many items of so many bits; -1 with an exception set. */
static int room(const Py_buffer *view, int64_t items, int64_t bits, const char *what)
{
    if (items <= (int64_t)view->len / bits * 8 + (int64_t)view->len % bits * 8 / bits)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s: %zd bytes are too few for %lld", what, view->len, (long long)items);
    return -1;
}

/* The rows of a call, and the buffers that they lie in, which are checked and released together. */
struct call {
    struct ia_pq_rows rows;
    Py_buffer views[3];
};

static void release(struct call *call)
{
    for (int i = 0; i < 3; i++)
        PyBuffer_Release(&call->views[i]);
}

/* -1 with an exception set; to be released in any case. */
static int take(struct call *call, const struct ia_pq_column *c, long long rows, long long offset, PyObject **objects)
{
    static const uint8_t nothing[8] = {0};
    Py_buffer *views = call->views;
    memset(call, 0, sizeof *call);
    if (rows < 0 || rows > INT64_C(1) << 40 || offset < 0 || offset > INT64_C(1) << 48) {
        PyErr_Format(PyExc_ValueError, "there are no %lld rows from %lld on", rows, offset);
        return -1;
    }
    for (int i = 0; i < 3; i++)
        if (optional(objects[i], &views[i]))
            return -1;
    const int64_t bits = c->kind == IA_PQ_BOOLEAN ? 1 : 8 * (int64_t)c->width;
    if (views[0].buf && room(&views[0], offset + rows, 1, "validity"))
        return -1;
    if (c->kind == IA_PQ_TEXT ? rows && room(&views[2], offset + rows + 1, bits, "offsets")
                              : room(&views[1], offset + rows, bits, "values"))
        return -1;
    call->rows = (struct ia_pq_rows){
        .rows = rows,
        .offset = offset,
        .validity = views[0].buf,
        .values = views[1].buf ? views[1].buf : nothing,
        .offsets = views[2].buf,
        .size = views[1].len,
    };
    return 0;
}

PyDoc_STRVAR(add_doc, "add(column, rows, offset, validity, values, offsets, /)\n--\n\n"
                      "A page of rows, and whether it refers to the dictionary; see _parquet.pyi.");

static PyObject *add(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *capsule, *objects[3], *result = NULL;
    struct call call;
    long long rows, offset;
    if (!PyArg_ParseTuple(args, "OLLOOO:add", &capsule, &rows, &offset, &objects[0], &objects[1], &objects[2]))
        return NULL;
    struct ia_pq_column *c = PyCapsule_GetPointer(capsule, NAME);
    if (!c)
        return NULL;
    if (take(&call, c, rows, offset, objects))
        goto done;
    if (rows > INT64_C(1) << 30 || (call.rows.validity && !c->nullable)) {
        PyErr_SetString(PyExc_ValueError, "too many rows for a page, or NULLs in a column without them");
        goto done;
    }
    int status, by_dictionary = 0;
    Py_BEGIN_ALLOW_THREADS
    status = ia_pq_add(c, &call.rows, &by_dictionary);
    Py_END_ALLOW_THREADS
    if (!failure(status))
        result = Py_BuildValue("y#N", (const char *)c->page.p, (Py_ssize_t)c->page.size,
                               PyBool_FromLong(by_dictionary));
done:
    release(&call);
    return result;
}

PyDoc_STRVAR(total_doc, "total(width, is_text, rows, offset, validity, values, offsets, /)\n--\n\n"
                        "A sum over the values of a column, modulo 2**64; see _parquet.pyi.");

static PyObject *total(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *objects[3], *result = NULL;
    struct call call;
    struct ia_pq_column c = {0};
    long long rows, offset;
    int width, is_text;
    if (!PyArg_ParseTuple(args, "ipLLOOO:total", &width, &is_text, &rows, &offset, &objects[0], &objects[1],
                          &objects[2]))
        return NULL;
    if (is_text ? width != 4 && width != 8 : width != 1 && width != 2 && width != 4 && width != 8 && width != 16)
        return PyErr_Format(PyExc_ValueError, "no value has %d bytes", width);
    c.kind = is_text ? IA_PQ_TEXT : IA_PQ_INTEGER;
    c.width = width;
    if (take(&call, &c, rows, offset, objects))
        goto done;
    int status = IA_PQ_DONE;
    uint64_t sum = 0;
    Py_BEGIN_ALLOW_THREADS
    if (is_text)
        status = ia_pq_sum_texts(&c, &call.rows, &sum);
    else
        sum = ia_pq_sum_words(&call.rows, width);
    Py_END_ALLOW_THREADS
    if (!failure(status))
        result = PyLong_FromUnsignedLongLong(sum);
done:
    release(&call);
    return result;
}

/* A bound as it lies in the file, or None. */
static PyObject *bound(const struct ia_pq_column *c, int is_high)
{
    uint8_t bytes[8];
    if (!c->has_bounds || c->no_bounds || c->kind == IA_PQ_BOOLEAN)
        return Py_NewRef(Py_None);
    if (c->kind == IA_PQ_TEXT || c->kind == IA_PQ_DECIMAL) {
        const struct ia_pq_bytes *b = is_high ? &c->high : &c->low;
        return PyBytes_FromStringAndSize((const char *)b->p, (Py_ssize_t)b->size);
    }
    uint64_t word;
    if (c->kind == IA_PQ_FLOAT) {
        double v = is_high ? c->high_float : c->low_float;
        if (v == 0)
            v = is_high ? 0.0 : -0.0; /* both zeros are within */
        memcpy(&word, &v, 8);
        if (c->width == 4) {
            const float f = (float)v;
            uint32_t half;
            memcpy(&half, &f, 4);
            word = half;
        }
    } else
        word = (uint64_t)(is_high ? c->high_number : c->low_number);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
    return PyBytes_FromStringAndSize((const char *)bytes, c->out);
}

PyDoc_STRVAR(finish_doc, "finish(column, /)\n--\n\nEnd a row group: what its pages refer to; see _parquet.pyi.");

static PyObject *finish(PyObject *Py_UNUSED(module), PyObject *capsule)
{
    struct ia_pq_column *c = PyCapsule_GetPointer(capsule, NAME);
    if (!c)
        return NULL;
    PyObject *dictionary = c->referred ? PyBytes_FromStringAndSize((const char *)c->dictionary.p,
                                                                   (Py_ssize_t)c->dictionary.size)
                                       : Py_NewRef(Py_None);
    PyObject *low = bound(c, 0), *high = bound(c, 1), *result = NULL;
    if (dictionary && low && high)
        result = Py_BuildValue("OILOO", dictionary, (unsigned)c->entries, (long long)c->nulls, low, high);
    Py_XDECREF(dictionary);
    Py_XDECREF(low);
    Py_XDECREF(high);
    if (result)
        ia_pq_next_group(c);
    return result;
}

static PyMethodDef methods[] = {
    {"column", column, METH_VARARGS, column_doc},
    {"add", add, METH_VARARGS, add_doc},
    {"total", total, METH_VARARGS, total_doc},
    {"finish", finish, METH_O, finish_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    IA_MODULE_SLOTS_END,
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_parquet",
    .m_doc = "Columns of Parquet files (see parquet_column.h).",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__parquet(void)
{
    return PyModuleDef_Init(&module_def);
}
