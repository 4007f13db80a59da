/* Rows of Python values to columns, for executemany(): only the steps that are slow in Python. operations/column_binding.py
 * decides the type that a column is bound as, and whether its values fit. */
#ifndef INFORMIX_ARROW_ENCODE_PYTHON_H
#define INFORMIX_ARROW_ENCODE_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define IA_PY_DIGITS 32 /* most digits of a DECIMAL */

/* ---- rows to columns --------------------------------------------------------------------------------------------- */

/* Put the values of one row, a tuple or list of `count`, into row `at` of the columns.  1 done, 0 a column has values of two
 * types now, -1 an exception. */
static int ia_py_spread(PyObject *row, Py_ssize_t at, PyObject *columns, Py_ssize_t count, PyTypeObject **types)
{
    const int tuple = PyTuple_CheckExact(row);
    const Py_ssize_t size = tuple ? PyTuple_Size(row) : PyList_Size(row);
    if (size != count) {
        PyErr_Format(PyExc_ValueError, "Row %zd has %zd values, but %zd were expected.", at, size, count);
        return -1;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *const value = tuple ? PyTuple_GetItem(row, k) : PyList_GetItem(row, k);
        if (value == NULL) return -1;
        if (value != Py_None) {
            if (types[k] == NULL) {
                types[k] = Py_TYPE(value);
                Py_INCREF((PyObject *)types[k]); /* the value may be given another class by a row that comes later */
            }
            if (types[k] != Py_TYPE(value)) return 0;
        }
        Py_INCREF(value);
        if (PyList_SetItem(PyTuple_GetItem(columns, k), at, value)) return -1;
    }
    return 1;
}

/* A tuple of `count` lists of `size`, empty yet. */
static PyObject *ia_py_lists(Py_ssize_t count, Py_ssize_t size)
{
    PyObject *columns = PyTuple_New(count);
    for (Py_ssize_t k = 0; columns && k < count; k++) {
        PyObject *list = PyList_New(size);
        if (list == NULL || PyTuple_SetItem(columns, k, list)) Py_CLEAR(columns);
    }
    return columns;
}

PyDoc_STRVAR(ia_py_columns_doc,
             "columns(rows, count) -> tuple[tuple[type, list], ...] | None\n--\n\n"
             "Transpose a list of rows of `count` values each.\n\n"
             "Returns for each column the type of its values other than None, and the list of its values. The type\n"
             "is NoneType if all values are None. Returns None if a column has values of more than one type. Raises\n"
             "ValueError for a row of another length.");

static PyObject *ia_py_columns(PyObject *module, PyObject *args)
{
    PyObject *rows, *columns = NULL, *result = NULL;
    Py_ssize_t count;
    int same = 1;
    (void)module;
    if (!PyArg_ParseTuple(args, "On:columns", &rows, &count)) return NULL;
    if (!PyList_Check(rows) || count < 0 || count > INT16_MAX) {
        PyErr_SetString(PyExc_ValueError, "columns() needs a list of rows and their length, 0 to 32767.");
        return NULL;
    }
    const Py_ssize_t size = PyList_Size(rows);
    PyTypeObject **types = PyMem_Calloc((size_t)count + 1, sizeof *types);
    if (types == NULL) return PyErr_NoMemory();
    columns = ia_py_lists(count, size);
    if (columns == NULL) goto done;

    for (Py_ssize_t at = 0; at < size && same; at++) {
        PyObject *row = PyList_GetItem(rows, at); /* looked up anew each time: a row of its own class may run anything */
        if (row == NULL) goto done;
        Py_INCREF(row);
        if (!PyTuple_CheckExact(row) && !PyList_CheckExact(row)) {
            PyObject *const plain = PySequence_Tuple(row);
            Py_DECREF(row);
            if (plain == NULL) goto done;
            row = plain;
        }
        same = ia_py_spread(row, at, columns, count, types);
        Py_DECREF(row);
        if (same < 0) goto done;
    }
    if (!same) {
        result = Py_None;
        Py_INCREF(result);
        goto done;
    }
    result = PyTuple_New(count);
    for (Py_ssize_t k = 0; result && k < count; k++) {
        PyObject *const type = (PyObject *)(types[k] ? types[k] : Py_TYPE(Py_None));
        PyObject *const pair = PyTuple_Pack(2, type, PyTuple_GetItem(columns, k));
        if (pair == NULL || PyTuple_SetItem(result, k, pair)) Py_CLEAR(result);
    }
done:
    for (Py_ssize_t k = 0; k < count; k++) Py_XDECREF((PyObject *)types[k]);
    PyMem_Free(types);
    Py_XDECREF(columns);
    return result;
}

