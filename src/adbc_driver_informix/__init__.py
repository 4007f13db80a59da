"""informix-arrow as an ADBC driver of Python: for Polars, pandas, and whatever else knows the classes of
``adbc_driver_manager.dbapi``.

``adbc_driver_informix.dbapi.connect("informix://...")`` opens a connection that is both an
:class:`informix_arrow.Connection` and an ``adbc_driver_manager.dbapi.Connection``. ``informix_arrow.connect()`` gives
such a one, too, as soon as a library that asks for it was imported.

No ``__version__``: Polars takes it for that of a compiled driver, and refuses features to those below 0.8.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import informix_arrow

__all__ = ["choose"]

#: Libraries that look at a connection's class. The manager's own module takes a quarter of a second to import, which
#: programs without any of these are spared.
CONSUMERS = ("adbc_driver_manager", "pandas", "polars")


def choose(own: type[Any]) -> type[Any] | None:
    """What ``connect()`` makes instead of ``own``: our class when the driver manager is installed and a library that
    asks for its classes was imported, else None.
    """
    if own is not informix_arrow.Connection or sys.modules.keys().isdisjoint(CONSUMERS):
        return None
    if find_spec("adbc_driver_manager") is None:
        return None
    kind: type[Any] = import_module(f"{__name__}.dbapi").Connection
    return kind
