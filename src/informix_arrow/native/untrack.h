/* Objects made in numbers, all of whose references are known to lead nowhere, out of the cyclic garbage collector's sight:
 * it does the same itself with tuples of plain values when it comes by, and cannot with other classes. */
#ifndef INFORMIX_ARROW_UNTRACK_H
#define INFORMIX_ARROW_UNTRACK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Whether an object has no references that the collector would follow. */
static int ia_is_atom(PyObject *object)
{
    return !(PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_HAVE_GC);
}

/* Whether a tuple is out of sight; it is taken out when it holds atoms only. */
static int ia_untrack_tuple(PyObject *tuple)
{
    if (PyObject_GC_IsTracked(tuple)) {
        for (Py_ssize_t k = 0, width = PyTuple_Size(tuple); k < width; k++)
            if (!ia_is_atom(PyTuple_GetItem(tuple, k))) return 0;
        PyObject_GC_UnTrack(tuple);
    }
    return 1;
}

#define IA_SHARED 4

struct ia_shared {
    PyObject *objects[IA_SHARED];
    int count;
};

/* One reference of an object: 1, which ends the walk, when it may lead anywhere. */
static int ia_untrack_visit(PyObject *object, void *argument)
{
    const struct ia_shared *const shared = argument;
    if (PyTuple_CheckExact(object)) return !ia_untrack_tuple(object);
    for (int k = 0; k < shared->count; k++)
        if (object == shared->objects[k]) return 0;
    return !ia_is_atom(object);
}

PyDoc_STRVAR(ia_untrack_doc,
"untrack(objects, type, shared) -> None\n--\n\n"
"Take those of a list out of the cyclic garbage collector's sight that are of this class (not of one beneath it) and refer\n"
"to nothing but shared, a tuple of at most three, values that have no references themselves, and tuples of such values.\n\n"
"Only for objects that cannot be changed, and that nothing in shared refers to: a cycle through one of them would never be\n"
"found.");

static PyObject *ia_untrack(PyObject *module, PyObject *args)
{
    PyObject *list, *type, *objects;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!:untrack", &PyList_Type, &list, &PyType_Type, &type, &PyTuple_Type, &objects))
        return NULL;
    struct ia_shared shared = {{type}, 1 + (int)PyTuple_Size(objects)};
    if (PyTuple_Size(objects) >= IA_SHARED) {
        PyErr_Format(PyExc_ValueError, "untrack() takes at most %d shared objects", IA_SHARED - 1);
        return NULL;
    }
    for (int k = 1; k < shared.count; k++) shared.objects[k] = PyTuple_GetItem(objects, k - 1);
    const traverseproc traverse = PyType_GetSlot((PyTypeObject *)type, Py_tp_traverse);
    for (Py_ssize_t i = 0, count = PyList_Size(list); traverse && i < count; i++) {
        PyObject *const object = PyList_GetItem(list, i);
        if ((PyObject *)Py_TYPE(object) == type && PyObject_GC_IsTracked(object) &&
            traverse(object, ia_untrack_visit, &shared) == 0)
            PyObject_GC_UnTrack(object);
    }
    Py_RETURN_NONE;
}

#endif
