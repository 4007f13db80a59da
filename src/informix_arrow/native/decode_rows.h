/* Arrow columns to rows of Python values, for fetchall(). Whole tuples are created here, a row at a time, without a list for each
 * column. pyarrow converts the values of types that this file does not support. */
#ifndef INFORMIX_ARROW_DECODE_ROWS_H
#define INFORMIX_ARROW_DECODE_ROWS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "arrow_c_data.h"

#define IA_ROWS_DAYS 128        /* dates that are remembered: neighbours often share them */
#define IA_ROWS_ORDINAL 719163 /* of 1970-01-01 */

/* One column of the batch, as far as it is made here. */
struct ia_rows_column {
    char kind;            /* s, i, l: integers of 2, 4, 8 bytes; f, g: floats; b, u, D, n (decimal128); 0: it comes ready */
    const uint8_t *valid; /* NULL: no NULLs */
    const uint8_t *values;
    const uint8_t *texts; /* of u; values are its offsets */
    int64_t base;         /* of the first row */
    int64_t end;          /* of u: the last offset, which no other exceeds */
    int scale;            /* of n */
    PyObject *ready;      /* a list, borrowed */
};

/* What is needed besides the columns. */
struct ia_rows_python {
    PyObject *ordinal, *decimal; /* date.fromordinal and Decimal; NULL until wanted */
    PyObject *date[IA_ROWS_DAYS];
    int32_t day[IA_ROWS_DAYS];
};

