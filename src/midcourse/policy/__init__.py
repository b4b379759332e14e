"""Policies: what the director decides by, one concern a folder or module. Pure functions without clock, randomness or I/O."""
