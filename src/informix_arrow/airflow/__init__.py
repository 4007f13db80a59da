"""A provider for Airflow: connections of the type ``informix``, and :class:`~informix_arrow.airflow.hook.InformixHook`.

Airflow finds it by its entry point, and imports the hook on first use. Extra ``[airflow]``.
"""

from __future__ import annotations

from typing import Any

__all__ = ["get_provider_info"]


def get_provider_info() -> dict[str, Any]:
    """Return the metadata for Airflow's provider manager."""
    return {
        "package-name": "informix-arrow",
        "name": "IBM Informix",
        "description": "IBM Informix, with Arrow results.",
        "connection-types": [
            {"connection-type": "informix", "hook-class-name": "informix_arrow.airflow.hook.InformixHook"}
        ],
    }
