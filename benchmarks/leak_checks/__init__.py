"""The parts of `leaks.py`: secrets, a site that repeats them, a planner that types them, and every place to search."""
