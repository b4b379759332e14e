"""Wagtail as an application of `drift.py`, installed in an environment outside the project's."""
