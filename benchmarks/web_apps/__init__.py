"""The parts of `drift.py`: applications, rule-based planners, the approver, and the four arms."""
