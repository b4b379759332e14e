"""The stored form of observations: packed and unpacked they are the same, and what was seen before is stored once."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.codec import encode
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.errors import StoreUnusable
from midcourse.store.observations import ObservationBase, pack, read_base_id, unpack
from midcourse.store.sqlite import SqliteStore

LABELS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(["},{", '["#', '"},{"'])


def page(number: int, labels: list[str]) -> Observation:
    zones = tuple(
        Zone(id=f"z{place}", role="button", label=label, bounds=(8, 20 * place, 120, 18), state=(("enabled", True),))
        for place, label in enumerate(labels)
    )
    return Observation(id=f"o{number}", surface=Surface(title="Orders"), zones=zones, fingerprint=f"f{number}")


@given(st.lists(st.lists(LABELS, max_size=30), min_size=1, max_size=6))
def test_what_is_packed_is_unpacked_again(pages: list[list[str]]):
    base: ObservationBase | None = None
    for number, labels in enumerate(pages):
        text = encode(page(number, labels))
        packed = pack(text, base)
        base = packed.new_base or base
        if read_base_id(packed.body):
            assert base is not None
            assert unpack(packed.body, base) == text
        else:
            assert packed.body == text


def test_an_observation_like_the_last_one_is_small():
    labels = [f"Order {number}" for number in range(500)]
    base = pack(encode(page(1, labels)), None).new_base
    packed = pack(encode(page(2, [*labels[:250], "changed", *labels[251:]])), base)
    assert packed.new_base is None
    assert len(packed.body) < 700


def test_an_observation_unlike_the_last_one_is_the_next_base():
    base = pack(encode(page(1, ["a"] * 50)), None).new_base
    assert pack(encode(page(2, ["b"] * 50)), base).new_base is not None


async def test_a_store_has_the_page_once(tmp_path: Path):
    labels = [f"Order {number}" for number in range(500)]
    shown = [page(number, labels[:-number] + ["new"] * number) for number in range(1, 21)]
    with SqliteStore(tmp_path / "runs.db") as store:
        await store.begin(Run(id="a"), Task(goal="Count"))
        for observation in shown:
            await store.save_observation("a", observation)
    with SqliteStore(tmp_path / "runs.db") as store:
        assert [await store.observation("a", each.id) for each in shown] == shown
        (stored,) = store._fetch_one("SELECT sum(length(body)) FROM observations")
    assert stored < len(encode(shown[0])) / 3


async def test_an_observation_is_saved_again_after_a_crash(tmp_path: Path):
    first, other = page(1, ["a"] * 50), page(1, ["b"] * 50)
    with SqliteStore(tmp_path / "runs.db") as store:
        await store.begin(Run(id="a"), Task(goal="Count"))
        for observation in (first, page(2, ["a"] * 49), other):
            await store.save_observation("a", observation)
        assert await store.observation("a", "o1") == other
        assert await store.observation("a", "o2") == page(2, ["a"] * 49)


async def test_observations_of_earlier_versions_are_read(tmp_path: Path):
    shown = page(1, ["a"] * 50)
    with SqliteStore(tmp_path / "runs.db") as store:
        await store.begin(Run(id="a"), Task(goal="Count"))
        store._write("a", "INSERT INTO observations SELECT id, 'o1', ? FROM runs WHERE id = ?", encode(shown))
        assert await store.observation("a", "o1") == shown


async def test_a_lost_base_is_reported(tmp_path: Path):
    with SqliteStore(tmp_path / "runs.db") as store:
        await store.begin(Run(id="a"), Task(goal="Count"))
        await store.save_observation("a", page(1, ["a"] * 50))
        with closing(sqlite3.connect(store.path)) as other:
            other.execute("DELETE FROM observations WHERE id LIKE '#%'")
            other.commit()
        with pytest.raises(StoreUnusable, match="has lost a part of 'o1'"):
            await store.observation("a", "o1")


def test_references_beyond_the_base_are_reported():
    base = ObservationBase("#1", "a},{b")
    assert unpack('["#1",[0,2],"c"]', base) == "a},{b},{c"
    for body in ('["#1",[1,2]]', '["#1",[-1,1]]', '["#1",5]'):
        with pytest.raises(StoreUnusable):
            unpack(body, base)
