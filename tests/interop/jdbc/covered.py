"""Which cases of the conformance client the embedded server must pass now, and which belong to later work.

``test_no_case_of_the_conformance_client_is_forgotten`` compares the two lists with the client's own: a new
case has to be put into one of them.
"""

from __future__ import annotations

COVERED: tuple[str, ...] = (
    # connecting
    "connect_close",
    "connect_is_valid",
    "connect_ten_at_once",
    "connect_wrong_password",
    "connect_unknown_user",
    "connect_unknown_database",
    # statements
    "select_one_row",
    "select_no_row",
    "select_first_n",
    "select_group_having_order",
    "select_outer_join",
    "column_names_and_types",
    "execute_and_update_count",
    "ddl_create_alter_drop",
    "temp_table",
    "serial_dbinfo",
    "bigserial_value",
    # types
    "type_integer",
    "type_bigint",
    "type_int8",
    "type_float",
    "type_decimal_8_2",
    "type_decimal_32_16",
    "type_decimal_5_5",
    "type_decimal_floating",
    "type_money",
    "type_varchar",
    "type_nchar",
    "type_nvarchar",
    "type_lvarchar_long",
    "type_date",
    "type_datetime_year_second",
    "type_datetime_year_fraction3",
    "type_datetime_year_day",
    "type_datetime_year_minute",
    "type_interval_year_month",
    "type_interval_day_second",
    "type_interval_day_fraction5",
    "type_byte",
    "type_text",
    "type_blob_needs_sbspace",
    "type_boolean_in_where",
    "type_many_columns_one_row",
    # prepared statements and cursors
    "prepared_reuse_100",
    "prepared_null_parameter",
    "prepared_update_delete",
    "prepared_error_then_reuse",
    "interleaved_statements",
    "close_result_set_early",
    "autofree",
    "optofc",
    # batches of BIND and EXECUTE
    "batch_statement",
    "batch_duplicate_key_rolled_back",
    "bulk_10000_rows",
    # batches through an insert cursor
    "batch_duplicate_key_rolled_back_useput",
    "bulk_10000_rows_useput",
    "useput_autocommit",
    "useput_types_and_nulls",
    # transactions
    "tx_supported",
    "tx_rollback",
    "tx_close_rolls_back",
    "tx_savepoint_rollback",
    "tx_savepoint_unnamed",
    "tx_error_inside_keeps_work",
    "tx_begin_work_sql",
    "tx_ddl_rolled_back",
    # other cursors
    "scroll_cursor",
    "scroll_cursor_empty",
    "hold_cursor_over_commit",
    # size
    "large_result",
    "fetch_buffer_sizes",
    # characters
    "utf8_latin",
    "utf8_multibyte_needs_utf8_database",
    # errors
    "error_syntax",
    "error_no_such_table",
    "error_no_such_column",
    "error_ambiguous_column",
    "error_not_in_group_by",
    "error_subquery_many_rows",
    "error_divide_by_zero",
    "error_character_to_number",
    "error_drop_missing_table",
    "error_commit_outside_transaction",
    "error_table_exists",
    "error_duplicate_primary_key",
    "error_duplicate_unique_index",
    "error_check_constraint",
    "error_foreign_key",
    "error_value_count",
    "error_decimal_overflow",
    "error_then_connection_usable",
    # metadata and functions
    "meta_product",
    "meta_primary_key",
    "meta_type_info",
    "meta_catalogs_and_schemas",
    "meta_table_types",
    "meta_best_row_identifier",
    "function_in_select",
)

_CURSORS = "positioned cursors come with the work on connections"
_CATALOGUE = "the full catalogue and routines come with the embedded server as a product"

NOT_YET: dict[str, str] = {
    # Neither rows nor a description in the reply to the execution are what JDBC waits for.
    "generated_keys": "message 134 (its answer is not known, JDBC section 14)",
    "update_where_current_of": _CURSORS,
    # The interrupt itself is tested in test_interrupts.py.
    "query_timeout": "its query, a product of syscolumns, is over at once on a catalogue as small as ours",
    "meta_columns": _CATALOGUE,
    "meta_index_info": _CATALOGUE,
    "procedure_returning_rows": _CATALOGUE,
}
