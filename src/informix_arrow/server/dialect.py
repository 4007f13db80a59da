"""The dialect "informix_exact" of sqlglot, by which the server reads SQL. `informix_arrow.sqlglot` translates."""

from __future__ import annotations

from .parse.dialect import InformixExact, InformixExactDelimited

__all__ = ["InformixExact", "InformixExactDelimited"]
