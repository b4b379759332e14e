"""Prompts: templates, the screen and the task as text, quoting, and estimates of length."""
