"""Segments that worked, to be done again."""

from alembic import context, op

revision = "0002"
down_revision = "0001"

TABLE = """
CREATE TABLE midcourse.segments (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    id text NOT NULL,
    task text NOT NULL,
    surface text NOT NULL,
    worked_at double precision NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX segments_found ON midcourse.segments (tenant, task, surface);
"""


def upgrade() -> None:
    op.execute(TABLE)
    op.execute("ALTER TABLE midcourse.segments ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(
        "CREATE POLICY own_tenant ON midcourse.segments"
        " USING (tenant = nullif(current_setting('midcourse.tenant', true), ''))"
    )
    role = context.config.attributes["role"]
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON midcourse.segments TO {role}")
