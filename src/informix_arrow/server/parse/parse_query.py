"""Parsing of one query or data change."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from ..errors import SqlError, syntax_error
from .clauses import reject_foreign_clauses
from .dialect import InformixExact, InformixExactDelimited


def parse(
    sql: str, delimident: bool = False, check_interrupt: Callable[[], None] = lambda: None
) -> exp.Expression:
    """Parse one query or data change. Every `?` gets its number.

    Raises -201 with the offset for a syntax error or a clause that Informix does not have, -555 for several statements.
    `check_interrupt` is called repeatedly and may raise.
    """
    dialect = InformixExactDelimited() if delimident else InformixExact()
    parser = dialect.parser()
    parser.check_interrupt = check_interrupt
    try:
        trees = [t for t in parser.parse(dialect.tokenize(sql), sql) if t is not None]
    except ParseError as e:
        raise syntax_error(_position(sql, e), str(e)) from None
    except TokenError as e:
        raise SqlError(-202, 0, 1, "", str(e)) from None
    except RecursionError:
        raise SqlError(-208, 0, 0, "", "The statement is nested too deeply.") from None
    if len(trees) != 1:
        raise SqlError(-555 if trees else -201, 0, 0 if trees else 1)
    tree = trees[0]
    while isinstance(tree, exp.Subquery) and tree.is_wrapper:
        tree = tree.this
    if not isinstance(tree, (exp.Query, exp.Insert, exp.Update, exp.Delete, exp.Merge)):
        raise syntax_error(1)
    reject_foreign_clauses(tree, check_interrupt)
    places = []
    for node in tree.walk():
        check_interrupt()
        if isinstance(node, exp.Identifier):
            if not node.args.get("quoted"):
                node.set("this", node.name.lower())  # from here on names are spelled as in the catalogue
        elif isinstance(node, exp.Placeholder):
            places.append(node)
    places.sort(key=lambda p: int(p.meta.get("start", 0)))
    for number, place in enumerate(places):
        place.meta["index"] = number
    return tree


def _position(sql: str, error: ParseError) -> int:
    """Return the 1-based character position of a parse error."""
    if not error.errors:
        return 1
    first = error.errors[0]
    line, col = int(first.get("line") or 1), int(first.get("col") or 1)
    highlight = str(first.get("highlight") or "")
    before = sum(len(text) + 1 for text in sql.split("\n")[: line - 1])
    return max(1, before + col - max(len(highlight), 1) + 1)