/* ---- a decimal --------------------------------------------------------------------------------------------------- */

/* A finite number as written: v * 10^-scale, of `whole` digits before the point.  As Python's as_tuple() counts them:
 * 0.00 has two places and no whole digit, 1E+3 four whole digits. */
struct ia_py_number {
    unsigned __int128 v;
    int negative;
    int scale;
    int whole;
};

/* Read str(Decimal): [-] digits [. digits] [E [+-] digits].  0 for anything else and for what has more than 32 digits. */
static int ia_py_number_from(struct ia_py_number *number, const char *s, Py_ssize_t length)
{
    const char *const end = s + length;
    unsigned __int128 v = 0;
    int digits = 0, places = 0, dot = 0, seen = 0, exponent = 0;

    number->negative = s < end && *s == '-';
    s += number->negative;
    for (; s < end; s++) {
        if (*s == '.' && !dot) {
            dot = 1;
            continue;
        }
        if (*s < '0' || *s > '9') break;
        seen = 1;
        if (dot && ++places > IA_PY_DIGITS) return 0;
        if (digits == 0 && *s == '0') continue;
        if (++digits > IA_PY_DIGITS) return 0;
        v = v * 10 + (unsigned)(*s - '0');
    }
    if (!seen) return 0;
    if (s < end && (*s == 'E' || *s == 'e')) {
        int negative = 0, some = 0;
        if (++s < end && (*s == '+' || *s == '-')) negative = *s++ == '-';
        for (; s < end && *s >= '0' && *s <= '9'; s++, some = 1) {
            exponent = exponent * 10 + (*s - '0');
            if (exponent > 2 * IA_PY_DIGITS) return 0;
        }
        if (!some) return 0;
        if (negative) exponent = -exponent;
    }
    if (s != end) return 0;
    if (digits == 0) digits = 1;
    exponent -= places;
    if (exponent > 0) {
        if (digits + exponent > IA_PY_DIGITS) return 0;
        for (int k = 0; k < exponent; k++) v *= 10;
    }
    number->scale = exponent < 0 ? -exponent : 0;
    number->whole = digits + exponent > 0 ? digits + exponent : 0;
    number->v = v;
    return number->scale <= IA_PY_DIGITS;
}

/* ---- values to Arrow's buffers ----------------------------------------------------------------------------------- */

#define IA_PY_NAMES 6

/* A column that is being made of a list of values. */
struct ia_py_column {
    uint8_t *values;
    int8_t *scales;               /* of decimals: of each as it stands in `values` */
    int scale, whole;             /* of decimals: the most of any; of times 6 where there is a fraction of a second */
    PyObject *names[IA_PY_NAMES]; /* of attributes and methods, interned */
};

/* Store one value that is not None: 1 done, 0 the column cannot be of this type, -1 an exception. */
typedef int (*ia_py_put)(struct ia_py_column *column, Py_ssize_t at, PyObject *value);

/* Turn an exception of this kind into "cannot be of this type". */
static int ia_py_not_so(PyObject *kind)
{
    if (!PyErr_ExceptionMatches(kind)) return -1;
    PyErr_Clear();
    return 0;
}

static int ia_py_put_integer(struct ia_py_column *column, Py_ssize_t at, PyObject *value)
{
    int overflow;
    const int64_t v = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (v == -1 && PyErr_Occurred()) return -1;
    memcpy(column->values + 8 * at, &v, 8);
    return !overflow;
}

static int ia_py_put_float(struct ia_py_column *column, Py_ssize_t at, PyObject *value)
{
    const double v = PyFloat_AsDouble(value);
    if (v == -1.0 && PyErr_Occurred()) return -1;
    memcpy(column->values + 8 * at, &v, 8);
    return 1;
}

static int ia_py_put_boolean(struct ia_py_column *column, Py_ssize_t at, PyObject *value)
{
    if (value == Py_True) column->values[at >> 3] |= (uint8_t)(1u << (at & 7));
    return value == Py_True || value == Py_False;
}

