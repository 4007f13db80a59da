"""FOR, FOREACH, WHILE and LOOP, and how they are left."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from ...wire.types import ColumnType, TypeCode
from ..errors import SqlError
from . import codes
from . import nodes as n
from .positions import LoopPosition
from .runner import Leave, Runner, Values


class Loops(Runner):
    """The loops of a routine. Each is a generator, as all statements are (interpreter.py)."""

    def _loop(self, body: n.Block, kind: str) -> Any:
        """One round of a loop: (whether it is the last, how the loop ended)."""
        end = yield from self._block(body)
        if isinstance(end, Leave) and end.kind in ("", kind):
            return end.verb == "EXIT", None
        return end is not None, end

    def _while(self, statement: n.While) -> Any:
        while statement.condition is None or self._true(statement.condition):
            self.session.routines.check_interrupt()
            last, end = yield from self._loop(statement.body, statement.kind)
            if last:
                return end
        return None

    def _for(self, statement: n.For) -> Any:
        cell = self.frame.cell(statement.variable)
        whole = cell.type.code in (TypeCode.INTEGER, TypeCode.SMALLINT, TypeCode.BIGINT, TypeCode.INT8)
        ranges: list[Sequence[object]] = []  # all of them are known before the first round
        for part in statement.ranges:
            if part.stop is None:
                ranges.append(self._values(part.start, [cell.type]))
            elif not whole:
                raise SqlError(codes.LOOP_TYPE, 0, 0, statement.variable)
            else:
                ranges.append(self._range(part, cell.type))
        for value in itertools.chain.from_iterable(ranges):
            self.session.routines.check_interrupt()
            cell.value = value
            last, end = yield from self._loop(statement.body, "FOR")
            if last:
                return end
        return None

    def _range(self, part: n.Range, t: ColumnType) -> range:
        """-697 for a step of 0, -683 for one that leads away from the end, as a step of the wrong sign does."""
        assert part.stop is not None
        (start,), (stop,) = self._values(part.start, [t]), self._values(part.stop, [t])
        if not isinstance(start, int) or not isinstance(stop, int):
            return range(0)  # NULL
        step = 1 if start <= stop else -1
        if part.step is not None:
            (given,) = self._values(part.step, [t])
            if not given:
                raise SqlError(codes.ZERO_STEP)
            assert isinstance(given, int)
            if start != stop and (given > 0) != (stop > start):
                raise SqlError(codes.NO_RANGE)
            step = given
        return range(start, stop + (1 if step > 0 else -1), step)

    def _foreach(self, statement: n.Foreach) -> Any:
        source = statement.source
        position = None
        count = 0
        if isinstance(source, n.Call):
            arguments = self._planned(source, lambda reader: reader.call(source)[1])
            given = self._given(arguments)
            rows: Iterator[Values] = self._rows_of(arguments.callee, given)
        else:
            query = self._planned(source, lambda reader: self._plan_query(reader, source, statement.body))
            if query.keyed is not None:
                position = LoopPosition(self.session, source.cursor, query.keyed)
            rows = iter(self._fetch(query))
        for row in rows:
            count += 1
            if isinstance(source, n.Call):
                self._receive(arguments.callee, source.into, row)
            else:
                self._take(source.into, row[: len(source.into)])
                if position is not None:
                    position.at(row[len(source.into) :])
            self.session.routines.check_interrupt()
            last, end = yield from self._loop(statement.body, "FOREACH")
            if last:
                return end
        self.session.sqlerrd2 = count
        return None

    def _leave(self, statement: n.Leave) -> Any:
        if statement.when is not None and not self._true(statement.when):
            return None
        return Leave(statement.verb, statement.kind)
        yield
