"""The parts of `hostile.py`: attacks, pages that carry them, ordinary tasks, and the trial."""
