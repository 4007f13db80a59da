/* _encode: Arrow record batches -> SQLI messages.  The work is in encode_core.h; here are the capsules, the GIL and the
 * exceptions.  One Encoder serves one result or one insert cursor: load a batch, encode until nothing remains. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "native/arrow_c_data.h"
#include "native/encode_arrow.h"
#include "native/encode_block.h"
#include "native/encode_bind.h"
#include "native/encode_column.h"
#include "native/encode_core.h"
#include "native/encode_interval.h"
#include "native/encode_plan.h"
#include "native/encode_python.h"
#include "native/encode_status.h"
#include "native/encode_text.h"
#include "native/module.h"
#include "native/plan.h"
#include "native/stable_api.h"

#define CODEPAGE_BYTES 65536
#define INEXACT_HINT "Round it first, or use inexact='round' or inexact='truncate'."

typedef struct {
    PyObject_HEAD
    struct ia_enc_plan plan;
    PyObject *names;            /* tuple of str, one per column */
    PyObject *codepage;         /* bytes that plan.codepage points into, or NULL */
    struct ArrowArray batch;    /* release != NULL: owned */
    int64_t row;                /* next row of the batch */
    int64_t rows;               /* rows of the batch */
    int64_t first_row;          /* number of the batch's row 0 in messages */
    int busy;                   /* another thread is inside encode(), without the GIL */
} Encoder;

/* ---- exceptions ---------------------------------------------------------------------------------------------- */

/* The words that stand for the value at the beginning of the text; a caller that has the value puts it there instead. */
static const char *fault_subject(int status)
{
    switch (status) {
    case IA_ENC_RANGE_DIGITS:
    case IA_ENC_FRACTION:
    case IA_ENC_PRECISION:
    case IA_ENC_SCALE:
    case IA_ENC_EXPONENT: return "The number";
    case IA_ENC_UTF8:
    case IA_ENC_DECIMAL_TEXT:
    case IA_ENC_DATETIME_TEXT: return "The text";
    case IA_ENC_DATE_RANGE: return "The date";
    case IA_ENC_TIME_RANGE: return "The time";
    case IA_ENC_FINER:
    case IA_ENC_FINER_DIGITS:
    case IA_ENC_CLASS: return "The value";
    default: return "";
    }
}

