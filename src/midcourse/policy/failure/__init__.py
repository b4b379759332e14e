"""Failures: their classification, recovery from them, and lessons for later runs."""
