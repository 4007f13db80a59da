/* What the extension modules share: the classes of errors, the guard against two threads, and the bytes that a method reads. */
#ifndef INFORMIX_ARROW_MODULE_H
#define INFORMIX_ARROW_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

#include "plan.h"

/* ---- the module ---------------------------------------------------------------------------------------------- */

/* The modules have no globals: the classes of errors hang on the module object (multi-phase initialisation). */
struct ia_module_state {
    PyObject *protocol_error;
    PyObject *data_error;
    PyObject *decimal; /* decimal.Decimal, where a module asks for it */
};

static inline int ia_module_add_errors(PyObject *module)
{
    struct ia_module_state *state = PyModule_GetState(module);
    PyObject *errors = PyImport_ImportModule("informix_arrow.wire.errors");
    if (!errors)
        return -1;
    state->protocol_error = PyObject_GetAttrString(errors, "ProtocolError");
    state->data_error = PyObject_GetAttrString(errors, "DataError");
    Py_DECREF(errors);
    return state->protocol_error && state->data_error ? 0 : -1;
}

static inline int ia_module_add_decimal(PyObject *module)
{
    struct ia_module_state *state = PyModule_GetState(module);
    PyObject *decimal = PyImport_ImportModule("decimal");
    if (!decimal)
        return -1;
    state->decimal = PyObject_GetAttrString(decimal, "Decimal");
    Py_DECREF(decimal);
    return state->decimal ? 0 : -1;
}

static inline int ia_module_add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    const int failed = !type || PyModule_AddType(module, (PyTypeObject *)type);
    Py_XDECREF(type);
    return failed ? -1 : 0;
}

static inline int ia_module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct ia_module_state *state = PyModule_GetState(module);
    Py_VISIT(state->protocol_error);
    Py_VISIT(state->data_error);
    Py_VISIT(state->decimal);
    return 0;
}

static inline int ia_module_clear(PyObject *module)
{
    struct ia_module_state *state = PyModule_GetState(module);
    Py_CLEAR(state->protocol_error);
    Py_CLEAR(state->data_error);
    Py_CLEAR(state->decimal);
    return 0;
}

/* The end of a module's slots. */
#ifdef Py_mod_multiple_interpreters
#define IA_MODULE_SLOTS_END {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED}, {0, NULL}
#else
#define IA_MODULE_SLOTS_END {0, NULL}
#endif

/* ---- an object ----------------------------------------------------------------------------------------------- */

/* One thread at a time; a second one gets an exception instead of a race. */
static inline int ia_enter(char *busy, const char *type)
{
    if (__atomic_test_and_set(busy, __ATOMIC_ACQUIRE)) {
        PyErr_Format(PyExc_RuntimeError, "This %s is in use by another thread.", type);
        return -1;
    }
    return 0;
}

static inline void ia_leave(char *busy)
{
    __atomic_clear(busy, __ATOMIC_RELEASE);
}

/* A tuple of `count` str; NULL with an exception set. */
static inline PyObject *ia_names_from(PyObject *object, Py_ssize_t count)
{
    PyObject *names = PySequence_Tuple(object);
    if (!names)
        return NULL;
    if (PyTuple_Size(names) != count) {
        PyErr_Format(PyExc_ValueError, "There are %zd ops, but %zd names.", count, PyTuple_Size(names));
        Py_CLEAR(names);
    }
    for (Py_ssize_t i = 0; names && i < count; i++) {
        if (!PyUnicode_Check(PyTuple_GetItem(names, i))) {
            PyErr_SetString(PyExc_TypeError, "names must be strings.");
            Py_CLEAR(names);
        }
    }
    return names;
}

/* ValueError that says what is wrong with the op of a column. */
static inline void ia_op_refused(PyObject *name, const struct ia_op *op, const char *wrong)
{
    PyErr_Format(PyExc_ValueError, "Column %R: The op (%d, %d, %d, %d) is not valid: %s.", name, (int)op->kind, (int)op->width, (int)op->arg,
                 (int)op->flags, wrong);
}

/* ---- the bytes that a method reads --------------------------------------------------------------------------- */

struct ia_span {
    Py_buffer view;
    Py_ssize_t start, end;
    const uint8_t *data; /* of the buffer's first byte; never NULL */
};

/* data[start:end], to be released with ia_span_release; -1 with an exception set. */
static inline int ia_span_from(PyObject *const args[3], struct ia_span *out)
{
    static const uint8_t nothing = 0; /* an empty buffer may have no address */
    out->start = PyNumber_AsSsize_t(args[1], PyExc_ValueError);
    if (out->start == -1 && PyErr_Occurred())
        return -1;
    out->end = PyNumber_AsSsize_t(args[2], PyExc_ValueError);
    if (out->end == -1 && PyErr_Occurred())
        return -1;
    if (PyObject_GetBuffer(args[0], &out->view, PyBUF_SIMPLE))
        return -1;
    if (out->start < 0 || out->start > out->end || out->end > out->view.len) {
        PyErr_Format(PyExc_ValueError, "start %zd and end %zd are outside the %zd bytes of data.", out->start, out->end,
                     out->view.len);
        PyBuffer_Release(&out->view);
        return -1;
    }
    out->data = out->view.len ? out->view.buf : &nothing;
    return 0;
}

static inline void ia_span_release(struct ia_span *span)
{
    PyBuffer_Release(&span->view);
}

/* ia_span_from and ia_enter together, for a method that reads data[start:end]; -1 with an exception set. */
static inline int ia_span_enter(PyObject *const args[3], struct ia_span *out, char *busy, const char *type)
{
    if (ia_span_from(args, out))
        return -1;
    if (ia_enter(busy, type)) {
        ia_span_release(out);
        return -1;
    }
    return 0;
}

/* The end of such a method. */
static inline void ia_span_leave(struct ia_span *span, char *busy)
{
    ia_leave(busy);
    ia_span_release(span);
}

#endif