/* What is wrong with the value; a sentence together with the subject, if there is one. */
static PyObject *fault_predicate(const struct ia_enc_fault *f, const struct ia_enc_col *c)
{
    char type[80];
    const char *const sign = f->b ? "-" : "";
    const int binary = !c->utf8 && ia_source_is_bytes(c->source);
    ia_enc_type_text(c, type, sizeof type);
    switch (f->status) {
    case IA_ENC_NULL_INT16:
    case IA_ENC_NULL_INT32:
    case IA_ENC_NULL_INT64:
        return PyUnicode_FromFormat("-%llu cannot be stored in %s, where this number means NULL.",
                                    (unsigned long long)c->int_max + 1, type);
    case IA_ENC_RANGE:
        return PyUnicode_FromFormat("%s%llu is outside the range of %s, -%llu to %llu.", sign, (unsigned long long)f->a, type,
                                    (unsigned long long)c->int_max, (unsigned long long)c->int_max);
    case IA_ENC_RANGE_DIGITS:
        return PyUnicode_FromFormat("is outside the range of %s, -%llu to %llu.", type,
                                    (unsigned long long)c->int_max, (unsigned long long)c->int_max);
    case IA_ENC_FRACTION:
        return PyUnicode_FromFormat("has a fraction, but %s stores whole numbers. " INEXACT_HINT, type);
    case IA_ENC_INEXACT:
        return PyUnicode_FromFormat("The integer %s%llu cannot be stored exactly in %s. " INEXACT_HINT, sign,
                                    (unsigned long long)f->a, type);
    case IA_ENC_TOO_LONG:
        return PyUnicode_FromFormat("The %s of %lld bytes is too long for %s.", binary ? "value" : "text", (long long)f->a,
                                    type);
    case IA_ENC_NUL_TEXT:
        return PyUnicode_FromFormat("Text %s cannot be stored in %s, where it means NULL.",
                                    c->kind == IA_CHAR ? "that starts with a NUL byte" : "of one NUL byte", type);
    case IA_ENC_CODE_POINT: {
        char code[16];
        snprintf(code, sizeof code, "U+%04X", (unsigned)f->a);
        return PyUnicode_FromFormat("The character %s does not exist in the database's code set.", code);
    }
    case IA_ENC_UTF8: return PyUnicode_FromString("is not valid UTF-8.");
    case IA_ENC_DATE_RANGE:
        return PyUnicode_FromFormat("is outside the range of %s, 0001-01-01 to 9999-12-31.", type);
    case IA_ENC_PART_OF_DAY:
        return PyUnicode_FromFormat("The date64 has a time of day, which %s cannot store. Cast it to date32 first.", type);
    case IA_ENC_TIME_RANGE: return PyUnicode_FromString("is outside 00:00:00 to 23:59:59.");
    case IA_ENC_PRECISION:
        if (c->decimal.scale < 0)
            return PyUnicode_FromFormat("has more digits than %s can store. " INEXACT_HINT, type);
        return PyUnicode_FromFormat("has more digits than %s can store.", type);
    case IA_ENC_SCALE:
        return PyUnicode_FromFormat("has more decimal places than %s can store. " INEXACT_HINT, type);
    case IA_ENC_EXPONENT:
        return PyUnicode_FromFormat("is outside the range of %s, 1E-130 to 9.99E125.", type);
    case IA_ENC_NOT_FINITE: return PyUnicode_FromFormat("NaN and infinity cannot be stored in %s.", type);
    case IA_ENC_DECIMAL_TEXT: return PyUnicode_FromString("is not a decimal number.");
    case IA_ENC_FINER:
        return PyUnicode_FromFormat("has more precision than %s can store. Truncate or round it first.", type);
    case IA_ENC_FINER_DIGITS:
        return PyUnicode_FromFormat("has more precision than %s can store. " INEXACT_HINT, type);
    case IA_ENC_DATETIME_TEXT: return PyUnicode_FromFormat("is not a literal of %s.", type);
    case IA_ENC_LEADING: return PyUnicode_FromFormat("The first field of the value has more digits than %s can store.", type);
    case IA_ENC_CLASS:
        return ia_interval_of_months(&c->qualifier)
                   ? PyUnicode_FromFormat("has days or nanoseconds, but %s stores only years and months.", type)
                   : PyUnicode_FromFormat("has months, but %s stores only days and times.", type);
    case IA_ENC_NULL_DESCRIPTOR:
        return PyUnicode_FromFormat("The descriptor of a %s is marked as NULL, but the Arrow value is not NULL.", type);
    case IA_ENC_UNBINDABLE:
        return PyUnicode_FromFormat("%s cannot be sent as a parameter. Insert a BLOB or CLOB with filetoblob or "
                                    "filetoclob, and another opaque type from its text.", type);
    case IA_ENC_OFFSETS: return PyUnicode_FromString("The string offsets of the Arrow array are inconsistent.");
    case IA_ENC_INDEX:
        return PyUnicode_FromFormat("The Arrow dictionary has %lld values, but none with the index %lld.",
                                    (long long)c->dictionary_length, (long long)f->a);
    case IA_ENC_ROW_SIZE: return PyUnicode_FromString("The row is larger than the maximum size of a message (2147483647 bytes).");
    default: return PyUnicode_FromFormat("Internal error %d.", f->status);
    }
}

