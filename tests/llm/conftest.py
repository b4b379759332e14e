"""The fleet that the tests of a runtime share is for whoever plans on it, too."""

from tests.runtimes.conftest import fleet

__all__ = ["fleet"]
