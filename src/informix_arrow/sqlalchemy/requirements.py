"""The requirements of SQLAlchemy's own test suite that Informix meets.

``[sqla_testing] requirement_cls = informix_arrow.sqlalchemy.requirements:Requirements`` in the suite's ``setup.cfg``.
This module lists, with the reason, where Informix differs from SQLAlchemy's defaults, and optional features that it
lacks. What depends on the machine (platforms, Python releases) is left unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

#: Features that are off by default in SQLAlchemy, and that Informix has.
OPEN = (
    "autocommit",
    "check_constraint_reflection",
    "create_table_as",
    "create_temp_table_as",
    "ctes",
    "date_historic",
    "datetime_historic",
    "datetime_interval",
    "datetime_literals",
    "dbapi_lastrowid",
    "emulated_lastrowid",
    "except_",
    "fetch_first",
    "fetch_no_order_by",
    "foreign_key_constraint_name_reflection",
    "foreign_key_constraint_option_reflection_ondelete",
    "has_temp_table",
    "index_ddl_if_exists",
    "inline_check_constraint_reflection",
    "intersect",
    "isolation_level",
    "non_updating_cascade",
    "nullsordering",
    "nvarchar_types",
    "percent_schema_names",
    "precision_numerics_enotation_small",
    "precision_numerics_retains_significant_digits",
    "reflects_pk_names",
    "savepoints",
    "server_defaults",
    "skip_autocommit_rollback",
    "supports_bitwise_and",
    "supports_bitwise_not",
    "supports_bitwise_or",
    "supports_bitwise_xor",
    "table_ddl_if_exists",
    "unicode_ddl",
    "views",
    "window_functions",
)

_NO_COMMENTS = "Informix has no COMMENT ON; the catalogue has no place for comments"
_NO_COMPUTED = "Informix has no computed columns"
_NO_IDENTITY = "Informix numbers rows by SERIAL and BIGSERIAL, not by GENERATED AS IDENTITY"
_NO_JSON = "Informix keeps JSON in opaque types that no SQL type of SQLAlchemy's compares or indexes as its JSON does"
_NO_MATERIALIZED = "Informix has no materialized views"
_NO_REGEXP = "Informix has LIKE and MATCHES, no regular expressions but in an extension"
_NO_TIME_ZONE = "DATETIME has no time zone"
_NO_OWNER_CHANGE = (
    "an owner stands where others have a schema: it is a user, and no session can take another one"
)
_FIVE_DIGITS = "DATETIME and INTERVAL have at most five digits of a second, FRACTION(5)"
_SIMPLE_OBJECT = "TEXT and BYTE: no comparison (-615), and values come from host variables only (-617)"
_ONLY_CASCADE = "ON DELETE CASCADE is the only option: nothing is kept of others"
_WHOLE_NUMBER = "the projection clause takes an integer or a host variable for FIRST and SKIP, no expression"
_WINDOW_ORDER = "the suite's test takes rows in the order of their window; without ORDER BY they have none"
_WITH = "WITH stands before a SELECT only, not before INSERT, UPDATE or DELETE"

#: Features that Informix lacks, and why.
CLOSED: Mapping[str, str] = {
    "aggregate_order_by": "aggregate functions take no ORDER BY",
    "array_type": "a LIST is no array: its elements are not reached by their number",
    "binary_comparisons": _SIMPLE_OBJECT,
    "binary_literals": _SIMPLE_OBJECT,
    "boolean_col_expressions": "a condition is no expression: it cannot stand in the projection list",
    "column_collation_reflection": "the collation is the database's, not a column's",
    "comment_reflection": _NO_COMMENTS,
    "comment_reflection_full_unicode": _NO_COMMENTS,
    "computed_columns": _NO_COMPUTED,
    "computed_columns_default_persisted": _NO_COMPUTED,
    "computed_columns_reflect_persisted": _NO_COMPUTED,
    "computed_columns_stored": _NO_COMPUTED,
    "computed_columns_virtual": _NO_COMPUTED,
    "constraint_comment_reflection": _NO_COMMENTS,
    "create_or_replace_view": "CREATE VIEW has no OR REPLACE",
    "cross_schema_fk_reflection": _NO_OWNER_CHANGE,
    "ctes_on_dml": _WITH,
    "ctes_with_update_delete": _WITH,
    "ctes_with_values": "there is no VALUES but in INSERT",
    "date_coerces_from_datetime": "Informix would drop the time of day, which informix-arrow refuses (DataError)",
    "datetime_microseconds": _FIVE_DIGITS,
    "datetime_timezone": _NO_TIME_ZONE,
    "datetime_timezone_historic": _NO_TIME_ZONE,
    "default_schema_name_switch": _NO_OWNER_CHANGE,
    "deferrable_fks": "constraints are deferred by SET CONSTRAINTS, in no definition of theirs",
    "delete_from": "DELETE names one table: there is no USING",
    "emulated_lastrowid_even_with_sequences": "sqlca.sqlerrd[1] has the value of a SERIAL, never a sequence's",
    "expression_server_defaults": "DEFAULT takes a literal, NULL, USER, CURRENT, SYSDATE, TODAY or DBSERVERNAME",
    "expressions_against_unbounded_text": _SIMPLE_OBJECT,
    "fetch_expression": _WHOLE_NUMBER,
    "fetch_offset_with_options": "FIRST has neither PERCENT nor WITH TIES",
    "fetch_percent": "FIRST has no PERCENT",
    "fetch_rows_post_commit": "COMMIT WORK closes all cursors that were not declared WITH HOLD",
    "fetch_ties": "FIRST has no WITH TIES",
    "fk_constraint_option_reflection_ondelete_noaction": _ONLY_CASCADE,
    "fk_constraint_option_reflection_ondelete_restrict": _ONLY_CASCADE,
    "float_or_double_precision_behaves_generically": "the precision of FLOAT means nothing: it is always a double",
    "foreign_key_constraint_option_reflection_onupdate": "REFERENCES has no ON UPDATE",
    "fk_constraint_option_reflection_onupdate_restrict": "REFERENCES has no ON UPDATE",
    "foreign_keys_reflect_as_index": "the index of a constraint is the server's own, and is not reflected",
    "identity_columns": _NO_IDENTITY,
    "identity_columns_standard": _NO_IDENTITY,
    "implicit_default_schema": "a name without an owner is found for every owner",
    "index_reflects_included_columns": "CREATE INDEX has no INCLUDE",
    "indexes_check_column_order": "CREATE INDEX takes its columns as they come: nothing of their order is checked",
    "indexes_with_expressions": "an index is over columns, or over user-defined functions of columns",
    "infinity_floats": "FLOAT has no infinity",
    "json_deserializer_binary": _NO_JSON,
    "json_type": _NO_JSON,
    "legacy_unconditional_json_extract": _NO_JSON,
    "materialized_views": _NO_MATERIALIZED,
    "materialized_views_reflect_pk": _NO_MATERIALIZED,
    "mod_operator_as_percent_sign": "the remainder is MOD(a, b)",
    "on_update_cascade": "REFERENCES has no ON UPDATE",
    "order_by_label_with_expression": "a display label stands in ORDER BY by itself, not in an expression",
    "precision_numerics_many_significant_digits": "DECIMAL has at most 32 digits, the suite's has 38",
    "reflect_indexes_with_ascdesc_as_expression": "ASC and DESC are reflected as what they are",
    "reflect_indexes_with_expressions": "an index is over columns, or over user-defined functions of columns",
    "reflect_table_options": "storage clauses are kept in several catalogue tables, and not reflected",
    "reflect_tables_no_columns": "a table has at least one column (-201)",
    "regexp_match": _NO_REGEXP,
    "regexp_replace": _NO_REGEXP,
    "repeated_column_foreign_keys": "a constraint names a column once (-542)",
    "repeated_remote_col_foreign_keys": "the columns referred to must be those of a constraint (-297): each once",
    "schema_create_delete": _NO_OWNER_CHANGE,
    "schemas": "a table's name is unique across owners, except in ANSI databases; the suite gives one to two",
    "server_side_cursors": "the suite can tell one by the cursors of eleven drivers, whose names it knows",
    "sql_expression_limit_offset": _WHOLE_NUMBER,
    "supports_bitwise_shift": "there are BITAND, BITOR, BITXOR, BITNOT and BITANDNOT, and no shift",
    "supports_distinct_on": "SELECT DISTINCT is of whole rows",
    "table_value_constructor": "there is no VALUES but in INSERT",
    "temp_table_comment_reflection": _NO_COMMENTS,
    "temp_table_names": "temporary tables are in no catalogue of the database: sysmaster lists those of all sessions",
    "temp_table_reflection": "temporary tables are in no catalogue of the database: columns are told, not keys",
    "temporary_views": "CREATE VIEW has no TEMP",
    "text_type": _SIMPLE_OBJECT,
    "time_microseconds": _FIVE_DIGITS,
    "time_timezone": _NO_TIME_ZONE,
    "timestamp_microseconds": _FIVE_DIGITS,
    "tuple_in": "IN takes a row of columns before a subquery, not before a list of values",
    "two_phase_transactions": "two-phase commit is XA's, which SQL has no statements for",
    "unbounded_varchar": "VARCHAR and LVARCHAR have a length",
    "unique_constraints_reflect_as_index": "the index of a constraint is the server's own, and is not reflected",
    "unique_index_reflect_as_unique_constraints": "a unique index is in sysindexes, a constraint in sysconstraints",
    "update_from": "UPDATE names one table: there is no FROM",
    "uuid_data_type": "there is no UUID: CHAR(32) holds it",
    "window_range": _WINDOW_ORDER,
    "window_range_numeric": _WINDOW_ORDER,
    "window_range_non_numeric": "the offset of a RANGE frame is an unsigned number",
}


class Requirements(SuiteRequirements):
    """The suite's requirements: SQLAlchemy's defaults, :data:`OPEN` and :data:`CLOSED`."""

    @property
    def async_dialect(self) -> Any:
        """Skip unless the driver is asyncio: a property of the driver, not of the database."""
        return exclusions.only_if(lambda config: config.db.dialect.is_async)


def _opened(self: Any) -> Any:
    return exclusions.open()


def _closed(reason: str) -> Callable[[Any], Any]:
    return lambda self: exclusions.skip_if(lambda config: True, reason)


for _name in OPEN:
    setattr(Requirements, _name, property(_opened))
for _name, _reason in CLOSED.items():
    setattr(Requirements, _name, property(_closed(_reason)))
