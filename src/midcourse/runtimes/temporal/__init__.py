"""Runs on Temporal: durable, on many workers. `workflow.py` drives, `activities.py` performs."""
