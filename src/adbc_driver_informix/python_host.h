/* CPython, found and started at run time: the driver is linked with no libpython, so one library serves every release
 * and every host. In a Python program the interpreter that runs is used. In any other program libpython is loaded and
 * started once, and never finalized.
 */
#ifndef INFORMIX_ARROW_PYTHON_HOST_H
#define INFORMIX_ARROW_PYTHON_HOST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef struct _object PyObject;

/* The functions of CPython's stable ABI that are used. */
#define PYTHON_FUNCTIONS(X)                                                                                            \
    X(int, Py_IsInitialized, (void))                                                                                   \
    X(wchar_t *, Py_DecodeLocale, (const char *, size_t *))                                                            \
    X(void, Py_SetProgramName, (const wchar_t *))                                                                      \
    X(void, Py_InitializeEx, (int))                                                                                    \
    X(void *, PyEval_SaveThread, (void))                                                                               \
    X(int, PyGILState_Ensure, (void))                                                                                  \
    X(void, PyGILState_Release, (int))                                                                                 \
    X(void *, PyInterpreterState_Get, (void))                                                                          \
    X(int64_t, PyInterpreterState_GetID, (void *))                                                                     \
    X(void, Py_IncRef, (PyObject *))                                                                                   \
    X(void, Py_DecRef, (PyObject *))                                                                                   \
    X(PyObject *, PyImport_ImportModule, (const char *))                                                               \
    X(PyObject *, PyObject_GetAttrString, (PyObject *, const char *))                                                  \
    X(PyObject *, PyObject_CallObject, (PyObject *, PyObject *))                                                       \
    X(PyObject *, PyObject_Str, (PyObject *))                                                                          \
    X(PyObject *, Py_BuildValue, (const char *, ...))                                                                  \
    X(PyObject *, Py_VaBuildValue, (const char *, va_list))                                                            \
    X(PyObject *, PyBytes_FromStringAndSize, (const char *, intptr_t))                                                 \
    X(int, PyBytes_AsStringAndSize, (PyObject *, char **, intptr_t *))                                                 \
    X(PyObject *, PyUnicode_AsUTF8String, (PyObject *))                                                                \
    X(PyObject *, PyList_New, (intptr_t))                                                                              \
    X(int, PyList_Append, (PyObject *, PyObject *))                                                                    \
    X(intptr_t, PySequence_Size, (PyObject *))                                                                         \
    X(PyObject *, PySequence_GetItem, (PyObject *, intptr_t))                                                          \
    X(long long, PyLong_AsLongLong, (PyObject *))                                                                      \
    X(double, PyFloat_AsDouble, (PyObject *))                                                                          \
    X(PyObject *, PyErr_Occurred, (void))                                                                              \
    X(void, PyErr_Fetch, (PyObject **, PyObject **, PyObject **))                                                      \
    X(void, PyErr_Clear, (void))

#define MEMBER(type, name, arguments) type(*name) arguments;
struct python { PYTHON_FUNCTIONS(MEMBER) };
#undef MEMBER

/* The functions; set once `python_start` has succeeded. */
extern struct python py;

/* Find Python, and start it unless it runs. Returns 0, or -1 with the reason in `message`. Any thread may call it, with
 * or without the GIL. */
int python_start(char *message, size_t size);

/* Whether calls into Python are possible: 0, or -1 with the reason in `message`. They are not in a child that was forked
 * after the start, and not after the host has finalized its Python. */
int python_check(char *message, size_t size);

#endif
