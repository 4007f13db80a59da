"""``pyarrow.compute``, imported when one of its functions is first used.

The import takes a good part of the time that the whole client needs, and most programs that connect and query
do not use it::

    from ..rows import arrow_compute as pc
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import pyarrow.compute

    function = globals()[name] = getattr(pyarrow.compute, name)
    return function
