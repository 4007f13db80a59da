"""Runs SQLAlchemy's own test suite. It needs a separate pytest, as its plugin changes how tests are collected."""

import pytest

pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402, F403
