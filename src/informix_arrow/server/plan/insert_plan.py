"""Plans of INSERT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from ...wire.describe import Column
from ...wire.quoting import double_quoted
from ...wire.types import ColumnType, TypeCode
from ..catalog.catalog import ColumnInfo, TableInfo, key_part, key_text
from ..errors import SqlError
from ..types.documents import is_document
from ..types.nested_types import is_nested, is_simple_large, lob_kind
from ..types.result_types import has_own_storage, is_character
from .assignments import literal_value
from .plans import InsertPlan, SelectPlan, SingleRowPlan
from .scope import Scope, TypedExpression, source_offset
from .select_plan import select
from .translation import StatementTranslator
from .values.nested import Constructor
from .variables import RoutineVariable
from .views import with_checks

NAMED_TWICE = -681
LONG_TEXT = ColumnType.lvarchar(32739)


def insert(work: StatementTranslator, tree: exp.Insert) -> InsertPlan:
    """Return the plan of an INSERT of values or of a query's rows."""
    node = tree.this
    names: list[exp.Expression] = []
    if isinstance(node, exp.Schema):
        names = node.expressions
        node = node.this
    info = work.changed_table(tree, node)
    work.ctx.tables.clear()  # tables resolved from here on are read
    work.require_privilege(info, "i")
    if work.view_checks:
        alias = double_quoted(info.name) + "."
        info = with_checks(
            info,
            work.changed_view,
            [c.replace(alias, "") for c in work.view_check_conditions(info, {}, info.name)],
        )
    targets = []
    for name in names or [exp.to_identifier(c.name) for c in info.columns]:
        column = info.require_column(name.name, source_offset(name))
        if column in targets:
            raise SqlError(NAMED_TWICE, 0, source_offset(name), column.name)
        targets.append(column)
    source = tree.expression
    if isinstance(source, exp.Values):
        if len(source.expressions) != 1:
            raise SqlError(-201, 0, 1)
        row = source.expressions[0]
        items = row.expressions if isinstance(row, exp.Tuple) else [row]
        if len(items) != len(targets):
            raise SqlError(-236)
        values: list[tuple[str, object]] = []
        for item, column in zip(items, targets, strict=True):
            bare = item.this if isinstance(item, exp.Paren) else item
            if isinstance(bare, exp.Placeholder) and not isinstance(bare, RoutineVariable):
                number = int(bare.meta["index"])
                work.ctx.params[number] = column.type
                work.ctx.assigned_params.add(number)
                values.append(("param", number))
                continue
            found = literal_value(item)
            if found is not None:
                if found[0] is not None and is_simple_large(column.type):
                    raise SqlError(-617)  # only parameters, columns and NULL can be assigned to these
                values.append(("const", found[0]))
                continue
            values.append(_insert_value(work, item, column))
        return InsertPlan(
            info,
            tuple(c.name for c in targets),
            tuple(values),
            None,
            work.ctx.bind_requirements(),
            None if work.changed_view else _row_plan(info, targets, values),
            tuple(work.ctx.tables.values()),
        )
    if not isinstance(source, (exp.Query, exp.Subquery)):
        raise SqlError(-201, 0, 1)
    plan = select(work, source, rows_go_out=False)
    if len(plan.columns) != len(targets):
        raise SqlError(-236)
    plan = _convert_select_columns(work, plan, targets)
    return InsertPlan(info, tuple(c.name for c in targets), None, plan, plan.needs)


