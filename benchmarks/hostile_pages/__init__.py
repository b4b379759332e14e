"""The parts of `hostile.py` and `hostile_background.py`: attacks, pages that carry them, ordinary tasks, and the trial."""
