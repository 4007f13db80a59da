#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, RTLD_DEFAULT */
#endif
#include "python_host.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define ADVICE "Run `informix-arrow adbc-manifest` in the environment that has informix-arrow."

struct python py;

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static int started_here; /* this library started Python */
static pid_t process;    /* that has found or started Python; 0 = none yet */

/* Which Python to load: the interpreter of an environment, and CPython's shared library. */
struct settings { char executable[4096], library[4096]; };

static int copy_line(char *into, size_t size, const char *line)
{
    size_t length = strcspn(line, "\r\n");
    if (length >= size) return -1;
    memcpy(into, line, length);
    into[length] = '\0';
    return 0;
}

/* Read the file `python.txt` beside this library: the interpreter, then the shared library, a line each. It is written
 * by `informix-arrow adbc-manifest`. Environment variables take precedence. */
static void read_settings(struct settings *found)
{
    const char *executable = getenv("INFORMIX_ARROW_PYTHON"), *library = getenv("INFORMIX_ARROW_LIBPYTHON");
    char path[4096], line[4096];
    Dl_info self;
    memset(found, 0, sizeof *found);
    if (dladdr((void *)&process, &self) && self.dli_fname && strlen(self.dli_fname) + sizeof "python.txt" < sizeof path) {
        strcpy(path, self.dli_fname);
        char *slash = strrchr(path, '/');
        strcpy(slash ? slash + 1 : path, "python.txt");
        FILE *file = fopen(path, "r");
        if (file) {
            if (fgets(line, sizeof line, file)) copy_line(found->executable, sizeof found->executable, line);
            if (fgets(line, sizeof line, file)) copy_line(found->library, sizeof found->library, line);
            fclose(file);
        }
    }
    if (executable) copy_line(found->executable, sizeof found->executable, executable);
    if (library) copy_line(found->library, sizeof found->library, library);
}

/* Look up every function in a library. Returns the name of the first one that is missing, or NULL. */
static const char *find_functions(void *library)
{
    void *found;
#define FIND(type, name, arguments)                                                                                    \
    found = dlsym(library, #name);                                                                                     \
    if (!found) return #name;                                                                                          \
    memcpy(&py.name, &found, sizeof found);
    PYTHON_FUNCTIONS(FIND)
#undef FIND
    return NULL;
}

static int start(char *message, size_t size)
{
    struct settings settings;
    void *library = RTLD_DEFAULT;
    read_settings(&settings);
    if (!dlsym(RTLD_DEFAULT, "Py_IsInitialized")) {
        if (!settings.library[0]) {
            snprintf(message, size, "CPython's shared library is not known. " ADVICE);
            return -1;
        }
        /* Global: the extension modules of Python packages expect CPython's symbols in the program. */
        library = dlopen(settings.library, RTLD_NOW | RTLD_GLOBAL);
        if (!library) {
            const char *reason = dlerror();
            snprintf(message, size, "CPython's shared library cannot be loaded: %s. " ADVICE, reason ? reason : "?");
            return -1;
        }
    }
    const char *missing = find_functions(library);
    if (missing) {
        snprintf(message, size, "Python has no function %s. CPython 3.10 or later is needed.", missing);
        return -1;
    }
    if (py.Py_IsInitialized()) return 0;
    if (!settings.executable[0]) {
        snprintf(message, size, "The Python interpreter of the environment is not known. " ADVICE);
        return -1;
    }
    /* The path of the interpreter is how Python finds its environment. It keeps the text. */
    wchar_t *name = py.Py_DecodeLocale(settings.executable, NULL);
    if (!name) {
        snprintf(message, size, "The path of the Python interpreter cannot be decoded: %s.", settings.executable);
        return -1;
    }
    py.Py_SetProgramName(name);
    py.Py_InitializeEx(0); /* signals are the host's */
    py.PyEval_SaveThread();
    started_here = 1;
    return 0;
}

int python_start(char *message, size_t size)
{
    int result = 0;
    /* Nothing in here waits for the GIL, which a caller may hold. */
    pthread_mutex_lock(&starting);
    if (!process) {
        Dl_info self;
        /* Streams and errors refer to the code of this library, so it must stay in memory. */
        if (dladdr((void *)&process, &self) && self.dli_fname) dlopen(self.dli_fname, RTLD_NOW | RTLD_NODELETE);
        result = start(message, size);
        if (!result) process = getpid();
    } else if (!started_here && py.Py_IsInitialized()) {
        process = getpid(); /* a forked Python: what it opens from now on is its own */
    }
    pthread_mutex_unlock(&starting);
    return result ? result : python_check(message, size);
}

int python_check(char *message, size_t size)
{
    if (!process) {
        snprintf(message, size, "The driver was not initialized.");
        return -1;
    }
    if (process != getpid()) {
        snprintf(message, size, "The driver was initialized in process %ld, and this is a fork of it. "
                 "Load the driver and connect in the new process only.", (long)process);
        return -1;
    }
    if (!py.Py_IsInitialized()) {
        snprintf(message, size, "The program's Python has ended. Release connections and results before that.");
        return -1;
    }
    return 0;
}