def _row_plan(
    info: TableInfo, targets: Sequence[ColumnInfo], values: Sequence[tuple[str, object]]
) -> SingleRowPlan | None:
    """Return the plan to insert one row by bound values, None if the statement needs more."""
    values_by_column = {column.name: value for column, value in zip(targets, values, strict=True)}
    # temporary tables are not shared
    is_plain = info.has_simple_updates or (info.temporary and not info.has_triggers)
    if not is_plain or info.has_engine_checks or any(kind not in ("param", "const") for kind, _ in values):
        return None
    if any(
        is_nested(c.type) or is_simple_large(c.type) or lob_kind(c.type) or is_document(c.type)
        for c in info.columns
    ):
        return None
    positions = {column.name: position for position, column in enumerate(info.columns)}
    keys = []
    for key in info.keys:
        # a SMALLFLOAT is rounded only when stored
        if any(info.columns[positions[name]].type.code == TypeCode.SMALLFLOAT for name in key.columns):
            return None
        queries = [  # key texts without insignificant blanks
            f"SELECT 1 FROM {info.duck_name} WHERE "
            + " AND ".join(
                f"{key_part(info, name)} {operator} {key_text('?') if name in info.blank_padded else '?'}"
                for name in key.columns
            )
            for operator in ("=", "IS NOT DISTINCT FROM")
        ]
        keys.append((key.name, tuple(positions[name] for name in key.columns), queries[0], queries[1]))
    names = ", ".join(double_quoted(column.name) for column in info.columns)
    marks = ", ".join("?" * len(info.columns))
    return SingleRowPlan(
        tuple((column, *values_by_column.get(column.name, ("omitted", None))) for column in info.columns),
        tuple((positions[column.name], column) for column in info.columns if column.is_serial),
        tuple(keys),
        bool(info.checks),
        f"INSERT INTO {info.duck_name} ({names}) VALUES ({marks})",
    )


def _insert_value(work: StatementTranslator, item: exp.Expression, column: ColumnInfo) -> tuple[str, object]:
    """Translate a value in VALUES. Types that DuckDB lacks are converted to the column's storage here."""
    translator = work.queries.expressions
    ex = work.ctx.hint(translator.expr(item, Scope()), column.type)
    if ex.value is not None and not isinstance(ex.value, Constructor):
        return "const", ex.value
    if has_own_storage(column.type):
        return "stored", translator.values.assign(ex, column.type)
    if ex.type is not None and (has_own_storage(ex.type) or _has_currency_text(ex.type, column.type)):
        ex = translator.values.cast(ex, column.type)
    if ex.is_packed_decimal:
        return "expr", f"_ifx_plain({ex.sql})"
    return "expr", ex.sql


def _has_currency_text(t: ColumnType, target: ColumnType) -> bool:
    """Return whether a value's text differs from its number's text: MONEY includes its currency."""
    return t.code == TypeCode.MONEY and is_character(target)


def _convert_select_columns(
    work: StatementTranslator, select: SelectPlan, targets: Sequence[ColumnInfo]
) -> SelectPlan:
    """Return the query of INSERT ... SELECT with conversions to the storage of columns that need them."""
    items, columns = [], []
    for number, (column, packed, target) in enumerate(
        zip(select.columns, select.packed_decimals, targets, strict=True)
    ):
        sql, t = f"c{number}", column.type
        same = (t.code, t.encoded_length, t.extended_name) == (
            target.type.code, target.type.encoded_length, target.type.extended_name
        )  # fmt: skip
        needs_conversion = (
            has_own_storage(t) or has_own_storage(target.type) or _has_currency_text(t, target.type)
        )
        if not same and needs_conversion:
            source = TypedExpression(sql, t, is_packed_decimal=packed, source=t)
            # texts are truncated, with a warning, when the rows are stored
            converted = LONG_TEXT if is_character(target.type) else target.type
            sql = work.queries.expressions.values.assign(source, converted)
            column = Column(column.name, converted)
        items.append(f"{sql} AS c{number}")
        columns.append(column)
    if columns == list(select.columns):
        return select
    sql = f"SELECT {', '.join(items)} FROM ({select.sql})"
    keys = tuple(
        was and old is new
        for was, old, new in zip(select.packed_decimals, select.columns, columns, strict=True)
    )
    return replace(select, sql=sql, columns=tuple(columns), packed_decimals=keys)
