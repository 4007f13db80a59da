/* What the two modules with a decoder share: reading ops and code pages, and returning batches. */
#ifndef INFORMIX_ARROW_DECODE_PYTHON_H
#define INFORMIX_ARROW_DECODE_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "arrow_c_data.h"
#include "decode_batch.h"
#include "decode_text.h"
#include "plan.h"

/* ops as C structs; NULL with an exception set. */
static struct ia_op *ia_ops_from(PyObject *sequence, Py_ssize_t *count)
{
    PyObject *fast = PySequence_Tuple(sequence);
    if (!fast) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_SetString(PyExc_TypeError, "ops must be a sequence of (kind, width, arg, flags).");
        return NULL;
    }
    *count = PyTuple_Size(fast);
    struct ia_op *ops = *count > 32767 ? NULL : PyMem_Calloc((size_t)*count + 1, sizeof *ops);
    if (!ops) {
        if (*count > 32767)
            PyErr_Format(PyExc_ValueError, "There are %zd columns. The maximum is 32767.", *count);
        else
            PyErr_NoMemory();
        Py_DECREF(fast);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < *count; i++) {
        int kind, width, arg, flags;
        PyObject *op = PySequence_Tuple(PyTuple_GetItem(fast, i));
        const int ok = op && PyArg_ParseTuple(op, "iiii;An op must be (kind, width, arg, flags).", &kind, &width, &arg, &flags);
        Py_XDECREF(op);
        if (!ok) {
            PyMem_Free(ops);
            Py_DECREF(fast);
            return NULL;
        }
        ops[i] = (struct ia_op){kind, width, arg, flags};
    }
    Py_DECREF(fast);
    return ops;
}

/* Copy a code page in, checked: what it yields goes unvalidated into utf8 columns. */
static inline int ia_page_from(struct ia_codepage_entry page[256], PyObject *object)
{
    const Py_ssize_t size = 256 * (Py_ssize_t)sizeof *page;
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE))
        return -1;
    const int right_size = view.len == size;
    if (right_size)
        memcpy(page, view.buf, (size_t)size);
    PyBuffer_Release(&view);
    if (!right_size) {
        PyErr_SetString(PyExc_ValueError, "codepage must have 1024 bytes: 256 entries of a length and 3 UTF-8 bytes.");
        return -1;
    }
    for (int i = 0; i < 256; i++) {
        const struct ia_codepage_entry *e = &page[i];
        if (e->length > 3 || ia_utf8_valid_until(e->utf8, e->length) != e->length) {
            PyErr_Format(PyExc_ValueError, "codepage: The entry of byte %d must be 0 to 3 bytes of UTF-8.", i);
            return -1;
        }
    }
    return 0;
}

static void ia_release_capsule(PyObject *capsule)
{
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release)
        array->release(array);
    free(array);
}

/* The open batch as an "arrow_array" capsule of a struct array, and a new one begun; NULL with an exception set. */
static PyObject *ia_take_capsule(struct ia_decoder *core)
{
    struct ArrowArray *array = calloc(1, sizeof *array);
    if (!array || ia_decoder_take(core, array)) {
        PyErr_NoMemory();
        free(array);
        return NULL;
    }
    PyObject *capsule = PyCapsule_New(array, "arrow_array", ia_release_capsule);
    if (!capsule) {
        array->release(array);
        free(array);
    }
    return capsule;
}

#endif
