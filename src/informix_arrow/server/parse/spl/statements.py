"""Parsing of the statements of a routine's body. SQL and expressions inside are kept as text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlglot.tokens import TokenType

from ....wire.types import TypeCode
from ...errors import SqlError, not_supported, syntax_error
from ...types.result_types import SERIALS
from . import codes
from . import nodes as n
from .embedded_sql import BLOCK_ENDS, CLOSING, ILLEGAL, OPENING, SQL, EmbeddedSqlParser


class BlockParser(EmbeddedSqlParser):
    """Parses statement blocks up to the words that end them."""

    def __init__(self, sql: str, delimident: bool = False) -> None:
        super().__init__(sql, delimident)
        self._label = ""  # label of the next statement
        self._loops: list[str] = []  # labels of the enclosing loops

    # ---- blocks -------------------------------------------------------------------------------
    def block(self, *ends: str, unit: bool = False) -> n.StatementBlock:
        """Parse declarations and statements up to one of the words `ends`, which is not consumed."""
        block = n.StatementBlock(unit=unit)
        while True:
            self.skip_semicolons()
            if self.at_end:
                raise self.syntax_error()
            if self.word in ends:
                self._label = ""
                return block
            if self.accept("<", "<"):
                self._label = self._parse_label(block)
                continue
            if self.word == "DEFINE":
                if block.statements or block.handlers:
                    raise self.syntax_error()
                block.defines += self._define()
            elif self.accept("ON", "EXCEPTION"):
                if block.statements:
                    raise self.syntax_error()
                block.handlers.append(self._handler())
            else:
                found = self.statement()
                if found is not None:
                    block.statements.append(found)
                self._label = ""

    def _parse_label(self, block: n.StatementBlock) -> str:
        """Parse `<<label>>` after its first two signs."""
        at = self.token.start + 1
        label = self.identifier()
        self.expect(">", ">")
        if label in block.labels:
            raise syntax_error(at, f"The label {label} is defined twice.")
        block.labels[label] = len(block.statements)
        return label

    def _define(self) -> list[n.Define]:
        self.expect("DEFINE")
        is_global = self.accept("GLOBAL")
        defines: list[n.Define] = []
        while True:
            names = self._variables()
            if self.word in ("REFERENCES", "PROCEDURE", "FUNCTION", "ROUTINE"):
                raise not_supported(f"DEFINE ... {self.word}", offset=self.token.start + 1)
            declared = self.declared()
            default = None
            if isinstance(declared, n.Like):
                if is_global:
                    raise SqlError(codes.LIKE_GLOBAL)
            elif declared.code in SERIALS:
                raise SqlError(codes.SERIAL_VARIABLE, 0, 0, names[0])
            if self.accept("DEFAULT"):
                if not is_global or isinstance(declared, n.Like):
                    raise SqlError(codes.NO_LOCAL_DEFAULT)
                default = self.default(declared)
            elif is_global:
                raise SqlError(codes.NEEDS_DEFAULT, 0, 0, names[0])
            defines.append(n.Define(names, declared, is_global, default))
            if not self.accept(","):
                break
        if not self.accept(";"):
            raise self.syntax_error()
        return defines

    def declared(self) -> n.DeclaredVariableType:
        """Parse a type, or LIKE table.column."""
        if self.accept("LIKE"):
            database = self.database_prefix()
            parts = self.qualified_column()
            if len(parts) < 2:
                raise self.syntax_error()
            return n.Like(parts[0], parts[1], database)
        at = self.token.start
        t, _ = self.column_type()
        if t.code in (TypeCode.BYTE, TypeCode.TEXT):
            raise not_supported("BYTE and TEXT in a routine", offset=at + 1)
        return t

    def _handler(self) -> n.Handler:
        codes: list[int] = []
        if self.accept("IN"):
            self.expect("(")
            while True:
                sign = -1 if self.accept("-") else 1
                codes.append(sign * self.integer())
                if not self.accept(","):
                    break
            self.expect(")")
        into: tuple[str, ...] = ()
        if self.accept("SET"):
            into = self._variables()
            if len(into) > 3:
                raise self.syntax_error()
        body = self.block("END")
        self.expect("END", "EXCEPTION")
        resume = self.accept("WITH", "RESUME")
        self.skip_semicolons()
        return n.Handler(tuple(codes), into, body, resume)

    # ---- statements ---------------------------------------------------------------------------
    def statement(self) -> n.SplStatement | None:
        """Parse one statement. Return None for one without effect (TRACE, SET DEBUG FILE)."""
        word = self.word
        if word == "SYSTEM":
            raise not_supported("SYSTEM", codes.NO_SYSTEM)
        if word in ILLEGAL or (word == "UPDATE" and self.peek() == "STATISTICS"):
            raise SqlError(codes.ILLEGAL_STATEMENT, 0, 0, word.lower())
        if word == "TRACE" or (word == "SET" and self.peek() == "DEBUG"):
            self.embedded_sql()
            return None
        reader = _PARSERS.get(word)
        if reader is not None:
            self.index += 1
            found = reader(self)
            self.accept(";")
            return found
        if word in SQL:
            return self._sql(word)
        raise self.syntax_error()

    def _sql(self, word: str) -> n.SqlStatement:
        text = self.embedded_sql()
        second = text.sql.split()[1].upper() if len(text.sql.split()) > 1 else ""
        if word == "CREATE" and second in ("FUNCTION", "PROCEDURE", "DBA", "ROUTINE", "TRIGGER"):
            raise SqlError(codes.ROUTINE_INSIDE)
        if second == "DATABASE" or (word == "SET" and second in ("CONNECTION", "AUTOFREE")):
            raise SqlError(codes.ILLEGAL_STATEMENT, 0, 0, word.lower())
        if word == "ROLLBACK" and "SAVEPOINT" in text.sql.upper():
            raise not_supported("savepoints in a routine", offset=text.start + 1)
        self.accept(";")
        return n.SqlStatement(word, text)

    def _begin(self) -> n.SplStatement:
        if self.accept("WORK"):
            return n.SqlStatement("BEGIN", n.SqlText("BEGIN WORK", self.tokens[self.index - 2].start))
        block = self.block("END", unit=True)
        self.expect("END")
        return block

    def _let(self) -> n.Let:
        bracket = self.accept("(")
        targets = self._variables()
        if bracket:
            self.expect(")")
        self.expect("=")
        return n.Let(targets, self.embedded_sql())

    def _if(self) -> n.If:
        arms: list[tuple[n.SqlText, n.StatementBlock]] = []
        otherwise = None
        while True:
            condition = self.embedded_sql("THEN")
            self.expect("THEN")
            arms.append((condition, self.block("END", "ELSE", "ELIF")))
            if not self.accept("ELIF"):
                break
        if self.accept("ELSE"):
            otherwise = self.block("END")
        self.expect("END", "IF")
        return n.If(arms, otherwise)

    def _case(self) -> n.Case:
        operand = None if self.word == "WHEN" else self.embedded_sql("WHEN")
        arms: list[tuple[n.SqlText, n.StatementBlock]] = []
        otherwise = None
        while self.accept("WHEN"):
            value = self.embedded_sql("THEN")
            self.expect("THEN")
            arms.append((value, self.block("END", "ELSE", "WHEN")))
        if not arms:
            raise self.syntax_error()
        if self.accept("ELSE"):
            otherwise = self.block("END")
        self.expect("END", "CASE")
        return n.Case(operand, arms, otherwise)

    def _for(self) -> n.For:
        variable = self.identifier()
        if self.accept("="):
            ranges = [self._range(in_list=False)]
        else:
            self.expect("IN", "(")
            ranges = [self._range(in_list=True)]
            while self.accept(","):
                ranges.append(self._range(in_list=True))
            self.expect(")")
        return n.For(variable, ranges, self._body("FOR"))

    def _range(self, *, in_list: bool) -> n.Range:
        ends = (",",) if in_list else ()
        start = self.embedded_sql("TO", *ends)
        if not self.accept("TO"):
            if not in_list:
                raise self.syntax_error()
            return n.Range(start)
        stop = self.embedded_sql("STEP", *ends, statements=not in_list)
        step = self.embedded_sql(*ends, statements=not in_list) if self.accept("STEP") else None
        return n.Range(start, stop, step)

    def _body(self, kind: str) -> n.StatementBlock:
        """Parse the statements of a loop. It ends with END LOOP if it began with LOOP."""
        kind = "LOOP" if self.accept("LOOP") else kind
        label, self._label = self._label, ""
        self._loops.append(label)
        body = self.block("END")
        self._loops.pop()
        body.label = label
        self.expect("END", kind)
        if label and self.word == label.upper():
            self.identifier()
        return body

    def _while(self) -> n.While:
        condition = self.embedded_sql(statements=True)
        return n.While(condition, self._body("WHILE"))

    def _loop(self) -> n.While:
        return n.While(None, self._body("LOOP"), "LOOP")

    def _foreach(self) -> n.Foreach:
        cursor, hold = "", self.accept("WITH", "HOLD")
        if self.word not in ("SELECT", "EXECUTE"):
            cursor = self.identifier()
            hold = self.accept("WITH", "HOLD")
            self.expect("FOR")
        source: n.SelectInto | n.CallStatement
        if self.accept("EXECUTE"):
            if not (self.accept("PROCEDURE") or self.accept("FUNCTION")):
                raise not_supported("FOREACH over a prepared statement", offset=self.token.start + 1)
            source = self._call()
            source.cursor = cursor
        else:
            source = self._query(statements=True)
            source.cursor, source.with_hold = cursor, hold
        if not source.into:
            raise self.syntax_error()
        return n.Foreach(source, self._body("FOREACH"))

    def _query(self, *, statements: bool) -> n.SelectInto:
        """Parse a SELECT and remove its INTO."""
        start = self.index
        text = self.embedded_sql(statements=statements)
        end, depth = self.index, 0
        into: tuple[str, ...] = ()
        self.index = start
        while self.index < end:
            kind = self.token.token_type
            depth += 1 if kind in OPENING else -1 if kind in CLOSING else 0
            if (
                not depth
                and self.word == "INTO"
                and self.peek() not in ("TEMP", "RAW", "STANDARD", "EXTERNAL")
            ):
                first = self.token.start - text.start
                self.index += 1
                into = self._variables()
                last = self.tokens[self.index - 1].end + 1 - text.start
                text.sql = text.sql[:first] + " " * (last - first) + text.sql[last:]
                break
            self.index += 1
        self.index = end
        return n.SelectInto(text, into)

    def _select(self) -> n.SplStatement:
        self.index -= 1
        query = self._query(statements=False)
        if not query.into:
            if "TEMP" in query.text.sql.upper().split():
                return n.SqlStatement("SELECT", query.text)
            raise SqlError(codes.NEEDS_INTO)
        return query

    def _call(self) -> n.CallStatement:
        """Parse name, arguments and variables of CALL or EXECUTE."""
        database, name = self.table_in_any_database()
        opening = self.token
        if opening.token_type != TokenType.L_PAREN:
            raise self.syntax_error()
        arguments = n.SqlText(self.parenthesised(), opening.start + 1)
        into = self._variables() if self.accept("RETURNING") or self.accept("INTO") else ()
        if self.word == "WITH":
            raise not_supported("WITH TRIGGER REFERENCES", offset=self.token.start + 1)
        return n.CallStatement(name, arguments, into, database=database)

    def _execute(self) -> n.SplStatement:
        if self.accept("IMMEDIATE"):
            return n.ExecuteImmediate(self.embedded_sql())
        if self.accept("PROCEDURE") or self.accept("FUNCTION"):
            return self._call()
        raise not_supported("EXECUTE of a prepared statement in a routine", offset=self.token.start + 1)

    # ---- dynamic SQL --------------------------------------------------------------------------
    def _prepare(self) -> n.Prepare:
        name = self.identifier()
        self.expect("FROM")
        return n.Prepare(name, self.embedded_sql())

    def _declare(self) -> n.Declare:
        cursor = self.identifier()
        if self.word == "SCROLL":
            raise not_supported("scroll cursors in a routine", offset=self.token.start + 1)
        self.expect("CURSOR")
        hold = self.accept("WITH", "HOLD")
        self.expect("FOR")
        if self.word in ("SELECT", "WITH", "EXECUTE"):
            return n.Declare(cursor, self.embedded_sql(), hold)
        return n.Declare(cursor, self.identifier(), hold)

    def _open(self) -> n.Open:
        cursor = self.identifier()
        using = self.embedded_sql("WITH") if self.accept("USING") else None
        self.accept("WITH", "REOPTIMIZATION")
        return n.Open(cursor, using)

    def _fetch(self) -> n.Fetch:
        if self.peek() != "INTO":
            self.accept("NEXT")
        cursor = self.identifier()
        self.expect("INTO")
        return n.Fetch(cursor, self._variables())

    def _release(self, verb: str) -> n.Release:
        return n.Release(verb, self.identifier())

    def _return(self) -> n.Return:
        if self.at_end or self.token.token_type == TokenType.SEMICOLON or self.word in BLOCK_ENDS:
            return n.Return(None)
        values = None if self.word == "WITH" else self.embedded_sql("WITH")
        resume = self.accept("WITH", "RESUME")
        return n.Return(values, resume)

    def _raise(self) -> n.Raise:
        self.expect("EXCEPTION")
        return n.Raise(self.embedded_sql())

    def _loop_control(self, verb: str) -> n.LoopControl:
        kind = next((k for k in ("FOR", "FOREACH", "WHILE", "LOOP") if self.accept(k)), "")
        label = ""
        if verb == "EXIT" and not kind and self.word not in ("WHEN", ";", *BLOCK_ENDS):
            label = self.identifier()
            if label not in self._loops:
                self.index -= 1
                raise self.syntax_error()
        when = self.embedded_sql() if self.accept("WHEN") else None
        if not (self.at_end or self.token.token_type == TokenType.SEMICOLON or self.word in BLOCK_ENDS):
            raise self.syntax_error()
        return n.LoopControl(verb, kind, when, label)

    def _goto(self) -> n.Goto:
        return n.Goto(self.identifier())


_PARSERS: dict[str, Callable[[BlockParser], n.SplStatement]] = {
    "BEGIN": BlockParser._begin,
    "LET": BlockParser._let,
    "IF": BlockParser._if,
    "CASE": BlockParser._case,
    "FOR": BlockParser._for,
    "WHILE": BlockParser._while,
    "LOOP": BlockParser._loop,
    "FOREACH": BlockParser._foreach,
    "SELECT": BlockParser._select,
    "CALL": BlockParser._call,
    "EXECUTE": BlockParser._execute,
    "RETURN": BlockParser._return,
    "RAISE": BlockParser._raise,
    "PREPARE": BlockParser._prepare,
    "DECLARE": BlockParser._declare,
    "OPEN": BlockParser._open,
    "FETCH": BlockParser._fetch,
    "CLOSE": partial(BlockParser._release, verb="CLOSE"),
    "FREE": partial(BlockParser._release, verb="FREE"),
    "EXIT": partial(BlockParser._loop_control, verb="EXIT"),
    "CONTINUE": partial(BlockParser._loop_control, verb="CONTINUE"),
    "GOTO": BlockParser._goto,
}
