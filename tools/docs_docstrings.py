"""Griffe extension for the documentation: converts reStructuredText roles in docstrings to Markdown."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|meth|func|mod|data|attr|exc):`~?\.*([^`]+)`")


class Docstrings(griffe.Extension):
    """Replaces ``:class:`X``` by code, and ``::`` before a block by a colon."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Convert the docstring of a class, function, module or attribute."""
        if obj.docstring is not None:
            text = _ROLE.sub(r"`\1`", obj.docstring.value)
            obj.docstring.value = re.sub(r"(?<=\S)::(?=\n\s*\n)", ":", text)
