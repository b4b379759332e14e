"""The tables as SQLAlchemy sees them. Migrations create and change them, and `statements` writes them; tests compare the three.

Every row has its tenant, and row-level security shows a connection only the rows of the tenant that it has set.

Bodies are JSON as text, not `jsonb`, because they are read as a whole and must be returned exactly (`1` not as `1.0`), and
because a page may contain NUL, which `jsonb` refuses. Cast them to `json` to query them.
"""

from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    Date,
    DateTime,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

SCHEMA = "midcourse"

STATUS = (
    "CASE WHEN phase = ANY (ARRAY['asking'::text, 'paused'::text, 'ended'::text]) THEN phase ELSE 'running'::text END"
)

metadata = MetaData(schema=SCHEMA)


def _tenant_column() -> Column[str]:
    """Return the column of the tenant, by default that of the writer."""
    return Column("tenant", Text, primary_key=True, server_default=text("current_setting('midcourse.tenant')"))


def _run_column() -> Column[str]:
    """Return the column of the run. It has no foreign key, which would lock the run's row for every row that is written."""
    return Column("run", Text, primary_key=True)


def _month_column() -> Column[object]:
    """Return the column of the month in which the run was created. With it, a run is in one partition, and (run, seq) is unique."""
    return Column("month", Date, primary_key=True)


def _body_column() -> Column[str]:
    return Column("body", Text, nullable=False)


tenants = Table(
    "tenants",
    metadata,
    _tenant_column(),
    Column("entered_at", DateTime(timezone=True), nullable=False, server_default=text("now()")),
    CheckConstraint("tenant <> ''", name="tenants_are_named"),
)
"""A tenant is created with its first run."""

