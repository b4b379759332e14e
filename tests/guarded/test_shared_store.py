"""The store that a process keeps open between calls of guarded functions."""

import asyncio
import os
import shutil
import threading
from pathlib import Path

import pytest

from midcourse.agent.shared_store import SHARED_STORE, SharedStore, load_settings
from midcourse.store.sqlite import SqliteStore


@pytest.fixture
def stores():
    made = SharedStore()
    yield made
    made.close()


def test_calls_share_one_store(stores: SharedStore, tmp_path: Path):
    with stores.use(tmp_path) as first, stores.use(tmp_path) as inner:
        assert inner is first
    with stores.use(tmp_path) as second:
        assert second is first


def test_another_home_has_its_own(stores: SharedStore, tmp_path: Path):
    with stores.use(tmp_path / "a") as first, stores.use(tmp_path / "b") as second:
        assert (first.path.parent.name, second.path.parent.name) == ("a", "b")
    with stores.use(tmp_path / "b") as third:
        assert third.path.parent.name == "b"


def test_a_deleted_home_does_not_receive_records(stores: SharedStore, tmp_path: Path):
    with stores.use(tmp_path / "home") as first:
        pass
    shutil.rmtree(tmp_path / "home")
    with stores.use(tmp_path / "home") as second:
        assert second is not first
        assert second.path.exists()


def test_another_thread_gets_its_own_while_a_call_is_under_way(stores: SharedStore, tmp_path: Path):
    found: list[SqliteStore] = []

    def use() -> None:
        with stores.use(tmp_path) as store:
            found.append(store)

    with stores.use(tmp_path) as first:
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
    assert found[0] is not first


def test_a_call_that_was_torn_down_does_not_keep_the_store(stores: SharedStore, tmp_path: Path):
    """Else a deleted home would receive the records of all later calls."""

    async def use_for_ever() -> None:
        with stores.use(tmp_path / "home") as store:
            found.append(store)
            await asyncio.Event().wait()

    found: list[SqliteStore] = []
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda loop, context: None)  # it would tell of the task that was left pending
    task = loop.create_task(use_for_ever())
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    shutil.rmtree(tmp_path / "home")
    with stores.use(tmp_path / "home") as store:
        assert store is not found[0]
        assert store.path.exists()
        assert not task.done()


def test_a_forked_process_does_not_inherit_the_store(tmp_path: Path):
    with SHARED_STORE.use(tmp_path) as before:
        pass
    child = os.fork()
    if not child:
        os._exit(int(SHARED_STORE._store is not None))
    assert os.waitpid(child, 0)[1] == 0
    with SHARED_STORE.use(tmp_path) as after:
        assert after is not before
    SHARED_STORE.close()


def test_a_process_that_is_forked_during_a_call_opens_its_own(tmp_path: Path):
    with SHARED_STORE.use(tmp_path) as before:
        child = os.fork()
        if not child:
            with SHARED_STORE.use(tmp_path) as own:
                os._exit(int(own is before))
        assert os.waitpid(child, 0)[1] == 0
        assert before.is_claimed("a") is False
    SHARED_STORE.close()


def test_settings_follow_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name in ("one", "two"):
        monkeypatch.setenv("MIDCOURSE_HOME", str(tmp_path / name))
        assert load_settings().home == tmp_path / name
        assert load_settings() is load_settings()
