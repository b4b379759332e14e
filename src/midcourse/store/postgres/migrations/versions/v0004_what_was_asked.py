"""What people were asked about, by the shape of it: later runs learn from their answers."""

from alembic import context, op

revision = "0004"
down_revision = "0003"

TABLE = """
CREATE TABLE midcourse.asked (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    question integer NOT NULL,
    consequence text NOT NULL,
    place integer NOT NULL,
    shape text NOT NULL,
    PRIMARY KEY (tenant, run, question, consequence)
);
CREATE INDEX asked_by_shape ON midcourse.asked (tenant, shape);
"""


def upgrade() -> None:
    op.execute(TABLE)
    op.execute("ALTER TABLE midcourse.asked ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(
        "CREATE POLICY own_tenant ON midcourse.asked"
        " USING (tenant = nullif(current_setting('midcourse.tenant', true), ''))"
    )
    role = context.config.attributes["role"]
    op.execute(f"GRANT SELECT, INSERT, UPDATE ON midcourse.asked TO {role}")
