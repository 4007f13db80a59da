"""Writes Informix SQL from the trees of other dialects."""

from __future__ import annotations

from ..server.parse.dialect import InformixGenerator


class InformixWriter(InformixGenerator):
    """Generates Informix SQL."""
