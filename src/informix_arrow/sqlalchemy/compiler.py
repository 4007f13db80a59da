"""Compile SQLAlchemy's expressions and statements to Informix's SQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import exc
from sqlalchemy import types as sqltypes
from sqlalchemy.sql import compiler, elements, operators, selectable
from sqlalchemy.sql import sqltypes as base

from .type_compiler import DECIMAL_LIMIT
from .types import text_literal

# Words that the grammar reads as keywords where a name may stand. Informix reserves none. A quoted name is always a
# name.
RESERVED_WORDS = compiler.RESERVED_WORDS | {
    "by",
    "current",
    "datetime",
    "dbservername",
    "delete",
    "exists",
    "first",
    "insert",
    "interval",
    "into",
    "matches",
    "middle",
    "minus",
    "multiset",
    "next",
    "over",
    "partition",
    "returning",
    "row",
    "rowid",
    "sitename",
    "skip",
    "sysdate",
    "today",
    "trim",
    "unit",
    "units",
    "update",
    "values",
    "with",
}

LONGEST_TEXT = "LVARCHAR(32739)"
_SPREADS = ("stddev_pop", "stddev_samp", "var_pop", "var_samp")
_EXTRACTED = {
    "year": "YEAR({0})",
    "month": "MONTH({0})",
    "day": "DAY({0})",
    "quarter": "QUARTER({0})",
    "dow": "WEEKDAY({0})",
    "hour": "CAST(TO_CHAR({0}, '%H') AS INTEGER)",
    "minute": "CAST(TO_CHAR({0}, '%M') AS INTEGER)",
    "second": "CAST(TO_CHAR({0}, '%S') AS INTEGER)",
}


class InformixIdentifierPreparer(compiler.IdentifierPreparer):
    """Put names that are not plain lower-case words in double quotes. This needs DELIMIDENT in the session."""

    reserved_words = RESERVED_WORDS

    def quote_identifier(self, value: str) -> str:
        """Return ``"value"``. Raises CompileError if the URL says DELIMIDENT=n, because quoted text is a value then."""
        if not self.dialect.delimident:  # type: ignore[attr-defined]
            raise exc.CompileError(
                f"The name {value!r} needs double quotes, which mark strings with DELIMIDENT=n in the URL. "
                "Rename it, or leave DELIMIDENT out (y is the default here)."
            )
        return super().quote_identifier(value)

    def quote_schema(self, schema: str, *force: Any) -> str:
        """Return an owner, in a MODE ANSI database always in double quotes: it has other owners in upper case.

        An owner may be in double quotes without DELIMIDENT, too.
        """
        if self.dialect.ansi:  # type: ignore[attr-defined]
            return super().quote_identifier(schema)
        return super().quote_schema(schema, *force)


class InformixCompiler(compiler.SQLCompiler):
    """The compiler of statements."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._preamble = ""
        self.compound_keywords = {
            **self.compound_keywords,
            selectable._CompoundSelectKeyword.EXCEPT: "MINUS",
        }
        super().__init__(*args, **kwargs)

    # ---- SELECT ------------------------------------------------------------------------------------------------------

    def default_from(self) -> str:
        """Return a FROM clause, which releases before 14.10 require."""
        return " FROM sysmaster:sysdual"

    def get_select_precolumns(self, select: Any, **kw: Any) -> str:
        """Return ``SKIP n FIRST m DISTINCT``."""
        return self._row_window(select, **kw) + super().get_select_precolumns(select, **kw)

    def _row_window(self, select: Any, **kw: Any) -> str:
        text = ""
        if select._offset_clause is not None:
            text += f"SKIP {self._count(select, select._offset_clause, **kw)} "
        limit = select._limit_clause if select._fetch_clause is None else select._fetch_clause
        if select._fetch_clause is not None and any(select._fetch_clause_options.values()):
            raise exc.CompileError("FIRST of Informix supports neither PERCENT nor WITH TIES.")
        if limit is not None:
            text += f"FIRST {self._count(select, limit, **kw)} "
        return text

    def _count(self, select: Any, clause: Any, **kw: Any) -> str:
        """Return a number of rows as digits: FIRST takes a placeholder in some releases only, and an expression in
        none.
        """
        if not isinstance(clause, elements.BindParameter):
            raise exc.CompileError(
                "SKIP and FIRST take a whole number or a parameter, not an expression. Compute it in Python."
            )
        if isinstance(clause.type, sqltypes.NullType):
            clause = clause._with_binary_element_type(sqltypes.Integer())
        return self.process(clause.render_literal_execute(), **kw)

    def limit_clause(self, select: Any, **kw: Any) -> str:
        """Return nothing: SKIP and FIRST stand in front of the columns."""
        return ""

    def fetch_clause(self, select: Any, *args: Any, **kw: Any) -> str:
        """Return nothing, as :meth:`limit_clause`."""
        return ""

    def for_update_clause(self, select: Any, **kw: Any) -> str:
        """Return ``FOR UPDATE [OF columns]``. NOWAIT is the session's lock mode, which the execution sets."""
        arg = select._for_update_arg
        if arg.skip_locked:
            raise exc.CompileError(
                "Informix has no SKIP LOCKED. Use the isolation 'LAST COMMITTED', which reads past the "
                "locks of others."
            )
        if arg.of:
            columns = []
            for each in arg.of:
                if not hasattr(each, "table"):
                    raise exc.CompileError("FOR UPDATE OF names columns, not tables.")
                columns.append(self.process(each, include_table=False, **kw))
            return " FOR UPDATE OF " + ", ".join(columns)
        return " FOR UPDATE"

    # ---- UNION and its like ------------------------------------------------------------------------------------------

    def visit_select_statement_grouping(self, grouping: Any, **kw: Any) -> str:
        """Wrap a part of a UNION that needs parentheses in a derived table, because Informix does not allow them."""
        if kw.get("compound_index") is None:
            return str(super().visit_select_statement_grouping(grouping, **kw))
        text = grouping.element._compiler_dispatch(self, **kw)
        return f"SELECT * FROM ({text})"

    def visit_compound_select(
        self, cs: Any, asfrom: bool = False, compound_index: int | None = None, **kw: Any
    ) -> str:
        """Wrap a compound with SKIP and FIRST in a derived table, in its order."""
        self._preamble = ""
        text = str(super().visit_compound_select(cs, asfrom=asfrom, compound_index=compound_index, **kw))
        if not cs._has_row_limiting_clause:
            return text
        head = self._preamble if self._preamble and text.startswith(self._preamble) else ""
        window = self._row_window(cs, **kw)
        order = super().order_by_clause(cs, **{**kw, "include_table": False})
        return f"{head}SELECT {window}* FROM ({text[len(head) :]}){order}"

    def order_by_clause(self, select: Any, **kw: Any) -> str:
        """Return ``ORDER BY``. That of a limited UNION stands outside of it."""
        if select.__visit_name__ == "compound_select" and select._has_row_limiting_clause:
            return ""
        return str(super().order_by_clause(select, **kw))

    def _render_cte_clause(self, *args: Any, **kw: Any) -> str:
        self._preamble = str(super()._render_cte_clause(*args, **kw))
        return self._preamble

    def get_cte_preamble(self, recursive: bool) -> str:
        """Return ``WITH``, for recursive queries, too."""
        return "WITH"

    def visit_column(self, column: Any, *args: Any, **kw: Any) -> str:
        """Return ``table.column``. The table is not qualified by its owner."""
        text = str(super().visit_column(column, *args, **kw))
        table = column.table
        has_owner = getattr(table, "schema", None) is not None or hasattr(table, "_use_schema_map")
        owner = self.preparer.schema_for_object(table) if has_owner else None
        return text.removeprefix(f"{self.preparer.quote_schema(owner)}.") if owner else text

    # ---- values ------------------------------------------------------------------------------------------------------

    def visit_bindparam(
        self,
        bindparam: Any,
        within_columns_clause: bool = False,
        literal_binds: bool = False,
        skip_bind_expression: bool = False,
        literal_execute: bool = False,
        render_postcompile: bool = False,
        is_upsert_set: bool = False,
        **kw: Any,
    ) -> str:
        """Return a placeholder. In a list of columns it has a type, because Informix cannot infer it there (-201)."""
        text = str(
            super().visit_bindparam(
                bindparam,
                within_columns_clause=within_columns_clause,
                literal_binds=literal_binds,
                skip_bind_expression=skip_bind_expression,
                literal_execute=literal_execute,
                render_postcompile=render_postcompile,
                is_upsert_set=is_upsert_set,
                **kw,
            )
        )
        plain = literal_binds or literal_execute or bindparam.literal_execute or bindparam.expanding
        if not within_columns_clause or plain or kw.get("within_cast"):
            return text
        declared = self._widest(bindparam.type)
        return f"CAST({text} AS {declared})" if declared else text

    def _widest(self, type_: Any) -> str:
        """Return the type that holds every value of a parameter of ``type_``: a CAST truncates and rounds silently."""
        kind = type_._type_affinity
        if kind is sqltypes.NullType or issubclass(kind, base._Binary):
            return ""
        if issubclass(kind, sqltypes.String):
            return LONGEST_TEXT
        if issubclass(kind, sqltypes.Float):
            return "FLOAT"
        if issubclass(kind, sqltypes.Numeric):
            return "DECIMAL(32)"
        if issubclass(kind, sqltypes.Integer):
            return "BIGINT" if isinstance(type_, sqltypes.BigInteger) else "INTEGER"
        return self.dialect.type_compiler_instance.process(type_)

    def visit_cast(self, cast: Any, **kw: Any) -> str:
        """Cast to the longest text type if no length is given. Informix cannot cast to TEXT and CLOB."""
        kind = cast.type.dialect_impl(self.dialect)._type_affinity
        kw["within_cast"] = True
        inner = self.process(cast.clause, **kw)
        if issubclass(kind, sqltypes.String) and (
            isinstance(cast.type, sqltypes.Text) or getattr(cast.type, "length", None) is None
        ):
            return f"CAST({inner} AS {LONGEST_TEXT})"
        if isinstance(cast.type, sqltypes.Numeric) and (cast.type.precision or 0) > DECIMAL_LIMIT:
            return (
                f"CAST({inner} AS DECIMAL({DECIMAL_LIMIT}))"  # a floating one: all digits that are possible
            )
        return f"CAST({inner} AS {self.dialect.type_compiler_instance.process(cast.type)})"

    def visit_null(self, expr: Any, **kw: Any) -> str:
        """Return NULL. In a list of columns it has a type, which Informix requires."""
        if kw.get("within_columns_clause") and not kw.get("within_cast"):
            return "CAST(NULL AS VARCHAR(1))"
        return "NULL"

    def visit_case(self, clause: Any, **kw: Any) -> str:
        """Render NULL without a type if other values determine the type of the expression: with a type it would be
        text.
        """
        if isinstance(clause.type, sqltypes.NullType):
            return str(super().visit_case(clause, **kw))
        parts = []
        if clause.value is not None:
            parts.append(clause.value._compiler_dispatch(self, **kw))
        for condition, result in clause.whens:
            parts.append(
                f"WHEN {condition._compiler_dispatch(self, **kw)} THEN {self._plain_null(result, **kw)}"
            )
        if clause.else_ is not None:
            parts.append(f"ELSE {self._plain_null(clause.else_, **kw)}")
        return f"CASE {' '.join(parts)} END"

    def visit_is__binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """Return ``a IS NULL``, without a type for NULL in a list of columns."""
        return self._is(binary, "IS", kw)

    def visit_is_not_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """Return ``a IS NOT NULL``."""
        return self._is(binary, "IS NOT", kw)

    def _is(self, binary: Any, words: str, kw: dict[str, Any]) -> str:
        kw = {**kw, "_in_operator_expression": True, "_binary_op": binary.operator}
        return f"{self.process(binary.left, **kw)} {words} {self._plain_null(binary.right, **kw)}"

    def _plain_null(self, clause: Any, **kw: Any) -> str:
        return "NULL" if isinstance(clause, elements.Null) else str(self.process(clause, **kw))

    def render_literal_value(self, value: Any, type_: Any) -> str:
        """Render texts with line breaks as expressions, because servers refuse line breaks within quotes."""
        if isinstance(value, str) and issubclass(type_._type_affinity, sqltypes.String) and "\n" in value:
            return text_literal(value)
        return str(super().render_literal_value(value, type_))

    def visit_true(self, expr: Any, **kw: Any) -> str:
        """Return ``'t'``, which is a BOOLEAN only if the context allows nothing else."""
        return "'t'::BOOLEAN" if kw.get("within_columns_clause") else "'t'"

    def visit_false(self, expr: Any, **kw: Any) -> str:
        """Return ``'f'``."""
        return "'f'::BOOLEAN" if kw.get("within_columns_clause") else "'f'"

    def visit_is_true_unary_operator(self, element: Any, operator: Any, **kw: Any) -> str:
        """Compare a column, which is no condition by itself."""
        text = self.process(element.element, **kw)
        return text if _is_condition(element) else f"{text} = 't'"

    def visit_is_false_unary_operator(self, element: Any, operator: Any, **kw: Any) -> str:
        """Compare a column, which is no condition by itself."""
        text = self.process(element.element, **kw)
        return f"NOT {text}" if _is_condition(element) else f"{text} = 'f'"

    def _generate_delimited_and_list(self, clauses: Any, **kw: Any) -> str:
        text = str(super()._generate_delimited_and_list(clauses, **kw))
        return {"'t'": "1 = 1", "'f'": "1 = 0"}.get(text, text)

    def visit_empty_set_expr(self, element_types: Any, **kw: Any) -> str:
        """Return a query without rows, with a column for each type."""
        columns = ", ".join(
            f"CAST(NULL AS {self._widest(t) or 'INTEGER'})" for t in element_types or [sqltypes.Integer()]
        )
        return f"SELECT {columns} FROM sysmaster:sysdual WHERE 1 = 0"

    # ---- operators and functions -------------------------------------------------------------------------------------

    def visit_frame_clause(self, frameclause: Any, **kw: Any) -> str:
        """Render the bounds of a window as literals, because they take no parameter."""
        return str(super().visit_frame_clause(frameclause, **{**kw, "literal_execute": True}))

    def visit_mod_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """``MOD(a, b)``"""
        return f"MOD({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)})"

    def visit_bitwise_and_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """``BITAND(a, b)``"""
        return f"BITAND({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)})"

    def visit_bitwise_or_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """``BITOR(a, b)``"""
        return f"BITOR({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)})"

    def visit_bitwise_xor_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """``BITXOR(a, b)``"""
        return f"BITXOR({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)})"

    def visit_bitwise_not_op_unary_operator(self, element: Any, operator: Any, **kw: Any) -> str:
        """``BITNOT(a)``"""
        return f"BITNOT({self.process(element.element, **kw)})"

    def visit_is_distinct_from_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """Compare with DECODE, for which two NULLs are equal."""
        return f"DECODE({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)}, 0, 1) = 1"

    def visit_is_not_distinct_from_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """Compare with DECODE, for which two NULLs are equal."""
        return f"DECODE({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)}, 0, 1) = 0"

    def visit_extract(self, extract: Any, **kw: Any) -> str:
        """Return YEAR(), MONTH() and so on. Fields without such a function use TO_CHAR."""
        template = _EXTRACTED.get(extract.field.lower())
        if template is None:
            raise exc.CompileError(
                f"EXTRACT supports {', '.join(_EXTRACTED)} on dialect informix, not {extract.field!r}."
            )
        return template.format(self.process(extract.expr, **kw))

    def visit_now_func(self, fn: Any, **kw: Any) -> str:
        """Return ``CURRENT`` in the full resolution of a DATETIME."""
        return "CURRENT YEAR TO FRACTION(5)"

    visit_current_timestamp_func = visit_localtimestamp_func = visit_now_func

    def visit_current_date_func(self, fn: Any, **kw: Any) -> str:
        """``TODAY``"""
        return "TODAY"

    def visit_current_time_func(self, fn: Any, **kw: Any) -> str:
        """``CURRENT HOUR TO FRACTION(5)``"""
        return "CURRENT HOUR TO FRACTION(5)"

    visit_localtime_func = visit_current_time_func

    def visit_user_func(self, fn: Any, **kw: Any) -> str:
        """Return ``USER``, which takes no parentheses."""
        return "USER"

    visit_current_user_func = visit_session_user_func = visit_user_func

    def _variance(self, fn: Any, divisor: str, needed: int, kw: dict[str, Any]) -> str:
        """Return a variance from sums of DECIMAL(32), NULL for fewer than ``needed`` values.

        Editions of the manual disagree whether VARIANCE and STDEV are of a sample or of a population, and there is only
        one of each.
        """
        (value,) = fn.clauses.clauses if len(fn.clauses.clauses) == 1 else (None,)
        if value is None or getattr(value, "operator", None) is operators.distinct_op:
            raise exc.CompileError(f"{fn.name} takes one value without DISTINCT on dialect informix.")
        x = f"CAST({self.process(value, **{**kw, 'within_cast': True})} AS DECIMAL(32))"
        n = f"COUNT({x})"
        squares = f"GREATEST({n} * SUM({x} * {x}) - SUM({x}) * SUM({x}), 0)"
        return f"CASE WHEN {n} >= {needed} THEN CAST({squares} / ({n} * {divisor.format(n)}) AS FLOAT) END"

    def visit_var_samp_func(self, fn: Any, **kw: Any) -> str:
        """Return the variance of a sample, NULL for a single value."""
        return self._variance(fn, "({} - 1)", 2, kw)

    def visit_var_pop_func(self, fn: Any, **kw: Any) -> str:
        """Return the variance of a population."""
        return self._variance(fn, "{}", 1, kw)

    def visit_stddev_samp_func(self, fn: Any, **kw: Any) -> str:
        """Return the standard deviation of a sample, NULL for a single value."""
        return f"SQRT({self.visit_var_samp_func(fn, **kw)})"

    def visit_stddev_pop_func(self, fn: Any, **kw: Any) -> str:
        """Return the standard deviation of a population."""
        return f"SQRT({self.visit_var_pop_func(fn, **kw)})"

    def visit_over(self, over: Any, **kw: Any) -> str:
        """Return a window function. Raise CompileError for those that are computed from several aggregates."""
        if getattr(over.element, "name", None) in _SPREADS:
            raise exc.CompileError(f"{over.element.name} cannot have OVER on dialect informix.")
        return str(super().visit_over(over, **kw))

    def visit_sequence(self, sequence: Any, **kw: Any) -> str:
        """``name.NEXTVAL``"""
        return f"{self.preparer.format_sequence(sequence)}.NEXTVAL"

    # ---- INSERT, UPDATE, DELETE --------------------------------------------------------------------------------------

    def visit_insert(self, insert_stmt: Any, *args: Any, **kw: Any) -> str:
        """Return an INSERT. Without values it inserts zero into the serial column, or NULL into a nullable one.

        Informix has neither DEFAULT VALUES nor empty lists.
        """
        text = str(super().visit_insert(insert_stmt, *args, **kw))
        empty = " () VALUES ()"
        if not text.endswith(empty):
            return text
        table = insert_stmt.table
        serial = table._autoincrement_column
        if serial is not None and serial.server_default is None:
            return f"{text[: -len(empty)]} ({self.preparer.format_column(serial)}) VALUES (0)"
        for column in table.columns:
            if column.nullable and column.server_default is None:
                return f"{text[: -len(empty)]} ({self.preparer.format_column(column)}) VALUES (NULL)"
        raise exc.CompileError(
            f"A row without any value cannot be inserted into {table.name!r}. It has neither a SERIAL "
            "column nor a nullable column without a default."
        )

    def update_from_clause(self, *args: Any, **kw: Any) -> str:
        """Raise CompileError: Informix's UPDATE takes one table."""
        raise exc.CompileError(
            "Informix has no UPDATE ... FROM. Use a subquery in SET or WHERE, or MERGE as text."
        )

    def delete_extra_from_clause(self, *args: Any, **kw: Any) -> str:
        """Raise CompileError: Informix's DELETE takes one table."""
        raise exc.CompileError("Informix has no DELETE ... USING. Use a subquery in WHERE.")


def _is_condition(element: Any) -> bool:
    return bool(element._is_implicitly_boolean)
