"""One row per run that decides who drives it, its messages, and its state with every turn."""

from alembic import context, op

revision = "0005"
down_revision = "0004"

TABLES = """
CREATE TABLE midcourse.drives (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    epoch integer NOT NULL DEFAULT 0,
    holder text NOT NULL DEFAULT '',
    placed bigint NOT NULL DEFAULT 0,
    messages integer NOT NULL DEFAULT 0,
    decided integer NOT NULL DEFAULT 0,
    resting boolean NOT NULL DEFAULT true,
    rested_epoch integer NOT NULL DEFAULT 0,
    rested_seq integer NOT NULL DEFAULT 0,
    wake_at double precision,
    seq integer NOT NULL DEFAULT 0,
    base integer NOT NULL DEFAULT 0,
    state bytea,
    PRIMARY KEY (tenant, run)
) WITH (fillfactor = 50);
CREATE INDEX drives_to_wake ON midcourse.drives (tenant) WHERE resting AND messages > decided;
CREATE TABLE midcourse.states (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    seq integer NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant, run)
);
CREATE TABLE midcourse.inbox (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    number integer NOT NULL,
    event text NOT NULL,
    PRIMARY KEY (tenant, run, number)
);
"""


def upgrade() -> None:
    op.execute(TABLES)
    role = context.config.attributes["role"]
    for table in ("drives", "states", "inbox"):
        op.execute(f"ALTER TABLE midcourse.{table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY own_tenant ON midcourse.{table}"
            " USING (tenant = nullif(current_setting('midcourse.tenant', true), ''))"
        )
        op.execute(f"GRANT SELECT, INSERT, UPDATE ON midcourse.{table} TO {role}")
