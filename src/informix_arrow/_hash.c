/* Hashes of the rows of Arrow columns, for `compare`, and sums over columns, for `copy`: the Python side of row_hash.h and
 * column_sums.h. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "native/column_sums.h"
#include "native/module.h"
#include "native/row_hash.h"

/* The buffers of a call, checked and released together. */
struct column {
    Py_buffer hashes, values, offsets, validity;
    int64_t rows, offset;
};

static void release(struct column *c)
{
    PyBuffer_Release(&c->hashes);
    PyBuffer_Release(&c->values);
    PyBuffer_Release(&c->offsets);
    PyBuffer_Release(&c->validity);
}

/* A buffer, or none for None; -1 with an exception set. */
static int optional(PyObject *object, Py_buffer *view)
{
    return object == Py_None ? 0 : PyObject_GetBuffer(object, view, PyBUF_SIMPLE);
}

static int room(const struct column *c, const Py_buffer *view, int64_t items, int64_t bits, const char *what)
{
    /* items <= 2**61: no overflow below with up to 16 bytes each, as the rows are in memory and the offset is bounded */
    if (items <= (int64_t)view->len / bits * 8 + (int64_t)view->len % bits * 8 / bits)
        return 0;
    PyErr_Format(PyExc_ValueError, "The %s buffer has %zd bytes, too few for %lld rows from %lld on.", what, view->len,
                 (long long)c->rows, (long long)c->offset);
    return -1;
}

/* Where a column begins; -1 with an exception set. */
static int begin(struct column *c, long long offset)
{
    if (offset < 0 || offset > INT64_C(1) << 56) {
        PyErr_Format(PyExc_ValueError, "The offset %lld of a column must not be negative.", offset);
        return -1;
    }
    c->offset = offset;
    return 0;
}

/* `hashes` and the slots that belong to them; -1 with an exception set. */
static int slots(struct column *c, PyObject *hashes, PyObject *validity, long long offset)
{
    if (PyObject_GetBuffer(hashes, &c->hashes, PyBUF_WRITABLE) || optional(validity, &c->validity))
        return -1;
    if (c->hashes.len % 8 || (uintptr_t)c->hashes.buf % 8) {
        PyErr_SetString(PyExc_ValueError, "hashes must be whole numbers of 64 bits.");
        return -1;
    }
    if (begin(c, offset))
        return -1;
    c->rows = c->hashes.len / 8;
    return c->validity.buf ? room(c, &c->validity, c->offset + c->rows, 1, "validity") : 0;
}

PyDoc_STRVAR(numbers_doc,
             "mix_numbers(hashes, values, offset, width, floating, validity, /)\n--\n\n"
             "Mix a column of numbers into the hashes of its rows.\n\n"
             "hashes       a writable buffer with a number of 64 bits per row\n"
             "values       Arrow's buffer of values\n"
             "offset       index of the first row in values and validity\n"
             "width        bytes of a value: 1, 2, 4, 8 or 16 for integers and decimals, 4 or 8 for floats\n"
             "floating     True for floats: -0.0 counts as 0.0, and all NaNs are equal\n"
             "validity     Arrow's bitmap, or None if no value is NULL\n\n"
             "The GIL is released. Raises ValueError for another width or a buffer that is too short. Nothing is\n"
             "changed then.");

static PyObject *mix_numbers(PyObject *Py_UNUSED(module), PyObject *args)
{
    struct column c = {0};
    PyObject *hashes, *values, *validity, *result = NULL;
    long long offset;
    int width, floating;
    if (!PyArg_ParseTuple(args, "OOLipO:mix_numbers", &hashes, &values, &offset, &width, &floating, &validity))
        return NULL;
    if (floating ? width != 4 && width != 8 : width != 1 && width != 2 && width != 4 && width != 8 && width != 16) {
        PyErr_Format(PyExc_ValueError, "%s cannot have %d bytes.", floating ? "A float" : "An integer", width);
        return NULL;
    }
    if (slots(&c, hashes, validity, offset) || PyObject_GetBuffer(values, &c.values, PyBUF_SIMPLE) ||
        room(&c, &c.values, c.offset + c.rows, 8 * width, "values"))
        goto done;
    Py_BEGIN_ALLOW_THREADS
    (void)(floating ? ia_hash_floats : ia_hash_integers)(c.hashes.buf, c.values.buf, c.validity.buf, c.offset, c.rows,
                                                         width);
    Py_END_ALLOW_THREADS
    result = Py_NewRef(Py_None);
done:
    release(&c);
    return result;
}

