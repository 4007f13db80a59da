/* Replacements of slots and macros for CPython's limited API (3.11), so that one build serves 3.11 and all later releases.
 * Nothing of this is called where speed matters: rows are read and written without the interpreter.
 *
 * Bytes are returned as bytearrays. A bytes object cannot be shrunk in the limited API, and copying a chunk costs more than
 * encoding some kinds of it.
 */
#ifndef INFORMIX_ARROW_STABLE_API_H
#define INFORMIX_ARROW_STABLE_API_H

#include <Python.h>

/* A zeroed instance; NULL with an exception set. */
static inline void *ia_instance(PyTypeObject *type)
{
    return PyType_GenericAlloc(type, 0);
}

/* The memory of an instance whose fields are done with, and its type's reference. */
static inline void ia_instance_free(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

#endif
