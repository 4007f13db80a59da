"""Informix SQL for sqlglot, as a dialect of its own: usable without the rest of the server."""

from __future__ import annotations

from .parse.dialect import Informix, InformixDelimited

__all__ = ["Informix", "InformixDelimited"]