static int ia_py_put_decimal(struct ia_py_column *column, Py_ssize_t at, PyObject *value)
{
    struct ia_py_number number;
    Py_ssize_t length;
    PyObject *text = PyObject_Str(value);
    const char *s = text ? PyUnicode_AsUTF8AndSize(text, &length) : NULL;
    const int good = s != NULL && ia_py_number_from(&number, s, length);
    Py_XDECREF(text);
    if (s == NULL) return -1;
    if (!good) return 0;
    if (number.scale > column->scale) column->scale = number.scale;
    if (number.whole > column->whole) column->whole = number.whole;
    const unsigned __int128 two = number.negative ? -number.v : number.v;
    memcpy(column->values + 16 * at, &two, 16);
    column->scales[at] = (int8_t)number.scale;
    return 1;
}

/* A number that an attribute holds; -1 with an exception set. */
static int64_t ia_py_part(PyObject *value, PyObject *name)
{
    PyObject *const part = PyObject_GetAttr(value, name);
    if (part == NULL) return -1;
    const int64_t v = PyLong_AsLongLong(part);
    Py_DECREF(part);
    return v;
}

/* names[0] is "toordinal"; days since 1970. */
static int ia_py_days(struct ia_py_column *column, PyObject *value, int64_t *days)
{
    PyObject *const ordinal = PyObject_CallMethodObjArgs(value, column->names[0], NULL);
    if (ordinal == NULL) return -1;
    *days = PyLong_AsLongLong(ordinal) - 719163;
    Py_DECREF(ordinal);
    return PyErr_Occurred() ? -1 : 1;
}

static int ia_py_put_date(struct ia_py_column *column, Py_ssize_t at, PyObject *value)
{
    int64_t days;
    if (ia_py_days(column, value, &days) < 0) return -1;
    if (days < INT32_MIN || days > INT32_MAX) return 0;
    const int32_t v = (int32_t)days;
    memcpy(column->values + 4 * at, &v, 4);
    return 1;
}

/* names[1] to names[5] are the fields of a time of day and "tzinfo", which must be None. */
static int ia_py_clock(struct ia_py_column *column, PyObject *value, int64_t *microseconds)
{
    static const int64_t unit[4] = {3600000000, 60000000, 1000000, 1};
    PyObject *const zone = PyObject_GetAttr(value, column->names[5]);
    if (zone == NULL) return -1;
    const int zoned = zone != Py_None;
    Py_DECREF(zone);
    *microseconds = 0;
    for (int k = 0; k < 4 && !zoned; k++) {
        const int64_t v = ia_py_part(value, column->names[1 + k]);
        if (v == -1 && PyErr_Occurred()) return -1;
        if (v < 0 || v > 999999) return 0;
        *microseconds += v * unit[k];
        if (k == 3 && v) column->scale = 6;
    }
    return !zoned;
}

static int ia_py_put_time(struct ia_py_column *column, Py_ssize_t at, PyObject *value)
{
    int64_t v;
    const int found = ia_py_clock(column, value, &v);
    if (found > 0) memcpy(column->values + 8 * at, &v, 8);
    return found;
}

static int ia_py_put_moment(struct ia_py_column *column, Py_ssize_t at, PyObject *value)
{
    int64_t days, v;
    const int found = ia_py_clock(column, value, &v);
    if (found <= 0) return found;
    if (ia_py_days(column, value, &days) < 0) return -1;
    if (days < -4000000 || days > 4000000) return 0; /* years 1 to 9999 lie well within */
    v += days * 86400000000;
    memcpy(column->values + 8 * at, &v, 8);
    return 1;
}

/* names: days, seconds, microseconds. */
static int ia_py_put_span(struct ia_py_column *column, Py_ssize_t at, PyObject *value)
{
    int64_t part[3];
    for (int k = 0; k < 3; k++) {
        part[k] = ia_py_part(value, column->names[k]);
        if (part[k] == -1 && PyErr_Occurred()) return -1;
    }
    if (part[1] < 0 || part[1] >= 86400 || part[2] < 0 || part[2] >= 1000000) return 0;
    const __int128 v = (__int128)part[0] * 86400000000 + part[1] * 1000000 + part[2];
    const int64_t kept = (int64_t)v;
    memcpy(column->values + 8 * at, &kept, 8);
    return v == kept && kept != INT64_MIN;
}