/* Raise wire.errors.DataError(text, row=, column=) with its fault. */
static void raise_fault(const Encoder *self, const struct ia_enc_fault *f)
{
    const struct ia_enc_col *c = self->plan.cols + f->column;
    PyObject *const name = PyTuple_GetItem(self->names, f->column);
    const long long row = (long long)(self->first_row + f->row);
    const char *const subject = fault_subject(f->status);
    PyObject *errors = PyImport_ImportModule("informix_arrow.wire.errors");
    PyObject *class = errors ? PyObject_GetAttrString(errors, "DataError") : NULL;
    PyObject *predicate = class ? fault_predicate(f, c) : NULL;
    PyObject *text = NULL, *args = NULL, *kwargs = NULL, *error = NULL, *fault = NULL;

    if (predicate == NULL) goto done;
    text = PyUnicode_FromFormat("Column %R, row %lld: %s%s%U", name, row, subject, *subject ? " " : "", predicate);
    args = text ? PyTuple_Pack(1, text) : NULL;
    kwargs = Py_BuildValue("{s:L,s:O}", "row", row, "column", name);
    error = args && kwargs ? PyObject_Call(class, args, kwargs) : NULL;
    fault = error ? PyObject_CallMethod(errors, "EncodeFault", "isO", f->status, subject, predicate) : NULL;
    if (fault && PyObject_SetAttrString(error, "fault", fault) == 0) PyErr_SetObject(class, error);
done:
    Py_XDECREF(errors);
    Py_XDECREF(class);
    Py_XDECREF(predicate);
    Py_XDECREF(text);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    Py_XDECREF(error);
    Py_XDECREF(fault);
}

static int claim(const Encoder *self)
{
    if (!self->busy) return 0;
    PyErr_SetString(PyExc_RuntimeError, "The Encoder is in use by another thread.");
    return -1;
}

/* ---- construction -------------------------------------------------------------------------------------------- */

static int read_op(PyObject *item, struct ia_op *op)
{
    int32_t *const field[4] = {&op->kind, &op->width, &op->arg, &op->flags};
    PyObject *values = PySequence_Tuple(item);
    if (values == NULL) return -1;
    if (PyTuple_Size(values) != 4) {
        PyErr_SetString(PyExc_ValueError, "An op must be (kind, width, arg, flags).");
        goto failed;
    }
    for (int k = 0; k < 4; k++) {
        const long v = PyLong_AsLong(PyTuple_GetItem(values, k));
        if (v == -1 && PyErr_Occurred()) goto failed;
        if (v < INT32_MIN || v > INT32_MAX) {
            PyErr_SetString(PyExc_ValueError, "The numbers of an op must fit in 32 bits.");
            goto failed;
        }
        *field[k] = (int32_t)v;
    }
    Py_DECREF(values);
    return 0;
failed:
    Py_DECREF(values);
    return -1;
}