runs = Table(
    "runs",
    metadata,
    _tenant_column(),
    Column("id", Text, primary_key=True),
    Column("entered", BigInteger, Identity(always=True), nullable=False),
    Column("month", Date, nullable=False, server_default=text("date_trunc('month', now() AT TIME ZONE 'utc')::date")),
    Column("key", Text, nullable=False),
    Column("goal", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("job", Text, nullable=False, server_default=""),  # from which the ports of the run are made
    Column("opening", Text, nullable=False),
    Column("state", Text),  # null if it is the opening
    Column("seq", Integer, nullable=False),  # the turn of the state; events with higher numbers are not in it yet
    Column("phase", Text, nullable=False),
    Column("final_reason", Text, nullable=False, server_default=""),
    Column("told_at", Integer, nullable=False, server_default="0"),  # the event after which the phase was written
    Column("began_at", Double, nullable=False, server_default="0"),
    Column("pruned_at", Double),  # when its records were deleted
    Column("ended_at", Double),  # for a pruned run, because its journal is deleted
    Column(
        "status",
        Text,
        Computed(STATUS, persisted=True),
        nullable=False,
    ),
)
Index("runs_newest", runs.c.tenant, runs.c.entered.desc())
Index("runs_by_status", runs.c.tenant, runs.c.status, runs.c.entered.desc())
Index("runs_with_key", runs.c.tenant, runs.c.key, runs.c.entered.desc(), postgresql_where=runs.c.key != "")
Index(
    "runs_to_prune",
    runs.c.tenant,
    runs.c.began_at,
    postgresql_where=text("pruned_at IS NULL AND phase = 'ended'"),
)

journal = Table(
    "journal",
    metadata,
    _tenant_column(),
    _run_column(),
    _month_column(),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("commands", Text),  # null if they follow from the events
    postgresql_partition_by="RANGE (month)",
)

observations = Table(
    "observations",
    metadata,
    _tenant_column(),
    _run_column(),
    _month_column(),
    Column("id", Text, primary_key=True),
    _body_column(),
    postgresql_partition_by="RANGE (month)",
)

blobs = Table(
    "blobs",
    metadata,
    _tenant_column(),
    _run_column(),
    _month_column(),
    Column("digest", Text, primary_key=True),
    Column("media_type", Text, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    postgresql_partition_by="RANGE (month)",
)
"""Screenshots, which go with the observations that name them."""

plans = Table(
    "plans",
    metadata,
    _tenant_column(),
    _run_column(),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("made_by", Integer, nullable=False),
    _body_column(),
)

consequences = Table(
    "consequences", metadata, _tenant_column(), _run_column(), Column("digest", Text, primary_key=True), _body_column()
)

ledger = Table(
    "ledger",
    metadata,
    _tenant_column(),
    _run_column(),
    Column("command", Integer, primary_key=True, autoincrement=False),
    _body_column(),
)

results = Table("results", metadata, _tenant_column(), _run_column(), _body_column())

sessions = Table("sessions", metadata, _tenant_column(), _run_column(), Column("handle", Text, nullable=False))

drives = Table(
    "drives",
    metadata,
    _tenant_column(),
    _run_column(),
    Column("epoch", Integer, nullable=False, server_default="0"),
    Column("holder", Text, nullable=False, server_default=""),
    Column("placed", BigInteger, nullable=False, server_default="0"),
    Column("messages", Integer, nullable=False, server_default="0"),  # the number of messages posted so far
    Column("decided", Integer, nullable=False, server_default="0"),  # the number of these that were decided
    Column("resting", Boolean, nullable=False, server_default=text("true")),
    Column("rested_epoch", Integer, nullable=False, server_default="0"),
    Column("rested_seq", Integer, nullable=False, server_default="0"),
    Column("wake_at", Double),
    Column("seq", Integer, nullable=False, server_default="0"),  # the turn of the state
    Column("base", Integer, nullable=False, server_default="0"),  # the turn of the whole state that `state` needs
    Column("state", LargeBinary),  # null if it is the opening
)
Index("drives_to_wake", drives.c.tenant, postgresql_where=text("resting AND messages > decided"))
Index("drives_due", drives.c.tenant, drives.c.wake_at, postgresql_where=text("resting AND wake_at IS NOT NULL"))
"""Decides who drives a run, how many messages it has, and what its state is. Half of a page is left free, so that turns change rows in place."""

states = Table(
    "states",
    metadata,
    _tenant_column(),
    _run_column(),
    Column("seq", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
"""A whole state of each run, written now and then."""

inbox = Table(
    "inbox",
    metadata,
    _tenant_column(),
    _run_column(),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("event", Text, nullable=False),
)

approvals = Table(
    "approvals",
    metadata,
    _tenant_column(),
    _run_column(),
    Column("question", Integer, primary_key=True, autoincrement=False),
    _body_column(),
    Column("asked_at", DateTime(timezone=True), nullable=False, server_default=text("now()")),
    Column("open", Boolean, nullable=False, server_default=text("true")),
    Column("decision", Text),
)
Index("approvals_open", approvals.c.tenant, approvals.c.asked_at, postgresql_where=approvals.c.open)

asked = Table(
    "asked",
    metadata,
    _tenant_column(),
    _run_column(),
    Column("question", Integer, primary_key=True, autoincrement=False),
    Column("consequence", Text, primary_key=True),
    Column("place", Integer, nullable=False),
    Column("shape", Text, nullable=False),
)
Index("asked_by_shape", asked.c.tenant, asked.c.shape)

audit = Table(
    "audit",
    metadata,
    _tenant_column(),
    Column("n", BigInteger, primary_key=True, autoincrement=False),
    Column("run", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    _body_column(),
    Column("hash", Text, nullable=False),
)
Index("audit_event_once", audit.c.tenant, audit.c.run, audit.c.seq, text("md5(body)"), unique=True)
"""A trigger numbers the rows and chains each to the previous one; the application may only insert."""

segments = Table(
    "segments",
    metadata,
    _tenant_column(),
    Column("id", Text, primary_key=True),
    Column("task", Text, nullable=False),
    Column("surface", Text, nullable=False),
    Column("worked_at", Double, nullable=False),
    _body_column(),
)
Index("segments_found", segments.c.tenant, segments.c.task, segments.c.surface)
"""The plan cache, which is independent of runs."""

lessons = Table(
    "lessons",
    metadata,
    _tenant_column(),
    Column("agent", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("saved", BigInteger, Identity(always=True), nullable=False),
    Column("signature", Text, nullable=False),
    _body_column(),
    Column("shared", Text, nullable=False, server_default=""),  # the body as it was when a person let others read it
    Column("model", Text, nullable=False, server_default=""),  # the model that made the point
    Column("point", ARRAY(REAL), nullable=False, server_default=text("'{}'::real[]")),
)
Index("lessons_by_signature", lessons.c.tenant, lessons.c.signature)

lesson_words = Table(
    "lesson_words",
    metadata,
    _tenant_column(),
    Column("key", Text, primary_key=True),
    _run_column(),
    Column("told", BigInteger, Identity(always=True), nullable=False),
    Column("mended", Boolean, nullable=False),
)
Index("lesson_words_latest", lesson_words.c.tenant, lesson_words.c.key, lesson_words.c.told.desc())
"""The verdict of each run about a failure after which it planned again. A lesson's numbers are counted from these."""

PARTITIONED = (journal, observations, blobs)
