"""Stores, which keep runs after their process has ended: `sqlite` in one file on this machine, `postgres` in a database."""