PyDoc_STRVAR(texts_doc,
             "mix_texts(hashes, data, offsets, offset, width, validity, /)\n--\n\n"
             "Mix a column of texts or bytes into the hashes of its rows.\n\n"
             "data is Arrow's buffer of contents, None if it is empty. offsets is Arrow's buffer of offsets, of\n"
             "`width` bytes each (4 or 8). The other arguments are those of mix_numbers().\n\n"
             "The GIL is released. Raises ValueError for another width or a buffer that is too short, and if an\n"
             "offset is outside data. In the last case the hashes are undefined.");

static PyObject *mix_texts(PyObject *Py_UNUSED(module), PyObject *args)
{
    struct column c = {0};
    PyObject *hashes, *data, *offsets, *validity, *result = NULL;
    long long offset;
    int width, wrong;
    static const uint8_t nothing = 0;
    if (!PyArg_ParseTuple(args, "OOOLiO:mix_texts", &hashes, &data, &offsets, &offset, &width, &validity))
        return NULL;
    if (width != 4 && width != 8) {
        PyErr_Format(PyExc_ValueError, "An offset cannot have %d bytes.", width);
        return NULL;
    }
    if (slots(&c, hashes, validity, offset) || optional(data, &c.values) ||
        PyObject_GetBuffer(offsets, &c.offsets, PyBUF_SIMPLE) ||
        (c.rows && room(&c, &c.offsets, c.offset + c.rows + 1, 8 * width, "offsets")))
        goto done;
    Py_BEGIN_ALLOW_THREADS
    wrong = ia_hash_texts(c.hashes.buf, c.values.buf ? c.values.buf : &nothing, c.values.len, c.offsets.buf,
                          c.validity.buf, c.offset, c.rows, width);
    Py_END_ALLOW_THREADS
    if (wrong)
        PyErr_SetString(PyExc_ValueError, "The string offsets of the Arrow array do not match its data.");
    else
        result = Py_NewRef(Py_None);
done:
    release(&c);
    return result;
}

PyDoc_STRVAR(add_doc,
             "add_up(counts, sums, index, hashes, /)\n--\n\n"
             "Count rows and add up their hashes by bucket: counts[index[i]] += 1 and sums[index[i]] += hashes[i]\n"
             "for every i.\n\n"
             "All arguments are buffers of numbers of 64 bits. counts and sums must be writable and of equal size,\n"
             "and so must index and hashes. The GIL is released.\n\n"
             "Raises ValueError for other sizes or an index outside counts. Nothing is counted then.");

static PyObject *add_up(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *objects[4], *result = NULL;
    Py_buffer views[4] = {{0}};
    if (!PyArg_ParseTuple(args, "OOOO:add_up", &objects[0], &objects[1], &objects[2], &objects[3]))
        return NULL;
    for (int i = 0; i < 4; i++) {
        if (PyObject_GetBuffer(objects[i], &views[i], i < 2 ? PyBUF_WRITABLE : PyBUF_SIMPLE))
            goto done;
        if (views[i].len % 8 || (uintptr_t)views[i].buf % 8 || (i % 2 && views[i].len != views[i - 1].len)) {
            PyErr_SetString(PyExc_ValueError, "counts and sums, and index and hashes, must be as many numbers of 64 bits.");
            goto done;
        }
    }
    int wrong;
    Py_BEGIN_ALLOW_THREADS
    wrong = ia_hash_add(views[0].buf, views[1].buf, views[0].len / 8, views[2].buf, views[3].buf, views[2].len / 8);
    Py_END_ALLOW_THREADS
    if (wrong)
        PyErr_SetString(PyExc_ValueError, "An index is not that of a bucket.");
    else
        result = Py_NewRef(Py_None);
done:
    for (int i = 0; i < 4; i++)
        PyBuffer_Release(&views[i]);
    return result;
}

