"""Check what a machine lacks for the build, before pip fails with a page of compiler output.

Run by ``make venv`` with the interpreter that will create the virtual environment, whatever its version. So this file
must not use syntax newer than Python 3.6. The exit code is 0 if everything is present, else 1.
"""

# ruff: noqa: UP031, UP036

import importlib.util
import os
import shutil
import sys
import sysconfig


def missing():
    """Yield one line for each missing thing, with what to do about it."""
    # Older versions of Python can run this file, so this is not dead code.
    if sys.version_info < (3, 10):
        yield "Python 3.10 or newer is needed, this is %s; name another one: make PYTHON=python3.12" % (
            sys.version.split()[0],
        )
        return
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            yield "this Python has no %s module (Debian and Ubuntu: apt-get install python3-venv)" % module
    header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
    if not os.path.exists(header):
        yield "%s is not there (Debian and Ubuntu: apt-get install python3-dev)" % header
    compiler = (os.environ.get("CC") or "cc").split()[0]
    if not any(shutil.which(name) for name in (compiler, "gcc", "clang")):
        yield "no C compiler on PATH (Debian and Ubuntu: apt-get install gcc); CC names another one"


def main():
    problems = list(missing())
    for problem in problems:
        sys.stderr.write("informix-arrow: %s\n" % problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
