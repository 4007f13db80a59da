"""``pyarrow.compute``, loaded when one of its functions is first asked for.

To load it takes a good part of what the whole client does, and most programs that connect and query need none of it::

    from ..shaping import compute as pc
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import pyarrow.compute

    found = globals()[name] = getattr(pyarrow.compute, name)
    return found
