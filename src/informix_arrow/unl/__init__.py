"""Convert ``.unl`` files to and from Arrow. They are the text format of LOAD, UNLOAD, dbexport and dbimport.

No connection and no Client SDK is needed. The format is described in docs/unl.md.
"""

from __future__ import annotations

from .reader import RawRow, raw_rows, read_unl
from .writer import write_unl

__all__ = ["RawRow", "raw_rows", "read_unl", "write_unl"]