/* So many numbers of so many bytes; -1 with an exception set. */
static int numbers(struct column *c, PyObject *values, PyObject *validity, long long offset, long long rows, int width)
{
    if (rows < 0 || rows > INT64_C(1) << 56) {
        PyErr_Format(PyExc_ValueError, "A column cannot have %lld rows.", rows);
        return -1;
    }
    c->rows = rows;
    if (begin(c, offset) || PyObject_GetBuffer(values, &c->values, PyBUF_SIMPLE) || optional(validity, &c->validity) ||
        room(c, &c->values, c->offset + c->rows, 8 * width, "values"))
        return -1;
    return c->validity.buf ? room(c, &c->validity, c->offset + c->rows, 1, "validity") : 0;
}

PyDoc_STRVAR(sum_doc,
             "sum_column(values, offset, rows, width, validity, /)\n--\n\n"
             "Return the sum of the values of a column that are not NULL, as unsigned integers, modulo 2**64.\n\n"
             "values is Arrow's buffer, offset the index of the first row, rows the number of rows, width the bytes\n"
             "of a value (1, 2, 4 or 8), and validity Arrow's bitmap or None. The GIL is released.\n\n"
             "Raises ValueError for another width or a buffer that is too short.");

static PyObject *sum_column(PyObject *Py_UNUSED(module), PyObject *args)
{
    struct column c = {0};
    PyObject *values, *validity, *result = NULL;
    long long offset, rows;
    int width;
    if (!PyArg_ParseTuple(args, "OLLiO:sum_column", &values, &offset, &rows, &width, &validity))
        return NULL;
    if (width != 1 && width != 2 && width != 4 && width != 8) {
        PyErr_Format(PyExc_ValueError, "An integer cannot have %d bytes.", width);
        return NULL;
    }
    if (numbers(&c, values, validity, offset, rows, width))
        goto done;
    uint64_t sum;
    Py_BEGIN_ALLOW_THREADS
    sum = ia_sum_column(c.values.buf, c.validity.buf, c.offset, c.rows, width);
    Py_END_ALLOW_THREADS
    result = PyLong_FromUnsignedLongLong(sum);
done:
    release(&c);
    return result;
}

PyDoc_STRVAR(entries_doc,
             "sum_entries(sums, indices, offset, rows, validity, /)\n--\n\n"
             "Return the sum of sums[index] over a column of indices that are not NULL, modulo 2**64.\n\n"
             "sums is a buffer of numbers of 64 bits, one per entry of a dictionary. indices is Arrow's buffer of\n"
             "indices of 4 bytes. The other arguments are those of sum_column(). The GIL is released.\n\n"
             "Raises ValueError for a buffer that is too short or an index outside sums.");

static PyObject *sum_entries(PyObject *Py_UNUSED(module), PyObject *args)
{
    struct column c = {0};
    PyObject *sums, *indices, *validity, *result = NULL;
    long long offset, rows;
    if (!PyArg_ParseTuple(args, "OOLLO:sum_entries", &sums, &indices, &offset, &rows, &validity))
        return NULL;
    if (PyObject_GetBuffer(sums, &c.hashes, PyBUF_SIMPLE))
        return NULL;
    if (c.hashes.len % 8 || (uintptr_t)c.hashes.buf % 8) {
        PyErr_SetString(PyExc_ValueError, "sums must be whole numbers of 64 bits.");
        goto done;
    }
    if (numbers(&c, indices, validity, offset, rows, 4))
        goto done;
    uint64_t sum;
    int wrong;
    Py_BEGIN_ALLOW_THREADS
    wrong = ia_sum_entries(c.hashes.buf, c.hashes.len / 8, c.values.buf, c.validity.buf, c.offset, c.rows, &sum);
    Py_END_ALLOW_THREADS
    if (wrong)
        PyErr_SetString(PyExc_ValueError, "An index is not that of an entry.");
    else
        result = PyLong_FromUnsignedLongLong(sum);
done:
    release(&c);
    return result;
}

static PyMethodDef methods[] = {
    {"mix_numbers", mix_numbers, METH_VARARGS, numbers_doc},
    {"mix_texts", mix_texts, METH_VARARGS, texts_doc},
    {"add_up", add_up, METH_VARARGS, add_doc},
    {"sum_column", sum_column, METH_VARARGS, sum_doc},
    {"sum_entries", sum_entries, METH_VARARGS, entries_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    IA_MODULE_SLOTS_END,
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_hash",
    .m_doc = "Compute hashes of the rows of Arrow columns, and sums over columns (see row_hash.h, column_sums.h).",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__hash(void)
{
    return PyModuleDef_Init(&module_def);
}
