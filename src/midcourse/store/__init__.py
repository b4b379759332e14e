"""Stores, which keep runs beyond their process: `sqlite` in one file on this machine, `postgres` in a database."""
