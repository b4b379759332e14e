"""The parts of `memory.py`: a corpus of error messages, and scores of recalling them."""