static int read_plan(Encoder *self, PyObject *ops)
{
    const Py_ssize_t n = PyTuple_Size(ops);
    struct ia_enc_plan *const plan = &self->plan;
    size_t bound = IA_ENC_HEADER + 1 + IA_ENC_SLACK;
    size_t bind_bound = 4 + 4 + IA_ENC_SLACK; /* SQ_BIND and its count, SQ_BBIND and its count */
    size_t lobs = 0;

    if (n < 1 || n > 32767 || PyTuple_Size(self->names) != n) {
        PyErr_SetString(PyExc_ValueError, "An Encoder needs 1 to 32767 ops and as many names.");
        return -1;
    }
    plan->cols = PyMem_Calloc((size_t)n, sizeof *plan->cols);
    if (plan->cols == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    plan->n = (int32_t)n;
    for (Py_ssize_t k = 0; k < n; k++) {
        struct ia_op op;
        PyObject *const name = PyTuple_GetItem(self->names, k);
        if (!PyUnicode_Check(name)) {
            PyErr_SetString(PyExc_TypeError, "Column names must be str.");
            return -1;
        }
        if (read_op(PyTuple_GetItem(ops, k), &op)) return -1;
        const char *why = ia_enc_col_init(plan->cols + k, &op);
        if (why) {
            PyErr_Format(PyExc_ValueError, "Column %R: The op (%d, %d, %d, %d) is not valid: %s.", name, (int)op.kind,
                         (int)op.width, (int)op.arg, (int)op.flags, why);
            return -1;
        }
        plan->has_contents |= op.kind == IA_LVARCHAR || op.kind == IA_OPAQUE || op.kind == IA_LOB;
        lobs += op.kind == IA_LOB;
        bound += plan->cols[k].bound;
        bind_bound += plan->cols[k].bind_bound;
    }
    plan->row_bound = bound;
    plan->bind_bound = bind_bound;
    plan->lob_at = lobs ? PyMem_Calloc(lobs, sizeof *plan->lob_at) : NULL;
    if (lobs && plan->lob_at == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static int read_codepage(Encoder *self, PyObject *codepage)
{
    if (codepage == Py_None) return 0;
    if (!PyBytes_Check(codepage)) {
        PyErr_Format(PyExc_TypeError, "codepage must be bytes or None, not %R.", (PyObject *)Py_TYPE(codepage));
        return -1;
    }
    if (PyBytes_Size(codepage) != CODEPAGE_BYTES) {
        PyErr_Format(PyExc_ValueError, "codepage must have 65536 bytes, one for each code point, not %zd.",
                     PyBytes_Size(codepage));
        return -1;
    }
    Py_INCREF(codepage);
    self->codepage = codepage;
    self->plan.codepage = (const uint8_t *)PyBytes_AsString(codepage);
    self->plan.codepage_is_ascii = 1;
    for (int c = 0; c < 128; c++) self->plan.codepage_is_ascii &= self->plan.codepage[c] == c;
    return 0;
}

static PyObject *Encoder_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"ops", "names", "codepage", "blocks", NULL};
    PyObject *ops, *names, *codepage = Py_None;
    int blocks = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$Op:Encoder", keywords, &ops, &names, &codepage, &blocks))
        return NULL;
    Encoder *self = ia_instance(type); /* zeroed */
    if (self == NULL) return NULL;
    self->plan.by_rows = !blocks;
    PyObject *list = PySequence_Tuple(ops);
    self->names = list ? PySequence_Tuple(names) : NULL;
    if (self->names == NULL || read_plan(self, list) || read_codepage(self, codepage)) {
        Py_XDECREF(list);
        Py_DECREF(self);
        return NULL;
    }
    Py_DECREF(list);
    return (PyObject *)self;
}

static int Encoder_traverse(PyObject *op, visitproc visit, void *arg)
{
    Encoder *self = (Encoder *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->names);
    Py_VISIT(self->codepage);
    return 0;
}

static void Encoder_dealloc(PyObject *op)
{
    Encoder *self = (Encoder *)op;
    PyObject_GC_UnTrack(op);
    if (self->batch.release) self->batch.release(&self->batch);
    PyMem_Free(self->plan.cols);
    PyMem_Free(self->plan.lob_at);
    Py_XDECREF(self->names);
    Py_XDECREF(self->codepage);
    ia_instance_free(op);
}

/* ---- load ---------------------------------------------------------------------------------------------------- */

/* Check the batch against the plan and fill `cols`, a copy of the plan's columns.  Raises ValueError. */
static int bind_batch(const Encoder *self, struct ia_enc_col *cols, const struct ArrowSchema *schema,
                      const struct ArrowArray *array)
{
    char why[400];
    if (schema->format == NULL || strcmp(schema->format, "+s") != 0) {
        PyErr_Format(PyExc_ValueError, "The batch must be a struct array, but its Arrow format is '%.40s'.",
                     schema->format ? schema->format : "");
        return -1;
    }
    if (schema->n_children != self->plan.n || array->n_children != self->plan.n) {
        PyErr_Format(PyExc_ValueError, "The batch has %lld columns, but the plan has %d.", (long long)schema->n_children,
                     (int)self->plan.n);
        return -1;
    }
    if (array->length < 0 || array->offset < 0 || array->offset > INT64_MAX / 16 - array->length) {
        PyErr_SetString(PyExc_ValueError, "The length and offset of the batch are inconsistent.");
        return -1;
    }
    if (array->null_count != 0 && array->length > 0 && array->n_buffers > 0 && array->buffers && array->buffers[0]) {
        const uint8_t *valid = array->buffers[0];
        for (int64_t i = array->offset; i < array->offset + array->length; i++) {
            if (valid[i >> 3] >> (i & 7) & 1) continue;
            PyErr_Format(PyExc_ValueError, "Row %lld of the batch is null as a whole, which a table cannot store.",
                         (long long)(i - array->offset));
            return -1;
        }
    }
    for (int32_t k = 0; k < self->plan.n; k++) {
        const struct ArrowArray *child = array->children[k];
        if (ia_enc_bind(cols + k, schema->children[k], child, array->offset, array->length, why, sizeof why)) {
            PyErr_Format(PyExc_ValueError, "Column %R: %s", PyTuple_GetItem(self->names, k), why);
            return -1;
        }
    }
    return 0;
}

PyDoc_STRVAR(load_doc,
"load(schema_capsule, array_capsule, *, first_row=None) -> int\n--\n\n"
"Load one record batch (the two capsules of __arrow_c_array__) and return its number of rows.\n\n"
"The batch is moved out of the capsules, and released by the next load or with the Encoder. Rows of an earlier batch\n"
"that are not yet encoded are dropped. first_row is the number of the batch's first row in errors. By default the\n"
"numbers continue after the previous batch. Raises ValueError if the Arrow type of a column does not fit the plan.\n"
"The capsules and the earlier batch are unchanged then.");

static PyObject *Encoder_load(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"schema_capsule", "array_capsule", "first_row", NULL};
    Encoder *self = (Encoder *)op;
    PyObject *schema_capsule, *array_capsule, *first = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$O:load", keywords, &schema_capsule, &array_capsule, &first))
        return NULL;
    long long asked = 0;
    if (first != Py_None) {
        asked = PyLong_AsLongLong(first);
        if (asked == -1 && PyErr_Occurred()) return NULL;
    }
    /* From here to the end no Python code runs, and so no other thread: the arguments are converted, and the old
     * batch, whose release may be anybody's code, goes last. */
    if (claim(self)) return NULL;
    struct ArrowSchema *schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema");
    if (schema == NULL) return NULL;
    struct ArrowArray *array = PyCapsule_GetPointer(array_capsule, "arrow_array");
    if (array == NULL) return NULL;
    if (schema->release == NULL || array->release == NULL) {
        PyErr_SetString(PyExc_ValueError, "The Arrow capsules have been used before.");
        return NULL;
    }
    const size_t size = (size_t)self->plan.n * sizeof *self->plan.cols;
    struct ia_enc_col *cols = PyMem_Malloc(size);
    if (cols == NULL) return PyErr_NoMemory();
    memcpy(cols, self->plan.cols, size);
    if (bind_batch(self, cols, schema, array)) {
        PyMem_Free(cols);
        return NULL;
    }
    struct ArrowArray before = self->batch;
    struct ArrowSchema seen = *schema;
    const int64_t rows = array->length;
    PyMem_Free(self->plan.cols);
    self->plan.cols = cols;
    ia_enc_arrange(&self->plan);
    self->batch = *array;
    array->release = NULL; /* moved, and the schema too: it has been read */
    schema->release = NULL;
    self->first_row = first == Py_None ? self->first_row + self->rows : (int64_t)asked;
    self->row = 0;
    self->rows = rows;
    if (before.release) before.release(&before);
    seen.release(&seen);
    return PyLong_FromLongLong((long long)rows);
}

