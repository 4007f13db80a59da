"""The embedded server's address in the forms that different clients want."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """Where the embedded server listens, in the parts that other people's clients want."""

    host: str
    port: int
    user: str
    password: str
    server: str

    def url(self, database: str) -> str:
        """Our form of the address."""
        return (
            f"informix://{self.user}:{self.password}@{self.host}:{self.port}/{database}?server={self.server}"
        )

    def jdbc_url(self, database: str, **properties: str) -> str:
        """The vendor driver's form of the address."""
        more = "".join(f";{name}={value}" for name, value in properties.items())
        return (
            f"jdbc:informix-sqli://{self.host}:{self.port}/{database}:INFORMIXSERVER={self.server}"
            f";user={self.user};password={self.password}{more};"
        )
