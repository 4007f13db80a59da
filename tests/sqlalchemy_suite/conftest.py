"""SQLAlchemy's own test suite has a pytest of its own: its plugin takes over how tests are collected."""

import pytest

pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402, F403
