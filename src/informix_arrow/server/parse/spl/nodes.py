"""Syntax tree of a routine: its header and its statements.

Expressions and SQL stay text. routines/sql_compiler.py plans them at their first execution. Nodes are compared by
identity, so that a plan can be cached for each.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ....wire.types import ColumnType


@dataclass(frozen=True, slots=True)
class Like:
    """`LIKE [database:]table.column` in place of a type. `database` is None for the current one."""

    table: str
    column: str
    database: str | None = None


DeclaredVariableType = ColumnType | Like
"""A declared type. A ColumnType may be unresolved (parse/ddl_types.py)."""


@dataclass(eq=False, slots=True)
class SqlText:
    """SQL of a statement, a condition, or a list of expressions. `start` is its 0-based position in the routine's
    text."""

    sql: str
    start: int = 0


@dataclass(eq=False, slots=True)
class SelectInto:
    """A SELECT without its INTO, and the variables of the INTO."""

    text: SqlText
    into: tuple[str, ...] = ()
    cursor: str = ""
    with_hold: bool = False


@dataclass(eq=False, slots=True)
class CallStatement:
    """CALL or EXECUTE of a routine.

    `arguments` is the text between the parentheses, `database` None for the current one. `references` is WITH TRIGGER
    REFERENCES.
    """

    name: str
    arguments: SqlText
    into: tuple[str, ...] = ()
    cursor: str = ""
    database: str | None = None
    references: bool = False


@dataclass(eq=False, slots=True)
class Define:
    """DEFINE of variables of one type. Only global variables have a `default`, in the form of the catalogue."""

    names: tuple[str, ...]
    type: DeclaredVariableType
    is_global: bool = False
    default: tuple[str, str] | None = None


@dataclass(eq=False, slots=True)
class Handler:
    """ON EXCEPTION for some error codes, or for all if `codes` is empty."""

    codes: tuple[int, ...]
    into: tuple[str, ...]
    body: StatementBlock
    resume: bool


@dataclass(eq=False, slots=True)
class StatementBlock:
    """A statement block.

    `unit` is true for blocks that count as one statement for a handler outside: BEGIN ... END, and the routine itself.
    `labels` maps labels to the positions of their statements. `label` is the label of the loop whose body the block is.
    """

    statements: list[SplStatement] = field(default_factory=list)
    defines: list[Define] = field(default_factory=list)
    handlers: list[Handler] = field(default_factory=list)
    unit: bool = False
    labels: dict[str, int] = field(default_factory=dict)
    label: str = ""


@dataclass(eq=False, slots=True)
class Let:
    targets: tuple[str, ...]
    values: SqlText


@dataclass(eq=False, slots=True)
class If:
    arms: list[tuple[SqlText, StatementBlock]]
    otherwise: StatementBlock | None


@dataclass(eq=False, slots=True)
class Case:
    """The CASE statement. `operand` is None in the form with conditions."""

    operand: SqlText | None
    arms: list[tuple[SqlText, StatementBlock]]
    otherwise: StatementBlock | None


@dataclass(eq=False, slots=True)
class Range:
    """One part of FOR: a value, or `start TO stop [STEP step]`."""

    start: SqlText
    stop: SqlText | None = None
    step: SqlText | None = None


@dataclass(eq=False, slots=True)
class For:
    variable: str
    ranges: list[Range]
    body: StatementBlock


@dataclass(eq=False, slots=True)
class While:
    """WHILE or LOOP. LOOP has no condition."""

    condition: SqlText | None
    body: StatementBlock
    kind: str = "WHILE"


@dataclass(eq=False, slots=True)
class Foreach:
    source: SelectInto | CallStatement
    body: StatementBlock


@dataclass(eq=False, slots=True)
class LoopControl:
    """EXIT or CONTINUE.

    `kind` is FOR, FOREACH, WHILE or LOOP, "" for the innermost loop. `label` is the label of an outer loop.
    """

    verb: str
    kind: str
    when: SqlText | None = None
    label: str = ""


@dataclass(eq=False, slots=True)
class Goto:
    label: str


@dataclass(eq=False, slots=True)
class Return:
    values: SqlText | None
    resume: bool = False


@dataclass(eq=False, slots=True)
class Raise:
    """RAISE EXCEPTION sqlcode [, isamcode [, text]]."""

    values: SqlText


@dataclass(eq=False, slots=True)
class ExecuteImmediate:
    statement: SqlText


@dataclass(eq=False, slots=True)
class Prepare:
    """PREPARE of the text that an expression returns."""

    name: str
    statement: SqlText


@dataclass(eq=False, slots=True)
class Declare:
    """DECLARE of a cursor for the name of a prepared statement, or for a query."""

    cursor: str
    source: str | SqlText
    with_hold: bool = False


@dataclass(eq=False, slots=True)
class Open:
    cursor: str
    using: SqlText | None = None


@dataclass(eq=False, slots=True)
class Fetch:
    cursor: str
    into: tuple[str, ...]


@dataclass(eq=False, slots=True)
class Release:
    """CLOSE of a cursor, or FREE of a cursor or prepared statement."""

    verb: str
    name: str


@dataclass(eq=False, slots=True)
class SqlStatement:
    """An SQL statement that returns no rows. `verb` is its first word."""

    verb: str
    text: SqlText


SplStatement = (
    StatementBlock
    | Let
    | If
    | Case
    | For
    | While
    | Foreach
    | LoopControl
    | Goto
    | Return
    | Raise
    | CallStatement
    | SelectInto
    | ExecuteImmediate
    | Prepare
    | Declare
    | Open
    | Fetch
    | Release
    | SqlStatement
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a routine. `mode` is "", OUT or INOUT."""

    name: str
    type: DeclaredVariableType
    default: tuple[str, str] | None = None
    mode: str = ""


@dataclass(eq=False, slots=True)
class Routine:
    """A parsed routine. `text` is the whole CREATE statement.

    A trigger routine has a `table`, and names for the values of its rows before and after the change, "" for none.
    """

    kind: str  # FUNCTION or PROCEDURE
    name: str
    parameters: tuple[Parameter, ...]
    returns: tuple[tuple[str, DeclaredVariableType], ...]
    body: StatementBlock
    text: str
    specific: str = ""
    modifiers: tuple[str, ...] = ()
    document: str = ""
    dba: bool = False
    if_not_exists: bool = False
    or_replace: bool = False
    table: str = ""
    old: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class DropRoutine:
    """DROP FUNCTION, PROCEDURE or ROUTINE. `types` is None if no argument types were given."""

    kind: str
    name: str
    types: tuple[ColumnType, ...] | None
    specific: bool
    if_exists: bool


@dataclass(frozen=True, slots=True)
class ExecuteRoutine:
    """EXECUTE FUNCTION, EXECUTE PROCEDURE or CALL by a client.

    `arguments` is the text between the parentheses, which begins at `start`. `database` is None for the current one.
    """

    name: str
    arguments: str
    start: int
    database: str | None = None
