"""A cache of recent records, so that what was just written need not be read."""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A cache with a maximum total weight; the least recently used values are dropped first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._total = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def get(self, key: K) -> V | None:
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: K, value: V, weight: int = 1) -> None:
        self.drop(key)
        self._values[key] = value, weight
        self._total += weight
        while self._total > self._most:
            self.drop(next(iter(self._values)))

    def drop(self, key: K) -> None:
        found = self._values.pop(key, None)
        if found is not None:
            self._total -= found[1]

    def __iter__(self) -> Iterator[K]:
        """Iterate over a copy of the keys, so that values may be dropped meanwhile."""
        return iter(tuple(self._values))
