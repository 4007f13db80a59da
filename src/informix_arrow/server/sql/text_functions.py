"""Built-in functions of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.types import ColumnType
from ..errors import SqlError
from .assignments import byte_length
from .context import Ex
from .names import text
from .nested_sql import function
from .nested_types import is_simple_large
from .number_functions import Handler
from .result_types import INTEGERS, LONGS, PADDED, character, is_character, plain, text_type

if TYPE_CHECKING:
    from .expressions import ExpressionTranslator


def text_arg(tr: ExpressionTranslator, ex: Ex) -> Ex:
    ex = tr.ctx.hint(ex, character(255))
    return ex if ex.type is None or is_character(ex.type) else tr.cast(ex, text_type(ex.type))


def width(ex: Ex) -> int:
    return ex.type.content_width if ex.type is not None and is_character(ex.type) else 255


def _whole(tr: ExpressionTranslator, ex: Ex) -> str:
    return f"CAST({tr.ctx.hint(ex, ColumnType.integer()).sql} AS BIGINT)"


def _same_width(duck: str) -> Handler:
    """A function of one text, or of a text and a set of characters, as wide as that text."""

    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        texts = [text_arg(tr, args[0]), *(text_arg(tr, a) for a in args[1:])]
        t = texts[0].type if len(args) == 1 else character(width(texts[0]))
        return Ex(f"{duck}({', '.join(a.sql for a in texts)})", plain(t) if t is not None else character(255))

    return handler


def _declared_length(ex: Ex) -> int:
    """Bytes of a CHAR column with its blanks, which storage has cut off; 0 for all others."""
    return ex.source.encoded_length if ex.source is not None and ex.source.code in PADDED else 0


def _length(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    """LENGTH: bytes without trailing blanks."""
    if is_simple_large(args[0].type):
        return Ex(f"CAST(octet_length({args[0].sql}) AS INTEGER)", ColumnType.integer())
    ex = text_arg(tr, args[0])
    value = tr.ctx.trimmed(ex) if ex.param < 0 else ex.sql
    return Ex(f"CAST({byte_length(value, tr.ctx.codec)} AS INTEGER)", ColumnType.integer())


def _octet_length(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    """OCTET_LENGTH: bytes with trailing blanks."""
    if is_simple_large(args[0].type):
        return Ex(f"CAST(octet_length({args[0].sql}) AS INTEGER)", ColumnType.integer())
    ex = text_arg(tr, args[0])
    declared = _declared_length(ex)
    if declared:
        return Ex(f"(CASE WHEN {ex.sql} IS NOT NULL THEN {declared} END)", ColumnType.integer())
    return Ex(f"CAST({byte_length(ex.sql, tr.ctx.codec)} AS INTEGER)", ColumnType.integer())


def _char_length(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    """CHAR_LENGTH: characters with trailing blanks."""
    ex = text_arg(tr, args[0])
    declared = _declared_length(ex)
    if declared:  # what the bytes of its characters leave is blanks
        sql = f"(length({ex.sql}) + greatest(0, {declared} - {byte_length(ex.sql, tr.ctx.codec)}))"
        return Ex(f"CAST({sql} AS INTEGER)", ColumnType.integer())
    return Ex(f"CAST(length({ex.sql}) AS INTEGER)", ColumnType.integer())


def substring(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    """SUBSTR(x, start [, length]); a negative start counts from the end."""
    value = text_arg(tr, args[0])
    return Ex(f"substr({value.sql}, {', '.join(_whole(tr, a) for a in args[1:])})", character(width(value)))


def _substrb(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    if "mb" not in tr.ctx.codec and byte_length("x", tr.ctx.codec) == "length(x)":
        return substring(tr, args)
    value = text_arg(tr, args[0])
    count = _whole(tr, args[2]) if len(args) > 2 else "NULL"
    sql = f"_ifx_bytes_of({value.sql}, {_whole(tr, args[1])}, coalesce({count}, 2147483647), {text(tr.ctx.codec)})"
    return Ex(sql, character(width(value)))


def _end(duck: str) -> Handler:
    """LEFT and RIGHT."""

    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        value = text_arg(tr, args[0])
        return Ex(f"{duck}({value.sql}, greatest(0, {_whole(tr, args[1])}))", character(width(value)))

    return handler


def _pad(duck: str) -> Handler:
    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        value = text_arg(tr, args[0])
        n = tr.ctx.hint(args[1], ColumnType.integer())
        fill = text_arg(tr, args[2]).sql if len(args) > 2 else "' '"
        wide = int(n.sql) if n.number and n.sql.isdigit() else 255
        return Ex(f"{duck}({value.sql}, CAST({n.sql} AS INTEGER), {fill})", character(wide))

    return handler


def _space(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    n = tr.ctx.hint(args[0], ColumnType.integer())
    wide = int(n.sql) if n.number and n.sql.isdigit() else 255
    return Ex(f"repeat(' ', CAST({n.sql} AS BIGINT))", character(wide))


def _replace(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    value, old = text_arg(tr, args[0]), text_arg(tr, args[1])
    new = text_arg(tr, args[2]) if len(args) > 2 else None
    grow = width(value) * (width(new) if new is not None and new.literal else 1)
    sql = f"replace({value.sql}, {old.sql}, {new.sql if new is not None else text('')})"
    return Ex(sql, character(max(255, min(grow, 32739))))


def _concat(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    return tr.joined(*args)


def _initcap(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    value = text_arg(tr, args[0])
    sql = (
        f"array_to_string(list_transform(string_split(lower({value.sql}), ' '), "
        f"{function('w', 'upper(left(w, 1)) || substr(w, 2)')}), ' ')"
    )
    return Ex(sql, plain(value.type) if value.type is not None else character(255))


def _instr(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    """INSTR(source, part [, start [, count]])."""
    source, part = text_arg(tr, args[0]), text_arg(tr, args[1])
    if len(args) == 2:
        return Ex(f"CAST(instr({source.sql}, {part.sql}) AS INTEGER)", ColumnType.integer())
    count = _whole(tr, args[3]) if len(args) > 3 else "1"
    return Ex(f"_ifx_instr({source.sql}, {part.sql}, {_whole(tr, args[2])}, {count})", ColumnType.integer())


def _charindex(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    """CHARINDEX(part, source [, start])."""
    return _instr(tr, [args[1], args[0], *args[2:]])


def _substring_index(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    source, part = text_arg(tr, args[0]), text_arg(tr, args[1])
    sql = f"_ifx_substring_index({source.sql}, {part.sql}, {_whole(tr, args[2])})"
    return Ex(sql, character(width(source)))


def _ascii(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    return Ex(f"ascii({text_arg(tr, args[0]).sql})", ColumnType.integer())


def _chr(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    return Ex(f"chr(CAST({tr.ctx.hint(args[0], ColumnType.integer()).sql} AS INTEGER))", character(1))


def _hex(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    """HEX of a whole number: 8 digits, 16 for those of eight bytes."""
    a = tr.ctx.hint(args[0], ColumnType.integer())
    if a.type is None or a.type.code not in INTEGERS:
        raise SqlError(-1260, 0, 0, "hex")
    digits, mask = (16, 2**64 - 1) if a.type.code in LONGS else (8, 2**32 - 1)
    bits = f"CAST({a.sql} AS HUGEINT)"
    sql = f"'0x' || lpad(hex(CASE WHEN {bits} < 0 THEN {bits} + {mask + 1} ELSE {bits} END), {digits}, '0')"
    return Ex(f"({sql})", character(digits + 2))


FUNCTIONS: dict[str, tuple[int, int, Handler]] = {
    "upper": (1, 1, _same_width("upper")),
    "lower": (1, 1, _same_width("lower")),
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
    "substr": (2, 3, substring),
    "substring": (2, 3, substring),
    "substrb": (2, 3, _substrb),
    "substring_index": (3, 3, _substring_index),
    "left": (2, 2, _end("left")),
    "right": (2, 2, _end("right")),
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
