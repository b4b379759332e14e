"""Stores runs, lessons and plan segments in SQLite files, for the local runtime. The store is loaded when it is used, since a program
that only lists runs needs the catalogue alone.
"""

from midcourse.lazy import lazy_imports

with lazy_imports(globals()):
    from midcourse.store.sqlite.store import SqliteStore as SqliteStore
