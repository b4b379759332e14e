"""The parts of `detour.py` and `outline.py`: searches for a dialog whose way is unknown."""
