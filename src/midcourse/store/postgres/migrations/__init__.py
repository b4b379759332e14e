"""Alembic migrations, one step a file."""
