"""Translation of queries and data changes."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from ..server.parse import dialect_nodes as d
from ..server.parse.conjuncts import combine, conjuncts
from ..server.types.result_types import INTEGERS, PADDED, SERIALS
from ..wire.types import ColumnType
from .expressions import Columns, Expressions, Output, Scope, Source, _group_key, ordered
from .functions import translate_call
from .names import identifier
from .names import table as table_node
from .targets import Node, Target, is_number, refuse, string
from .values import Value, is_moment, is_text, needs_type

Catalogue = dict[str, Columns]


def stored(t: ColumnType) -> Value:
    """Return what is known of a column: its type and, of a CHAR, the width of the blanks that are not stored."""
    return Value(exp.Null(), t, width=t.content_width if t.code in PADDED else 0)


class Queries:
    """Translates statements for one target, with the tables that are known."""

    def __init__(self, target: Target, catalogue: Catalogue) -> None:
        self.target = target
        self.catalogue = catalogue
        self.expressions = Expressions(target, self._rows_of, translate_call)
        self.common_tables: dict[str, dict[str, Value] | None] = {}

    def _rows_of(self, tr: Expressions, node: Node, scope: Scope) -> tuple[Node, list[Output]]:
        return self.query(node, scope)

    # ---- statements -----------------------------------------------------------------------------------------
    def statement(self, node: Node) -> Node:
        """Translate a query or a data change."""
        if isinstance(node, exp.Insert):
            return self.insert(node)
        if isinstance(node, exp.Update):
            return self.update(node)
        if isinstance(node, exp.Delete):
            return self.delete(node)
        if isinstance(node, exp.Subquery):
            return self.statement(node.this)
        if not isinstance(node, exp.Query):
            refuse(f"the statement {node.key.upper()}")
        into = node.args.get("into")
        if into is not None:
            return self._into(node, into)
        found = self.query(node, None)[0]
        locks = node.args.get("locks")
        if locks:
            if self.target.name != "postgres":
                refuse("FOR UPDATE")
            found.set("locks", [exp.Lock(update=True)])
        return found

    def _into(self, node: Node, into: Node) -> Node:
        if not self.target.has_temporary_tables:
            refuse("INTO TEMP, as there are no temporary tables")
        rows, outputs = self.query(node, None)
        name = into.this.name.lower()
        columns = {o.name: o.value.type for o in outputs}
        if (
            all(t is not None for t in columns.values())
            and "" not in columns
            and len(columns) == len(outputs)
        ):
            self.catalogue[name] = {n: t for n, t in columns.items() if t is not None}
        kind = exp.Properties(expressions=[exp.TemporaryProperty()]) if into.args.get("temporary") else None
        return exp.Create(this=table_node(self.target, name), kind="TABLE", expression=rows, properties=kind)

    # ---- queries --------------------------------------------------------------------------------------------
    def query(self, node: Node, outer: Scope | None) -> tuple[Node, list[Output]]:
        """Translate a query. Return it and its columns."""
        if isinstance(node, exp.Subquery) and node.args.get("alias") is None:
            return self.query(node.this, outer)
        before = self.common_tables
        ctes = self._with(node, outer)
        try:
            if isinstance(node, exp.SetOperation):
                found, outputs = self._set_operation(node, outer)
            elif isinstance(node, exp.Select):
                found, outputs = self._select(node, outer)
            else:
                refuse(f"{type(node).__name__} as a query")
        finally:
            self.common_tables = before
        if ctes is not None:
            found.set("with_" if "with_" in found.arg_types else "with", ctes)
        return found, outputs

    def _with(self, node: Node, outer: Scope | None) -> Node | None:
        clause = node.args.get("with_") or node.args.get("with")
        if clause is None:
            return None
        self.common_tables = dict(self.common_tables)
        made, recursive = [], False
        for cte in clause.expressions:
            name, names = (
                cte.alias.lower(),
                [c.name.lower() for c in cte.args["alias"].args.get("columns") or ()],
            )
            own = any(t.name.lower() == name and not t.args.get("db") for t in cte.this.find_all(exp.Table))
            if own:
                recursive = True
                self.common_tables[name] = None
                if isinstance(cte.this, exp.Union):
                    first = self.query(cte.this.this, outer)[1]
                    self.common_tables[name] = _named(first, names)
            rows, outputs = self.query(cte.this, outer)
            self.common_tables[name] = _named(outputs, names)
            alias = exp.TableAlias(
                this=identifier(self.target, name), columns=[identifier(self.target, n) for n in names]
            )
            made.append(exp.CTE(this=rows, alias=alias))
        if recursive and self.target.name == "spark":
            refuse("a recursive WITH")
        return exp.With(expressions=made, recursive=recursive)

    def _set_operation(self, node: Node, outer: Scope | None) -> tuple[Node, list[Output]]:
        left, first = self.query(node.this, outer)
        right, second = self.query(node.expression, outer)
        if len(first) != len(second):
            refuse(
                "a set operation of queries with different numbers of columns, or with * of unknown tables"
            )
        outputs = []
        for a, b in zip(first, second, strict=True):
            if a.value.null or b.value.null or a.value.unknown or b.value.unknown:
                outputs.append(
                    Output(
                        a.name,
                        Value(
                            a.value.node,
                            None
                            if a.value.unknown or b.value.unknown
                            else (b if a.value.null else a).value.type,
                        ),
                    )
                )
                continue
            ta, tb = a.value.type, b.value.type
            same = (
                is_text(ta) == is_text(tb)
                and is_number(ta) == is_number(tb)
                and is_moment(ta) == is_moment(tb)
            )
            if not same or (is_moment(ta) and ta != tb):
                refuse("a set operation of columns of different types")
            _, t = self.expressions.values.common([Value(exp.Null(), ta), Value(exp.Null(), tb)])
            outputs.append(Output(a.name, Value(a.value.node, t, width=min(a.value.width, b.value.width))))
        distinct = bool(node.args.get("distinct", True))
        for side in (left, right):
            if side.args.get("order") or side.args.get("limit"):
                refuse("ORDER BY or FIRST in a part of a set operation")
        found: Node
        if distinct and any(_blanks_matter(o) for o in outputs):
            if not isinstance(node, exp.Union):
                refuse("MINUS and INTERSECT of VARCHARs, whose trailing blanks do not count")
            if self.target.name == "bigquery":
                refuse("UNION of VARCHARs, whose trailing blanks do not count")
            union = exp.Union(this=left, expression=right, distinct=False)
            found = self._distinct_rows(union, outputs)
        else:
            kind = type(node)
            if isinstance(left, exp.SetOperation):
                left = (
                    exp.Subquery(this=left)
                    if type(left) is not kind or bool(left.args.get("distinct")) != distinct
                    else left
                )
            if isinstance(right, exp.SetOperation):
                right = exp.Subquery(this=right)
            found = kind(this=left, expression=right, distinct=distinct)
        return self._order_set(node, found, outputs), outputs

    def _distinct_rows(self, rows: Node, outputs: list[Output]) -> Node:
        """Return the distinct rows of a query with texts: of those that differ in trailing blanks, the shortest."""
        names = [f"c{i}" for i in range(len(outputs))]
        items, keys = [], []
        for name, output in zip(names, outputs, strict=True):
            column = exp.column(name, table="u")
            value = Value(column, output.value.type, width=output.value.width)
            key = self.expressions.values.key(value)
            shown = exp.Min(this=self.target.collated(column.copy())) if key != column else column
            items.append(exp.alias_(shown, identifier(self.target, output.name)) if output.name else shown)
            keys.append(key)
        alias = exp.TableAlias(this=exp.to_identifier("u"), columns=[exp.to_identifier(n) for n in names])
        return exp.Select(
            expressions=items,
            from_=exp.From(this=exp.Subquery(this=rows, alias=alias)),
            group=exp.Group(expressions=keys),
        )

    def _order_set(self, node: Node, found: Node, outputs: list[Output]) -> Node:
        order = node.args.get("order")
        limit = self._limit(node)
        if order is None and limit == (None, None):
            return found
        if order is not None:
            if self.target.name == "bigquery" and not all(o.name for o in outputs):
                refuse("ORDER BY of a set operation whose columns have no names")
            names = [f"c{i}" for i in range(len(outputs))]
            keys = []
            for item in order.expressions:
                position = _position(item.this, [o.name for o in outputs])
                if position is None:
                    refuse("ORDER BY of a set operation by an expression")
                output = outputs[position].value
                column = exp.column(names[position], table="u")
                keys.append(ordered(self.expressions, item, Value(column, output.type, width=output.width)))
            alias = exp.TableAlias(this=exp.to_identifier("u"), columns=[exp.to_identifier(n) for n in names])
            items = [
                exp.alias_(exp.column(n, table="u"), identifier(self.target, o.name))
                if o.name
                else exp.column(n, table="u")
                for n, o in zip(names, outputs, strict=True)
            ]
            if self.target.name == "bigquery":
                refuse("ORDER BY of a set operation")
            found = exp.Select(
                expressions=items,
                from_=exp.From(this=exp.Subquery(this=found, alias=alias)),
                order=exp.Order(expressions=keys),
            )
        _set_limit(found, limit)
        return found

    def _limit(self, node: Node) -> tuple[Node | None, Node | None]:
        limit = node.args.get("limit")
        if limit is None:
            return None, None
        first, skip = limit.args.get("expression"), limit.args.get("offset")
        for part in (first, skip):
            if part is not None and not isinstance(part, exp.Literal):
                refuse("FIRST and SKIP with parameters")
        if first is None and skip is not None and self.target.name in ("bigquery", "snowflake"):
            refuse("SKIP without FIRST")
        return (None if first is None else first.copy(), None if skip is None else skip.copy())

    def _select(self, node: Node, outer: Scope | None) -> tuple[Node, list[Output]]:
        if node.args.get("connect") is not None:
            refuse("CONNECT BY")
        scope = Scope(outer=outer)
        where = node.args.get("where")
        condition = where.this if where is not None else None
        from_, joins, condition = self._from(node, scope, condition)
        tr = self.expressions
        found = exp.Select()
        if from_ is not None:
            found.set("from_" if "from_" in found.arg_types else "from", exp.From(this=from_))
            found.set("joins", joins)
        if condition is not None:
            found.set("where", exp.Where(this=tr.condition(condition, scope)))
        items = list(node.expressions)
        distinct = node.args.get("distinct") is not None
        group = node.args.get("group")
        keys = self._group_keys(node, group, items, scope) if group is not None else None
        outputs, nodes = self._items(items, scope)
        having = node.args.get("having")
        if keys is not None:
            found.set("group", exp.Group(expressions=keys))
        if having is not None:
            found.set("having", exp.Having(this=tr.condition(having.this, scope)))
        if distinct:
            distinct = not self._distinct_as_group(node, found, scope, items, outputs, nodes)
        if distinct:
            found.set("distinct", exp.Distinct())
        found.set("expressions", nodes)
        self._order(node, found, scope, items, outputs, distinct=distinct)
        _set_limit(found, self._limit(node))
        return found, outputs

    def _items(self, items: list[Node], scope: Scope) -> tuple[list[Output], list[Node]]:
        outputs: list[Output] = []
        nodes: list[Node] = []
        for item in items:
            star = item if isinstance(item, exp.Star) else None
            of_table = (
                item.table.lower() if isinstance(item, exp.Column) and isinstance(item.this, exp.Star) else ""
            )
            if star is not None or of_table:
                outputs += self._star(scope, of_table, nodes)
                continue
            alias = item.alias.lower() if isinstance(item, exp.Alias) else ""
            inner = item.this if isinstance(item, exp.Alias) else item
            value = self.expressions.plain(inner, scope)
            name = alias or (inner.name.lower() if isinstance(inner, exp.Column) else "")
            if value.null:
                value = Value(exp.Null(), null=True)
            outputs.append(Output(name, value))
            shown = alias or (
                name if value.node.name.lower() != name or not isinstance(value.node, exp.Column) else ""
            )
            nodes.append(exp.alias_(value.node, identifier(self.target, shown)) if shown else value.node)
        return outputs, nodes

    def _star(self, scope: Scope, of_table: str, nodes: list[Node]) -> list[Output]:
        sources = [s for s in scope.sources if not of_table or s.name == of_table]
        if not sources:
            refuse(f"{of_table}.*, of no table")
        if of_table:
            nodes.append(exp.Column(this=exp.Star(), table=identifier(self.target, of_table)))
        else:
            nodes.append(exp.Star())
        outputs: list[Output] = []
        for source in sources:
            if source.columns is None:
                outputs.append(Output("*", Value(exp.Star())))
                continue
            for name, column in source.columns.items():
                node = exp.Column(
                    this=identifier(self.target, name), table=identifier(self.target, source.name)
                )
                outputs.append(Output(name, Value(node, column.type, width=column.width)))
        return outputs

    def _group_keys(self, node: Node, group: Node, items: list[Node], scope: Scope) -> list[Node]:
        """Return the keys of GROUP BY. A text that may end in blanks is grouped without them and shown as its MIN."""
        keys: list[Node] = []
        groups: dict[str, Node] = {}
        for key in group.expressions:
            inner = key
            if isinstance(key, exp.Literal) and not key.is_string:
                place = int(str(key.this)) - 1
                if not 0 <= place < len(items) or any(i.is_star for i in items[: place + 1]):
                    refuse(f"GROUP BY {key.this}")
                inner = items[place].this if isinstance(items[place], exp.Alias) else items[place]
            elif isinstance(key, exp.Column) and not key.table:
                named = [i for i in items if isinstance(i, exp.Alias) and i.alias.lower() == key.name.lower()]
                columns = any(s.columns is None or key.name.lower() in s.columns for s in scope.sources)
                if named and not columns:
                    inner = named[0].this
            value = self.expressions.plain(inner, scope)
            trimmed = self.expressions.values.key(value)
            if trimmed != value.node:
                shown = self._qualified(value.node, scope)
                groups[_group_key(inner)] = exp.Min(
                    this=shown if value.unknown else self.target.collated(shown)
                )
            keys.append(trimmed)
        if groups and any(
            part is not None and part.find(exp.Query) for part in (*items, node.args.get("having"))
        ):
            refuse("a subquery beside GROUP BY of a VARCHAR, whose trailing blanks do not count")
        scope.groups = groups
        return keys

    def _qualified(self, node: Node, scope: Scope) -> Node:
        """Return a column with its table, as these databases take a bare name in ORDER BY for that of the result."""
        if (
            self.target.name not in ("spark", "snowflake", "bigquery")
            or not isinstance(node, exp.Column)
            or node.table
        ):
            return node
        owners = [s for s in scope.sources if s.columns is None or node.name in s.columns]
        if len(owners) != 1:
            return node
        return exp.Column(this=node.this.copy(), table=identifier(self.target, owners[0].name))

    def _distinct_as_group(
        self,
        node: Node,
        found: Node,
        scope: Scope,
        items: list[Node],
        outputs: list[Output],
        nodes: list[Node],
    ) -> bool:
        """Translate DISTINCT of texts as GROUP BY. Return False where DISTINCT does."""
        if not any(
            _blanks_matter(o) or (is_text(o.value.type) and self.target.name == "postgres") for o in outputs
        ):
            return False
        if (
            found.args.get("group") is not None
            or len(nodes) != len(outputs)
            or any(isinstance(n, exp.Star) for n in nodes)
        ):
            if any(_blanks_matter(o) for o in outputs):
                refuse("DISTINCT of VARCHARs, whose trailing blanks do not count, with * or GROUP BY")
            return False
        if any(n.find(exp.AggFunc, exp.Window, exp.Query) for n in nodes):
            refuse("DISTINCT of VARCHARs, whose trailing blanks do not count, beside aggregates")
        keys = []
        for i, (item, output) in enumerate(zip(items, outputs, strict=True)):
            inner = item.this if isinstance(item, exp.Alias) else item
            key = self.expressions.values.key(output.value)
            if output.value.literal is not None or output.value.constant is not None or output.value.null:
                continue
            if key != output.value.node:
                plain = self._qualified(output.value.node.copy(), scope)
                shown = exp.Min(this=plain if output.value.unknown else self.target.collated(plain))
                scope.groups[_group_key(inner)] = shown
                alias = item.alias if isinstance(item, exp.Alias) else output.name
                nodes[i] = exp.alias_(shown, identifier(self.target, alias)) if alias else shown
            keys.append(key)
        if not keys:
            return False
        found.set("group", exp.Group(expressions=keys))
        return True

    def _order(
        self,
        node: Node,
        found: Node,
        scope: Scope,
        items: list[Node],
        outputs: list[Output],
        *,
        distinct: bool,
    ) -> None:
        order = node.args.get("order")
        if order is None:
            return
        if order.args.get("siblings"):
            refuse("ORDER SIBLINGS BY")
        keys = []
        for item in order.expressions:
            this = item.this
            if isinstance(this, exp.Literal) and not this.is_string:
                place = int(str(this.this)) - 1
                if not 0 <= place < len(outputs) or any(o.name == "*" for o in outputs[: place + 1]):
                    refuse(f"ORDER BY {this.this}")
                value = outputs[place].value
            else:
                named = (
                    [
                        o.value
                        for i, o in zip(items, outputs, strict=False)
                        if isinstance(this, exp.Column)
                        and not this.table
                        and isinstance(i, exp.Alias)
                        and i.alias.lower() == this.name.lower()
                    ]
                    if len(items) == len(outputs)
                    else []
                )
                value = named[0] if named else self.expressions.value(this, scope)
            if value.literal is not None or value.constant is not None or value.null:
                continue
            if distinct and self.target.name == "spark" and not isinstance(value.node, exp.Column):
                refuse("ORDER BY of an expression beside DISTINCT")
            keys.append(ordered(self.expressions, item, value))
        if keys:
            found.set("order", exp.Order(expressions=keys))

    # ---- FROM -----------------------------------------------------------------------------------------------
    def _from(
        self, node: Node, scope: Scope, condition: Node | None
    ) -> tuple[Node | None, list[Node], Node | None]:
        clause = node.args.get("from_") or node.args.get("from")
        if clause is None:
            return None, [], condition
        joins = list(node.args.get("joins") or ())
        outer_tables = [j for j in joins if isinstance(j.this, d.OuterTables)]
        if isinstance(clause.this, d.OuterTables):
            refuse("OUTER as the first table")
        if not joins and self._is_dual(clause.this, condition):
            scope.sources.append(Source("sysdual", {}))
            if clause.this.name.lower() == "systables":
                condition = None
            return None, [], condition
        first = self._table(clause.this, scope)
        made: list[Node] = []
        for join in joins:
            if join in outer_tables:
                continue
            made.append(self._join(join, scope))
        for join in outer_tables:
            found, condition = self._outer(join.this, scope, condition, len(outer_tables) > 1)
            made += found
        return first, made, condition

    def _is_dual(self, table: Node, condition: Node | None) -> bool:
        """Return whether FROM is Informix's table of one row."""
        if not isinstance(table, exp.Table) or table.name.lower() in self.catalogue:
            return False
        if table.name.lower() == "sysdual":
            return True
        one = (
            isinstance(condition, exp.EQ)
            and condition.this.name.lower() == "tabid"
            and condition.expression.name == "1"
        )
        return table.name.lower() == "systables" and one

    def _join(self, join: Node, scope: Scope) -> Node:
        side, kind = str(join.args.get("side") or ""), str(join.args.get("kind") or "")
        right = self._table(join.this, scope)
        on = join.args.get("on")
        found = exp.Join(this=right)
        if side:
            found.set("side", side)
        if on is not None:
            found.set("on", self.expressions.condition(on, scope))
        elif not side:
            found.set("kind", "CROSS")
        if kind == "INNER":
            found.set("kind", "INNER")
        return found

    def _table(self, node: Node, scope: Scope) -> Node:
        if isinstance(node, exp.Table):
            if node.args.get("joins"):
                return self._nested(node, scope)
            return self._named_table(node, scope)
        if isinstance(node, exp.Paren):
            return self._table(node.this, scope)
        if isinstance(node, exp.Subquery):
            if isinstance(node.this, exp.Table):
                inner = node.this
                found = (
                    exp.Paren(this=self._nested(inner, scope))
                    if inner.args.get("joins")
                    else self._table(inner, scope)
                )
                return found
            return self._derived(node, scope)
        refuse(f"{type(node).__name__} in FROM")

    def _nested(self, node: Node, scope: Scope) -> Node:
        """Translate `(a JOIN b ON ..)`."""
        found = self._named_table(node, scope)
        found.set("joins", [self._join(join, scope) for join in node.args["joins"]])
        return found

    def _named_table(self, node: Node, scope: Scope) -> Node:
        name = node.name.lower()
        if node.args.get("catalog") is not None:
            refuse(f"the table {name} of another database")
        if name in self.common_tables:
            columns = self.common_tables[name]
        elif name in self.catalogue:
            columns = {c: stored(t) for c, t in self.catalogue[name].items()}
        else:
            if name.startswith("sys"):
                refuse(f"the table {name} of the system catalogue")
            columns = None
        alias = node.alias.lower()
        scope.sources.append(Source(alias or name, columns))
        found = table_node(self.target, name)
        if alias:
            found.set("alias", exp.TableAlias(this=identifier(self.target, alias)))
        return found

    def _derived(self, node: Node, scope: Scope) -> Node:
        rows, outputs = self.query(node.this, scope.outer)
        alias = node.args.get("alias")
        name = node.alias.lower() or f"derived_{len(scope.sources) + 1}"
        names = [c.name.lower() for c in (alias.args.get("columns") or ())] if alias is not None else []
        if names and self.target.name == "bigquery":
            refuse("names of columns after the alias of a subquery")
        if names and len(names) != len(outputs):
            refuse("a subquery with a wrong number of names for its columns")
        scope.sources.append(Source(name, _named(outputs, names)))
        columns = [identifier(self.target, n) for n in names]
        return exp.Subquery(
            this=rows, alias=exp.TableAlias(this=identifier(self.target, name), columns=columns)
        )

    # ---- OUTER ----------------------------------------------------------------------------------------------
    def _outer(
        self, outer: Node, scope: Scope, condition: Node | None, several: bool
    ) -> tuple[list[Node], Node | None]:
        """Translate OUTER to LEFT JOIN. Conditions on its tables become those of the join."""
        if any(isinstance(t, d.OuterTables) for t in outer.expressions) or len(outer.expressions) > 1:
            refuse("OUTER of several tables")
        first = len(scope.sources)
        table = self._table(outer.expressions[0], scope)
        inner = scope.sources[first:]
        names = {s.name for s in inner}
        on: list[Node] = []
        rest: list[Node] = []
        for part in conjuncts(condition):
            (on if self._names(part, scope, inner, names) else rest).append(part)
        if several:
            for part in on:
                tables = {c.table.lower() for c in part.find_all(exp.Column)}
                others = {s.name for s in scope.sources[1:first]} & tables
                if others:
                    refuse("a condition between tables of two OUTERs")
        if not on:
            refuse("OUTER without a condition")
        joined = combine(on)
        assert joined is not None
        made = exp.Join(this=table, side="LEFT", on=self.expressions.condition(joined, scope))
        return [made], combine(rest)

    def _names(self, part: Node, scope: Scope, inner: list[Source], names: set[str]) -> bool:
        """Return whether a condition names a column of the tables of an OUTER. Refuses what is not known."""
        if part.find(exp.Query):
            refuse("a subquery in WHERE beside OUTER")
        for column in part.find_all(exp.Column):
            table, name = column.table.lower(), column.name.lower()
            if table:
                if table in names:
                    return True
                continue
            known = [s for s in scope.sources if s.columns is not None and name in s.columns]
            if any(s.columns is None for s in scope.sources):
                refuse(
                    f"the column {name} beside OUTER, as its table is not known",
                    f"Write it as table.{name}, pass the columns as schema=, or put CREATE TABLE before the statement.",
                )
            if any(s in inner for s in known):
                return True
        return False

    # ---- data changes ---------------------------------------------------------------------------------------
    def _changed(self, node: Node) -> tuple[Node, str, Columns | None, Scope]:
        if not isinstance(node, exp.Table) or node.args.get("alias") or node.args.get("catalog"):
            refuse("a change of what is no plain table")
        name = node.name.lower()
        columns = self.catalogue.get(name)
        source = Source(name, None if columns is None else {c: stored(t) for c, t in columns.items()})
        return table_node(self.target, name), name, columns, Scope([source])

    def assigned(self, value: Value, t: ColumnType | None) -> Node:
        """Return a value as it is stored in a column."""
        values = self.expressions.values
        if value.null:
            return value.node
        if t is None:
            if value.literal is not None:
                if not values.only_text(value):
                    refuse(f"{value.literal!r} for a column of unknown type")
                return string(value.literal)
            if value.type is None or value.type.code not in INTEGERS:
                refuse("a value other than an integer or a text for a column of unknown type")
            return value.node
        if value.literal is not None:
            text = value.literal.rstrip(" ") if t.code in PADDED else value.literal
            if is_text(t):
                if len(text.encode()) > t.content_width:
                    refuse(f"a text that is too long for {t.sql}, which Informix cuts")
                return string(text)
            value = values.literal_as(value.literal, t)
        if value.interval is not None:
            refuse("an INTERVAL for a column")
        needs_type(value, "the assignment")
        assert value.type is not None
        if is_number(t) and is_number(value.type):
            return values.number_as(value, t)
        if is_text(t) and is_text(value.type):
            return values.key(value) if t.code in PADDED else values.whole_text(value)
        if is_moment(t) and is_moment(value.type):
            return values.extended(value, t).node
        if t.is_boolean and value.type.is_boolean:
            return value.node
        refuse(f"{value.type.sql} for a column of type {t.sql}")

    def insert(self, node: Node) -> Node:
        target = node.this
        names: list[str] = []
        if isinstance(target, exp.Schema):
            names = [c.name.lower() for c in target.expressions]
            target = target.this
        table, _, columns, _ = self._changed(target)
        types: list[ColumnType | None]
        if columns is not None:
            for name in names:
                if name not in columns:
                    refuse(f"the column {name}, which the table does not have")
            types = [columns[n] for n in names] if names else list(columns.values())
        else:
            types = [None] * len(names)
        source = node.args.get("expression")
        into = (
            exp.Schema(this=table, expressions=[identifier(self.target, n) for n in names])
            if names
            else table
        )
        if isinstance(source, exp.Values):
            return exp.Insert(
                this=into,
                expression=exp.Values(expressions=[self._values_row(r, types) for r in source.expressions]),
            )
        if not isinstance(source, exp.Query):
            refuse("INSERT of what is no query")
        rows, outputs = self.query(source, None)
        if columns is None or len(outputs) != len(types) or any(o.name == "*" for o in outputs):
            refuse("INSERT of a query into a table whose columns are not known")
        for output, t in zip(outputs, types, strict=True):
            assert t is not None
            if t.code in SERIALS:
                refuse("INSERT of a query into a SERIAL, where 0 means the next number")
            wanted = self.assigned(output.value, t)
            if wanted != output.value.node:
                refuse(f"INSERT of a query with a value that must be converted to {t.sql}")
        return exp.Insert(this=into, expression=rows)

    def _values_row(self, row: Node, types: list[ColumnType | None]) -> Node:
        items = row.expressions if isinstance(row, exp.Tuple) else [row]
        if types and len(items) != len(types):
            refuse("INSERT with a wrong number of values")
        made = []
        for i, item in enumerate(items):
            value = self.expressions.value(item, Scope())
            t = types[i] if types else None
            if t is None and value.constant == 0:
                refuse("0 for a column of unknown type, as it means the next number for a SERIAL")
            if t is not None and t.code in SERIALS:
                if value.constant is None:
                    refuse("a value for a SERIAL that is no number")
                if value.constant == 0:
                    if self.target.name in ("spark", "bigquery"):
                        refuse("the next number of a SERIAL")
                    made.append(exp.var("DEFAULT"))
                    continue
            made.append(self.assigned(value, t))
        return exp.Tuple(expressions=made)

    def update(self, node: Node) -> Node:
        if node.args.get("from_") or node.args.get("from"):
            refuse("UPDATE with FROM")
        table, _, columns, scope = self._changed(node.this)
        settings = []
        for item in node.expressions:
            if not isinstance(item, exp.EQ) or not isinstance(item.this, exp.Column):
                refuse("UPDATE of several columns at once")
            name = item.this.name.lower()
            if columns is not None and name not in columns:
                refuse(f"the column {name}, which the table does not have")
            t = columns[name] if columns is not None else None
            value = self.expressions.value(item.expression, scope)
            settings.append(
                exp.EQ(
                    this=exp.Column(this=identifier(self.target, name)), expression=self.assigned(value, t)
                )
            )
        return exp.Update(this=table, expressions=settings, where=self._where(node, scope))

    def delete(self, node: Node) -> Node:
        table, _, _, scope = self._changed(node.this)
        return exp.Delete(this=table, where=self._where(node, scope))

    def _where(self, node: Node, scope: Scope) -> Node | None:
        where = node.args.get("where")
        if where is None:
            if self.target.name == "bigquery":
                return exp.Where(this=exp.true())
            return None
        if isinstance(where.this, d.CurrentOf):
            refuse("WHERE CURRENT OF")
        return exp.Where(this=self.expressions.condition(where.this, scope))


