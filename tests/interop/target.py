"""The embedded server's address in the forms that different clients want."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """Address of the embedded server, in the parts that clients of others need."""

    host: str
    port: int
    user: str
    password: str
    server: str
    name_of: Callable[[str], str] = str
    """Function that returns the name on the server of a database of the tests."""

    def url(self, database: str) -> str:
        """Return the URL for our client."""
        return f"informix://{self.user}:{self.password}@{self.host}:{self.port}/{self.name_of(database)}?server={self.server}"

    def jdbc_url(self, database: str, **properties: str) -> str:
        """Return the URL for IBM's JDBC driver."""
        more = "".join(f";{name}={value}" for name, value in properties.items())
        return (
            f"jdbc:informix-sqli://{self.host}:{self.port}/{self.name_of(database)}:INFORMIXSERVER={self.server}"
            f";user={self.user};password={self.password}{more};"
        )
