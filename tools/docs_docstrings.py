"""Extension of griffe: docstrings as the site shows them. Ours have roles of reStructuredText, it reads Markdown."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|meth|func|mod|data|attr|exc):`~?\.*([^`]+)`")


class Docstrings(griffe.Extension):
    """``:class:`X``` becomes code, ``::`` before a block a colon."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called with each class, function, module and attribute."""
        if obj.docstring is not None:
            text = _ROLE.sub(r"`\1`", obj.docstring.value)
            obj.docstring.value = re.sub(r"(?<=\S)::(?=\n\s*\n)", ":", text)
