"""SQLAlchemy's suite for dialects, complete and unchanged: no test is overridden or deselected."""

from sqlalchemy.testing.suite import *  # noqa: F403
