"""All of SQLAlchemy's suite for dialects, unchanged: nothing is overridden, nothing deselected."""

from sqlalchemy.testing.suite import *  # noqa: F403
