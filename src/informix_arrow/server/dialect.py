"""The SQL dialect of Informix for sqlglot. It can be used without the rest of the server."""

from __future__ import annotations

from .parse.dialect import Informix, InformixDelimited

__all__ = ["Informix", "InformixDelimited"]
