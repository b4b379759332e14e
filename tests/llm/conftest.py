"""The fleet that the tests of a runtime share is used by the tests that plan on it, too."""

from tests.runtimes.conftest import fleet

__all__ = ["fleet"]
