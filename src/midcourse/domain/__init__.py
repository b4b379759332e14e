"""The nouns: frozen, keyword-only values without behaviour. Read `event` and `command` first, then `run`."""
