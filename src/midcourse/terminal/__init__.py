"""Asks people in the terminal, and shows them what a question is about."""
