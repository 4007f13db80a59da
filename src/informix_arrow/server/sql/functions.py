"""Built-in functions: what DuckDB calls each, and the Informix type of the result. Unknown ones are -674."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from ...wire.types import ColumnType, TypeCode
from ..catalog import text
from ..errors import SqlError
from . import lob_functions
from .assignments import byte_length
from .context import Ex, Scope
from .literals import date
from .nested_sql import function
from .nested_types import is_collection, is_simple_large
from .number_functions import Handler, absolute, bits, mod, numeric, rounding, whole
from .result_types import (
    character,
    common,
    is_character,
    is_moment,
    is_number,
    plain,
    text_type,
)

if TYPE_CHECKING:
    from .expressions import ExpressionTranslator


def call(tr: ExpressionTranslator, name: str, nodes: list[exp.Expression], scope: Scope) -> Ex:
    """Translate a call of a built-in function."""
    if name == "dbinfo":
        return _dbinfo(tr, nodes)
    if name in ("substr", "substring"):
        return substring(tr, nodes, scope)
    if name in lob_functions.READERS:
        return lob_functions.reader(tr, name, nodes, scope)
    if name in lob_functions.CALLS:
        raise lob_functions.outside(name)
    handler = _FUNCTIONS.get(name)
    if handler is None:
        raise SqlError(-674, 0, 0, name)
    low, high, function = handler
    args = [tr.settle(tr.expr(node, scope)) for node in nodes]
    if not low <= len(args) <= high:
        raise SqlError(-664, 0, 0, name)
    return tr.as_key(function(tr, args))


def _text_arg(tr: ExpressionTranslator, ex: Ex) -> Ex:
    ex = tr.ctx.hint(ex, character(255))
    return ex if ex.type is None or is_character(ex.type) else tr.cast(ex, text_type(ex.type))


def _width(ex: Ex) -> int:
    return ex.type.content_width if ex.type is not None and is_character(ex.type) else 255


def _text(duck: str, grow: int = 0) -> Handler:
    """A function of texts whose result has the width of its first argument (plus `grow`)."""

    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        texts = [_text_arg(tr, args[0]), *args[1:]]
        t = texts[0].type if not grow and len(args) == 1 else character(_width(texts[0]) + grow)
        result = plain(t) if t is not None else character(255)
        return Ex(f"{duck}({', '.join(a.sql for a in texts)})", result)

    return handler


def _part(duck: str) -> Handler:
    """YEAR, MONTH, DAY, WEEKDAY of a date or datetime."""

    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        moment = _moment(tr, args[0])
        return Ex(f"CAST({duck}({moment.sql}) AS SMALLINT)", ColumnType.smallint())

    return handler


def _moment(tr: ExpressionTranslator, ex: Ex) -> Ex:
    ex = tr.ctx.hint(ex, ColumnType.date())
    if ex.literal is not None:
        return Ex(tr.ctx.read_literal(ex.literal, ColumnType.date()), ColumnType.date())
    if ex.type is not None and not is_moment(ex.type):
        raise SqlError(-1260)
    return ex


def _cardinality(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    if not is_collection(args[0].type):
        raise SqlError(-9634, 0, 0, "cardinality")
    return Ex(f"CAST(len({args[0].sql}) AS INTEGER)", ColumnType.integer())


def _length(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    if is_simple_large(args[0].type):
        return Ex(f"CAST(octet_length({args[0].sql}) AS INTEGER)", ColumnType.integer())
    ex = _text_arg(tr, args[0])
    return Ex(f"CAST({byte_length(ex.sql, tr.ctx.codec)} AS INTEGER)", ColumnType.integer())


def _char_length(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    return Ex(f"CAST(length({_text_arg(tr, args[0]).sql}) AS INTEGER)", ColumnType.integer())


def substring(tr: ExpressionTranslator, nodes: list[exp.Expression], scope: Scope) -> Ex:
    """SUBSTR(x, start [, length]); a negative start counts from the end."""
    if not 2 <= len(nodes) <= 3:
        raise SqlError(-664, 0, 0, "substr")
    args = [tr.expr(node, scope) for node in nodes]
    value = _text_arg(tr, args[0])
    numbers = [tr.ctx.hint(a, ColumnType.integer()) for a in args[1:]]
    sql = ", ".join(f"CAST({n.sql} AS BIGINT)" for n in numbers)
    return Ex(f"substr({value.sql}, {sql})", character(_width(value)))


def _nvl(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    t: ColumnType | None = None
    for arg in args:
        t = common(t, arg.type)
    return tr.of_type(f"coalesce({', '.join(tr.to(a, t) for a in args)})", t)


def _decode(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    this, rest = args[0], args[1:]
    arms = []
    for i in range(0, len(rest) - 1, 2):
        a, b = tr.ctx.meet(this, rest[i])
        arms.append((f"{a} IS NOT DISTINCT FROM {b}", rest[i + 1]))
    return tr.choose(arms, rest[-1] if len(rest) % 2 else None)


def _nullif(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    a, b = tr.ctx.meet(args[0], args[1])
    t = args[0].type
    sql = f"(CASE WHEN {a} = {b} THEN NULL ELSE {args[0].sql} END)"
    return Ex(sql, plain(t) if t is not None else None, packed=args[0].packed)


def _mdy(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    m, day, y = (tr.ctx.hint(a, ColumnType.integer()).sql for a in args)
    return Ex(
        f"make_date(CAST({y} AS BIGINT), CAST({m} AS BIGINT), CAST({day} AS BIGINT))", ColumnType.date()
    )


def _date(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    a = tr.ctx.hint(args[0], character(32))
    if a.literal is not None:
        return Ex(f"DATE {text(date(a.literal, tr.ctx.dbdate).isoformat())}", ColumnType.date())
    if a.type is not None and is_number(a.type):
        return Ex(f"(DATE '1899-12-31' + CAST({a.sql} AS INTEGER))", ColumnType.date())
    return Ex(f"CAST({a.sql} AS DATE)", ColumnType.date())


def _add_months(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    moment = _moment(tr, args[0])
    n = tr.ctx.hint(args[1], ColumnType.integer())
    t = plain(moment.type) if moment.type is not None else ColumnType.date()
    storage = "DATE" if t.code == TypeCode.DATE else "TIMESTAMP"
    return Ex(f"CAST({moment.sql} + to_months(CAST({n.sql} AS INTEGER)) AS {storage})", t)


def _last_day(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    return Ex(f"last_day({_moment(tr, args[0]).sql})", ColumnType.date())


_FORMATS = ("%Y", "%y", "%m", "%d", "%H", "%M", "%S", "%b", "%B", "%a", "%A", "%j", "%p", "%I")


def _to_char(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    value = args[0]
    if value.type is not None and is_moment(value.type) and len(args) == 2:
        layout = args[1].literal
        if layout is None:
            raise SqlError(-664, 0, 0, "to_char")
        return Ex(f"strftime({value.sql}, {text(_layout(layout))})", character(64))
    return value if value.type is None or is_character(value.type) else tr.cast(value, text_type(value.type))


def _layout(layout: str) -> str:
    """GL_DATETIME letters or Oracle's words as strftime's."""
    if "%" in layout:
        out, i = layout.replace("%iY", "%Y").replace("%R", "%H:%M").replace("%T", "%H:%M:%S"), 0
        while (i := out.find("%", i)) >= 0:
            if out[i : i + 2] not in _FORMATS:
                raise SqlError(-1268, 0, 0, "", f"format {layout!r}")
            i += 2
        return out
    for word, code in (
        ("YYYY", "%Y"), ("HH24", "%H"), ("MM", "%m"), ("DD", "%d"), ("MI", "%M"), ("SS", "%S"), ("YY", "%y"),
        ("HH", "%I"),
    ):  # fmt: skip
        layout = layout.replace(word, code).replace(word.lower(), code)
    return layout


def _to_date(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    value = _text_arg(tr, args[0])
    t = ColumnType.datetime("YEAR TO FRACTION(5)")
    if len(args) == 1:
        return Ex(f"CAST({value.sql} AS TIMESTAMP)", t)
    if args[1].literal is None:
        raise SqlError(-664, 0, 0, "to_date")
    return Ex(f"strptime({value.sql}, {text(_layout(args[1].literal))})", t)


def _pad(duck: str) -> Handler:
    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        value = _text_arg(tr, args[0])
        n = tr.ctx.hint(args[1], ColumnType.integer())
        fill = args[2].sql if len(args) > 2 else "' '"
        width = int(n.sql) if n.number and n.sql.isdigit() else 255
        return Ex(f"{duck}({value.sql}, CAST({n.sql} AS INTEGER), {fill})", character(width))

    return handler


def _replace(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    value = _text_arg(tr, args[0])
    new = args[2].sql if len(args) > 2 else "''"
    return Ex(f"replace({value.sql}, {args[1].sql}, {new})", character(max(255, _width(value))))


def _concat(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    a, b = (_text_arg(tr, x) for x in args)
    return Ex(f"({a.sql} || {b.sql})", character(_width(a) + _width(b)))


def _initcap(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    value = _text_arg(tr, args[0])
    sql = (
        f"array_to_string(list_transform(string_split(lower({value.sql}), ' '), "
        f"{function('w', 'upper(left(w, 1)) || substr(w, 2)')}), ' ')"
    )
    return Ex(sql, plain(value.type) if value.type is not None else character(255))


def _instr(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    return Ex(f"CAST(instr({_text_arg(tr, args[0]).sql}, {args[1].sql}) AS INTEGER)", ColumnType.integer())


def _ascii(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    return Ex(f"ascii({_text_arg(tr, args[0]).sql})", ColumnType.integer())


def _extreme(duck: str) -> Handler:
    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        t: ColumnType | None = None
        for arg in args:
            t = common(t, arg.type)
        return tr.of_type(f"{duck}({', '.join(tr.to(a, t) for a in args)})", t)

    return handler


def _dbinfo(tr: ExpressionTranslator, nodes: list[exp.Expression]) -> Ex:
    """DBINFO (SERVER-BEHAVIOUR section 4): session values are filled in when the statement runs."""
    words = [str(n.this).lower() for n in nodes if isinstance(n, exp.Literal)]
    if len(words) != len(nodes) or not words:
        raise SqlError(-664, 0, 0, "dbinfo")
    ctx = tr.ctx
    if words[0] in ("sqlca.sqlerrd1", "sqlca.sqlerrd2", "sessionid"):
        return Ex(f"CAST({ctx.value(words[0].removeprefix('sqlca.'))} AS INTEGER)", ColumnType.integer())
    if words[0] == "serial8":
        return Ex(f"CAST({ctx.value('serial8')} AS BIGINT)", ColumnType.int8())
    if words[0] == "bigserial":
        return Ex(f"CAST({ctx.value('bigserial')} AS BIGINT)", ColumnType.bigint())
    if words[0] == "utc_current":
        return Ex(f"CAST({ctx.value('utc')} AS INTEGER)", ColumnType.integer())
    key = ",".join(words)
    if key not in ctx.constants:
        raise SqlError(-728, 0, 0, words[-1])
    value = ctx.constants[key]
    return Ex(text(value), character(128 if words[0] in ("dbname", "dbhostname") else 255))


_F: Callable[[], ColumnType] = ColumnType.float_
_FUNCTIONS: dict[str, tuple[int, int, Handler]] = {
    "upper": (1, 1, _text("upper")),
    "lower": (1, 1, _text("lower")),
    "initcap": (1, 1, _initcap),
    "trim": (1, 1, _text("trim")),
    "ltrim": (1, 2, _text("ltrim")),
    "rtrim": (1, 2, _text("rtrim")),
    "length": (1, 1, _length),
    "len": (1, 1, _length),
    "octet_length": (1, 1, _length),
    "cardinality": (1, 1, _cardinality),
    "char_length": (1, 1, _char_length),
    "character_length": (1, 1, _char_length),
    "replace": (2, 3, _replace),
    "lpad": (2, 3, _pad("lpad")),
    "rpad": (2, 3, _pad("rpad")),
    "concat": (2, 2, _concat),
    "instr": (2, 2, _instr),
    "ascii": (1, 1, _ascii),
    "nvl": (2, 2, _nvl),
    "coalesce": (1, 64, _nvl),
    "nvl2": (3, 3, lambda tr, a: tr.choose([(f"{a[0].sql} IS NOT NULL", a[1])], a[2])),
    "nullif": (2, 2, _nullif),
    "decode": (3, 129, _decode),
    "abs": (1, 1, absolute),
    "mod": (2, 2, mod),
    "round": (1, 2, rounding("round")),
    "trunc": (1, 2, rounding("trunc")),
    "ceil": (1, 1, whole("ceil")),
    "floor": (1, 1, whole("floor")),
    "sqrt": (1, 1, numeric("sqrt", _F)),
    "pow": (2, 2, numeric("pow", _F)),
    "power": (2, 2, numeric("pow", _F)),
    "exp": (1, 1, numeric("exp", _F)),
    "logn": (1, 1, numeric("ln", _F)),
    "ln": (1, 1, numeric("ln", _F)),
    "log10": (1, 1, numeric("log10", _F)),
    "sin": (1, 1, numeric("sin", _F)),
    "cos": (1, 1, numeric("cos", _F)),
    "tan": (1, 1, numeric("tan", _F)),
    "asin": (1, 1, numeric("asin", _F)),
    "acos": (1, 1, numeric("acos", _F)),
    "atan": (1, 1, numeric("atan", _F)),
    "atan2": (2, 2, numeric("atan2", _F)),
    "bitand": (2, 2, bits("&")),
    "bitor": (2, 2, bits("|")),
    "bitxor": (2, 2, bits("xor")),
    "greatest": (1, 64, _extreme("greatest")),
    "least": (1, 64, _extreme("least")),
    "year": (1, 1, _part("year")),
    "month": (1, 1, _part("month")),
    "day": (1, 1, _part("day")),
    "weekday": (1, 1, _part("dayofweek")),
    "quarter": (1, 1, _part("quarter")),
    "mdy": (3, 3, _mdy),
    "date": (1, 1, _date),
    "add_months": (2, 2, _add_months),
    "last_day": (1, 1, _last_day),
    "to_char": (1, 2, _to_char),
    "to_date": (1, 2, _to_date),
}
