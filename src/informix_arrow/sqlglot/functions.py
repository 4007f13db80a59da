"""Built-in functions that have an exact equivalent. Others are refused by their names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from ..server.types.result_types import DECIMALS, FLOATS, INTEGERS, LONGS
from ..wire.types import ColumnType, TypeCode
from .expressions import Expressions, Scope, _varying, _without_groups, choose, joined
from .targets import Node, binary, call, is_number, number, paren, refuse, string
from .values import Value, is_moment, is_text, kind_of, needs_type

Function = Callable[[Expressions, list[Value]], Value]
_INTEGER = ColumnType.integer()


# ---- choices --------------------------------------------------------------------------------------------------
def _coalesce(tr: Expressions, args: list[Value]) -> Value:
    nodes, t = tr.values.common(args)
    width = args[0].width if all(a.width == args[0].width for a in args) else 0
    return Value(exp.Coalesce(this=nodes[0], expressions=nodes[1:]), t, width=width)


def _nvl2(tr: Expressions, args: list[Value]) -> Value:
    there = exp.Not(this=exp.Paren(this=exp.Is(this=paren(args[0].node), expression=exp.Null())))
    return choose(tr, [there], [args[1]], args[2])


def _decode(tr: Expressions, args: list[Value]) -> Value:
    this, rest = args[0], args[1:]
    tests: list[Node] = []
    for i in range(0, len(rest) - 1, 2):
        if rest[i].null:
            tests.append(exp.Is(this=paren(this.node.copy()), expression=exp.Null()))
        elif (
            isinstance(rest[i].node, exp.Literal)
            or rest[i].constant is not None
            or rest[i].literal is not None
        ):
            tests.append(tr.compare(exp.EQ, this, rest[i]))
        else:
            same = tr.compare(exp.EQ, this, rest[i])
            none = exp.and_(
                exp.Is(this=paren(this.node.copy()), expression=exp.Null()),
                exp.Is(this=paren(rest[i].node.copy()), expression=exp.Null()),
                copy=False,
            )
            tests.append(exp.Paren(this=exp.or_(same, exp.Paren(this=none), copy=False)))
    results = [rest[i + 1] for i in range(0, len(rest) - 1, 2)]
    return choose(tr, tests, results, rest[-1] if len(rest) % 2 else None)


def _nullif(tr: Expressions, args: list[Value]) -> Value:
    same = tr.compare(exp.EQ, args[0], args[1])
    if args[0].literal is not None:
        refuse("NULLIF of a literal")
    return Value(exp.Case(ifs=[exp.If(this=same, true=exp.Null())], default=args[0].node), args[0].type)


def _extreme(name: str) -> Function:
    """Translate GREATEST and LEAST, which are NULL if an argument is."""

    def function(tr: Expressions, args: list[Value]) -> Value:
        if any(is_text(a.type) or a.literal is not None for a in args):
            refuse(f"{name} of texts")
        nodes, t = tr.values.common(args)
        tests = [
            exp.Is(this=paren(n.copy()), expression=exp.Null())
            for n in nodes
            if not isinstance(n, exp.Literal)
        ]
        found = call(name, *nodes)
        if not tests:
            return Value(found, t)
        return Value(
            exp.Case(ifs=[exp.If(this=exp.or_(*tests, copy=False), true=exp.Null())], default=found), t
        )

    return function


# ---- texts ----------------------------------------------------------------------------------------------------
def _same(name: str) -> Function:
    """Translate a function of a text whose result is as wide."""

    def function(tr: Expressions, args: list[Value]) -> Value:
        value = tr.values.text(args[0], name)
        return Value(call(name, value.node), _varying(value), width=value.width)

    return function


def _trimming(side: str) -> Function:
    def function(tr: Expressions, args: list[Value]) -> Value:
        value = tr.values.text(args[0], "TRIM")
        return Value(tr.target.trim(value.node, side), _varying(value))

    return function


def _initcap(tr: Expressions, args: list[Value]) -> Value:
    if tr.target.name != "postgres":
        refuse("INITCAP, which separates words differently")
    return _same("INITCAP")(tr, args)


def _reverse(tr: Expressions, args: list[Value]) -> Value:
    value = tr.values.text(args[0], "REVERSE")
    return Value(call("REVERSE", value.node), _varying(value))


def _length(tr: Expressions, args: list[Value]) -> Value:
    value = tr.values.text(args[0], "LENGTH")
    node = value.node if value.width else tr.target.trimmed(value.node)
    return Value(call("LENGTH", node), _INTEGER)


def _char_length(tr: Expressions, args: list[Value]) -> Value:
    value = tr.values.text(args[0], "CHAR_LENGTH")
    needs_type(value, "CHAR_LENGTH")
    if value.width:
        there = exp.Not(this=exp.Paren(this=exp.Is(this=paren(value.node), expression=exp.Null())))
        return Value(exp.Case(ifs=[exp.If(this=there, true=number(value.width))]), _INTEGER)
    return Value(call("LENGTH", value.node), _INTEGER)


def _integer_argument(value: Value, what: str) -> int:
    if value.constant is None or value.constant != int(value.constant):
        refuse(f"{what} that is no number")
    return int(value.constant)


def _substr(tr: Expressions, args: list[Value]) -> Value:
    value = tr.values.text(args[0], "SUBSTR")
    start = _integer_argument(args[1], "SUBSTR with a position")
    if start < 1:
        refuse("SUBSTR with a position below 1")
    size = None
    if len(args) > 2:
        length = _integer_argument(args[2], "SUBSTR with a length")
        if length < 0:
            refuse("SUBSTR with a length below 0")
        size = number(length)
    return Value(tr.target.substring(value.node, number(start), size), _varying(value))


def _side(name: str) -> Function:
    def function(tr: Expressions, args: list[Value]) -> Value:
        value = tr.values.text(args[0], name)
        count = _integer_argument(args[1], f"{name} with a length")
        if count < 0:
            refuse(f"{name} with a length below 0")
        if name == "RIGHT" and tr.target.name == "spark" and not count:
            refuse("RIGHT with a length of 0")
        return Value(call(name, value.node, count), _varying(value))

    return function


def _pad(side: str) -> Function:
    def function(tr: Expressions, args: list[Value]) -> Value:
        value = tr.values.text(args[0], f"{side}PAD")
        width = _integer_argument(args[1], f"{side}PAD with a width")
        fill = " " if len(args) < 3 else args[2].literal
        if not fill or width < 0:
            refuse(f"{side}PAD with an empty text, or one that is no literal")
        kind = ColumnType.varchar(width) if 0 < width <= 255 else ColumnType.lvarchar(max(1, width))
        return Value(tr.target.pad(side, value.node, number(width), string(fill)), kind)

    return function


def _replace(tr: Expressions, args: list[Value]) -> Value:
    value = tr.values.text(args[0], "REPLACE")
    if not args[1].literal or (len(args) > 2 and args[2].literal is None):
        refuse("REPLACE of texts that are no literals")
    new = args[2].literal if len(args) > 2 else ""
    return Value(call("REPLACE", value.node, args[1].literal, new or ""), ColumnType.lvarchar(32739))


def _instr(tr: Expressions, args: list[Value]) -> Value:
    value, part = tr.values.text(args[0], "INSTR"), args[1]
    if not part.literal:
        refuse("INSTR of a text that is no literal")
    return Value(tr.target.position(value.node, string(part.literal)), _INTEGER)


def _charindex(tr: Expressions, args: list[Value]) -> Value:
    return _instr(tr, [args[1], args[0]])


def _space(tr: Expressions, args: list[Value]) -> Value:
    count = _integer_argument(args[0], "SPACE with a length")
    return Value(string(" " * count), ColumnType.varchar(max(1, min(count, 255))), literal=" " * count)


def _ascii(tr: Expressions, args: list[Value]) -> Value:
    return Value(call("ASCII", tr.values.text(args[0], "ASCII").node), _INTEGER)


def _chr(tr: Expressions, args: list[Value]) -> Value:
    code = _integer_argument(args[0], "CHR of a value")
    if not 1 <= code < 128:
        refuse("CHR of a number above 127")
    return Value(string(chr(code)), ColumnType.varchar(1), literal=chr(code))


# ---- numbers --------------------------------------------------------------------------------------------------
def _number(tr: Expressions, value: Value, what: str) -> Value:
    needs_type(value, what)
    if value.null or not is_number(value.type):
        refuse(f"{what} of what is no number")
    return value


def _abs(tr: Expressions, args: list[Value]) -> Value:
    value = args[0]
    if not value.unknown:
        _number(tr, value, "ABS")
    return Value(call("ABS", value.node), value.type)


def _mod(tr: Expressions, args: list[Value]) -> Value:
    nodes = []
    for value in args:
        _number(tr, value, "MOD")
        assert value.type is not None
        if value.type.code in FLOATS:
            refuse("MOD of a FLOAT")
        nodes.append(
            value.node if value.type.code in INTEGERS else tr.values.number_as(value, ColumnType.bigint())
        )
    long = any(
        v.type is not None and v.type.code not in (TypeCode.INTEGER, TypeCode.SMALLINT, TypeCode.SERIAL)
        for v in args
    )
    kind = ColumnType.bigint() if long else _INTEGER
    if tr.target.name == "duckdb":
        zero = exp.EQ(this=paren(nodes[1].copy()), expression=number(0))
        failed = call("ERROR", "Informix error -1202: an attempt was made to divide by zero.")
        return Value(exp.Case(ifs=[exp.If(this=zero, true=failed)], default=call("MOD", *nodes)), kind)
    return Value(call("MOD", *nodes), kind)


def _rounding(name: str) -> Function:
    def function(tr: Expressions, args: list[Value]) -> Value:
        value = args[0]
        if value.literal is not None or value.null:
            refuse(f"{name} of a literal text")
        if is_moment(value.type):
            return _moment_rounding(tr, name, args)
        digits = _integer_argument(args[1], f"{name} with a number of digits") if len(args) > 1 else 0
        if value.unknown and len(args) > 1 and tr.target.name == "postgres":
            return Value(call(name, value.node, digits))  # it has no ROUND of a FLOAT or a date with digits
        needs_type(value, name)
        _number(tr, value, name)
        t = value.type
        assert t is not None
        if t.code in FLOATS:
            refuse(f"{name} of a FLOAT, as the databases round binary fractions differently")
        if t.code in DECIMALS and t.scale is None and not tr.target.has_floating_decimal:
            refuse(f"{name} of a DECIMAL without a scale")
        if t.code in INTEGERS:
            if digits >= 0:
                return value
            refuse(f"{name} of an integer with {digits} digits")
        if digits < 0:
            refuse(f"{name} with {digits} digits")
        if t.scale is not None and digits >= t.scale:
            return Value(value.node, t)
        if name == "TRUNC":
            return Value(tr.target.truncated(value.node, digits), t)
        return Value(call("ROUND", value.node, digits), t)

    return function


_CUTS = {
    "YEAR": "YEAR",
    "YYYY": "YEAR",
    "MONTH": "MONTH",
    "MON": "MONTH",
    "MM": "MONTH",
    "DD": "DAY",
    "DDD": "DAY",
    "HH": "HOUR",
    "HH24": "HOUR",
    "MI": "MINUTE",
    "Q": "QUARTER",
}


def _moment_rounding(tr: Expressions, name: str, args: list[Value]) -> Value:
    """Translate TRUNC of a date to a unit."""
    value, t = args[0], args[0].type
    assert t is not None
    if name == "ROUND" or kind_of(t) == "TIME":
        refuse(f"{name} of {t.sql}")
    word = "DD" if len(args) < 2 else (args[1].literal or "").strip().upper()
    unit = _CUTS.get(word) or refuse(f"TRUNC of a date to {word!r}")
    if len(args) < 2:
        return Value(tr.values.moment_as(value, "DATE"), ColumnType.date())
    if kind_of(t) == "DATE" and unit in ("HOUR", "MINUTE", "DAY"):
        return value
    found = tr.target.cut(tr.values.moment_as(value, "TIMESTAMP"), unit)
    return Value(tr.target.cast(found, kind_of(t)), t)


def _whole(name: str) -> Function:
    def function(tr: Expressions, args: list[Value]) -> Value:
        value = args[0]
        if value.unknown:
            return Value(call(name, value.node))
        _number(tr, value, name)
        if value.type is not None and value.type.code in INTEGERS:
            return value
        return Value(
            call(name, value.node),
            ColumnType.decimal(32, 0) if value.type and value.type.code in DECIMALS else ColumnType.float_(),
        )

    return function


def _sign(tr: Expressions, args: list[Value]) -> Value:
    return Value(tr.target.cast(call("SIGN", _number(tr, args[0], "SIGN").node), "INT"), _INTEGER)


def _float(name: str) -> Function:
    def function(tr: Expressions, args: list[Value]) -> Value:
        nodes = []
        for value in args:
            if value.literal is not None:
                refuse(f"{name} of a text")
            if not value.unknown:
                _number(tr, value, name)
            nodes.append(
                value.node
                if value.type is not None and value.type.code == TypeCode.FLOAT
                else tr.target.cast(value.node, "DOUBLE")
            )
        return Value(call(name, *nodes), ColumnType.float_())

    return function


def _log10(tr: Expressions, args: list[Value]) -> Value:
    if tr.target.name == "snowflake":
        return Value(call("LOG", 10, _float("LOG10")(tr, args).node.expressions[0]), ColumnType.float_())
    return _float("LOG10")(tr, args)


def _domain(function: Function, name: str) -> Function:
    """Refuse a target that returns a value where Informix fails: DuckDB and Spark do for LN, LOG10 and SQRT."""

    def checked(tr: Expressions, args: list[Value]) -> Value:
        if tr.target.name == "spark":
            refuse(f"{name}, which is NULL or NaN in spark where Informix fails")
        return function(tr, args)

    return checked


def _bits(kind: type[exp.Expression]) -> Function:
    def function(tr: Expressions, args: list[Value]) -> Value:
        if tr.target.name == "snowflake":
            refuse("functions of bits")
        for value in args:
            needs_type(value, "a function of bits")
            if value.type is None or value.type.code not in INTEGERS:
                refuse("a function of bits of what is no integer")
        long = any(v.type is not None and v.type.code in LONGS for v in args)
        return Value(
            exp.Paren(this=binary(kind, args[0].node, args[1].node)),
            ColumnType.bigint() if long else _INTEGER,
        )

    return function


# ---- dates ----------------------------------------------------------------------------------------------------
def _part(unit: str) -> Function:
    def function(tr: Expressions, args: list[Value]) -> Value:
        return Value(tr.target.part(unit, tr.values.date_of(args[0], unit).node), ColumnType.smallint())

    return function


def _weekday(tr: Expressions, args: list[Value]) -> Value:
    return Value(tr.target.weekday(tr.values.date_of(args[0], "WEEKDAY").node), ColumnType.smallint())


def _mdy(tr: Expressions, args: list[Value]) -> Value:
    if all(a.constant is not None for a in args):
        month, day, year = (_integer_argument(a, "MDY") for a in args)
        return tr.values.literal_as(f"{year:04d}-{month:02d}-{day:02d}", ColumnType.date())
    nodes = []
    for value in args:
        if not value.unknown:
            _number(tr, value, "MDY")
        whole = value.unknown or (value.type is not None and value.type.code in INTEGERS)
        nodes.append(value.node if whole else tr.values.number_as(value, _INTEGER))
    return Value(tr.target.make_date(nodes[2], nodes[0], nodes[1]), ColumnType.date())


def _date(tr: Expressions, args: list[Value]) -> Value:
    value = args[0]
    if value.literal is None and not is_moment(value.type):
        needs_type(value, "DATE")
        refuse(f"DATE of {value.type.sql if value.type else 'NULL'}")
    return Value(tr.values.moment_as(tr.values.date_of(value, "DATE"), "DATE"), ColumnType.date())


def _add_months(tr: Expressions, args: list[Value]) -> Value:
    """Translate ADD_MONTHS. The last day of a month stays the last day."""
    value = tr.values.date_of(args[0], "ADD_MONTHS")
    needs_type(value, "ADD_MONTHS")
    assert value.type is not None
    if kind_of(value.type) != "DATE":
        refuse(f"ADD_MONTHS of {value.type.sql}")
    needs_type(args[1], "ADD_MONTHS")
    if args[1].type is None or args[1].type.code not in INTEGERS:
        refuse("ADD_MONTHS with a number of months that is no integer")
    shifted = tr.target.shifted(value.node, args[1].node, "MONTH", "DATE")
    at_end = exp.EQ(this=tr.target.last_day(value.node.copy()), expression=value.node.copy())
    found = exp.Case(ifs=[exp.If(this=at_end, true=tr.target.last_day(shifted.copy()))], default=shifted)
    return Value(found, value.type)


def _last_day(tr: Expressions, args: list[Value]) -> Value:
    value = tr.values.date_of(args[0], "LAST_DAY")
    if value.type is None or kind_of(value.type) != "DATE":
        needs_type(value, "LAST_DAY")
        refuse("LAST_DAY of a DATETIME")
    return Value(tr.target.last_day(value.node), value.type)


_DIRECTIVE = re.compile(r"%(.)", re.DOTALL)
_WORDS = (
    ("YYYY", "Y"),
    ("HH24", "H"),
    ("HH12", "I"),
    ("MM", "m"),
    ("DD", "d"),
    ("MI", "M"),
    ("SS", "S"),
    ("YY", "y"),
    ("HH", "I"),
)
_SHORT = {"D": "%m/%d/%y", "T": "%H:%M:%S", "R": "%H:%M"}


def format_pieces(layout: str) -> list[tuple[bool, str]]:
    """Split a format into directives (True, their letters) and texts."""
    pieces: list[tuple[bool, str]] = []
    if "%" in layout:
        for word, meaning in _SHORT.items():
            layout = layout.replace(f"%{word}", meaning)
        at = 0
        for found in _DIRECTIVE.finditer(layout):
            pieces += [(False, layout[at : found.start()]), (True, found[1])]
            at = found.end()
        return [p for p in [*pieces, (False, layout[at:])] if p[1]]
    upper, at = layout.upper(), 0
    while at < len(layout):
        for word, letter in _WORDS:
            if upper.startswith(word, at):
                pieces.append((True, letter))
                at += len(word)
                break
        else:
            if layout[at].isalpha():
                refuse(f"the format {layout!r}")
            pieces.append((False, layout[at]))
            at += 1
    return pieces


def _to_char(tr: Expressions, args: list[Value]) -> Value:
    value = args[0]
    needs_type(value, "TO_CHAR")
    if len(args) < 2:
        if is_text(value.type) or value.literal is not None:
            return value
        assert value.type is not None
        return tr.values.cast(value, ColumnType.varchar(40))
    if not is_moment(value.type) or args[1].literal is None:
        refuse("TO_CHAR with a format, except of a date with a literal format")
    assert value.type is not None
    if kind_of(value.type) == "TIME":
        refuse("TO_CHAR of a DATETIME without a date")
    node = value.node if tr.target.name != "bigquery" else tr.values.moment_as(value, "TIMESTAMP")
    return Value(tr.target.format(node, format_pieces(args[1].literal)), ColumnType.varchar(255))


def _to_date(tr: Expressions, args: list[Value]) -> Value:
    value, layout = tr.values.text(args[0], "TO_DATE"), args[1].literal
    if layout is None:
        refuse("TO_DATE with a format that is no literal")
    pieces = format_pieces(layout)
    if any(directive and piece not in "YmdHMS" for directive, piece in pieces):
        refuse(f"TO_DATE with the format {layout!r}")
    node = tr.target.trim(value.node)
    return Value(tr.target.parse(node, pieces), ColumnType.datetime("YEAR TO FRACTION(5)"))


# ---- statistics -----------------------------------------------------------------------------------------------
def spread(tr: Expressions, name: str, items: list[Node], scope: Scope) -> Value | None:
    """Translate STDEV, VARIANCE and RANGE. Return None for other names."""
    if name not in ("stdev", "variance", "range"):
        return None
    if len(items) != 1 or isinstance(items[0], exp.Distinct):
        refuse(f"{name.upper()} of DISTINCT values")
    value = _number(tr, tr.value(items[0], _without_groups(scope)), name.upper())
    if name == "range":
        span = binary(exp.Sub, exp.Max(this=value.node), exp.Min(this=value.node.copy()))
        return Value(exp.Paren(this=span), replace(value, width=0).type)
    word = {"stdev": "STDDEV_POP", "variance": "VAR_POP"}[name]
    return Value(call(word, tr.target.cast(value.node, "DOUBLE")), ColumnType.float_())


FUNCTIONS: dict[str, tuple[int, int, Function]] = {
    "nvl": (2, 2, _coalesce),
    "coalesce": (1, 64, _coalesce),
    "nvl2": (3, 3, _nvl2),
    "decode": (3, 129, _decode),
    "nullif": (2, 2, _nullif),
    "greatest": (1, 64, _extreme("GREATEST")),
    "least": (1, 64, _extreme("LEAST")),
    "upper": (1, 1, _same("UPPER")),
    "lower": (1, 1, _same("LOWER")),
    "initcap": (1, 1, _initcap),
    "reverse": (1, 1, _reverse),
    "trim": (1, 1, _trimming("")),
    "ltrim": (1, 1, _trimming("LEADING")),
    "rtrim": (1, 1, _trimming("TRAILING")),
    "length": (1, 1, _length),
    "len": (1, 1, _length),
    "char_length": (1, 1, _char_length),
    "character_length": (1, 1, _char_length),
    "substr": (2, 3, _substr),
    "substring": (2, 3, _substr),
    "left": (2, 2, _side("LEFT")),
    "right": (2, 2, _side("RIGHT")),
    "lpad": (2, 3, _pad("L")),
    "rpad": (2, 3, _pad("R")),
    "replace": (2, 3, _replace),
    "concat": (2, 2, joined),
    "instr": (2, 2, _instr),
    "charindex": (2, 2, _charindex),
    "space": (1, 1, _space),
    "ascii": (1, 1, _ascii),
    "chr": (1, 1, _chr),
    "abs": (1, 1, _abs),
    "mod": (2, 2, _mod),
    "round": (1, 2, _rounding("ROUND")),
    "trunc": (1, 2, _rounding("TRUNC")),
    "ceil": (1, 1, _whole("CEIL")),
    "floor": (1, 1, _whole("FLOOR")),
    "sign": (1, 1, _sign),
    "sqrt": (1, 1, _domain(_float("SQRT"), "SQRT")),
    "ln": (1, 1, _domain(_float("LN"), "LN")),
    "logn": (1, 1, _domain(_float("LN"), "LOGN")),
    "log10": (1, 1, _domain(_log10, "LOG10")),
    "exp": (1, 1, _float("EXP")),
    "pow": (2, 2, _float("POWER")),
    "power": (2, 2, _float("POWER")),
    **{
        name: (1, 1, _float(name.upper()))
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "degrees", "radians")
    },
    "atan2": (2, 2, _float("ATAN2")),
    "bitand": (2, 2, _bits(exp.BitwiseAnd)),
    "bitor": (2, 2, _bits(exp.BitwiseOr)),
    "year": (1, 1, _part("YEAR")),
    "month": (1, 1, _part("MONTH")),
    "day": (1, 1, _part("DAY")),
    "quarter": (1, 1, _part("QUARTER")),
    "weekday": (1, 1, _weekday),
    "mdy": (3, 3, _mdy),
    "date": (1, 1, _date),
    "add_months": (2, 2, _add_months),
    "last_day": (1, 1, _last_day),
    "to_char": (1, 2, _to_char),
    "to_date": (2, 2, _to_date),
}


def translate_call(tr: Expressions, node: Node, scope: Scope) -> Value:
    """Translate `name(...)`."""
    name, items = node.name.lower(), list(node.expressions)
    found = spread(tr, name, items, scope)
    if found is not None:
        return found
    handler = FUNCTIONS.get(name)
    if handler is None:
        refuse(f"the function {name.upper()}")
    low, high, function = handler
    if not low <= len(items) <= high:
        refuse(f"{name.upper()} with {len(items)} arguments")
    return function(tr, [tr.value(item, scope) for item in items])
