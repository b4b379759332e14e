"""Reuse of plan segments that worked in earlier runs of the same task."""