def _named(outputs: list[Output], names: list[str]) -> dict[str, Value] | None:
    """Return the columns of a derived table. None if they are not all known by name."""
    if names:
        return (
            {
                n: Value(exp.Null(), o.value.type, width=o.value.width)
                for n, o in zip(names, outputs, strict=True)
            }
            if len(names) == len(outputs)
            else None
        )
    if any(o.name in ("*", "") for o in outputs):
        return None
    return {o.name: Value(exp.Null(), o.value.type, width=o.value.width) for o in outputs}


def _blanks_matter(output: Output) -> bool:
    """Return whether values of a column may differ in trailing blanks only, or may be such texts."""
    value = output.value
    if value.literal is not None or value.null:
        return False
    return value.unknown or (is_text(value.type) and not value.width)


def _position(node: Node, names: list[str]) -> int | None:
    if isinstance(node, exp.Literal) and not node.is_string:
        place = int(str(node.this)) - 1
        return place if 0 <= place < len(names) else None
    if isinstance(node, exp.Column) and node.name.lower() in names:
        return names.index(node.name.lower())
    return None


def _set_limit(found: Any, limit: tuple[Node | None, Node | None]) -> None:
    first, skip = limit
    if first is not None:
        found.set("limit", exp.Limit(expression=first))
    if skip is not None:
        found.set("offset", exp.Offset(expression=skip))
