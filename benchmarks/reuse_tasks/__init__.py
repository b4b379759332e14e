"""The parts of `reuse.py`: twenty tasks for any inputs, the planners that know them, and one run of a task."""
