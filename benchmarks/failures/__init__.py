"""The parts of `recovery.py`: failures of six kinds and a world that has them."""