/* ---- encode -------------------------------------------------------------------------------------------------- */

/* An upper bound of the messages for the rows that remain, so that a small rest does not take a whole budget. */
static size_t estimate(const Encoder *self, size_t budget, const struct ia_enc_frame *frame)
{
    const struct ia_enc_plan *plan = &self->plan;
    const int bind = frame->framing == IA_FRAME_BIND;
    unsigned __int128 total = (bind ? plan->bind_bound : plan->row_bound) + frame->head_size + frame->tail_size;
    unsigned __int128 contents = 0;
    for (int32_t k = 0; k < plan->n; k++) {
        const struct ia_enc_col *c = plan->cols + k;
        const int lob = c->kind == IA_LOB && bind;
        if (c->all_null || !(c->kind == IA_LVARCHAR || c->kind == IA_OPAQUE || lob)) continue;
        if (c->source == IA_SRC_VIEW || c->index_source) return budget; /* their bytes may be used more than once */
        contents += (unsigned __int128)c->text_end + (lob ? (unsigned __int128)ia_enc_blob_overhead(c->text_end) : 0);
        if (lob) total += ia_enc_blob_overhead(1); /* of the last chunk of each */
    }
    total *= (unsigned __int128)(self->rows - self->row);
    total += contents;
    return total < budget ? (size_t)total : budget;
}

