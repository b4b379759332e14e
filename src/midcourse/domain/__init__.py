"""The nouns: frozen, keyword-only values without behaviour. Read `events` and `commands` first, then `run`."""
