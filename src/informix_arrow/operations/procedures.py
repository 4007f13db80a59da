"""Call procedures and functions by name, through SQL (SQLI section 7.6)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..rows.parameters import check_parameters
from ..wire.assignment import Inexact
from ..wire.errors import Error, InterfaceError
from .execute import execute_statement
from .fetch import ReadOptions, ServerCursor
from .io_steps import Exchange
from .prepare import Outcome
from .session import Session

NO_ROUTINE = -674  # SQLCODE: no routine of this name takes these arguments

_NAME_PART = r"(?:[^\W\d]\w*|\"(?:[^\"]|\"\")+\")"
_ROUTINE_NAME = re.compile(rf"(?:{_NAME_PART}(?:@{_NAME_PART})?:)?(?:{_NAME_PART}\.)?(?P<name>{_NAME_PART})")


def call_procedure(
    session: Session,
    name: str,
    arguments: Sequence[object],
    options: ReadOptions,
    *,
    inexact: Inexact | None = None,
) -> Exchange[Outcome | ServerCursor]:
    """Execute ``EXECUTE PROCEDURE name(?, ...)``, or ``EXECUTE FUNCTION`` if the server reports that it is no
    procedure.

    Raises ``InterfaceError`` at the call if ``name`` is not ``[database[@server]:][owner.]name``. Otherwise as
    :func:`.execute.execute_statement`.
    """
    match = _ROUTINE_NAME.fullmatch(name.strip()) if isinstance(name, str) else None
    if match is None:
        raise InterfaceError(f"A procedure name has the form [database:][owner.]name, got {name!r}.")
    count = len(arguments) if isinstance(arguments, Sequence) else 0
    call = f"{match[0]}({', '.join('?' * count)})"
    check_parameters(f"EXECUTE PROCEDURE {call}", arguments)
    # Bound and refused at the call.
    first = execute_statement(session, f"EXECUTE PROCEDURE {call}", arguments, options, inexact=inexact)
    return _procedure_or_function(session, first, call, match["name"], arguments, options, inexact)


def _procedure_or_function(
    session: Session,
    first: Exchange[Outcome | ServerCursor],
    call: str,
    name: str,
    arguments: Sequence[object],
    options: ReadOptions,
    inexact: Inexact | None,
) -> Exchange[Outcome | ServerCursor]:
    try:
        return (yield from first)
    except Error as error:
        # The routine itself is missing, not one that it calls: that one would have been executed already.
        missing = (error.near or name).rpartition(".")[2].strip('"').lower() == name.strip('"').lower()
        if error.sqlcode != NO_ROUTINE or not missing or not session.usable_after(error):
            raise
        try:
            sql = f"EXECUTE FUNCTION {call}"
            return (yield from execute_statement(session, sql, arguments, options, inexact=inexact))
        except Error as second:
            if second.sqlcode == NO_ROUTINE and session.usable_after(second):
                raise error from None
            raise
