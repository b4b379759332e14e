"""Policies: the rules that the director decides by, one concern per folder or module. Pure functions without clock, randomness or I/O."""
