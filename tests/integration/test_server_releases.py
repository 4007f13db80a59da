"""`Server(version=...)`: the version that it reports, and features that the release does not have."""

from __future__ import annotations

import pytest

import informix_arrow
from informix_arrow.server import Server

SAID = {
    "12.10": ("IBM Informix Dynamic Server Version 12.10.FC14", "Informix Dynamic Server Version 9.56"),
    "14.10": ("IBM Informix Dynamic Server Version 14.10.FC7W1", "Informix Dynamic Server Version 9.59"),
    "15.0": ("IBM Informix Dynamic Server Version 15.0.1.0.3",) * 2,
}


@pytest.mark.parametrize("version", SAID)
def test_a_release_says_its_name_at_login_and_in_sql(version: str) -> None:
    product, announced = SAID[version]
    asked = (
        "SELECT DBINFO('version','full'), DBINFO('version','server-type'), DBINFO('version','major'), "
        "DBINFO('version','minor'), DBINFO('version','os') || DBINFO('version','level'), tabid FROM systables "
        "WHERE tabid = 1"
    )
    with Server(version=version) as server, informix_arrow.connect(server.url("sysmaster")) as conn:
        assert conn.server_version == announced
        major, minor = version.split(".")
        name = product.partition(" Version ")[0]
        assert conn.execute(asked).fetchall() == [
            (product, name, major, minor, product.rpartition(f"{version}.")[2], 1)
        ]


@pytest.mark.parametrize(
    "newer", ["WITH a AS (SELECT tabid FROM systables) SELECT tabid FROM a WHERE tabid = 1", "SELECT 1, 2"]
)
def test_what_came_with_14_10_is_a_syntax_error_on_12_10_alone(newer: str) -> None:
    with Server(version="12.10") as server, informix_arrow.connect(server.url("sysmaster")) as conn:
        with pytest.raises(informix_arrow.ProgrammingError) as refused:
            conn.execute(newer)
        assert refused.value.sqlcode == -201
        assert conn.execute("SELECT tabid, 2 FROM systables WHERE tabid = 1").fetchall() == [(1, 2)]
    with Server(version="14.10") as server, informix_arrow.connect(server.url("sysmaster")) as conn:
        assert conn.execute(newer).fetchall()[0][0] == 1


def test_an_unknown_release_is_refused_at_the_start() -> None:
    with pytest.raises(ValueError, match=r"'11\.70'.*12\.10, 14\.10, 15\.0"):
        Server(version="11.70").start()