static int check_framing(const Encoder *self, int framing)
{
    for (int32_t k = 0; k < self->plan.n; k++) {
        const struct ia_enc_col *c = self->plan.cols + k;
        const char *why = ia_enc_framing_refused(c, framing);
        if (why) {
            char type[80];
            ia_enc_type_text(c, type, sizeof type);
            PyErr_Format(PyExc_ValueError, "Column %R: %s %s", PyTuple_GetItem(self->names, k), type, why);
            return -1;
        }
    }
    return 0;
}

/* The rows that fit the budget, as bytes, and their number. */
static PyObject *encode_rows(Encoder *self, size_t budget, const struct ia_enc_frame *frame)
{
    const size_t bound = (frame->framing == IA_FRAME_BIND ? self->plan.bind_bound : self->plan.row_bound) +
                         frame->head_size + frame->tail_size;
    struct ia_enc_fault fault = {0};
    const int64_t from = self->row;
    int64_t row = from;
    size_t used = 0, need = 0, cap = estimate(self, budget, frame);
    enum ia_enc_result result;

    /* Room for one row behind the budget: the row that exceeds it is written before that is known. */
    if (cap > (size_t)PY_SSIZE_T_MAX - 64 - bound) return PyErr_NoMemory();
    cap += bound;
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)cap);
    if (bytes == NULL) return NULL;
    self->busy = 1;
    for (;;) {
        uint8_t *out = (uint8_t *)PyByteArray_AsString(bytes);
        Py_BEGIN_ALLOW_THREADS
        result = ia_encode_rows(&self->plan, &row, self->rows, out, &used, cap, budget, frame, &need, &fault);
        Py_END_ALLOW_THREADS
        if (result != IA_ENC_GROW) break;
        if (need > (size_t)PY_SSIZE_T_MAX - 64 - used) { /* cannot happen: a row has less than 2^32 bytes */
            Py_CLEAR(bytes);
            PyErr_NoMemory();
            break;
        }
        cap = used + need;
        if (PyByteArray_Resize(bytes, (Py_ssize_t)cap)) {
            Py_CLEAR(bytes);
            break;
        }
    }
    self->busy = 0;
    if (bytes == NULL) return NULL;
    if (result == IA_ENC_FAULT) {
        Py_DECREF(bytes);
        raise_fault(self, &fault);
        return NULL;
    }
    if (PyByteArray_Resize(bytes, (Py_ssize_t)used)) {
        Py_DECREF(bytes);
        return NULL;
    }
    self->row = row;
    return Py_BuildValue("(NL)", bytes, (long long)(row - from));
}

PyDoc_STRVAR(encode_doc,
"encode(budget, framing=0, head=b'', tail=b'') -> tuple[bytearray, int]\n--\n\n"
"Encode the next rows as whole messages of at most budget bytes, but at least one row. Returns (bytes, rows).\n\n"
"framing 0 makes SQ_TUPLE messages, 1 SQ_PUT messages, 2 bind rows: head, SQ_BIND with its large objects, tail.\n"
"Returns (bytearray(), 0) after the last row. A call ends before a row that cannot be encoded. The next call raises\n"
"DataError with row, column and fault set, and so do all further calls until another batch is loaded.");

