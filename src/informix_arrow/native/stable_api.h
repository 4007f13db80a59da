/* What CPython's limited API (3.11) has in the place of slots and macros, so that one build serves 3.11 and all later
 * releases. Where speed counts nothing of this is called: rows are read and written without the interpreter.
 *
 * Bytes are made as bytearrays: a bytes object cannot be made smaller in the limited API, and to copy a chunk costs more
 * than to encode some kinds of it.
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
