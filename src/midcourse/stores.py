"""Stores for a program to pass to an agent: PostgreSQL for several machines; without one, a file in the home is used.

`migrate` brings a database to this version, and `make_partitions` makes its partitions for the months to come.
"""

from midcourse.lazy import lazy_imports

with lazy_imports(globals()):
    from midcourse.ports.store import Store as Store
    from midcourse.store.postgres import PostgresStore as PostgresStore
    from midcourse.store.postgres.migrate import migrate as migrate
    from midcourse.store.postgres.partitions import make_partitions as make_partitions
    from midcourse.store.sqlite import SqliteStore as SqliteStore
