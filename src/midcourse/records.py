"""Records of runs: journals and their replay, and the events in them. The stores in it are in `midcourse.stores`, too."""

from midcourse.lazy import lazy_imports

with lazy_imports(globals()):
    from midcourse.domain.events import Observed as Observed
    from midcourse.domain.events import Planned as Planned
    from midcourse.history.journal import journal_of as journal_of
    from midcourse.replay import replay as replay
    from midcourse.store.postgres import PostgresStore as PostgresStore
    from midcourse.store.postgres.migrate import migrate as migrate
    from midcourse.store.postgres.partitions import make_partitions as make_partitions
