"""The settings and the open store that calls of guarded functions in one process share.

Opening a store for each call would cost four flushes of the disk and a third of the call's processor time.
"""

import logging
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path

from midcourse.config.settings import Settings
from midcourse.config.variables import read_variables, variable_of
from midcourse.holding import Holder
from midcourse.home.folder import database_path
from midcourse.home.stores import LocalStore, open_store

log = logging.getLogger(__name__)

DATABASE_VARIABLE = variable_of("database_url")
MISSING = (0, 0)
"""The identity of a file that does not exist."""


def load_settings() -> Settings:
    """The settings, which are read again if the current folder or an environment variable has changed."""
    return _load(os.getcwd(), tuple(sorted(os.environ.items())))


@lru_cache(maxsize=1)
def _load(_folder: str, _variables: tuple[tuple[str, str], ...]) -> Settings:
    return Settings.load()


def warn_of_default_home(settings: Settings) -> None:
    """Say where records begin if no setting says so: a program that is started from another folder would not find them."""
    if "home" not in settings.model_fields_set and not (database := database_path(settings.home)).exists():
        log.warning(
            "guarded calls are recorded in a new home, %s, because no setting names one. A program that is started from another "
            "folder finds none of these records and repeats the effects: set MIDCOURSE_HOME=%s, or pass settings=Settings(home=…)",
            *(database.parent, database.parent),
        )


@cache
def warn_of_ignored_database(home: Path) -> None:
    """Say that the variable which names a fleet's database does not say where guarded calls are recorded."""
    if read_variables().get(DATABASE_VARIABLE):
        log.warning(
            "%s is set, and @guarded does not use it: calls are recorded in %s, on this machine only. Pass database=… to @guarded",
            *(DATABASE_VARIABLE, home.absolute()),
        )


class SharedStore:
    """A store that stays open between calls. One thread uses it at a time; other threads get a separate store for each call."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        """Reentrant: garbage collection may end a call that was torn down at any moment."""
        self._store: LocalStore | None = None
        self._file = MISSING
        self._calls: set[Holder] = set()
        """What uses the store now. The call of a task that was torn down without its `finally` ends with that task."""
        self._inherited: list[LocalStore] = []
        """Stores that were in use when this process was forked. They are neither used nor closed here."""
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._prepare_fork, after_in_parent=self._continue_parent, after_in_child=self._begin_child
            )

    @contextmanager
    def use(self, home: Path) -> Generator[LocalStore]:
        call = Holder.current()
        with self._lock:
            self._forget_abandoned()
            shared = all(other.thread is call.thread for other in self._calls)
            store = self._store if self._calls else self._reopen(home)
            if store is None or not shared or store.path != database_path(home):
                shared, store = False, open_store(home)
            if shared:
                self._calls.add(call)
        try:
            yield store
        finally:
            if shared:
                with self._lock:
                    self._calls.discard(call)  # in a process that was forked during the call it is not there
            else:
                store.close()

    def close(self) -> None:
        """Close the store unless a call is using it."""
        with self._lock:
            self._close_idle()

    def _forget_abandoned(self) -> None:
        self._calls = {call for call in self._calls if not call.is_gone}

    def _close_idle(self) -> None:
        self._forget_abandoned()
        if self._store is not None and not self._calls:
            self._store.close()
            self._store = None

    def _prepare_fork(self) -> None:
        """Close the store before a fork: SQLite's locks belong to a process, so the child must not use the same connection."""
        self._lock.acquire()
        self._close_idle()

    def _continue_parent(self) -> None:
        self._lock.release()

    def _begin_child(self) -> None:
        if self._store is not None:
            self._inherited.append(self._store)
            self._store = None
        self._calls = set()
        self._lock = threading.RLock()

    def _reopen(self, home: Path) -> LocalStore:
        """The open store; it is opened again if its file is not that of this home, since a deleted file must not receive records."""
        path = database_path(home)
        if self._store is not None and (self._store.path != path or _identity(path) != self._file):
            self._store.close()
            self._store = None
        if self._store is None:
            self._store = open_store(home)
            self._file = _identity(path)
        return self._store


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return MISSING
    return found.st_dev, found.st_ino


SHARED_STORE = SharedStore()
