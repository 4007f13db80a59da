"""Built-in functions of strings."""

from __future__ import annotations

from ....wire.types import ColumnType
from ...errors import SqlError
from ...types.nested_types import is_simple_large
from ...types.quoting import quote_string
from ...types.result_types import (
    DECIMALS,
    INTEGERS,
    LONGEST_TEXT,
    LONGS,
    PADDED,
    character,
    is_character,
    text_type,
    without_serial,
)
from ..scope import TypedExpression
from ..values.casts import Values
from ..values.letter_case import NONCHARACTERS, uncased
from ..values.text_limits import bounded_count
from ..values.text_truncation import byte_length, has_wide_characters, padded_sql
from .handler import FunctionTable, FunctionTranslator

_MAX_REPEATED_CHARS = 200


def text_argument(v: Values, ex: TypedExpression) -> TypedExpression:
    ex = v.ctx.hint(ex, character(255))
    return ex if ex.type is None or is_character(ex.type) else v.cast(ex, text_type(ex.type))


def width(ex: TypedExpression) -> int:
    return ex.type.content_width if ex.type is not None and is_character(ex.type) else 255


def _character_count(v: Values, ex: TypedExpression) -> TypedExpression:
    """Return a number of characters. A text is cast like anywhere else, as DuckDB would accept '0x10' and '1_000'."""
    n = v.ctx.as_count(ex)
    return v.cast(n, ColumnType.bigint()) if n.type is not None and is_character(n.type) else n


def _integer_argument(v: Values, ex: TypedExpression) -> str:
    return f"CAST({_character_count(v, ex).sql} AS BIGINT)"


def _same_width(duck: str) -> FunctionTranslator:
    """Translate a function of one text, or of a text and a set of characters, whose result is as wide as the text."""

    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        texts = [text_argument(v, args[0]), *(text_argument(v, a) for a in args[1:])]
        t = texts[0].type if len(args) == 1 else character(width(texts[0]))
        return TypedExpression(
            f"{duck}({', '.join(a.sql for a in texts)})",
            without_serial(t) if t is not None else character(255),
        )

    return handler


def _change_case(duck: str) -> FunctionTranslator:
    """Translate UPPER and LOWER. Letters without another case in the code set bypass DuckDB's function."""

    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        value = text_argument(v, args[0])
        t = without_serial(value.type) if value.type is not None else character(255)
        unchanged = uncased(v.ctx.codec, duck == "upper")
        if not unchanged:
            return TypedExpression(f"{duck}({value.sql})", t, source=_with_blanks(value))
        letters, instead = quote_string(unchanged), quote_string(NONCHARACTERS[: len(unchanged)])
        sql = f"translate({duck}(translate({value.sql}, {letters}, {instead})), {instead}, {letters})"
        # ASCII has no such letters, but the check repeats the SQL three times
        if len(value.sql) <= _MAX_REPEATED_CHARS:
            sql = f"(CASE WHEN strlen({value.sql}) = length({value.sql}) THEN {duck}({value.sql}) ELSE {sql} END)"
        return TypedExpression(sql, t, source=_with_blanks(value))

    return handler


def _with_blanks(ex: TypedExpression) -> ColumnType | None:
    """Return the type of a CHAR column, for a function that keeps its trailing blanks, which storage has removed."""
    return ex.source if ex.source is not None and ex.source.code in PADDED else None


def _declared_length(ex: TypedExpression) -> int:
    """Return the bytes of a CHAR column with its trailing blanks, which storage has removed. 0 for other types."""
    return ex.source.encoded_length if ex.source is not None and ex.source.code in PADDED else 0


