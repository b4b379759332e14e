"""The parts of `chaos.py`: a fleet on real servers, a world with a log, and the ways to disturb it."""