static PyObject *Encoder_encode(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"budget", "framing", "head", "tail", NULL};
    Encoder *self = (Encoder *)op;
    Py_ssize_t budget;
    Py_buffer head = {0}, tail = {0};
    PyObject *result = NULL;
    struct ia_enc_frame frame = {.framing = IA_FRAME_TUPLE, .head = (const uint8_t *)"", .tail = (const uint8_t *)""};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "n|iy*y*:encode", keywords, &budget, &frame.framing, &head, &tail))
        return NULL; /* has released what it took */
    if (head.buf) frame.head = head.buf, frame.head_size = (size_t)head.len;
    if (tail.buf) frame.tail = tail.buf, frame.tail_size = (size_t)tail.len;
    if (budget < 0) {
        PyErr_Format(PyExc_ValueError, "budget must not be negative, but is %zd.", budget);
    } else if (frame.framing < IA_FRAME_TUPLE || frame.framing > IA_FRAME_BIND) {
        PyErr_Format(PyExc_ValueError, "framing must be 0 (SQ_TUPLE), 1 (SQ_PUT) or 2 (bind rows), not %d.",
                     frame.framing);
    } else if (frame.framing != IA_FRAME_BIND && (frame.head_size || frame.tail_size)) {
        PyErr_SetString(PyExc_ValueError, "head and tail can be used only with framing 2 (bind rows).");
    } else if ((frame.head_size & 1) || (frame.tail_size & 1) || frame.head_size > 65536 || frame.tail_size > 65536) {
        PyErr_SetString(PyExc_ValueError, "head and tail must be whole messages with an even number of bytes, at most 65536.");
    } else if (claim(self) == 0 && check_framing(self, frame.framing) == 0) {
        result = self->row < self->rows ? encode_rows(self, (size_t)budget, &frame)
                                        : Py_BuildValue("(y#n)", "", (Py_ssize_t)0, (Py_ssize_t)0);
    }
    PyBuffer_Release(&head);
    PyBuffer_Release(&tail);
    return result;
}

static PyObject *Encoder_remaining(PyObject *op, void *closure)
{
    const Encoder *self = (const Encoder *)op;
    (void)closure;
    return PyLong_FromLongLong((long long)(self->rows - self->row));
}

/* ---- module -------------------------------------------------------------------------------------------------- */

static PyMethodDef encoder_methods[] = {
    {"load", (PyCFunction)(void (*)(void))Encoder_load, METH_VARARGS | METH_KEYWORDS, load_doc},
    {"encode", (PyCFunction)(void (*)(void))Encoder_encode, METH_VARARGS | METH_KEYWORDS, encode_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef encoder_getset[] = {
    {"remaining", Encoder_remaining, NULL, "Rows of the loaded batch that are not yet encoded.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(encoder_doc,
"Encoder(ops, names, *, codepage=None, blocks=True)\n--\n\n"
"Encode Arrow record batches as SQLI messages, by a plan of (kind, width, arg, flags) per column (plan.h).\n\n"
"codepage None sends text as UTF-8. Otherwise it has 65536 bytes: the byte of each code point, 0 for none.\n"
"blocks=False writes the same bytes row by row, for tests.");

static PyType_Slot encoder_slots[] = {
    {Py_tp_doc, (void *)encoder_doc},
    {Py_tp_new, Encoder_new},
    {Py_tp_dealloc, Encoder_dealloc},
    {Py_tp_traverse, Encoder_traverse},
    {Py_tp_methods, encoder_methods},
    {Py_tp_getset, encoder_getset},
    {0, NULL},
};

static PyType_Spec encoder_spec = {
    .name = "informix_arrow._encode.Encoder",
    .basicsize = sizeof(Encoder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = encoder_slots,
};

static int module_exec(PyObject *module)
{
    return ia_module_add_type(module, &encoder_spec);
}

static PyMethodDef module_methods[] = {
    {"columns", ia_py_columns, METH_VARARGS, ia_py_columns_doc},
    {"fixed", ia_py_fixed, METH_VARARGS, ia_py_fixed_doc},
    {"texts", ia_py_texts, METH_O, ia_py_texts_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    IA_MODULE_SLOTS_END,
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "informix_arrow._encode",
    .m_doc = "Encode Arrow record batches as SQLI messages, and convert Python values to columns.",
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__encode(void)
{
    return PyModuleDef_Init(&module_def);
}
