"""Answers that no planner should give, and what of each may be acted on."""
