"""Translation of SELECT, UNION and FROM: resolves names, derives column types, writes DuckDB SQL."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ...wire.quoting import double_quoted
from ...wire.types import ColumnType
from ..catalog.catalog import TableInfo, duck_database
from ..catalog.system_views import system_table
from ..errors import SqlError, no_table, not_supported
from ..parse import dialect_nodes as d
from ..parse.query_names import routine_name, table_name
from ..types.result_types import common_type, from_duck_type, has_own_storage, is_character, without_serial
from .connect_by import is_tree_ordered, recursive_query, sibling_keys
from .context import TranslationContext
from .expressions import ExpressionTranslator
from .nodes import user_routines
from .nodes.client_files import misplaced_call, row_call, row_call_argument
from .outer_joins import references_any, reject_two_sided, split_where
from .plans import RowCall
from .scope import (
    FromSource,
    OutputColumn,
    Scope,
    TypedExpression,
    integer_literal,
    source_offset,
    table_outputs,
)
from .trailing_blanks import (
    distinct_rows,
    distinct_set_operation,
    has_trailing_blanks,
    ordered_rows,
    text_group_keys,
    trim_blanks_sql,
)
from .views import OF_VIEW

_RECURSIVE = "recursive"
"""Marks the UNION of a WITH RECURSIVE, which DuckDB requires unchanged."""


class QueryTranslator:
    """Translates the queries of one statement."""

    def __init__(self, ctx: TranslationContext, expressions: ExpressionTranslator | None = None) -> None:
        self.ctx = ctx
        self.expressions = expressions or ExpressionTranslator(ctx, _subquery)

    # ---- queries ----------------------------------------------------------------------------
    def query(
        self, node: exp.Expression, parent: Scope | None = None, *, top: bool = False
    ) -> tuple[str, tuple[OutputColumn, ...]]:
        """Return DuckDB SQL and result columns of a SELECT, UNION or parenthesised query.

        With `top` the columns are named c0, c1, ..., because a result may repeat names.
        """
        while isinstance(node, exp.Subquery):
            node = node.this
        if isinstance(node, exp.SetOperation):
            return self._union(node, parent, top)
        if not isinstance(node, exp.Select):
            raise SqlError(-201, 0, source_offset(node) or 1)
        return self._select(node, parent, top)

    def _with(self, node: exp.Expression, scope: Scope) -> str:
        clause = node.args.get("with_")
        if clause is None:
            return ""
        parts = []
        recursive = False
        for cte in clause.expressions:
            columns = cte.args["alias"].args.get("columns") or []
            if isinstance(cte.this, exp.SetOperation) and any(
                table.name == cte.alias for table in cte.this.expression.find_all(exp.Table)
            ):
                # the first arm decides the columns
                recursive = True
                cte.this.meta[_RECURSIVE] = True
                _, outputs = self.query(cte.this.this, scope)
                called = [c.name for c in columns] or [o.name for o in outputs]
                scope.ctes[cte.alias] = tuple(
                    OutputColumn(n, o.type, "", o.is_packed_decimal)
                    for n, o in zip(called, outputs, strict=False)
                )
            sql, outputs = self.query(cte.this, scope)
            if columns and len(columns) != len(outputs):
                raise SqlError(-236)
            if columns:
                outputs = tuple(
                    OutputColumn(c.name, o.type, "", o.is_packed_decimal)
                    for c, o in zip(columns, outputs, strict=False)
                )
            name = cte.alias
            scope.ctes[name] = outputs
            names = ", ".join(double_quoted(o.name) for o in outputs)
            parts.append(f"{double_quoted(name)}({names}) AS ({sql})")
        return f"WITH {'RECURSIVE ' if recursive else ''}{', '.join(parts)} "

    def _union(
        self, node: exp.SetOperation, parent: Scope | None, top: bool
    ) -> tuple[str, tuple[OutputColumn, ...]]:
        scope = Scope(parent=parent)
        prefix = self._with(node, scope)
        left, first = self.query(node.this, scope, top=top)
        right, second = self.query(node.expression, scope, top=top)
        if len(first) != len(second):
            raise SqlError(-317)
        for output in (*first, *second):
            if output.row_call:
                raise misplaced_call(output.row_call)
        outputs = []
        for a, b in zip(first, second, strict=True):
            ta, tb = a.type, b.type
            if ta is not None and tb is not None and is_character(ta) != is_character(tb):
                raise SqlError(-308)
            if ta is not None and tb is not None and ta.is_boolean != tb.is_boolean:
                raise SqlError(-308)
            if ta is not None and tb is not None and has_own_storage(ta) != has_own_storage(tb):
                raise SqlError(-308)
            t = common_type(ta, tb)
            packed = a.is_packed_decimal or b.is_packed_decimal
            outputs.append(
                OutputColumn(a.name, without_serial(t) if t is not None and ta != tb else t, "", packed)
            )
        left, right = self._as_keys(left, first, outputs), self._as_keys(right, second, outputs)
        word = {exp.Union: "UNION", exp.Except: "EXCEPT", exp.Intersect: "INTERSECT"}[type(node)]
        texts = [o.type is not None and is_character(o.type) for o in outputs]
        if not node.args.get("distinct"):
            sql = f"({left}) {word} ALL ({right})"
        elif any(texts) and not node.meta.get(_RECURSIVE):
            sql = distinct_set_operation(word, left, right, outputs, top=top)
        else:
            sql = f"({left}) {word} ({right})"
        order = node.args.get("order")
        if order is not None:
            places = [self._union_position(o.this, outputs) for o in order.expressions]
            sql, keys = ordered_rows(sql, outputs, places, top=top)
            sql += " ORDER BY " + ", ".join(map(self._order_item, order.expressions, keys))
        sql += self._limit(node, scope)
        return prefix + sql, tuple(outputs)

    @staticmethod
    def _as_keys(sql: str, side: tuple[OutputColumn, ...], outputs: list[OutputColumn]) -> str:
        """Convert the numbers of one side of a UNION to keys where the other side has floating decimals."""
        if all(a.is_packed_decimal == b.is_packed_decimal for a, b in zip(side, outputs, strict=True)):
            return sql
        items = [
            f"_ifx_key(CAST(k{i} AS VARCHAR)) AS k{i}"
            if b.is_packed_decimal and not a.is_packed_decimal
            else f"k{i}"
            for i, (a, b) in enumerate(zip(side, outputs, strict=True))
        ]
        names = ", ".join(f"k{i}" for i in range(len(side)))
        return f"SELECT {', '.join(items)} FROM ({sql}) AS u({names})"

    @staticmethod
    def _union_position(node: exp.Expression, outputs: list[OutputColumn]) -> str:
        if isinstance(node, exp.Literal):
            return _position(node, len(outputs))
        for position, output in enumerate(outputs, 1):
            if isinstance(node, exp.Column) and output.name == node.name:
                return str(position)
        raise SqlError(-217, 0, source_offset(node), node.name)

    def _select(
        self, node: exp.Select, parent: Scope | None, top: bool
    ) -> tuple[str, tuple[OutputColumn, ...]]:
        scope = Scope(parent=parent)
        prefix = self._with(node, scope)
        where_parts: list[str] = []
        path = ""
        if node.args.get("connect") is not None:
            node = node.copy()
            prefix, from_sql, path = self._hierarchy(node, prefix, scope)
            where = node.args["where"].this if node.args.get("where") is not None else None
        else:
            from_sql, where = self._from(node, scope)
        if where is not None:
            user_routines.declare_variables(self.expressions, where, scope)
            where_parts.append(self.expressions.filter(where, scope))
        texts = text_group_keys(self.expressions, node, scope)
        items, outputs, exprs = self._projections(node, scope, top)
        distinct = node.args.get("distinct") is not None
        padded = distinct and any(has_trailing_blanks(self.expressions.values, ex) for ex in exprs)
        sql = "SELECT "
        if distinct and not padded:
            sql += "DISTINCT "
        sql += ", ".join(items)
        if from_sql:
            sql += f" FROM {from_sql}"
        if where_parts:
            sql += " WHERE " + " AND ".join(where_parts)
        group = node.args.get("group")
        if group is not None:
            keys = []
            for place, key in enumerate(group.expressions):
                if place in texts:
                    keys.append(texts[place])
                elif isinstance(key, exp.Literal) and not key.is_string:
                    keys.append(_position(key, len(outputs)))
                else:
                    keys.append(self.expressions.expr(key, scope).sql)
            sql += " GROUP BY " + ", ".join(keys)
        having = node.args.get("having")
        if having is not None:
            sql += " HAVING " + self.expressions.filter(having.this, scope)
        if padded:
            sql = distinct_rows(sql, outputs, top=top)
        order = node.args.get("order")
        if order is not None:
            last = order.expressions[-1]
            keys = [
                self._order_key(o.this, scope, outputs, exprs, blanks=distinct or o is last)
                for o in order.expressions
            ]
            if distinct:
                unselected = next(
                    (o for o, k in zip(order.expressions, keys, strict=True) if not k.isdigit()), None
                )
                if unselected is not None:
                    raise SqlError(-309, 0, 0, unselected.this.name)
            if padded:
                sql, keys = ordered_rows(sql, outputs, keys, top=top)
            sql += " ORDER BY " + ", ".join(map(self._order_item, order.expressions, keys))
        elif path and is_tree_ordered(node):
            sql += f" ORDER BY {path}"
        sql += self._limit(node, scope)
        return prefix + sql, outputs

    def _hierarchy(self, node: exp.Select, prefix: str, scope: Scope) -> tuple[str, str, str]:
        """Replace the table in FROM by the tree of CONNECT BY. Return WITH, FROM and the path of a row."""
        inner = Scope(parent=scope)
        keys = sibling_keys(node)
        rows_sql, _ = self._from(node, inner)
        siblings = ", ".join(
            self._order_item(key, self.expressions.expr(key.this, inner).sql) for key in keys
        )
        ctes, tree, path = recursive_query(
            self.expressions, node, rows_sql, f"ORDER BY {siblings}" if siblings else "", inner, scope
        )
        before = prefix.removeprefix("WITH ").removeprefix("RECURSIVE ").rstrip()
        return f"WITH RECURSIVE {before}{', ' if before else ''}{ctes} ", tree, path

    def _projections(
        self, node: exp.Select, scope: Scope, top: bool
    ) -> tuple[list[str], tuple[OutputColumn, ...], list[TypedExpression]]:
        exprs: list[tuple[str, TypedExpression]] = []
        calls: dict[int, RowCall] = {}
        for item in node.expressions:
            star = item.this if isinstance(item, exp.Column) else item
            if isinstance(star, exp.Star) and any(star.args.values()):
                raise SqlError(
                    -201, 0, source_offset(item) or 1, "", "EXCLUDE and REPLACE are not Informix SQL."
                )
            if isinstance(item, exp.Star):
                exprs += self._star(scope, "")
            elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
                exprs += self._star(scope, item.table)
            else:
                alias = item.alias if isinstance(item, exp.Alias) else ""
                inner = item.this if isinstance(item, exp.Alias) else item
                calling = row_call(inner)
                if calling is not None:
                    if not top:
                        raise misplaced_call(calling.name.lower(), inner)
                    calls[len(exprs)], ex = row_call_argument(self.expressions, calling, scope)
                    exprs.append((alias or ex.name, ex))
                    continue
                ex = self.expressions.values.with_inferred_type(self.expressions.expr(inner, scope))
                if ex.param >= 0:
                    raise SqlError(-201, 0, source_offset(inner) or 1)
                exprs.append((alias or ex.name, ex))
        if not exprs:
            raise SqlError(-201, 0, 1)
        items = []
        outputs = []
        for i, (name, ex) in enumerate(exprs):
            sql = ex.sql
            if ex.type is None and sql == "NULL":
                sql = "CAST(NULL AS INTEGER)"
                ex = TypedExpression(sql, ColumnType.integer(), ex.name)
            items.append(f"{sql} AS {f'c{i}' if top else double_quoted(name)}")
            outputs.append(OutputColumn(name, ex.type, sql, ex.is_packed_decimal, calls.get(i)))
        return items, tuple(outputs), [ex for _, ex in exprs]

    @staticmethod
    def _star(scope: Scope, alias: str) -> list[tuple[str, TypedExpression]]:
        sources = [s for s in scope.sources if not alias or s.alias == alias]
        if not sources:
            raise SqlError(-522, 0, 0, alias) if alias else SqlError(-201, 0, 1)
        for source in sources:
            if source.read_columns is not None:
                source.read_columns.update(o.name for o in source.outputs)
        return [(output.name, source.column(output)) for source in sources for output in source.outputs]

    def _order_key(
        self,
        node: exp.Expression,
        scope: Scope,
        outputs: tuple[OutputColumn, ...],
        exprs: list[TypedExpression],
        *,
        blanks: bool,
    ) -> str:
        """Return the SQL of an ORDER BY item: a position, a result name, or an expression over the sources.

        Without `blanks`, trailing blanks do not count, so that the next key decides between texts that differ only in
        them.
        """
        position, ex = self._order_value(node, scope, outputs, exprs)
        if not blanks and has_trailing_blanks(self.expressions.values, ex):
            return trim_blanks_sql(ex.sql)
        return position or ex.sql

    def _order_value(
        self,
        node: exp.Expression,
        scope: Scope,
        outputs: tuple[OutputColumn, ...],
        exprs: list[TypedExpression],
    ) -> tuple[str, TypedExpression]:
        """Return the position of an ORDER BY item in the result, "" if it has none, and its expression."""
        if isinstance(node, exp.Literal) and not node.is_string:
            place = _position(node, len(outputs))
            return place, exprs[int(place) - 1]
        if isinstance(node, exp.Column) and not node.table:
            for position, output in enumerate(outputs, 1):
                if output.name == node.name:
                    return str(position), exprs[position - 1]
        ex = self.expressions.expr(node, scope)
        for position, chosen in enumerate(exprs, 1):
            if chosen.sql == ex.sql:
                return str(position), ex
        return "", ex

    @staticmethod
    def _order_item(node: exp.Ordered, key: str) -> str:
        """Return one key of ORDER BY. NULL counts as the smallest value: first if ascending, last if descending."""
        explicit = node.args.get("nulls_first")
        first = not node.args.get("desc") if explicit is None else bool(explicit)
        nulls = "FIRST" if first else "LAST"
        return f"{key} {'DESC' if node.args.get('desc') else 'ASC'} NULLS {nulls}"

    def _limit(self, node: exp.Expression, scope: Scope) -> str:
        limit = node.args.get("limit")
        if limit is None:
            return ""
        amount, skip = limit.args.get("expression"), limit.args.get("offset")
        sql = f" LIMIT {self._limit_value(amount, scope)}" if amount is not None else ""
        if skip is not None:
            sql += f" OFFSET {self._limit_value(skip, scope)}"
        return sql

    def _limit_value(self, node: exp.Expression, scope: Scope) -> str:
        ex = self.ctx.hint(self.expressions.expr(node, scope), ColumnType.integer())
        if ex.param < 0 and (not ex.is_number_literal or integer_literal(node) is None):
            raise SqlError(-201, 0, source_offset(node) or 1)
        return ex.sql

    # ---- FROM -------------------------------------------------------------------------------
    def _from(self, node: exp.Select, scope: Scope) -> tuple[str, exp.Expression | None]:
        """Return the FROM clause, and the WHERE condition that remains after OUTER tables have taken their part."""
        where = node.args["where"].this if node.args.get("where") is not None else None
        clause = node.args.get("from_") or node.args.get("from")
        if clause is None:
            return "", where
        sql = ""
        items: list[tuple[exp.Expression | None, exp.Expression]] = [(None, clause.this)]
        items += [(join, join.this) for join in node.args.get("joins") or ()]
        items += [(join, join.this) for join in clause.this.args.get("joins") or ()]
        outer: list[d.OuterTables] = []
        pending: list[tuple[exp.Expression, str]] = []
        for join, table in items:
            if isinstance(table, d.OuterTables):
                outer.append(table)
                continue
            text_ = self.translate_source(table, scope)
            if join is None:
                sql = text_
                continue
            kind = " ".join(str(join.args.get(k) or "") for k in ("side", "kind")).upper().split()
            on = join.args.get("on")
            if on is None:
                sql += f" CROSS JOIN {text_}" if sql else text_
            else:
                words = " ".join(k for k in kind if k in ("LEFT", "RIGHT", "FULL")) or "INNER"
                sql += f" {words} JOIN {text_} ON {self.expressions.filter(on, scope)}"
        if outer:
            sql, where = self._outer(sql, outer, where, scope)
        elif pending:
            raise SqlError(-201, 0, 1)
        return sql, where

    def _parenthesized_join(self, first: exp.Expression, node: exp.Expression, scope: Scope) -> str:
        """Translate `(a JOIN b ON ...)` in FROM."""
        inner = first.copy()
        joins = [*(inner.args.pop("joins", None) or ()), *(node.args.get("joins") or ())]
        if node.args.get("alias"):
            raise SqlError(-201, 0, source_offset(first) or 1)
        select = exp.Select(from_=exp.From(this=inner), joins=joins)
        sql, rest = self._from(select, scope)
        if rest is not None:
            raise SqlError(-201, 0, 1)
        return f"({sql})"

    def _outer(
        self,
        sql: str,
        outer: list[d.OuterTables],
        where: exp.Expression | None,
        scope: Scope,
        around: Sequence[FromSource] = (),
    ) -> tuple[str, exp.Expression | None]:
        """Translate `FROM a, OUTER b WHERE ...`: conditions that name b belong to the join.

        Raises -395 without such a condition, -393 for a condition on two OUTERs, -396 for a condition on a nested OUTER
        and a table outside of the OUTER around it.
        """
        reject_two_sided(where, outer)
        for group in outer:
            before = len(scope.sources)
            inner_sql = ""
            nested: list[d.OuterTables] = []
            for member in group.expressions:
                if isinstance(member, d.OuterTables):
                    nested.append(member)
                else:
                    text_ = self.translate_source(member, scope)
                    inner_sql = f"{inner_sql} CROSS JOIN {text_}" if inner_sql else text_
            if not inner_sql:
                raise SqlError(-201, 0, 1)
            if nested:
                inner_sql, where = self._outer(inner_sql, nested, where, scope, scope.sources[:before])
            on, where = split_where(where, scope, before)
            if on is not None and references_any(on, around):
                raise SqlError(-396)
            if on is None or not references_any(on, scope.sources[:before]):
                raise SqlError(-395)
            condition = self.expressions.filter(on, scope)
            joined = inner_sql if " JOIN " not in inner_sql else f"({inner_sql})"
            sql = f"{sql} LEFT JOIN {joined} ON {condition}"
        return sql, where

    def translate_source(self, node: exp.Expression, scope: Scope) -> str:
        """Translate one table, view, CTE or derived table and add it to the scope."""
        if isinstance(node, (exp.Subquery, exp.Paren)) and isinstance(node.this, exp.Table):
            return self._parenthesized_join(node.this, node, scope)
        lateral = isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery)
        if lateral:
            node.this.set("alias", node.args.get("alias"))
            node = node.this
        if isinstance(node, exp.Subquery):
            around = Scope(parent=scope if lateral else scope.parent, ctes=scope.ctes)
            if isinstance(node.this, d.RoutineRows):
                call = node.this.this
                sql, outputs = user_routines.translate_rows(
                    self.expressions, routine_name(call), call.expressions, around
                )
            elif isinstance(node.this, (exp.Select, exp.SetOperation, exp.Subquery)):
                sql, outputs = self.query(node.this, around)
            else:
                raise not_supported("parenthesised joins")
            alias = node.alias or f"_q{len(scope.sources)}"
            columns = node.args["alias"].args.get("columns") if node.args.get("alias") else None
            if columns:
                if len(columns) != len(outputs):
                    raise SqlError(-236)
                outputs = tuple(
                    OutputColumn(c.name, o.type, "", o.is_packed_decimal)
                    for c, o in zip(columns, outputs, strict=True)
                )
            names = ", ".join(double_quoted(o.name) for o in outputs)
            scope.sources.append(FromSource(alias, outputs))
            return f"{'LATERAL ' if lateral else ''}({sql}) AS {double_quoted(alias)}({names})"
        if not isinstance(node, exp.Table):
            raise not_supported(f"{type(node).__name__} in FROM")
        name = node.name
        database = node.catalog or None
        alias = node.alias or name
        if node.args.get("alias") and node.args["alias"].args.get("columns"):
            raise SqlError(-201, 0, source_offset(node) or 1)  # arguments are not allowed either: FROM t (1)
        if any(s.alias == alias for s in scope.sources):
            raise SqlError(-223, 0, 0, alias)
        if database is None and not node.args.get("db"):
            outputs_of_cte = scope.cte(name)
            if outputs_of_cte is not None:
                scope.sources.append(FromSource(alias, outputs_of_cte))
                return f"{double_quoted(name)} AS {double_quoted(alias)}"
        info = self.resolve_table(node, database, name)
        outputs = table_outputs(info)
        source = FromSource(alias, outputs, info if info.kind == "T" else None)
        scope.sources.append(source)
        if not node.meta.get(OF_VIEW):
            self.ctx.require_read_later(info, source)
        if info.kind == "S":
            duck = system_table(
                info.name, duck_database(info.database), info.database, _referenced_columns(node.root())
            )
            return f"{duck} AS {double_quoted(alias)}"
        return self.table_source(info, alias)

    def table_source(self, info: TableInfo, alias: str) -> str:
        """Return a table or view as an item of FROM. A view that needs values of the session is expanded."""
        if not info.is_expanded:
            return f"{info.duck_name} AS {double_quoted(alias)}"
        sql, _ = self.query(self.ctx.schema.view_query(info))
        names = ", ".join(double_quoted(column.name) for column in info.columns)
        return f"({sql}) AS {double_quoted(alias)}({names})"

    def resolve_table(self, node: exp.Expression, database: str | None, name: str) -> TableInfo:
        """Return a table by name. Raises -206 if it does not exist, -908 for a table of another server."""
        server = str(node.meta.get(d.SERVER, ""))
        if server and server.lower() != self.ctx.server_name.lower():
            raise SqlError(-908, 0, 0, server)
        info = self.ctx.find_table(database, table_name(node, name))
        if info is None:
            raise no_table(name, source_offset(node))
        return info


def _position(node: exp.Literal, columns: int) -> str:
    """Return the position in an ORDER BY or GROUP BY item that is a number. Raises -251 if there is no such column."""
    if node.is_string:
        raise SqlError(-201, 0, source_offset(node) or 1)
    position = integer_literal(node)
    if position is None or not 1 <= position <= columns:
        raise SqlError(-251, 0, 0, str(node.this)[:20])
    return str(position)


def _referenced_columns(tree: exp.Expression) -> set[str] | None:
    """Return the columns that a statement names anywhere, None if it has a star."""
    found = set()
    for node in tree.walk():
        if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
            return None
        if isinstance(node, exp.Column):
            found.add(node.name)
    return found


def _subquery(
    expressions: ExpressionTranslator, node: exp.Expression, scope: Scope
) -> tuple[str, tuple[OutputColumn, ...]]:
    return QueryTranslator(expressions.ctx, expressions).query(node, scope)


def finish_types(outputs: tuple[OutputColumn, ...], duck_names: list[str]) -> list[ColumnType]:
    """Return the types of all columns. DuckDB's type counts where no type rule applies."""
    found = []
    for output, name in zip(outputs, duck_names, strict=True):
        t = output.type or from_duck_type(name)
        if t is None:
            raise not_supported(f"a result column of type {name}", -9628)
        found.append(t)
    return found
