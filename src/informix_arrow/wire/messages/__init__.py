"""All messages of SQLI after the login, and the functions that parse them by their tags (SQLI section 6).

Every message is a small frozen dataclass with ``TAG``, ``encode(framing)`` and ``parse(reader, framing)``. All of
them can be imported from here. An unknown tag ends the connection, because no framing allows to skip the message.
The layout of some messages depends on the request before them. Their tags are not enough:
:func:`parse_file_answer` and :func:`parse_as` parse those.
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
