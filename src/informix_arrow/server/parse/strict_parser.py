"""A strict version of sqlglot's parser: words that sqlglot would skip without a trace in the tree are errors.

Words that leave a trace are rejected later, by the content of the tree (clauses.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp, parser
from sqlglot.tokens import TokenType

# Compiled by mypyc: its classes have no subclasses in Python.
if str(parser.__file__).endswith((".so", ".pyd")):
    raise ImportError(
        "The compiled build of sqlglot (the package sqlglotc, which sqlglot[c] and sqlglot[rs] install) allows no "
        "dialects other than its own. Run pip uninstall sqlglotc"
    )

_MISSING = re.compile(r"Required keyword: '\w+' missing for <class '[\w.]*?(\w+)'>")
_EXPECTED = ("Expected ", "Expecting ")


class StrictParser(parser.Parser):  # type: ignore[misc]
    """Parser that skips no words."""

    def raise_error(self, message: str, token: Any = None) -> None:
        """Raise a syntax error. sqlglot's own texts are reworded, and it appends the line and the column."""
        missing = _MISSING.fullmatch(message)
        if missing is not None:
            message = f"{missing[1].upper()} is not complete"
        elif message.startswith(_EXPECTED):
            what = message.partition(" ")[2]
            message = f"{what[:1].upper()}{what[1:]} was expected"
        super().raise_error(message, token)

    def _refuse_word(self, *words: str) -> None:
        """Raise a syntax error if the next word is one of these."""
        if self._curr and self._curr.text.upper() in words:
            self.raise_error(f"{self._curr.text.upper()} is not valid here in Informix SQL")

    def _require_into(self) -> None:
        if not (self._curr and self._curr.token_type == TokenType.INTO):
            self.raise_error("Expected INTO")

    def _parse_csv(self, parse_method: Callable[[], Any], sep: TokenType = TokenType.COMMA) -> list[Any]:
        """Parse a list, which must not end with a comma."""
        first = parse_method()
        items = [] if first is None else [first]
        while self._match(sep):
            item = parse_method()
            if item is None:
                self.raise_error("Expected an expression after the comma")
            items.append(item)
        return items

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        comma = self._curr and self._curr.token_type == TokenType.COMMA
        join: exp.Join | None = super()._parse_join(*args, **kwargs)
        if comma and join is None:
            self.raise_error("Expected a table after the comma")
        return join

    def parse_set_operation(self, *args: Any, **kwargs: Any) -> exp.SetOperation | None:
        after = self._next is not None and self._next.token_type == TokenType.DISTINCT
        if self._curr and self._curr.token_type in self.SET_OPERATIONS and after:
            self._advance()
            self._refuse_word("DISTINCT", "UNIQUE")
        set_operation: exp.SetOperation | None = super().parse_set_operation(*args, **kwargs)
        return set_operation

    def _parse_group(self, *args: Any, **kwargs: Any) -> exp.Group | None:
        after = self._next is not None and self._next.token_type == TokenType.DISTINCT
        if self._curr and self._curr.token_type == TokenType.GROUP_BY and after:
            self._advance()
            self._refuse_word("DISTINCT", "UNIQUE")
        group: exp.Group | None = super()._parse_group(*args, **kwargs)
        return group

    def _parse_is(self, this: Any) -> Any:
        """Parse IS [NOT] NULL, and nothing else."""
        null = self._next if self._curr and self._curr.token_type == TokenType.NOT else self._curr
        if null is None or null.token_type != TokenType.NULL:
            self.raise_error("Expected NULL")
        return super()._parse_is(this)

    def _negate_range(self, this: Any = None) -> Any:
        """Return NOT LIKE and the like as a NOT node around it. Newer releases of sqlglot store it inside LIKE."""
        return self.expression(exp.Not(this=this)) if this is not None else this

    def _parse_between(self, this: Any) -> Any:
        if self._next and self._next.token_type != TokenType.AND:  # otherwise it is the name of a column
            self._refuse_word("SYMMETRIC", "ASYMMETRIC")
        return super()._parse_between(this)

    def _parse_into(self) -> None:
        """Reject INTO, which comes after the query (dialect_parser.py)."""
        self._refuse_word("INTO")

    def _parse_insert(self) -> Any:
        self._require_into()
        if self._next and self._next.token_type in (TokenType.TABLE, TokenType.FUNCTION):
            self._advance()
            self._refuse_word("TABLE", "FUNCTION")
        return super()._parse_insert()

    def _parse_insert_table(self) -> Any:
        found = super()._parse_insert_table()
        self._refuse_word("SET")
        if any(node.args.get("alias") for node in found.find_all(exp.Table)):
            self.raise_error("Expected VALUES or a query")
        return found

    def _parse_merge(self) -> exp.Merge:
        self._require_into()
        merge: exp.Merge = super()._parse_merge()
        return merge

    def _parse_when_matched(self) -> exp.Whens:
        at = self._index
        whens: exp.Whens = super()._parse_when_matched()
        words = [token.text.upper() for token in self._tokens[at : self._index]]
        if any(words[i : i + 3] == ["MATCHED", "BY", "TARGET"] for i in range(len(words))):
            self.raise_error("BY TARGET is not valid in MERGE in Informix SQL")
        return whens