static PyObject *ia_rows_import(const char *module, const char *first, const char *second)
{
    PyObject *at = PyImport_ImportModule(module);
    PyObject *found = at ? PyObject_GetAttrString(at, first) : NULL;
    Py_XDECREF(at);
    if (found == NULL || second == NULL) return found;
    PyObject *inner = PyObject_GetAttrString(found, second);
    Py_DECREF(found);
    return inner;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static PyObject *ia_rows_date(struct ia_rows_python *python, int32_t day)
{
    const unsigned slot = (unsigned)day % IA_ROWS_DAYS;
    if (python->date[slot] == NULL || python->day[slot] != day) {
        if (python->ordinal == NULL) python->ordinal = ia_rows_import("datetime", "date", "fromordinal");
        PyObject *number = python->ordinal ? PyLong_FromLongLong((long long)day + IA_ROWS_ORDINAL) : NULL;
        PyObject *date = number ? PyObject_CallFunctionObjArgs(python->ordinal, number, NULL) : NULL;
        Py_XDECREF(number);
        if (date == NULL) return NULL;
        PyObject *const before = python->date[slot];
        python->date[slot] = date;
        python->day[slot] = day;
        Py_XDECREF(before);
    }
    Py_INCREF(python->date[slot]);
    return python->date[slot];
}

/* The digits of an unscaled number and its exponent, as Decimal() reads them: all digits and places stay. */
static PyObject *ia_rows_decimal(struct ia_rows_python *python, const uint8_t *at, int scale)
{
    char text[64], *const end = text + sizeof text - 8, *p = end;
    __int128 raw;
    memcpy(&raw, at, sizeof raw);
    unsigned __int128 rest = raw < 0 ? -(unsigned __int128)raw : (unsigned __int128)raw;
    while (rest >> 64) { /* at most 39 digits */
        uint64_t low = (uint64_t)(rest % 1000000000);
        rest /= 1000000000;
        for (int k = 0; k < 9; k++, low /= 10) *--p = (char)('0' + low % 10);
    }
    uint64_t low = (uint64_t)rest;
    do *--p = (char)('0' + low % 10);
    while (low /= 10);
    if (raw < 0) *--p = '-';
    const int more = scale ? snprintf(end, 8, "E%d", -scale) : 0;

    if (python->decimal == NULL) python->decimal = ia_rows_import("decimal", "Decimal", NULL);
    PyObject *string = python->decimal ? PyUnicode_FromStringAndSize(p, end - p + more) : NULL;
    PyObject *number = string ? PyObject_CallFunctionObjArgs(python->decimal, string, NULL) : NULL;
    Py_XDECREF(string);
    return number;
}

static PyObject *ia_rows_text(const struct ia_rows_column *c, int64_t i)
{
    int32_t ends[2];
    memcpy(ends, c->values + 4 * i, sizeof ends);
    if (ends[0] < 0 || ends[1] < ends[0] || ends[1] > c->end) {
        PyErr_SetString(PyExc_ValueError, "The offsets of a text column are inconsistent.");
        return NULL;
    }
    return PyUnicode_FromStringAndSize((const char *)c->texts + ends[0], ends[1] - ends[0]);
}

/* The value of row `row`; a new reference, NULL with an exception set. */
static PyObject *ia_rows_value(struct ia_rows_python *python, const struct ia_rows_column *c, int64_t row)
{
    const int64_t i = c->base + row;
    if (c->valid && !(c->valid[i >> 3] >> (i & 7) & 1)) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    switch (c->kind) {
    case 's': {
        int16_t v;
        memcpy(&v, c->values + 2 * i, sizeof v);
        return PyLong_FromLong(v);
    }
    case 'i': {
        int32_t v;
        memcpy(&v, c->values + 4 * i, sizeof v);
        return PyLong_FromLong(v);
    }
    case 'l': {
        int64_t v;
        memcpy(&v, c->values + 8 * i, sizeof v);
        return PyLong_FromLongLong(v);
    }
    case 'f': {
        float v;
        memcpy(&v, c->values + 4 * i, sizeof v);
        return PyFloat_FromDouble((double)v);
    }
    case 'g': {
        double v;
        memcpy(&v, c->values + 8 * i, sizeof v);
        return PyFloat_FromDouble(v);
    }
    case 'b': return PyBool_FromLong(c->values[i >> 3] >> (i & 7) & 1);
    case 'u': return ia_rows_text(c, i);
    case 'D': {
        int32_t day;
        memcpy(&day, c->values + 4 * i, sizeof day);
        return ia_rows_date(python, day);
    }
    case 'n': return ia_rows_decimal(python, c->values + 16 * i, c->scale);
    default: {
        PyObject *const value = PyList_GetItem(c->ready, (Py_ssize_t)row);
        Py_XINCREF(value);
        return value;
    }
    }
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* The kind of an Arrow format that is made here; 0 for all others. */
static char ia_rows_kind(const char *format, int *scale)
{
    int precision, used = 0;
    if (format == NULL) return 0;
    if (strcmp(format, "tdD") == 0) return 'D';
    if (format[0] != '\0' && format[1] == '\0') return strchr("silfgbu", format[0]) ? format[0] : 0;
    if (sscanf(format, "d:%d,%d%n", &precision, scale, &used) == 2 && format[used] == '\0' && *scale >= 0 && *scale <= 38)
        return 'n';
    return 0;
}

/* Column k of the batch from row `first` on; -1 with an exception set. */
static int ia_rows_column_from(struct ia_rows_column *c, const struct ArrowSchema *schema, const struct ArrowArray *array,
                               int64_t batch_offset, int64_t first, int64_t count)
{
    c->kind = ia_rows_kind(schema->format, &c->scale);
    const int64_t buffers = c->kind == 'u' ? 3 : 2;
    if (c->kind == 0 || schema->dictionary || array->n_buffers != buffers || array->offset < 0 || batch_offset < 0 ||
        array->length < batch_offset + first + count) {
        PyErr_Format(PyExc_ValueError, "A column of the Arrow format '%.40s' must be passed in ready.",
                     schema->format ? schema->format : "");
        return -1;
    }
    c->base = array->offset + batch_offset + first;
    c->valid = array->null_count == 0 ? NULL : array->buffers[0];
    c->values = array->buffers[1];
    if (c->kind == 'u') {
        int32_t end = 0;
        if (c->values) memcpy(&end, c->values + 4 * (c->base + count), sizeof end);
        c->end = end;
        c->texts = array->buffers[2] ? array->buffers[2] : (const uint8_t *)"";
    }
    if (count && c->values == NULL) {
        PyErr_SetString(PyExc_ValueError, "A column has no values buffer.");
        return -1;
    }
    return 0;
}

/* All columns; `ready` is None, or a tuple of None for those that are made here, and lists of `count` values. */
static int ia_rows_columns(struct ia_rows_column *columns, const struct ArrowSchema *schema, const struct ArrowArray *array,
                           PyObject *ready, int64_t first, int64_t count)
{
    for (int64_t k = 0; k < array->n_children; k++) {
        struct ia_rows_column *const c = columns + k;
        PyObject *const list = ready == Py_None ? Py_None : PyTuple_GetItem(ready, (Py_ssize_t)k);
        if (list == NULL) return -1;
        if (list == Py_None) {
            if (ia_rows_column_from(c, schema->children[k], array->children[k], array->offset, first, count)) return -1;
        } else if (!PyList_Check(list) || PyList_Size(list) != count) {
            PyErr_Format(PyExc_ValueError, "Column %lld must be a list of %lld values.", (long long)k, (long long)count);
            return -1;
        } else {
            c->ready = list;
        }
    }
    return 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static PyObject *ia_rows_tuple(struct ia_rows_python *python, const struct ia_rows_column *columns, Py_ssize_t width,
                               int64_t row)
{
    PyObject *tuple = PyTuple_New(width);
    for (Py_ssize_t k = 0; tuple && k < width; k++) {
        PyObject *const value = ia_rows_value(python, columns + k, row);
        if (value == NULL || PyTuple_SetItem(tuple, k, value)) Py_CLEAR(tuple);
    }
    return tuple;
}

/* Rows first to first + count of a batch that the caller has looked at; NULL with an exception set. `ready` as in
 * ia_rows_columns. */
static PyObject *ia_rows_list(const struct ArrowSchema *schema, const struct ArrowArray *array, PyObject *ready,
                              int64_t first, int64_t count)
{
    const Py_ssize_t width = (Py_ssize_t)array->n_children;
    PyObject *rows = NULL;
    struct ia_rows_column *columns = PyMem_Calloc((size_t)width + 1, sizeof *columns);
    struct ia_rows_python *python = PyMem_Calloc(1, sizeof *python);
    if (columns == NULL || python == NULL) {
        PyErr_NoMemory();
    } else if (ia_rows_columns(columns, schema, array, ready, first, count) == 0) {
        int atoms = 1; /* whether no value can be part of a cycle */
        for (Py_ssize_t k = 0; k < width; k++) atoms &= columns[k].kind != 0;
        rows = PyList_New((Py_ssize_t)count);
        for (int64_t row = 0; rows && row < count; row++) {
            PyObject *const tuple = ia_rows_tuple(python, columns, width, row);
            /* As the collector does itself when it comes by: it need not look at them at all. */
            if (tuple && atoms) PyObject_GC_UnTrack(tuple);
            if (tuple == NULL || PyList_SetItem(rows, (Py_ssize_t)row, tuple)) Py_CLEAR(rows);
        }
    }
    if (python) {
        Py_XDECREF(python->ordinal);
        Py_XDECREF(python->decimal);
        for (int k = 0; k < IA_ROWS_DAYS; k++) Py_XDECREF(python->date[k]);
    }
    PyMem_Free(python);
    PyMem_Free(columns);
    return rows;
}

/* Whether both are a struct of as many columns. */
static int ia_rows_alike(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    return schema->release && array->release && schema->format && strcmp(schema->format, "+s") == 0 &&
           schema->n_children == array->n_children && array->n_children >= 0 && array->length >= 0 && array->offset >= 0;
}

PyDoc_STRVAR(ia_rows_doc,
             "rows(schema_capsule, array_capsule, first, count, ready) -> list[tuple]\n--\n\n"
             "Return the rows first to first + count of a record batch as tuples, with the values of to_pylist().\n\n"
             "The capsules are those of __arrow_c_array__. The batch is not released.\n\n"
             "ready has one entry per column. It is None for a column that this function converts: int16, int32,\n"
             "int64, float32, float64, bool, utf8, date32 and decimal128. For any other column it is the list of the\n"
             "`count` values. ready may be None if it would be None for all columns.\n\n"
             "Raises ValueError for a column of another type without such a list, and for rows outside the batch.");

static PyObject *ia_rows(PyObject *module, PyObject *args)
{
    PyObject *schema_capsule, *array_capsule, *ready;
    long long first, count;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOLLO:rows", &schema_capsule, &array_capsule, &first, &count, &ready)) return NULL;
    if (ready != Py_None && !PyTuple_Check(ready)) {
        PyErr_SetString(PyExc_TypeError, "ready must be None or a tuple.");
        return NULL;
    }
    const struct ArrowSchema *schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema");
    const struct ArrowArray *array = schema ? PyCapsule_GetPointer(array_capsule, "arrow_array") : NULL;
    if (array == NULL) return NULL;
    if (!ia_rows_alike(schema, array) || (ready != Py_None && array->n_children != PyTuple_Size(ready)) || first < 0 ||
        count < 0 || first > array->length || count > array->length - first) {
        PyErr_SetString(PyExc_ValueError, "rows() needs a batch that was not used before, a range of its rows, and as many columns as it has.");
        return NULL;
    }
    return ia_rows_list(schema, array, ready, first, count);
}

#endif
