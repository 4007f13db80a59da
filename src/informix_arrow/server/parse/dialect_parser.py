"""Informix queries as a sqlglot parser.

Functions other than the aggregates stay `exp.Anonymous`. plan/functions/ and plan/nodes/calls.py translate them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp, parser
from sqlglot.tokens import Token, TokenType

from .dialect_nodes import (
    CALL_OWNER,
    SERVER,
    CollectionLiteral,
    ConnectByRoot,
    CurrentDatetime,
    CurrentOf,
    DatetimeLiteral,
    Extend,
    IntervalLiteral,
    LocalVariable,
    OuterTables,
    RoutineRows,
    Today,
    Units,
)
from .strict_parser import StrictParser

FIELDS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "FRACTION")


SIMPLE_TYPES: dict[str, tuple[str, str]] = {
    # word: (canonical Informix name, sqlglot type)
    "SMALLINT": ("SMALLINT", "SMALLINT"),
    "INT": ("INTEGER", "INT"),
    "INTEGER": ("INTEGER", "INT"),
    "SERIAL": ("SERIAL", "INT"),
    "BIGINT": ("BIGINT", "BIGINT"),
    "BIGSERIAL": ("BIGSERIAL", "BIGINT"),
    "INT8": ("INT8", "BIGINT"),
    "SERIAL8": ("SERIAL8", "BIGINT"),
    "SMALLFLOAT": ("SMALLFLOAT", "FLOAT"),
    "REAL": ("SMALLFLOAT", "FLOAT"),
    "FLOAT": ("FLOAT", "DOUBLE"),
    "DATE": ("DATE", "DATE"),
    "BOOLEAN": ("BOOLEAN", "BOOLEAN"),
    "CHAR": ("CHAR", "CHAR"),
    "CHARACTER": ("CHAR", "CHAR"),
    "NCHAR": ("NCHAR", "NCHAR"),
    "VARCHAR": ("VARCHAR", "VARCHAR"),
    "NVARCHAR": ("NVARCHAR", "NVARCHAR"),
    "LVARCHAR": ("LVARCHAR", "VARCHAR"),
    "DECIMAL": ("DECIMAL", "DECIMAL"),
    "DEC": ("DECIMAL", "DECIMAL"),
    "NUMERIC": ("DECIMAL", "DECIMAL"),
    "MONEY": ("MONEY", "DECIMAL"),
    "BYTE": ("BYTE", "VARBINARY"),
    "TEXT": ("TEXT", "TEXT"),
    "BLOB": ("BLOB", "BLOB"),
    "CLOB": ("CLOB", "TEXT"),
    "JSON": ("JSON", "JSON"),
    "BSON": ("BSON", "VARBINARY"),
}


class InformixParser(StrictParser):
    """Parses queries and data changes."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {
        name: parser.Parser.FUNCTIONS[name] for name in ("COUNT", "SUM", "AVG", "MIN", "MAX")
    }
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: parser.Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRIM", "SUBSTRING")
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: parser.Parser.NO_PAREN_FUNCTION_PARSERS[name] for name in ("CASE", "ANY")
    }
    NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
    QUERY_MODIFIER_PARSERS: ClassVar[dict[Any, Any]] = {
        **parser.Parser.QUERY_MODIFIER_PARSERS,
        TokenType.ORDER_SIBLINGS_BY: lambda self: ("order", self._parse_order()),
    }
    PLACEHOLDER_PARSERS: ClassVar[dict[Any, Any]] = {
        TokenType.PLACEHOLDER: lambda self: _placeholder(self._prev),
    }

    check_interrupt: Callable[[], None] = staticmethod(lambda: None)
    """Called for each operand. It may raise, to stop the parsing of a long statement."""

    _connecting = False  # inside the condition of CONNECT BY
    _skip: exp.Expression | None = None
    _first: exp.Expression | None = None

    # ---- qualifiers and types ------------------------------------------------------------------
    def _parse_field_name(self) -> str | None:
        """Parse one field with optional digits: `FRACTION(3)`, `DAY(9)`."""
        word = self._curr.text.upper() if self._curr else ""
        if word not in FIELDS:
            return None
        self._advance()
        if (
            self._curr
            and self._curr.token_type == TokenType.L_PAREN
            and self._next.token_type == TokenType.NUMBER
        ):
            digits = self._next.text
            if len(digits) > 1 or not digits.isdecimal():
                self.raise_error("Expected a precision such as (3)")
            self._advance(2)
            self._match_r_paren()
            return f"{word}({digits})"
        return word

    def _parse_qualifier(self) -> str | None:
        """Parse `YEAR TO SECOND`. Return None, with nothing consumed, if there is no qualifier here."""
        index = self._index
        start = self._parse_field_name()
        if start is None:
            return None
        if not (self._curr and self._curr.text.upper() == "TO"):
            self._retreat(index)
            return None
        self._advance()
        end = self._parse_field_name()
        if end is None:
            self.raise_error("Expected a field after TO")
        return f"{start} TO {end}"

    def _require_qualifier(self) -> str:
        qualifier = self._parse_qualifier()
        if qualifier is None:
            self.raise_error("Expected a qualifier such as YEAR TO SECOND")
        return str(qualifier)

    def _parse_types(
        self,
        check_func: bool = False,
        schema: bool = False,
        allow_identifiers: bool = True,
        with_collation: bool = False,
    ) -> exp.Expression | None:
        if check_func or not self._curr:
            return None  # Informix has no TYPE 'literal'; a type word here is a column or function
        return self._parse_informix_type()

    def _parse_informix_type(self) -> exp.DataType | None:
        self._skip_builtin_owner()
        word = self._curr.text.upper()
        if word in ("DATETIME", "INTERVAL"):
            self._advance()
            qualifier = self._require_qualifier()
            kind = exp.DataType.Type.TIMESTAMP if word == "DATETIME" else exp.DataType.Type.INTERVAL
            return _data_type(kind, f"{word} {qualifier}")
        if word in ("DOUBLE", "DOUBLE PRECISION"):  # the tokenizer makes one token of the two words
            self._advance()
            self._match_text_seq("PRECISION")
            return _data_type(exp.DataType.Type.DOUBLE, "FLOAT")
        if word in ("SET", "MULTISET", "LIST", "ROW"):
            start = self._curr
            self._advance()
            self._match_l_paren()
            depth = 1
            while self._curr and depth:
                depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(self._curr.token_type, 0)
                self._advance()
            return _data_type(exp.DataType.Type.VARCHAR, self._find_sql(start, self._prev))
        if word in ("CHARACTER VARYING", "CHAR VARYING"):  # one token, like DOUBLE PRECISION
            word = "VARCHAR"
        if word not in SIMPLE_TYPES or self._curr.token_type == TokenType.STRING:
            return self._parse_user_type()
        name, kind_name = SIMPLE_TYPES[word]
        self._advance()
        if word in ("CHARACTER", "CHAR") and self._match_text_seq("VARYING"):
            name, kind_name = "VARCHAR", "VARCHAR"
        sizes: list[str] = []
        if self._match(TokenType.L_PAREN):
            while True:
                if not self._match(TokenType.NUMBER):
                    self.raise_error("Expected a number")
                sizes.append(self._prev.text)
                if not self._match(TokenType.COMMA):
                    break
            self._match_r_paren()
        text = f"{name}({','.join(sizes)})" if sizes else name
        return _data_type(exp.DataType.Type[kind_name], text, sizes)

    def _skip_builtin_owner(self) -> None:
        """Skip `"informix".` before a built-in type."""
        at = self._index
        following = self._tokens[at + 1 : at + 3]
        if (
            self._curr.text.lower() == "informix"
            and len(following) == 2
            and following[0].token_type == TokenType.DOT
            and following[1].text.upper() in SIMPLE_TYPES
        ):
            self._advance(2)

    def _parse_user_type(self) -> exp.DataType | None:
        """Parse `[owner.]name` of a named ROW or DISTINCT type. The catalogue is not consulted here."""
        owned = self._curr.token_type == TokenType.STRING and self._next.token_type == TokenType.DOT
        if not owned and self._curr.token_type not in (TokenType.VAR, TokenType.IDENTIFIER):
            return None
        self._advance()
        if self._match(TokenType.DOT):
            word = self._curr
            if not word or not (word.token_type == TokenType.IDENTIFIER or word.text.isidentifier()):
                self.raise_error("Expected the name of a type after its owner")
            self._advance()
        return _data_type(exp.DataType.Type.USERDEFINED, self._prev.text.lower())

    # ---- primaries ----------------------------------------------------------------------------
    def _raw_parenthesised(self) -> str:
        """Return the text between the parentheses that start here. Dates are not parsed as expressions."""
        self._match_l_paren()
        start = self._curr
        while self._curr and self._curr.token_type != TokenType.R_PAREN:
            self._advance()
        text = self._find_sql(start, self._prev) if start is not self._curr else ""
        self._match_r_paren()
        return text.strip()

    def _parse_informix_primary(self) -> exp.Expression | None:
        self.check_interrupt()
        token, following = self._curr, self._next
        word = token.text.upper()
        after = following.token_type if following else None
        if token.token_type == TokenType.STRING and after == TokenType.DOT:
            return self._parse_column_of_owner()
        if (
            token.token_type in (TokenType.STRING, TokenType.IDENTIFIER, TokenType.NUMBER)
            or after == TokenType.DOT
        ):
            return None
        if (word in ("SET", "MULTISET", "LIST") and after == TokenType.L_BRACE) or (
            word == "ROW" and after == TokenType.L_PAREN
        ):
            return self._parse_collection(word)
        if word in ("DATETIME", "INTERVAL") and after == TokenType.L_PAREN:
            self._advance()
            text = self._raw_parenthesised()
            qualifier = self._require_qualifier()
            node = DatetimeLiteral if word == "DATETIME" else IntervalLiteral
            return node(this=text, qualifier=qualifier)
        if word == "CURRENT" and after != TokenType.L_PAREN:
            self._advance()
            if self._match_text_seq("OF"):
                return CurrentOf(this=self._parse_id_var())
            return CurrentDatetime(qualifier=self._parse_qualifier() or "YEAR TO FRACTION(3)")
        if word == "SYSDATE" and after != TokenType.L_PAREN:
            self._advance()
            return CurrentDatetime(qualifier=self._parse_qualifier() or "YEAR TO FRACTION(5)")
        if word == "TODAY" and after != TokenType.L_PAREN:
            self._advance()
            return Today()
        if word == "EXTEND" and after == TokenType.L_PAREN:
            self._advance(2)
            this = self._parse_bitwise()
            span = self._require_qualifier() if self._match(TokenType.COMMA) else None
            self._match_r_paren()
            return Extend(this=this, qualifier=span)
        if word in ("PRIOR", "CONNECT_BY_ROOT") and self._names_operand(after):
            self._advance()
            kind = exp.Prior if word == "PRIOR" else ConnectByRoot
            return kind(this=self._parse_unary())
        if after == TokenType.COLON:
            return self._parse_call_in_database()
        return None

    def _parse_column_of_owner(self) -> exp.Expression | None:
        """Parse `"owner".table.column`. Return None if there is something else here."""
        tokens, at = self._tokens, self._index
        if len(tokens) <= at + 4 or tokens[at + 3].token_type != TokenType.DOT:
            return None
        owner = self._parse_name_part()
        self._advance()
        table = self._parse_name_part()
        self._advance()
        column = self._parse_name_part()
        if table is None or column is None:
            self.raise_error("Expected a column")
        return exp.Column(this=column, table=table, db=owner)

    def _names_operand(self, after: TokenType | None) -> bool:
        """Return whether PRIOR is an operator and not a column name, judged by the next token and the context."""
        return after in (TokenType.VAR, TokenType.IDENTIFIER) or (
            self._connecting and after == TokenType.L_PAREN
        )

    def _parse_connect_with_prior(self) -> exp.Expression | None:
        connecting, self._connecting = self._connecting, True
        try:
            condition: exp.Expression | None = self._parse_disjunction()
        finally:
            self._connecting = connecting
        return condition

    def _parse_table_alias(self, *args: Any, **kwargs: Any) -> Any:
        starts = self._curr and self._curr.text.upper() == "START" and self._next
        if starts and self._next.token_type == TokenType.WITH:
            return None  # START WITH of a hierarchical query, not an alias
        return super()._parse_table_alias(*args, **kwargs)

    def _parse_call_in_database(self) -> exp.Expression | None:
        """Parse `db:[owner.]f(...)` to a call with `database` in its meta. Return None if there is something else
        here."""
        tokens, at = self._tokens, self._index
        name = at + 4 if len(tokens) > at + 3 and tokens[at + 3].token_type == TokenType.DOT else at + 2
        if len(tokens) <= name + 1 or tokens[name + 1].token_type != TokenType.L_PAREN:
            return None
        database = self._curr.text.lower()
        self._advance(name - at)
        call = self._parse_function(anonymous=True)
        if call is None:
            self.raise_error("Expected a call")
        found = exp.Dot(this=exp.to_identifier(database), expression=call)
        found.meta["database"] = database
        if name == at + 4:
            owner = tokens[at + 2]
            quoted = owner.token_type in (TokenType.STRING, TokenType.IDENTIFIER)
            found.meta[CALL_OWNER] = (owner.text if quoted else owner.text.lower(), quoted)
        return found

    def _parse_collection(self, kind: str) -> exp.Expression:
        self._advance(2)
        close = TokenType.R_PAREN if kind == "ROW" else TokenType.R_BRACE
        items: list[exp.Expression] = []
        if not self._match(close):
            items = self._parse_csv(self._parse_bitwise)
            if not self._match(close):
                self.raise_error("Expected the end of the collection")
        return CollectionLiteral(kind=kind, expressions=items)

    def _parse_atom(self) -> exp.Expression | None:
        # sqlglot's shortcut for function arguments would read TODAY and CURRENT as columns
        node = self._parse_informix_primary() if self._curr else None
        return node if node is not None else super()._parse_atom()

    def _parse_type(
        self, parse_interval: bool = True, fallback_to_identifier: bool = False
    ) -> exp.Expression | None:
        node: exp.Expression | None = None
        if not fallback_to_identifier and self._curr:
            node = self._parse_informix_primary()
            if node is not None:
                node = self._parse_column_ops(node)
        if node is None:
            node = super()._parse_type(parse_interval=False, fallback_to_identifier=fallback_to_identifier)
        while node is not None and self._curr and self._curr.text.upper() == "UNITS":
            if not (self._next and self._next.text.upper() in FIELDS):
                break
            self._advance()
            node = Units(this=node, unit=str(self._parse_field_name()))
        return node

    # ---- projections: SKIP, FIRST, LIMIT ------------------------------------------------------
    def _parse_hint(self) -> exp.Hint | None:
        self._skip = self._first = None
        while self._curr and self._curr.text.upper() in ("SKIP", "FIRST", "LIMIT"):
            if self._next.token_type not in (TokenType.NUMBER, TokenType.PLACEHOLDER):
                break
            word = self._curr.text.upper()
            self._advance()
            amount = self._parse_primary() or self._parse_placeholder()
            if word == "SKIP":
                self._skip = amount
            else:
                self._first = amount
        return None

    def _parse_limit(
        self, this: exp.Expression | None = None, top: bool = False, skip_limit_token: bool = False
    ) -> exp.Expression | None:
        if not top:
            limit_node: exp.Expression | None = super()._parse_limit(this, top, skip_limit_token)
            return limit_node
        skip, first, self._skip, self._first = self._skip, self._first, None, None
        if skip is None and first is None:
            return None
        limit = exp.Limit(expression=first, offset=skip)
        limit.meta["top"] = True
        return limit

    def _parse_query_modifiers(self, this: Any) -> Any:
        this = super()._parse_query_modifiers(this)
        if isinstance(this, exp.Query):
            if self._match_text_seq("FOR", "READ", "ONLY"):
                self._refuse_word("FOR")
            if self._curr and self._curr.token_type == TokenType.INTO and self._next:
                kind = self._next.text.upper()
                if kind in ("TEMP", "RAW", "STANDARD"):
                    self._advance(2)
                    table = self._parse_table_parts()
                    self._match_text_seq("WITH", "NO", "LOG")
                    this.set("into", exp.Into(this=table, temporary=kind == "TEMP"))
        return this

    # ---- tables -------------------------------------------------------------------------------
    def _parse_table_parts(
        self,
        schema: bool = False,
        is_db_reference: bool = False,
        wildcard: bool = False,
        fast: bool = False,
    ) -> Any:
        """Parse `[db[@server]:]["owner".]table`. `catalog` is the database, `db` the owner."""
        if fast:
            return None
        first = self._parse_name_part()
        if first is None:
            self.raise_error("Expected a table name")
        catalog = db = server = None
        if self._match(TokenType.PARAMETER):
            server = self._parse_name_part()
            if not (self._curr and self._curr.token_type == TokenType.COLON):
                self.raise_error("Expected :")
        if self._match(TokenType.COLON):
            catalog = first
            first = self._parse_name_part()
        if self._match(TokenType.DOT):
            db = first
            first = self._parse_name_part()
        if first is None:
            self.raise_error("Expected a table name")
        self._refuse_word("*")
        table = exp.Table(this=first, db=db, catalog=catalog)
        if server is not None:
            table.meta[SERVER] = server.name
        return table

    def _parse_name_part(self) -> exp.Identifier | None:
        token = self._curr
        if not token:
            return None
        if token.token_type == TokenType.STRING:
            if not (self._next and self._next.token_type == TokenType.DOT):
                return None
            self._advance()
            return exp.Identifier(this=token.text, quoted=True).update_positions(token)
        identifier: exp.Identifier | None = self._parse_id_var(any_token=False)
        if identifier is not None and not identifier.name:
            self.raise_error("Expected a name", token)
        return identifier

    def _parse_table(self, *args: Any, **kwargs: Any) -> Any:
        if self._curr and self._curr.token_type == TokenType.OUTER:
            self._advance()
            if self._curr and self._curr.token_type == TokenType.L_PAREN:
                members = self._parse_wrapped_csv(self._parse_table)
            else:
                members = [self._parse_table()]
            return OuterTables(expressions=members)
        if (
            self._curr
            and self._curr.token_type == TokenType.TABLE
            and self._next
            and self._next.token_type == TokenType.L_PAREN
        ):
            return self._parse_collection_table()
        return super()._parse_table(*args, **kwargs)

    def _parse_collection_table(self) -> exp.Expression:
        """Parse `TABLE (SET {1, 2})`, one column with a row for each element, or `TABLE (f(...))`, the rows of a
        routine."""
        self._advance(2)
        if self._curr.text.upper() not in ("SET", "MULTISET", "LIST"):
            return self._parse_routine_table()
        self._advance()
        if self._curr and self._curr.token_type == TokenType.L_PAREN:
            return self._parse_query_table()
        if not self._match(TokenType.L_BRACE):
            self.raise_error("Expected {")
        elements = self._parse_csv(self._parse_bitwise)
        if not self._match(TokenType.R_BRACE):
            self.raise_error("Expected }")
        self._match_r_paren()
        query: exp.Expression | None = None
        for element in elements:
            arm = exp.Select(expressions=[exp.alias_(element, "unnamed_col_1")])
            query = arm if query is None else exp.Union(this=query, expression=arm, distinct=False)
        if query is None:
            self.raise_error("Expected an element")
        return self._derived(query)

    def _parse_query_table(self) -> exp.Expression:
        """Parse `TABLE (MULTISET (SELECT ...))`, a derived table."""
        query = self._parse_wrapped(self._parse_select)
        self._match_r_paren()
        return self._derived(query)

    def _parse_routine_table(self) -> exp.Expression:
        """Parse `TABLE ([FUNCTION | PROCEDURE] f(...))` after the opening parenthesis."""
        if self._next and self._next.token_type != TokenType.L_PAREN:
            self._match_texts(("FUNCTION", "PROCEDURE"))
        rows = self._parse_routine_rows()
        self._match_r_paren()
        return self._derived(rows)

    def _parse_routine_rows(self) -> RoutineRows:
        """Parse `f(...)` as a source of rows."""
        call = self._parse_column()
        while isinstance(call, exp.Dot):
            call = call.expression
        if not isinstance(call, exp.Anonymous):
            self.raise_error("Expected a collection or a routine")
        return RoutineRows(this=call)

    def _parse_ddl_select(self) -> Any:
        """Parse the source of an INSERT's rows: a query, or `EXECUTE FUNCTION f(...)`."""
        if not self._match_text_seq("EXECUTE"):
            return super()._parse_ddl_select()
        if not self._match_texts(("FUNCTION", "PROCEDURE")):
            self.raise_error("Expected FUNCTION or PROCEDURE")
        rows = exp.Subquery(this=self._parse_routine_rows())
        return exp.Select(expressions=[exp.Star()], from_=exp.From(this=rows))

    def _parse_lambda(self, alias: bool = False) -> exp.Expression | None:
        """Parse an argument of a call, which may also be `name # type`, a variable of the statement."""
        if self._next and self._next.token_type == TokenType.HASH:
            name = self._parse_id_var()
            self._advance()
            declared = self._parse_types()
            if name is None or declared is None:
                self.raise_error("Expected a name and a type")
            return LocalVariable(this=name, to=declared)
        argument: exp.Expression | None = super()._parse_lambda(alias=alias)
        return argument

    def _derived(self, query: exp.Expression) -> exp.Expression:
        subquery = exp.Subquery(this=query)
        alias = self._parse_table_alias()
        if alias:
            subquery.set("alias", alias)
        return subquery

    def _parse_delete(self) -> exp.Delete:
        """Parse a DELETE. FROM is optional."""
        if self._curr and self._curr.token_type != TokenType.FROM:
            table = self._parse_table(joins=False)
            deleted = exp.Delete(this=table, where=self._parse_where())
            return deleted
        delete: exp.Delete = super()._parse_delete()
        if delete.args.get("using") or delete.args.get("tables"):
            self.raise_error("Expected WHERE")
        return delete


def _placeholder(token: Token) -> exp.Placeholder:
    """Return a node for a `?` with its position in the text, by which parameters are numbered."""
    node = exp.Placeholder()
    node.meta["start"] = token.start
    return node


def _data_type(kind: Any, declared: str, sizes: list[str] | None = None) -> exp.DataType:
    """Return a sqlglot type with the declared Informix text in its meta."""
    params = [exp.DataTypeParam(this=exp.Literal.number(size)) for size in sizes or ()]
    found = exp.DataType(this=kind, expressions=params, nested=False)
    found.meta["informix"] = declared
    return found
