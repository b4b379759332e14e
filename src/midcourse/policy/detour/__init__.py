"""Detours: the search for a target that a step cannot see."""
