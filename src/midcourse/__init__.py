"""Midcourse: a runtime for agents that act in a world that changes under them."""
