"""The record of the latest turn is in `drives`, which also decides who may write it."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.execute("DROP TABLE midcourse.turns")
