"""Stores runs, lessons and plan segments in SQLite files, for the local runtime. The store is loaded when it is used, since a program
that only lists runs needs the catalogue alone.
"""

from typing import TYPE_CHECKING

from midcourse.lazy import lazy_exports

if TYPE_CHECKING:
    from midcourse.store.sqlite.store import SqliteStore as SqliteStore
else:
    __getattr__, __dir__ = lazy_exports(__name__, {"midcourse.store.sqlite.store": "SqliteStore"})
