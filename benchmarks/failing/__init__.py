"""Real error messages: programs of every kind run into the same cause. `collect.py` makes them, `messages.json` has them."""
