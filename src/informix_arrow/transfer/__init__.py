"""Export whole databases to directories and import them, in the layout of dbexport and dbimport.

A directory ``<database>.exp`` holds ``<database>.sql``, the SQL that creates the database, and a file for each
table: ``.unl``, as dbexport writes it, or ``.parquet``. See docs/transfer.md.
"""

from __future__ import annotations

from .database_export import ExportReport, export_database
from .database_import import ImportReport, import_database, import_new_database, open_or_create

__all__ = [
    "ExportReport",
    "ImportReport",
    "export_database",
    "import_database",
    "import_new_database",
    "open_or_create",
]