def _length(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate LENGTH: bytes without trailing blanks."""
    if is_simple_large(args[0].type):
        return TypedExpression(f"CAST(octet_length({args[0].sql}) AS INTEGER)", ColumnType.integer())
    ex = text_argument(v, args[0])
    value = v.trimmed(ex) if ex.param < 0 else ex.sql
    return TypedExpression(f"CAST({byte_length(value, v.ctx.codec)} AS INTEGER)", ColumnType.integer())


def _octet_length(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate OCTET_LENGTH: bytes with trailing blanks."""
    if is_simple_large(args[0].type):
        return TypedExpression(f"CAST(octet_length({args[0].sql}) AS INTEGER)", ColumnType.integer())
    ex = text_argument(v, args[0])
    declared = _declared_length(ex)
    if declared:
        return TypedExpression(f"(CASE WHEN {ex.sql} IS NOT NULL THEN {declared} END)", ColumnType.integer())
    return TypedExpression(f"CAST({byte_length(ex.sql, v.ctx.codec)} AS INTEGER)", ColumnType.integer())


def _char_length(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate CHAR_LENGTH: characters with trailing blanks."""
    ex = text_argument(v, args[0])
    declared = _declared_length(ex)
    if declared:  # blanks fill the bytes that its characters leave
        sql = f"(length({ex.sql}) + greatest(0, {declared} - {byte_length(ex.sql, v.ctx.codec)}))"
        return TypedExpression(f"CAST({sql} AS INTEGER)", ColumnType.integer())
    return TypedExpression(f"CAST(length({ex.sql}) AS INTEGER)", ColumnType.integer())


def _substr(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate SUBSTR(x, start [, length]). A negative start counts from the end, in a CHAR from the end of its
    blanks."""
    value, start = text_argument(v, args[0]), _integer_argument(v, args[1])
    sql = value.sql
    if (
        value.source is not None
        and value.source.code in PADDED
        and not (args[1].is_number_literal and "-" not in start)
    ):
        sql = padded_sql(sql, value.source.encoded_length, v.ctx.codec)
    count = f", greatest(0, {_integer_argument(v, args[2])})" if len(args) > 2 else ""
    return TypedExpression(f"substr({sql}, {start}{count})", character(width(value)))


def substring(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate SUBSTRING(x FROM start FOR length). Positions before the first character count but are empty."""
    value, start = text_argument(v, args[0]), _integer_argument(v, args[1])
    if len(args) < 3:
        return TypedExpression(f"substr({value.sql}, greatest(1, {start}))", character(width(value)))
    count = f"greatest(0, {_integer_argument(v, args[2])} + least(0, {start} - 1))"
    return TypedExpression(f"substr({value.sql}, greatest(1, {start}), {count})", character(width(value)))


def _substrb(v: Values, args: list[TypedExpression]) -> TypedExpression:
    if "mb" not in v.ctx.codec and byte_length("x", v.ctx.codec) == "length(x)":
        return _substr(v, args)
    value = text_argument(v, args[0])
    start, codec = _integer_argument(v, args[1]), quote_string(v.ctx.codec)
    count = _integer_argument(v, args[2]) if len(args) > 2 else "NULL"
    sql = f"_ifx_bytes_of({value.sql}, {start}, coalesce({count}, 2147483647), {codec})"
    return TypedExpression(sql, character(width(value)))


def _left_or_right(duck: str) -> FunctionTranslator:
    """Translate LEFT and RIGHT."""

    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        value = text_argument(v, args[0])
        return TypedExpression(
            f"{duck}({value.sql}, greatest(0, {_integer_argument(v, args[1])}))", character(width(value))
        )

    return handler


def _pad(duck: str) -> FunctionTranslator:
    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        value = text_argument(v, args[0])
        n = _character_count(v, args[1])
        fill = text_argument(v, args[2]).sql if len(args) > 2 else "' '"
        count, wide = bounded_count(n)
        if has_wide_characters(v.ctx.codec):  # the additional bytes that characters beyond ASCII may take
            filling = fill if len(args) > 2 and not fill.isascii() else ""
            wide += min(3 * wide, (0 if value.literal else width(value)) + (3 * wide if filling else 0))
        sql = f"{duck}({value.sql}, {count}, {fill})"
        if len(args) > 2 and not args[2].literal:  # DuckDB rejects an empty fill text
            sql = f"(CASE WHEN {fill} = '' THEN left({value.sql}, {count}) ELSE {sql} END)"
        return TypedExpression(sql, character(wide))

    return handler


def _space(v: Values, args: list[TypedExpression]) -> TypedExpression:
    n = _character_count(v, args[0])
    count, wide = bounded_count(n)
    return TypedExpression(f"repeat(' ', {count})", character(wide))


def _replace(v: Values, args: list[TypedExpression]) -> TypedExpression:
    value, old = text_argument(v, args[0]), text_argument(v, args[1])
    new = text_argument(v, args[2]) if len(args) > 2 else None
    known = value.param < 0 and (new is None or bool(new.literal))
    grow = width(value) * (width(new) if new is not None else 1)
    function = "replace" if known and grow <= LONGEST_TEXT else "_ifx_replaced"
    sql = f"{function}({value.sql}, {old.sql}, {new.sql if new is not None else quote_string('')})"
    return TypedExpression(sql, character(max(255, grow)))


def _concat(v: Values, args: list[TypedExpression]) -> TypedExpression:
    return v.joined(*args)


def _initcap(v: Values, args: list[TypedExpression]) -> TypedExpression:
    value = text_argument(v, args[0])
    t = without_serial(value.type) if value.type is not None else character(255)
    return TypedExpression(f"_ifx_initcap({value.sql})", t, source=_with_blanks(value))


def _instr(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate INSTR(source, part [, start [, count]])."""
    source, part = text_argument(v, args[0]), text_argument(v, args[1])
    if len(args) == 2:
        return TypedExpression(f"CAST(instr({source.sql}, {part.sql}) AS INTEGER)", ColumnType.integer())
    count = _integer_argument(v, args[3]) if len(args) > 3 else "1"
    return TypedExpression(
        f"_ifx_instr({source.sql}, {part.sql}, {_integer_argument(v, args[2])}, {count})",
        ColumnType.integer(),
    )


def _charindex(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate CHARINDEX(part, source [, start])."""
    return _instr(v, [args[1], args[0], *args[2:]])


def _substring_index(v: Values, args: list[TypedExpression]) -> TypedExpression:
    source, part = text_argument(v, args[0]), text_argument(v, args[1])
    sql = f"_ifx_substring_index({source.sql}, {part.sql}, {_integer_argument(v, args[2])})"
    return TypedExpression(sql, character(width(source)))


def _ascii(v: Values, args: list[TypedExpression]) -> TypedExpression:
    return TypedExpression(f"ascii({text_argument(v, args[0]).sql})", ColumnType.integer())


def _chr(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate CHR: the character of a number from 1 to 255, -1214 for others."""
    ex = _character_count(v, args[0])
    ascii_only = ex.is_number_literal and ex.sql.isdigit() and int(ex.sql) < 128
    wide = 2 if has_wide_characters(v.ctx.codec) and not ascii_only else 1
    number = f"CAST({ex.sql} AS BIGINT)"
    sql = (
        f"(CASE WHEN {number} BETWEEN 1 AND 255 THEN chr(CAST({number} AS INTEGER)) "
        f"WHEN {number} IS NOT NULL THEN error('IFX-1214') END)"
    )
    return TypedExpression(sql, character(wide))


def _hex(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate HEX of an integer: 8 digits, 16 for eight-byte types and for a DECIMAL of scale 0."""
    a = v.ctx.as_integer(args[0])
    if a.type is not None and a.type.code in DECIMALS and a.type.scale == 0:
        a = v.cast(a, ColumnType.bigint())
    if a.type is None or a.type.code not in INTEGERS:
        raise SqlError(-1260, 0, 0, "hex")
    digits, mask = (16, 2**64 - 1) if a.type.code in LONGS else (8, 2**32 - 1)
    bits = f"CAST({a.sql} AS HUGEINT)"
    sql = f"'0x' || lpad(hex(CASE WHEN {bits} < 0 THEN {bits} + {mask + 1} ELSE {bits} END), {digits}, '0')"
    return TypedExpression(f"({sql})", character(digits + 2))


FUNCTIONS: FunctionTable = {
    "upper": (1, 1, _change_case("upper")),
    "lower": (1, 1, _change_case("lower")),
    "initcap": (1, 1, _initcap),
    "trim": (1, 1, _same_width("trim")),
    "ltrim": (1, 2, _same_width("ltrim")),
    "rtrim": (1, 2, _same_width("rtrim")),
    "reverse": (1, 1, _same_width("reverse")),
    "length": (1, 1, _length),
    "len": (1, 1, _length),
    "octet_length": (1, 1, _octet_length),
    "char_length": (1, 1, _char_length),
    "character_length": (1, 1, _char_length),
    "substr": (2, 3, _substr),
    "substring": (2, 3, substring),
    "substrb": (2, 3, _substrb),
    "substring_index": (3, 3, _substring_index),
    "left": (2, 2, _left_or_right("left")),
    "right": (2, 2, _left_or_right("right")),
    "replace": (2, 3, _replace),
    "lpad": (2, 3, _pad("lpad")),
    "rpad": (2, 3, _pad("rpad")),
    "space": (1, 1, _space),
    "concat": (2, 2, _concat),
    "instr": (2, 4, _instr),
    "charindex": (2, 3, _charindex),
    "ascii": (1, 1, _ascii),
    "chr": (1, 1, _chr),
    "hex": (1, 1, _hex),
}