/* Bring all decimals to the column's scale.  At most 32 digits: nothing overflows. */
static void ia_py_align(struct ia_py_column *column, Py_ssize_t size)
{
    for (Py_ssize_t at = 0; at < size; at++) {
        int short_of = column->scale - column->scales[at];
        if (short_of == 0) continue;
        unsigned __int128 v;
        memcpy(&v, column->values + 16 * at, 16);
        for (; short_of > 0; short_of--) v *= 10; /* two's complement: right for negative ones, too */
        memcpy(column->values + 16 * at, &v, 16);
    }
}

/* What a list can be made a column of. */
static const struct ia_py_kind {
    char kind;
    int bits;
    ia_py_put put;
    const char *names[IA_PY_NAMES];
} ia_py_kinds[] = {
    {'i', 64, ia_py_put_integer, {NULL}},
    {'f', 64, ia_py_put_float, {NULL}},
    {'b', 1, ia_py_put_boolean, {NULL}},
    {'n', 128, ia_py_put_decimal, {NULL}},
    {'D', 32, ia_py_put_date, {"toordinal"}},
    {'M', 64, ia_py_put_moment, {"toordinal", "hour", "minute", "second", "microsecond", "tzinfo"}},
    {'T', 64, ia_py_put_time, {"toordinal", "hour", "minute", "second", "microsecond", "tzinfo"}},
    {'S', 64, ia_py_put_span, {"days", "seconds", "microseconds"}},
};

/* Store all values: as an ia_py_put. */
static int ia_py_fill(struct ia_py_column *column, const struct ia_py_kind *kind, PyObject *list, Py_ssize_t size,
                      uint8_t *valid, Py_ssize_t *nulls)
{
    for (int k = 0; k < IA_PY_NAMES && kind->names[k]; k++) {
        column->names[k] = PyUnicode_InternFromString(kind->names[k]);
        if (column->names[k] == NULL) return -1;
    }
    for (Py_ssize_t at = 0; at < size; at++) {
        PyObject *const value = PyList_GetItem(list, at); /* what a class of its own runs may shorten the list */
        if (value == NULL) return -1;
        if (value == Py_None) {
            ++*nulls;
            continue;
        }
        valid[at >> 3] |= (uint8_t)(1u << (at & 7));
        Py_INCREF(value);
        const int put = kind->put(column, at, value);
        Py_DECREF(value);
        if (put <= 0) return put;
    }
    if (kind->kind == 'n') ia_py_align(column, size);
    return 1;
}

PyDoc_STRVAR(ia_py_fixed_doc,
             "fixed(kind, values) -> tuple[int, bytearray, bytearray, int, int] | None\n--\n\n"
             "Convert a list of values of one type and None to the buffers of an Arrow column.\n\n"
             "kind is i (int to int64), f (float to float64), b (bool), n (Decimal to decimal128), D (date to\n"
             "date32), M (datetime to timestamp[us]), T (time to time64[us]) or S (timedelta to duration[us]).\n\n"
             "Returns (nulls, validity, data, precision, scale). For n, scale is the largest number of decimal\n"
             "places, and precision is scale plus the largest number of digits before the point. For M and T, scale\n"
             "is 6 if a value has a fraction of a second. All others are 0.\n\n"
             "Returns None for a value that the type cannot hold: more than 64 bits, a time zone, NaN, or more than\n"
             "32 digits.");

static PyObject *ia_py_fixed(PyObject *module, PyObject *args)
{
    PyObject *list, *values = NULL, *valid = NULL, *result = NULL;
    const struct ia_py_kind *kind = NULL;
    struct ia_py_column column = {0};
    Py_ssize_t nulls = 0;
    int letter;
    (void)module;
    if (!PyArg_ParseTuple(args, "CO:fixed", &letter, &list)) return NULL;
    for (size_t k = 0; k < sizeof ia_py_kinds / sizeof *ia_py_kinds; k++)
        if (ia_py_kinds[k].kind == letter) kind = &ia_py_kinds[k];
    if (kind == NULL || !PyList_Check(list) || PyList_Size(list) > PY_SSIZE_T_MAX / 256) {
        PyErr_SetString(PyExc_ValueError, "fixed() needs one of i, f, b, n, D, M, T, S and a list.");
        return NULL;
    }
    const Py_ssize_t size = PyList_Size(list), bytes = (size * kind->bits + 7) / 8;
    values = PyByteArray_FromStringAndSize(NULL, bytes);
    valid = PyByteArray_FromStringAndSize(NULL, (size + 7) / 8);
    column.scales = kind->kind == 'n' ? PyMem_Calloc((size_t)size + 1, 1) : NULL;
    if (values == NULL || valid == NULL || (kind->kind == 'n' && column.scales == NULL)) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        goto done;
    }
    column.values = (uint8_t *)PyByteArray_AsString(values);
    memset(column.values, 0, (size_t)bytes);
    memset(PyByteArray_AsString(valid), 0, (size_t)(size + 7) / 8);

    const int filled = ia_py_fill(&column, kind, list, size, (uint8_t *)PyByteArray_AsString(valid), &nulls);
    if (filled < 0) goto done;
    const int precision = column.whole + column.scale;
    if (filled == 0 || (kind->kind == 'n' && (precision < 1 || precision > IA_PY_DIGITS))) {
        result = Py_None;
        Py_INCREF(result);
    } else {
        result = Py_BuildValue("(nOOii)", nulls, valid, values, precision, column.scale);
    }
