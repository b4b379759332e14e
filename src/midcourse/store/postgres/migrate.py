"""Migrates a database to the schema of this version: tables, row-level security, the application's role, partitions.

The URL is that of the owner of the tables. Stores use the application's role, which owns nothing and is subject to
row-level security; the login of a store only needs `GRANT midcourse_app TO that_login`.
"""

import re

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, NullPool, create_engine, text

from midcourse.errors import TaskInvalid
from midcourse.store.postgres.address import parse_address
from midcourse.store.postgres.connections import APP_ROLE
from midcourse.store.postgres.partitions import make_partitions
from midcourse.store.postgres.tables import SCHEMA

NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")

MAKE_ROLE = """DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
        CREATE ROLE {role} NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- roles belong to the whole server: the migration of another database was faster
END $$"""

JOIN_ROLE = """DO $$ BEGIN
    SET LOCAL ROLE {role};
    RESET ROLE;
EXCEPTION WHEN insufficient_privilege THEN
    GRANT {role} TO CURRENT_USER;
END $$"""


def migrate(url: str, *, role: str = APP_ROLE) -> None:
    """Migrate the database. It is safe to call this again, and from several processes at a time: one migrates, the others wait."""
    if not NAME.fullmatch(role):
        raise TaskInvalid(f"{role!r} is not a valid name for a role: lower-case letters, digits and _ only")
    with make_engine(url).begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('midcourse migrate', 0))"))
        connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
        connection.exec_driver_sql(MAKE_ROLE.format(role=role))
        connection.exec_driver_sql(JOIN_ROLE.format(role=role))
        above = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = :role"
        if connection.execute(text(above), {"role": role}).scalar():
            raise TaskInvalid(f"role {role!r} is above row-level security; the application must not be")
        config = Config(attributes={"connection": connection, "role": role})
        config.set_main_option("script_location", "midcourse.store.postgres:migrations")
        command.upgrade(config, "head")
    make_partitions(url)


def make_engine(url: str) -> Engine:
    """Return an engine of SQLAlchemy. Its URLs know fewer parameters than libpq's, so it gets them as arguments."""
    return create_engine("postgresql+psycopg://", connect_args=parse_address(url), poolclass=NullPool)
