/* Hide objects from the cyclic garbage collector that cannot be part of a cycle, because all of their references are known.
 *
 * The collector does this itself for tuples of plain values when it visits them. It cannot do it for other classes. */
#ifndef INFORMIX_ARROW_UNTRACK_H
#define INFORMIX_ARROW_UNTRACK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "module.h"

/* Whether an object has no references that lead anywhere. Since Python 3.13 the collector looks at a Decimal, too, which
 * refers to its class and nothing else; one of a class beneath it may have a dict. */
static int ia_is_atom(PyObject *object, const PyObject *decimal)
{
    return !(PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_HAVE_GC) || (PyObject *)Py_TYPE(object) == decimal;
}

/* Whether a tuple is out of sight; it is taken out when it holds atoms only. */
static int ia_untrack_tuple(PyObject *tuple, const PyObject *decimal)
{
    if (PyObject_GC_IsTracked(tuple)) {
        for (Py_ssize_t k = 0, width = PyTuple_Size(tuple); k < width; k++)
            if (!ia_is_atom(PyTuple_GetItem(tuple, k), decimal)) return 0;
        PyObject_GC_UnTrack(tuple);
    }
    return 1;
}

#define IA_SHARED 4

struct ia_shared {
    PyObject *objects[IA_SHARED]; /* the class first; borrowed */
    int count;
    const PyObject *decimal;
    traverseproc traverse; /* of the class; NULL: the collector never looks at its objects */
};

/* One reference of an object: 1, which ends the walk, when it may lead anywhere. */
static int ia_untrack_visit(PyObject *object, void *argument)
{
    const struct ia_shared *const shared = argument;
    if (PyTuple_CheckExact(object)) return !ia_untrack_tuple(object, shared->decimal);
    for (int k = 0; k < shared->count; k++)
        if (object == shared->objects[k]) return 0;
    return !ia_is_atom(object, shared->decimal);
}

static int ia_shared_from(struct ia_shared *shared, PyObject *module, PyObject *type, PyObject *objects)
{
    const Py_ssize_t count = PyTuple_Size(objects);
    if (count >= IA_SHARED) {
        PyErr_Format(PyExc_ValueError, "There can be at most %d shared objects.", IA_SHARED - 1);
        return -1;
    }
    shared->objects[0] = type;
    for (Py_ssize_t k = 0; k < count; k++) shared->objects[k + 1] = PyTuple_GetItem(objects, k);
    shared->count = (int)count + 1;
    shared->decimal = ((const struct ia_module_state *)PyModule_GetState(module))->decimal;
    shared->traverse = PyType_GetSlot((PyTypeObject *)type, Py_tp_traverse);
    return 0;
}

static void ia_untrack_one(PyObject *object, struct ia_shared *shared)
{
    if ((PyObject *)Py_TYPE(object) == shared->objects[0] && shared->traverse && PyObject_GC_IsTracked(object) &&
        shared->traverse(object, ia_untrack_visit, shared) == 0)
        PyObject_GC_UnTrack(object);
}

PyDoc_STRVAR(ia_untrack_doc,
             "untrack(objects, type, shared) -> None\n--\n\n"
             "Stop the cyclic garbage collector from tracking objects of a list.\n\n"
             "It applies to instances of exactly this type that refer only to objects of `shared` (a tuple of at\n"
             "most three), to values without references, and to tuples of such values.\n\n"
             "Use it only for objects that cannot be changed, and that nothing in `shared` refers to. A reference\n"
             "cycle through one of them would never be found.\n\n"
             "Raises ValueError if `shared` has more than three objects.");

static PyObject *ia_untrack(PyObject *module, PyObject *args)
{
    PyObject *list, *type, *objects;
    struct ia_shared shared;
    if (!PyArg_ParseTuple(args, "O!O!O!:untrack", &PyList_Type, &list, &PyType_Type, &type, &PyTuple_Type, &objects) ||
        ia_shared_from(&shared, module, type, objects))
        return NULL;
    for (Py_ssize_t i = 0, count = PyList_Size(list); i < count; i++) ia_untrack_one(PyList_GetItem(list, i), &shared);
    Py_RETURN_NONE;
}

/* The arguments of the next instance: those before it are used again where nobody has kept them. */
static PyObject *ia_arguments(PyObject *before, PyObject *first, PyObject *value)
{
    const Py_ssize_t count = PyTuple_Size(first);
    if (before == NULL || Py_REFCNT(before) != 1) {
        Py_XDECREF(before);
        before = PyTuple_New(count + 1);
        for (Py_ssize_t k = 0; before && k < count; k++) {
            PyObject *const argument = PyTuple_GetItem(first, k);
            Py_INCREF(argument);
            if (PyTuple_SetItem(before, k, argument)) Py_CLEAR(before);
        }
    }
    Py_INCREF(value);
    if (before == NULL)
        Py_DECREF(value);
    else if (PyTuple_SetItem(before, count, value))
        Py_CLEAR(before);
    return before;
}

PyDoc_STRVAR(ia_untracked_doc,
             "untracked(type, first, values, shared) -> list\n--\n\n"
             "Return type(*first, value) for each value of a list. The objects are not tracked, as if untrack() had\n"
             "been called.\n\n"
             "Each is untracked as soon as it is created, so that no collection visits it.");

static PyObject *ia_untracked(PyObject *module, PyObject *args)
{
    PyObject *type, *first, *values, *objects, *arguments = NULL;
    struct ia_shared shared;
    if (!PyArg_ParseTuple(args, "O!O!O!O!:untracked", &PyType_Type, &type, &PyTuple_Type, &first, &PyList_Type, &values,
                          &PyTuple_Type, &objects) ||
        ia_shared_from(&shared, module, type, objects))
        return NULL;
    /* What a call of the class does, without a tuple of arguments for each. */
    const newfunc make = PyType_GetSlot((PyTypeObject *)type, Py_tp_new);
    const initproc init = PyType_GetSlot((PyTypeObject *)type, Py_tp_init);
    if (make == NULL || init == NULL) {
        PyErr_SetString(PyExc_TypeError, "untracked() needs a class that can be called.");
        return NULL;
    }
    const Py_ssize_t count = PyList_Size(values);
    PyObject *made = PyList_New(count);
    for (Py_ssize_t i = 0; made && i < count; i++) {
        PyObject *const value = PyList_GetItem(values, i); /* IndexError when the class has made the list shorter */
        arguments = value ? ia_arguments(arguments, first, value) : arguments;
        PyObject *object = value && arguments ? make((PyTypeObject *)type, arguments, NULL) : NULL;
        if (object && init(object, arguments, NULL)) Py_CLEAR(object);
        if (object) ia_untrack_one(object, &shared);
        if (object == NULL || PyList_SetItem(made, i, object)) Py_CLEAR(made);
    }
    Py_XDECREF(arguments);
    return made;
}

#endif