done:
    for (int k = 0; k < IA_PY_NAMES; k++) Py_XDECREF(column.names[k]);
    PyMem_Free(column.scales);
    Py_XDECREF(values);
    Py_XDECREF(valid);
    return result;
}

/* The UTF-8 of a str, or NULL with an exception set; it lives as long as the str. */
static const char *ia_py_utf8(PyObject *list, Py_ssize_t at, Py_ssize_t *length)
{
    PyObject *const value = PyList_GetItem(list, at);
    *length = 0;
    if (value == NULL) return NULL;
    return value == Py_None ? "" : PyUnicode_AsUTF8AndSize(value, length);
}

PyDoc_STRVAR(ia_py_texts_doc,
             "texts(values) -> tuple[int, bytearray, bytearray, bytearray] | None\n--\n\n"
             "Convert a list of str and None to the buffers of an Arrow column of type utf8.\n\n"
             "Returns (nulls, validity, offsets, data), with offsets of 32 bits. Returns None if a str has half of a\n"
             "surrogate pair, or if the data has 2 GiB or more.");

static PyObject *ia_py_texts(PyObject *module, PyObject *list)
{
    PyObject *valid = NULL, *offsets = NULL, *data = NULL, *result = NULL;
    Py_ssize_t nulls = 0, length;
    int64_t total = 0;
    int good = 1;
    (void)module;
    if (!PyList_Check(list) || PyList_Size(list) > INT32_MAX / 8) {
        PyErr_SetString(PyExc_ValueError, "texts() needs a list.");
        return NULL;
    }
    const Py_ssize_t size = PyList_Size(list);
    valid = PyByteArray_FromStringAndSize(NULL, (size + 7) / 8);
    offsets = PyByteArray_FromStringAndSize(NULL, 4 * (size + 1));
    if (valid == NULL || offsets == NULL) goto done;
    uint8_t *const bits = (uint8_t *)PyByteArray_AsString(valid);
    char *const ends = PyByteArray_AsString(offsets);
    memset(bits, 0, (size_t)(size + 7) / 8);
    memset(ends, 0, 4);
    /* No Python code runs from here on: lengths are the same in both passes. */
    for (Py_ssize_t at = 0; at < size && good; at++) {
        if (ia_py_utf8(list, at, &length) == NULL) {
            good = ia_py_not_so(PyExc_UnicodeEncodeError);
            if (good < 0) goto done;
            break;
        }
        if (PyList_GetItem(list, at) == Py_None) {
            nulls++;
        } else {
            bits[at >> 3] |= (uint8_t)(1u << (at & 7));
        }
        total += length;
        good = total <= INT32_MAX;
        const int32_t end = (int32_t)total;
        memcpy(ends + 4 * (at + 1), &end, 4);
    }
    if (!good) {
        result = Py_None;
        Py_INCREF(result);
        goto done;
    }
    data = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)total);
    if (data == NULL) goto done;
    char *out = PyByteArray_AsString(data);
    for (Py_ssize_t at = 0; at < size; at++) {
        const char *const text = ia_py_utf8(list, at, &length);
        if (text == NULL) goto done;
        memcpy(out, text, (size_t)length);
        out += length;
    }
    result = Py_BuildValue("(nOOO)", nulls, valid, offsets, data);
done:
    Py_XDECREF(valid);
    Py_XDECREF(offsets);
    Py_XDECREF(data);
    return result;
}

#endif
