"""Screenshots of runs, in partitions by month like the observations that name them."""

from alembic import context, op

revision = "0007"
down_revision = "0006"

TABLES = """
CREATE TABLE midcourse.blobs (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    month date NOT NULL,
    digest text NOT NULL,
    media_type text NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant, run, month, digest)
) PARTITION BY RANGE (month);
ALTER TABLE midcourse.blobs ALTER COLUMN body SET STORAGE EXTERNAL;  -- it is compressed already
CREATE TABLE midcourse.blobs_default PARTITION OF midcourse.blobs DEFAULT;
"""


def upgrade() -> None:
    op.execute(TABLES)
    for table in ("blobs", "blobs_default"):
        op.execute(f"ALTER TABLE midcourse.{table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(
        "CREATE POLICY own_tenant ON midcourse.blobs"
        " USING (tenant = nullif(current_setting('midcourse.tenant', true), ''))"
    )
    op.execute(f"GRANT SELECT, INSERT, DELETE ON midcourse.blobs TO {context.config.attributes['role']}")
