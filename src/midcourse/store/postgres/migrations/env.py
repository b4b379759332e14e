"""The environment of Alembic: the connection and the transaction that `migrate` opened."""

from alembic import context

from midcourse.store.postgres.tables import SCHEMA, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table_schema=SCHEMA,
)
with context.begin_transaction():
    context.run_migrations()
