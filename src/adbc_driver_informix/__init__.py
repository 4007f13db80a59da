"""informix-arrow as an ADBC driver in Python, for Polars, pandas and other users of ``adbc_driver_manager.dbapi``.

``adbc_driver_informix.dbapi.connect("informix://...")`` opens a connection that is both an
:class:`informix_arrow.Connection` and an ``adbc_driver_manager.dbapi.Connection``. ``informix_arrow.connect()`` also
returns one once a library that checks for it was imported.

There is no ``__version__``: Polars takes it for the version of a compiled driver, and refuses features below 0.8.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import informix_arrow

__all__ = ["choose"]

#: Libraries that check a connection's class. Programs without any of these do not import the driver manager, which
#: takes a quarter of a second.
CONSUMERS = ("adbc_driver_manager", "pandas", "polars")


def choose(own: type[Any]) -> type[Any] | None:
    """Return the class for ``connect()`` to use instead of ``own``, or None.

    It is the class of this package if the driver manager is installed and a library that checks for its classes was
    imported.
    """
    if own is not informix_arrow.Connection or sys.modules.keys().isdisjoint(CONSUMERS):
        return None
    if find_spec("adbc_driver_manager") is None:
        return None
    kind: type[Any] = import_module(f"{__name__}.dbapi").Connection
    return kind
