"""The parts of `drift.py`: applications, planners by rules, the person who is asked, and the four arms."""
