"""The parts of a session that DDL uses, and the changes that it makes to the catalogue.

Every change is made twice: to the DuckDB object, and to its description in the hidden schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ...catalog import privileges, stored_names
from ...catalog.catalog import TableInfo, replace_table, store_table
from ...errors import SqlError, no_table
from ...plan.plans import BindRequirements
from ..current_database import CurrentDatabase
from ..environment import SessionEnvironment
from ..foreign_keys import ForeignKeyEnforcer
from ..isolation import Isolation
from ..numbers import ObjectNumbers
from ..routine_protocols import SessionRoutines
from ..schema_version import SessionSchema
from ..session_privileges import SessionPrivileges
from ..session_tables import SessionTables
from ..session_values import SessionValues
from ..sql_reader import SqlReader
from ..statement_planner import StatementPlanner
from ..transaction import SessionTransaction
from ..user_types import UserTypes

_EXTERNAL = -556
_LOGGED = -19816
"""Informix's code for a change that a table with full row logging does not allow."""


@dataclass(frozen=True, slots=True)
class DdlContext:
    """The parts of one session that DDL uses.

    `other_temp_tables` returns the temporary tables of other sessions that use a database. `routines` provides the
    results of calls in CREATE TABLE ... AS SELECT, `bind` its values.
    """

    environment: SessionEnvironment
    values: SessionValues
    current_database: CurrentDatabase
    schema: SessionSchema
    tables: SessionTables
    types: UserTypes
    sql_reader: SqlReader
    planner: StatementPlanner
    transaction: SessionTransaction
    foreign_key_enforcer: ForeignKeyEnforcer
    numbers: ObjectNumbers
    routines: SessionRoutines
    privileges: SessionPrivileges
    isolation: Isolation
    other_temp_tables: Callable[[str], Iterable[TableInfo]]
    bind: Callable[[BindRequirements, Sequence[object]], dict[str, object]]

    def new_tabid(self) -> int:
        """Return the number for a new table."""
        return self.numbers.new_tabid(self.current_database.require())

    def find_here(self, name: str) -> TableInfo | None:
        """Find a table or view of the open database. Raises -556 for a synonym of one in another database."""
        info = self.tables.find(None, name)
        if info is not None and not info.temporary and info.database != self.current_database.name:
            raise SqlError(_EXTERNAL, 0, 0, name)
        return info

    def require_here(self, name: str) -> TableInfo:
        """Find a table or view of the open database: -206 if there is none, -556 outside of the database."""
        info = self.find_here(name)
        if info is None:
            raise no_table(name)
        return info

    def require_user_table(self, name: str) -> TableInfo:
        """Find a table that may be changed: -206 if there is none, -313 for a view, -556 outside of the database."""
        info = self.require_here(name)
        if info.kind != "T":
            raise SqlError(-313, 0, 0, name)
        return info

    def require_alterable_table(self, name: str) -> TableInfo:
        """Find a table whose columns or name may be changed.

        Raises the errors of `require_user_table`, and -19816 for a table whose rows are logged in full.
        """
        info = self.require_user_table(name)
        if info.is_fully_logged:
            raise SqlError(
                _LOGGED,
                near=name,
                detail="The rows of the table are logged in full. Call cdc_set_fullrowlogging(.., 0) first.",
            )
        return info

    def register_table(self, info: TableInfo, owner: str = "") -> None:
        """Register a new table: a temporary one in the session, others in the hidden schema.

        `owner` defaults to the user, or to the owner of the routine that runs.
        """
        if info.temporary:
            self.schema.temp_tables[info.name] = info
            self.schema.mark_changed(temporary=True)
        else:
            writer, owner = self.transaction.recorder, owner or self.privileges.acting_owner
            store_table(writer, info, owner)
            if (
                info.kind == "T"
                and not self.current_database.record.ansi
                and not self.environment.no_default_access
            ):
                privileges.grant_to_public(writer, info.database, info.tabid, owner)
            self.mark_table_changed(info)
            if info.kind == "T" and not info.foreign_keys:
                self.tables.add(replace(info, owner=owner))

    def replace_table(self, old: TableInfo, new: TableInfo) -> None:
        """Replace the description of a table."""
        if new.temporary:
            self.schema.temp_tables.pop(old.name, None)
            self.schema.temp_tables[new.name] = new
            self.schema.mark_changed(temporary=True)
        else:
            replace_table(self.transaction.recorder, old, new)
            self.mark_table_changed(old, new)

    def remove_listed_name(self, name: str, kinds: tuple[str, ...]) -> int:
        """Remove a synonym or sequence from systables. Return its tabid, 0 if there is none of these kinds."""
        database = self.current_database.require()
        tabid = stored_names.number_of(self.transaction.catalog, database, name, kinds)
        if tabid is None:
            return 0
        stored_names.remove(self.transaction.recorder, database, tabid)
        self.schema.mark_changed()
        return tabid

    def mark_table_changed(self, *infos: TableInfo) -> None:
        """Record that a stored table was created, changed or dropped; `infos` describe it before and after.

        Other cached descriptions stay valid if it keeps its name and no foreign key ties it to another table.
        """
        names = {(info.database, info.name) for info in infos}
        tied = any(i.kind != "T" or i.foreign_keys or i.disabled.foreign_keys or i.children for i in infos)
        self.schema.mark_changed(table=None if tied or len(names) > 1 else names.pop())
