"""The parts of `reuse.py`: twenty tasks for any inputs, the planners that know them, and what a run of one comes to."""
