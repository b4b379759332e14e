"""The director: `decide(run, event) -> (run, commands)`. Start reading at `decide.py`."""
