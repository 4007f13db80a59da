"""Say in plain words what a machine lacks before pip fails with a page of compiler output.

Run by ``make venv`` with the interpreter that will make the virtual environment, whatever its version: hence
no syntax newer than Python 3.6 in this file. Exit status 0 when everything is there, 1 otherwise.
"""

# ruff: noqa: UP031, UP036

import importlib.util
import os
import shutil
import sys
import sysconfig


def missing():
    """One line for each thing that is not there, with what to do about it."""
    # A Python that is too old can still run this file, so the check is no dead code.
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
