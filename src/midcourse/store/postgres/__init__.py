"""Runs in PostgreSQL, for fleets: many workers, several tenants, one database."""

from midcourse.store.postgres.batch import PostgresBatch as PostgresBatch
from midcourse.store.postgres.store import PostgresStore as PostgresStore
