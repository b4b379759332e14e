"""Stores: where runs outlive their process. `sqlite` keeps them in one file on this machine, `postgres` in a database."""
