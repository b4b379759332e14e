"""In every generated run, the records that a run keeps beside itself are those that a full read gives."""

from collections.abc import Iterator

import pytest

from midcourse.perform.history import HistoryCache
from midcourse.ports.store import Store


@pytest.fixture(scope="module", autouse=True)
def _every_refresh_equals_a_full_read() -> Iterator[None]:
    refresh = HistoryCache.refresh

    async def compared(self: HistoryCache, store: Store, run_id: str) -> HistoryCache:
        await refresh(self, store, run_id)
        assert tuple(self.plans.values()) == await store.plans(run_id)
        assert tuple(self.entries) == await store.ledger(run_id)
        return self

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HistoryCache, "refresh", compared)
        yield
