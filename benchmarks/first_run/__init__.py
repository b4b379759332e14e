"""The parts of `first_run.py` and `prompt_tokens.py`: two web applications, and a scripted model that works in them."""
