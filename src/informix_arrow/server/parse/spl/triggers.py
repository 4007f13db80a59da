"""Parsing of CREATE TRIGGER. Its actions are parsed as statements of a routine.

Commas separate the actions of a list, and an action may contain commas (`UPDATE t SET a = 1, b = 2`). So a comma ends
an action only if the beginning of another follows.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokens import TokenType

from ...errors import SqlError, not_supported
from ..parse_query import parse
from . import codes
from . import nodes as n
from .embedded_sql import CLOSING, OPENING
from .statements import BlockParser
from .trigger_nodes import NO_NAME, CreateTrigger

_EVENTS = {"INSERT": "I", "UPDATE": "U", "DELETE": "D"}
_BEGINNINGS = {
    "INSERT": ("INTO",),
    "DELETE": ("FROM",),
    "EXECUTE": ("PROCEDURE", "FUNCTION"),
}
_ILLEGAL = frozenset({"BEGIN", "COMMIT", "ROLLBACK", "SET", "SAVEPOINT", "RELEASE"})


class TriggerParser(BlockParser):
    """Parses a trigger after CREATE."""

    def trigger(self) -> CreateTrigger:
        """Parse a whole CREATE TRIGGER, from after CREATE to the end of the text."""
        self.expect("TRIGGER")
        missing = self.accept("IF", "NOT", "EXISTS")
        name = self.object_name()
        instead = self.accept("INSTEAD", "OF")
        word = self.word
        if word == "SELECT" and not instead:
            raise not_supported("triggers for SELECT", offset=self.token.start + 1)
        if word not in _EVENTS:
            raise self.syntax_error()
        self.index += 1
        columns: list[str] = []
        if word == "UPDATE" and not instead and self.accept("OF"):
            columns.append(self.identifier())
            while self.accept(","):
                columns.append(self.identifier())
            for column in columns:
                if columns.count(column) > 1:
                    raise SqlError(codes.TWICE_IN_TRIGGER, 0, 0, column)
        self.expect("ON")
        table = self.table_name()
        old, new = self._referencing(_EVENTS[word])
        actions = self.token.start if not self.at_end else len(self.sql)
        before, each, after = self._sections(new or NO_NAME, instead)
        end = self.tokens[self.index - 1].end + 1
        enabled = self.accept("ENABLED") or not self.accept("DISABLED")
        self.skip_semicolons()
        if not self.at_end:
            raise self.syntax_error()
        if not (before.statements or each.statements or after.statements):
            raise SqlError(codes.NO_ACTION, 0, 0, name)
        if (old or new) and not each.statements:
            raise SqlError(codes.NOT_FOR_EACH_ROW, 0, 0, name)
        return CreateTrigger(
            name,
            _EVENTS[word],
            table,
            tuple(columns),
            old,
            new,
            before,
            each,
            after,
            self.sql[:actions],
            self.sql[actions:end],
            instead,
            enabled,
            missing,
        )

    def _referencing(self, event: str) -> tuple[str, str]:
        """Parse REFERENCING. Return the names of the old and new values."""
        found = {"OLD": "", "NEW": ""}
        if self.accept("REFERENCING"):
            while self.word in found:
                which = self.word
                at = self.token.start
                self.index += 1
                self.accept("AS")
                if found[which] or which == {"I": "OLD", "D": "NEW"}.get(event):
                    self.index -= 1
                    raise SqlError(codes.WRONG_CORRELATION, 0, at + 1, which.lower())
                found[which] = self.identifier()
                self.accept(",")
            if not any(found.values()):
                raise self.syntax_error()
            if found["OLD"] == found["NEW"]:
                raise SqlError(codes.WRONG_CORRELATION, 0, 0, found["OLD"])
        return found["OLD"], found["NEW"]

    def _sections(
        self, new: str, instead: bool
    ) -> tuple[n.StatementBlock, n.StatementBlock, n.StatementBlock]:
        before = self._lists("") if not instead and self.accept("BEFORE") else n.StatementBlock()
        if instead:
            self.expect("FOR", "EACH", "ROW")
            return before, n.StatementBlock(self._actions(new)), n.StatementBlock()
        each = self._lists(new) if self.accept("FOR", "EACH", "ROW") else n.StatementBlock()
        after = self._lists("") if self.accept("AFTER") else n.StatementBlock()
        return before, each, after

    def _lists(self, new: str) -> n.StatementBlock:
        """Parse `[WHEN (condition)] (action, ...), ...`. `new` is "" for actions without a row."""
        block = n.StatementBlock()
        while True:
            if self.accept("WHEN"):
                start = self.token.start
                condition = n.SqlText(self.parenthesised(), start + 1)
                block.statements.append(n.If([(condition, n.StatementBlock(self._actions(new)))], None))
            else:
                block.statements += self._actions(new)
            if not self.accept(","):
                return block

    def _actions(self, new: str) -> list[n.SplStatement]:
        self.expect("(")
        found = [self._action(new)]
        while self.accept(","):
            found.append(self._action(new))
        self.expect(")")
        return found

    def _action(self, new: str) -> n.SplStatement:
        word = self.word
        if word in _ILLEGAL:
            raise SqlError(codes.ILLEGAL_IN_TRIGGER, 0, 0, word.lower())
        if word == "EXECUTE":
            self.index += 1
            if not (self.accept("PROCEDURE") or self.accept("FUNCTION")):
                raise self.syntax_error()
            return self._execution(new)
        if word not in ("INSERT", "UPDATE", "DELETE"):
            raise self.syntax_error()
        start, depth = self.index, 0
        while not self.at_end:
            kind = self.token.token_type
            if kind in OPENING:
                depth += 1
            elif kind in CLOSING:
                if not depth:
                    break
                depth -= 1
            elif not depth and self.word == "," and self._begins(1):
                break
            self.index += 1
        return n.SqlStatement(word, self._text(start, self.index))

    def _begins(self, ahead: int) -> bool:
        """Return whether an action begins `ahead` tokens further on."""
        word, second = self.peek(ahead), self.peek(ahead + 1)
        if word in _BEGINNINGS:
            return second in _BEGINNINGS[word]
        return word == "UPDATE" and second[:1] not in ("=", ",", ")", ".", "")

    def _execution(self, new: str) -> n.CallStatement:
        """Parse name, arguments and columns of EXECUTE. INTO assigns to the new values of the columns."""
        database, name = self.table_in_any_database()
        opening = self.token
        if opening.token_type != TokenType.L_PAREN:
            raise self.syntax_error()
        arguments = n.SqlText(self.parenthesised(), opening.start + 1)
        into: list[str] = []
        if self.word == "INTO":
            if not new:
                raise self.syntax_error()
            self.index += 1
            into.append(self._column(new))
            while self.word == "," and not self._begins(1):
                self.index += 1
                into.append(self._column(new))
        references = self.accept("WITH", "TRIGGER", "REFERENCES")
        if references and not new:
            raise self.syntax_error()
        return n.CallStatement(name, arguments, tuple(into), database=database, references=references)

    def _column(self, new: str) -> str:
        return f"{new}.{self.qualified_column()[-1]}"


def parse_trigger(sql: str, delimident: bool) -> CreateTrigger:
    """Parse the CREATE statement of a trigger. Raises -201 with its position for invalid SQL."""
    parser = TriggerParser(sql, delimident)
    parser.expect("CREATE")
    found = parser.trigger()
    for block in (found.before, found.each_row, found.after):
        _check(block, delimident)
    return found


def _check(block: n.StatementBlock, delimident: bool) -> None:
    """Raise -201 for invalid SQL in the actions."""
    for statement in block.statements:
        if isinstance(statement, n.If):
            for condition, inner in statement.arms:
                _parse_sql(condition, "SELECT ", delimident)
                _check(inner, delimident)
        elif isinstance(statement, n.CallStatement):
            if statement.arguments.sql.strip():
                _parse_sql(statement.arguments, "SELECT ", delimident)
        elif isinstance(statement, n.SqlStatement):
            tree = _parse_sql(statement.text, "", delimident)
            if tree.find(exp.Placeholder):
                raise SqlError(-201, 0, statement.text.start + 1, "", "A trigger cannot contain a parameter.")


def _parse_sql(text: n.SqlText, head: str, delimident: bool) -> exp.Expression:
    try:
        return parse(head + text.sql, delimident)
    except SqlError as problem:
        if problem.offset:
            problem.offset = max(1, problem.offset - len(head)) + text.start
        raise
