"""Runs on Temporal: durable, and carried by many workers. `workflow.py` drives, `activities.py` performs."""
