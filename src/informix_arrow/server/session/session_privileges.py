"""Privileges of a session's user in the open database and in others that its statements name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..catalog import privileges
from ..catalog.catalog import FIRST_USER_TABID, TableInfo
from ..catalog.privileges import CONNECT, DBA, LEVELS, RESOURCE, GrantedPrivileges
from ..errors import SqlError
from .current_database import CurrentDatabase
from .environment import SessionEnvironment
from .schema_version import SessionSchema
from .transaction import SessionTransaction

NO_PRIVILEGE = {"s": -272, "u": -273, "d": -274, "i": -275, "a": -541, "r": -512, "x": -313}
"""SQLCODE for each letter of systabauth. For an index it is that of a user who does not own the table."""
NO_EXECUTE, NOT_OWNER = -706, -313
_NO_LEVEL = {CONNECT: -387, RESOURCE: -388, DBA: -389}
_NO_ROLE = -19805


@dataclass(frozen=True, slots=True)
class _RoutineOwner:
    """Owner of the routine that runs."""

    owner: str
    dba: bool


class SessionPrivileges:
    """The privileges of one session's user.

    They are read once for each state of the schema; GRANT and REVOKE change it.

    Attributes
    ----------
    is_administrator
        True if the user is an administrator of the server, who is a DBA everywhere: nothing is looked up.
    role
        The role that is set, "" for none.
    """

    def __init__(
        self,
        environment: SessionEnvironment,
        transaction: SessionTransaction,
        database: CurrentDatabase,
        schema: SessionSchema,
        administrators: Collection[str],
    ) -> None:
        self._environment = environment
        self._transaction = transaction
        self._database = database
        self._schema = schema
        self.is_administrator = environment.user in administrators
        self.role = ""
        self._routine_owners: list[_RoutineOwner] = []
        self._privileges_cache: dict[tuple[str, str], GrantedPrivileges] = {}
        self._schema_stamp = -1

    # ---- users and roles ----------------------------------------------------------------------
    @contextmanager
    def as_routine_owner(self, owner: str, *, dba: bool) -> Iterator[None]:
        """While a routine runs, also allow what its owner may do, or everything if it is a DBA's routine."""
        self._routine_owners.append(_RoutineOwner(owner, dba))
        try:
            yield
        finally:
            self._routine_owners.pop()

    @property
    def acting_owner(self) -> str:
        """The owner of what statements create or name without one: the user, or the owner of the routine that runs.

        In a DBA's routine it is the user.
        """
        acting = self._routine_owners[-1] if self._routine_owners else None
        return self._environment.user if acting is None or acting.dba else acting.owner

    def set_role(self, name: str) -> None:
        """SET ROLE; "" for none, DEFAULT for the default one. -19805 for a role that the user was not granted."""
        database = self._database.require()
        if name == "DEFAULT":
            self.take_default_role()
            return
        if name and name not in self._transaction.read(self._roles_granted):
            is_one = self._transaction.read(
                lambda: privileges.user_type(self._transaction.catalog, database, name)
            )
            if not (self.is_administrator and is_one == privileges.ROLE):
                raise SqlError(_NO_ROLE, 0, 0, name)
        self.role = name
        self._schema.invalidate()

    def take_default_role(self) -> None:
        """Set the default role, or none, as DATABASE does."""
        database = self._database.require()
        self.role = self._default_role(database)
        self._schema.invalidate()

    def _default_role(self, database: str) -> str:
        user = self._environment.user
        return self._transaction.read(
            lambda: privileges.default_role(self._transaction.catalog, database, user)
        )

    def roles(self) -> tuple[str, str]:
        """The role that is set and the user's default one in the open database, "" for none."""
        return self.role, self._default_role(self._database.require())

    def _roles_granted(self) -> dict[str, bool]:
        con, database = self._transaction.catalog, self._database.require()
        names: set[str] = {self._environment.user, privileges.PUBLIC}
        while True:  # a role may have been granted a role
            roles = privileges.roles_of(con, database, names)
            if roles.keys() <= names:
                return roles
            names |= roles.keys()

    def granted(self, database: str, user: str | None = None) -> GrantedPrivileges:
        """Return the privileges of a user; for this session's user, including those of the role."""
        self._schema.refresh()
        if self._schema_stamp != self._schema.stamp:
            self._schema_stamp = self._schema.stamp
            self._privileges_cache.clear()
        is_own = user is None or user == self._environment.user
        name = self._environment.user if user is None else user
        key = (database, name)
        if key not in self._privileges_cache:
            con = self._transaction.catalog
            role = self.role if is_own and database == self._database.name else ""

            def look() -> GrantedPrivileges:
                return privileges.load_privileges(
                    con, database, privileges.grantee_names(con, database, name, role)
                )

            self._privileges_cache[key] = self._transaction.read(look)
        return self._privileges_cache[key]

    def _is_allowed(self, allowed: Callable[[str], bool]) -> bool:
        """Return whether something is allowed to the user, or to the owner of the running routine."""
        if self.is_administrator or allowed(self._environment.user):
            return True
        acting = self._routine_owners[-1] if self._routine_owners else None
        return acting is not None and (acting.dba or allowed(acting.owner))

    # ---- databases ----------------------------------------------------------------------------
    def has_level(self, level: str, database: str | None = None) -> bool:
        """Return whether the user has CONNECT, RESOURCE or DBA, or a higher level."""
        database_name, least = database or self._database.require(), LEVELS.index(level)
        return self._is_allowed(lambda user: LEVELS.index(self.granted(database_name, user).level) >= least)

    def require_level(self, level: str, database: str | None = None) -> None:
        """Raise -387, -388 or -389 without CONNECT, RESOURCE or DBA."""
        if not self.has_level(level, database):
            raise SqlError(_NO_LEVEL[level], 0, 0, database or "")

    # ---- tables -------------------------------------------------------------------------------
    def owns(self, owner: str) -> bool:
        """Return whether the user is this owner, or a DBA."""
        return self.has_level(DBA) or self._is_allowed(lambda user: user == owner)

    def has_privilege(
        self, info: TableInfo, letter: str, columns: Collection[str] = (), *, grant: bool = False
    ) -> bool:
        """Return whether the user has a privilege on a table or on these columns of it.

        Without columns, SELECT on any column is enough. With `grant`, return whether the user may grant it to others.
        """
        if self.is_administrator or info.temporary or info.tabid < FIRST_USER_TABID:
            return self.is_administrator or info.temporary or (letter == "s" and not grant)
        return self._is_allowed(lambda user: self._user_has_privilege(user, info, letter, columns, grant))

    def _user_has_privilege(
        self, user: str, info: TableInfo, letter: str, columns: Collection[str], grant: bool
    ) -> bool:
        held = self.granted(info.database, user)
        # the owner of a view has rows of his own in systabauth
        if held.level == DBA or (user == info.owner and info.kind == "T"):
            return True
        if not held.level:
            raise SqlError(_NO_LEVEL[CONNECT], 0, 0, info.database)
        letters = {letter.upper()} if grant else {letter, letter.upper()}
        if letters & held.tables.get(info.tabid, frozenset()):
            return True
        by_column = {
            name for (tabid, name), those in held.columns.items() if tabid == info.tabid and letters & those
        }
        return by_column.issuperset(columns) if columns else bool(by_column) and letter == "s" and not grant

    def may_grant_as(self, user: str, info: TableInfo, letter: str, columns: Collection[str]) -> bool:
        """Return whether another user, the grantor of AS, may grant a privilege."""
        return self._user_has_privilege(user, info, letter, columns, grant=True)

    def require(self, info: TableInfo, letter: str, columns: Collection[str] = ()) -> None:
        """Raise -272 or the like without a privilege (see `has_privilege`).

        Raises -387 for a table of a database that the user may not connect to.
        """
        if not self.has_privilege(info, letter, columns):
            raise SqlError(NO_PRIVILEGE[letter], 0, 0, info.name)

    def require_owner(self, owner: str, name: str, code: int = NOT_OWNER) -> None:
        """Raise -313, or another code, if the user neither owns something nor is a DBA."""
        if not self.is_administrator and not self.owns(owner):
            raise SqlError(code, 0, 0, name)

    # ---- routines -----------------------------------------------------------------------------
    def require_execute(self, name: str, procid: int, owner: str) -> None:
        """Raise -706 for a routine that the user may not call."""
        if not self.is_administrator and not self.may_execute(procid, owner):
            raise SqlError(NO_EXECUTE, 0, 0, name)

    def may_execute(self, procid: int, owner: str, *, grant: bool = False) -> bool:
        """Return whether the user may call a routine or, with `grant`, let others call it."""
        database = self._database.require()

        def allowed(user: str) -> bool:
            held = self.granted(database, user)
            granted = held.routines.get(procid)
            return user == owner or held.level == DBA or (granted is not None and (granted or not grant))

        return self._is_allowed(allowed)
