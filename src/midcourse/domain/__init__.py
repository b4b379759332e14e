"""The nouns. Frozen, keyword-only, and nothing here acts: read `event` and `command` first, then `run`."""
