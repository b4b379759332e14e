"""Runs that rest until a time, in order of that time."""

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.execute("CREATE INDEX drives_due ON midcourse.drives (tenant, wake_at) WHERE resting AND wake_at IS NOT NULL")
