"""The store in memory, against the suite of every store."""

from pathlib import Path

from midcourse.ports.store import Store
from midcourse.store.memory import MemoryStore
from midcourse.testing.conformance.driven_store import DrivingConformance, ListingConformance
from midcourse.testing.conformance.store import StoreConformance


class TestMemoryStore(StoreConformance, DrivingConformance, ListingConformance):
    def make_store(self, tmp_path: Path) -> Store:
        return MemoryStore()
