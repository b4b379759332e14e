"""Approvals: which steps need one, which decisions count, and what a question shows."""
