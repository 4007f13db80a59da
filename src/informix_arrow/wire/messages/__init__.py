"""All messages of SQLI after the login, and the way from a tag to the class that parses it (SQLI section 6).

Every message is a small frozen dataclass with ``TAG``, ``encode(framing)`` and ``parse(reader, framing)``, all of them
importable from here. A tag whose layout is not known ends the conversation: there is no framing that would let one
skip it. Messages whose layout depends on what was asked before are not found by their tag: :func:`parse_file_answer`
and :func:`parse_as` read them.
"""

from __future__ import annotations

from .base import *  # noqa: F403 - each class is named once, where it is defined
from .binds import *  # noqa: F403
from .describe import *  # noqa: F403
from .lob import *  # noqa: F403
from .routine import *  # noqa: F403
from .server import *  # noqa: F403
from .session import *  # noqa: F403
from .statement import *  # noqa: F403
