"""Stores runs in PostgreSQL, for fleets with many workers and several tenants in one database."""

from midcourse.store.postgres.batch import PostgresBatch as PostgresBatch
from midcourse.store.postgres.store import PostgresStore as PostgresStore
