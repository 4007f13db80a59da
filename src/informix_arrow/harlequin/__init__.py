"""An adapter for Harlequin, the SQL IDE of the terminal: ``harlequin -a informix "informix://user@host:9088/stores"``.

Harlequin finds it by its entry point. Results are returned as Arrow tables. Extra ``[harlequin]``.
"""

from __future__ import annotations

try:
    import harlequin as _harlequin  # noqa: F401
except ModuleNotFoundError as missing:
    if missing.name != "harlequin":
        raise
    raise ModuleNotFoundError(
        "informix_arrow.harlequin needs Harlequin. Run pip install 'informix-arrow[harlequin]'",
        name="harlequin",
    ) from None

from .adapter import InformixAdapter

__all__ = ["InformixAdapter"]
