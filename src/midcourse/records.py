"""Records of runs: stores, journals and their replay, and the events in them."""

from typing import TYPE_CHECKING

from midcourse.lazy import lazy_exports

if TYPE_CHECKING:
    from midcourse.domain.events import Observed as Observed
    from midcourse.domain.events import Planned as Planned
    from midcourse.history.journal import journal_of as journal_of
    from midcourse.replay import replay as replay
    from midcourse.store.postgres import PostgresStore as PostgresStore
    from midcourse.store.postgres.migrate import migrate as migrate
    from midcourse.store.postgres.partitions import make_partitions as make_partitions

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "midcourse.history.journal": "journal_of",
        "midcourse.domain.events": "Observed Planned",
        "midcourse.replay": "replay",
        "midcourse.store.postgres": "PostgresStore",
        "midcourse.store.postgres.migrate": "migrate",
        "midcourse.store.postgres.partitions": "make_partitions",
    },
)
