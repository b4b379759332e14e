"""When the records of a run were deleted, and when it had ended, which its journal no longer tells."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.execute("ALTER TABLE midcourse.runs ADD COLUMN pruned_at double precision, ADD COLUMN ended_at double precision")
    op.execute(
        "CREATE INDEX runs_to_prune ON midcourse.runs (tenant, began_at) WHERE pruned_at IS NULL AND phase = 'ended'"
    )
