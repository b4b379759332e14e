"""Lessons: what failures taught a tenant's agents.

A point is an array and not a `vector`, so that the table is the same with and without pgvector; where that is
installed, arrays are cast to its type to be compared.
"""

from alembic import context, op

revision = "0003"
down_revision = "0002"

TABLES = """
CREATE TABLE midcourse.lessons (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    agent text NOT NULL,
    key text NOT NULL,
    saved bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    signature text NOT NULL,
    body text NOT NULL,
    shared text NOT NULL DEFAULT '',
    model text NOT NULL DEFAULT '',
    point real[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant, agent, key)
);
CREATE INDEX lessons_by_signature ON midcourse.lessons (tenant, signature);

CREATE TABLE midcourse.lesson_words (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    key text NOT NULL,
    run text NOT NULL,
    told bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    mended boolean NOT NULL,
    PRIMARY KEY (tenant, key, run)
);
CREATE INDEX lesson_words_latest ON midcourse.lesson_words (tenant, key, told DESC);
"""

PGVECTOR = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
        CREATE EXTENSION IF NOT EXISTS vector;
    END IF;
EXCEPTION WHEN insufficient_privilege OR undefined_file THEN
    NULL;  -- everything works without it, only slower with thousands of lessons
END $$
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(PGVECTOR)
    role = context.config.attributes["role"]
    for table in ("lessons", "lesson_words"):
        op.execute(f"ALTER TABLE midcourse.{table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY own_tenant ON midcourse.{table}"
            " USING (tenant = nullif(current_setting('midcourse.tenant', true), ''))"
        )
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON midcourse.{table} TO {role}")
