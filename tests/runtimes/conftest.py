"""What the tests of a runtime share: one server for the process."""

from tests.temporal_server import temporal as temporal
